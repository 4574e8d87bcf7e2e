"""Arithmetic and functions on whole matrices, element by element: ``a * s + b``, ``-a``, ``exp(a)``, ``max(a, b)``.

Matrices that meet have one type, which is the result's. A scalar stands for a matrix of equal elements.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from coopmat.runtime.element_types import BY_SCALAR
from coopmat.sycl import constraints
from coopmat.sycl.compiler import messages
from coopmat.sycl.compiler.context import Block, CallHandler, CallSite, Compiler, OperatorHandler
from coopmat.sycl.compiler.matrix_objects import is_same_type, matrix_value
from coopmat.sycl.compiler.numbers import expression, type_of
from coopmat.sycl.compiler.operators import COMPARISONS, binary
from coopmat.sycl.compiler.values import MATRICES, MatrixValue, Runtime, Static, Value
from coopmat.tree import nodes as n
from coopmat.tree import types as t
from coopmat.tree.effects import effect_of
from coopmat.tree.matrices import computable, converted, value_of

Compute = Callable[[list[Value]], Value]

_ARITHMETIC = {"+": n.BinaryOperator.ADD, "-": n.BinaryOperator.SUBTRACT, "*": n.BinaryOperator.MULTIPLY,
               "/": n.BinaryOperator.DIVIDE, "//": n.BinaryOperator.DIVIDE}
_HINT = "; use joint_matrix_apply(sg, m, lambda x: …) for other operations on each element"


def _one_type(f: Compiler, name: str, found: Sequence[MatrixValue], node: ast.AST) -> None:
    """Matrices that meet must have one type."""
    for other in found[1:]:
        if not is_same_type(found[0], other):
            raise f.fail(constraints.MATRICES_DIFFER, node, name=name, first=found[0].type, second=other.type)


# ------------------------------------------------------------------ operators


def _operator(f: Compiler, symbol: str, operands: list[Value], node: ast.expr | ast.stmt) -> Value:
    """An operator with at least one matrix."""
    given = [matrix_value(f, operand, node) for operand in operands]
    found = [one for one in given if one is not None]
    if symbol == "@":
        raise _no_operator(f, symbol, operands, node, "; joint_matrix_mad(sg, D, A, B, C) multiplies matrices")
    _one_type(f, f"'{symbol}'", found, node)
    type_ = found[0].type
    is_float = type_.tree.scalar.is_float
    if symbol in COMPARISONS or (symbol not in _ARITHMETIC and is_float and symbol != "**") \
            or (symbol == "//" and is_float) or (len(operands) == 1 and symbol == "~" and is_float):
        raise _no_operator(f, symbol, operands, node)
    if len(operands) == 2 and symbol in _ARITHMETIC:
        sides = [one.expression if one is not None else _filled(f, symbol, type_.tree, operands, place, node)
                 for place, one in enumerate(given)]
        return MatrixValue(type_, _computed(type_.tree, sides, lambda tree, values: n.Binary(
            tree, f.location(node), _ARITHMETIC[symbol], *values)))
    if symbol == "-":
        return MatrixValue(type_, _computed(type_.tree, [found[0].expression], lambda tree, values: n.Unary(
            tree, f.location(node), n.UnaryOperator.NEGATE, *values)))
    if symbol == "+":
        return found[0]
    if len(operands) == 1:
        raise _no_operator(f, symbol, operands, node)
    return of_elements(f, "operator", symbol, operands, node,
                       lambda values: binary(f, symbol, values[0], values[1], node))


def _no_operator(f: Compiler, symbol: str, operands: Sequence[Value], node: ast.AST,
                 hint: str = _HINT) -> Exception:
    if len(operands) == 1:
        return f.fail(messages.INVALID_OPERAND, node, operator=symbol, hint=hint, found=operands[0])
    return f.fail(messages.INVALID_OPERANDS, node, operator=symbol, hint=hint, left=operands[0], right=operands[1])


def _computed(type_: t.Matrix, operands: list[n.Expression],
              make: Callable[[t.Matrix, list[n.Expression]], n.Expression]) -> n.Expression:
    """An operation on matrices; on bfloat16 it computes in float and rounds."""
    wide = replace(type_, scalar=computable(type_.scalar))
    return converted(make(wide, [converted(operand, wide) for operand in operands]), type_)


def _filled(f: Compiler, symbol: str, type_: t.Matrix, operands: Sequence[Value], place: int,
            node: ast.AST) -> n.Expression:
    """A scalar operand as a matrix of equal elements."""
    scalar = operands[place]
    found = type_of(f, scalar, node)
    if not isinstance(found, t.Scalar) or (found.is_float and not type_.scalar.is_float):
        hint = "; a scalar is converted to the element type" if isinstance(found, t.Scalar) else ""
        raise f.fail(messages.INVALID_OPERANDS, node, operator=symbol, hint=hint, left=operands[0], right=operands[1])
    return n.MatrixFill(type_, f.location(node), expression(f, scalar, node, type_.scalar))


MATRIX_OPERATORS: dict[type[Value], OperatorHandler] = dict.fromkeys(MATRICES, _operator)

# ------------------------------------------------------------------ functions


def of_elements(f: Compiler, name: str, key: Any, given: Sequence[Value], node: ast.AST, compute: Compute, *,
                converts: bool = False) -> MatrixValue:
    """What a function of numbers gives for the elements of matrices: ``compute`` compiles it once, for elements in the
    place of matrices. ``key``: what tells it from others, beside its arguments. ``converts``: its result is converted
    to the elements' type, whatever it is."""
    values = [matrix_value(f, value, node) or f.loaded(value, node) for value in given]
    found = [value for value in values if isinstance(value, MatrixValue)]
    _one_type(f, name, found, node)
    type_ = found[0].type
    element = type_.tree.scalar
    others = [value for value in values if value is not found[0] and not isinstance(value, Static)]
    kinds = tuple(element if isinstance(value, MatrixValue) else type_of(f, value, node) if isinstance(value, Runtime)
                  else repr(value) for value in values)
    known = f.unit.element_functions
    if (key, element, kinds) not in known:
        known[key, element, kinds] = _function(f, name, element, values, found[0], node, compute, converts)
    passed = [value.expression for value in others if isinstance(value, MatrixValue | Runtime)]
    function = known[key, element, kinds]
    return MatrixValue(type_, n.MatrixApply(type_.tree, f.location(node), found[0].expression, function,
                                            tuple(passed)))


