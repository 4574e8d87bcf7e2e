"""Numbers, pointers and vectors as expressions of the tree: their types, conversions, and what must be known.

Constants are exact: an int is of any size until it meets something that has a type, where it is int32, or int64 if
it does not fit. A float constant takes the floating type of the other operand; alone it is float32.
"""

from __future__ import annotations

import ast
import operator
from typing import Any

import numpy as np

from coopmat.runtime.element_types import ElementType, of_dtype
from coopmat.sycl.compiler import messages
from coopmat.sycl.compiler.context import Compiler
from coopmat.sycl.compiler.values import Element, Nothing, Runtime, Static, Value, shown_type
from coopmat.sycl.constraints import ABSTRACT_VALUE
from coopmat.tree import constants
from coopmat.tree import nodes as n
from coopmat.tree import types as t
from coopmat.tree.conversions import common_type, make_convert


def number_type(number: int | float | bool) -> t.Scalar | None:
    """The type of a constant where nothing else gives one; None if it is too large."""
    if isinstance(number, bool):
        return t.BOOL
    if isinstance(number, float):
        return t.FLOAT
    return next((type_ for type_ in (t.INT, t.LONG, t.ULONG) if constants.wrap(number, type_) == number), None)


def type_of(f: Compiler, value: Value, node: ast.AST) -> t.Type:
    """The type of a number or pointer."""
    if isinstance(value, (Runtime, Element)):
        return value.type
    if isinstance(value, Static) and value.is_number:
        found = number_type(value.value)
        if found is None:
            raise f.fail(messages.TOO_LARGE, node, value=value.value)
        return found
    if isinstance(value, Static) and isinstance(value.value, np.generic):
        element = of_dtype(value.value.dtype)
        if element is not None:
            return element.scalar
    if isinstance(value, Nothing):
        raise f.fail(messages.NO_VALUE, node, what="this call")
    raise f.fail(messages.NOT_A_NUMBER, node, found=value)


def expression(f: Compiler, value: Value, node: ast.AST, type_: t.Type | None = None) -> n.Expression:
    """A number or pointer as a tree expression, converted to ``type_`` if that is given."""
    location = f.location(node)
    source = type_of(f, value, node)
    if isinstance(value, Element):
        found: n.Expression = n.Load(source, location, value.place)
    elif isinstance(value, Runtime):
        found = value.expression
    else:
        assert isinstance(value, Static)
        return _constant(f, value.value, source, type_ or source, node)
    return found if type_ is None else convert(f, found, type_, node)


def _constant(f: Compiler, number: Any, source: t.Type, target: t.Type, node: ast.AST) -> n.Expression:
    if isinstance(number, np.generic):
        number = number.item()
    elif isinstance(number, int) and not isinstance(number, bool):
        number = int(number)  # of an IntEnum, too
    if not isinstance(target, t.Scalar):
        raise f.fail(messages.NOT_CONVERTIBLE, node, found=Static(number), type=shown_type(target))
    found = constants.convert_number(number, t.DOUBLE if isinstance(number, float) else source, target)
    if found is None:
        raise f.fail(messages.OUT_OF_RANGE, node, value=number, type=shown_type(target))
    return n.Constant(target, f.location(node), found)


def convert(f: Compiler, found: n.Expression, type_: t.Type, node: ast.AST) -> n.Expression:
    """A conversion as C++ does it implicitly between numbers; pointers keep their type, up to const."""
    source = found.type
    if source == type_:
        return found
    if isinstance(source, t.Scalar) and isinstance(type_, t.Scalar):
        return convert_scalar(found, type_)
    if isinstance(source, t.Pointer) and isinstance(type_, t.Pointer) and source.pointee == type_.pointee:
        if source.address_space is type_.address_space and type_.const:
            return n.Bitcast(type_, found.location, found)
        if type_.address_space is t.AddressSpace.GENERIC and (type_.const or not source.const):
            return n.CastAddressSpace(type_, found.location, found)
    raise f.fail(messages.NOT_CONVERTIBLE, node, found=Runtime(found), type=shown_type(type_))


