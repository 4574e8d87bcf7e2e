"""Return statements and calls of helpers: what a result is in the tree, and how it is found or declared."""

from __future__ import annotations

import ast
import typing
from collections.abc import Callable, Iterator
from typing import Any

from coopmat.runtime.element_types import ElementType, element_type
from coopmat.sycl.compiler import messages
from coopmat.sycl.compiler.aggregates import field_names, field_types, is_named_tuple, is_shared, is_structure
from coopmat.sycl.compiler.annotations import type_of_annotation
from coopmat.sycl.compiler.context import Compiler
from coopmat.sycl.compiler.matrix_objects import is_same_type
from coopmat.sycl.compiler.numbers import common, expression, type_of
from coopmat.sycl.compiler.results import NOTHING, Result
from coopmat.sycl.compiler.values import (
    Aggregate,
    Group,
    Item,
    MatrixValue,
    Runtime,
    Static,
    Structure,
    Value,
    is_number,
)
from coopmat.sycl.compiler.values import Sequence as ValueSequence
from coopmat.sycl.joint_matrices import JointMatrixType
from coopmat.sycl.pointers import NO_PROPERTIES, PointerType
from coopmat.sycl.properties import properties
from coopmat.sycl.vectors import VectorType
from coopmat.tree import nodes as n
from coopmat.tree import types as t


def returned(f: Compiler, result: Result, value: Value, node: ast.AST) -> n.Expression | None:
    """What a return statement returns in the tree; None for nothing."""
    parts = list(_parts(f, result.form, value, node))
    if not parts:
        return None
    return n.Aggregate(result.type, f.location(node), tuple(parts)) if isinstance(result.form, Aggregate) else parts[0]


def _parts(f: Compiler, form: Value, value: Value, node: ast.AST) -> Iterator[n.Expression]:
    if isinstance(form, Runtime):
        yield expression(f, value, node, form.type)
    elif isinstance(form, MatrixValue):
        if not isinstance(value, MatrixValue) or not is_same_type(value, form):
            raise f.fail(messages.RESULT_DIFFERS, node, name=_name(f), found=value, before=form)
        yield value.expression
    elif isinstance(form, Aggregate):
        if not isinstance(value, Aggregate) or not form.is_like(value):
            raise f.fail(messages.RESULT_DIFFERS, node, name=_name(f), found=value, before=form)
        for inner, item in zip(form.items, value.items, strict=True):
            yield from _parts(f, inner, f.loaded(item, node), node)


def result_of_call(f: Compiler, result: Result, call: n.Call, node: ast.AST) -> Value:
    """What a call gives."""
    if not isinstance(result.form, Aggregate) and result.types:
        return _filled(result.form, iter([call]))
    if not result.types:
        f.perform(call)
        return result.form
    location = f.location(node)
    held = f.temporary(call, node).expression
    assert isinstance(held, n.Load)
    places = (n.FieldPlace(type_, location, held.place, index) for index, type_ in enumerate(result.types))
    return _filled(result.form, (n.Load(place.type, location, place) for place in places))


def _filled(form: Value, computed: Iterator[n.Expression]) -> Value:
    """The form with what was computed."""
    if isinstance(form, Aggregate):
        return form.with_items(_filled(item, computed) for item in form.items)
    if isinstance(form, MatrixValue):
        return MatrixValue(form.type, next(computed))
    return Runtime(next(computed), form.hints) if isinstance(form, Runtime) else form


def _name(f: Compiler) -> str:
    return f.node.name if isinstance(f.node, ast.FunctionDef) else "lambda"


# ------------------------------------------------------------------ inferred


def result_of(f: Compiler) -> Result:
    """The common form of all that a function returns."""
    if not f.returned:
        return NOTHING
    (first, place), *rest = f.returned
    found = _checked(f, first, place)
    for value, node in rest:
        found = _merged(f, found, _checked(f, value, node), node)
    return Result(_typed(f, found, place))


