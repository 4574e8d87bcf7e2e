"""Operators on cooperative matrices (RFC 4.6), and access to one component.

Each operation is component-wise on matrices of one type; ``*`` also takes a scalar on either side.
bfloat16 has no arithmetic of its own: such matrices are converted to float, and the result back.
"""

from __future__ import annotations

from dataclasses import replace

from coopmat.diagnostics import SourceLocation
from coopmat.opencl.base.conversions import Purpose, convert
from coopmat.opencl.base.values import Operand, is_error
from coopmat.opencl.builtins.matrices.types import check_index, same_type
from coopmat.opencl.messages import matrix as messages
from coopmat.opencl.sema.context import Context
from coopmat.tree.matrices import computable, converted
from coopmat.tree.nodes import (
    Binary,
    BinaryOperator,
    ElementPlace,
    Expression,
    ExtractComponent,
    MatrixTimesScalar,
    Place,
    Unary,
    UnaryOperator,
)
from coopmat.tree.types import Matrix

ARITHMETIC = {"+": BinaryOperator.ADD, "-": BinaryOperator.SUBTRACT, "*": BinaryOperator.MULTIPLY,
              "/": BinaryOperator.DIVIDE}
"""The binary operators of matrices."""


def _computable(matrix: Matrix) -> Matrix:
    """The type in which arithmetic on ``matrix`` is done."""
    return replace(matrix, scalar=computable(matrix.scalar))


# ------------------------------------------------------------------ operators


def unary(context: Context, operator: str, operand: Expression, location: SourceLocation | None) -> Expression:
    """``-m``; any other unary operator on a matrix is reported."""
    if is_error(operand):
        return operand
    if operator != "-":
        return context.error(messages.UNSUPPORTED_UNARY, location, operator=operator)
    assert isinstance(operand.type, Matrix)
    type_ = _computable(operand.type)
    return converted(Unary(type_, location, UnaryOperator.NEGATE, converted(operand, type_)), operand.type)


def binary(context: Context, operator: str, left: Expression, right: Expression,
           location: SourceLocation | None) -> Expression:
    """A binary operator, at least one of whose operands is a matrix."""
    if is_error(left) or is_error(right):
        return context.error_expression(location)
    matrices = [operand.type for operand in (left, right) if isinstance(operand.type, Matrix)]
    others = [operand.type for operand in (left, right) if not isinstance(operand.type, Matrix)]
    if operator not in ARITHMETIC:
        return context.error(messages.UNSUPPORTED_BINARY, location, operator=operator)
    if others and not others[0].is_arithmetic:
        return context.error(messages.INVALID_OPERANDS_OF_BINARY, location, left=left.type, right=right.type)
    if others and operator != "*":
        return context.error(messages.UNSUPPORTED_SCALAR, location, operator=operator, left=left.type,
                             right=right.type)
    if others:
        matrix, scalar = (left, right) if isinstance(left.type, Matrix) else (right, left)
        return _scale(context, matrix, scalar, location)
    if not same_type(context, matrices[0], matrices[1], location):
        return context.error_expression(location)
    type_ = _computable(matrices[0])
    result = Binary(type_, location, ARITHMETIC[operator], converted(left, type_), converted(right, type_))
    return converted(result, matrices[0])


def _scale(context: Context, matrix: Expression, scalar: Expression, location: SourceLocation | None) -> Expression:
    """A matrix times a scalar, which converts to the component type first."""
    assert isinstance(matrix.type, Matrix)
    factor = convert(context, scalar, matrix.type.scalar, scalar.location, Purpose.ASSIGN)
    type_ = _computable(matrix.type)
    factor = convert(context, factor, type_.scalar, factor.location, Purpose.ASSIGN)
    return converted(MatrixTimesScalar(type_, location, converted(matrix, type_), factor), matrix.type)


# ------------------------------------------------------------------ components


def component(context: Context, base: Operand, index: Expression, location: SourceLocation | None) -> Operand:
    """``base[index]``: this work-item's component ``index`` of a matrix."""
    assert isinstance(base.type, Matrix)
    if is_error(index) or not check_index(context, index, base.type):
        return context.error_expression(location)
    if isinstance(base, Place):
        return ElementPlace(base.type.scalar, location, base, index)
    return ExtractComponent(base.type.scalar, location, base, index)
