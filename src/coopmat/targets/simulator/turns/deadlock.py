"""Nobody can go on: how that is seen, and what is said of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import numpy as np

from coopmat.diagnostics import Deadlock, Where
from coopmat.spirv.analysis.types import Type
from coopmat.targets.simulator.convergence import shown
from coopmat.targets.simulator.state import Frame, Site
from coopmat.targets.simulator.values import Array, Value

LOOKED_FOR = 32  # so many rounds: then a round that changes nothing is looked for
MOST_WAITING = 4  # sub-groups of which a message speaks


@dataclass(frozen=True)
class Poll:
    """An access by which a loop sees that it need not wait any more: the slots of its pointer and of what it has
    read, and the type of that."""

    pointer: int
    result: int
    kind: Type
    site: Site


class Progress:
    """Whether a round has changed anything: where sub-groups are, their values, or memory.

    A kernel has no other state, so that what comes after a state that has been there before is known. States are
    compared now and then, memory only when nothing else has changed.
    """

    def __init__(self) -> None:
        self._rounds = 0
        self._at: Array | None = None
        self._slots: Sequence[Value] = ()
        self._memory: bytes | None = None

    def is_stuck(self, frame: Frame, at: Array) -> bool:
        """Whether nothing has changed since the last round; to be asked at the end of each."""
        self._rounds += 1
        if self._rounds % LOOKED_FOR >= 3:  # places and values twice, then memory twice
            return False
        same = self._at is not None and np.array_equal(at, self._at) and all(
            map(_is_same, frame.slots, self._slots))
        if not same:
            self._at, self._slots, self._memory = at, list(frame.slots), None
            return False
        before, self._memory = self._memory, _digest(frame)
        return before == self._memory


def _is_same(one: Value, other: Value) -> bool:
    """Whether two values have the same bits."""
    if one is other:
        return True
    if isinstance(one, tuple):
        return isinstance(other, tuple) and all(map(_is_same, one, other))
    if not isinstance(one, np.ndarray) or not isinstance(other, np.ndarray):
        return bool(one == other)
    return one.shape == other.shape and one.tobytes() == other.tobytes()


def _digest(frame: Frame) -> bytes:
    found = blake2b(digest_size=16)
    for memory in frame.memory.contents:
        found.update(memory.data)
    return found.digest()


def deadlock(frame: Frame, at: Array, latches: Mapping[int, Sequence[Poll]], meetings: Mapping[int, Site]) -> Deadlock:
    """The error for a launch in which nobody can go on; ``at`` is the block of each sub-group."""
    return _Stuck(frame, at).error(latches, meetings)


class _Stuck:
    """A launch in which nobody can go on."""

    def __init__(self, frame: Frame, at: Array) -> None:
        self.frame, self.batch, self.memory, self.at = frame, frame.batch, frame.memory, at

    def error(self, latches: Mapping[int, Sequence[Poll]], meetings: Mapping[int, Site]) -> Deadlock:
        in_loops = [number for number, block in enumerate(self.at.tolist()) if block in latches]
        at_meetings = [number for number, block in enumerate(self.at.tolist()) if block in meetings]
        said = [self._in_loop(number, latches[int(self.at[number])]) for number in in_loops[:MOST_WAITING]]
        if len(in_loops) > MOST_WAITING:
            said.append(f"{len(in_loops) - MOST_WAITING} more sub-groups wait in such loops")
        said += [self._at_meeting(number, meetings[int(self.at[number])]) for number in at_meetings[:MOST_WAITING]]
        first = in_loops[0]
        return Deadlock(f"a deadlock: none of the {np.count_nonzero(self.at >= 0)} sub-groups that have not ended can "
                        f"go on: {'; '.join([*said, *self._remedies(first)])}",
                        self._where(first, latches[int(self.at[first])][0]))

    def _lanes(self, sub_group: int) -> Array:
        """The work-items of a sub-group that wait at its block."""
        lanes: Array = self.frame.waiting[int(self.at[sub_group])].expanded[sub_group]
        return lanes

    def _value(self, slot: int, sub_group: int) -> Any:
        """What the first of these work-items has in a slot."""
        value: Any = self.frame.slots[slot]
        rows, lanes = value.shape[:2]
        return value[sub_group if rows > 1 else 0, int(np.argmax(self._lanes(sub_group))) if lanes > 1 else 0]

    def _name(self, sub_group: int) -> str:
        group = ", ".join(map(str, self.batch.work_group(sub_group)))
        return f"sub-group {sub_group % self.batch.sub_groups_per_group} of work-group ({group})"

    def _where(self, sub_group: int, poll: Poll) -> Where:
        address, lane = int(self._value(poll.pointer, sub_group)), int(np.argmax(self._lanes(sub_group)))
        buffer = self.memory.buffer_at(address)
        if buffer is None:
            return poll.site.where(self.frame, sub_group, lane)
        element = self.memory.offset_in(address) // max(poll.kind.size, 1)
        return poll.site.where(self.frame, sub_group, lane, buffer.row.name, element)

    def _in_loop(self, sub_group: int, polls: Sequence[Poll]) -> str:
        """What a sub-group waits for."""
        seen = []
        for poll in polls:
            address = int(self._value(poll.pointer, sub_group))
            if self.memory.buffer_at(address) is not None:  # else it has never got there
                place, value = self.memory.describe(address, poll.kind.size), self._value(poll.result, sub_group)
                seen.append(f"{place} to be other than {shown(value)}{_line(poll.site)}")
        lane = int(np.argmax(self._lanes(sub_group)))
        return f"lane {lane} of {self._name(sub_group)} waits for {' or '.join(dict.fromkeys(seen)) or 'others'}"

    def _at_meeting(self, sub_group: int, site: Site) -> str:
        return f"{self._name(sub_group)} waits for the rest of its work-group at {site.in_words}{_line(site)}"

    def _remedies(self, sub_group: int) -> Iterator[str]:
        """What may mend it, for one of those who wait."""
        batch = self.batch
        others = np.any([mask.expanded[sub_group] for mask in self.frame.waiting.values()], axis=0)
        held = others & ~self._lanes(sub_group)
        if held.any():
            yield (f"lane {int(np.argmax(held))} of {self._name(sub_group)} goes on only when the others of its "
                   "sub-group have left the loop: if it is the one to store that, let one work-item of the sub-group "
                   "wait for all")
        if batch.first_group + batch.group_count < batch.geometry.group_total:
            yield (f"the work-groups behind the first {batch.first_group + batch.group_count} have not begun: a "
                   "work-group may wait only for those before it")
        elif not held.any():
            yield "whoever is to store that has ended, or waits itself"


def _line(site: Site) -> str:
    return f" ({site.location})" if site.location else ""
