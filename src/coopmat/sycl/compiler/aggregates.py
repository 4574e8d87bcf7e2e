"""Tuples, lists and structures as wholes: making, comparing and assigning them, and what their attributes are."""

from __future__ import annotations

import ast
import dataclasses
import difflib
import inspect
import typing
from collections.abc import Callable, Mapping
from functools import partial
from types import FunctionType
from typing import Any

from coopmat.runtime.element_types import ElementType, element_type, precision
from coopmat.sycl.compiler import messages
from coopmat.sycl.compiler.context import Compiler
from coopmat.sycl.compiler.matrix_objects import assign_matrix, is_same_place
from coopmat.sycl.compiler.numbers import expression, type_of
from coopmat.sycl.compiler.statics import static_value
from coopmat.sycl.compiler.values import (
    Aggregate,
    Element,
    Matrix,
    MatrixValue,
    Method,
    Runtime,
    Sequence,
    Static,
    Structure,
    Value,
    is_number,
    leaves,
    owner_of,
    root_of,
    shown_type,
)
from coopmat.sycl.vectors import VectorType
from coopmat.tree import nodes as n
from coopmat.tree import types as t

# ------------------------------------------------------------------ classes of the user


def is_named_tuple(owner: Any) -> bool:
    """Whether this is a class of named tuples."""
    return isinstance(owner, type) and issubclass(owner, tuple) and hasattr(owner, "_fields")


def is_structure(owner: Any) -> bool:
    """Whether this is a class whose objects kernels can make: of named tuples, or a dataclass."""
    return is_named_tuple(owner) or (isinstance(owner, type) and dataclasses.is_dataclass(owner))


def field_names(owner: type) -> tuple[str, ...]:
    """The fields of a class, in order."""
    return owner._fields if is_named_tuple(owner) else tuple(  # type: ignore[attr-defined]
        field.name for field in dataclasses.fields(owner))


def defaults_of_fields(owner: type) -> dict[str, Callable[[], Any]]:
    """What makes the values of the fields that need not be given."""
    if is_named_tuple(owner):
        return {name: partial(dict.get, owner._field_defaults, name)  # type: ignore[attr-defined]
                for name in owner._field_defaults}  # type: ignore[attr-defined]
    found: dict[str, Callable[[], Any]] = {}
    for field in dataclasses.fields(owner):
        if field.default_factory is not dataclasses.MISSING:
            found[field.name] = field.default_factory
        elif field.default is not dataclasses.MISSING:
            found[field.name] = partial(getattr, field, "default")
    return found


def initializer_of(owner: type) -> str | None:
    """Why a kernel cannot make objects of a class, if it cannot: its own code would have to run."""
    first = next(base for base in owner.__mro__ if "__init__" in vars(base) or "__new__" in vars(base))
    generated = vars(first).get("__dataclass_params__")
    is_own = "_fields" not in vars(first) and not getattr(generated, "init", False)
    if is_own or hasattr(owner, "__post_init__"):
        name = "__post_init__" if hasattr(owner, "__post_init__") else "__init__ or __new__"
        return f"its {name} runs on the host only: make the object there, or give the class none"
    return None


def field_types(owner: type) -> Mapping[str, ElementType]:
    """The fields that are numbers of a type, which they are converted to."""
    try:
        hints = typing.get_type_hints(owner)
    except Exception:  # names of its module that do not exist
        return {}
    found = {name: element_type(hint) for name, hint in hints.items()}
    return {name: type_ for name, type_ in found.items() if type_ is not None and not type_.is_abstract}


def made(f: Compiler, owner: type, given: Mapping[str, Value], node: ast.AST) -> Aggregate:
    """An object of a class, from the values of its fields."""
    types = field_types(owner)
    items = tuple(_field(f, given[name], types.get(name), node) for name in field_names(owner))
    return Sequence(items, False, owner) if is_named_tuple(owner) else Structure(items, owner)


def _field(f: Compiler, value: Value, type_: ElementType | None, node: ast.AST) -> Value:
    """A field's value as its annotation has it; Python's own numbers stay as they are where its types are asked for."""
    if type_ is None or not is_number(value):
        return value
    if isinstance(value, Static) and value.is_number and element_type(type(value.value)) == type_:
        return value
    return Runtime(expression(f, value, node, type_.scalar))


def opened(f: Compiler, value: Value, node: ast.AST) -> Value:
    """An object of a dataclass that the kernel has captured, as one that it made; other values as they are."""
    if not isinstance(value, Static) or isinstance(value.value, type) or not dataclasses.is_dataclass(value.value):
        return value
    held, owner = value.value, type(value.value)
    with f.host_errors_at(node):
        return Structure(tuple(static_value(f, getattr(held, name), node, name) for name in field_names(owner)), owner)


