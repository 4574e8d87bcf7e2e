"""A thread's registers of a matrix."""

from __future__ import annotations

import pytest

from coopmat.spirv.analysis.types import BFLOAT16_ENCODING, FloatType, IntType, MatrixType, Type
from coopmat.spirv.grammar import Scope
from coopmat.targets.cuda.matrix.fragments import fragment_of

A, B, ACCUMULATOR = range(3)
HALF, BF16, FLOAT, DOUBLE = FloatType(16), FloatType(16, BFLOAT16_ENCODING), FloatType(32), FloatType(64)


def kind(component: Type, rows: int, columns: int, use: int, work_items: int = 32,
         scope: Scope = Scope.Subgroup) -> MatrixType:
    return MatrixType(component, rows, columns, use, work_items, "nvidia_gpu_sm_90", scope)


@pytest.mark.parametrize(("matrix", "per_register", "registers", "type_", "element"), [
    (kind(HALF, 16, 16, A), 2, 4, "[4 x i32]", "half"),
    (kind(HALF, 16, 8, B), 2, 2, "[2 x i32]", "half"),  # the repeated ones are left out
    (kind(BF16, 16, 16, B), 2, 4, "[4 x i32]", "i16"),
    (kind(IntType(8), 16, 32, A), 4, 4, "[4 x i32]", "i8"),
    (kind(IntType(4), 16, 64, A), 8, 4, "[4 x i32]", "i8"),
    (kind(FLOAT, 16, 8, A), 1, 4, "[4 x float]", "float"),
    (kind(FLOAT, 16, 16, ACCUMULATOR), 1, 8, "[8 x float]", "float"),
    (kind(IntType(32), 8, 32, ACCUMULATOR), 1, 8, "[8 x i32]", "i32"),
    (kind(DOUBLE, 8, 8, ACCUMULATOR), 1, 2, "[2 x double]", "double"),
    (kind(IntType(64), 16, 16, ACCUMULATOR), 1, 8, "[8 x i64]", "i64"),
    (kind(HALF, 3, 5, A), 2, 1, "[1 x i32]", "half"),  # padding
    (kind(IntType(8), 5, 5, ACCUMULATOR, 16), 4, 1, "[1 x i32]", "i8"),  # dealt out to half a warp
    (kind(FLOAT, 128, 256, ACCUMULATOR, 256, Scope.Workgroup), 1, 128, "[128 x float]", "float")], ids=str)
def test_registers(matrix: MatrixType, per_register: int, registers: int, type_: str, element: str) -> None:
    found = fragment_of(matrix)
    assert (found.per_register, found.registers, found.type, found.element) == (per_register, registers, type_, element)
    assert found.registers * found.per_register >= found.components
    assert found.components * matrix.work_items >= matrix.rows * matrix.columns


def test_what_instructions_want() -> None:
    """A along the rows, B along the columns, accumulators either way, in steps of what a register holds."""
    a, b = fragment_of(kind(HALF, 48, 80, A)), fragment_of(kind(HALF, 80, 40, B))
    assert a.is_by_rows(2)
    assert not a.is_by_rows(4)
    assert not a.is_by_columns(2)
    assert b.is_by_columns(2)
    assert fragment_of(kind(IntType(8), 48, 80, A)).is_by_rows(4)
    assert fragment_of(kind(IntType(4), 48, 80, A)).is_by_rows(8)
    assert fragment_of(kind(FLOAT, 48, 40, ACCUMULATOR)).is_by_rows(2)
    assert fragment_of(kind(FLOAT, 24, 32, ACCUMULATOR)).is_by_columns(2)  # few rows: N counts them
    assert fragment_of(kind(FLOAT, 8, 32, ACCUMULATOR)).is_by_columns(2)
    dealt = fragment_of(kind(HALF, 48, 80, A, 16))
    assert not dealt.is_by_rows(2)
    assert not dealt.is_by_columns(2)
