"""Arithmetic of OpTypeMatrix, which kernels do not have: a matrix is an array of its columns."""

from __future__ import annotations

from collections.abc import Callable

from coopmat.spirv.grammar import Op
from coopmat.spirv.module.instruction import Instruction
from coopmat.spirv.transform.from_shader.state import Translation


class _Matrix:
    """A matrix of the kernel: its columns' type and their ids."""

    def __init__(self, to: Translation, old: int) -> None:
        type_ = to.type_of(old)
        self.column = type_.words[0]
        value = to.id(old)
        self.columns = [to.value(Op.CompositeExtract, to.types[self.column], value, i) for i in range(type_.words[1])]

    def component(self, to: Translation) -> int:
        """The kernel's type of its components."""
        return to.types[to.module.definition(self.column).words[0]]


def _rows(to: Translation, matrix: _Matrix) -> list[list[int]]:
    count = to.module.definition(matrix.column).words[1]
    kind = matrix.component(to)
    return [[to.value(Op.CompositeExtract, kind, column, i) for column in matrix.columns] for i in range(count)]


def _combined(to: Translation, matrix: _Matrix, vector: int) -> int:
    """The sum of the columns, each times a component of a vector."""
    kind, component = to.types[matrix.column], matrix.component(to)
    found = 0
    for index, column in enumerate(matrix.columns):
        factor = to.value(Op.CompositeExtract, component, vector, index)
        term = to.value(Op.VectorTimesScalar, kind, column, factor)
        found = to.value(Op.FAdd, kind, found, term) if index else term
    return found


def _matrix_times_scalar(to: Translation, row: Instruction) -> int:
    matrix, scalar = _Matrix(to, row.words[0]), to.id(row.words[1])
    kind = to.types[matrix.column]
    return to.composite(to.result_type(row), [to.value(Op.VectorTimesScalar, kind, one, scalar)
                                              for one in matrix.columns])


def _matrix_times_vector(to: Translation, row: Instruction) -> int:
    return _combined(to, _Matrix(to, row.words[0]), to.id(row.words[1]))


def _vector_times_matrix(to: Translation, row: Instruction) -> int:
    matrix, vector = _Matrix(to, row.words[1]), to.id(row.words[0])
    kind = matrix.component(to)
    return to.composite(to.result_type(row), [to.value(Op.Dot, kind, vector, one) for one in matrix.columns])


def _matrix_times_matrix(to: Translation, row: Instruction) -> int:
    left, right = (_Matrix(to, word) for word in row.words)
    return to.composite(to.result_type(row), [_combined(to, left, one) for one in right.columns])


def _transpose(to: Translation, row: Instruction) -> int:
    matrix = _Matrix(to, row.words[0])
    column = to.types[to.module.definition(row.type_id or 0).words[0]]
    return to.composite(to.result_type(row), [to.composite(column, parts) for parts in _rows(to, matrix)])


def _outer_product(to: Translation, row: Instruction) -> int:
    left, right = map(to.id, row.words)
    type_ = to.module.definition(row.type_id or 0)
    column = to.types[type_.words[0]]
    component = to.types[to.module.definition(type_.words[0]).words[0]]
    factors = [to.value(Op.CompositeExtract, component, right, i) for i in range(type_.words[1])]
    return to.composite(to.result_type(row), [to.value(Op.VectorTimesScalar, column, left, one) for one in factors])


def _column_wise(to: Translation, row: Instruction) -> int:
    """An operation on each column of one or two matrices."""
    operands = [_Matrix(to, word) for word in row.words]
    kind = to.types[operands[0].column]
    return to.composite(to.result_type(row), [to.value(Op(row.opcode), kind, *parts)
                                              for parts in zip(*(one.columns for one in operands), strict=True)])


_ALWAYS: dict[int, Callable[[Translation, Instruction], int]] = {
    Op.MatrixTimesVector: _matrix_times_vector, Op.VectorTimesMatrix: _vector_times_matrix,
    Op.MatrixTimesMatrix: _matrix_times_matrix, Op.Transpose: _transpose, Op.OuterProduct: _outer_product,
}
_COLUMN_WISE = frozenset({Op.FAdd, Op.FSub, Op.FMul, Op.FDiv, Op.FRem, Op.FMod, Op.FNegate, Op.FConvert})


def translate(to: Translation, row: Instruction) -> bool:
    """Define what stands for an operation on matrices of columns; False for any other instruction."""
    made = _ALWAYS.get(row.opcode)
    if made is None and row.type_id is not None and (row.opcode == Op.MatrixTimesScalar or row.opcode in _COLUMN_WISE):
        is_matrix = to.module.definition(row.type_id).opcode == Op.TypeMatrix
        made = None if not is_matrix else (
            _matrix_times_scalar if row.opcode == Op.MatrixTimesScalar else _column_wise)
    if made is None:
        return False
    to.define(row, made(to, row))
    return True
