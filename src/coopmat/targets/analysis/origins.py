"""Which variable or argument a pointer comes from, as far as that is known when a kernel is compiled."""

from __future__ import annotations

from collections.abc import Sequence

from coopmat.spirv.grammar import CHAINS, LIFETIMES, POINTER_CASTS, Op
from coopmat.targets.analysis.pointer_uses import users_of
from coopmat.targets.llvm.emitter import Emitter

DERIVED = frozenset({*CHAINS, *POINTER_CASTS, Op.GenericCastToPtrExplicit})
"""Instructions whose first operand is the pointer that their result is derived from."""
NOWHERE = frozenset({Op.ConstantNull, Op.Undef, Op.PoisonKHR})
"""Pointers to nothing: what else a pointer may be, decides where it comes from."""


def origin(emitter: Emitter, pointer: int) -> int | None:
    """The id of the parameter or variable that all values of a pointer are derived from, if it is one."""
    pending, seen, found = [pointer], set[int](), set[int]()
    while pending:
        one = pending.pop()
        if one in seen:
            continue
        seen.add(one)
        row = emitter.flat.definition(one)
        opcode, words = row.opcode, row.words
        if opcode == Op.SpecConstantOp:
            opcode, words = words[0], words[1:]
        if opcode in (Op.FunctionParameter, Op.Variable):
            found.add(one)
        elif opcode not in NOWHERE:
            sources = _sources(emitter, opcode, words)
            if sources is None:
                return None
            pending += sources
    return found.pop() if len(found) == 1 else None


def _sources(emitter: Emitter, opcode: int, words: Sequence[int]) -> Sequence[int] | None:
    """The pointers that one is derived from; None if they are not known."""
    if opcode in DERIVED:
        return words[:1]
    if opcode == Op.Phi:
        return words[::2]
    if opcode == Op.Select:
        return words[1:3]
    return _stored(emitter, words[0]) if opcode == Op.Load else None


def _stored(emitter: Emitter, variable: int) -> Sequence[int] | None:
    """What a variable that holds a pointer may hold."""
    row, users = emitter.flat.definition(variable), users_of(emitter)
    if row.opcode != Op.Variable or not users.stays(variable, emitter.pointee(variable)):
        return None
    found = list(row.words[1:2])
    for user in users.users.get(variable, ()):
        if user.opcode == Op.Store:
            found.append(user.words[1])
        elif user.opcode != Op.Load and user.opcode not in LIFETIMES:
            return None
    return found
