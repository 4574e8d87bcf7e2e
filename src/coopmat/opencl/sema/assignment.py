"""Assignments, and increments and decrements (C99 6.5.2.4, 6.5.3.1, 6.5.16)."""

from __future__ import annotations

from coopmat.diagnostics import SourceLocation, note
from coopmat.opencl.base.conversion_warnings import check_computed
from coopmat.opencl.base.conversions import Purpose, convert
from coopmat.opencl.base.values import Operand, is_error, qualifiers_of
from coopmat.opencl.messages import semantic as messages
from coopmat.opencl.sema import members, operators
from coopmat.opencl.sema.context import Context
from coopmat.tree.conversions import make_convert
from coopmat.tree.nodes import Assign, Constant, CurrentValue, Expression, Place, Update, VariablePlace
from coopmat.tree.types import INT, AddressSpace, Array, Matrix, Pointer, Type, Vector


def check_assignable(context: Context, operand: Operand, location: SourceLocation | None) -> Place | None:
    """The operand as a modifiable place (C99 6.3.2.1); None after a report."""
    if is_error(operand):
        return None
    if isinstance(operand, Expression):
        repeating = members.is_repeating_swizzle(operand)
        context.report(messages.REPEATED_COMPONENTS if repeating else messages.NOT_ASSIGNABLE, location)
        return None
    if isinstance(operand.type, Array):
        context.report(messages.ARRAY_NOT_ASSIGNABLE, location, type=operand.type)
        return None
    qualifiers = qualifiers_of(operand)
    if not qualifiers.const and qualifiers.address_space is not AddressSpace.CONSTANT:
        return operand
    if isinstance(operand, VariablePlace):
        variable = operand.variable
        spot = note(f"variable '{variable.name}' declared const here", variable.location)
        context.report(messages.CONST_VARIABLE, location, (spot,), name=variable.name, type=variable.type)
    else:
        context.report(messages.READ_ONLY, location)
    return None


def assign(context: Context, target: Operand, value: Expression, location: SourceLocation | None) -> Expression:
    """``target = value``."""
    place = check_assignable(context, target, location)
    if place is None:
        return context.error_expression(location)
    converted = convert(context, value, place.type, location, Purpose.ASSIGN)
    return converted if is_error(converted) else Assign(place.type, location, place, converted)


def update(context: Context, target: Operand, operator: str, value: Expression,
           location: SourceLocation | None) -> Expression:
    """``target operator= value``: the target is evaluated once."""
    place = check_assignable(context, target, location)
    if place is None or is_error(value):
        return context.error_expression(location)
    current = CurrentValue(place.type, location)
    return _store(context, place, current, operators.binary(context, operator, current, value, location), location)


def increment(context: Context, target: Operand, operator: str, location: SourceLocation | None, *,
              returns_old: bool) -> Expression:
    """``++`` and ``--``, before or (``returns_old``) behind the operand."""
    if is_error(target):
        return context.error_expression(location)
    if not _can_count(target.type):
        word = "increment" if operator == "++" else "decrement"
        return context.error(messages.CANNOT_INCREMENT, location, word=word, type=target.type)
    place = check_assignable(context, target, location)
    if place is None:
        return context.error_expression(location)
    current = CurrentValue(place.type, location)
    one: Expression = Constant(INT, location, 1)
    if isinstance(place.type, Vector):
        one = make_convert(one, place.type.scalar)
    changed = operators.binary(context, operator[0], current, one, location)
    return _store(context, place, current, changed, location, returns_old)


def _can_count(type_: Type) -> bool:
    if isinstance(type_, Vector):
        return not type_.scalar.is_float
    return (type_.is_arithmetic or isinstance(type_, Pointer)) and not isinstance(type_, Matrix)


def _store(context: Context, place: Place, current: CurrentValue, changed: Expression,
           location: SourceLocation | None, returns_old: bool = False) -> Expression:
    if changed.type.is_arithmetic and place.type.is_arithmetic:
        check_computed(context, changed, place.type, location)
        converted = make_convert(changed, place.type)
    else:
        converted = convert(context, changed, place.type, location, Purpose.ASSIGN)
    return converted if is_error(converted) else Update(place.type, location, place, current, converted, returns_old)
