"""Arithmetic with C++'s rules: the usual conversions on fixed-width types, and constants.

``/`` and ``//`` of integers truncate and ``%`` has the sign of the left operand, as in C++.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import Any

from coopmat.sycl.compiler import messages, texts, vectors
from coopmat.sycl.compiler.context import Compiler
from coopmat.sycl.compiler.numbers import both, constant_integer, convert_scalar, expression, integer, negated, type_of
from coopmat.sycl.compiler.values import (
    MATRICES,
    Aggregate,
    Element,
    Runtime,
    Sequence,
    Static,
    Text,
    Value,
    leaves,
)
from coopmat.tree import constants
from coopmat.tree import nodes as n
from coopmat.tree import types as t
from coopmat.tree.conversions import common_type, make_convert, promoted_type

SYMBOLS: dict[type[ast.AST], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%", ast.Pow: "**",
    ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^", ast.LShift: "<<", ast.RShift: ">>", ast.MatMult: "@",
    ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=",
    ast.UAdd: "+", ast.USub: "-", ast.Invert: "~", ast.Not: "not",
    ast.Is: "is", ast.IsNot: "is not", ast.In: "in", ast.NotIn: "not in",
}
COMPARISONS = {"==", "!=", "<", "<=", ">", ">="}
_INTEGER_ONLY = {"&", "|", "^", "<<", ">>", "%", "//"}
_ADVICE = {"%": "use fmod(x, y)", "//": "use floor(x / y), or x / y"}
_TREE_OPERATORS = {"//": "/"}
MAX_ITEMS = 4096  # of a list


# ------------------------------------------------------------------ unary operators


def unary(f: Compiler, symbol: str, value: Value, node: ast.expr) -> Value:
    """``+ - ~ not``."""
    if symbol == "not":
        return negated(f, value, node)
    if isinstance(value, Aggregate):
        overloaded = f.unit.helpers.overloaded_unary(f, symbol, value, node)
        if overloaded is not None:
            return overloaded
    if isinstance(value, Static) and value.is_number and not (symbol == "~" and isinstance(value.value, float)):
        return Static(_UNARY[symbol](value.value if isinstance(value.value, float) else int(value.value)))
    handler = f.unit.handlers.operators.get(type(value))
    if handler is not None:
        return handler(f, symbol, [value], node)
    if vectors.vector_type(value) is not None:
        return vectors.unary(f, symbol, value, node)
    type_ = promoted_type(type_of(f, value, node))
    if isinstance(type_, t.Pointer) or (symbol == "~" and type_.is_float):
        raise f.fail(messages.INVALID_OPERAND, node, operator=symbol, found=value, hint="")
    operand = expression(f, value, node, type_)
    if symbol == "+":
        return Runtime(operand)
    return Runtime(_in_float(operand.type, lambda type_, given: n.Unary(
        type_, f.location(node), n.UnaryOperator(symbol), *given), operand))


def _in_float(type_: t.Type, make: Callable[[t.Type, list[n.Expression]], n.Expression],
              *operands: n.Expression) -> n.Expression:
    """An operation whose result has ``type_``; on bfloat16 it computes in float and rounds."""
    if type_ != t.BFLOAT16:
        return _folded(make(type_, list(operands)))
    return make_convert(make(t.FLOAT, [make_convert(operand, t.FLOAT) for operand in operands]), t.BFLOAT16)


def _folded(found: n.Expression) -> n.Expression:
    """A constant in place of an operation on typed constants; a shift out of range stays for the simulator to see."""
    operands = [operand for name in ("operand", "left", "right") if (operand := getattr(found, name, None)) is not None]
    if all(isinstance(operand, n.Constant) for operand in operands) and not _is_undefined_shift(found):
        value = constants.evaluate(found)
        if value is not None and not isinstance(value, tuple):
            return n.Constant(found.type, found.location, value)
    return found


def _is_undefined_shift(node: n.Expression) -> bool:
    match node:
        case n.Binary(operator=n.BinaryOperator.SHIFT_LEFT | n.BinaryOperator.SHIFT_RIGHT, left=left,
                      right=n.Constant(value=amount)):
            return isinstance(left.type, t.Scalar) and not 0 <= amount < left.type.bits
    return False


# ------------------------------------------------------------------ binary operators


def binary(f: Compiler, symbol: str, left: Value, right: Value, node: ast.expr | ast.stmt) -> Value:
    """An arithmetic operator or a comparison."""
    if isinstance(left, Static) and isinstance(right, Static) and left.is_number and right.is_number:
        return Static(_static(f, symbol, left.value, right.value, node))
    if isinstance(left, Static) and isinstance(right, Static) and isinstance(left.value, str) | isinstance(
            right.value, str) and symbol in _OF_TEXTS:
        with f.host_errors_at(node):
            return Static(_OF_TEXTS[symbol](left.value, right.value))
    if symbol in ("==", "!=") and isinstance(left, Static) and isinstance(right, Static):
        with f.host_errors_at(node):
            return Static(bool(left.value == right.value) == (symbol == "=="))
    if symbol == "+" and (found := texts.concatenated(left, right)) is not None:
        return found
    if isinstance(left, Aggregate) or isinstance(right, Aggregate):
        return _aggregates(f, symbol, left, right, node)
    for operand in (left, right):
        handler = f.unit.handlers.operators.get(type(operand))
        if handler is not None:
            return handler(f, symbol, [left, right], node)
    if any(vectors.vector_type(operand) is not None for operand in (left, right)):
        return vectors.binary(f, symbol, left, right, node)
    types = [type_of(f, operand, node) for operand in (left, right)]
    if any(isinstance(type_, t.Pointer) for type_ in types):
        return _pointers(f, symbol, left, right, node)
    if symbol == "@":
        raise f.fail(messages.INVALID_OPERANDS, node, operator=symbol, left=left, right=right, hint="")
    if symbol in ("<<", ">>"):
        return Runtime(_shift(f, symbol, left, right, node))
    common = _common(left, right, *types)
    if common.is_float and symbol in _INTEGER_ONLY:
        advice = _ADVICE.get(symbol, "convert the operands to integers")
        raise f.fail(messages.FLOAT_OPERATOR, node, operator=symbol, left=left, right=right, advice=advice)
    if symbol == "**":
        return _power(f, left, right, common, node)
    operands = [expression(f, operand, node, common) for operand in (left, right)]
    symbols = n.BinaryOperator(_TREE_OPERATORS.get(symbol, symbol))
    location = f.location(node)
    if symbol in COMPARISONS:
        if common == t.BFLOAT16:
            operands = [make_convert(operand, t.FLOAT) for operand in operands]
        return Runtime(_folded(n.Binary(t.BOOL, location, symbols, *operands)))
    return Runtime(_in_float(common, lambda type_, given: n.Binary(type_, location, symbols, *given), *operands))


def _common(left: Value, right: Value, left_type: t.Type, right_type: t.Type) -> t.Scalar:
    """The usual arithmetic conversions' type, where a float constant takes the other's floating type."""
    for value, other in ((left, right_type), (right, left_type)):
        if isinstance(value, Static) and type(value.value) is float:
            return other if isinstance(other, t.Scalar) and other.is_float else t.FLOAT
    return common_type(left_type, right_type)


def _shift(f: Compiler, symbol: str, left: Value, right: Value, node: ast.AST) -> n.Expression:
    """The result has the left operand's type after promotion."""
    for operand in (left, right):
        if not type_of(f, operand, node).is_integer and type_of(f, operand, node) != t.BOOL:
            raise f.fail(messages.FLOAT_OPERATOR, node, operator=symbol, left=left, right=right,
                         advice="convert the operands to integers")
    type_ = promoted_type(type_of(f, left, node))
    operands = [expression(f, operand, node, type_) for operand in (left, right)]
    return _folded(n.Binary(type_, f.location(node), n.BinaryOperator(symbol), *operands))


