"""How arguments reach a helper: what is known becomes part of the specialisation, numbers and pointers are passed
by value, matrices and variables of lists by reference."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from coopmat.sycl.compiler import arrays, messages
from coopmat.sycl.compiler.context import Compiler
from coopmat.sycl.compiler.values import (
    Aggregate,
    AtomicRef,
    Element,
    LayoutValue,
    Local,
    LocalArray,
    Matrix,
    MatrixValue,
    Method,
    NewMatrix,
    Range,
    Runtime,
    Sequence,
    Static,
    Value,
)
from coopmat.tree import nodes as n
from coopmat.tree import types as t


@dataclass
class Passed:
    """Arguments on their way. ``key`` tells specialisations apart; ``values`` is what the names are inside."""

    arguments: list[n.Expression] = field(default_factory=list)
    parameters: list[n.Variable] = field(default_factory=list)
    values: dict[str, Value] = field(default_factory=dict)
    keys: list[Any] = field(default_factory=list)

    @property
    def key(self) -> Any:
        """What a specialisation depends on."""
        return tuple(self.keys)


def pass_values(f: Compiler, given: Mapping[str, Value], node: ast.AST) -> Passed:
    """Pass named values to a function."""
    passed = Passed()
    for name, value in given.items():
        passed.keys.append(name)
        passed.values[name] = _pass(f, passed, name, value, node)
    return passed


def _pass(f: Compiler, passed: Passed, name: str, value: Value, node: ast.AST) -> Value:
    """What ``value`` is inside of the function, which gets parameters for it."""
    if isinstance(value, NewMatrix | MatrixValue):
        value = f.declare_matrix(value, "", node)
    match value:
        case Runtime(expression=expression, hints=hints):
            return Element(_parameter(passed, name, expression, hints), hints)
        case Element(place=place, hints=hints):
            return Element(_reference(passed, name, place), hints)
        case Matrix(type=type_, place=place):
            passed.keys.append(type_)
            return Matrix(type_, _reference(passed, name, place))
        case Sequence(array=array) if array is not None:
            passed.keys.append(("array", array.type, value.with_items(())))
            return arrays.view(_reference(passed, name, array), value)
        case Aggregate(items=items):
            passed.keys.append((len(items), value.with_items(())))
            inside = value.with_items(_pass(f, passed, inner, item if value.is_mutable else f.loaded(item, node), node)
                                      for inner, item in zip(value.spelled(name), items, strict=True))
            if isinstance(value, Sequence) and isinstance(inside, Sequence):
                return replace(inside, origin=value.origin)
            return inside
        case LocalArray(pointer=pointer, shape=shape):
            passed.keys.append(("local", shape))
            return LocalArray(_value(_parameter(passed, name, pointer, None)), shape)
        case AtomicRef(pointer=pointer, order=order, scope=scope):
            passed.keys.append(("atomic", order, scope))
            return replace(value, pointer=_value(_parameter(passed, name, pointer, None)))
        case LayoutValue(expression=expression):
            passed.keys.append("layout")
            return LayoutValue(_value(_parameter(passed, name, expression, None)))
        case Range(start=start, stop=stop, step=step):
            passed.keys.append("range")
            return Range(*(f.loaded(_pass(f, passed, name, part, node), node) for part in (start, stop, step)))
        case Local():
            return _pass_function(f, passed, name, value, node)
        case Method(receiver=receiver):
            passed.keys.append(("method", value.name))
            return replace(value, receiver=_pass(f, passed, name, receiver, node))
    passed.keys.append(_key(value))
    return value


def _pass_function(f: Compiler, passed: Passed, name: str, value: Local, node: ast.AST) -> Value:
    """A function with what it has captured."""
    captured = f.capture(value)
    passed.keys.append(("function", value.key))
    inside = {}
    with of_function(f, value, node):
        for inner, held in captured.captured.items():
            passed.keys.append(inner)
            inside[inner] = _pass(f, passed, f"{name}.{inner}", held, node)
    return replace(captured, captured=inside)


@contextmanager
def of_function(f: Compiler, local: Local, node: ast.AST) -> Iterator[None]:
    """Inside, what a local function has captured is passed; it must not have captured itself."""
    if id(local.node) in f.unit.being_passed:
        raise f.fail(messages.RECURSION, node, name=local.name)
    f.unit.being_passed.append(id(local.node))
    try:
        yield
    finally:
        f.unit.being_passed.pop()


def _key(value: Value) -> Any:
    """What tells a value that is known from others: True, 1 and 1.0 are different."""
    if not isinstance(value, Static):
        return value
    found = value.value
    try:
        hash(found)
    except Exception:  # what a class of the user raises
        return type(found), id(found)
    return type(found), repr(found) if isinstance(found, float) else found


def _parameter(passed: Passed, name: str, argument: n.Expression, hints: Any) -> n.VariablePlace:
    """A parameter that gets a value."""
    variable = n.Variable(name, argument.type, argument.location)
    passed.parameters.append(variable)
    passed.arguments.append(argument)
    passed.keys.append((argument.type, hints))
    return n.VariablePlace(argument.type, argument.location, variable)


def _value(place: n.VariablePlace) -> n.Load:
    return n.Load(place.type, place.location, place)


def _reference(passed: Passed, name: str, place: n.Place) -> n.Place:
    """A parameter that gets a place's address."""
    space = place.address_space if isinstance(place, n.Dereference) else t.AddressSpace.PRIVATE
    address = n.AddressOf(t.Pointer(place.type, space), place.location, place)
    pointer = _parameter(passed, name, address, None)
    return n.Dereference(place.type, place.location, _value(pointer))
