"""Texts: strings that are known, f-strings whose values the kernel computes, and what print shows of each value.

A text that the kernel completes is kept as printf takes it: what stands between the values, and a conversion for each.
"""

from __future__ import annotations

import ast
import re
from dataclasses import replace
from typing import Any

from coopmat.support.limits import MOST_LISTED
from coopmat.support.printf import FLOATS, INTEGER_BITS, INTEGERS
from coopmat.sycl.compiler import messages, vectors
from coopmat.sycl.compiler.context import Compiler
from coopmat.sycl.compiler.numbers import convert_scalar, expression
from coopmat.sycl.compiler.values import Aggregate, Element, Runtime, Sequence, Static, Text, Value, owner_of
from coopmat.tree import nodes as n
from coopmat.tree import types as t
from coopmat.tree.conversions import make_convert, promoted_type

EMPTY = Text((), ("",), ())


def joined(parts: list[Text], between: str = "") -> Text:
    """Texts one after the other."""
    found = EMPTY
    for index, part in enumerate(parts):
        before = between if index else ""
        literals = (*found.literals[:-1], found.literals[-1] + before + part.literals[0], *part.literals[1:])
        found = Text((*found.items, *part.items), literals, (*found.conversions, *part.conversions))
    return found


def literal(text: str) -> Text:
    """A string as a text."""
    return Text((), (text,), ())


def as_text(value: Value) -> Text | None:
    """A string, known or not, as a text; None for anything else."""
    if isinstance(value, Static) and isinstance(value.value, str):
        return literal(value.value)
    return value if isinstance(value, Text) else None


def value_of(text: Text) -> Value:
    """A text as a value: a string, if all of it is known."""
    return text if text.items else Static(text.literals[0])


def single(conversion: str, item: Value) -> Text:
    """One value."""
    return Text((item,), ("", ""), (conversion,))


# ------------------------------------------------------------------ values as print shows them


def shown(f: Compiler, value: Value, node: ast.AST, *, is_quoted: bool = False) -> Text:
    """What ``str`` gives of a value, or ``repr``, which quotes strings."""
    value = f.loaded(value, node)
    match value:
        case Text():
            return value
        case Static(value=known):
            with f.host_errors_at(node):
                return literal(repr(known) if is_quoted else str(known))
        case Aggregate():
            return _aggregate(f, value, node)
        case Runtime():
            components = vectors.vector_type(value)
            if components is None:
                return _number(f, value, node)
            parts = [_number(f, part, node) for part in vectors.items(f, value, node) if isinstance(part, Runtime)]
            return joined([literal("("), joined(parts, ", "), literal(")")])
    raise f.fail(messages.NOT_PRINTABLE, node, found=value)


def _aggregate(f: Compiler, value: Aggregate, node: ast.AST) -> Text:
    items = [shown(f, item, node, is_quoted=True) for item in value.items]
    owner = owner_of(value)
    if owner is not None:
        fields = [joined([literal(f"{name}="), item]) for name, item in zip(value.names, items, strict=True)]
        return joined([literal(f"{owner.__name__}("), joined(fields, ", "), literal(")")])
    opening, closing = "[]" if isinstance(value, Sequence) and value.is_list else "()"
    if opening == "(" and len(items) == 1:
        closing = ",)"
    return joined([literal(opening), joined(items, ", "), literal(closing)])


def _number(f: Compiler, value: Runtime, node: ast.AST) -> Text:
    """A number, with six digits if it is none of the integers; True or False; an address."""
    if value.type == t.BOOL:
        return _choice(f, value.expression, "True", "False", node)
    if isinstance(value.type, t.Pointer):
        return single("%p", value)
    return single(*_specified(f, value, "", "g" if value.type.is_float else "d", node))


def _choice(f: Compiler, condition: n.Expression, if_true: str, if_false: str, node: ast.AST) -> Text:
    sides = [string(f, text, node) for text in (if_true, if_false)]
    return single("%s", Runtime(n.Conditional(sides[0].type, f.location(node), condition, *sides)))


def chosen(f: Compiler, condition: n.Expression, sides: tuple[Value, Value], node: ast.AST) -> Value | None:
    """``"a" if c else "b"``; None if the sides are no strings."""
    known = [side.value for side in sides if isinstance(side, Static) and isinstance(side.value, str)]
    return _choice(f, condition, known[0], known[1], node) if len(known) == len(sides) else None


