"""A report as one HTML page that needs no network: tables that can be sorted, the source with its counters, a
roofline. The template is data/report.html."""

from __future__ import annotations

from coopmat.layout.palette import DARK, HUES, LIGHT
from coopmat.report import words
from coopmat.report.model import TIMES, LineRow, ReportData
from coopmat.report.roofline import picture_of

COLOURS = dict(zip(TIMES, (HUES["blue"], HUES["orange"], HUES["mint"], HUES["pink"]), strict=True))
"""Of the parts of the time."""
HOT = 0.05
"""The share of the time from which on a line is one that keys lead to."""


def as_html(report: ReportData) -> str:
    """The page."""
    from importlib import resources  # needed for pages only, and it takes a while

    import jinja2

    template = (resources.files("coopmat") / "data" / "report.html").read_text(encoding="utf-8")
    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True,
                                     lstrip_blocks=True)
    return environment.from_string(template).render(
        report=report, words=words, times=words.times(report), tables=words.tables(report)[1:], cards=_cards(report),
        parts=_parts(report), picture=picture_of(report), light=LIGHT, dark=DARK, hues=HUES,
        columns=words.lines(report)[0], lines=_lines(report), line_id=line_id)


def _cards(report: ReportData) -> list[tuple[str, str]]:
    """The numbers to see first: what, how much."""
    intensity = report.intensity
    found = [("modelled time", words.seconds(report.times.total)), ("most of it", TIMES[report.times.bound])]
    if intensity.operations:
        found += [("operations", words.scaled(intensity.operations)),
                  ("operations for each byte asked for", words.ratio(intensity.requested)),
                  ("operations for each different byte", words.ratio(intensity.compulsory))]
    found += [("active work-items", words.share(report.active)),
              ("occupancy", words.UNKNOWN if report.occupancy is None else words.share(report.occupancy.share))]
    return [(name, value) for name, value in found if value]


def _parts(report: ReportData) -> list[tuple[str, float, str]]:
    """The bar of the time: words, share, colour."""
    total = report.times.total
    return [(text, getattr(report.times, name) / total, COLOURS[name]) for name, text in TIMES.items()
            if getattr(report.times, name)]


def _lines(report: ReportData) -> list[tuple[LineRow, tuple[str, ...], bool]]:
    """The source: each line, its counters, and whether it is hot."""
    return [(row, cells, row.share >= HOT) for row, cells in zip(report.lines, words.lines(report)[1], strict=True)]


def line_id(report: ReportData, file: str, number: int | None) -> str:
    """The anchor of a line."""
    files = list(dict.fromkeys(row.file for row in report.lines))
    return f"line-{files.index(file) if file in files else 0}-{number}"
