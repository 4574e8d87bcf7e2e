"""Implicit and explicit conversions, made explicit in the tree (C99 6.3, OpenCL C 6.3)."""

from __future__ import annotations

from dataclasses import replace
from enum import Enum

from coopmat.diagnostics import Diagnostic, Message, SourceLocation
from coopmat.opencl.base import conversion_warnings as checks
from coopmat.opencl.base.analysis import Analysis
from coopmat.opencl.base.values import ERROR, is_error
from coopmat.opencl.messages import events as event_messages
from coopmat.opencl.messages import semantic as messages
from coopmat.tree import constants
from coopmat.tree.conversions import is_bool_valued, make_convert
from coopmat.tree.nodes import (
    Binary,
    BinaryOperator,
    Bitcast,
    CastAddressSpace,
    Comma,
    Constant,
    Convert,
    Expression,
    PointerOffset,
    Splat,
    Zero,
)
from coopmat.tree.types import (
    BOOL,
    EVENT,
    INT,
    LONG,
    ULONG,
    VOID,
    AddressSpace,
    Enumeration,
    Matrix,
    Pointer,
    Scalar,
    Type,
    Vector,
    Void,
)


class Purpose(Enum):
    """What an implicit conversion is for; the value begins its messages, as clang words them."""

    ASSIGN = "assigning"
    INITIALIZE = "initializing"
    PASS = "passing"
    RETURN = "returning"

    def between(self, source: str, target: str) -> str:
        """``initializing 'int' with an expression of type 'float4'``, and so on."""
        return _PHRASES[self].format(source=source, target=target)

    def incompatible(self, source: str, target: str) -> str:
        """The same, saying that the two do not fit."""
        return _INCOMPATIBLE[self].format(source=source, target=target)


_PHRASES = {
    Purpose.ASSIGN: "assigning '{source}' to '{target}'",
    Purpose.INITIALIZE: "initializing '{target}' with an expression of type '{source}'",
    Purpose.PASS: "passing '{source}' to parameter of type '{target}'",
    Purpose.RETURN: "returning '{source}' from a function with result type '{target}'",
}
_INCOMPATIBLE = {
    Purpose.ASSIGN: "assigning to '{target}' from incompatible type '{source}'",
    Purpose.INITIALIZE: "initializing '{target}' with an expression of incompatible type '{source}'",
    Purpose.PASS: "passing '{source}' to parameter of incompatible type '{target}'",
    Purpose.RETURN: "returning '{source}' from a function with incompatible result type '{target}'",
}


# ------------------------------------------------------------------ building conversions


def splat(scalar: Expression, vector: Vector, location: SourceLocation | None = None) -> Expression:
    """A vector all of whose components are ``scalar``; a bool's true becomes -1 (OpenCL C 6.3.2)."""
    location = location or scalar.location
    if scalar.type == BOOL:
        return Convert(vector, location, Splat(Vector(BOOL, vector.count), location, scalar))
    return Splat(vector, location, make_convert(scalar, vector.scalar))


def scalar_rank_exceeds(scalar: Type, element: Scalar) -> bool:
    """Whether a scalar operand has greater rank than a vector's element type (OpenCL C 6.2.6)."""
    if isinstance(scalar, Enumeration):
        scalar = scalar.underlying
    assert isinstance(scalar, Scalar)
    if element.is_float:
        return scalar.is_float and scalar.bits > element.bits
    if scalar.is_float:
        return True
    return scalar.bits > element.bits or (
        scalar.bits == element.bits and scalar.kind == "uint" and element.kind == "sint")


# ------------------------------------------------------------------ null pointers and conditions


def is_null_pointer_constant(expression: Expression) -> bool:
    """Whether this is an integer constant 0, or that cast to ``void *`` (C99 6.3.2.3)."""
    if isinstance(expression.type, Pointer):
        return isinstance(expression, Zero) and isinstance(expression.type.pointee, Void)
    return constants.integer_value(expression) == 0


def is_null_event_constant(expression: Expression, known: constants.Known) -> bool:
    """Whether this is an integer constant 0, which stands for the null event; ``known`` are constant variables."""
    return expression.type.is_arithmetic and constants.integer_value(expression, known) == 0


def condition(context: Analysis, expression: Expression, message: Message = messages.SCALAR_CONDITION,
              location: SourceLocation | None = None) -> Expression:
    """The BOOL that says whether a scalar or pointer is not zero; ``message`` reports anything else."""
    if is_error(expression):
        return expression
    if isinstance(expression, Convert) and is_bool_valued(expression):
        return expression.operand
    checks.check_truth(context, expression, location or expression.location)
    if isinstance(expression.type, Pointer):
        return Binary(BOOL, expression.location, BinaryOperator.NOT_EQUAL, expression,
                      Zero(expression.type, expression.location))
    if not expression.type.is_arithmetic:
        return context.error(message, location or expression.location, type=expression.type)
    return make_convert(expression, BOOL)