def attribute(f: Compiler, value: Aggregate, name: str, node: ast.Attribute) -> Value:
    """A field, or what the class has: a property's value, a method."""
    if name in value.names:
        return value.items[value.names.index(name)]
    owner = owner_of(value)
    found = None if name.startswith("__") else inspect.getattr_static(owner, name, None)
    if isinstance(found, property) and isinstance(found.fget, FunctionType):
        return f.unit.helpers.call_function(f, found.fget, [value], node)
    if owner is None or found is None or callable(found) or isinstance(found, staticmethod | classmethod):
        close = difflib.get_close_matches(name, value.names, n=1)
        if owner is not None and found is None and name != "_replace":
            hint = f"; did you mean '{close[0]}'?" if close else f"; it has {', '.join(value.names)}"
            raise f.fail(messages.NO_ATTRIBUTE, node, found=value, name=name, hint=hint)
        return Method(value, name)
    return static_value(f, found, node)


def method_of(value: Aggregate, name: str) -> tuple[FunctionType, list[Value]] | None:
    """The function that a method of a user's class is, and the arguments that it gets first."""
    owner = owner_of(value)
    found = None if owner is None else inspect.getattr_static(owner, name, None)
    if name in ("_replace", "_asdict", "_make"):  # which named tuples have by themselves
        return None
    if isinstance(found, FunctionType):
        return found, [value]
    if isinstance(found, staticmethod | classmethod) and isinstance(found.__func__, FunctionType):
        return found.__func__, [Static(owner)] if isinstance(found, classmethod) else []
    return None


# ------------------------------------------------------------------ assigning


def assign(f: Compiler, place: Value, value: Value, name: str, node: ast.expr) -> None:
    """Store a value in a variable, or one of the same form in the variables of a tuple or structure."""
    if isinstance(place, Aggregate):
        held = _held(f, value, node)
        if not place.is_like(held) or any(not isinstance(leaf, Element | Matrix) for leaf in leaves(place)):
            raise f.fail(messages.REBOUND, node, name=name, before=place, after=value)
        for target, part in zip(leaves(place), leaves(held), strict=True):
            assign(f, target, part, name, node)
        return
    if isinstance(place, Matrix) and isinstance(value, MatrixValue):
        assign_matrix(f, name, place, value, node)
        return
    if isinstance(place, Matrix) and isinstance(value, Matrix):
        if not is_same_place(place.place, value.place):
            raise f.fail(messages.MATRIX_COPY, node, source="m")
        return
    if not isinstance(place, Element) or not is_number(f.loaded(value, node)):
        raise f.fail(messages.REBOUND, node, name=name, before=place, after=value)
    found = type_of(f, value, node)
    loses = found.is_float and isinstance(place.type, t.Scalar) and not place.type.is_float
    if loses or isinstance(found, t.Pointer) != isinstance(place.type, t.Pointer):
        raise f.fail(messages.TYPE_CHANGES, node, name=name, type=shown_type(place.type), found=value,
                     hint=float_hint(place.type) if loses else "")
    f.assign(place, stored(f, value, place, node), node)


def elements_of_type(f: Compiler, value: Value, type_: Any, node: ast.AnnAssign) -> Value:
    """A list whose elements an annotation ``list[T]`` gives a type."""
    found = type_ if isinstance(type_, VectorType) else element_type(type_)
    if not isinstance(value, Sequence) or not value.is_list or found is None or found == precision.tf32:
        assert node.value is not None
        raise f.fail(messages.NOT_A_TYPE, node.annotation, found=f"list[{found or type_}] for {value}")
    return value.with_items(Runtime(expression(f, item, node, found.type)) for item in value.items)


def _held(f: Compiler, value: Value, node: ast.AST) -> Value:
    """A value whose parts are computed before anything is assigned."""
    if isinstance(value, Aggregate):
        return value.with_items(_held(f, item, node) for item in value.items)
    return f.held(value, node)


def stored(f: Compiler, value: Value, place: Element, node: ast.AST) -> n.Expression:
    """What is stored; a floating-point constant takes the type of its place at once, without a detour by float32."""
    is_constant = isinstance(value, Static) and isinstance(value.value, float) and place.type.is_float
    return expression(f, value, node, place.type if is_constant else None)


def float_hint(type_: t.Type) -> str:
    """What to do where a floating-point number would be assigned to an integer."""
    return f"; make its first value a floating-point number, or convert with {shown_type(type_)}(…)"


def roots(value: Value) -> set[int]:
    """What tells objects apart: the variables that they are made of."""
    found = set()
    for leaf in leaves(value):
        place = root_of(leaf.place) if isinstance(leaf, Element | Matrix) else None
        if isinstance(place, n.VariablePlace):
            found.add(id(place.variable))
    return found


def is_shared(value: Value) -> bool:
    """Whether somebody else may have the object, too: it came as an argument."""
    return any(isinstance(leaf, Element) and isinstance(root_of(leaf.place), n.Dereference) for leaf in leaves(value))