def _checked(f: Compiler, value: Value, node: ast.AST) -> Value:
    """A value as functions can return it."""
    value = f.loaded(value, node)
    match value:
        case Aggregate(items=items):
            if value.is_mutable and is_shared(value):
                raise f.fail(messages.RESULT_SHARED, node, name=_name(f), found=value)
            return value.with_items(_checked(f, item, node) for item in items)
        case Runtime() | Static() | Group() | Item() | MatrixValue():
            return value
    raise f.fail(messages.RESULT_KIND, node, name=_name(f), found=value)


def _merged(f: Compiler, first: Value, second: Value, node: ast.AST) -> Value:
    """What two return statements have in common."""
    if isinstance(first, Aggregate) and isinstance(second, Aggregate) and first.is_like(second):
        return first.with_items(_merged(f, *pair, node) for pair in zip(first.items, second.items, strict=True))
    if is_number(first) and is_number(second):
        if _known(first) == _known(second):
            return first
        type_ = common(f, first, second, node)
        is_weak = all(isinstance(one, Static) and type(one.value) is float for one in (first, second))
        hints = first.hints if isinstance(first, Runtime) else NO_PROPERTIES
        return Static(0.0) if is_weak else Runtime(n.Undefined(type_, None), hints)
    if isinstance(first, MatrixValue) and isinstance(second, MatrixValue) and is_same_type(first, second):
        return first
    if is_number(first) or is_number(second) or _known(first) != _known(second):
        raise f.fail(messages.RESULT_DIFFERS, node, name=_name(f), found=second, before=first)
    return first


def _known(value: Value) -> Any:
    """What is compared of a value that is known when the function is compiled."""
    if not isinstance(value, Static):
        return value
    is_plain = isinstance(value.value, (str, int, float))
    return type(value.value), value.value if is_plain else id(value.value)


def _typed(f: Compiler, value: Value, node: ast.AST) -> Value:
    """The form of a result: numbers are what the function computes, except for an int that is always the same."""
    if isinstance(value, Aggregate):
        return value.with_items(_typed(f, item, node) for item in value.items)
    if isinstance(value, MatrixValue):
        return _undefined_matrix(value.type)
    if not is_number(value) or (isinstance(value, Static) and isinstance(value.value, int)):
        return value
    hints = value.hints if isinstance(value, Runtime) else NO_PROPERTIES
    return Runtime(n.Undefined(type_of(f, value, node), None), hints)


# ------------------------------------------------------------------ declared


def declared_result(f: Compiler, node: ast.expr) -> Result | None:
    """What an annotation says of a result; None if it leaves something open."""
    form = _form(type_of_annotation(f, node))
    if form is False:
        raise f.fail(messages.NOT_A_TYPE, node, found=Static(type_of_annotation(f, node)))
    return None if form is None else Result(form)


def _form(found: Any) -> Value | typing.Literal[False] | None:
    """The form of a result of a type; None if that is open, False if this is no type."""
    if found is None or found is type(None):
        return Static(None)
    type_ = found if isinstance(found, ElementType) else element_type(found)
    if type_ is not None:
        return _undefined(type_.storage.scalar)
    if isinstance(found, VectorType):
        return _undefined(found.type)
    if isinstance(found, PointerType):
        return _undefined(found.tree, found.hints)
    if isinstance(found, JointMatrixType):
        return _undefined_matrix(found)
    if typing.get_origin(found) is tuple:
        return _all((_form(part) for part in typing.get_args(found)), lambda items: ValueSequence(items, False))
    if is_structure(found):
        types, names = field_types(found), field_names(found)
        make = ValueSequence((), False, found) if is_named_tuple(found) else Structure((), found)
        return _all((_form(types.get(name, tuple)) for name in names), make.with_items)
    return None if found in (tuple, list, Any) else False


def _undefined(type_: t.Type, hints: properties = NO_PROPERTIES) -> Runtime:
    return Runtime(n.Undefined(type_, None), hints)


def _undefined_matrix(type_: JointMatrixType) -> MatrixValue:
    return MatrixValue(type_, n.Undefined(type_.tree, None))


def _all(parts: Iterator[Any], make: Callable[[tuple[Value, ...]], Value]) -> Any:
    found = list(parts)
    return None if None in found or not found or False in found else make(tuple(found))
