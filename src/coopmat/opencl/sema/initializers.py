"""Initialisers: lists with and without designators, strings, vectors (C99 6.7.8)."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from coopmat.diagnostics import SourceLocation, note
from coopmat.opencl.base.conversions import Purpose, convert, splat
from coopmat.opencl.base.types import MAX_OBJECT_BYTES, UNSIZED, find_member, visible_members
from coopmat.opencl.base.values import ERROR, is_error
from coopmat.opencl.messages import events as event_messages
from coopmat.opencl.messages import semantic as messages
from coopmat.opencl.messages import warnings
from coopmat.opencl.parse import syntax
from coopmat.opencl.parse.extents import start_of
from coopmat.opencl.sema.checks.initializers import missing_field, suggest_braces
from coopmat.opencl.sema.context import Context
from coopmat.support.limits import MOST_LISTED
from coopmat.tree.constants import wrap
from coopmat.tree.nodes import (
    Aggregate,
    Constant,
    Expression,
    UnionOf,
    VectorOf,
    Zero,
)
from coopmat.tree.types import CHAR, EVENT, UCHAR, Array, Record, Scalar, Type, Vector, size_of


def initialize(context: Context, type_: Type, node: syntax.Expression,
               location: SourceLocation | None) -> tuple[Type, Expression]:
    """The value of an initialiser for an object of ``type_``, and the type, its size filled in.

    The value is converted; after a report it is an error expression.
    """
    if isinstance(type_, Array) and isinstance(type_.item, Scalar):
        string = sole_string(node)
        if string is not None and type_.item in (CHAR, UCHAR):
            return _from_string(context, type_, string)
    if isinstance(node, syntax.InitializerList):
        if isinstance(type_, (Array, Record)):
            return _from_list(context, type_, node)
        return type_, _scalar_from_list(context, type_, node)
    if isinstance(type_, Array):
        if _is_array_literal(node):
            assert isinstance(node, syntax.CompoundLiteral)
            return initialize(context, type_, node.initializer, location)
        return type_, context.error(messages.ARRAY_NEEDS_LIST, start_of(node))
    value = context.whole_value(node, type_)
    return type_, convert(context, value, type_, start_of(node), Purpose.INITIALIZE)


def _is_array_literal(node: syntax.Expression) -> bool:
    return isinstance(node, syntax.CompoundLiteral)


# ------------------------------------------------------------------ strings


def sole_string(node: syntax.Expression) -> syntax.StringLiteral | None:
    """A string, or one in braces."""
    if isinstance(node, syntax.InitializerList) and len(node.items) == 1 and not node.items[0].designators:
        node = node.items[0].value
    return node if isinstance(node, syntax.StringLiteral) else None


def string_array(context: Context, node: syntax.StringLiteral, item: Scalar = CHAR) -> tuple[Array, Aggregate]:
    """A string's characters and its terminating zero; after a report, those of an empty string."""
    text = node.value
    if len(text) >= MOST_LISTED:
        context.report(messages.LITERAL_TOO_LONG, node.location, length=len(text), limit=MOST_LISTED - 1)
        text = b""
    type_ = Array(item, len(text) + 1)
    elements = tuple(Constant(item, node.location, wrap(byte, item)) for byte in text + b"\0")
    return type_, Aggregate(type_, node.location, elements)


def _from_string(context: Context, type_: Array, node: syntax.StringLiteral) -> tuple[Type, Expression]:
    assert isinstance(type_.item, Scalar)
    if type_.count > MOST_LISTED and type_.count != UNSIZED:
        return type_, context.error(messages.ARRAY_TOO_LONG, node.location, count=type_.count, limit=MOST_LISTED)
    whole, value = string_array(context, node, type_.item)
    if type_.count == UNSIZED:
        return whole, value
    if len(node.value) > type_.count:
        context.report(messages.STRING_TOO_LONG, node.location, count=type_.count, found=len(node.value))
    zero = Constant(type_.item, node.location, 0)
    elements = value.elements[:type_.count] + (zero,) * (type_.count - whole.count)
    return type_, Aggregate(type_, node.location, elements)


# ------------------------------------------------------------------ vectors and scalars


