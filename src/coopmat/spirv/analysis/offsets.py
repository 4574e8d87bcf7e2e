"""Where access chains lead, in bytes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

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


def stride_of(kind: Type) -> int:
    """Bytes from one element of a type to the next; 0 for what holds matrices."""
    if contains_matrix(kind):
        return 0
    return round_up(kind.size, kind.alignment) if kind.size else 1
