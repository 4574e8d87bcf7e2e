"""The sub-groups of a launch, one step at a time, in an order that is chosen here.

Some work-groups run side by side, each with local memory of its own. A step takes a sub-group from where it stands to
its next barrier, its end, or as many accesses to memory as it is given (pauses.py). So everything happens on one
thread, and the same choices give the same results.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from coopmat.targets.cpu.host.frame import Field
from coopmat.targets.cpu.host.pauses import SHARED_WORDS, Stop, Word
from coopmat.targets.cpu.host.threads import aligned

MOST_FIBERS = 64  # sub-groups side by side, if two work-groups have no more
MANY = 1 << 20  # accesses after which a sub-group pauses in any case: it may wait for what another one does
LONGEST = 12  # at most 2 ** LONGEST accesses between two pauses in random order
WORD_BYTES = 8


class Order(Protocol):
    """Who goes on."""

    def group(self, left: list[int], place: int) -> int:
        """Take a work-group that has not begun, for a place among those side by side."""

    def next(self, ready: list[Fiber]) -> Fiber:
        """Take a sub-group that can go on."""

    def accesses(self) -> int:
        """How many accesses it may make until it pauses."""


class InOrder:
    """One work-group after the other, one sub-group after the other, as on one thread without races being looked for.
    """

    def group(self, left: list[int], place: int) -> int:
        return left.pop(0)

    def next(self, ready: list[Fiber]) -> Fiber:
        return min(ready, key=lambda fiber: (fiber.pauses, fiber.group.number, fiber.number))

    def accesses(self) -> int:
        return MANY


class RandomOrder:
    """Any order, the same for the same seed. One of the places is for the first work-group that has not begun: so those
    end that wait for what earlier ones do."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def group(self, left: list[int], place: int) -> int:
        return left.pop(0 if place == 0 else self._random.randrange(len(left)))

    def next(self, ready: list[Fiber]) -> Fiber:
        place = self._random.randrange(len(ready))
        ready[place], ready[-1] = ready[-1], ready[place]
        return ready[-1]

    def accesses(self) -> int:
        return 1 << self._random.randrange(LONGEST + 1)


@dataclass(eq=False)
class Fiber:
    """A sub-group: its position in its work-group, where its words and its stack are, how often it has paused."""

    group: Group
    number: int
    words: Any
    address: int
    pauses: int = 0


@dataclass(eq=False)
class Group:
    """A work-group that runs: its number, its place, and its sub-groups; those that have not ended, and those of them
    that wait at a barrier."""

    number: int
    place: int
    fibers: list[Fiber] = field(default_factory=list)
    running: list[Fiber] = field(default_factory=list)
    waiting: int = 0


class Place:
    """Memory for one work-group at a time: local memory, and a stack for each sub-group. Nothing is kept for others, as
    a thread would (threads.Scratch): Field.REUSE is 0."""

    def __init__(self, local_bytes: int, stack_bytes: int, sub_groups: int) -> None:
        memory = aligned(local_bytes + stack_bytes * sub_groups)
        self.local = memory[:local_bytes]
        self.stacks = [memory[start:start + stack_bytes] for start in range(local_bytes, memory.size, stack_bytes)]


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
        sub_groups = int(words[Field.SUB_GROUPS])
        self._left = list(range(int(words[Field.TOTAL])))
        count = min(len(self._left), max(2, MOST_FIBERS // sub_groups))
        self._places = [Place(int(words[Field.LOCAL_BYTES]), int(words[Field.STACK_BYTES]), sub_groups)
                        for _ in range(count)]
        self._shared = np.zeros(SHARED_WORDS, np.int64)
        self._ready: list[Fiber] = []

    def run(self) -> None:
        """Run all work-groups, or until the launch is to stop."""
        for place in range(len(self._places)):
            self._begin(place)
        stop = self._words[Field.STOP:Field.STOP + 1]
        ready = self._ready
        while ready and not stop[0]:
            fiber = self._order.next(ready)
            found = self._step(fiber, self._order.accesses())
            if found == Stop.PAUSE:
                fiber.pauses += 1
            else:
                ready.remove(fiber)
                self._stopped(fiber, found)

    def _begin(self, place: int) -> None:
        """Have the next work-group begin at a place, if there is one."""
        if not self._left:
            return
        number, memory = self._order.group(self._left, place), self._places[place]
        memory.local[:] = 0  # what nobody writes is the same in every order
        group = Group(number, place)
        x, y, _ = self._counts
        position = (number % x, number // x % y, number // (x * y))
        for sub_group, stack in enumerate(memory.stacks):
            words = stack[:(Word.STOP + 1) * WORD_BYTES].view(np.int64)
            words[Word.GROUP:Word.STOP + 1] = [
                *position, sub_group, self._launch, self._arguments, memory.local.ctypes.data,
                self._shared.ctypes.data, 0, Stop.NEW]
            group.fibers.append(Fiber(group, sub_group, words.data, words.ctypes.data))
        group.running = list(group.fibers)
        self._ready += group.fibers

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
            self._ready += fibers
            return
        stops = [(fiber, self._step(fiber, MANY)) for fiber in fibers]
        for fiber, found in stops:
            self._stopped(fiber, found)
