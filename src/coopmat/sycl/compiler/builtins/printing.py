"""print and printf (sycl_ext_oneapi_experimental printf, OpenCL C 6.15.14)."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import Any

from coopmat.support.printf import FLOATS, INTEGERS, Specifier, parse
from coopmat.sycl import printing as stubs
from coopmat.sycl.compiler import messages, texts, vectors
from coopmat.sycl.compiler.context import CallHandler, CallSite, Compiler
from coopmat.sycl.compiler.numbers import expression, type_of
from coopmat.sycl.compiler.values import Nothing, Runtime, Static, Text, Value
from coopmat.tree import nodes as n
from coopmat.tree import types as t
from coopmat.tree.conversions import promoted_type


def print_operation(f: Compiler, text: Text, node: ast.AST) -> n.Operation:
    """The call of printf that shows a text."""
    literals = [part.replace("%", "%%") for part in text.literals]
    format = literals[0] + "".join(conversion + after
                                   for conversion, after in zip(text.conversions, literals[1:], strict=True))
    return _operation(f, format, [expression(f, item, node) for item in text.items], node)


def _operation(f: Compiler, format: str, arguments: list[n.Expression], node: ast.AST) -> n.Operation:
    return n.Operation(t.INT, f.location(node), "std.printf", (texts.string(f, format, node), *arguments))


def _print(call: CallSite) -> Value:
    """``print(a, b, sep=" ", end="\\n")``."""
    ends = {"sep": texts.literal(" "), "end": texts.literal("\n")}
    for name, value in call.named.items():
        is_none = isinstance(value, Static) and value.value is None
        text = texts.as_text(value)
        if name in ends and text is not None:
            ends[name] = text
        elif not is_none and name != "flush":
            reason = f"{name} must be a string, found {value}" if name in ends \
                else f"a kernel prints to standard output only, found '{name}'"
            raise call.f.fail(messages.BAD_ARGUMENTS, call.place_of(name), name="print",
                              signature='(…, sep=" ", end="\\n")', reason=reason)
    parts: list[Text] = []
    for index, value in enumerate(call.arguments):
        parts += [*([ends["sep"]] if index else []), texts.shown(call.f, value, call.place(index))]
    return Nothing(print_operation(call.f, texts.joined([*parts, ends["end"]]), call.node))


def printf(call: CallSite) -> Value:
    """``printf("%d %s\\n", x, "text")``: the length modifiers follow from the arguments' types."""
    f = call.f
    format, values = call.bind(stubs.printf.signature)["format"], call.arguments[1:]
    if not isinstance(format, Static) or not isinstance(format.value, str):
        raise call.wrong("format", "a string that is known when the kernel is compiled", format, call.place(0))
    try:
        octets = format.value.encode()
    except UnicodeEncodeError:
        octets = b""
    found, arguments, index = "", [], 0
    for part in parse(octets):
        if isinstance(part, bytes) or not part.takes_argument:
            found += part.decode() if isinstance(part, bytes) else "%%"
            continue
        text = octets[part.start:part.end].decode("utf-8", "replace")
        if part.fault is not None:
            raise f.fail(messages.CONVERSION, call.place(0), text=text, reason=part.fault.value)
        if index == len(values):
            raise f.fail(messages.CONVERSION, call.place(0), text=text, reason="there is no argument for it")
        conversion, argument = _argument(call, part, text, values[index], index + 1)
        found += conversion
        arguments.append(argument)
        index += 1
    if index < len(values):
        raise f.fail(messages.BAD_ARGUMENTS, call.place(index + 1), name="printf", signature="(format, …)",
                     reason=f"the format has {index} conversions, found {len(values)} arguments after it")
    if "\0" in format.value or not octets:
        found = format.value  # which is refused with its reason
    return Runtime(_operation(f, found, arguments, call.node))


