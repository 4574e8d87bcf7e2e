"""A measured figure, and how it is measured."""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Figure:
    """One measured quantity: median and extremes of the runs."""

    name: str
    unit: str
    median: float
    least: float
    most: float

    @classmethod
    def of(cls, name: str, unit: str, values: list[float]) -> Figure:
        """The figure of several runs."""
        return cls(name, unit, statistics.median(values), min(values), max(values))


def seconds(action: Callable[[], object], repeat: int) -> list[float]:
    """How long ``action`` takes, ``repeat`` times after one unmeasured call."""
    action()
    found = []
    for _ in range(repeat):
        gc.collect()  # what one run leaves behind is not charged to the next
        start = time.perf_counter()
        action()
        found.append(time.perf_counter() - start)
    return found
