"""Watches a launch for data races."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple, NoReturn

import numpy as np

from coopmat.diagnostics import DataRace
from coopmat.spirv.analysis.types import MatrixType
from coopmat.spirv.grammar import Scope
from coopmat.targets.base.geometry import Geometry
from coopmat.targets.simulator.races import messages
from coopmat.targets.simulator.races.agents import Agents
from coopmat.targets.simulator.races.ordering import (
    ACQUIRES,
    MEMORIES,
    RELEASES,
    SUB_GROUP,
    WORK_GROUP,
    BarrierTimes,
    Event,
    History,
    Memory,
    Times,
    ordered_memories,
)
from coopmat.targets.simulator.races.shadow import Last, Several, Shadow
from coopmat.targets.simulator.state import Batch, Frame, Site
from coopmat.targets.simulator.values import Array

NARROW: dict[int, str] = {
    Scope.Workgroup: "memory_scope_work_group", Scope.Subgroup: "memory_scope_sub_group",
    Scope.Invocation: "memory_scope_work_item"}
NOT_YET = (1 << 31) - 1  # the time of a copy that nobody has waited for
RaceMode = bool | Literal["benign-equal"]


class Watched(NamedTuple):
    """A buffer that is watched: its shadow, and the byte of it where the buffer begins."""

    shadow: Shadow
    base: int
    number: int  # of the shadow
    memory: Memory
    name: str
    stride: int  # bytes from one instance to the next; 0 where there is one


class Access(NamedTuple):
    """An access of ``nbytes`` from each of ``start`` (bytes in the buffer's memory) by the agents from ``first`` to
    ``last``; ``size`` is that of an element, for messages."""

    watched: Watched
    start: Array
    nbytes: int
    first: Array
    last: Array
    size: int
    site: Site


class Equal(NamedTuple):
    """Which accesses of a store left what was there, and which stored what is there now."""

    before: Array
    now: Array


def _address(array: Array) -> int:
    return int(array.__array_interface__["data"][0])


class RaceDetector:
    """The accesses and barriers of one launch. ``follows_atomics``: whether the kernel has atomics or fences that may
    order something; ``mode`` is the option ``races``."""

    def __init__(self, geometry: Geometry, mode: RaceMode, *, follows_atomics: bool) -> None:
        self.agents = Agents(geometry)
        self.allows_equal = mode == "benign-equal"
        self._shadows: list[Shadow] = []
        self._ranges: list[tuple[int, int, int]] = []  # of addresses, and the number of their shadow
        self._kinds: dict[MatrixType | None, int] = {}  # None for asynchronous copies
        self._copies: dict[int, Site] = {}  # the last asynchronous copy of an agent
        self._sites: list[Site | None] = [None]  # by tick
        self._history = History(self.agents) if follows_atomics else None
        self._narrow: dict[int, int] = {}  # the scopes of atomics that not all work-items take part in, by tick

    # --- the launch -------------------------------------------------------------------

    def watch(self, arrays: Sequence[tuple[Array, bool]]) -> None:
        """Watch the launch's arrays that the kernel may write, and those that share memory with them."""
        found: list[tuple[int, int, bool]] = []
        for start, end, is_written in sorted((start := _address(array), start + array.nbytes, is_written)
                                             for array, is_written in arrays if array.nbytes):
            if found and start < found[-1][1]:
                first, last, was_written = found.pop()
                start, end, is_written = first, max(last, end), was_written or is_written
            found.append((start, end, is_written))
        for start, end, is_written in found:
            if is_written:
                self._ranges.append((start, end, self._new_shadow(end - start)))

    def watched(self, storage: int, array: Array, name: str, stride: int = 0) -> Watched | None:
        """How a buffer of a storage class is watched; None if it is not. ``stride``: bytes from one instance to the
        next of memory that work-groups have of their own; 0 for an array of the launch."""
        memory = MEMORIES.get(storage)
        if memory is None or not array.nbytes:
            return None
        if stride:
            number = self._new_shadow(array.nbytes)
            return Watched(self._shadows[number], 0, number, memory, name, stride)
        place = _address(array)
        for start, end, number in self._ranges:
            if start <= place < end:
                return Watched(self._shadows[number], place - start, number, memory, name, 0)
        return None

    def _new_shadow(self, nbytes: int) -> int:
        self._shadows.append(Shadow(nbytes, self.agents.dtype))
        return len(self._shadows) - 1

    def begin(self, batch: Batch) -> None:
        """Other work-groups run."""
        self._batch = batch
        self._barriers = BarrierTimes(batch, self._tick(None))
        self._start = batch.first_group * batch.sub_groups_per_group

    def end(self) -> None:
        """The launch is over: nothing of it is held any longer."""
        self._batch.races = None
        del self._batch

    def _tick(self, site: Site | None) -> int:
        self._sites.append(site)
        return len(self._sites) - 1

    def of_matrix(self, batch: Batch, sub_groups: Array, kind: MatrixType | None) -> Array:
        """The agents that move matrices of a type, one for each of the batch's ``sub_groups``; None: what copies
        asynchronously."""
        return self.agents.of_matrix(batch, sub_groups, self._kinds.setdefault(kind, len(self._kinds)))

    # --- barriers ---------------------------------------------------------------------

    def barrier(self, frame: Frame, scope: int, semantics: int) -> None:
        """A control barrier of the groups that are here."""
        self._order(frame, scope, ordered_memories(semantics), self._tick(None))

    def arrive(self, frame: Frame, semantics: int) -> None:
        """The first half of a work-group's split barrier."""
        now, here = self._tick(None), self._here(frame)
        for memory in ordered_memories(semantics):
            self._barriers.arrived[memory][here] = now

    def wait(self, frame: Frame, semantics: int) -> None:
        """The second half: what came before the first is ordered before what comes now."""
        here = self._here(frame)
        memories = ordered_memories(semantics)
        for memory in memories:
            for arrived in np.unique(self._barriers.arrived[memory][here]).tolist():
                chosen = np.flatnonzero(self._barriers.arrived[memory] == arrived)
                chosen = np.intersect1d(chosen, np.arange(frame.batch.sub_groups)[here])
                for times in (self._barriers.sub_group[memory], self._barriers.work_group[memory]):
                    times.set(chosen, arrived)

    def _here(self, frame: Frame) -> Array | slice:
        found = frame.mask.sub_groups
        return slice(None) if found is None else found

    def _order(self, frame: Frame, scope: int, memories: list[Memory], now: int) -> None:
        here = frame.mask.sub_groups
        barriers = self._barriers
        if scope not in (Scope.Workgroup, Scope.Subgroup):
            return
        if scope == Scope.Workgroup:
            barriers.of_group.set(here, now)
        for memory in memories:
            barriers.sub_group[memory].set(here, now)
            if scope == Scope.Workgroup:
                barriers.work_group[memory].set(here, now)
        if self._history is not None:
            numbers = self._start + (np.arange(frame.batch.sub_groups) if here is None else here)
            if scope == Scope.Workgroup:
                numbers = np.unique(numbers // frame.batch.sub_groups_per_group)
            self._history.add(Event(now, numbers, memories,
                                    level=WORK_GROUP if scope == Scope.Workgroup else SUB_GROUP))

    def fence(self, frame: Frame, semantics: int) -> None:
        """A memory barrier of work-items."""
        if self._history is not None:
            agents = self.agents.of_lanes(frame.batch, frame.mask, frame.mask.expanded.shape).first
            self._history.add(Event(self._tick(None), agents, ordered_memories(semantics),
                                    acquires=bool(semantics & ACQUIRES), releases=bool(semantics & RELEASES)))

    # --- accesses ---------------------------------------------------------------------

    def read(self, access: Access) -> None:
        """A load."""
        shadow, now = access.watched.shadow, self._tick(access.site)
        index, first, last, count = self._granules(access)
        if shadow.was_written:
            self._check(access, index, first, last, count, shadow.written, "read", "written")
        if shadow.atomic is not None:
            self._check_several(access, index, first, last, count, shadow.atomic, "read", "written by an atomic")
        shadow.read.add(index, first, last, now, self._over(access.watched, shadow.read, index, first, last))

    def write(self, access: Access, equal: Equal | None = None) -> None:
        """A store, after it was made. ``equal``: what is no race with other stores of the same."""
        shadow, now = access.watched.shadow, self._tick(access.site)
        index, first, last, count = self._granules(access)
        if last is not first:
            self._check_at_once(access, first, last, count, equal)
        if shadow.was_written:
            self._check(access, index, first, last, count, shadow.written, "written", "written",
                        None if equal is None else np.repeat(equal.before, count))
        for several, verb in ((shadow.read, "read"), (shadow.atomic, "written by an atomic"),
                              (shadow.loaded, "read by an atomic")):
            if several is not None:
                self._check_several(access, index, first, last, count, several, "written", verb)
        shadow.written.set(index, last, now)
        self._check_at_once(access, last, shadow.written.agent[index], count, equal)
        shadow.was_written = True
        shadow.read.forget(index)

    def atomic(self, access: Access, scope: int, semantics: int, *, loads: bool, writes: bool) -> None:
        """An atomic access; races with what is not atomic."""
        shadow, now = access.watched.shadow, self._tick(access.site)
        index, first, last, count = self._granules(access)
        verb = "written by an atomic" if writes else "read by an atomic"
        if shadow.was_written:
            self._check(access, index, first, last, count, shadow.written, verb, "written")
        if writes:
            self._check_several(access, index, first, last, count, shadow.read, verb, "read")
        several = shadow.atomics()[0 if writes else 1]
        if scope in NARROW:
            self._narrow[now] = scope
        if self._narrow:
            self._check_scopes(access, index, first, count, scope, verb, writes=writes)
        several.add(index, first, last, now, self._over(access.watched, several, index, first, last))
        if scope in NARROW:  # among those of this instruction, too
            self._check_scopes(access, index, first, count, scope, verb, writes=writes)
        if self._history is not None:
            keys = (access.watched.number << 48) + access.watched.base + access.start
            self._history.add(Event(now, access.first, ordered_memories(semantics) or list(Memory), keys,
                                    acquires=loads and bool(semantics & ACQUIRES),
                                    releases=writes and bool(semantics & RELEASES), writes=writes,
                                    replaces=writes and not loads))

    def _check_scopes(self, access: Access, index: Array, agent: Array, count: int, scope: int, verb: str, *,
                      writes: bool) -> None:
        """Raise DataRace for atomics on one place of which one's scope does not include both work-items."""
        written, loaded = access.watched.shadow.atomics()
        for several, other_verb in ((written, "written"), *([(loaded, "read")] if writes else [])):
            for side in several.both:
                others, times = side.agent[index], side.time[index]
                apart = (times > 0) & ~self.agents.share(scope, agent, others)
                for tick in np.unique(times).tolist():
                    if tick in self._narrow:
                        apart |= (times == tick) & ~self.agents.share(self._narrow[tick], agent, others)
                chosen = np.flatnonzero(apart)
                bad = ~self._ordered(others[chosen], times[chosen], agent[chosen], access.watched.memory)
                if bad.any():
                    place = int(chosen[np.argmax(bad)])
                    site, found = self._sites[int(times[place])], self._narrow.get(int(times[place]), scope)
                    narrow = scope if scope in NARROW else found
                    self._raise(access, place // count, int(agent[place]), messages.scopes(
                        verb, other_verb, self.agents.in_words(int(others[place])), site.location if site else None,
                        self._element(access, place // count), NARROW[narrow]))

    # --- asynchronous copies ----------------------------------------------------------

    def begin_copy(self, source: Access | None, destination: Access | None) -> None:
        """A work-group's copy begins: until it is waited for, nothing is ordered behind it."""
        for access in (source, destination):
            if access is not None:
                (self.read if access is source else self.write)(access)
                index, first, *_ = self._granules(access)
                shadow = access.watched.shadow
                for side in (shadow.written,) if access is destination else shadow.read.both:
                    side.set(index, first, NOT_YET)
                self._copies[int(first[0])] = access.site

    def end_copy(self, source: Access | None, destination: Access | None) -> None:
        """The work-group has waited for it."""
        for access in (source, destination):
            if access is not None:
                index, *_ = self._granules(access)
                shadow = access.watched.shadow
                shadow.read.forget(index)
                if access is destination:
                    shadow.written.time[index] = 0

    def _granules(self, access: Access) -> tuple[Array, Array, Array, int]:
        start = access.start + access.watched.base if access.watched.base else access.start
        index, count = access.watched.shadow.granules(start, access.nbytes)
        if count == 1:
            return index, access.first, access.last, 1
        return index, np.repeat(access.first, count), np.repeat(access.last, count), count

    # --- what is ordered --------------------------------------------------------------

    def _check(self, access: Access, index: Array, first: Array, last: Array, count: int, side: Last, verb: str,
               other_verb: str, equal: Array | None = None) -> None:
        """Raise DataRace if one of the accesses noted in ``side`` is not ordered before this one."""
        times = side.time[index]
        suspects = times > (self._barriers.work_group[Memory.LOCAL].least
                            if access.watched.memory is Memory.LOCAL else 0)
        if equal is not None:
            suspects &= ~equal
        if not suspects.any():
            return
        chosen = np.flatnonzero(suspects)
        others, times = side.agent[index[chosen]], times[chosen]
        bad = ~self._ordered(others, times, first[chosen], access.watched.memory)
        if last is not first:
            bad |= ~self._ordered(others, times, last[chosen], access.watched.memory)
        if bad.any():
            at = int(np.argmax(bad))
            place = int(chosen[at])
            mine = int(first[place]) if first[place] != others[at] else int(last[place])
            self._report(access, place // count, mine, int(others[at]), int(times[at]), verb, other_verb)

    def _check_several(self, access: Access, index: Array, first: Array, last: Array, count: int, several: Several,
                       verb: str, other_verb: str) -> None:
        for side in several.both:
            self._check(access, index, first, last, count, side, verb, other_verb)

    def _over(self, watched: Watched, several: Several, index: Array, first: Array, last: Array) -> Array | None:
        """Where all accesses that are noted are ordered before this one; None: everywhere."""
        times = several.last.time[index]
        least = self._barriers.work_group[Memory.LOCAL].least if watched.memory is Memory.LOCAL else 0
        if not (times > least).any():
            return None
        over = np.ones(len(index), np.bool_)
        for side in several.both:
            over &= self._ordered(side.agent[index], side.time[index], first, watched.memory)
        if last is not first:
            over &= first == last
        return None if over.all() else over

    def _ordered(self, others: Array, times: Array, agent: Array, memory: Memory) -> Array:
        """Whether accesses of other agents at some times are ordered before one that an agent makes now."""
        agents = self.agents
        sub_groups, other_sub_groups = agents.sub_group(agent), agents.sub_group(others)
        here = sub_groups - self._start

        def before(barriers: list[Times], same: Array) -> Array:
            return same & (times <= barriers[memory].of[here])

        per_group = agents.geometry.sub_groups_per_group
        found = (times == 0) | (others == agent)
        found |= before(self._barriers.sub_group, sub_groups == other_sub_groups)
        found |= before(self._barriers.work_group, sub_groups // per_group == other_sub_groups // per_group)
        if self._history is not None and not found.all():
            left = ~found
            found[left] = self._history.ordered(others[left], times[left], agent[left], memory)
        return found

    # --- messages ---------------------------------------------------------------------

    def _check_at_once(self, access: Access, agents: Array, others: Array, count: int, equal: Equal | None) -> None:
        """Raise DataRace if two agents have stored to one place in one instruction."""
        differs = agents != others
        if equal is not None:
            differs &= ~np.repeat(equal.now, count)
        if differs.any():
            place = int(np.argmax(differs))
            self._raise(access, place // count, int(agents[place]), messages.at_once(
                self._element(access, place // count), self.agents.in_words(int(others[place]))))

    def _report(self, access: Access, place: int, agent: int, other: int, time: int, verb: str,
                other_verb: str) -> NoReturn:
        site, watched = self._copies[other] if time == NOT_YET else self._sites[time], access.watched
        per_group = self.agents.geometry.sub_groups_per_group
        one, two = (agents // self.agents.per_sub_group for agents in (agent, other))
        barrier = self._barriers.of_group.of[one - self._start]
        text = messages.accesses(verb, other_verb, self.agents.in_words(other),
                                 site.location if site is not None else None, self._element(access, place))
        if time == NOT_YET:
            self._raise(access, place, agent, text + "; wait for the copy's event before")
        text += "; " + messages.remedy(watched.memory, same_sub_group=one == two,
                                       same_group=one // per_group == two // per_group,
                                       was_barrier=time <= barrier)
        self._raise(access, place, agent, text)

    def _offset(self, access: Access, place: int) -> int:
        offset = int(access.start[place])
        return offset % access.watched.stride if access.watched.stride else offset

    def _element(self, access: Access, place: int) -> str:
        element, rest = divmod(self._offset(access, place), max(access.size, 1))
        return f"element {element} of {access.watched.name}" + (f", byte {rest} in it," if rest else "")

    def _raise(self, access: Access, place: int, agent: int, text: str) -> NoReturn:
        _, _, lane = self.agents.place(agent)
        frame = Frame(self._batch, [], self._batch.existing)
        raise DataRace(text, access.site.where(
            frame, agent // self.agents.per_sub_group - self._start, lane, access.watched.name,
            self._offset(access, place) // max(access.size, 1)))