# ------------------------------------------------------------------ implicit conversions


def space_converts(source: AddressSpace, target: AddressSpace) -> bool:
    """Whether a pointer converts implicitly between address spaces (OpenCL C 6.7.7)."""
    return source is target or (target is AddressSpace.GENERIC and source is not AddressSpace.CONSTANT)


def nested_spaces_differ(source: Pointer, target: Pointer) -> bool:
    """Whether the pointers pointed to are in address spaces that differ; those never convert."""
    inner, outer = source.pointee, target.pointee
    while isinstance(inner, Pointer) and isinstance(outer, Pointer):
        if inner.address_space is not outer.address_space:
            return True
        inner, outer = inner.pointee, outer.pointee
    return False


def convert(context: Analysis, expression: Expression, type_: Type, location: SourceLocation | None,
            purpose: Purpose, notes: tuple[Diagnostic, ...] = ()) -> Expression:
    """Convert as if by assignment (C99 6.5.16.1); report a conversion that is not allowed.

    ``notes`` hang below a report (where the parameter was declared, say).
    """
    source = expression.type
    if is_error(expression) or type_ is ERROR or source == type_:
        return expression
    if source.is_arithmetic and type_.is_arithmetic:
        checks.check(context, expression, type_, expression.location or location)
        return make_convert(expression, type_)
    if source.is_arithmetic and isinstance(type_, Vector):
        checks.check(context, expression, type_.scalar, expression.location or location)
        return splat(expression, type_, location)
    if isinstance(type_, Pointer) and isinstance(source, (Pointer, Scalar, Enumeration)):
        return _convert_to_pointer(context, expression, type_, location, purpose, notes)
    if isinstance(source, Pointer) and type_ == BOOL:
        return condition(context, expression)
    if isinstance(source, Pointer) and type_.is_arithmetic:
        text = purpose.between(str(source), str(type_))
        return context.error(messages.POINTER_TO_INTEGER, location, notes, whole=True, phrase=text)
    if type_ == EVENT:
        return _convert_to_event(context, expression, location, purpose, notes)
    if isinstance(source, Matrix) and isinstance(type_, Matrix):
        return context.error(messages.MATRIX_MISMATCH, location, notes, whole=True, source=source,
                             target=type_)
    text = purpose.incompatible(str(source), str(type_))
    return context.error(messages.INCOMPATIBLE, location, notes, whole=True, phrase=text)


def pass_argument(context: Analysis, expression: Expression, type_: Type) -> Expression:
    """Convert implicitly what is passed to a parameter of ``type_``; report where that is not allowed."""
    return convert(context, expression, type_, expression.location, Purpose.PASS)


def _convert_to_event(context: Analysis, expression: Expression, location: SourceLocation | None, purpose: Purpose,
                      notes: tuple[Diagnostic, ...]) -> Expression:
    """The null event from a constant 0, except by assignment (OpenCL C 6.3.3, as clang reads it)."""
    text = purpose.incompatible(str(expression.type), str(EVENT))
    if not is_null_event_constant(expression, context.known):
        return context.error(event_messages.NOT_AN_EVENT, location, notes, whole=True, phrase=text)
    if purpose is Purpose.ASSIGN:
        return context.error(event_messages.ASSIGNED_ZERO, location, notes, whole=True, phrase=text)
    return Zero(EVENT, location)


def _convert_to_pointer(context: Analysis, expression: Expression, type_: Pointer, location: SourceLocation | None,
                        purpose: Purpose, notes: tuple[Diagnostic, ...]) -> Expression:
    """Pointers and null pointer constants to a pointer."""
    if is_null_pointer_constant(expression):
        return Zero(type_, location)
    source = expression.type
    text = purpose.between(str(source), str(type_))
    if not isinstance(source, Pointer):
        return context.error(messages.INTEGER_TO_POINTER, location, notes, whole=True, phrase=text)
    if not space_converts(source.address_space, type_.address_space) or nested_spaces_differ(source, type_):
        return context.error(messages.CHANGES_ADDRESS_SPACE, location, notes, whole=True, phrase=text)
    if source.pointee != type_.pointee and VOID not in (source.pointee, type_.pointee):
        _warn_about_pointees(context, source.pointee, type_.pointee, location, notes, text)
    if (source.const and not type_.const) or (source.volatile and not type_.volatile):
        context.report(messages.DISCARDS_QUALIFIERS, location, notes, whole=True, phrase=text)
    return make_pointer(expression, type_, location)


def _warn_about_pointees(context: Analysis, source: Type, target: Type, location: SourceLocation | None,
                         notes: tuple[Diagnostic, ...], text: str) -> None:
    """Warn about pointers to different types; an enumeration is as good as its integer type."""
    source, target = (type_.underlying if isinstance(type_, Enumeration) else type_ for type_ in (source, target))
    if source != target:
        message = messages.POINTER_SIGN if _differ_in_sign(source, target) else messages.INCOMPATIBLE_POINTERS
        context.report(message, location, notes, whole=True, phrase=text)


