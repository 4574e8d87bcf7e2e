"""What the work-groups of a batch have begun and not yet waited for: asynchronous copies, and split barriers.

The event of a copy is a number; 0 is the null event, which stands for no copy. The work-groups that begin a copy in
one step get the same number.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from coopmat.diagnostics import UndefinedBehavior, Where
from coopmat.targets.simulator.values import Array

NULL_EVENT = 0


@dataclass(frozen=True)
class Region:
    """The elements on one side of a copy: ``start`` is a byte of ``memory``, ``step`` the bytes between elements;
    ``watched``: for data races."""

    memory: Array
    start: int
    step: int
    watched: Any = None

    def elements(self, count: int, size: int) -> Array:
        """``count`` elements of ``size`` bytes, ``[count, size]``; all of them must be in the memory."""
        view = self.memory[self.start:]
        return np.lib.stride_tricks.as_strided(view, (count, size), (self.step, 1))


@dataclass(frozen=True)
class Transfer:
    """A copy that one work-group has begun, and where it did so."""

    destination: Region
    source: Region
    count: int
    size: int
    begun: Where
    instruction: str  # in the words of messages
    watched: tuple[Any, Any] = (None, None)  # source and destination, for data races
    marks: tuple[Region, Region] | None = None  # source and destination, of what is undefined

    def make(self) -> None:
        """Move the data."""
        for source, destination in ((self.source, self.destination), *([self.marks] if self.marks else [])):
            destination.elements(self.count, self.size)[...] = source.elements(self.count, self.size)


class PendingCopies:
    """What a batch's work-groups have to wait for."""

    def __init__(self) -> None:
        self._last = NULL_EVENT
        self._waiting: dict[tuple[int, int], list[Transfer]] = {}  # by work-group and event

    def new_event(self) -> int:
        """An event that no copy has yet."""
        self._last += 1
        return self._last

    def is_event(self, event: int) -> bool:
        """Whether this is the null event, or one that a copy has returned."""
        return NULL_EVENT <= event <= self._last

    def begin(self, group: int, event: int, transfer: Transfer) -> None:
        """Add a copy to those of an event."""
        self._waiting.setdefault((group, event), []).append(transfer)

    def finish(self, group: int, event: int) -> list[Transfer]:
        """Make a work-group's copies of an event, which are given back; none is left if it has waited for the event
        before."""
        found = self._waiting.pop((group, event), [])
        for transfer in found:
            transfer.make()
        return found

    def check_finished(self) -> None:
        """Raise UndefinedBehavior if a copy is left that was never waited for (OpenCL C 6.15.11)."""
        for transfers in self._waiting.values():
            raise UndefinedBehavior(
                f"the kernel ends, but has never waited for {transfers[0].instruction} that begins here: call "
                "wait_group_events with its event", transfers[0].begun)


class Arrivals:
    """Which sub-groups have arrived at a split barrier for which they have not waited yet, and where."""

    def __init__(self) -> None:
        self._at: dict[int, Where] = {}

    def arrive(self, sub_groups: Sequence[int], where: Callable[[int], Where]) -> None:
        """Note that sub-groups arrive. UndefinedBehavior for one that has not waited for the last barrier."""
        for sub_group in sub_groups:
            if sub_group in self._at:
                raise UndefinedBehavior("a sub-group arrives at a split barrier, but has not waited for the last one "
                                        f"(which it arrived at in {self._at[sub_group].location})", where(sub_group))
            self._at[sub_group] = where(sub_group)

    def wait(self, sub_groups: Sequence[int], where: Callable[[int], Where]) -> None:
        """Note that sub-groups wait. UndefinedBehavior for one that has not arrived."""
        for sub_group in sub_groups:
            if self._at.pop(sub_group, None) is None:
                raise UndefinedBehavior("a sub-group waits for a split barrier at which it has not arrived",
                                        where(sub_group))

    def check_finished(self) -> None:
        """Raise UndefinedBehavior if a sub-group has arrived and never waited."""
        for where in self._at.values():
            raise UndefinedBehavior("the kernel ends, but has never waited for the split barrier at which it arrives "
                                    "here", where)
