"""Values and places as the analysis handles them: the error sentinel, qualifiers and loads.

Analysing an expression gives a tree Expression or, where C speaks of an lvalue, a tree Place.
"""

from __future__ import annotations

from dataclasses import dataclass

from coopmat.diagnostics import SourceLocation
from coopmat.tree.nodes import (
    AddressOf,
    Constant,
    Dereference,
    ElementPlace,
    Expression,
    FieldPlace,
    Load,
    Place,
    SwizzlePlace,
    VariablePlace,
)
from coopmat.tree.types import (
    BOOL,
    INT,
    AddressSpace,
    Array,
    Pointer,
    Record,
    Scalar,
    Type,
    Vector,
)


@dataclass(frozen=True, slots=True)
class ErrorType(Type):
    """The type of an expression whose error has been reported already."""

    def __str__(self) -> str:
        return "<error>"


ERROR = ErrorType()


@dataclass(frozen=True, slots=True)
class AutoType(Type):
    """Stands for a variable's type until its initialiser tells it (``__auto_type``)."""

    def __str__(self) -> str:
        return "__auto_type"


AUTO = AutoType()


@dataclass(frozen=True, slots=True)
class Error(Expression):
    """Stands for an expression that has been reported as wrong; it converts to anything silently."""


Operand = Expression | Place
"""What the analysis of an expression gives: a value, or a place that holds one."""


def is_error(operand: Operand) -> bool:
    """Whether ``operand`` was reported already, so that nothing more is to be said about it."""
    return operand.type is ERROR


@dataclass(frozen=True, slots=True)
class Qualifiers:
    """What a place's declaration says about it besides its type."""

    const: bool = False
    volatile: bool = False
    address_space: AddressSpace = AddressSpace.PRIVATE


def qualifiers_of(place: Place) -> Qualifiers:
    """Constness, volatility and address space of what ``place`` names (C99 6.7.3)."""
    match place:
        case VariablePlace(variable=variable):
            return Qualifiers(variable.const, variable.volatile, variable.address_space)
        case Dereference(pointer=pointer):
            assert isinstance(pointer.type, Pointer)
            return Qualifiers(pointer.type.const, pointer.type.volatile, pointer.type.address_space)
        case FieldPlace(base=base, index=index):
            outer = qualifiers_of(base)
            assert isinstance(base.type, Record)
            assert base.type.fields is not None
            const = outer.const or base.type.fields[index].const
            return Qualifiers(const, outer.volatile, outer.address_space)
        case ElementPlace(base=base) | SwizzlePlace(base=base):
            return qualifiers_of(base)
    raise TypeError(f"no place: {type(place).__name__}")


def pointer_to(place: Place, pointee: Type) -> Pointer:
    """The type of a pointer to ``place``, seen as a ``pointee``."""
    qualifiers = qualifiers_of(place)
    return Pointer(pointee, qualifiers.address_space, qualifiers.const, qualifiers.volatile)


def value_of(operand: Operand, location: SourceLocation | None = None) -> Expression:
    """Lvalue conversion (C99 6.3.2.1): the value in a place; an array decays to a pointer."""
    if isinstance(operand, Expression):
        return operand
    location = location or operand.location
    if isinstance(operand.type, Array):
        first = ElementPlace(operand.type.item, location, operand, Constant(INT, location, 0))
        return AddressOf(pointer_to(operand, operand.type.item), location, first)
    return Load(operand.type, location, operand)


def dereference(pointer: Expression, location: SourceLocation | None) -> Place:
    """``*pointer``; what has just been made a pointer is undone."""
    assert isinstance(pointer.type, Pointer)
    if isinstance(pointer, AddressOf) and pointer.place.type == pointer.type.pointee:
        return pointer.place
    return Dereference(pointer.type.pointee, location, pointer)


def bool_vector(vector: Vector) -> Vector:
    """The vector of bool that a comparison of two ``vector`` values gives."""
    return Vector(BOOL, vector.count)


def scalar_of(type_: Type) -> Scalar | None:
    """The scalar that a scalar or vector type is made of, or None."""
    if isinstance(type_, Scalar):
        return type_
    return type_.scalar if isinstance(type_, Vector) else None
