"""Unary and binary operators on values (C99 6.5.3 to 6.5.14, OpenCL C 6.4), and the conversions of their operands."""

from __future__ import annotations

from coopmat.diagnostics import SourceLocation
from coopmat.opencl.base.conversion_warnings import check_operands, check_overflow
from coopmat.opencl.base.conversions import condition, scalar_rank_exceeds, splat
from coopmat.opencl.base.values import bool_vector, is_error
from coopmat.opencl.messages import semantic as messages
from coopmat.opencl.sema import matrix_operators, pointers
from coopmat.opencl.sema.context import Context
from coopmat.tree import constants
from coopmat.tree.conversions import common_type, make_convert, promote
from coopmat.tree.nodes import (
    Binary,
    BinaryOperator,
    Conditional,
    Constant,
    Convert,
    Expression,
    Logical,
    Unary,
    UnaryOperator,
)
from coopmat.tree.types import BFLOAT16, BOOL, FLOAT, INT, Matrix, Pointer, Scalar, Type, Vector

INTEGER_ONLY = frozenset({"%", "&", "|", "^", "<<", ">>"})
COMPARISONS = frozenset({"==", "!=", "<", ">", "<=", ">="})
SHIFTS = frozenset({"<<", ">>"})


def invalid_operands(context: Context, left: Expression, right: Expression,
                     location: SourceLocation | None) -> Expression:
    """Report that an operator does not take operands of these types."""
    return context.error(messages.INVALID_OPERANDS, location, left=left.type, right=right.type)


def signed_result(vector: Vector) -> Vector:
    """The type of a comparison of vectors: signed integers of the same width (OpenCL C 6.4.4)."""
    return Vector(Scalar("sint", max(8, vector.scalar.bits)), vector.count)


def folded(expression: Expression) -> Expression:
    """A constant in place of a scalar operation whose operands are constants."""
    if isinstance(expression.type, Scalar) and all(map(_is_constant, _operands(expression))):
        value = constants.evaluate(expression)
        if value is not None and not isinstance(value, tuple):
            return Constant(expression.type, expression.location, value)
    return expression


def _operands(expression: Expression) -> tuple[Expression, ...]:
    """The operands of an operation, looking through the conversion of its bool to int."""
    match expression:
        case Unary(operand=operand):
            return (operand,)
        case Binary(left=left, right=right) | Logical(left=left, right=right):
            return (left, right)
        case Conditional(condition=condition, if_true=if_true, if_false=if_false):
            return (condition, if_true, if_false)
        case Convert(operand=operand):
            return _operands(operand)
    return (expression,)


def _is_constant(expression: Expression) -> bool:
    return isinstance(expression, Constant)


# ------------------------------------------------------------------ unary operators


def unary(context: Context, operator: str, operand: Expression, location: SourceLocation | None) -> Expression:
    """``+``, ``-``, ``~`` and ``!`` on a value."""
    type_ = operand.type
    if is_error(operand):
        return operand
    if isinstance(type_, Matrix):
        return matrix_operators.unary(context, operator, operand, location)
    if operator == "!":
        return _logical_not(context, operand, location)
    scalar = type_.element
    if not scalar.is_arithmetic or (operator == "~" and scalar.is_float):
        return context.error(messages.INVALID_ARGUMENT, location, type=type_)
    if not isinstance(type_, Vector):
        operand = promote(operand)
    if operator == "+":
        return operand
    if operator == "-" and isinstance(operand, Constant):
        check_overflow(context, "-", Constant(operand.type, location, 0), operand, location)
    symbol = UnaryOperator.NEGATE if operator == "-" else UnaryOperator.COMPLEMENT
    if operand.type == BFLOAT16:
        wide = make_convert(operand, FLOAT)
        return make_convert(Unary(FLOAT, location, symbol, wide), BFLOAT16)
    return folded(Unary(operand.type, location, symbol, operand))


