"""How much of a launch each of several devices does, learnt from the times that their parts took."""

from __future__ import annotations

import math
from collections.abc import Sequence

from coopmat.runtime.events import Event
from coopmat.targets.base.geometry import Triple
from coopmat.targets.base.partition import Part, partition

SMOOTHING = 0.5  # how much a launch's speed counts beside that of those before
EVEN = 1.02  # the longest time of a part beside their mean, with which parts stay as they are
SHORTEST = 1e-6  # seconds that a part is taken to need at least
UNSEEN = 4  # launches that are all timed; after these, one of so many
SELDOM = 64
OFTEN = 8  # launches after which is looked whether times are known


class Shares:
    """The parts of launches of one kernel with one size.

    speeds: of the kernel on the devices by their numbers, in work-groups a second, shared by all of its sizes; nothing
    is known of a device that is not there.
    """

    def __init__(self, group_counts: Triple, devices: int, speeds: dict[int, float]) -> None:
        self._group_counts = group_counts
        self._devices = devices
        self._speeds = speeds
        self._launches = 0
        self._last_change = 0  # the launch at which parts were last thought over
        self._patience = 1  # launches until that is done again: code that is made for sizes should serve often
        self._has_run = False
        self._watched: tuple[Sequence[Part], Sequence[Event]] | None = None
        self._parts = partition(group_counts, self._wanted())

    def following(self) -> list[Part]:
        """The parts of the next launch: those of the last one, the same list, unless other ones promise more."""
        self._launches += 1
        if self._watched is not None and (self._launches <= UNSEEN or self._launches % OFTEN == 0):
            self._look()
        if self._launches - self._last_change > self._patience and not self._are_even():
            self._patience *= 2
            self._last_change = self._launches
            found = partition(self._group_counts, self._wanted())
            if found != self._parts:
                self._parts = found
        return self._parts

    @property
    def parts(self) -> list[Part]:
        """The parts of the last launch."""
        return self._parts

    @property
    def wants_times(self) -> bool:
        """Whether something may be learnt from the times of the next launch."""
        return self._watched is None and (self._launches < UNSEEN or self._launches % SELDOM == 0)

    def watch(self, parts: Sequence[Part], events: Sequence[Event]) -> None:
        """Learn from the times of events when these have come."""
        self._watched = parts, events

    def _look(self) -> None:
        assert self._watched is not None
        parts, events = self._watched
        if all(event.is_complete for event in events):
            self._watched = None
            self.note(parts, [event.elapsed for event in events])

    def note(self, parts: Sequence[Part], seconds: Sequence[float]) -> None:
        """Learn from the times that parts took. The first ones tell little: kernels are compiled then."""
        if not self._has_run:
            self._has_run = True
            return
        for part, taken in zip(parts, seconds, strict=True):
            speed = math.prod(part.counts) / max(taken, SHORTEST)
            old = self._speeds.get(part.owner, speed)
            self._speeds[part.owner] = SMOOTHING * speed + (1 - SMOOTHING) * old

    def _are_even(self) -> bool:
        """Whether all devices are expected to take about the same time."""
        times = [math.prod(part.counts) / self._speeds[part.owner] for part in self._parts
                 if part.owner in self._speeds]
        return len(times) < len(self._parts) or max(times) <= EVEN * sum(times) / len(times)

    def _wanted(self) -> list[float]:
        """How much each device should do: what nobody knows is as fast as the others are on average."""
        usual = sum(self._speeds.values()) / len(self._speeds) if self._speeds else 1.0
        return [self._speeds.get(number, usual) for number in range(self._devices)]