def string(f: Compiler, text: str, node: ast.AST,
           space: t.AddressSpace = t.AddressSpace.CONSTANT) -> n.Expression:
    """A pointer to a string in constant (or global) memory, whose end is a zero; equal ones are there once."""
    location = f.location(node)
    try:
        octets = text.encode()
    except UnicodeEncodeError:
        octets = b"\0"
    if b"\0" in octets:
        raise f.fail(messages.NOT_A_STRING, node, found=ascii(text))
    if len(octets) >= MOST_LISTED:
        raise f.fail(messages.TEXT_TOO_LONG, node, length=len(octets), limit=MOST_LISTED - 1)
    if (text, space) not in f.unit.strings:
        type_ = t.Array(t.CHAR, len(octets) + 1)
        characters = tuple(n.Constant(t.CHAR, location, octet - 256 if octet > 127 else octet)
                           for octet in octets + b"\0")
        variable = n.Variable(f".string{len(f.unit.globals)}", type_, location, space, const=True,
                              initializer=n.Aggregate(type_, location, characters))
        f.unit.strings[text, space] = variable
        f.unit.globals.append(variable)
    variable = f.unit.strings[text, space]
    place = n.ElementPlace(t.CHAR, location, n.VariablePlace(variable.type, location, variable),
                           n.Constant(t.INT, location, 0))
    return n.AddressOf(t.Pointer(t.CHAR, space, const=True), location, place)


# ------------------------------------------------------------------ f-strings


def formatted_string(f: Compiler, node: ast.JoinedStr) -> Value:
    """``f"…{x:6.3f}…"``."""
    parts: list[Text] = []
    for part in node.values:
        if isinstance(part, ast.FormattedValue):
            parts.append(_formatted(f, part, node))
        else:
            assert isinstance(part, ast.Constant)
            parts.append(literal(str(part.value)))
    return value_of(joined(parts))


def _formatted(f: Compiler, node: ast.FormattedValue, whole: ast.JoinedStr) -> Text:
    value = f.read(node.value)
    specification = "" if node.format_spec is None else f.read(node.format_spec)
    spec = specification if isinstance(specification, str) else getattr(specification, "value", None)
    if not isinstance(spec, str):
        raise f.fail(messages.NOT_CONSTANT, whole, what="a format specification", found=specification)
    if node.conversion != -1:
        value = value_of(shown(f, value, node.value, is_quoted=node.conversion in (ord("r"), ord("a"))))
        if node.conversion == ord("a") and isinstance(value, Static):
            value = Static(value.value.encode("ascii", "backslashreplace").decode())
    text = as_text(with_specification(f, value, spec, node.value))
    assert text is not None
    return text


_SPEC = re.compile(r"(?:(?P<fill>.)?(?P<align>[<>=^]))?(?P<sign>[-+ ])?(?P<z>z)?(?P<alt>#)?(?P<zero>0)?"
                   r"(?P<width>\d+)?(?P<group>[_,])?(?:\.(?P<precision>\d+))?(?P<type>.)?", re.DOTALL)


def with_specification(f: Compiler, value: Value, spec: str, node: ast.AST) -> Value:
    """``format(value, spec)``."""
    if isinstance(value, Static):
        with f.host_errors_at(node):
            return Static(format(value.value, spec))
    return value_of(_with_spec(f, value, spec, node) if spec else shown(f, value, node))


def _with_spec(f: Compiler, value: Value, spec: str, node: ast.AST) -> Text:
    """A value with a specification, which the conversions of printf must have, too."""
    found = _SPEC.fullmatch(spec)
    is_vector = vectors.vector_type(value) is not None
    if isinstance(value, Runtime) and is_vector:
        parts = [_with_spec(f, part, spec, node) for part in vectors.items(f, value, node)]
        return joined([literal("("), joined(parts, ", "), literal(")")])
    if isinstance(value, Text) and value.literals == ("", "") and value.conversions == ("%s",):
        if found is not None and (found["type"] or "s") == "s" and _is_plain(found, sign=False):
            flags = "-" if found["align"] != ">" and found["width"] else ""
            return single(f"%{flags}{found['width'] or ''}{_precision(found)}s", value.items[0])
    elif isinstance(value, Runtime) and isinstance(value.type, t.Scalar) and found is not None:
        text = _number_with_spec(f, value, found, node)
        if text is not None:
            return text
    raise f.fail(messages.FORMAT_SPECIFICATION, node, spec=spec, found=value)