def _power(f: Compiler, base: Value, exponent: Value, common: t.Scalar, node: ast.expr | ast.stmt) -> Value:
    """An integer power by repeated multiplication, else pow."""
    if isinstance(exponent, Static) and type(exponent.value) is int and exponent.value >= 0 and exponent.value <= 16:
        if exponent.value == 0:
            return Runtime(expression(f, Static(1), node, promoted_type(type_of(f, base, node))))
        held = f.temporary(expression(f, base, node), node)
        result: Value = held
        for _ in range(exponent.value - 1):
            result = binary(f, "*", result, held, node)
        return result
    if common.is_integer:
        raise f.fail(messages.INVALID_OPERANDS, node, operator="**", left=base, right=exponent,
                     hint="; the exponent of an integer must be a constant from 0 to 16; use pow(float32(x), y)")
    wide = t.FLOAT if common == t.BFLOAT16 else common
    operands = tuple(expression(f, operand, node, wide) for operand in (base, exponent))
    return Runtime(convert_scalar(n.Operation(wide, f.location(node), "std.pow", operands), common))


def _pointers(f: Compiler, symbol: str, left: Value, right: Value, node: ast.AST) -> Value:
    """Pointer arithmetic and comparison."""
    location = f.location(node)
    types = [type_of(f, operand, node) for operand in (left, right)]
    if symbol == "+" and isinstance(types[1], t.Pointer):
        left, right, types = right, left, types[::-1]
    if isinstance(types[0], t.Pointer) and symbol in ("+", "-") and types[1].is_integer:
        moved = offset(f, expression(f, left, node), right, node, negative=symbol == "-")
        return Runtime(moved, hints_of(left))
    if isinstance(types[0], t.Pointer) and isinstance(types[1], t.Pointer) and types[0].pointee == types[1].pointee \
            and types[0].address_space is types[1].address_space:
        operands = [expression(f, operand, node) for operand in (left, right)]
        if symbol == "-":
            return Runtime(n.PointerDifference(t.LONG, location, *operands))
        if symbol in COMPARISONS:
            operands[1] = operands[1] if types[0] == types[1] else n.Bitcast(types[0], location, operands[1])
            return Runtime(n.Binary(t.BOOL, location, n.BinaryOperator(symbol), *operands))
    raise f.fail(messages.INVALID_OPERANDS, node, operator=symbol, left=left, right=right, hint="")


