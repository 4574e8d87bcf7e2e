"""What an OpSubgroupMatrixMultiplyAccumulateINTEL asks for, and which row of the tables it is."""

from __future__ import annotations

from dataclasses import dataclass

from coopmat.devices.lane_layout import WORD_BITS
from coopmat.devices.subgroup_layout import (
    SUB_GROUP_MATRIX_ROWS,
    SubGroupMatrixRow,
)
from coopmat.devices.subgroup_matrices import B_COMPONENTS, M_SIZES
from coopmat.diagnostics import ValidationError
from coopmat.spirv.analysis.types import FloatType, IntType, Type, TypeTable, VectorType
from coopmat.spirv.grammar import MatrixMultiplyAccumulateOperands as Flags
from coopmat.spirv.module.content import Content
from coopmat.spirv.module.instruction import Instruction

ACCUMULATOR_TYPES: dict[str, Type] = {"sint32": IntType(32), "fp32": FloatType(32), "fp16": FloatType(16),
                                      "bf16": IntType(16)}


def flags_of(row: SubGroupMatrixRow) -> Flags:
    """The operand bits that a combination has: these and no others."""
    return Flags(row.operands)


@dataclass(frozen=True)
class SubGroupMultiply:
    """What one instruction asks for: K, the operand bits, and the types of A, B, C and the result."""

    k: int
    flags: Flags
    a: Type
    b: Type
    c: Type
    result: Type

    @property
    def m(self) -> int:
        return self.result.count

    def is_row(self, row: SubGroupMatrixRow) -> bool:
        """Whether the instruction is this row of the tables."""
        tf32 = row.a == "tf32"
        accumulator = ACCUMULATOR_TYPES[row.accumulator]
        return (self.k == row.k and self.flags == flags_of(row) and self.m in M_SIZES
                and self.result == self.c == vector_of(accumulator, self.m)
                and self.a == vector_of(FloatType(32) if tf32 else IntType(row.a_bits), row.a_components(self.m))
                and self.b == vector_of(FloatType(32) if tf32 else IntType(WORD_BITS), B_COMPONENTS))

    def row_for(self, sub_group_size: int) -> SubGroupMatrixRow | None:
        """The row of the tables for a sub-group size, if there is one."""
        return next((row for row in self.rows if row.sub_group_size == sub_group_size), None)

    @property
    def rows(self) -> list[SubGroupMatrixRow]:
        """The rows of the tables, of all sub-group sizes."""
        return [row for row in SUB_GROUP_MATRIX_ROWS if self.is_row(row)]

    @property
    def sub_group_sizes(self) -> list[int]:
        """The sub-group sizes for which the tables have a row."""
        return sorted({row.sub_group_size for row in self.rows})

    def __str__(self) -> str:
        bits = "|".join(flag.name or "" for flag in Flags if flag and flag in self.flags) or "none"
        return (f"M={self.m} K={self.k}, A {self.a}, B {self.b}, C {self.c}, result {self.result}, "
                f"operand bits {bits}")


def vector_of(component: Type, count: int) -> Type:
    """The type of ``count`` components: a scalar if it is one."""
    return component if count == 1 else VectorType(component, count)


def multiply_of(module: Content, types: TypeTable, row: Instruction) -> SubGroupMultiply:
    """What an instruction asks for. ValidationError if it breaks a rule that holds on every device."""
    k = module.constant_value(row.words[0])
    if not isinstance(k, int) or isinstance(k, bool):
        raise ValidationError("sub-group-matrix-k", f"K of {row.name} must be an integer constant", row.offset)
    kinds = []
    for identifier in (row.type_id, *(module.definition(word).type_id for word in row.words[1:4])):
        kind = None if identifier is None else types[identifier]
        if not isinstance(kind, IntType | FloatType | VectorType) or not isinstance(kind.scalar, IntType | FloatType):
            raise ValidationError("sub-group-matrix-types", f"the operands and the result of {row.name} must be "
                                  f"numbers or vectors of numbers, not {kind}", row.offset)
        kinds.append(kind)
    result, a, b, c = kinds
    return SubGroupMultiply(k, Flags(row.words[4] if len(row.words) > 4 else 0), a, b, c, result)