def _is_plain(found: re.Match[str], *, sign: bool = True) -> bool:
    """Whether a specification has nothing that printf lacks."""
    fill_is_space = found["fill"] in (None, " ") and not (found["zero"] and found["align"] in ("<", ">"))
    signed = found["sign"] or found["alt"] or found["zero"]
    return fill_is_space and found["align"] in (None, "<", ">") and not found["z"] and not found["group"] and (
        sign or not signed)


def _precision(found: re.Match[str]) -> str:
    return "" if found["precision"] is None else f".{found['precision']}"


def _number_with_spec(f: Compiler, value: Runtime, found: re.Match[str], node: ast.AST) -> Text | None:
    """A number; None if printf has no such conversion."""
    if found["fill"] == "0" and found["align"] == "=":  # the same as the flag 0
        is_zero_filled, align, plain = True, None, not found["z"] and not found["group"]
    else:
        is_zero_filled, align, plain = found["zero"] is not None, found["align"], _is_plain(found)
    assert isinstance(value.type, t.Scalar)
    letter = found["type"] or ("g" if value.type.is_float else "d")
    is_integral = not value.type.is_float
    if not plain or letter not in (*INTEGERS, *FLOATS, "c") or letter in "iu" or (letter in INTEGERS + "c" and (
            not is_integral or found["precision"] is not None)):
        return None
    flags = ("-" if align == "<" else "") + (found["sign"] or "").replace("-", "")
    width = found["width"] or ""
    prefix = ""
    if found["alt"] and letter in "xXo":
        if width and not is_zero_filled and letter == "o":
            return None
        if not width or is_zero_filled:  # Python's prefix, which zero has, too
            prefix = f"0{letter}"
            width = str(max(0, int(width) - len(prefix))) if width else ""
        else:
            flags += "#"
    elif found["alt"]:
        flags += "#"
    if (letter in "xXoc" and found["sign"] in ("+", " ")) or (letter == "c" and (is_zero_filled or found["alt"])):
        return None
    text = f"{flags}{'0' if is_zero_filled else ''}{width}{_precision(found)}"
    conversion, item = _specified(f, value, text, letter, node)
    return joined([literal(prefix), single(conversion, item)])


def _specified(f: Compiler, value: Runtime, text: str, letter: str, node: ast.AST) -> tuple[str, Value]:
    """A conversion of printf for a number, and the number as it is passed."""
    type_ = value.type
    assert isinstance(type_, t.Scalar)
    if letter in FLOATS:
        return f"%{text}{letter}", Runtime(passed_float(f, expression(f, value, node)))
    if letter == "d" and type_.kind == "uint":
        if "+" in text or " " in text:  # flags of signed numbers
            type_ = t.LONG
        else:
            letter = "u"
    passed = promoted_type(type_)
    assert isinstance(passed, t.Scalar)
    bits = passed.bits if letter in "du" or type_ == t.BOOL else type_.bits
    length = "" if letter == "c" else next(name for name, width in INTEGER_BITS.items() if width == bits)
    return f"%{text}{length}{letter}", Runtime(expression(f, value, node, passed))


def passed_float(f: Compiler, found: n.Expression) -> n.Expression:
    """A number as printf takes it for a floating-point conversion: a double where the device has that."""
    wide = t.DOUBLE if f.unit.has_double else t.FLOAT
    return make_convert(convert_scalar(found, t.FLOAT) if found.type == t.BFLOAT16 else found, wide)


def holding(f: Compiler, text: Text, node: ast.AST) -> Text:
    """A text with its values as they are now."""
    return replace(text, items=tuple(f.held(item, node) if isinstance(item, Runtime | Element) else item
                                     for item in text.items))


def concatenated(left: Value, right: Value) -> Any:
    """``"a" + f"{b}"``; None if one of them is no string."""
    texts = as_text(left), as_text(right)
    return None if texts[0] is None or texts[1] is None else value_of(joined([texts[0], texts[1]]))
