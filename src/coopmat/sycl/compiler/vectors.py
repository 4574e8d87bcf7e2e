"""Vectors: making them, their components, arithmetic on them, and functions of several components.

A number that meets a vector becomes one, of the vector's element type; two vectors have one type. There are no
promotions: uchar4 + uchar4 is uchar4 (SYCL 4.14.2).
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from coopmat.sycl.compiler import messages
from coopmat.sycl.compiler.context import Compiler
from coopmat.sycl.compiler.numbers import cast, constant_integer, expression, integer, type_of
from coopmat.sycl.compiler.values import Element, Runtime, Static, Value, is_number, shown_type
from coopmat.sycl.compiler.values import Sequence as ValueSequence
from coopmat.sycl.vectors import VectorType, components
from coopmat.tree import nodes as n
from coopmat.tree import types as t
from coopmat.tree.conversions import make_convert

METHODS = ("load", "store", "convert", "as_", "size", "get_count")


def vector_type(value: Value) -> t.Vector | None:
    """The type of a vector; None for anything else."""
    found = value.type if isinstance(value, Runtime | Element) else None
    return found if isinstance(found, t.Vector) else None


def common_vector(f: Compiler, values: Sequence[Value], node: ast.AST, what: str) -> t.Vector:
    """The one type of the vectors among some values."""
    found = [type_ for value in values if (type_ := vector_type(value)) is not None]
    for type_ in found:
        if type_ != found[0]:
            raise f.fail(messages.VECTORS_DIFFER, node, what=what, left=shown_type(found[0]), right=shown_type(type_))
    return found[0]


def spread(f: Compiler, value: Value, type_: t.Vector, node: ast.AST) -> n.Expression:
    """A vector as it is, or a number in all components."""
    if vector_type(value) is not None:
        return expression(f, value, node, type_)
    found = type_of(f, value, node)
    if isinstance(found, t.Scalar) and found.is_float and not type_.scalar.is_float:
        raise f.fail(messages.NOT_CONVERTIBLE, node, found=value, type=f"{shown_type(type_.scalar)}, which "
                     f"{shown_type(type_)} holds; convert it, or the vector")
    return n.Splat(type_, f.location(node), expression(f, value, node, type_.scalar))


def converted(found: n.Expression, scalar: t.Scalar) -> n.Expression:
    """A vector with components of another type."""
    assert isinstance(found.type, t.Vector)
    source, target = found.type, t.Vector(scalar, found.type.count)
    if t.BFLOAT16 in (source.scalar, scalar) and t.FLOAT not in (source.scalar, scalar):
        found = make_convert(found, t.Vector(t.FLOAT, source.count))
    return make_convert(found, target)


# ------------------------------------------------------------------ making


def made(f: Compiler, type_: VectorType, values: Sequence[Value], node: ast.AST) -> Value:
    """``float4(x)``, ``float4(a, b, 1, 0)``, ``float4(v)``: of numbers, vectors, lists and tuples."""
    parts: list[Value] = []
    for value in values:
        parts += value.items if isinstance(value, ValueSequence) else [value]
    parts = [f.loaded(part, node) for part in parts]
    counts = [1 if (found := vector_type(part)) is None else found.count for part in parts]
    bad = next((part for part in parts if not is_number(part)), None)
    if bad is not None or (parts and (sum(counts) != type_.count and counts != [1])):
        raise f.fail(messages.BAD_ARGUMENTS, node, name=type_, signature="(…)",
                     reason=f"it takes {type_.count} numbers in all, or one for all components; found "
                            f"{bad if bad is not None else sum(counts)}")
    location, tree = f.location(node), type_.type
    if not parts:
        return Runtime(n.Zero(tree, location))
    items = [converted(expression(f, part, node), tree.scalar) if vector_type(part) is not None
             else expression(f, cast(f, part, type_.element, node), node) for part in parts]
    if counts == [1]:
        return Runtime(n.Splat(tree, location, items[0]))
    return Runtime(items[0] if len(items) == 1 else n.VectorOf(tree, location, tuple(items)))


# ------------------------------------------------------------------ components


def part(f: Compiler, value: Runtime | Element, name: str, node: ast.AST) -> Value | None:
    """``v.x``, ``v.xyz``: a place if the vector is one; None if the name means no components."""
    type_ = vector_type(value)
    found = None if type_ is None else components(name, type_.count)
    return None if found is None else _chosen(f, value, found, node)


def _chosen(f: Compiler, value: Runtime | Element, chosen: tuple[int, ...], node: ast.AST) -> Value:
    type_, location = vector_type(value), f.location(node)
    assert type_ is not None
    result = type_.scalar if len(chosen) == 1 else t.Vector(type_.scalar, len(chosen))
    if isinstance(value, Element) and len(set(chosen)) == len(chosen):
        base = value.place
        if isinstance(base, n.SwizzlePlace):
            inside = base.components
            base, chosen = base.base, tuple(inside[index] for index in chosen)
        if len(chosen) == 1:
            return Element(n.ElementPlace(result, location, base, n.Constant(t.INT, location, chosen[0])))
        return Element(n.SwizzlePlace(result, location, base, chosen))
    held = f.loaded(value, node)
    assert isinstance(held, Runtime)
    return Runtime(n.Swizzle(result, location, held.expression, chosen))


def item(f: Compiler, value: Runtime | Element, index: Value, node: ast.Subscript) -> Value:
    """``v[i]``."""
    type_, location = vector_type(value), f.location(node)
    assert type_ is not None
    if isinstance(index, Static):
        number = constant_integer(f, index, node.slice, "the index of a vector")
        if not -type_.count <= number < type_.count:
            raise f.fail(messages.INDEX_OUT_OF_RANGE, node.slice, index=number, found=f"a {shown_type(type_)}")
        return _chosen(f, value, (number % type_.count,), node)
    if isinstance(value, Element) and isinstance(value.place, n.SwizzlePlace):
        value = Runtime(n.Load(type_, location, value.place))
    found = integer(f, index, node.slice)
    if isinstance(value, Element):
        return Element(n.ElementPlace(type_.scalar, location, value.place, found))
    return Runtime(n.ExtractComponent(type_.scalar, location, value.expression, found))


def items(f: Compiler, value: Runtime, node: ast.AST) -> list[Value]:
    """The components, in order."""
    type_ = vector_type(value)
    assert type_ is not None
    held = f.held(value, node)
    assert isinstance(held, Runtime)
    return [_chosen(f, held, (index,), node) for index in range(type_.count)]


# ------------------------------------------------------------------ operators


COMPARISONS = {"==", "!=", "<", "<=", ">", ">="}
_INTEGER_ONLY = {"&", "|", "^", "<<", ">>", "%", "//"}


def binary(f: Compiler, symbol: str, left: Value, right: Value, node: ast.AST) -> Value:
    """An operator component by component; a comparison gives integers of the same width, -1 where it holds."""
    type_ = common_vector(f, (left, right), node, f"'{symbol}'")
    scalar, location = type_.scalar, f.location(node)
    if symbol == "@" or (scalar.is_float and symbol in _INTEGER_ONLY):
        hint = "; it is for integers" if symbol != "@" else "; dot(a, b) multiplies vectors"
        raise f.fail(messages.INVALID_OPERANDS, node, operator=symbol, left=left, right=right, hint=hint)
    if symbol == "**":
        return _power(f, left, right, type_, node)
    operands = [spread(f, value, type_, node) for value in (left, right)]
    operator = n.BinaryOperator({"//": "/"}.get(symbol, symbol))
    if scalar == t.BFLOAT16:
        operands = [converted(operand, t.FLOAT) for operand in operands]
    if symbol in COMPARISONS:
        return Runtime(as_integers(n.Binary(t.Vector(t.BOOL, type_.count), location, operator, *operands), scalar))
    return Runtime(converted(n.Binary(operands[0].type, location, operator, *operands), scalar))


def as_integers(test: n.Expression, scalar: t.Scalar) -> n.Expression:
    """A vector of bool as SYCL has it: integers as wide as what was tested, -1 for true."""
    assert isinstance(test.type, t.Vector)
    return n.Convert(t.Vector(t.Scalar("sint", max(scalar.bits, 8)), test.type.count), test.location, test)


def _power(f: Compiler, base: Value, exponent: Value, type_: t.Vector, node: ast.AST) -> Value:
    """A power with a small constant by multiplication, else pow."""
    count = exponent.value if isinstance(exponent, Static) and type(exponent.value) is int else None
    if count is not None and 1 <= count <= 16:
        held = f.temporary(spread(f, base, type_, node), node)
        result: Value = held
        for _ in range(count - 1):
            result = binary(f, "*", result, held, node)
        return result
    if not type_.scalar.is_float or type_.scalar == t.BFLOAT16:
        raise f.fail(messages.INVALID_OPERANDS, node, operator="**", left=base, right=exponent,
                     hint="; the exponent must be a constant from 1 to 16")
    operands = tuple(spread(f, value, type_, node) for value in (base, exponent))
    return Runtime(n.Operation(type_, f.location(node), "std.pow", operands))


def unary(f: Compiler, symbol: str, value: Value, node: ast.AST) -> Value:
    """``- + ~``."""
    type_ = common_vector(f, (value,), node, f"'{symbol}'")
    operand = spread(f, value, type_, node)
    if symbol == "~" and type_.scalar.is_float:
        raise f.fail(messages.INVALID_OPERAND, node, operator=symbol, found=value, hint="; it is for integers")
    if symbol == "+":
        return Runtime(operand)
    if type_.scalar == t.BFLOAT16:
        operand = converted(operand, t.FLOAT)
    return Runtime(converted(n.Unary(operand.type, f.location(node), n.UnaryOperator(symbol), operand), type_.scalar))
