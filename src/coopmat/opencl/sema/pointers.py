"""Pointer arithmetic and comparison (C99 6.5.6, 6.5.8, 6.5.9; OpenCL C 6.7)."""

from __future__ import annotations

from coopmat.diagnostics import SourceLocation
from coopmat.opencl.base.conversions import cast, is_null_pointer_constant, make_pointer
from coopmat.opencl.base.types import has_size
from coopmat.opencl.base.values import is_error
from coopmat.opencl.messages import semantic as messages
from coopmat.opencl.sema.context import Context
from coopmat.tree.conversions import make_convert
from coopmat.tree.nodes import (
    Binary,
    BinaryOperator,
    Constant,
    Convert,
    Expression,
    PointerDifference,
    PointerOffset,
    Unary,
    UnaryOperator,
    Zero,
)
from coopmat.tree.types import BOOL, INT, LONG, ULONG, VOID, AddressSpace, Pointer, Scalar, Type

EQUALITY = frozenset({"==", "!="})
RELATIONS = frozenset({"<", ">", "<=", ">="})


def binary(context: Context, operator: str, left: Expression, right: Expression,
           location: SourceLocation | None) -> Expression:
    """A binary operator, at least one of whose operands is a pointer."""
    if operator in EQUALITY or operator in RELATIONS:
        return _comparison(context, operator, left, right, location)
    if operator == "-" and isinstance(left.type, Pointer) and isinstance(right.type, Pointer):
        return _difference(context, left, right, location)
    if operator == "+" and _is_integer(left.type):
        left, right = right, left
    if operator in ("+", "-") and isinstance(left.type, Pointer) and _is_integer(right.type):
        return offset(context, left, right, location, negative=operator == "-")
    return context.error(messages.INVALID_OPERANDS, location, left=left.type, right=right.type)


def _is_integer(type_: Type) -> bool:
    return type_.is_arithmetic and not type_.is_float


def check_pointee(context: Context, pointer: Pointer, location: SourceLocation | None) -> bool:
    """Whether one can step through what a pointer points to; False after a report."""
    if has_size(pointer.pointee):
        return True
    message = messages.VOID_ARITHMETIC if pointer.pointee == VOID else messages.INCOMPLETE_POINTEE
    context.report(message, location, type=pointer.pointee)
    return False


def offset(context: Context, pointer: Expression, index: Expression, location: SourceLocation | None,
           negative: bool = False) -> Expression:
    """``pointer + index``, or minus."""
    assert isinstance(pointer.type, Pointer)
    if is_error(index) or not check_pointee(context, pointer.type, location):
        return context.error_expression(location)
    unsigned = isinstance(index.type, Scalar) and index.type == ULONG
    steps = make_convert(index, ULONG if unsigned and not negative else LONG)
    if negative:
        steps = Constant(LONG, steps.location, -int(steps.value)) if isinstance(steps, Constant) \
            else Unary(LONG, steps.location, UnaryOperator.NEGATE, steps)
    return PointerOffset(pointer.type, location, pointer, steps)


def _difference(context: Context, left: Expression, right: Expression,
                location: SourceLocation | None) -> Expression:
    """``left - right``, both pointers into one array."""
    assert isinstance(left.type, Pointer)
    assert isinstance(right.type, Pointer)
    if left.type.pointee != right.type.pointee:
        return context.error(messages.POINTER_DIFFERENCE, location, left=left.type, right=right.type)
    if not check_pointee(context, left.type, location):
        return context.error_expression(location)
    operands = _common_space(context, left, right, location)
    if operands is None:
        return context.error_expression(location)
    return PointerDifference(LONG, location, *operands)


def common_space(left: Pointer, right: Pointer) -> AddressSpace | None:
    """The address space in which two pointers can meet; None where they are disjoint."""
    if left.address_space is right.address_space:
        return left.address_space
    spaces = {left.address_space, right.address_space}
    if AddressSpace.GENERIC in spaces and AddressSpace.CONSTANT not in spaces:
        return AddressSpace.GENERIC
    return None


def _common_space(context: Context, left: Expression, right: Expression,
                  location: SourceLocation | None) -> tuple[Expression, Expression] | None:
    """Both pointers in one address space; None after a report."""
    assert isinstance(left.type, Pointer)
    assert isinstance(right.type, Pointer)
    space = common_space(left.type, right.type)
    if space is None:
        context.report(messages.DISJOINT_POINTERS, location, left=left.type, right=right.type)
        return None
    first, second = (make_pointer(operand, Pointer(type_.pointee, space, type_.const, type_.volatile), location)
                     for operand, type_ in ((left, left.type), (right, right.type)))
    return first, second


def _comparison(context: Context, operator: str, left: Expression, right: Expression,
                location: SourceLocation | None) -> Expression:
    """Comparison of pointers with one another or with a null pointer constant; the result is an int."""
    if is_null_pointer_constant(right) and isinstance(left.type, Pointer):
        operands: tuple[Expression, Expression] | None = (left, Zero(left.type, right.location))
    elif is_null_pointer_constant(left) and isinstance(right.type, Pointer):
        operands = (Zero(right.type, left.location), right)
    elif not isinstance(left.type, Pointer) or not isinstance(right.type, Pointer):
        operands = _with_integer(context, left, right, location)
    else:
        if left.type.pointee != right.type.pointee and (
                operator in RELATIONS or VOID not in (left.type.pointee, right.type.pointee)):
            context.report(messages.DISTINCT_POINTERS, location, left=left.type, right=right.type)
        operands = _common_space(context, left, right, location)
    if operands is None:
        return context.error_expression(location)
    first, second = operands
    assert isinstance(first.type, Pointer)
    second = make_pointer(second, first.type, location)
    return Convert(INT, location, Binary(BOOL, location, BinaryOperator(operator), first, second))


def _with_integer(context: Context, left: Expression, right: Expression,
                  location: SourceLocation | None) -> tuple[Expression, Expression] | None:
    """A pointer and an integer, which becomes a pointer; None after a report."""
    pointer, other = (left, right) if isinstance(left.type, Pointer) else (right, left)
    if not _is_integer(other.type):
        context.report(messages.INVALID_OPERANDS, location, left=left.type, right=right.type)
        return None
    context.report(messages.POINTER_INTEGER_COMPARE, location, left=left.type, right=right.type)
    converted = cast(context, other, pointer.type, location)
    return (pointer, converted) if pointer is left else (converted, pointer)


def composite(left: Pointer, right: Pointer) -> Pointer | None:
    """The type of ``c ? left : right`` for two pointers (C99 6.5.15p6), a pointer to void where they do
    not fit; None if they point to disjoint address spaces."""
    space = common_space(left, right)
    if space is None:
        return None
    pointee = left.pointee if left.pointee == right.pointee else VOID
    return Pointer(pointee, space, left.const or right.const, left.volatile or right.volatile)
