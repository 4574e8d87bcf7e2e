"""Implicit conversions that change a value, or may: -Wconversion and its members."""

from __future__ import annotations

import math
import operator as operators

from coopmat.diagnostics import Message, SourceLocation
from coopmat.opencl.base.analysis import Analysis
from coopmat.opencl.base.ranges import range_of, range_of_type
from coopmat.opencl.messages import semantic as messages
from coopmat.opencl.messages import warnings
from coopmat.tree import constants
from coopmat.tree.nodes import (
    AddressOf,
    Binary,
    BinaryOperator,
    Constant,
    CurrentValue,
    ElementPlace,
    Expression,
    VariablePlace,
)
from coopmat.tree.types import BOOL, DOUBLE, Scalar, Type

_PRECISION = {("float", 16): 11, ("float", 32): 24, ("float", 64): 53, ("bfloat", 16): 8}
"""Bits of the significand."""

_EXACT = {"+": operators.add, "-": operators.sub, "*": operators.mul}


def check(context: Analysis, expression: Expression, type_: Type, location: SourceLocation | None) -> None:
    """Warn of an implicit conversion to a scalar type whose result is not, or may not be, the value."""
    source = expression.type
    if source == type_ or not isinstance(source, Scalar) or not isinstance(type_, Scalar) or location is None:
        return
    if isinstance(expression, Constant) and _check_constant(context, expression, type_, location):
        return
    message = _message(expression, source, type_)
    if message is not None:
        context.report(message, location, whole=True, source=source, target=type_)


def check_truth(context: Analysis, expression: Expression, location: SourceLocation | None) -> None:
    """A value that is asked whether it is zero, which an address never is and a shift seldom should be."""
    match expression:
        case AddressOf(place=VariablePlace(variable=variable, location=name)):
            context.report(warnings.ADDRESS_AS_CONDITION, name, what=f"'{variable.name}'")
        case AddressOf(place=ElementPlace(base=VariablePlace(variable=variable, location=name))):
            context.report(warnings.ADDRESS_AS_CONDITION, name, what=f"array '{variable.name}'")
        case Binary(operator=BinaryOperator.SHIFT_LEFT):
            context.report(warnings.SHIFT_AS_CONDITION, location)


def check_computed(context: Analysis, expression: Expression, type_: Type, location: SourceLocation | None) -> None:
    """The same for what ``a += b`` computes; that an integer of the type of ``a`` can overflow is known."""
    if expression.type.is_float:
        check(context, expression, type_, location)


def check_operands(context: Analysis, operands: tuple[Expression, Expression], type_: Type) -> None:
    """The same for the operands of an arithmetic operator, which get a type in common."""
    for operand in operands:
        if not isinstance(operand, CurrentValue):
            check(context, operand, type_, operand.location)


def check_overflow(context: Analysis, operator: str, left: Expression, right: Expression,
                   location: SourceLocation | None) -> None:
    """Arithmetic on signed constants whose result does not fit."""
    type_ = left.type
    if operator not in _EXACT or not isinstance(type_, Scalar) or type_.kind != "sint":
        return
    if isinstance(left, Constant) and isinstance(right, Constant):
        exact = _EXACT[operator](int(left.value), int(right.value))
        wrapped = constants.wrap(exact, type_)
        if wrapped != exact:
            context.report(warnings.INTEGER_OVERFLOW, location, value=wrapped, type=type_)


def _check_constant(context: Analysis, expression: Constant, type_: Scalar, location: SourceLocation | None) -> bool:
    """Whether the conversion of a constant has been dealt with: its value is known."""
    source, old = expression.type, expression.value
    new = constants.convert_number(old, source, type_)
    if isinstance(old, float) and type_ == BOOL:
        if old not in (0, 1):
            context.report(messages.LITERAL_CONVERSION, location, source=source, target=type_, old=_spell(old),
                           new=str(new).lower())
    elif isinstance(old, float) and type_.is_integer:
        if new is None:
            context.report(messages.LITERAL_OUT_OF_RANGE, location, source=source, target=type_, value=_spell(old))
        elif new != old:
            context.report(messages.LITERAL_CONVERSION, location, source=source, target=type_, old=_spell(old), new=new)
    elif isinstance(old, float):
        return type_ != DOUBLE and (new == old or math.isnan(old))
    elif source.is_integer and isinstance(new, float):
        if new != old:
            context.report(messages.INTEGER_TO_FLOAT, location, source=source, target=type_, old=old,
                           new=f"{new:.17g}")
    elif source.is_integer and type_.is_integer:
        return _check_integer_constant(context, expression, type_, location)
    return True


def _check_integer_constant(context: Analysis, expression: Constant, type_: Scalar,
                            location: SourceLocation | None) -> bool:
    """A constant that has too many bits; a mere change of sign is not dealt with here."""
    found = range_of(expression)
    assert isinstance(expression.type, Scalar)
    becomes_negative = (found.width == type_.bits and found.is_positive and type_.kind == "sint"
                        and expression.type.kind == "sint" and not _is_hexadecimal(expression))
    if found.width <= type_.bits and not becomes_negative:
        return False
    context.report(messages.CONSTANT_CONVERSION, location, source=expression.type, target=type_, old=expression.value,
                   new=constants.convert_number(expression.value, expression.type, type_))
    return True


def _is_hexadecimal(expression: Constant) -> bool:
    """Whether a constant is written as bits, so that the highest may be meant to be the sign."""
    location = expression.location
    return location is not None and location.source_line[location.column - 1:].lower().startswith("0x")


def _spell(value: float) -> str:
    return str(value) if math.isinf(value) or math.isnan(value) else f"{value:.6g}"


def _message(expression: Expression, source: Scalar, target: Scalar) -> Message | None:
    """What there is to say about a conversion between two types."""
    if source == BOOL or (target == BOOL and not source.is_float):
        return None
    if source.is_float and target.is_float:
        if _PRECISION[source.kind, source.bits] > _PRECISION[target.kind, target.bits]:
            return warnings.LOSES_PRECISION
        return warnings.DOUBLE_PROMOTION if target == DOUBLE else None
    if source.is_float:
        return warnings.FLOAT_TO_INTEGER
    if target.is_float:
        too_long = range_of(expression).width > _PRECISION[target.kind, target.bits]
        return warnings.INTEGER_MAY_LOSE_PRECISION if too_long else None
    return _integer_message(expression, source, target)


def _integer_message(expression: Expression, source: Scalar, target: Scalar) -> Message | None:
    found, goal = range_of(expression), range_of_type(target)
    if found.width > goal.width:
        return warnings.LONG_TO_INT if (source.bits, target.bits) == (64, 32) else warnings.LOSES_BITS
    loses_sign = goal.is_positive and not found.is_positive
    becomes_sign = not goal.is_positive and found.is_positive and found.width == goal.width
    return warnings.CHANGES_SIGN if loses_sign or becomes_sign else None
