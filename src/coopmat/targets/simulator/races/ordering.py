"""What orders accesses: barriers, and atomics that acquire what others released.

Times are ticks of a launch, one for each access and barrier. What a work-item knows is kept as the last tick that it
knows of others: of one agent, of all of a sub-group, or of all of a work-group.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from coopmat.spirv.grammar import MemorySemantics, StorageClass
from coopmat.targets.simulator.races.agents import Agents
from coopmat.targets.simulator.state import Batch
from coopmat.targets.simulator.values import Array


class Memory(IntEnum):
    """What barriers tell apart."""

    LOCAL = 0
    GLOBAL = 1


MEMORIES: dict[int, Memory] = {StorageClass.Workgroup: Memory.LOCAL, StorageClass.CrossWorkgroup: Memory.GLOBAL}
FLAGS = {Memory.LOCAL: MemorySemantics.WorkgroupMemory, Memory.GLOBAL: MemorySemantics.CrossWorkgroupMemory}
ACQUIRES = MemorySemantics.Acquire | MemorySemantics.AcquireRelease | MemorySemantics.SequentiallyConsistent
RELEASES = MemorySemantics.Release | MemorySemantics.AcquireRelease | MemorySemantics.SequentiallyConsistent
ALL_SEMANTICS = (MemorySemantics.SequentiallyConsistent | MemorySemantics.WorkgroupMemory
                 | MemorySemantics.CrossWorkgroupMemory)


def ordered_memories(semantics: int) -> list[Memory]:
    """The memories that a barrier, or an atomic, with such semantics orders."""
    return [one for one in Memory if semantics & FLAGS[one]] if semantics & (ACQUIRES | RELEASES) else []


class Times:
    """The tick of the last barrier of each sub-group of a batch; ``least`` of them is known at once."""

    def __init__(self, sub_groups: int, now: int) -> None:
        self.of: Array = np.full(sub_groups, now)
        self.least = now

    def set(self, sub_groups: Array | None, now: int) -> None:
        """A barrier of some sub-groups, or of all."""
        if sub_groups is None:
            self.of[:] = now
        else:
            self.of[sub_groups] = now
        self.least = now if sub_groups is None else int(self.of.min())


class BarrierTimes:
    """The last barriers of a batch, by the memory that they order.

    One of a work-group is one of each of its sub-groups, too.
    """

    def __init__(self, batch: Batch, now: int) -> None:
        self.sub_group = [Times(batch.sub_groups, now) for _ in Memory]
        self.work_group = [Times(batch.sub_groups, now) for _ in Memory]
        self.of_group = Times(batch.sub_groups, now)  # of work-groups, for whatever memory
        self.arrived = [np.full(batch.sub_groups, now) for _ in Memory]


# --------------------------------------------------------------------------------------
# Atomics
# --------------------------------------------------------------------------------------

MOST_EVENTS = 1 << 18  # work-items in atomics, that are followed; what comes later counts as ordered

Clock = dict[tuple[int, int, int], int]
"""The last tick that is known of somebody's accesses to a memory: (level, number, memory) → tick."""
AGENT, SUB_GROUP, WORK_GROUP = range(3)


@dataclass
class Event:
    """Something that orders: an atomic or a fence of agents, or a barrier of groups.

    ``keys`` are the places of an atomic; None for a fence, or a barrier (which has ``level``). ``memories``: which it
    orders.
    """

    time: int
    agents: Array
    memories: list[Memory]
    keys: Array | None = None
    acquires: bool = False
    releases: bool = False
    writes: bool = False
    replaces: bool = False  # a store: what was released there before is gone
    level: int = AGENT


def merge(into: Clock, other: Clock, memories: Sequence[Memory] = tuple(Memory)) -> None:
    """Know what another one knows of some memories."""
    for key, tick in other.items():
        if key[2] in memories and tick > into.get(key, 0):
            into[key] = tick