def _differ_in_sign(left: Type, right: Type) -> bool:
    return (left.is_integer and right.is_integer and isinstance(left, Scalar) and isinstance(right, Scalar)
            and left.bits == right.bits)


def make_pointer(expression: Expression, type_: Pointer, location: SourceLocation | None) -> Expression:
    """``expression`` as another pointer type: first the pointee, then the address space."""
    source = expression.type
    assert isinstance(source, Pointer)
    if isinstance(expression, Zero):
        return Zero(type_, location)
    if source.address_space is not type_.address_space:
        if source.pointee != type_.pointee:
            between = Pointer(type_.pointee, source.address_space, type_.const, type_.volatile)
            expression = Bitcast(between, location, expression)
        return CastAddressSpace(type_, location, expression)
    return expression if source == type_ else Bitcast(type_, location, expression)


def in_named_space(expression: Expression) -> Expression | None:
    """A generic pointer as the pointer to a named address space that casts made it of; None if it is not
    known where it points."""
    match expression:
        case CastAddressSpace(operand=operand) | Bitcast(operand=operand) if isinstance(operand.type, Pointer):
            inner = operand if operand.type.address_space is not AddressSpace.GENERIC else in_named_space(operand)
            if inner is None:
                return None
            return make_pointer(inner, _moved(expression.type, inner.type), expression.location)
        case PointerOffset(pointer=pointer):
            inner = in_named_space(pointer)
            return None if inner is None else replace(expression, type=inner.type, pointer=inner)
    return None


def _moved(type_: Type, to: Type) -> Pointer:
    """The pointer type ``type_``, in the address space of ``to``."""
    assert isinstance(type_, Pointer)
    assert isinstance(to, Pointer)
    return replace(type_, address_space=to.address_space)


# ------------------------------------------------------------------ explicit conversions


def cast(context: Analysis, expression: Expression, type_: Type, location: SourceLocation | None) -> Expression:
    """A cast (C99 6.5.4, OpenCL C 6.3.2): scalars and pointers among themselves, a scalar to a vector."""
    source = expression.type
    if is_error(expression) or type_ is ERROR:
        return expression
    if type_ == VOID:
        return Comma(VOID, location, expression, Constant(INT, location, 0)) if source != VOID else expression
    if type_ == EVENT:
        if is_null_event_constant(expression, context.known):
            return Zero(EVENT, location)
        return context.error(event_messages.CAST_TO_EVENT, location, type=source)
    if source == type_ and not isinstance(type_, Pointer):
        return expression
    if source.is_arithmetic and type_.is_arithmetic:
        return make_convert(expression, type_, location)
    if source.is_arithmetic and isinstance(type_, Vector):
        return splat(expression, type_, location)
    if isinstance(type_, Pointer) or isinstance(source, Pointer):
        return _cast_pointer(context, expression, type_, location)
    if isinstance(source, Vector) and isinstance(type_, Vector):
        return context.error(messages.VECTOR_CAST, location, source=source, target=type_)
    if isinstance(source, Vector) and type_.is_arithmetic:
        return context.error(messages.VECTOR_TO_SCALAR_CAST, location, source=source, target=type_)
    if type_.is_arithmetic:
        return context.error(messages.BAD_CAST_OPERAND, expression.location, type=source)
    return context.error(messages.BAD_CAST_TYPE, location, type=type_)


def _cast_pointer(context: Analysis, expression: Expression, type_: Type,
                  location: SourceLocation | None) -> Expression:
    """Casts to, from and between pointers."""
    source = expression.type
    if isinstance(source, Pointer) and isinstance(type_, Pointer):
        spaces = {source.address_space, type_.address_space}
        if len(spaces) == 2 and (AddressSpace.GENERIC not in spaces or AddressSpace.CONSTANT in spaces):
            return context.error(messages.CAST_CHANGES_ADDRESS_SPACE, location, source=source, target=type_)
        return make_pointer(expression, type_, location)
    if isinstance(type_, Pointer) and source.is_arithmetic and not source.is_float:
        if is_null_pointer_constant(expression):
            return Zero(type_, location)
        return Bitcast(type_, location, make_convert(expression, ULONG))
    if isinstance(source, Pointer) and type_ == BOOL:
        return condition(context, expression)
    if isinstance(source, Pointer) and type_.is_arithmetic and not type_.is_float:
        integer = LONG if type_ == LONG else ULONG
        return make_convert(Bitcast(integer, location, expression), type_, location)
    if isinstance(source, Pointer) and type_.is_arithmetic:
        return context.error(messages.POINTER_CAST, location, source=source, target=type_)
    return context.error(messages.POINTER_CAST, location, source=source, target=type_)
