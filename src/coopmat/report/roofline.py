"""The roofline as a picture: operations a second that are possible over operations for each byte, both logarithmic.

Williams, Waterman, Patterson: Roofline: an insightful visual performance model (2009).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from coopmat.report.model import ReportData, Roofline
from coopmat.report.words import ratio, scaled

WIDTH, HEIGHT = 720, 340
LEFT, RIGHT, TOP, BOTTOM = 80, 26, 18, 46
DECADES = 2
"""At least so many powers of ten around the point where memory and peak meet."""


@dataclass(frozen=True)
class Axis:
    """A logarithmic axis, from ``10**low`` to ``10**high``."""

    low: int
    high: int
    start: float
    end: float

    def place(self, value: float) -> float:
        """Where a value lies, within the picture."""
        part = (math.log10(value) - self.low) / (self.high - self.low)
        return self.start + min(1.0, max(0.0, part)) * (self.end - self.start)

    @property
    def ticks(self) -> list[float]:
        """Powers of ten."""
        return [10.0 ** power for power in range(self.low, self.high + 1)]


@dataclass(frozen=True)
class Label:
    """A text at a place, for the page to draw."""

    x: float
    y: float
    text: str
    anchor: str = "start"


@dataclass(frozen=True)
class Mark:
    """A point of the kernel: ``kind`` "requested" or "compulsory"."""

    x: float
    y: float
    kind: str
    words: str


@dataclass(frozen=True)
class Picture:
    """Lines, labels and marks. ``grid`` and ``roofs`` are paths of SVG."""

    width: int
    height: int
    bottom: int
    grid: str
    memory: str
    roofs: tuple[str, ...]
    labels: tuple[Label, ...]
    marks: tuple[Mark, ...]
    words: str


def picture_of(report: ReportData) -> Picture | None:
    """The picture of a report's roofline; None if it has none, or the kernel touches no memory."""
    found, intensity = report.roofline, report.intensity
    if found is None or intensity.compulsory is None or intensity.requested is None:
        return None
    x, y = _axes(found, intensity.requested, intensity.compulsory)
    highest = max(roof.peak for roof in found.roofs)
    marks = tuple(Mark(x.place(value), y.place(possible), kind, f"{words}: {ratio(value)} operations for each byte, "
                       f"{scaled(possible, 'op/s')} possible")
                  for kind, words, value, possible in (
                      ("requested", "bytes asked for", intensity.requested, found.attainable_requested),
                      ("compulsory", "different bytes", intensity.compulsory, found.attainable_compulsory))
                  if possible is not None)
    low = 10.0 ** x.low
    memory = f"M{x.place(low):.1f} {y.place(low * found.bandwidth):.1f}" \
             f"L{x.place(highest / found.bandwidth):.1f} {y.place(highest):.1f}"
    roofs = tuple(f"M{x.place(roof.peak / found.bandwidth):.1f} {y.place(roof.peak):.1f}H{x.end:.1f}"
                  for roof in found.roofs)
    return Picture(WIDTH, HEIGHT, HEIGHT - BOTTOM, _grid(x, y), memory, roofs, tuple(_labels(found, x, y)), marks,
                   "Roofline: " + "; ".join(mark.words for mark in marks))


def _axes(found: Roofline, *intensities: float) -> tuple[Axis, Axis]:
    """Axes that show where memory and the highest peak meet, and all points."""
    peaks = [roof.peak for roof in found.roofs]
    ridge = math.log10(max(peaks) / found.bandwidth)
    points = [math.log10(value) for value in intensities]
    low = math.floor(min(ridge - DECADES, *points))
    high = math.ceil(max(ridge + 1, *points))
    bottom = math.floor(math.log10(min(10.0 ** low * found.bandwidth, *peaks)))
    top = math.ceil(math.log10(max(peaks)) + 0.1)
    return Axis(low, high, LEFT, WIDTH - RIGHT), Axis(bottom, top, HEIGHT - BOTTOM, TOP)


def _grid(x: Axis, y: Axis) -> str:
    lines = [f"M{x.place(tick):.1f} {y.start:.1f}V{y.end:.1f}" for tick in x.ticks]
    lines += [f"M{x.start:.1f} {y.place(tick):.1f}H{x.end:.1f}" for tick in y.ticks]
    return "".join(lines)


def _labels(found: Roofline, x: Axis, y: Axis) -> Iterator[Label]:
    """The axes' numbers and names, and the roofs'."""
    yield from (Label(x.place(tick), y.start + 16, f"{tick:g}", "middle") for tick in x.ticks)
    yield from (Label(x.start - 8, y.place(tick) + 4, scaled(tick, "op/s"), "end") for tick in y.ticks)
    yield Label((x.start + x.end) / 2, HEIGHT - 8, "operations for each byte of global memory", "middle")
    taken: list[float] = []
    for roof in sorted(found.roofs, key=lambda roof: -roof.peak):
        height = y.place(roof.peak) - 5
        height = height if all(abs(height - other) > 13 for other in taken) else height + 19
        taken.append(height)
        yield Label(x.end, height, f"{roof.words}: {scaled(roof.peak, 'op/s')}", "end")
    yield Label(x.start + 8, y.end + 12, f"global memory: {scaled(found.bandwidth, 'B/s')}")
