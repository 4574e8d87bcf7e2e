"""Integer dot products (SPV_KHR_integer_dot_product, core in SPIR-V 1.6): their operands, and the rules for types."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from coopmat.diagnostics import Error, ValidationError
from coopmat.spirv.analysis.types import IntType, Type, VectorType
from coopmat.spirv.grammar import Op, PackedVectorFormat
from coopmat.spirv.module.instruction import Instruction


@dataclass(frozen=True)
class DotProduct:
    """One of the instructions: whether each vector is signed, and whether an accumulator is added with saturation.

    The result of the accumulating forms has the sign of the first vector.
    """

    signs: tuple[bool, bool]
    accumulates: bool = False

    @property
    def operands(self) -> int:
        """How many of the words are operands: the vectors and the accumulator."""
        return 3 if self.accumulates else 2


DOT_PRODUCTS: dict[int, DotProduct] = {
    Op.SDot: DotProduct((True, True)),
    Op.UDot: DotProduct((False, False)),
    Op.SUDot: DotProduct((True, False)),
    Op.SDotAccSat: DotProduct((True, True), accumulates=True),
    Op.UDotAccSat: DotProduct((False, False), accumulates=True),
    Op.SUDotAccSat: DotProduct((True, False), accumulates=True),
}


@dataclass(frozen=True)
class DotShape:
    """The types of an instruction: the widths of the result and of the components, and whether these are packed."""

    width: int
    component_width: int
    is_packed: bool


def dot_shape(row: Instruction, result: Type, kinds: Sequence[Type]) -> DotShape:
    """The shape of an instruction; ``kinds``: the types of the vectors and of the accumulator, if there is one.

    ValidationError for types that the instruction does not take, Error for an unknown packed format.
    """
    first, second, *accumulator = kinds
    formats = row.words[len(kinds):]
    if not isinstance(result, IntType):
        raise ValidationError("dot-result", f"the result of {row.name} must be an integer, not {result}", row.offset)
    if first != second:
        raise ValidationError("dot-vectors", f"the vectors of {row.name} must have the same type, not {first} "
                              f"and {second}", row.offset)
    if accumulator and accumulator[0] != result:
        raise ValidationError("dot-accumulator", f"the accumulator of {row.name} must have the type of the result, "
                              f"{result}, not {accumulator[0]}", row.offset)
    width = _component_width(first, formats, row)
    if result.width < width:
        raise ValidationError("dot-result", f"the result of {row.name}, {result}, is narrower than the components of "
                              f"{width} bits", row.offset)
    return DotShape(result.width, width, not isinstance(first, VectorType))


def _component_width(kind: Type, formats: tuple[int, ...], row: Instruction) -> int:
    if isinstance(kind, VectorType) and isinstance(kind.component, IntType):
        return kind.component.width
    if kind != IntType(32) or not formats:
        raise ValidationError("dot-vectors", f"{row.name} needs vectors of integers, or 32-bit integers with a packed "
                              f"vector format; the operands are {kind}", row.offset)
    if formats[0] != PackedVectorFormat.PackedVectorFormat4x8Bit:
        raise Error(f"the packed vector format {formats[0]} of {row.name} is not known")
    return 8


