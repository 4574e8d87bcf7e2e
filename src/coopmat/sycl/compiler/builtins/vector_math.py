"""SYCL's functions on numbers where an argument is a vector: component by component; and functions of whole vectors."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any

from coopmat.runtime.element_types import boolean
from coopmat.sycl.compiler import messages
from coopmat.sycl.compiler.context import CallHandler, CallSite
from coopmat.sycl.compiler.numbers import both, expression, negated, truth
from coopmat.sycl.compiler.values import Runtime, Sequence, Static, Value, shown_type
from coopmat.sycl.compiler.vectors import as_integers, common_vector, converted, spread, vector_type
from coopmat.sycl.math_functions import Domain, MathFunction
from coopmat.tree import nodes as n
from coopmat.tree import types as t

MOST_COMPONENTS = 4  # of what geometric functions take


def has_vectors(values: Mapping[str, Value]) -> bool:
    """Whether one of the arguments is a vector."""
    return any(vector_type(value) is not None for value in values.values())


def evaluate(call: CallSite, function: MathFunction, bound: Mapping[str, Value]) -> Value:
    """The value of a function, component by component; numbers among the arguments stand for all components."""
    f, node = call.f, call.node
    numbers = {name: value for name, value in bound.items() if not name.endswith("exponent")}
    type_ = common_vector(f, list(numbers.values()), node, call.name)
    scalar = type_.scalar
    if not _takes(function.domain, scalar):
        raise refused(call, function, type_)
    wide = t.FLOAT if scalar == t.BFLOAT16 else scalar
    integers = t.Vector(t.INT, type_.count)
    operands = tuple(converted(spread(f, value, type_, node), wide) if name in numbers
                     else spread(f, value, integers, node) for name, value in bound.items())
    sign = "u" if wide.kind == "uint" else "s"
    name = function.operation.format(sign=sign, kind="f" if wide.is_float else f"{sign}_")
    location = f.location(node)
    if function.result is None:
        return Runtime(converted(n.Operation(operands[0].type, location, name, operands), scalar))
    found = n.Operation(t.Vector(function.result.scalar, type_.count), location, name, operands)
    return Runtime(as_integers(found, scalar) if function.result == boolean else found)


def _takes(domain: Domain, scalar: t.Scalar) -> bool:
    """Whether functions of a domain take components of a type."""
    match domain:
        case Domain.FLOATING:
            return scalar.is_float
        case Domain.REPRESENTATION:
            return scalar.is_float and scalar != t.BFLOAT16
        case Domain.SINGLE:
            return scalar == t.FLOAT
        case Domain.INTEGER:
            return scalar.is_integer
        case Domain.INTEGER_32:
            return scalar.is_integer and scalar.bits == 32
        case Domain.BITS:
            return scalar != t.BFLOAT16
    return True


def refused(call: CallSite, function: MathFunction, type_: t.Type) -> Exception:
    """A function has no form for vectors of a type."""
    return call.f.fail(messages.NO_FUNCTION_FOR, call.node, name=call.name, types=shown_type(type_),
                       expected=f"it takes {function.domain.value}")


# ------------------------------------------------------------------ functions of whole vectors


def geometric(call: CallSite, function: MathFunction, bound: Mapping[str, Value]) -> Value:
    """dot, cross, length, distance, normalize (SYCL 4.17.8); of two numbers dot is the product."""
    f, node, location = call.f, call.node, call.f.location(call.node)
    values = list(bound.values())
    if not has_vectors(bound):
        raise refused(call, function, expression(f, values[0], node).type)
    type_ = common_vector(f, values, node, call.name)
    allowed = (3, 4) if call.name == "cross" else range(2, MOST_COMPONENTS + 1)
    is_single = function.name.startswith("fast_")
    if type_.count not in allowed or not type_.scalar.is_float or (is_single and type_.scalar != t.FLOAT):
        raise refused(call, function, type_)
    wide = t.FLOAT if type_.scalar == t.BFLOAT16 else type_.scalar
    operands = tuple(converted(spread(f, value, type_, node), wide) for value in values)
    if function.result is None:
        return Runtime(converted(n.Operation(operands[0].type, location, function.operation, operands), type_.scalar))
    found = n.Operation(wide, location, function.operation, operands)
    return Runtime(n.Convert(type_.scalar, location, found) if wide != type_.scalar else found)


def select(call: CallSite, values: list[Value]) -> Value:
    """``select(a, b, c)`` of vectors: the component of b where the highest bit of c's is set, or b if the number c is
    true."""
    f, node, location = call.f, call.node, call.f.location(call.node)
    type_ = common_vector(f, values[:2], node, call.name)
    otherwise, chosen = (spread(f, value, type_, node) for value in values[:2])
    mask = vector_type(values[2])
    if mask is None:
        return Runtime(n.Select(type_, location, truth(f, values[2], node), chosen, otherwise))
    if mask.count != type_.count or not mask.scalar.is_integer or mask.scalar.bits != type_.scalar.bits:
        raise call.wrong("c", f"a vector of {type_.count} integers of {type_.scalar.bits} bits, or a number", values[2],
                         call.place(2))
    return Runtime(n.Select(type_, location, _are_true(expression(f, values[2], node)), chosen, otherwise))


def _are_true(found: n.Expression) -> n.Expression:
    """Whether the highest bit of each component is set."""
    assert isinstance(found.type, t.Vector)
    signed = t.Vector(t.Scalar("sint", found.type.scalar.bits), found.type.count)
    if found.type != signed:
        found = n.Bitcast(signed, found.location, found)
    zero = n.Zero(signed, found.location)
    return n.Binary(t.Vector(t.BOOL, signed.count), found.location, n.BinaryOperator.LESS, found, zero)


def _over(operation: str, is_all: bool) -> CallHandler:
    """``all`` and ``any``: of a vector of integers their highest bits, as SYCL has it; of a list its elements."""
    def handler(call: CallSite) -> Value:
        f, node = call.f, call.node
        if len(call.arguments) != 1 or call.named:
            raise f.fail(messages.BAD_ARGUMENTS, node, name=call.name, signature="(values)",
                         reason=f"it takes a list or a vector, found {len(call.arguments)} arguments")
        value = call.arguments[0]
        type_ = vector_type(value)
        if type_ is not None and type_.scalar.is_integer:
            test = _are_true(expression(f, value, node))
            return Runtime(n.Operation(t.BOOL, f.location(node), operation, (test,)))
        if not isinstance(value, Sequence):
            raise call.wrong("values", "a list, a tuple, or a vector of integers such as a comparison gives", value,
                             call.place(0))
        return _fold(call, [f.loaded(item, node) for item in value.items], is_all, node)
    return handler


def _fold(call: CallSite, tests: list[Value], is_all: bool, node: ast.AST) -> Value:
    """``a and b and …``, or ``or``."""
    result: Value = Static(True)
    for test in tests:
        result = both(call.f, result, test if is_all else negated(call.f, test, node), node)
    if isinstance(result, Static):
        return Static(call.f.known_truth(result, node) == is_all)
    return Runtime(truth(call.f, result, node)) if is_all else negated(call.f, result, node)


PYTHON_FUNCTIONS: dict[Any, CallHandler] = {all: _over("core.All", True), any: _over("core.Any", False)}