def vector_from_parts(context: Context, vector: Vector, parts: list[Expression],
                      location: SourceLocation | None) -> Expression:
    """A vector from scalars and shorter vectors of its element type (OpenCL C 6.3.6)."""
    if any(map(is_error, parts)):
        return context.error_expression(location)
    converted: list[Expression] = []
    for part in parts:
        same = isinstance(part.type, Vector) and part.type.scalar == vector.scalar
        converted.append(part if same else convert(context, part, vector.scalar, part.location, Purpose.INITIALIZE))
    if any(map(is_error, converted)):
        return context.error_expression(location)
    count = sum(part.type.count if isinstance(part.type, Vector) else 1 for part in converted)
    if count < vector.count:
        if len(converted) == 1 and count == 1:
            return splat(converted[0], vector, location)
        return context.error(messages.VECTOR_TOO_FEW, location, type=vector, expected=vector.count, found=count)
    if count > vector.count:
        return context.error(messages.VECTOR_TOO_MANY, location, type=vector, expected=vector.count, found=count)
    return converted[0] if len(converted) == 1 else VectorOf(vector, location, tuple(converted))


def _scalar_from_list(context: Context, type_: Type, node: syntax.InitializerList) -> Expression:
    """``{ value }`` for a scalar, pointer or matrix; ``{ a, b, … }`` for a vector."""
    for item in node.items:
        if item.designators:
            return context.error(messages.DESIGNATOR_FOR_SCALAR, item.location, type=type_)
    if type_ == EVENT:
        return context.error(event_messages.ILLEGAL_LIST, node.location)
    if isinstance(type_, Vector) and len(node.items) > 1:
        parts = [context.value(item.value) for item in node.items]
        return vector_from_parts(context, type_, parts, node.location)
    if not node.items:
        return zero(type_, node.location)
    if len(node.items) > 1:
        context.report(messages.EXCESS_ELEMENTS, node.items[1].location, what="scalar")
    return initialize(context, type_, node.items[0].value, node.location)[1]


# ------------------------------------------------------------------ arrays and records


@dataclass(slots=True)
class _Slots:
    """An array or record that is being filled: what its elements are, and the nested ones."""

    type: Array | Record
    values: dict[int, Expression | _Slots] = field(default_factory=dict)

    def element_type(self, index: int) -> Type:
        """The type of an element or member."""
        if isinstance(self.type, Array):
            return self.type.item
        assert self.type.fields is not None
        return self.type.fields[index].type

    @property
    def count(self) -> int | None:
        """How many elements there may be; None where the list decides."""
        if isinstance(self.type, Array):
            return None if self.type.count == UNSIZED else self.type.count
        if self.type.is_union:
            return min(1, len(self.type.fields or ()))
        return len(self.type.fields or ())

    @property
    def is_union(self) -> bool:
        """Whether only one member at a time has a value."""
        return isinstance(self.type, Record) and self.type.is_union

    def store(self, index: int, value: Expression | _Slots) -> None:
        """Give an element its value; that of a union's other member is gone."""
        if self.is_union:
            self.values.clear()
        self.values[index] = value

    def nested(self, index: int) -> _Slots:
        """The slots of an element that is itself an array or record."""
        found = self.values.get(index)
        if not isinstance(found, _Slots):
            type_ = self.element_type(index)
            assert isinstance(type_, (Array, Record))
            found = _Slots(type_, dict(enumerate(found.elements)) if isinstance(found, Aggregate) else {})
            self.store(index, found)
        return found


class _Items:
    """The items of one list, taken one by one; nested aggregates without braces share them."""

    def __init__(self, node: syntax.InitializerList) -> None:
        self.items = list(node.items)
        self.position = 0

    @property
    def current(self) -> syntax.InitializerItem | None:
        """The next item, or None."""
        return self.items[self.position] if self.position < len(self.items) else None

    def replace_current(self, item: syntax.InitializerItem) -> None:
        """Put another item in the place of the next one."""
        self.items[self.position] = item


def _from_list(context: Context, type_: Array | Record, node: syntax.InitializerList) -> tuple[Type, Expression]:
    """A list in braces for an array or record."""
    slots = _Slots(type_)
    errors = context.sink.error_count
    _fill(context, slots, _Items(node), braced=True)
    missing_field(context, slots.type, len(slots.values), node)
    if context.sink.error_count > errors:
        return type_, context.error_expression(node.location)
    if isinstance(type_, Array) and type_.count == UNSIZED:
        slots.type = Array(type_.item, max(slots.values, default=-1) + 1)
        if size_of(slots.type) >= MAX_OBJECT_BYTES:
            return ERROR, context.error(messages.ARRAY_TOO_LARGE, node.location, count=slots.type.count)
    return slots.type, _value_of(context, slots, node.location)


