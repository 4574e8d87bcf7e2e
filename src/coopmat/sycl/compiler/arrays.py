"""Lists whose indices the kernel computes: their elements lie in private memory, or, if they are constants that nothing
assigns, in constant memory.

Whether there is such an index is known when it is met. A list is compiled as separate variables first; if an index
needs memory, that is noted, and the kernel is compiled again.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from coopmat.sycl.compiler import messages
from coopmat.sycl.compiler.context import Compiler
from coopmat.sycl.compiler.numbers import expression, integer, number_type, type_of
from coopmat.sycl.compiler.values import Element, Runtime, Sequence, Static, Value, is_number, leaves, shown_type
from coopmat.tree import constants
from coopmat.tree import nodes as n
from coopmat.tree import types as t


def item(f: Compiler, base: Sequence, index: Value, node: ast.Subscript) -> Value:
    """``values[i]`` for an index that the kernel computes."""
    parts = [f.loaded(leaf, node) for leaf in leaves(base)]
    if not parts or not all(map(is_number, parts)) or any(isinstance(part.type, t.Pointer) for part in parts
                                                          if isinstance(part, Runtime)):
        raise f.fail(messages.INDEX_NOT_CONSTANT, node.slice, found=index, base=base)
    found = integer(f, index, node.slice)
    if all(isinstance(part, Static) for part in parts) and base.array is None:
        return _read(_element(f, _table(f, base, node), found, replace(base, is_list=False), node))
    if base.array is not None:
        return _element(f, base.array, found, base, node)
    if base.origin is not None:
        assert base.origin not in f.unit.arrays
        f.unit.indexed.add(base.origin)
        return base.items[0]  # of the same form; the kernel is compiled again
    held = made(f, base, "", node)
    assert held.array is not None
    return _read(_element(f, held.array, found, held, node))


def _element(f: Compiler, array: n.Place, index: n.Expression, base: Sequence, node: ast.AST) -> Value:
    """The element, or the row, at an index."""
    assert isinstance(array.type, t.Array)
    if not isinstance(array.type.item, t.Array):
        return Element(n.ElementPlace(array.type.item, f.location(node), array, index))
    held = f.temporary(index, node).expression
    row = base.items[0]
    assert isinstance(row, Sequence)
    return view(n.ElementPlace(array.type.item, f.location(node), array, held),
                row if base.is_list else replace(row, is_list=False))


def _read(value: Value) -> Value:
    """A number instead of its place; rows stay rows."""
    return Runtime(n.Load(value.type, value.place.location, value.place)) if isinstance(value, Element) else value


def view(place: n.Place, form: Sequence) -> Sequence:
    """The list whose elements are those of an array; ``form`` is one like it."""
    assert isinstance(place.type, t.Array)
    places = [n.ElementPlace(place.type.item, place.location, place, n.Constant(t.INT, place.location, index))
              for index in range(place.type.count)]
    items = tuple(view(inner, row) if isinstance(row, Sequence) else Element(inner)
                  for inner, row in zip(places, form.items, strict=True))
    return replace(form, items=items, array=place)


# ------------------------------------------------------------------ making


def made(f: Compiler, value: Sequence, name: str, node: ast.AST) -> Sequence:
    """A list in private memory."""
    scalar = _element_type(f, value, node)
    type_ = _array_type(f, value, scalar, node)
    place = f.declare(name, type_, node, _whole(f, value, type_, scalar, node)).place
    return view(place, value)


def _element_type(f: Compiler, value: Value, node: ast.AST) -> t.Type:
    """The one type of the elements; constants take it."""
    first: t.Type | None = None
    weak: t.Scalar | None = None
    for leaf in leaves(value):
        if isinstance(leaf, Static) and leaf.is_number:
            found = number_type(leaf.value) or t.LONG
            weak = found if weak is None else max(weak, found, key=lambda one: (one.is_float, one.bits))
            continue
        if not is_number(f.loaded(leaf, node)):
            raise f.fail(messages.ARRAY_ELEMENTS, node, left=f"elements such as {leaf}", right="a computed index")
        type_ = type_of(f, leaf, node)
        if first is not None and first != type_:
            raise f.fail(messages.ARRAY_ELEMENTS, node, left=shown_type(first), right=shown_type(type_))
        first = type_
    found_type = first or weak
    assert found_type is not None
    return found_type


def _array_type(f: Compiler, value: Sequence, scalar: t.Type, node: ast.AST) -> t.Array:
    """The type of a list of numbers, or of lists of one form."""
    rows = list(dict.fromkeys(_array_type(f, item, scalar, node) if isinstance(item, Sequence) else scalar
                              for item in value.items))
    if len(rows) != 1:
        kinds = [f"a row of {row.count}" if isinstance(row, t.Array) else "a number" for row in rows]
        raise f.fail(messages.ARRAY_ELEMENTS, node, left=kinds[0], right=kinds[1])
    return t.Array(rows[0], len(value.items))


def _whole(f: Compiler, value: Value, type_: t.Type, scalar: t.Type, node: ast.AST) -> n.Expression:
    """The array as a value."""
    if not isinstance(type_, t.Array):
        return expression(f, value, node, scalar)
    assert isinstance(value, Sequence)
    elements = tuple(_whole(f, item, type_.item, scalar, node) for item in value.items)
    if all(isinstance(element, n.Zero) or (isinstance(element, n.Constant) and repr(element.value) in _ZEROS)
           for element in elements):
        return n.Zero(type_, f.location(node))
    return n.Aggregate(type_, f.location(node), elements)


_ZEROS = ("0", "0.0", "False")


def _table(f: Compiler, value: Sequence, node: ast.AST) -> n.VariablePlace:
    """A list of constants in constant memory; equal ones are there once."""
    scalar = _element_type(f, value, node)
    type_ = _array_type(f, value, scalar, node)
    numbers = tuple(_numbers(value))
    key = (type_, repr(numbers))
    location = f.location(node)
    if key not in f.unit.tables:
        list_ = node.value if isinstance(node, ast.Subscript) else None
        name = list_.id if isinstance(list_, ast.Name) else "table"
        variable = n.Variable(name, type_, location, t.AddressSpace.CONSTANT, const=True,
                              initializer=constants.fold(_whole(f, value, type_, scalar, node)))
        f.unit.tables[key] = variable
        f.unit.globals.append(variable)
    return n.VariablePlace(type_, location, f.unit.tables[key])


def _numbers(value: Value) -> Iterator[object]:
    for leaf in leaves(value):
        assert isinstance(leaf, Static)
        yield leaf.value.item() if isinstance(leaf.value, np.generic) else leaf.value