def _argument(call: CallSite, part: Specifier, text: str, value: Value, index: int) -> tuple[str, n.Expression]:
    """A conversion with the length that its argument has, and the argument."""
    f, node = call.f, call.place(index)
    known = texts.as_text(value)
    if known is not None:
        if part.letter != "s" or (known.items and known.literals != ("", "")) or known.conversions not in ((), ("%s",)):
            raise _mismatch(call, text, value, index, "%s" if known.conversions in ((), ("%s",)) else "print")
        pointer = expression(f, known.items[0], node) if known.items else texts.string(f, known.literals[0], node)
        return text, pointer
    vector = vectors.vector_type(value)
    type_ = type_of(f, value, node) if vector is None else vector
    scalar = type_.element
    if isinstance(type_, t.Pointer) or not isinstance(scalar, t.Scalar):
        if part.letter != "p":
            raise _mismatch(call, text, value, index, "%p")
        return text, expression(f, value, node)
    if (part.count if part.is_vector else 1) != (1 if vector is None else vector.count) or part.letter in "sp" or (
            scalar.is_float and part.letter not in FLOATS):
        raise _mismatch(call, text, value, index, _fitting(part, vector, scalar))
    if vector is not None:
        found = expression(f, value, node)
        if (part.letter in FLOATS and not scalar.is_float) or scalar == t.BFLOAT16:
            found, scalar = vectors.converted(found, t.FLOAT), t.FLOAT
        return _spelled(part, scalar.bits), found
    if part.letter in FLOATS:
        return _spelled(part, None), texts.passed_float(f, expression(f, value, node))
    passed = promoted_type(scalar)
    bits = scalar.bits if part.letter in "xXo" and scalar != t.BOOL else passed.bits  # type: ignore[attr-defined]
    return _spelled(part, None if part.letter == "c" else bits), expression(f, value, node, passed)


def _spelled(part: Specifier, bits: int | None) -> str:
    """A specifier with the length modifier for so many bits; None for the letter's own."""
    length = "" if bits is None else next(name for name, width in part.lengths.items() if width == bits)
    vector = f"v{part.count}" if part.is_vector else ""
    precision = "" if part.precision is None else f".{part.precision}"
    return f"%{part.flags}{part.width or ''}{precision}{vector}{length}{part.letter}"


def _fitting(part: Specifier, vector: t.Vector | None, scalar: t.Scalar) -> str:
    """The conversion that would print a number or vector."""
    letter = "f" if scalar.is_float else "u" if scalar.kind == "uint" else "d"
    letter = part.letter if part.letter in (FLOATS if scalar.is_float else INTEGERS) else letter
    fitting = replace(part, letter=letter, count=1 if vector is None else vector.count)
    return _spelled(fitting, None) if fitting.letter in FLOATS or vector is None else _spelled(fitting, scalar.bits)


def _mismatch(call: CallSite, text: str, value: Value, index: int, fitting: str) -> Exception:
    reason = f"it does not print {value}; use {fitting}"
    return call.f.fail(messages.CONVERSION, call.place(index), text=text, reason=reason)


def _text(*, is_quoted: bool) -> CallHandler:
    """``str`` and ``repr``."""
    def handler(call: CallSite) -> Value:
        if len(call.arguments) != 1 or call.named:
            raise call.f.fail(messages.BAD_ARGUMENTS, call.node, name=call.name, signature="(object)",
                              reason=f"found {len(call.arguments) + len(call.named)} arguments")
        return texts.value_of(texts.shown(call.f, call.arguments[0], call.place(0), is_quoted=is_quoted))
    return handler


def _format(call: CallSite) -> Value:
    """``format(x, "6.3f")``."""
    spec = call.arguments[1] if len(call.arguments) == 2 else Static("")
    if not 1 <= len(call.arguments) <= 2 or call.named or not isinstance(spec, Static) or type(spec.value) is not str:
        raise call.f.fail(messages.BAD_ARGUMENTS, call.node, name="format", signature="(value, specification)",
                          reason="the specification must be a string that is known when the kernel is compiled")
    return texts.with_specification(call.f, call.arguments[0], spec.value, call.place(0))


PYTHON_FUNCTIONS: dict[Any, CallHandler] = {
    print: _print, str: _text(is_quoted=False), repr: _text(is_quoted=True), format: _format,
}
DEVICE_FUNCTIONS: dict[str, CallHandler] = {
    "printf": printf,
}
