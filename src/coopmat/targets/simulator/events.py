"""Events: the asynchronous copies that the work-groups of a batch have begun and not yet waited for.

An event is a number; 0 is the null event, which stands for no copy. The work-groups that begin a copy in
one step get the same number.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from coopmat.diagnostics import UndefinedBehavior, Where
from coopmat.targets.simulator.values import Array

NULL_EVENT = 0


@dataclass(frozen=True)
class Region:
    """The elements on one side of a copy: ``start`` is a byte of ``memory``, ``step`` the bytes between elements."""

    memory: Array
    start: int
    step: int

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

    def make(self) -> None:
        """Move the data."""
        self.destination.elements(self.count, self.size)[...] = self.source.elements(self.count, self.size)


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

    def finish(self, group: int, event: int) -> None:
        """Make a work-group's copies of an event; none is left if it has waited for the event before."""
        for transfer in self._waiting.pop((group, event), ()):
            transfer.make()

    def check_finished(self) -> None:
        """Raise UndefinedBehavior if a copy is left that was never waited for (OpenCL C 6.15.11)."""
        for transfers in self._waiting.values():
            raise UndefinedBehavior(
                f"the kernel ends, but has never waited for {transfers[0].instruction} that begins here: call "
                "wait_group_events with its event", transfers[0].begun)