def _fill(context: Context, slots: _Slots, items: _Items, braced: bool) -> None:
    """Give elements their values in order; without braces only as many items as there are elements."""
    index = 0
    while (item := items.current) is not None:
        if item.designators:
            if not braced:
                return
            following = _designated(context, slots, item, items)
            if following is None:
                items.position += 1
                continue
            index = following
            continue
        if slots.count is not None and index >= slots.count:
            if braced:
                what = "array" if isinstance(slots.type, Array) else "union" if slots.is_union else "struct"
                context.report(messages.EXCESS_ELEMENTS, item.location, what=what)
                items.position = len(items.items)
            return
        _element(context, slots, index, items)
        index += 1


def _element(context: Context, slots: _Slots, index: int, items: _Items) -> None:
    """One element from the item at the cursor, or, an aggregate without braces, from several."""
    item = items.current
    assert item is not None
    type_ = slots.element_type(index)
    node = item.value
    if isinstance(slots.type, Record) and isinstance(type_, Array) and not type_.count and not _is_empty_list(node):
        assert slots.type.fields is not None
        context.report(messages.FLEXIBLE_INITIALIZER, item.location, name=slots.type.fields[index].name)
        items.position += 1
        return
    earlier = slots.values.get(index)
    if isinstance(earlier, Expression) and not slots.is_union:
        spot = note("previous initialization is here", earlier.location)
        context.report(warnings.OVERRIDDEN_INITIALIZER, start_of(node), (spot,), whole=True)
    if not isinstance(type_, (Array, Record)) or isinstance(node, syntax.InitializerList) \
            or (isinstance(type_, Array) and _is_string_for(type_, node)):
        items.position += 1
        slots.store(index, initialize(context, type_, node, item.location)[1])
        return
    if isinstance(type_, Record):
        value = context.value(node, type_)
        if value.type == type_ or is_error(value):
            items.position += 1
            slots.store(index, value)
            return
    if not (type_.fields if isinstance(type_, Record) else True):
        items.position += 1  # an empty structure takes no value
        return
    first = items.position
    _fill(context, slots.nested(index), items, braced=False)
    suggest_braces(context, slots.type, items.items, first, items.position)


def _is_empty_list(node: syntax.Expression) -> bool:
    return isinstance(node, syntax.InitializerList) and not node.items


def _is_string_for(type_: Array, node: syntax.Expression) -> bool:
    return isinstance(node, syntax.StringLiteral) and type_.item in (CHAR, UCHAR)


def _designated(context: Context, slots: _Slots, item: syntax.InitializerItem, items: _Items) -> int | None:
    """An item with designators; the index behind the outermost one, None after a report."""
    ranged = next((number for number, designator in enumerate(item.designators) if designator.last is not None), None)
    if ranged is not None:
        return _designated_range(context, slots, item, items, ranged)
    path = _path(context, slots, item.designators)
    if path is None:
        return None
    holder, index = path[-1]
    items.replace_current(syntax.InitializerItem(item.location, [], item.value))
    _element(context, holder, index, items)
    if holder is not slots:  # items without designators go on behind the innermost one (C99 6.7.8p17)
        _continue_nested(context, path, items)
    return path[0][1] + 1


def _path(context: Context, slots: _Slots, designators: list[syntax.Designator]) -> list[tuple[_Slots, int]] | None:
    """Where designators lead: what holds the element and its index, from the outermost on; None after a report."""
    path: list[tuple[_Slots, int]] = []
    inner = slots
    for position, designator in enumerate(designators):
        steps = _resolve(context, inner, designator)
        if steps is None:
            return None
        for number, step in enumerate(steps):
            path.append((inner, step))
            is_last = position == len(designators) - 1 and number == len(steps) - 1
            if not is_last:
                if not isinstance(inner.element_type(step), (Array, Record)):
                    context.report(messages.DESIGNATOR_FOR_SCALAR, designator.location, type=inner.element_type(step))
                    return None
                inner = inner.nested(step)
    return path


def _designated_range(context: Context, slots: _Slots, item: syntax.InitializerItem, items: _Items,
                      ranged: int) -> int | None:
    """GNU's ``[first ... last] = value``: each of the elements has the value."""
    designator = item.designators[ranged]
    first, last = _index(context, designator.index), _index(context, designator.last)
    if first is None or last is None:
        return None
    if last < first:
        context.report(messages.EMPTY_DESIGNATOR_RANGE, designator.location, first=first, last=last)
        return None
    path: list[tuple[_Slots, int]] | None = None
    for index in (first, last):  # the last one for its bounds
        literal = syntax.Designator(designator.location, syntax.IntegerLiteral(designator.location, index, "long"))
        path = _path(context, slots, [*item.designators[:ranged], literal])
        if path is None:
            return None
    assert path is not None
    holder = path[-1][0]
    items.replace_current(syntax.InitializerItem(item.location, item.designators[ranged + 1:], item.value))
    value = _single(context, holder, first, items)
    for index in range(first, last + 1):
        holder.store(index, value)
    if holder is not slots:
        _continue_nested(context, path, items)
    return path[0][1] + 1


