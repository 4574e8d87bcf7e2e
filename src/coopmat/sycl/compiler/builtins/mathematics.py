"""Functions on numbers: SYCL's (:mod:`coopmat.sycl.math_functions`), those of Python's math, and numpy's ufuncs."""

from __future__ import annotations

import ast
import builtins
import math
from collections.abc import Iterable
from dataclasses import replace
from functools import reduce
from typing import Any

import numpy as np

from coopmat.runtime.element_types import int32
from coopmat.sycl.compiler import messages
from coopmat.sycl.compiler.builtins import vector_math
from coopmat.sycl.compiler.builtins.python import absolute, maximum, minimum
from coopmat.sycl.compiler.context import CallHandler, CallSite
from coopmat.sycl.compiler.elementwise import on_elements
from coopmat.sycl.compiler.numbers import cast, common, expression, integer, number_type, truth, type_of
from coopmat.sycl.compiler.operators import binary
from coopmat.sycl.compiler.values import Runtime, Static, Value, shown_type
from coopmat.sycl.math_functions import FUNCTIONS, Domain, MathFunction
from coopmat.sycl.math_functions import select as select_stub
from coopmat.tree import constants
from coopmat.tree import nodes as n
from coopmat.tree import types as t
from coopmat.tree.conversions import common_type, make_convert, promoted_type

# ------------------------------------------------------------------ arguments and their type


def number(call: CallSite, parameter: str, value: Value, node: ast.AST) -> Value:
    """An argument that is a number."""
    value = call.f.loaded(value, node)
    known = isinstance(value, Static) and (value.is_number or isinstance(value.value, np.generic))
    if not known and not (isinstance(value, Runtime) and isinstance(value.type, t.Scalar)):
        raise call.wrong(parameter, "a number", value, node)
    return value


def _no_function(call: CallSite, values: Iterable[Value], function: MathFunction) -> Exception:
    types = ", ".join(shown_type(type_of(call.f, value, call.node)) for value in values)
    return call.f.fail(messages.NO_FUNCTION_FOR, call.node, name=call.name, types=types,
                       expected=f"it takes {function.domain.value}")


def _is_constant(value: Value) -> bool:
    """Whether this is a number that takes its type from the others."""
    return isinstance(value, Static) and value.is_number


def _floating_type(call: CallSite, values: list[Value]) -> t.Scalar:
    """The common floating type; float32 if there are integers and constants only."""
    types = [type_of(call.f, value, call.node) for value in values if not _is_constant(value)]
    floats = [type_ for type_ in types if isinstance(type_, t.Scalar) and type_.is_float]
    return reduce(common_type, floats) if floats else t.FLOAT


def _integer_type(call: CallSite, values: list[Value], function: MathFunction) -> t.Scalar:
    """The arguments' own type, without promotion, where they agree; constants take it if they fit."""
    types = [type_of(call.f, value, call.node) for value in values if not _is_constant(value)]
    numbers = [value.value for value in values if isinstance(value, Static) and value.is_number]
    if any(type_.is_float for type_ in types) or any(isinstance(given, float) for given in numbers):
        raise _no_function(call, values, function)
    scalars = [type_ for type_ in types if isinstance(type_, t.Scalar)]
    result = scalars[0] if scalars and all(type_ == scalars[0] for type_ in scalars) else None
    if result is None or result == t.BOOL:
        result = reduce(common_type, scalars) if len(scalars) > 1 else t.INT
    for given in numbers:
        if constants.wrap(int(given), result) != given:
            wide = number_type(given)
            if wide is None:
                raise call.f.fail(messages.TOO_LARGE, call.node, value=given)
            result = common_type(result, wide)
    if function.domain is Domain.INTEGER_32:
        if result.bits > 32:
            raise _no_function(call, values, function)
        return result if result.bits == 32 else t.INT
    return result


_REFUSED = {Domain.SINGLE: t.DOUBLE, Domain.REPRESENTATION: t.BFLOAT16, Domain.BITS: t.BFLOAT16}


