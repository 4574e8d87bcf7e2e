"""Launches of kernels that number their tiles as grids of work-groups, where the arguments tell which grid it is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from coopmat.spirv.analysis.kernels import KernelSignature
from coopmat.spirv.transform.enlarge.grids import Grid
from coopmat.spirv.transform.enlarge.persistent import Sizes
from coopmat.targets.cpu.host.launch import MergedPlan, Numbers, Plan, shared
from coopmat.targets.cpu.merging import MergedForm

Made = tuple[Plan | MergedPlan, MergedForm | str]
"""What launches a kernel, and its merged form, or why there is none."""
MOST_GRIDS = 16
MOST_KNOWN = 256  # launches of which is remembered what they are taken as


class GridPlan:
    """A kernel of so many work-groups. ``made``: plans for a grid; ``usual``: those for the launch as it is; reason:
    why its work-groups are not merged."""

    def __init__(self, grid: Grid, given: Sizes, signature: KernelSignature, made: Callable[[Sizes], Made],
                 usual: Callable[[], Plan], reason: str) -> None:
        self._grid, self._given, self._parameters = grid, given, signature.parameters
        self._numbers, self._pairs = Numbers(signature.parameters), grid.pairs
        self._make, self._make_usual, self._reason = made, usual, reason
        self._counts: dict[tuple[int, ...], Sizes | str] = {}
        self._made: dict[Sizes, Made] = {}
        self._usual: Plan | None = None
        self.chosen: Made | None = None
        self.said = ""  # what the last launch was taken as

    def launch(self, arguments: Sequence[Any]) -> None:
        """Run the kernel; returns when it is done."""
        numbers = self._numbers.of(arguments)
        found = self._taken_as(arguments, numbers)
        if isinstance(found, str):
            chosen, self.said = self._as_given(found or self._reason), ""
        else:
            chosen, self.said = self._of_grid(found), self._grid.said(found)
            if not isinstance(chosen[0], MergedPlan):
                chosen, self.said = self._as_given(str(chosen[1])), ""
        self.chosen = chosen
        if isinstance(chosen[0], MergedPlan):
            chosen[0].launch(arguments, numbers)
        else:
            chosen[0].launch(arguments)

    def _as_given(self, reason: str) -> Made:
        """The plan of the launch as it is."""
        self._usual = self._usual or self._make_usual()
        return self._usual, reason

    def _taken_as(self, arguments: Sequence[Any], numbers: tuple[int, ...]) -> Sizes | str:
        """The grid for these arguments; why there is none."""
        if numbers not in self._counts:
            if len(self._counts) >= MOST_KNOWN:
                self._counts.clear()
            self._counts[numbers] = self._grid.counts(numbers, self._given)
        return shared(self._pairs, arguments, self._parameters) or self._counts[numbers]

    def _of_grid(self, counts: Sizes) -> Made:
        if counts not in self._made:
            if len(self._made) >= MOST_GRIDS:
                self._made.clear()
            self._made[counts] = self._make(counts)
        return self._made[counts]