def _single(context: Context, holder: _Slots, index: int, items: _Items) -> Expression:
    """The value of one element from the item at the cursor, whose designators begin inside of the element."""
    item = items.current
    assert item is not None
    if item.designators:
        _designated(context, holder.nested(index), item, items)
    else:
        _element(context, holder, index, items)
    found = holder.values.get(index)
    if found is None:
        return zero(holder.element_type(index), item.location)
    return _value_of(context, found, item.location) if isinstance(found, _Slots) else found


def _index(context: Context, node: syntax.Expression | None) -> int | None:
    """A designator's index; None after a report."""
    assert node is not None
    expression = context.value(node)
    if is_error(expression):
        return None
    index = context.constant_integer(expression)
    if index is None:
        context.report(messages.NOT_INTEGER_CONSTANT, expression.location)
    return index


def _continue_nested(context: Context, path: list[tuple[_Slots, int]], items: _Items) -> None:
    """Fill the rest of the nested aggregates that designators reached into, from the innermost outwards."""
    for holder, index in reversed(path[1:]):
        following = index + 1
        while (item := items.current) is not None and not item.designators and (
                holder.count is None or following < holder.count):
            _element(context, holder, following, items)
            following += 1


def _resolve(context: Context, slots: _Slots, designator: syntax.Designator) -> list[int] | None:
    """The index that ``[n]`` or ``.name`` stands for (several through anonymous members); None after a report."""
    if designator.name is not None:
        if not isinstance(slots.type, Record):
            context.report(messages.FIELD_DESIGNATOR, designator.location, type=slots.type)
            return None
        path = find_member(slots.type, designator.name)
        if path is None:
            context.report(messages.NO_MEMBER, designator.location, name=designator.name, type=slots.type,
                           suggestion=context.suggestion(designator.name, visible_members(slots.type)))
        return path
    if not isinstance(slots.type, Array):
        context.report(messages.ARRAY_DESIGNATOR, designator.location, type=slots.type)
        return None
    index = _index(context, designator.index)
    if index is None:
        return None
    limit = slots.count if slots.count is not None else MOST_LISTED
    if not 0 <= index < limit:
        context.report(messages.DESIGNATOR_RANGE, designator.location, index=index, limit=limit)
        return None
    return [index]


# ------------------------------------------------------------------ the value of filled slots


def zero(type_: Type, location: SourceLocation | None) -> Expression:
    """The value of what an initialiser leaves out."""
    if isinstance(type_, Scalar):
        return Constant(type_, location, False if type_.kind == "bool" else 0.0 if type_.is_float else 0)
    return Zero(type_, location)


def _value_of(context: Context, slots: _Slots, location: SourceLocation | None) -> Expression:
    """The slots as an Aggregate, zero where nothing was given, or a UnionOf the member that was given."""
    given = {index: _value_of(context, found, location) if isinstance(found, _Slots) else found
             for index, found in slots.values.items()}
    if any(map(is_error, given.values())):
        return context.error_expression(location)
    if all(map(_is_zero, given.values())):
        return Zero(slots.type, location)
    if slots.is_union:
        ((index, member),) = given.items()
        return UnionOf(slots.type, location, index, member)
    assert slots.count is not None
    if slots.count > MOST_LISTED:
        return context.error(messages.ARRAY_TOO_LONG, location, count=slots.count, limit=MOST_LISTED)
    if isinstance(slots.type, Array):
        rest = zero(slots.type.item, location)
        elements = [given.get(index, rest) for index in range(slots.count)]
    else:
        elements = [given[index] if index in given else zero(slots.element_type(index), location)
                    for index in range(slots.count)]
    return Aggregate(slots.type, location, tuple(elements))


def _is_zero(value: Expression) -> bool:
    """Whether all bits of a value are zero (which those of -0.0 are not)."""
    if isinstance(value, Constant):
        return value.value == 0 and (not isinstance(value.value, float) or math.copysign(1, value.value) > 0)
    return isinstance(value, Zero)
