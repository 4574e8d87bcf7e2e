"""Places: finding their addresses, reading and writing them."""

from __future__ import annotations

from dataclasses import replace

from coopmat.devices import ARCHITECTURES
from coopmat.devices.lane_layout import dealt_components
from coopmat.lowering.builder import Value, is_union
from coopmat.lowering.context import Address, Context, resolve
from coopmat.lowering.conversions import convert, from_memory, to_memory
from coopmat.lowering.memory import is_empty_array, memory_type, value_type
from coopmat.tree import nodes as n
from coopmat.tree import types as t

_WIDEST_SUB_GROUP = max(size for row in ARCHITECTURES.values() for size in row.sub_group_sizes)


@resolve.register
def _(node: n.VariablePlace, context: Context) -> Address:
    variable = node.variable
    alignment = max(t.layout_of(variable.type).alignment, variable.alignment or 1)
    return Address(context.address_of(variable), variable.type, alignment, variable.volatile)


@resolve.register
def _(node: n.Dereference, context: Context) -> Address:
    pointer = context.evaluate(node.pointer)
    assert isinstance(pointer.type, t.Pointer)
    assert isinstance(node.pointer.type, t.Pointer)
    alignment = node.pointer.type.alignment or t.layout_of(node.type).alignment
    return Address(pointer, node.type, alignment, pointer.type.volatile)


@resolve.register
def _(node: n.ElementPlace, context: Context) -> Address:
    base = context.resolve(node.base)
    if isinstance(base.type, t.Array) and not base.type.count:
        return _element_behind(context, base, node)
    index = index_of(context, node.index, base.type)
    if base.components is not None:
        return _swizzled_element(context, base, index, node.type)
    item = t.layout_of(base.type.item if isinstance(base.type, t.Array) else base.type.element)
    return replace(base, type=node.type, alignment=min(base.alignment, item.alignment),
                   indices=(*base.indices, index))


@resolve.register
def _(node: n.FieldPlace, context: Context) -> Address:
    base = context.resolve(node.base)
    record = base.type
    assert isinstance(record, t.Record)
    if is_union(record):
        root = context.builder.bitcast(address_value(context, base), _pointer_to(base, node.type))
        return replace(base, root=root, type=node.type, indices=())
    offset = t.layout_of(record).offsets[node.index]
    alignment = base.alignment if not offset else min(base.alignment, offset & -offset)
    if is_empty_array(node.type):
        return replace(base, root=_moved(context, base, offset, node.type), type=node.type, indices=(),
                       alignment=alignment)
    return replace(base, type=node.type, indices=(*base.indices, node.index),
                   alignment=min(alignment, t.layout_of(node.type).alignment))


@resolve.register
def _(node: n.SwizzlePlace, context: Context) -> Address:
    base = context.resolve(node.base)
    components = node.components
    if base.components is not None:
        components = tuple(base.components[c] for c in components)
    if len(components) == 1:
        return _component(base, components[0], node.type)
    return replace(base, type=node.type, components=components)


def _moved(context: Context, base: Address, offset: int, type_: t.Type) -> Value:
    """A pointer to a ``type_`` so many bytes behind ``base``: a member that the target's structure lacks."""
    builder = context.builder
    octets = builder.bitcast(address_value(context, base), _pointer_to(base, t.UCHAR))
    moved = builder.offset_pointer(octets, context.constant(t.LONG, offset))
    return builder.bitcast(moved, _pointer_to(base, type_))


def _element_behind(context: Context, base: Address, node: n.ElementPlace) -> Address:
    """An element of an array without elements: what lies behind it in memory."""
    assert isinstance(base.type, t.Array)
    index = context.evaluate(node.index)
    first = context.builder.bitcast(address_value(context, base), _pointer_to(base, base.type.item))
    offset = index if index.type in (t.LONG, t.ULONG) else convert(context, index, t.LONG)
    item = t.layout_of(base.type.item)
    return replace(base, root=context.builder.offset_pointer(first, offset), type=node.type, indices=(),
                   alignment=min(base.alignment, item.alignment))


def _swizzled_element(context: Context, base: Address, index: Value | int, type_: t.Type) -> Address:
    """The address of a component, counted in a swizzle of the vector that holds it."""
    assert base.components is not None
    if isinstance(index, int):
        return _component(base, base.components[index], type_)
    numbers = context.builder.constant_composite(
        t.Vector(t.INT, len(base.components)), [context.constant(t.INT, c) for c in base.components])
    return _component(base, context.builder.extract_dynamic(numbers, index), type_)


def _component(base: Address, index: Value | int, type_: t.Type) -> Address:
    scalar = value_type(type_)
    return replace(base, type=type_, indices=(*base.indices, index), components=None,
                   alignment=min(base.alignment, t.layout_of(memory_type(scalar)).alignment))


def _pointer_to(base: Address, pointee: t.Type) -> t.Pointer:
    root = base.root.type
    assert isinstance(root, t.Pointer)
    return replace(root, pointee=pointee)


def index_of(context: Context, node: n.Expression, type_: t.Type) -> Value | int:
    """An index into a value of ``type_``: an int if it is constant and certainly inside, else a value of a
    type that targets read as signed. Targets reject a constant that is outside: it goes through memory."""
    if isinstance(node, n.Constant) and isinstance(node.value, int):
        index = int(node.value)
        if 0 <= index < _certain_count(type_):
            return index
        held = context.temporary(context.constant(t.LONG, index))
        return context.builder.load(held, t.layout_of(t.LONG).alignment)
    value = context.evaluate(node)
    return value if value.type in (t.INT, t.LONG, t.ULONG) else convert(context, value, t.LONG)


def _certain_count(type_: t.Type) -> int:
    """How many elements or components there are at least; a work-item's share of a matrix depends on the
    size of the sub-group."""
    if isinstance(type_, t.Array | t.Vector):
        return type_.count
    assert isinstance(type_, t.Matrix)
    is_dealt = type_.scope is t.ExecutionScope.SUBGROUP
    return dealt_components(type_.rows, type_.columns, _WIDEST_SUB_GROUP) if is_dealt else 1


def address_value(context: Context, address: Address) -> Value:
    """The pointer to a place that is no swizzle."""
    assert address.components is None
    if not address.indices:
        return address.root
    return context.builder.access(address.root, address.indices)


def pinned(context: Context, address: Address) -> Address:
    """``address`` with its pointer computed, for a place that is read and then written."""
    if address.components is not None or not address.indices:
        return address
    return replace(address, root=address_value(context, address), indices=())


def load(context: Context, address: Address) -> Value:
    """The value in a place; the components of a swizzle are read one by one, no other is touched."""
    if address.components is not None:
        vector = address.type
        assert isinstance(vector, t.Vector)
        parts = [load(context, _component(address, c, vector.scalar)) for c in address.components]
        return context.builder.composite(vector, parts)
    pointer = address_value(context, address)
    value = context.builder.load(pointer, address.alignment, address.volatile)
    return from_memory(context, value, address.type)


def store(context: Context, address: Address, value: Value) -> None:
    """Write a place; the components of a swizzle are written one by one, no other is touched."""
    if address.components is not None:
        scalar = value.type.element
        for position, component in enumerate(address.components):
            store(context, _component(address, component, scalar), context.builder.extract(value, position))
        return
    pointer = address_value(context, address)
    context.builder.store(pointer, to_memory(context, value), address.alignment, address.volatile)
