"""A report as text."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence

from coopmat.report import words
from coopmat.report.model import ReportData

WIDTH = 110


def as_text(report: ReportData) -> str:
    """For a terminal, or a file."""
    parts = [_head(report), _advice(report), _source(report), *map(_table, words.tables(report))]
    return "\n\n".join(parts) + "\n"


def _head(report: ReportData) -> str:
    return "\n".join([words.headline(report), words.launch(report), *_wrapped(words.product(report))])


def _wrapped(text: str, indent: str = "") -> list[str]:
    return textwrap.wrap(text, WIDTH, initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False)


def _advice(report: ReportData) -> str:
    if not report.advice:
        return "What makes it slow: none of the rules has found anything"
    found = ["What makes it slow"]
    for one in report.advice:
        place = words.place(report, one)
        found += _wrapped(f"{place}{': ' if place else ''}{one.cause} [{one.rule}]", "  ")
        found += _wrapped(one.remedy, "      ")
    return "\n".join(found)


def _source(report: ReportData) -> str:
    """The lines with their counters."""
    if not report.lines:
        return "Source: nothing is executed that costs anything"
    columns, cells = words.lines(report)
    rows = [(*found, str(row.number or "")) for found, row in zip(cells, report.lines, strict=True)]
    head, *others = _columns([*columns, "line"], rows)
    texts = [f"{text} | {row.text}".rstrip() for text, row in zip(others, report.lines, strict=True)]
    return "\n".join(["Source (the time is a model, no measurement)", f"  {head}",
                      *(f"  {text}" for text in texts)])


def _table(table: words.Table) -> str:
    if not table.rows:
        return f"{table.title}: {table.note}"
    lines = _columns(table.columns, table.rows)
    return "\n".join([table.title, *(_wrapped(f"({table.note})", "  ") if table.note else ()),
                      *(f"  {line}" for line in lines)])


def _columns(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """A head and rows; numbers are at the right of their columns."""
    is_text = [column.startswith("<") for column in columns]
    names = [column.removeprefix("<") for column in columns]
    widths = [max(map(len, cells)) for cells in zip(names, *rows, strict=True)]

    def line(cells: Sequence[str]) -> Iterator[str]:
        for cell, width, left in zip(cells, widths, is_text, strict=True):
            yield cell.ljust(width) if left else cell.rjust(width)

    return ["  ".join(line(cells)).rstrip() for cells in (names, *rows)]
