"""What helpers return: numbers, pointers, tuples and structures of them, and what is known when they are compiled."""

from __future__ import annotations

import ast
import typing
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from coopmat.sycl.compiler import messages
from coopmat.sycl.compiler.aggregates import field_names, field_types, is_named_tuple, is_shared, is_structure
from coopmat.sycl.compiler.annotations import type_of_annotation
from coopmat.sycl.compiler.expressions import common
from coopmat.sycl.compiler.matrix_objects import is_same_type
from coopmat.sycl.compiler.numbers import expression, type_of
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
    leaves,
)
from coopmat.sycl.compiler.values import Sequence as ValueSequence
from coopmat.sycl.element_types import ElementType, element_type
from coopmat.sycl.joint_matrices import JointMatrixType
from coopmat.sycl.pointers import NO_PROPERTIES, PointerType
from coopmat.sycl.properties import properties
from coopmat.sycl.vectors import VectorType
from coopmat.tree import nodes as n
from coopmat.tree import types as t

if TYPE_CHECKING:
    from coopmat.sycl.compiler.function import FunctionCompiler


@dataclass(frozen=True)
class Result:
    """What a function returns: a value in which what it computes is undefined, of the type that it has."""

    form: Value

    @cached_property
    def types(self) -> tuple[t.Type, ...]:
        """The types of what it computes, in order."""
        return tuple(leaf.expression.type for leaf in leaves(self.form) if isinstance(leaf, Runtime | MatrixValue))

    @property
    def is_nothing(self) -> bool:
        """Whether it returns None."""
        return isinstance(self.form, Static) and self.form.value is None

    @cached_property
    def type(self) -> t.Type:
        """The type of the function's result in the tree."""
        if isinstance(self.form, Aggregate) and self.types:
            return t.Record("result", fields=tuple(t.Field(f"part{i}", type_) for i, type_ in enumerate(self.types)))
        return self.types[0] if self.types else t.VOID

    def returned(self, f: FunctionCompiler, value: Value, node: ast.AST) -> n.Expression | None:
        """What a return statement returns in the tree; None for nothing."""
        parts = list(self._parts(f, self.form, value, node))
        if not parts:
            return None
        return n.Aggregate(self.type, f.location(node), tuple(parts)) if isinstance(self.form, Aggregate) else parts[0]

    def _parts(self, f: FunctionCompiler, form: Value, value: Value, node: ast.AST) -> Iterator[n.Expression]:
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
                yield from self._parts(f, inner, f.loaded(item, node), node)

    def value(self, f: FunctionCompiler, call: n.Call, node: ast.AST) -> Value:
        """What a call gives."""
        if not isinstance(self.form, Aggregate) and self.types:
            return _filled(self.form, iter([call]))
        if not self.types:
            f.perform(call)
            return self.form
        location = f.location(node)
        held = f.temporary(call, node).expression
        assert isinstance(held, n.Load)
        places = (n.FieldPlace(type_, location, held.place, index) for index, type_ in enumerate(self.types))
        return _filled(self.form, (n.Load(place.type, location, place) for place in places))


NOTHING = Result(Static(None))


def _filled(form: Value, computed: Iterator[n.Expression]) -> Value:
    """The form with what was computed."""
    if isinstance(form, Aggregate):
        return form.with_items(_filled(item, computed) for item in form.items)
    if isinstance(form, MatrixValue):
        return MatrixValue(form.type, next(computed))
    return Runtime(next(computed), form.hints) if isinstance(form, Runtime) else form


def _name(f: FunctionCompiler) -> str:
    return f.node.name if isinstance(f.node, ast.FunctionDef) else "lambda"


# ------------------------------------------------------------------ inferred


def result_of(f: FunctionCompiler) -> Result:
    """The common form of all that a function returns."""
    if not f.returned:
        return NOTHING
    (first, place), *rest = f.returned
    found = _checked(f, first, place)
    for value, node in rest:
        found = _merged(f, found, _checked(f, value, node), node)
    return Result(_typed(f, found, place))


def _checked(f: FunctionCompiler, value: Value, node: ast.AST) -> Value:
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


def _merged(f: FunctionCompiler, first: Value, second: Value, node: ast.AST) -> Value:
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


def _typed(f: FunctionCompiler, value: Value, node: ast.AST) -> Value:
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


def declared_result(f: FunctionCompiler, node: ast.expr) -> Result | None:
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