def hints_of(value: Value) -> Any:
    """The cache hints of a pointer."""
    assert isinstance(value, (Runtime, Element))
    return value.hints


def offset(f: Compiler, pointer: n.Expression, index: Value, node: ast.AST,
           negative: bool = False) -> n.Expression:
    """``pointer + index``, or minus."""
    type_ = type_of(f, index, node)
    steps = integer(f, index, node, t.ULONG if type_ == t.ULONG and not negative else t.LONG)
    if negative:
        steps = n.Constant(t.LONG, steps.location, -int(steps.value)) if isinstance(steps, n.Constant) \
            else n.Unary(t.LONG, steps.location, n.UnaryOperator.NEGATE, steps)
    return n.PointerOffset(pointer.type, f.location(node), pointer, steps)


def make_list(f: Compiler, items: tuple[Value, ...], is_list: bool, node: ast.AST) -> Sequence:
    """A list or tuple."""
    found = Sequence(items, is_list)
    _check_length(f, sum(1 for _ in leaves(found)), node)
    return found


def _equal(f: Compiler, left: Value, right: Value, node: ast.expr | ast.stmt) -> Value:
    """``==`` of tuples, lists and structures: they have one form, and all their items are equal."""
    if not isinstance(left, Aggregate) or not isinstance(right, Aggregate) or not left.is_like(right):
        return Static(False)
    result: Value = Static(True)
    for first, second in zip(left.items, right.items, strict=True):
        result = both(f, result, binary(f, "==", f.loaded(first, node), f.loaded(second, node), node), node)
    return result


def _check_length(f: Compiler, count: int, node: ast.AST) -> None:
    """Each element of a list, and of the lists in it, is a variable."""
    if count > MAX_ITEMS:
        raise f.fail(messages.LIST_TOO_LONG, node, count=count, limit=MAX_ITEMS)


