"""Access to parts of objects: ``base[index]``, ``base.member``, and vector components (OpenCL C 6.3.7)."""

from __future__ import annotations

from coopmat.diagnostics import SourceLocation, note
from coopmat.opencl.base.temporaries import materialize
from coopmat.opencl.base.types import find_member, visible_members
from coopmat.opencl.base.values import Operand, dereference, is_error, value_of
from coopmat.opencl.messages import semantic as messages
from coopmat.opencl.sema import matrix_operators, pointers
from coopmat.opencl.sema.context import Context
from coopmat.tree.conversions import promote
from coopmat.tree.nodes import (
    Constant,
    ElementPlace,
    Expression,
    ExtractComponent,
    ExtractField,
    FieldPlace,
    Place,
    Swizzle,
    SwizzlePlace,
    VariablePlace,
)
from coopmat.tree.types import INT, VECTOR_COUNTS, Array, Matrix, Pointer, Record, Type, Vector

# ------------------------------------------------------------------ subscripts


def index(context: Context, base: Operand, subscript: Expression, location: SourceLocation | None,
          for_address: bool = False) -> Operand:
    """``base[subscript]``; the pointer may stand on either side (C99 6.5.2.1).

    ``for_address``: only the element's address is taken, which exists also for the one past the end.
    """
    if is_error(base) or is_error(subscript):
        return context.error_expression(location)
    if isinstance(subscript.type, Pointer) and base.type.is_arithmetic:
        base, subscript = subscript, value_of(base)
    if isinstance(base.type, Matrix):
        return matrix_operators.component(context, base, subscript, location)
    if not isinstance(base.type, (Array, Pointer, Vector)):
        return context.error(messages.NOT_SUBSCRIPTABLE, location)
    if not subscript.type.is_arithmetic or subscript.type.is_float:
        return context.error(messages.SUBSCRIPT_NOT_INTEGER, subscript.location)
    if isinstance(base.type, Pointer):
        return _pointer_element(context, value_of(base), subscript, location)
    inside = _check_bounds(context, base, subscript, for_address)
    subscript = promote(subscript) if not subscript.type.is_integer else subscript
    if isinstance(base.type, Vector):
        if isinstance(base, Expression):
            return ExtractComponent(base.type.scalar, location, base, subscript)
        return ElementPlace(base.type.scalar, location, base, subscript)
    if not inside:  # such a place may have an address (one past the end), but is no part of the array
        return _pointer_element(context, value_of(base), subscript, location)
    assert isinstance(base, Place)
    return ElementPlace(base.type.item, location, base, subscript)


def _pointer_element(context: Context, pointer: Expression, subscript: Expression,
                     location: SourceLocation | None) -> Operand:
    moved = pointers.offset(context, pointer, subscript, location)
    return moved if is_error(moved) else dereference(moved, location)


def _check_bounds(context: Context, base: Operand, subscript: Expression, for_address: bool) -> bool:
    """Whether a subscript may be inside; a constant that is not is warned about."""
    type_ = base.type
    assert isinstance(type_, (Array, Vector))
    value = context.constant_integer(subscript)
    if value is None or 0 <= value < type_.count:
        return True
    if for_address and value == type_.count:
        return False
    message = messages.INDEX_PAST_END if value >= 0 else messages.INDEX_BEFORE_BEGIN
    notes = [note(f"{'array' if isinstance(type_, Array) else 'vector'} '{base.variable.name}' declared here",
                  base.variable.location)] if isinstance(base, VariablePlace) else []
    context.report(message, subscript.location, notes, index=value, type=type_)
    return False


# ------------------------------------------------------------------ members


