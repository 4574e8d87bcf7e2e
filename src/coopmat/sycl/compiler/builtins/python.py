"""Python's own functions in kernels: range, len, min, max, abs, zip, enumerate, …"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from coopmat.sycl.compiler import messages
from coopmat.sycl.compiler.calls import constant_argument
from coopmat.sycl.compiler.context import CallHandler, CallSite
from coopmat.sycl.compiler.elementwise import on_elements
from coopmat.sycl.compiler.loops import known_items
from coopmat.sycl.compiler.numbers import common, expression, type_of
from coopmat.sycl.compiler.operators import binary
from coopmat.sycl.compiler.values import MATRICES, LocalArray, Range, Runtime, Sequence, Static, Value, is_number
from coopmat.sycl.compiler.vectors import common_vector, converted, spread, vector_type
from coopmat.tree import nodes as n
from coopmat.tree import types as t
from coopmat.tree.conversions import make_convert, promoted_type


def _wrong_count(call: CallSite, expected: str) -> Exception:
    found = call.arguments[0] if len(call.arguments) == 1 else f"{len(call.arguments)} arguments"
    return call.f.fail(messages.BAD_ARGUMENTS, call.node, name=call.name, signature="()",
                       reason=f"it takes {expected}, found {found}")


def _no_names(call: CallSite) -> None:
    if call.named:
        raise call.f.fail(messages.BAD_ARGUMENTS, call.node, name=call.name, signature="()",
                          reason=f"it takes no argument called '{next(iter(call.named))}' in a kernel")


def _range(call: CallSite) -> Value:
    _no_names(call)
    given = call.arguments
    if not 1 <= len(given) <= 3:
        raise _wrong_count(call, "one to three numbers")
    for value, index in zip(given, range(3), strict=False):
        if not type_of(call.f, value, call.place(index)).is_integer:
            raise call.f.fail(messages.NOT_AN_INTEGER, call.place(index), found=value)
    start, stop = (Static(0), given[0]) if len(given) == 1 else given[:2]
    step = given[2] if len(given) == 3 else Static(1)
    if isinstance(step, Static) and step.value == 0:
        raise call.f.fail(messages.STEP_ZERO, call.node)
    if all(isinstance(part, Static) for part in (start, stop, step)):
        return Static(range(*(int(part.value) for part in (start, stop, step) if isinstance(part, Static))))
    return Range(start, stop, step)


def _len(call: CallSite) -> Value:
    _no_names(call)
    if len(call.arguments) != 1:
        raise _wrong_count(call, "a list or tuple")
    value = call.arguments[0]
    if isinstance(value, Sequence):
        return Static(len(value.items))
    type_ = vector_type(value)
    if type_ is not None:
        return Static(type_.count)
    if isinstance(value, Static) and hasattr(type(value.value), "__len__"):
        with call.f.host_errors_at(call.node):
            return Static(len(value.value))
    if isinstance(value, LocalArray) and value.shape[0] is not None:
        return Static(value.shape[0])
    raise call.wrong("obj", "a list, a tuple or a range of constants", value)


def _items(call: CallSite, index: int) -> list[Value]:
    """The items of an argument that is a list or something like one."""
    value = call.arguments[index]
    if isinstance(value, Runtime) and vector_type(value) is None:
        raise call.wrong("iterable", "a list, a tuple, a vector or a range of constants", value, call.place(index))
    return known_items(call.f, value, call.node)


def _zip(call: CallSite) -> Value:
    """Lists in step; of unequal length it is as long as the shortest, with strict=True it is an error."""
    columns = [_items(call, index) for index in range(len(call.arguments))]
    strict = call.named.get("strict")
    if isinstance(strict, Static) and strict.value and len({len(column) for column in columns}) > 1:
        raise call.f.fail(messages.BAD_ARGUMENTS, call.node, name="zip", signature="(…, strict=True)",
                          reason="the lists differ in length")
    return Sequence(tuple(Sequence(row, False) for row in zip(*columns, strict=False)), True)


def _enumerate(call: CallSite) -> Value:
    start = call.named.get("start", call.arguments[1] if len(call.arguments) > 1 else Static(0))
    first = constant_argument(call, start, "the start")
    if not call.arguments:
        raise _wrong_count(call, "a list")
    return Sequence(tuple(Sequence((Static(first + index), item), False)
                          for index, item in enumerate(_items(call, 0))), True)


def _reversed(call: CallSite) -> Value:
    _no_names(call)
    if len(call.arguments) != 1:
        raise _wrong_count(call, "a list")
    return Sequence(tuple(reversed(_items(call, 0))), True)


def _extreme(symbol: str) -> CallHandler:
    """min and max of several numbers, or of those in a list, in their common type; of vectors by component."""
    def handler(call: CallSite) -> Value:
        _no_names(call)
        given = call.arguments
        if len(given) == 1 and not _is_single(given[0]):
            given = [call.f.loaded(item, call.node) for item in _items(call, 0)]
        elif len(given) == 1:
            raise _wrong_count(call, "two or more numbers, or a list of them")
        if not given:
            raise _wrong_count(call, "two or more numbers, or a list of at least one")
        if len(call.arguments) == 1 and any(isinstance(value, MATRICES) for value in given):
            return call.f.unit.handlers.device_functions[symbol](replace(call, arguments=given))
        for index, value in enumerate(given):
            if not is_number(value):
                raise call.f.fail(messages.NOT_A_NUMBER, call.place(index), found=value)
        result = given[0]
        for value in given[1:]:
            result = _lesser(call, symbol, result, value)
        return result
    return handler


def _is_single(value: Value) -> bool:
    """Whether a value is a number, and no list of numbers."""
    return vector_type(value) is None and is_number(value)


def _lesser(call: CallSite, symbol: str, first: Value, second: Value) -> Value:
    """C's fmin for floating-point numbers, s_min and u_min for integers."""
    f, node = call.f, call.node
    if isinstance(first, Static) and isinstance(second, Static) and first.is_number and second.is_number:
        return Static((min if symbol == "min" else max)(first.value, second.value))
    if any(vector_type(value) is not None for value in (first, second)):
        return _lesser_of_vectors(call, symbol, first, second)
    type_ = common(f, first, second, node)
    if not isinstance(type_, t.Scalar):
        raise f.fail(messages.NOT_A_NUMBER, node, found=first)
    wide = t.FLOAT if type_ == t.BFLOAT16 else promoted_type(type_)
    assert isinstance(wide, t.Scalar)
    prefix = "f" if wide.is_float else "s_" if wide.is_signed else "u_"
    operands = tuple(expression(f, value, node, wide) for value in (first, second))
    found = n.Operation(wide, f.location(node), f"std.{prefix}{symbol}", operands)
    return Runtime(make_convert(found, type_) if type_ == t.BFLOAT16 else found)