class History:
    """What atomics and fences have ordered. It is worked out when an order is asked for that no barrier makes."""

    def __init__(self, agents: Agents) -> None:
        self._agents = agents
        self._events: list[Event] = []
        self._count = 0
        self._known: dict[tuple[int, int], Clock] = {}  # (level, number): what all of them know
        self._released: dict[int, Clock] = {}  # by place
        self._fenced: dict[int, Clock] = {}  # by agent: released by its last fence
        self._loaded: dict[int, Clock] = {}  # by agent: what a fence will acquire
        self._barriers: dict[tuple[int, int, int], int] = {}  # (level, number, memory): the last one

    def add(self, event: Event) -> None:
        """Note an event."""
        self._count += len(event.agents) if event.level == AGENT else 0
        if self._count <= MOST_EVENTS:
            self._events.append(event)

    def ordered(self, before: Array, times: Array, agent: Array, memory: Memory) -> Array:
        """Whether accesses of the agents ``before`` at ``times`` are known to ``agent`` now; arrays of one length."""
        if not self._count:
            return np.zeros(len(before), np.bool_)
        if self._count > MOST_EVENTS:
            return np.ones(len(before), np.bool_)
        self._work_out()
        result = np.zeros(len(before), np.bool_)
        for one in np.unique(agent):
            here = agent == one
            clock = self._clock(int(one))
            distinct, inverse = np.unique(before[here], return_inverse=True)
            latest = np.array([self._latest(clock, int(other), memory) for other in distinct])
            result[here] = times[here] <= latest[inverse.reshape(-1)]
        return result

    def _latest(self, clock: Clock, agent: int, memory: Memory) -> int:
        sub_group, group = self._groups(agent)
        return max(clock.get((level, number, memory), 0)
                   for level, number in ((AGENT, agent), (SUB_GROUP, sub_group), (WORK_GROUP, group)))

    def _groups(self, agent: int) -> tuple[int, int]:
        sub_group = agent // self._agents.per_sub_group
        return sub_group, sub_group // self._agents.geometry.sub_groups_per_group

    def _clock(self, agent: int) -> Clock:
        """What an agent knows of others."""
        sub_group, group = self._groups(agent)
        clock = dict(self._known.get((AGENT, agent), {}))
        for key in ((SUB_GROUP, sub_group), (WORK_GROUP, group)):
            merge(clock, self._known.get(key, {}))
        return clock

    def _snapshot(self, agent: int, event: Event) -> Clock:
        """What an agent that releases makes known: what it knows, and what it has done."""
        sub_group, group = self._groups(agent)
        clock: Clock = {}
        merge(clock, self._clock(agent), event.memories)
        for memory in event.memories:
            clock[AGENT, agent, memory] = event.time
            for key in ((SUB_GROUP, sub_group, int(memory)), (WORK_GROUP, group, int(memory))):
                clock[key] = max(clock.get(key, 0), self._barriers.get(key, 0))
        return clock

    def _work_out(self) -> None:
        for event in self._events:
            if event.level != AGENT:
                self._barrier(event)
            elif event.keys is None:
                for agent in event.agents.tolist():
                    self._fence(event, agent)
            else:
                for agent, key in zip(event.agents.tolist(), event.keys.tolist(), strict=True):
                    self._atomic(event, agent, key)
        self._events.clear()

    def _barrier(self, event: Event) -> None:
        """All of a group know what one of them knew."""
        for number in event.agents.tolist():
            together = self._known.setdefault((event.level, number), {})
            for key in [key for key in self._known if key[0] < event.level]:
                if self._groups_of_key(key)[event.level] == number:
                    merge(together, self._known[key], event.memories)
            for memory in event.memories:
                self._barriers[event.level, number, int(memory)] = event.time

    def _groups_of_key(self, key: tuple[int, int]) -> dict[int, int]:
        level, number = key
        sub_group = number // self._agents.per_sub_group if level == AGENT else number
        return {SUB_GROUP: sub_group, WORK_GROUP: sub_group // self._agents.geometry.sub_groups_per_group}

    def _fence(self, event: Event, agent: int) -> None:
        if event.acquires and agent in self._loaded:
            merge(self._known.setdefault((AGENT, agent), {}), self._loaded[agent], event.memories)
        if event.releases:
            self._fenced[agent] = self._snapshot(agent, event)

    def _atomic(self, event: Event, agent: int, key: int) -> None:
        there = self._released.get(key)
        if there and (not event.replaces):
            into = self._known.setdefault((AGENT, agent), {}) if event.acquires else self._loaded.setdefault(agent, {})
            merge(into, there)
        if not event.writes:
            return
        made = self._snapshot(agent, event) if event.releases else self._fenced.get(agent)
        if event.replaces or there is None:
            self._released[key] = dict(made or {})
        elif made:
            merge(there, made)