def member(context: Context, base: Operand, name: str, arrow: bool, location: SourceLocation | None) -> Operand:
    """``base.name`` or ``base->name`` (C99 6.5.2.3)."""
    if is_error(base):
        return context.error_expression(location)
    if arrow:
        pointer = value_of(base)
        if not isinstance(pointer.type, Pointer):
            return context.error(messages.MEMBER_NOT_POINTER, location, type=base.type)
        base = dereference(pointer, location)
    elif isinstance(base.type, Pointer) and isinstance(base.type.pointee, (Record, Vector)):
        return context.error(messages.MEMBER_OF_POINTER, location, type=base.type)
    if isinstance(base.type, Vector):
        return _components(context, base, base.type, name, location)
    if not isinstance(base.type, Record):
        return context.error(messages.NO_MEMBERS, location, type=base.type)
    if base.type.fields is None:
        return context.error(messages.INCOMPLETE_TYPE, location, type=base.type)
    path = find_member(base.type, name)
    if path is None:
        suggestion = context.suggestion(name, visible_members(base.type))
        return context.error(messages.NO_MEMBER, location, name=name, type=base.type, suggestion=suggestion)
    for position in path:
        base = _field(context, base, position, location)
    return base


def _field(context: Context, base: Operand, position: int, location: SourceLocation | None) -> Operand:
    assert isinstance(base.type, Record)
    assert base.type.fields is not None
    type_ = base.type.fields[position].type
    if isinstance(base, Expression) and isinstance(type_, Array) and context.function is not None:
        base = materialize(context, base)
    if isinstance(base, Expression):
        return ExtractField(type_, location, base, position)
    return FieldPlace(type_, location, base, position)


# ------------------------------------------------------------------ vector components

_SETS = ("xyzw", "rgba")
_HALVES = ("lo", "hi", "even", "odd")
_NUMERALS = "0123456789abcdef"


def component_indices(name: str, count: int) -> tuple[int, ...] | str:
    """The components that ``.name`` selects from a vector of ``count``, or the letter that is wrong."""
    if name in _HALVES:
        width = 4 if count == 3 else count
        chosen = {"lo": range(width // 2), "hi": range(width // 2, width), "even": range(0, width, 2),
                  "odd": range(1, width, 2)}[name]
        return tuple(min(position, count - 1) for position in chosen)  # the fourth of three is undefined
    if name[0] in "sS" and len(name) > 1:
        letters, names = name[1:].lower(), _NUMERALS
    else:
        letters = name
        names = next((names for names in _SETS if name[0] in names), _SETS[0])
    for letter in letters:
        if letter not in names:
            return letter
    return tuple(names.index(letter) for letter in letters)


def _components(context: Context, base: Operand, vector: Vector, name: str,
                location: SourceLocation | None) -> Operand:
    """``base.xyz`` and its like; a place as long as each component is named once."""
    indices = component_indices(name, vector.count)
    if isinstance(indices, str):
        return context.error(messages.BAD_COMPONENT, location, name=indices, type=vector)
    if max(indices) >= vector.count:
        return context.error(messages.COMPONENT_RANGE, location, type=vector, name=name)
    if len(indices) not in (1, *VECTOR_COUNTS):
        return context.error(messages.COMPONENT_COUNT, location, count=len(indices))
    type_: Type = vector.scalar if len(indices) == 1 else Vector(vector.scalar, len(indices))
    if isinstance(base, SwizzlePlace):
        indices = tuple(base.components[position] for position in indices)
        base = base.base
    elif isinstance(base, Swizzle):
        indices = tuple(base.components[position] for position in indices)
        base = base.operand
    if isinstance(base, Expression) or len(set(indices)) < len(indices):
        return Swizzle(type_, location, value_of(base), indices)
    if len(indices) == 1:
        return ElementPlace(type_, location, base, Constant(INT, location, indices[0]))
    return SwizzlePlace(type_, location, base, indices)


def is_component(place: Operand) -> bool:
    """Whether a place is a component or several of a vector or matrix, which have no address."""
    return isinstance(place, SwizzlePlace) or (
        isinstance(place, ElementPlace) and isinstance(place.base.type, (Vector, Matrix)))


def is_repeating_swizzle(operand: Operand) -> bool:
    """Whether this is ``v.xx``: components of a vector, one of them twice."""
    return isinstance(operand, Swizzle) and len(set(operand.components)) < len(operand.components)
