"""Integers of a kernel that are known when it is launched: made of its arguments and of constants alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from coopmat.spirv.analysis.types import IntType
from coopmat.spirv.grammar import BuiltIn, Decoration, Op
from coopmat.spirv.module.instruction import Instruction
from coopmat.targets.analysis.flatten import Flat

SIGNED, UNSIGNED = "signed", "unsigned"
SIGNED_DIVIDE, UNSIGNED_DIVIDE = "divide", "divide without sign"
MINIMUM = "lesser"


@dataclass(frozen=True)
class LaunchValue:
    """``operation``: ``argument`` (of position ``number``), ``constant`` (``number``), or what is done with ``parts``.
    ``bits``: its width."""

    operation: str
    bits: int
    number: int = 0
    parts: tuple[LaunchValue, ...] = ()

    def of(self, arguments: Sequence[int]) -> int:
        """The value for a launch; ``arguments``: the kernel's, those that are integers as such. It has the sign of an
        integer with one."""
        mask = (1 << self.bits) - 1
        if self.operation == "argument":
            found = arguments[self.number]
        elif self.operation == "constant":
            found = self.number
        else:
            parts = [part.of(arguments) for part in self.parts]
            if self.operation in (UNSIGNED, UNSIGNED_DIVIDE):
                parts = [part & (1 << one.bits) - 1 for part, one in zip(parts, self.parts, strict=True)]
            found = _OPERATIONS[self.operation](*parts)
        found &= mask
        return found - (1 << self.bits) if found >> self.bits - 1 else found


_OPERATIONS: dict[str, Callable[..., int]] = {
    SIGNED: lambda a: a, UNSIGNED: lambda a: a, "add": lambda a, b: a + b, "subtract": lambda a, b: a - b,
    "multiply": lambda a, b: a * b, "shift": lambda a, b: a << (b & 63),
    UNSIGNED_DIVIDE: lambda a, b: a // b if b else 0,
    MINIMUM: min, SIGNED_DIVIDE: lambda a, b: abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1) if b else 0}
_BY_OPCODE = {Op.SConvert: SIGNED, Op.UConvert: UNSIGNED, Op.IAdd: "add", Op.ISub: "subtract", Op.IMul: "multiply",
              Op.ShiftLeftLogical: "shift", Op.UDiv: UNSIGNED_DIVIDE,
              Op.SDiv: SIGNED_DIVIDE}


def launch_value(flat: Flat, identifier: int) -> LaunchValue | None:
    """The value that an id stands for in every launch; None if the arguments do not say."""
    kind = flat.type_of(identifier)
    if not isinstance(kind, IntType):
        return None
    for place, row in enumerate(flat.parameters):
        if row.result_id == identifier:
            return LaunchValue("argument", kind.width, place)
    known = flat.constant_of(identifier)
    if known is not None:
        return LaunchValue("constant", kind.width, known)
    row = flat.definition(identifier)
    is_least = row.opcode == Op.Select and _is_least(flat, row)
    if row.opcode not in _BY_OPCODE and not is_least:
        return None
    parts = tuple(launch_value(flat, word) for word in (row.words[1:] if is_least else row.words))
    if any(part is None for part in parts):
        return None
    operation = MINIMUM if is_least else _BY_OPCODE[Op(row.opcode)]
    return LaunchValue(operation, kind.width, 0, tuple(part for part in parts if part is not None))


def _is_least(flat: Flat, row: Instruction) -> bool:
    """Whether a selection gives the lesser of two integers."""
    condition, *chosen = row.words
    compared = flat.definition(condition)
    return compared.opcode == Op.SLessThan and list(compared.words) == chosen


ALL_AXES = frozenset(range(3))


def group_axes(flat: Flat, identifier: int, _seen: set[int] | None = None) -> frozenset[int]:
    """The axes of the work-group's position on which a value depends, which is made of arguments and positions."""
    seen = set() if _seen is None else _seen
    own = flat.definitions.get(identifier)
    if own is None or identifier in seen:
        return frozenset()
    seen.add(identifier)
    if own.opcode == Op.CompositeExtract and len(own.words) == 2 and _is_group_id(flat, own.words[0]):
        return frozenset({own.words[1]})
    if _is_group_id(flat, identifier):
        return ALL_AXES
    return frozenset().union(*(group_axes(flat, word, seen) for word in own.ids()))


def _is_group_id(flat: Flat, identifier: int) -> bool:
    """Whether a value is the position of the work-group."""
    row = flat.definitions.get(identifier)
    if row is None or row.opcode != Op.Load:
        return False
    return any(decoration == Decoration.BuiltIn and words[0] == BuiltIn.WorkgroupId
               for decoration, words in flat.module.decorations(flat.original(row.words[0])))


MOST_ZEROS = 12


def zeros_of(flat: Flat, identifier: int, _seen: frozenset[int] = frozenset()) -> int:
    """How many of the lowest bits of an integer are known to be zero, at most twelve. What a loop's phi gets from the
    loop itself counts as having as many as the others."""
    if identifier in _seen:
        return MOST_ZEROS
    seen = _seen | {identifier}
    known = flat.constant_of(identifier)
    if known is not None:
        return min(MOST_ZEROS, (known & -known).bit_length() - 1) if known else MOST_ZEROS
    if any(row.result_id == identifier for row in flat.parameters):
        return 0
    row = flat.definition(identifier)
    words = row.words[::2] if row.opcode == Op.Phi else row.words[1:] if row.opcode == Op.Select else row.words
    if row.opcode in (Op.IAdd, Op.ISub, Op.Phi, Op.Select, Op.SConvert, Op.UConvert, Op.CopyObject):
        return min(zeros_of(flat, word, seen) for word in words)
    if row.opcode == Op.IMul:
        return min(MOST_ZEROS, sum(zeros_of(flat, word, seen) for word in words))
    if row.opcode == Op.ShiftLeftLogical:
        return min(MOST_ZEROS, zeros_of(flat, words[0], seen) + (flat.constant_of(words[1]) or 0))
    return 0