def _function(f: Compiler, name: str, element: t.Scalar, values: Sequence[Value], first: MatrixValue,
              node: ast.AST, compute: Compute, converts: bool) -> n.Function:
    """The function of an element and what else there is."""
    location = f.location(node)
    parameters = [n.Variable(one, t.UINT, location) for one in ("row", "column")]
    x = n.Variable("x", element, location)
    parameters.append(x)
    inside: list[Value] = []
    for value in values:
        if isinstance(value, Static):
            inside.append(value)
            continue
        is_matrix = isinstance(value, MatrixValue)
        variable = x if value is first else n.Variable(
            "y", element if is_matrix else type_of(f, value, node), location)
        if variable is not x:
            parameters.append(variable)
        inside.append(Runtime(value_of(variable, location)))
    f.blocks.append(Block(f.blocks[-1].path))
    try:
        result = f.loaded(compute(inside), node)
        given = type_of(f, result, node)
        if not converts and (given == t.BOOL or given.is_float != element.is_float):
            raise f.fail(constraints.NO_ELEMENT, node, name=name, element=BY_SCALAR[element], found=result)
        f.emit(n.Return(location, expression(f, result, node, element)))
    finally:
        body = f.blocks.pop().finish(location)
    function = n.Function(f.unit.unique(f"each_{name}"), element, parameters, location, body=body)
    assert effect_of(function) is None
    f.unit.functions.append(function)
    return function


def on_elements(handler: CallHandler) -> CallHandler:
    """A handler of a function on numbers that takes matrices in their place, too."""
    def handle(call: CallSite) -> Value:
        given = [*call.arguments, *call.named.values()]
        if not any(isinstance(value, MATRICES) for value in given):
            return handler(call)
        count = len(call.arguments)

        def compute(values: list[Value]) -> Value:
            named = dict(zip(call.named, values[count:], strict=True))
            return handler(replace(call, arguments=values[:count], named=named))

        return of_elements(call.f, call.name, (handler, call.name, count, tuple(call.named)), given, call.node, compute)

    return handle
