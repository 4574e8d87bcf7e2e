"""Expressions that are written as constants (front ends fold what can be folded)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from coopmat.formats import to_bits
from coopmat.lowering.builder import Builder, Value
from coopmat.lowering.memory import memory_type, physical_record, value_type
from coopmat.tree import nodes as n
from coopmat.tree import types as t


def is_constant(node: n.Expression) -> bool:
    """Whether the expression is written with numbers alone, so that :func:`constant` needs no addresses."""
    match node:
        case n.Constant() | n.Zero() | n.Undefined():
            return not t.contains_matrix(node.type)
        case n.Aggregate(elements=parts) | n.VectorOf(parts=parts):
            return all(map(is_constant, parts))
        case n.Splat(operand=value) | n.UnionOf(value=value):
            return is_constant(value)
    return False


AddressOfVariable = Callable[[n.Variable], Value]


def constant(builder: Builder, node: n.Expression, in_memory: bool,
             address_of: AddressOfVariable | None = None) -> Value:
    """The value of a constant expression; ``in_memory``: as memory holds it, else as a value.

    ``address_of`` gives the address of a variable of the module. ValueError for what is no constant.
    """
    type_ = memory_type(node.type) if in_memory else value_type(node.type)
    match node:
        case n.Constant(value=value):
            return builder.constant(type_, int(value) if isinstance(value, bool) and in_memory else value)
        case n.Undefined():
            return builder.undefined(type_)
        case n.Zero():
            return builder.zero(type_)
        case n.Aggregate(elements=elements):
            return builder.constant_composite(type_, [constant(builder, e, True, address_of) for e in elements])
        case n.UnionOf(type=t.Record() as union):
            return _union(builder, union, _bytes(node))
        case n.VectorOf() | n.Splat():
            return builder.constant_composite(type_, [constant(builder, c, in_memory) for c in _components(node)])
    if address_of is None:
        raise ValueError(f"{type(node).__name__} is no constant")
    return _address(builder, node, address_of)


# -- Addresses -----------------------------------------------------------------------------


def _address(builder: Builder, node: n.Expression, address_of: AddressOfVariable) -> Value:
    """An address that is known before the program runs."""
    match node:
        case n.AddressOf(place=place):
            return builder.constant_cast(_place(builder, place, address_of), node.type)
        case n.Bitcast(operand=operand) | n.CastAddressSpace(operand=operand):
            return builder.constant_cast(_address(builder, operand, address_of), node.type)
        case n.PointerOffset(pointer=pointer, offset=n.Constant(value=steps)):
            return builder.constant_offset(_address(builder, pointer, address_of), int(steps))
    raise ValueError(f"{type(node).__name__} is no constant")


def _place(builder: Builder, place: n.Place, address_of: AddressOfVariable) -> Value:
    """The address of a place. Members and elements are reached one by one, a union's members by a cast."""
    match place:
        case n.VariablePlace(variable=variable):
            return address_of(variable)
        case n.Dereference(pointer=pointer):
            return _address(builder, pointer, address_of)
        case n.ElementPlace(base=base, index=n.Constant(value=index)):
            whole = _place(builder, base, address_of)
            assert isinstance(base.type, t.Array | t.Vector)
            part = base.type.item if isinstance(base.type, t.Array) else base.type.element
            return builder.constant_offset(builder.constant_cast(whole, _pointer(whole, part)), int(index))
        case n.FieldPlace(base=base, index=index):
            whole = _place(builder, base, address_of)
            assert isinstance(base.type, t.Record)
            octets = builder.constant_cast(whole, _pointer(whole, t.UCHAR))
            moved = builder.constant_offset(octets, t.layout_of(base.type).offsets[index])
            return builder.constant_cast(moved, _pointer(whole, place.type))
    raise ValueError(f"{type(place).__name__} has no constant address")


def _pointer(pointer: Value, pointee: t.Type) -> t.Pointer:
    assert isinstance(pointer.type, t.Pointer)
    return replace(pointer.type, pointee=pointee)


# -- Unions --------------------------------------------------------------------------------


def _union(builder: Builder, type_: t.Record, content: bytes) -> Value:
    """A union with these bytes."""
    members = physical_record(type_).members
    return builder.constant_composite(type_, [_integers(builder, member, content) for member in members])


def _integers(builder: Builder, type_: t.Type, content: bytes) -> Value:
    """The bytes as an integer, or as a vector or array of integers."""
    if isinstance(type_, t.Scalar):
        return builder.constant(type_, int.from_bytes(content, "little"))
    part = type_.item if isinstance(type_, t.Array) else type_.element
    step = t.size_of(part)
    return builder.constant_composite(type_, [_integers(builder, part, content[start:start + step])
                                              for start in range(0, len(content), step)])


def _bytes(node: n.Expression) -> bytes:
    """What memory holds of a constant; padding is zero."""
    layout = t.layout_of(node.type)
    content = bytearray(layout.size)
    for offset, part in _located_parts(node, layout):
        content[offset:offset + len(part)] = part
    return bytes(content)


def _located_parts(node: n.Expression, layout: t.Layout) -> Iterator[tuple[int, bytes]]:
    """The bytes of what is not zero in a constant, by offset."""
    match node:
        case n.Constant(value=value):
            scalar = memory_type(node.type)
            assert isinstance(scalar, t.Scalar)
            yield 0, _scalar_bytes(scalar, value)
        case n.UnionOf(value=value):
            yield 0, _bytes(value)
        case n.Aggregate(type=t.Record(), elements=elements):
            yield from zip(layout.offsets, map(_bytes, elements), strict=True)
        case n.Aggregate(elements=parts):
            yield 0, b"".join(map(_bytes, parts))
        case n.VectorOf() | n.Splat():
            yield 0, b"".join(map(_bytes, _components(node)))
        case n.Zero() | n.Undefined():
            return
        case _:
            raise ValueError(f"the bytes of {type(node).__name__} are not known")


def _scalar_bytes(scalar: t.Scalar, value: float) -> bytes:
    """A number as memory holds it, the lowest byte first."""
    if scalar.is_float:
        value = to_bits(np.array([value]), scalar.format_name)[0]
    return (int(value) % (1 << scalar.bits)).to_bytes(scalar.bits // 8, "little")


def _components(node: n.Expression) -> list[n.Expression]:
    """The scalar constants of which a constant vector consists."""
    match node:
        case n.VectorOf(parts=parts):
            return [component for part in parts for component in _components(part)]
        case n.Splat(operand=operand, type=t.Vector(count=count)):
            return [operand] * count
        case n.Zero(type=t.Vector(scalar=scalar, count=count), location=location):
            return [n.Zero(scalar, location)] * count
        case n.Undefined(type=t.Vector(scalar=scalar, count=count), location=location):
            return [n.Undefined(scalar, location)] * count
    return [node]
