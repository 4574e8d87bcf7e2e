"""Loops in which work-items wait: whether they end depends on memory that others may change meanwhile.

That is memory which the loop reads by an atomic or a volatile access, or by an ordinary one of the same place in each
round. Who waits by an ordinary or a volatile access has a data race; it is found only if others get their turns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from coopmat.spirv.analysis.lock_step import Loop
from coopmat.spirv.analysis.types import PointerType, Type
from coopmat.spirv.grammar import MemoryAccess, Op, StorageClass
from coopmat.spirv.module import Block, Instruction

SHARED = (StorageClass.CrossWorkgroup, StorageClass.Workgroup, StorageClass.Generic)
FOLLOWED = frozenset({Op.Load, Op.AccessChain, Op.InBoundsAccessChain, Op.PtrAccessChain, Op.InBoundsPtrAccessChain,
                      Op.Bitcast, Op.SConvert, Op.UConvert, Op.IAdd, Op.ISub, Op.IMul, Op.PtrCastToGeneric,
                      Op.GenericCastToPtr, Op.CopyObject})
"""What an address may be computed with, and be the same each time."""
DECISIONS = frozenset({Op.BranchConditional, Op.Switch})
Users = Mapping[int | None, Sequence[Instruction]]


@dataclass(frozen=True)
class WaitingLoop:
    """A loop, and the accesses by which it sees that it need not wait any more."""

    loop: Loop
    polls: tuple[Instruction, ...]


def waiting_loops(blocks: Sequence[Block], loops: Sequence[Loop], type_of: Callable[[int], Type]
                  ) -> list[WaitingLoop]:
    """Those of a function's loops in which work-items wait; ``blocks`` are the function's, ``type_of`` gives the types
    of its values."""
    in_loops = {number for loop in loops for number in _own(loop, blocks)}
    polls = [(number, row) for number in in_loops for row in blocks[number].instructions if _reads_shared(row, type_of)]
    if not polls:
        return []
    users = users_of(blocks)
    home = {id(block.terminator): number for number, block in enumerate(blocks)}
    decided = [(number, row, {home[id(end)] for end in _decided_by(row, users)}) for number, row in polls]
    found = []
    for loop in loops:
        rows = [row for number in _own(loop, blocks) for row in blocks[number].instructions]
        changed = Changed(rows, users)
        inside = tuple(row for number, row, ends in decided if number in loop.members and ends & loop.members
                       and (_may_change(row) or not changed.changes(row.words[0])))
        if inside:
            found.append(WaitingLoop(loop, inside))
    return found


def _own(loop: Loop, blocks: Sequence[Block]) -> list[int]:
    """The members of a loop that the function wrote itself: latches that were added have no instructions."""
    return [number for number in sorted(loop.members) if number < len(blocks)]


class Changed:
    """What a loop changes from round to round."""

    def __init__(self, rows: Sequence[Instruction], users: Users) -> None:
        self._rows = {row.result_id: row for row in rows if row.result_id is not None}
        self._stored = {row.words[0] for row in rows if row.opcode == Op.Store}
        self._users = users
        self._open: set[int] = set()

    def changes(self, value: int) -> bool:
        """Whether a value may be another one in the next round."""
        row = self._rows.get(value)
        if row is None:
            return False
        if value in self._open or row.opcode not in FOLLOWED:
            return True
        if row.opcode == Op.Load:
            return row.words[0] in self._rows or row.words[0] in self._stored or self._escapes(row.words[0])
        self._open.add(value)
        found = any(map(self.changes, row.ids()))
        self._open.discard(value)
        return found

    def _escapes(self, variable: int) -> bool:
        """Whether something but loads and stores of all of it uses a variable."""
        return any(user.opcode != Op.Load and not (user.opcode == Op.Store and user.words[1] != variable)
                   for user in self._users.get(variable, ()))


def users_of(blocks: Sequence[Block]) -> dict[int | None, list[Instruction]]:
    """The instructions of a function that use each id."""
    found: dict[int | None, list[Instruction]] = {}
    for block in blocks:
        for row in block.instructions:
            for used in set(row.ids()):
                found.setdefault(used, []).append(row)
    return found


def _reads_shared(row: Instruction, type_of: Callable[[int], Type]) -> bool:
    """Whether an instruction reads memory that work-items share."""
    if row.opcode == Op.Load:
        pointer = type_of(row.words[0])
        return isinstance(pointer, PointerType) and pointer.storage in SHARED
    return row.name.startswith("OpAtomic") and row.result_id is not None


def _may_change(row: Instruction) -> bool:
    """Whether an instruction says that others may change what it reads."""
    return row.opcode != Op.Load or bool(row.words[1:] and row.words[1] & MemoryAccess.Volatile)


def _decided_by(row: Instruction, users: Users) -> Iterator[Instruction]:
    """The branches that a value has a part in, also through variables."""
    waiting, seen = [row.result_id], {row.result_id}
    while waiting:
        value = waiting.pop()
        for user in users.get(value, ()):
            if user.opcode in DECISIONS:
                yield user
                continue
            reached = user.result_id
            if user.opcode == Op.Store:
                reached = user.words[0] if user.words[1] == value else None
            if reached is not None and reached not in seen:
                seen.add(reached)
                waiting.append(reached)
