"""The sub-groups of a launch, one step at a time, in an order that is chosen here.

Some work-groups run side by side, each with local memory of its own. A step takes a sub-group from where it stands to
its next barrier, its end, or as many accesses to memory as it is given (pauses.py). So everything happens on one
thread, and the same choices give the same results.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from coopmat.targets.cpu.host.frame import Field
from coopmat.targets.cpu.host.pauses import SHARED_WORDS, Stop, Word
from coopmat.targets.cpu.host.threads import aligned

MOST_FIBERS = 64  # sub-groups side by side, if two work-groups have no more
MANY = 1 << 20  # accesses after which a sub-group pauses in any case: it may wait for what another one does
FEW = 4  # accesses between two pauses, half of the time
LONGEST = 12  # at most 2 ** LONGEST accesses, otherwise
WORD_BYTES = 8


class Order(Protocol):
    """Who goes on."""

    def group(self, left: deque[int], place: int) -> int:
        """Take a work-group that has not begun, for a place among those side by side."""

    def next(self, ready: list[Fiber]) -> Fiber:
        """Take a sub-group that can go on."""

    def accesses(self) -> int:
        """How many accesses it may make until it pauses."""


class InOrder:
    """One work-group after the other, one sub-group after the other, as on one thread where no races are looked for."""

    def group(self, left: deque[int], place: int) -> int:
        return left.popleft()

    def next(self, ready: list[Fiber]) -> Fiber:
        return ready.pop(0)

    def accesses(self) -> int:
        return MANY


class RandomOrder:
    """Any order, the same for the same seed. One of the places is for the first work-group that has not begun: so those
    end that wait for what earlier ones do."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def group(self, left: deque[int], place: int) -> int:
        chosen = 0 if place == 0 else int(self._random.random() * len(left))
        found = left[chosen]
        del left[chosen]
        return found

    def next(self, ready: list[Fiber]) -> Fiber:
        place = int(self._random.random() * len(ready))
        ready[place], ready[-1] = ready[-1], ready[place]
        return ready.pop()

    def accesses(self) -> int:
        """A few, so that others come between a load and the store after it, or any number."""
        number = self._random.random()
        return 1 + int(number * 2 * FEW) if number < 0.5 else 1 << int((number - 0.5) * 2 * (LONGEST + 1))


@dataclass(eq=False)
class Fiber:
    """A sub-group of a place: its words, where they are (a stack follows), and its work-group."""

    words: Any
    address: int
    group: Group


@dataclass(eq=False)
class Group:
    """The work-group that runs at a place: its sub-groups that have not ended, and how many of them wait at a barrier.
    """

    place: int
    running: list[Fiber] = field(default_factory=list)
    waiting: int = 0


class Place:
    """Memory for one work-group at a time: local memory, and a stack for each sub-group. Nothing is kept for others, as
    a thread would (threads.Scratch): Field.REUSE is 0."""

    def __init__(self, number: int, local_bytes: int, stack_bytes: int, sub_groups: int, shared: Sequence[int]) -> None:
        """``shared``: the words of fibers that are the same for all: Word.LAUNCH, ARGUMENTS; SHARED."""
        memory = aligned(local_bytes + stack_bytes * sub_groups)
        self.local = memory[:local_bytes]
        self.group = Group(number)
        self.fibers = []
        for sub_group in range(sub_groups):
            start = local_bytes + stack_bytes * sub_group
            words = memory[start:start + (Word.STOP + 1) * WORD_BYTES].view(np.int64)
            words[Word.SUB_GROUP:Word.STOP] = [sub_group, *shared[:2], self.local.ctypes.data, shared[2], 0]
            self.fibers.append(Fiber(words.data, words.ctypes.data, self.group))

    def begin(self, x: int, y: int, z: int) -> list[Fiber]:
        """Have a work-group begin here."""
        self.local[:] = 0  # what nobody writes is the same in every order
        for fiber in self.fibers:
            words = fiber.words
            words[Word.GROUP], words[Word.GROUP + 1], words[Word.GROUP + 2], words[Word.STOP] = x, y, z, Stop.NEW
        self.group.running = list(self.fibers)
        return self.fibers


class Interleaving:
    """Runs a launch. ``run``: lets a sub-group go on. ``words``: of the launch, which lie at an address, and the
    arguments at another."""

    def __init__(self, run: Callable[[int, int, int], object], words: np.ndarray, launch: int, arguments: int,
                 order: Order) -> None:
        self._run = run
        self._words = words
        self._launch, self._arguments = launch, arguments
        self._order = order
        self._counts = [int(count) for count in words[Field.GROUPS:Field.GROUPS + 3]]
        self._left = deque(range(int(words[Field.TOTAL])))
        self._ready: list[Fiber] = []
        memory = np.zeros(SHARED_WORDS, np.int64)
        self._shared = memory.data
        sub_groups = int(words[Field.SUB_GROUPS])
        count = min(len(self._left), max(2, MOST_FIBERS // sub_groups))
        self._places = [Place(number, int(words[Field.LOCAL_BYTES]), int(words[Field.STACK_BYTES]), sub_groups,
                              (launch, arguments, memory.ctypes.data)) for number in range(count)]

    def run(self) -> None:
        """Run all work-groups, or until the launch is to stop."""
        for place in range(len(self._places)):
            self._begin(place)
        order, ready, stop = self._order, self._ready, self._words[Field.STOP:Field.STOP + 1].data
        while ready and not stop[0]:
            fiber = order.next(ready)
            found = self._step(fiber, order.accesses())
            if found == Stop.PAUSE:
                ready.append(fiber)
            else:
                self._stopped(fiber, found)

    def _begin(self, place: int) -> None:
        """Have the next work-group begin at a place, if there is one."""
        if self._left:
            number = self._order.group(self._left, place)
            x, y, _ = self._counts
            self._ready += self._places[place].begin(number % x, number // x % y, number // (x * y))

    def _step(self, fiber: Fiber, accesses: int) -> int:
        """Let a sub-group go on; why it has stopped."""
        self._shared[1] = accesses
        self._run(self._launch, self._arguments, fiber.address)
        return int(fiber.words[Word.STOP])

    def _stopped(self, fiber: Fiber, found: int) -> None:
        """A sub-group has come to a barrier or to its end: perhaps all others wait for it there."""
        group = fiber.group
        if found == Stop.END:
            group.running.remove(fiber)
        else:
            group.waiting += 1
        if not group.running:
            self._begin(group.place)
        elif group.waiting == len(group.running):
            group.waiting = 0
            self._go_on(group.running)

    def _go_on(self, fibers: Sequence[Fiber]) -> None:
        """Let sub-groups go on behind a barrier."""
        if not any(fiber.words[Word.STOP] == Stop.TURN for fiber in fibers):
            self._ready[:0] = fibers
            return
        stops = [(fiber, self._step(fiber, MANY)) for fiber in fibers]
        for fiber, found in stops:
            self._stopped(fiber, found)