def _type(call: CallSite, values: list[Value], function: MathFunction) -> t.Scalar:
    """The type in which a function computes."""
    if function.domain in (Domain.INTEGER, Domain.INTEGER_32):
        return _integer_type(call, values, function)
    type_ = _floating_type(call, values)
    if type_ == _REFUSED.get(function.domain):
        raise _no_function(call, values, function)
    if function.domain is Domain.SINGLE:
        return t.FLOAT
    if function.domain in (Domain.NUMBER, Domain.BITS) and not any(
            isinstance(value.value, float) if isinstance(value, Static) and value.is_number
            else type_of(call.f, value, call.node).is_float for value in values):
        return _integer_type(call, values, function)
    return type_


# ------------------------------------------------------------------ SYCL's functions


def compute(call: CallSite) -> Value:
    """A call of one of SYCL's functions on numbers."""
    return evaluate(call, FUNCTIONS[call.name])


def evaluate(call: CallSite, function: MathFunction) -> Value:
    """The value of a function; messages call it what the user does."""
    bound = call.bind(function.signature)
    if function.domain is Domain.GEOMETRIC:
        return vector_math.geometric(call, function, bound)
    if vector_math.has_vectors(bound):
        return vector_math.evaluate(call, function, bound)
    nodes = {name: _place(call, name, index) for index, name in enumerate(function.signature.parameters)}
    values = {name: number(call, name, value, nodes[name]) for name, value in bound.items()}
    exponents = {name: _exponent(call, value, nodes[name]) for name, value in values.items()
                 if name.endswith("exponent")}
    folded = _folded(function, list(values.values()))
    if folded is not None:
        return folded
    type_ = _type(call, [value for name, value in values.items() if name not in exponents], function)
    wide = t.FLOAT if type_ == t.BFLOAT16 else type_
    operands = tuple(exponents[name] if name in exponents
                     else make_convert(expression(call.f, value, nodes[name], type_), wide)
                     for name, value in values.items())
    sign = "u" if wide.kind == "uint" else "s"
    operation = function.operation.format(sign=sign, kind="f" if wide.is_float else f"{sign}_")
    result = wide if function.result is None else function.result.scalar
    found = n.Operation(result, call.f.location(call.node), operation, operands)
    return Runtime(make_convert(found, type_) if function.result is None else found)


def _exponent(call: CallSite, value: Value, node: ast.AST) -> n.Expression:
    """An argument that is an int32."""
    if isinstance(value, Static) and type(value.value) is int and constants.wrap(value.value, t.INT) != value.value:
        raise call.f.fail(messages.OUT_OF_RANGE, node, value=value.value, type=int32)
    return integer(call.f, value, node, t.INT)


def _place(call: CallSite, name: str, index: int) -> ast.AST:
    return call.place(index) if index < len(call.arguments) else call.place_of(name)


def _folded(function: MathFunction, values: list[Value]) -> Value | None:
    """The value of a floating-point function of constants, which is a constant, too: computed in float64, it takes
    its type from what it meets.

    None if it is not known, or the host has no such function."""
    if function.domain not in (Domain.FLOATING, Domain.SINGLE) or function.host is None \
            or not all(_is_constant(value) for value in values):
        return None
    numbers = [value.value for value in values if isinstance(value, Static)]
    given = [value if name.endswith("exponent") else float(value)
             for name, value in zip(function.signature.parameters, numbers, strict=True)]
    return Static(np.asarray(function(*given)).item())


def select(call: CallSite) -> Value:
    """``b`` if ``c`` else ``a``; all are evaluated."""
    bound = call.bind(select_stub.signature)
    f, node = call.f, call.node
    if vector_math.has_vectors(bound):
        return vector_math.select(call, list(bound.values()))
    values = [number(call, name, value, _place(call, name, index)) for index, (name, value) in enumerate(bound.items())]
    type_ = common(f, values[0], values[1], node)
    otherwise, chosen = (expression(f, value, node, type_) for value in values[:2])
    return Runtime(n.Select(type_, f.location(node), truth(f, values[2], node), chosen, otherwise))


# ------------------------------------------------------------------ Python's math and numpy