def _logical_not(context: Context, operand: Expression, location: SourceLocation | None) -> Expression:
    if isinstance(operand.type, Vector):
        type_ = bool_vector(operand.type)
        inverted = Unary(type_, location, UnaryOperator.NOT, truth_of_vector(operand))
        return Convert(signed_result(operand.type), location, inverted)
    truth = condition(context, operand, messages.INVALID_ARGUMENT, location)
    if is_error(truth):
        return truth
    return folded(Convert(INT, location, Unary(BOOL, location, UnaryOperator.NOT, truth)))


def truth_of_vector(operand: Expression) -> Expression:
    """The vector of bool that says which components are not zero."""
    assert isinstance(operand.type, Vector)
    type_ = bool_vector(operand.type)
    if isinstance(operand, Convert) and operand.operand.type == type_:
        return operand.operand
    return Convert(type_, operand.location, operand)


# ------------------------------------------------------------------ binary operators


def binary(context: Context, operator: str, left: Expression, right: Expression,
           location: SourceLocation | None) -> Expression:
    """Any binary operator on values, except ``,`` and assignments."""
    if is_error(left) or is_error(right):
        return context.error_expression(location)
    if isinstance(left.type, Matrix) or isinstance(right.type, Matrix):
        return matrix_operators.binary(context, operator, left, right, location)
    if operator in ("&&", "||"):
        return _logical(context, operator == "&&", left, right, location)
    if isinstance(left.type, Pointer) or isinstance(right.type, Pointer):
        return pointers.binary(context, operator, left, right, location)
    if operator in SHIFTS:
        return _shift(context, BinaryOperator(operator), left, right, location)
    if operator in INTEGER_ONLY and (left.type.element.is_float or right.type.element.is_float):
        return invalid_operands(context, left, right, location)
    operands = unify(context, left, right, location)
    if operands is None:
        return context.error_expression(location)
    if operator not in COMPARISONS:
        check_operands(context, (left, right), operands[0].type)
    left, right = operands
    if operator in COMPARISONS:
        return _comparison(BinaryOperator(operator), left, right, location)
    if operator in "/%":
        _warn_about_zero(context, operator, right, location)
    check_overflow(context, operator, left, right, location)
    return _arithmetic(BinaryOperator(operator), left, right, location)


def _arithmetic(operator: BinaryOperator, left: Expression, right: Expression,
                location: SourceLocation | None) -> Expression:
    """An operator whose operands have one type, which is also the result's; bfloat16 computes in float."""
    if left.type == BFLOAT16:
        wide = Binary(FLOAT, location, operator, make_convert(left, FLOAT), make_convert(right, FLOAT))
        return make_convert(wide, BFLOAT16)
    return folded(Binary(left.type, location, operator, left, right))


def _warn_about_zero(context: Context, operator: str, right: Expression, location: SourceLocation | None) -> None:
    if not right.type.element.is_float and constants.evaluate(right) == 0:
        what = "division" if operator == "/" else "remainder"
        context.report(messages.DIVISION_BY_ZERO, location, what=what)


def _comparison(operator: BinaryOperator, left: Expression, right: Expression,
                location: SourceLocation | None) -> Expression:
    if isinstance(left.type, Vector):
        test = Binary(bool_vector(left.type), location, operator, left, right)
        return Convert(signed_result(left.type), location, test)
    if left.type == BFLOAT16:
        left, right = make_convert(left, FLOAT), make_convert(right, FLOAT)
    return folded(Convert(INT, location, Binary(BOOL, location, operator, left, right)))


def unify(context: Context, left: Expression, right: Expression,
          location: SourceLocation | None) -> tuple[Expression, Expression] | None:
    """The usual arithmetic conversions (C99 6.3.1.8, OpenCL C 6.4): both operands in one type.

    None after a report: a vector goes with a vector of its own type, or with a scalar of no greater rank.
    """
    if not (_is_number(left.type) and _is_number(right.type)):
        invalid_operands(context, left, right, location)
        return None
    if isinstance(left.type, Vector) and isinstance(right.type, Vector):
        if left.type != right.type:
            context.report(messages.VECTOR_TYPES_DIFFER, location, left=left.type, right=right.type)
            return None
        return left, right
    if isinstance(left.type, Vector) or isinstance(right.type, Vector):
        return _widen(context, left, right, location)
    type_ = common_type(left.type, right.type)
    return make_convert(left, type_), make_convert(right, type_)