def _aggregates(f: Compiler, symbol: str, left: Value, right: Value, node: ast.expr | ast.stmt) -> Value:
    """An operator of a user's class, comparisons of tuples, ``[0.0] * 4`` and ``[a, b] + [c]``."""
    overloaded = f.unit.helpers.overloaded(f, symbol, left, right, node)
    if overloaded is not None:
        return overloaded
    if isinstance(left, Text) or isinstance(right, Text):
        raise f.fail(messages.INVALID_OPERANDS, node, operator=symbol, left=left, right=right,
                     hint="; compare what decides about it, such as the number in it")
    if symbol in ("==", "!="):
        found = _equal(f, left, right, node)
        return found if symbol == "==" else negated(f, found, node)
    if symbol == "+" and isinstance(left, Sequence) and isinstance(right, Sequence) and left.is_list == right.is_list:
        return make_list(f, (*left.items, *right.items), left.is_list, node)
    if symbol == "*" and (isinstance(left, Sequence) or isinstance(right, Sequence)):
        if not isinstance(left, Sequence):
            left, right = right, left
        assert isinstance(left, Sequence)
        count = constant_integer(f, right, node, "the length of a list")
        _check_length(f, sum(1 for _ in leaves(left)) * count, node)
        is_object = any(isinstance(item, MATRICES) or (isinstance(item, Aggregate) and item.is_mutable)
                        for item in left.items)
        if count > 1 and is_object:
            raise f.fail(messages.INVALID_OPERANDS, node, operator="*", left=left, right=right,
                         hint=f"; each object must be made by itself: [… for _ in range({count})]")
        return Sequence(left.items * max(count, 0), left.is_list)
    if isinstance(left, Sequence) and isinstance(right, Sequence):
        hint = "; join them with +, or write a loop over their elements"
        raise f.fail(messages.INVALID_OPERANDS, node, operator=symbol, left=left, right=right, hint=hint)
    raise f.fail(messages.INVALID_OPERANDS, node, operator=symbol, left=left, right=right, hint="")


# ------------------------------------------------------------------ constants


def _truncating(left: Any, right: Any) -> Any:
    if isinstance(left, float) or isinstance(right, float):
        return left / right
    quotient = abs(left) // abs(right)
    return quotient if (left < 0) == (right < 0) else -quotient


def _integers_only(compute: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def checked(left: Any, right: Any) -> Any:
        if isinstance(left, float) or isinstance(right, float):
            raise TypeError("the operator is for integers only")
        return compute(left, right)
    return checked


_CONSTANT: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": _truncating, "//": _integers_only(_truncating),
    "%": _integers_only(lambda a, b: a - b * _truncating(a, b)), "**": operator.pow, "&": operator.and_,
    "|": operator.or_, "^": operator.xor, "<<": operator.lshift, ">>": operator.rshift, "==": operator.eq,
    "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}
_OF_TEXTS = {symbol: getattr(operator, name) for symbol, name in (
    ("*", "mul"), ("%", "mod"), ("<", "lt"), ("<=", "le"), (">", "gt"), (">=", "ge"))}
_UNARY: dict[str, Callable[[Any], Any]] = {"+": operator.pos, "-": operator.neg, "~": operator.invert}
_MAX_BITS = 512


def _static(f: Compiler, symbol: str, left: Any, right: Any, node: ast.AST) -> Any:
    """An operation on two constants."""
    if symbol in ("**", "<<") and isinstance(right, int) and abs(right) > _MAX_BITS:
        raise f.fail(messages.CONSTANT_ERROR, node, reason="the result is too large")
    try:
        result = _CONSTANT[symbol](left, right)
    except (ArithmeticError, TypeError, ValueError, KeyError) as error:
        raise f.fail(messages.CONSTANT_ERROR, node, reason=error) from None
    if isinstance(result, complex) or (isinstance(result, int) and result.bit_length() > _MAX_BITS):
        raise f.fail(messages.CONSTANT_ERROR, node, reason="the result is no number of a kernel")
    if symbol not in COMPARISONS and isinstance(result, bool):
        return int(result)
    return result