def _named(name: str) -> CallHandler:
    return lambda call: evaluate(call, FUNCTIONS[name])


def _whole(name: str) -> CallHandler:
    """A rounding function of Python, whose result is an int: int32 here, as ``int(x)`` is."""
    def handler(call: CallSite) -> Value:
        if len(call.arguments) == 1 and not call.named:
            value = number(call, "x", call.arguments[0], call.place(0))
            if isinstance(value, Static) and value.is_number:
                with call.f.host_errors_at(call.place(0)):
                    return Static(_WHOLE[name](value.value))
            if not type_of(call.f, value, call.node).is_float:
                return Runtime(expression(call.f, value, call.node, promoted_type(type_of(call.f, value, call.node))))
        return cast(call.f, evaluate(call, FUNCTIONS[name]), int32, call.node)
    return handler


_WHOLE: dict[str, Any] = {"floor": math.floor, "ceil": math.ceil, "trunc": math.trunc, "rint": builtins.round}


def _logarithm(call: CallSite) -> Value:
    """``math.log(x)`` and ``math.log(x, base)``."""
    if len(call.arguments) != 2 or call.named:
        return evaluate(call, FUNCTIONS["log"])
    parts = [evaluate(replace(call, arguments=[value]), FUNCTIONS["log"]) for value in call.arguments]
    return binary(call.f, "/", parts[0], parts[1], call.node)


def _propagating(extreme: CallHandler) -> CallHandler:
    """np.minimum and np.maximum: a NaN if there is one."""
    def handler(call: CallSite) -> Value:
        for index, value in enumerate(call.arguments):
            number(call, f"x{index + 1}", value, call.place(index))
        found = extreme(call)
        if not isinstance(found, Runtime) or not found.type.is_float or len(call.arguments) != 2:
            return found
        f, node = call.f, call.node
        held: list[Value] = [f.temporary(expression(f, value, node, found.type), node) for value in call.arguments]
        inside = replace(call, arguments=held)
        is_nan = evaluate(inside, FUNCTIONS["isunordered"])
        return select(replace(inside, arguments=[extreme(inside), binary(f, "+", held[0], held[1], node), is_nan]))
    return handler


_OF_MATH = ("acos acosh asin asinh atan atan2 atanh cbrt copysign cos cosh degrees erf erfc exp exp2 expm1 fabs fma "
            "fmod hypot isfinite isinf isnan ldexp lgamma log10 log1p log2 nextafter radians remainder sin sinh sqrt "
            "tan tanh")
_OF_NUMPY = ("arccos:acos arccosh:acosh arcsin:asin arcsinh:asinh arctan:atan arctan2:atan2 arctanh:atanh cbrt ceil "
             "copysign cos cosh degrees deg2rad:radians rad2deg:degrees exp exp2 expm1 fabs floor fmax fmin fmod hypot "
             "isfinite isinf isnan ldexp log log10 log1p log2 nextafter radians rint signbit sin sinh sqrt tan tanh "
             "trunc")

DEVICE_FUNCTIONS: dict[str, CallHandler] = {name: on_elements(handler) for name, handler in {
    **dict.fromkeys(FUNCTIONS, compute), "select": select, "abs": absolute, "max": maximum, "min": minimum,
}.items()}
PYTHON_FUNCTIONS: dict[Any, CallHandler] = {function: on_elements(handler) for function, handler in {
    **{getattr(math, name): _named(name) for name in _OF_MATH.split() if hasattr(math, name)},
    math.floor: _whole("floor"), math.ceil: _whole("ceil"), math.trunc: _whole("trunc"),
    builtins.round: _whole("rint"), math.log: _logarithm, math.pow: _named("pow"), math.gamma: _named("tgamma"),
    np.minimum: _propagating(minimum), np.maximum: _propagating(maximum),
    **{getattr(np, name.partition(":")[0]): _named(name.rpartition(":")[2]) for name in _OF_NUMPY.split()},
    np.absolute: absolute, np.power: _named("pow"),
}.items()}
"""The functions of math and numpy, and round; of matrices, too."""