def _lesser_of_vectors(call: CallSite, symbol: str, first: Value, second: Value) -> Value:
    """The same, component by component."""
    f, node = call.f, call.node
    type_ = common_vector(f, (first, second), node, call.name)
    wide = t.FLOAT if type_.scalar == t.BFLOAT16 else type_.scalar
    prefix = "f" if wide.is_float else "s_" if wide.is_signed else "u_"
    operands = tuple(converted(spread(f, value, type_, node), wide) for value in (first, second))
    found = n.Operation(operands[0].type, f.location(node), f"std.{prefix}{symbol}", operands)
    return Runtime(converted(found, type_.scalar))


def absolute(call: CallSite) -> Value:
    """``abs``: fabs, or the absolute value in the promoted integer type."""
    _no_names(call)
    if len(call.arguments) != 1:
        raise _wrong_count(call, "one number")
    f, node, value = call.f, call.node, call.arguments[0]
    if isinstance(value, Static) and value.is_number:
        return Static(abs(value.value))
    vector = vector_type(value)
    type_ = promoted_type(type_of(f, value, node)) if vector is None else vector.scalar
    if not isinstance(type_, t.Scalar):
        raise f.fail(messages.NOT_A_NUMBER, node, found=value)
    if type_.kind == "uint":
        return Runtime(expression(f, value, node, type_ if vector is None else vector))
    wide = t.FLOAT if type_ == t.BFLOAT16 else type_
    name = "std.fabs" if wide.is_float else "std.s_abs"
    if vector is not None:
        operand = converted(expression(f, value, node), wide)
        return Runtime(converted(n.Operation(operand.type, f.location(node), name, (operand,)), type_))
    operand = expression(f, value, node, wide)
    found = n.Operation(wide, f.location(node), name, (operand,))
    return Runtime(make_convert(found, type_) if wide != type_ else found)


def _sum(call: CallSite) -> Value:
    start = call.named.get("start")
    if len(call.arguments) + len(call.named) not in (1, 2) or call.named.keys() - {"start"} or not call.arguments:
        raise _wrong_count(call, "a list, and perhaps a start")
    result = call.arguments[1] if len(call.arguments) == 2 else start or Static(0)
    for item in _items(call, 0):
        result = binary(call.f, "+", result, call.f.loaded(item, call.node), call.node)
    return result


def _pow(call: CallSite) -> Value:
    _no_names(call)
    if len(call.arguments) != 2:
        raise _wrong_count(call, "two numbers")
    return binary(call.f, "**", call.arguments[0], call.arguments[1], call.node)


def _divmod(call: CallSite) -> Value:
    """``(a // b, a % b)``, as these are in a kernel."""
    _no_names(call)
    if len(call.arguments) != 2:
        raise _wrong_count(call, "two numbers")
    first, second = (call.f.held(value, call.node) for value in call.arguments)
    return Sequence(tuple(binary(call.f, symbol, first, second, call.node) for symbol in ("//", "%")), is_list=False)


def _sequence(is_list: bool) -> CallHandler:
    def handler(call: CallSite) -> Value:
        _no_names(call)
        if len(call.arguments) > 1:
            raise _wrong_count(call, "a list, a tuple or a range of constants")
        return Sequence(tuple(_items(call, 0)) if call.arguments else (), is_list)
    return handler


minimum, maximum = _extreme("min"), _extreme("max")

PYTHON_FUNCTIONS: dict[Any, CallHandler] = {
    range: _range, len: _len, zip: _zip, enumerate: _enumerate, reversed: _reversed, min: on_elements(minimum),
    max: on_elements(maximum), abs: on_elements(absolute), sum: _sum, pow: on_elements(_pow), divmod: _divmod,
    list: _sequence(True), tuple: _sequence(False),
}
