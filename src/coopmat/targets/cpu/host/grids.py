"""Launches of one row of work-groups as grids of them, where the arguments tell how long a row of the grid is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from coopmat.spirv.analysis.kernels import KernelSignature
from coopmat.spirv.transform.enlarge.linear import Split
from coopmat.targets.cpu.host.launch import MergedPlan, Numbers, Plan
from coopmat.targets.cpu.merging import MergedForm

Counts = tuple[int, int, int]
Made = tuple[Plan | MergedPlan, MergedForm | str]
"""What launches a kernel, and its merged form, or why there is none."""
MOST_GRIDS = 16


class GridPlan:
    """A kernel of so many work-groups in a row. ``made``: plans for a grid; ``usual``: those for the row, and why its
    work-groups are not merged."""

    def __init__(self, split: Split, count: int, signature: KernelSignature, made: Callable[[Counts], Made],
                 usual: Callable[[], Plan], reason: str) -> None:
        self._split, self._count, self._numbers = split, count, Numbers(signature.parameters)
        self._make, self._make_usual, self._reason = made, usual, reason
        self._made: dict[Counts, Made] = {}
        self._usual: Plan | None = None
        self.chosen: Made | None = None
        self.grid: Counts | None = None  # of the last launch

    def launch(self, arguments: Sequence[Any]) -> None:
        """Run the kernel; returns when it is done."""
        counts = self._split.counts(self._numbers.of(arguments), self._count)
        made = None if counts is None else self._of_grid(counts)
        if made is None or not isinstance(made[0], MergedPlan):
            self._usual = self._usual or self._make_usual()
            made, counts = (self._usual, self._reason if made is None else str(made[1])), None
        self.chosen, self.grid = made, counts
        made[0].launch(arguments)

    def _of_grid(self, counts: Counts) -> Made:
        if counts not in self._made:
            if len(self._made) >= MOST_GRIDS:
                self._made.clear()
            self._made[counts] = self._make(counts)
        return self._made[counts]