def _is_number(type_: Type) -> bool:
    return type_.is_arithmetic or isinstance(type_, Vector)


def _widen(context: Context, left: Expression, right: Expression,
           location: SourceLocation | None) -> tuple[Expression, Expression] | None:
    """A vector and a scalar: the scalar becomes a vector (OpenCL C 6.4)."""
    vector, scalar = (left, right) if isinstance(left.type, Vector) else (right, left)
    assert isinstance(vector.type, Vector)
    if scalar_rank_exceeds(scalar.type, vector.type.scalar):
        context.report(messages.SCALAR_RANK, location, vector=vector.type, scalar=scalar.type)
        return None
    widened = splat(make_convert(scalar, vector.type.scalar), vector.type)
    return (left, widened) if vector is left else (widened, right)


def _logical(context: Context, is_and: bool, left: Expression, right: Expression,
             location: SourceLocation | None) -> Expression:
    """``&&`` and ``||``: short-circuiting on scalars, component by component on vectors."""
    if isinstance(left.type, Vector) or isinstance(right.type, Vector):
        return _vector_logical(context, is_and, left, right, location)
    if not (_is_scalar(left.type) and _is_scalar(right.type)):
        return invalid_operands(context, left, right, location)
    result = Logical(BOOL, location, is_and, condition(context, left), condition(context, right))
    return folded(Convert(INT, location, result))


def _is_scalar(type_: Type) -> bool:
    return type_.is_arithmetic or isinstance(type_, Pointer)


def _vector_logical(context: Context, is_and: bool, left: Expression, right: Expression,
                    location: SourceLocation | None) -> Expression:
    operands = unify(context, left, right, location)
    if operands is None:
        return context.error_expression(location)
    assert isinstance(operands[0].type, Vector)
    type_ = signed_result(operands[0].type)
    truths = [Convert(type_, operand.location, truth_of_vector(operand)) for operand in operands]
    return Binary(type_, location, BinaryOperator.AND if is_and else BinaryOperator.OR, truths[0], truths[1])


# ------------------------------------------------------------------ shifts


def _shift(context: Context, operator: BinaryOperator, left: Expression, right: Expression,
           location: SourceLocation | None) -> Expression:
    """``<<`` and ``>>`` (OpenCL C 6.4): the result has the left operand's type after promotion."""
    if not (_is_number(left.type) and _is_number(right.type)) or left.type.element.is_float \
            or right.type.element.is_float:
        return invalid_operands(context, left, right, location)
    if isinstance(right.type, Vector) and not isinstance(left.type, Vector):
        return context.error(messages.SHIFT_OF_SCALAR, location, left=left.type, right=right.type)
    if isinstance(left.type, Vector):
        if isinstance(right.type, Vector) and right.type.count != left.type.count:
            return context.error(messages.VECTOR_TYPES_DIFFER, location, left=left.type, right=right.type)
        _warn_about_shift(context, left.type.scalar, right, location)
        amount = make_convert(right, left.type) if isinstance(right.type, Vector) else splat(right, left.type)
        return Binary(left.type, location, operator, left, amount)
    left = promote(left)
    assert isinstance(left.type, Scalar)
    _warn_about_shift(context, left.type, right, location)
    return folded(Binary(left.type, location, operator, left, make_convert(promote(right), left.type)))


def _warn_about_shift(context: Context, type_: Scalar, amount: Expression, location: SourceLocation | None) -> None:
    value = constants.evaluate(amount)
    if isinstance(value, int) and not 0 <= value < type_.bits:
        context.report(messages.SHIFT_COUNT, location, count=value, type=type_, bits=type_.bits,
                       used=value % type_.bits)
