"""Where access chains lead, in bytes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import prod

from coopmat.diagnostics import Error
from coopmat.spirv.analysis.types import ArrayType, StructType, Type, TypeTable, VectorType, contains_matrix, round_up
from coopmat.spirv.grammar import Op
from coopmat.spirv.module.content import Content
from coopmat.spirv.module.instruction import Instruction

ELEMENT_FIRST = frozenset({Op.PtrAccessChain, Op.InBoundsPtrAccessChain})
"""Access chains whose first index counts elements of the type that the pointer points to."""


@dataclass(frozen=True)
class Step:
    """One index of a chain: ``size`` bytes by the value ``index``, or, if that is None, so many bytes."""

    size: int
    index: int | None
    inside: Type
    is_packed: bool = False


def steps(module: Content, types: TypeTable, pointer_type: int, row: Instruction) -> Iterator[Step]:
    """The indices of an access chain, the first one first. Error for one into what has no elements in memory."""
    kind = types.pointee(types[pointer_type])
    indices = row.words[1:]
    if row.opcode in ELEMENT_FIRST:
        yield Step(stride_of(kind), indices[0], kind)
        indices = indices[1:]
    for index in indices:
        if isinstance(kind, StructType):
            number = int(module.constant_value(index) or 0)
            yield Step(kind.offsets[number], None, kind.members[number], kind.packed)
            kind = kind.members[number]
        elif isinstance(kind, ArrayType):
            yield Step(kind.stride, index, kind.element)
            kind = kind.element
        elif isinstance(kind, VectorType):
            yield Step(kind.component.size, index, kind.component)
            kind = kind.component
        else:
            raise Error(f"an index into {kind} cannot be translated to a shader")


def granularity(module: Content, step: Step) -> int:
    """A power of two that divides a step's bytes whatever its index is; modules of LLVM count in bytes."""
    bytes_ = step.size * (1 if step.index is None else factor_of(module, step.index))
    return bytes_ & -bytes_ or MOST_FACTOR


def factor_of(module: Content, number: int, seen: tuple[int, ...] = ()) -> int:
    """A power of two that divides an integer, as far as its instructions tell."""
    row = module.definition(number)
    known = module.constant_value(number) if row.opcode in (Op.Constant, Op.ConstantNull) else None
    if known is not None:
        return min(int(known) & -int(known) or MOST_FACTOR, MOST_FACTOR)
    if row.opcode not in _FACTORS or len(seen) >= _DEEPEST:
        return 1
    if number in seen:
        return MOST_FACTOR  # a round of a loop has what the others have
    words = row.words[::2] if row.opcode == Op.Phi else row.words
    operands = words[1:] if row.opcode == Op.Select else words
    if row.opcode == Op.ShiftLeftLogical:
        shift = module.constant_value(words[1])
        known_shift = shift if isinstance(shift, int) and 0 <= shift < MOST_FACTOR.bit_length() else 0
        return min(factor_of(module, words[0], (*seen, number)) << known_shift, MOST_FACTOR)
    return min(_FACTORS[Op(row.opcode)]([factor_of(module, word, (*seen, number)) for word in operands]), MOST_FACTOR)


MOST_FACTOR = 64
_DEEPEST = 8
_FACTORS: dict[Op, Callable[[list[int]], int]] = {
    Op.IAdd: min, Op.ISub: min, Op.BitwiseOr: min, Op.BitwiseXor: min, Op.Phi: min, Op.Select: min, Op.SConvert: min,
    Op.UConvert: min, Op.CopyObject: min, Op.SNegate: min, Op.BitwiseAnd: max, Op.IMul: prod, Op.ShiftLeftLogical: min,
    Op.SRem: min, Op.SMod: min, Op.UMod: min,
}
"""What divides the result of an instruction, from what divides its operands."""


def stride_of(kind: Type) -> int:
    """Bytes from one element of a type to the next; 0 for what holds matrices."""
    if contains_matrix(kind):
        return 0
    return round_up(kind.size, kind.alignment) if kind.size else 1