def convert_scalar(found: n.Expression, type_: t.Scalar) -> n.Expression:
    """bfloat16 converts from and to float."""
    source = found.type
    if t.BFLOAT16 in (source, type_) and t.FLOAT not in (source, type_) and not isinstance(found, n.Constant):
        found = make_convert(found, t.FLOAT)
    return make_convert(found, type_)


def integer(f: Compiler, value: Value, node: ast.AST, type_: t.Type | None = None) -> n.Expression:
    """An integer as a tree expression."""
    found = type_of(f, value, node)
    if not found.is_integer:
        raise f.fail(messages.NOT_AN_INTEGER, node, found=value)
    return expression(f, value, node, type_)


def constant_integer(f: Compiler, value: Value, node: ast.AST, what: str) -> int:
    """An integer that must be known now."""
    if isinstance(value, Static) and not isinstance(value.value, bool):
        try:
            return operator.index(value.value)
        except Exception:  # a class of the user may raise anything
            pass
    if isinstance(value, Runtime) and isinstance(value.expression, n.Constant) and value.type.is_integer:
        return int(value.expression.value)
    raise f.fail(messages.NOT_CONSTANT, node, what=what, found=value)


def truth(f: Compiler, value: Value, node: ast.AST) -> n.Expression:
    """Whether a number is not zero, or a pointer not null, as a bool."""
    if isinstance(value, Static) and not isinstance(value.value, np.generic):
        return n.Constant(t.BOOL, f.location(node), f.known_truth(value, node))
    found = expression(f, value, node)
    if isinstance(found.type, t.Vector):
        raise f.fail(messages.VECTOR_TRUTH, node, found=value)
    if isinstance(found.type, t.Pointer):
        return n.Binary(t.BOOL, found.location, n.BinaryOperator.NOT_EQUAL, found, n.Zero(found.type, found.location))
    return convert_scalar(found, t.BOOL)


def both(f: Compiler, first: Value, second: Value, node: ast.AST) -> Value:
    """Whether two tests hold; the second is made only if it is needed."""
    if isinstance(first, Static):
        return second if f.known_truth(first, node) else first
    if isinstance(second, Static) and f.known_truth(second, node):
        return first
    tests = [truth(f, value, node) for value in (first, second)]
    return Runtime(n.Logical(t.BOOL, f.location(node), True, *tests))


def negated(f: Compiler, value: Value, node: ast.AST) -> Value:
    """``not``."""
    if isinstance(value, Static) and not isinstance(value.value, np.generic):
        return Static(not f.known_truth(value, node))
    return Runtime(n.Unary(t.BOOL, f.location(node), n.UnaryOperator.NOT, truth(f, value, node)))


def cast(f: Compiler, value: Value, target: ElementType, node: ast.AST) -> Value:
    """``float32(x)``: an explicit conversion; integers wrap, floats to integers truncate."""
    if target.is_abstract:
        raise f.fail(ABSTRACT_VALUE, node, type=target, storage=target.storage)
    if isinstance(value, Static) and isinstance(value.value, str):
        with f.host_errors_at(node):  # float("inf"), int("7")
            value = Static(float(value.value) if target.scalar.is_float else int(value.value))
    if isinstance(value, Static) and value.is_number and isinstance(value.value, int) and target.scalar.is_integer:
        return Runtime(n.Constant(target.scalar, f.location(node), constants.wrap(int(value.value), target.scalar)))
    found = expression(f, value, node)
    if isinstance(found.type, t.Pointer | t.Vector):
        raise f.fail(messages.NOT_CONVERTIBLE, node, found=value, type=target)
    if isinstance(value, Static) and isinstance(value.value, float):
        return Runtime(expression(f, value, node, target.scalar))
    return Runtime(convert_scalar(found, target.scalar))


def common(f: Compiler, first: Value, second: Value, node: ast.AST) -> t.Type:
    """The type in which two values meet: equal types, or the usual arithmetic conversions."""
    types = [type_of(f, value, node) for value in (first, second)]
    if types[0] == types[1]:
        return types[0]
    if any(isinstance(type_, t.Pointer | t.Vector) for type_ in types):
        raise f.fail(messages.NOT_CONVERTIBLE, node, found=second, type=shown_type(types[0]))
    for value, other in ((first, types[1]), (second, types[0])):
        if isinstance(value, Static) and type(value.value) is float and other.is_float:
            return other
    return common_type(*types)
