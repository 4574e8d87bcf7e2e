"""Constant folding on the typed tree, with C's exact semantics (C99 6.6, OpenCL C 6.3).

A value is an int, float or bool; a vector's value is a tuple of them. ``None`` means "not constant".
Integers wrap at their type's width, floating-point results are rounded once to their type.
"""

from __future__ import annotations

import math
import operator
import struct
from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction

from coopmat.diagnostics import SourceLocation
from coopmat.formats import format_of, round_fraction
from coopmat.tree.nodes import (
    AddressOf,
    Aggregate,
    Binary,
    BinaryOperator,
    Bitcast,
    CastAddressSpace,
    Comma,
    Conditional,
    Constant,
    Convert,
    Dereference,
    ElementPlace,
    Expression,
    FieldPlace,
    Load,
    Logical,
    Place,
    PointerOffset,
    Select,
    Splat,
    Swizzle,
    Unary,
    UnaryOperator,
    UnionOf,
    Variable,
    VariablePlace,
    VectorOf,
    Zero,
)
from coopmat.tree.types import AddressSpace, Array, Enumeration, Pointer, Record, Scalar, Type, Vector

Number = int | float | bool
Value = Number | tuple[Number, ...]

_STRUCT_CODES = {
    ("sint", 8): "b", ("sint", 16): "h", ("sint", 32): "i", ("sint", 64): "q",
    ("uint", 8): "B", ("uint", 16): "H", ("uint", 32): "I", ("uint", 64): "Q",
    ("float", 16): "e", ("float", 32): "f", ("float", 64): "d",
}


# ------------------------------------------------------------------ numbers


def wrap(value: int, type_: Scalar) -> int:
    """``value`` modulo 2**bits, in the range of an integer type."""
    value &= (1 << type_.bits) - 1
    if type_.kind == "sint" and value >> (type_.bits - 1):
        value -= 1 << type_.bits
    return value


def round_float(value: int | float | Fraction, type_: Scalar) -> float:
    """``value`` rounded once, to nearest even, to a floating type."""
    if isinstance(value, float) and (not math.isfinite(value) or value == 0 or type_.bits == 64):
        return value
    return math.copysign(round_fraction(abs(Fraction(value)), format_of(type_.format_name)), value)


def convert_number(value: Number, source: Type, target: Type) -> Number | None:
    """A scalar conversion as C defines it; None where C leaves it undefined (float out of range)."""
    if isinstance(target, Enumeration):
        target = target.underlying
    if not isinstance(target, Scalar):
        return None
    if target.kind == "bool":
        return value != 0
    if target.is_integer:
        if isinstance(value, float):
            if not math.isfinite(value):
                return None
            value = int(value)
            return value if wrap(value, target) == value else None
        return wrap(int(value), target)
    return round_float(value if isinstance(value, float) else int(value), target)


def _divide(left: int, right: int) -> int:
    quotient = abs(left) // abs(right)
    return quotient if (left < 0) == (right < 0) else -quotient


_INTEGER: dict[str, Callable[[int, int], int]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "&": operator.and_, "|": operator.or_,
    "^": operator.xor, "/": _divide, "%": lambda a, b: a - b * _divide(a, b),
}
_COMPARE: dict[str, Callable[[Number, Number], bool]] = {
    "==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}
_FLOAT: dict[str, Callable[[Fraction, Fraction], Fraction]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv,
}


def _special_float(symbol: str, left: float, right: float) -> float:
    """Operations whose operands or result are no rational numbers: infinities, NaN, zeros."""
    if symbol == "/" and right == 0:
        if left == 0 or math.isnan(left):
            return math.nan
        return math.copysign(math.inf, math.copysign(1, left) * math.copysign(1, right))
    try:
        return {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv}[symbol](left, right)
    except OverflowError:
        return math.nan


def _binary_number(symbol: BinaryOperator, left: Number, right: Number, operand: Type) -> Number | None:
    """One scalar operation; ``operand`` is the left operand's type."""
    if symbol.is_comparison:
        return _COMPARE[symbol.value](left, right)
    if not isinstance(operand, Scalar):
        return None
    if operand.is_float:
        if symbol.value not in _FLOAT:
            return None
        left, right = float(left), float(right)
        if not (math.isfinite(left) and math.isfinite(right) and left and right):
            return round_float(_special_float(symbol.value, left, right), operand)
        exact = _FLOAT[symbol.value](Fraction(left), Fraction(right))
        return round_float(exact, operand)
    left, right = int(left), int(right)
    if symbol in (BinaryOperator.SHIFT_LEFT, BinaryOperator.SHIFT_RIGHT):
        amount = right % operand.bits
        return wrap(left << amount if symbol is BinaryOperator.SHIFT_LEFT else left >> amount, operand)
    if symbol.value in "/%" and right == 0:
        return None
    return wrap(_INTEGER[symbol.value](left, right), operand)


def _unary_number(symbol: UnaryOperator, value: Number, type_: Type) -> Number | None:
    match symbol:
        case UnaryOperator.NOT:
            return not value
        case UnaryOperator.NEGATE if isinstance(value, float):
            return -value
        case UnaryOperator.NEGATE if isinstance(type_, Scalar):
            return wrap(-int(value), type_)
        case UnaryOperator.COMPLEMENT if isinstance(type_, Scalar):
            return wrap(~int(value), type_)
    return None


def _convert_component(value: Number, source: Type, target: Type, in_vector: bool) -> Number | None:
    if in_vector and isinstance(value, bool):
        value = -int(value)
    return convert_number(value, source, target)


def _bitcast(value: Value, source: Type, target: Type) -> Value | None:
    """The bits of ``value`` read as another type of the same size."""
    source_scalar, target_scalar = source.element, target.element
    if not (isinstance(source_scalar, Scalar) and isinstance(target_scalar, Scalar)):
        return None
    codes = [_STRUCT_CODES.get((s.kind, s.bits)) for s in (source_scalar, target_scalar)]
    if None in codes:
        return None
    values = value if isinstance(value, tuple) else (value,)
    try:
        data = struct.pack(f"<{len(values)}{codes[0]}", *values)
    except (OverflowError, struct.error):
        return None
    count = target.count if isinstance(target, Vector) else 1
    needed = count * target_scalar.bits // 8
    result = struct.unpack(f"<{count}{codes[1]}", data.ljust(needed, b"\0")[:needed])
    return result if isinstance(target, Vector) else result[0]


# ------------------------------------------------------------------ expressions


def _componentwise(function: Callable[..., Number | None], *operands: Value) -> Value | None:
    """Apply a function to scalars, or to the components of vectors of one length."""
    if not any(isinstance(value, tuple) for value in operands):
        return function(*operands)
    length = max(len(value) for value in operands if isinstance(value, tuple))
    columns = [value if isinstance(value, tuple) else (value,) * length for value in operands]
    results = [function(*components) for components in zip(*columns, strict=True)]
    return None if None in results else tuple(r for r in results if r is not None)


Known = Mapping[Variable, Expression]
"""Constant variables whose folded initialiser is known."""

_NOTHING: Known = {}


def evaluate(expression: Expression, known: Known = _NOTHING) -> Value | None:
    """The value of a constant expression, or None if it is not one."""
    return _Evaluator(known).evaluate(expression)


class _Evaluator:
    """Evaluation where the values of some variables are known."""

    def __init__(self, known: Known) -> None:
        self.known = known

    def evaluate(self, expression: Expression) -> Value | None:
        """The value of an expression, or None."""
        match expression:
            case Constant(value=value):
                return value
            case Zero(type=type_):
                return _zero(type_)
            case Unary():
                unary, element = expression.operator, expression.operand.type.element
                return self._map(lambda v: _unary_number(unary, v, element), expression.operand)
            case Binary(operator=binary, left=left, right=right):
                return self._map(lambda a, b: _binary_number(binary, a, b, left.type.element), left, right)
            case Logical(is_and=is_and, left=left, right=right):
                first = self.evaluate(left)
                return first if first is None or bool(first) != is_and else self.evaluate(right)
            case Conditional(condition=condition, if_true=if_true, if_false=if_false):
                chosen = self.evaluate(condition)
                return None if chosen is None else self.evaluate(if_true if chosen else if_false)
            case Select(condition=condition, if_true=if_true, if_false=if_false):
                return self._map(lambda c, a, b: a if c else b, condition, if_true, if_false)
            case Convert(operand=operand, rounding=None, saturate=False, type=target):
                in_vector = isinstance(target, Vector)
                return self._map(lambda v: _convert_component(v, operand.type.element, target.element, in_vector),
                                 operand)
            case Load(place=place):
                held = self.held(place)
                return None if held is None else self.evaluate(held)
        return self._vector(expression)

    def _map(self, function: Callable[..., Number | None], *operands: Expression) -> Value | None:
        values = [self.evaluate(operand) for operand in operands]
        present = [value for value in values if value is not None]
        return _componentwise(function, *present) if len(present) == len(values) else None

    def _vector(self, expression: Expression) -> Value | None:
        """The node kinds that build vectors, take them apart, or keep bits."""
        match expression:
            case VectorOf(parts=parts):
                components: list[Number] = []
                for part in parts:
                    value = self.evaluate(part)
                    if value is None:
                        return None
                    components += value if isinstance(value, tuple) else (value,)
                return tuple(components)
            case Splat(operand=operand, type=Vector(count=count)):
                value = self.evaluate(operand)
                return None if value is None or isinstance(value, tuple) else (value,) * count
            case Swizzle(operand=operand, components=indices):
                value = self.evaluate(operand)
                if not isinstance(value, tuple):
                    return None
                return value[indices[0]] if len(indices) == 1 else tuple(value[i] for i in indices)
            case Bitcast(operand=operand, type=target):
                value = self.evaluate(operand)
                return None if value is None else _bitcast(value, operand.type, target)
        return None

    def held(self, place: Place) -> Expression | None:
        """What a place in a known variable holds, or None."""
        match place:
            case VariablePlace(variable=variable):
                return self.known.get(variable)
            case ElementPlace(base=base, index=index):
                position = self.evaluate(index)
                whole = self.held(base)
                return None if whole is None or not isinstance(position, int) else _part(whole, position, place.type)
            case FieldPlace(base=base, index=position):
                whole = self.held(base)
                return None if whole is None else _part(whole, position, place.type)
        return None


def _part(whole: Expression, position: int, type_: Type) -> Expression | None:
    """An element, member or component of a folded initialiser."""
    if isinstance(whole, Zero):
        return Zero(type_, whole.location)
    if isinstance(whole, UnionOf):
        return whole.value if whole.index == position else None
    if isinstance(whole, Aggregate):
        return whole.elements[position] if 0 <= position < len(whole.elements) else None
    if isinstance(whole, VectorOf) and 0 <= position < len(whole.parts):
        return whole.parts[position]
    return None


def _zero(type_: Type) -> Value | None:
    """Zero as a value of a scalar or vector type."""
    if isinstance(type_, Vector):
        return (0.0 if type_.scalar.is_float else 0,) * type_.count
    if type_.is_arithmetic:
        return 0.0 if type_.is_float else 0
    return None


def constant_of(type_: Type, value: Value, location: SourceLocation | None) -> Expression:
    """The tree node of a value: a Constant, or a VectorOf of Constants."""
    if isinstance(value, tuple):
        parts = tuple(Constant(type_.element, location, component) for component in value)
        return VectorOf(type_, location, parts)
    return Constant(type_, location, value)


def fold(expression: Expression, known: Known = _NOTHING) -> Expression | None:
    """A constant initialiser in its plainest form: Constant, Zero, Aggregate, VectorOf, or the address of a
    variable that lives as long as the program; None for any other expression."""
    if isinstance(expression, Zero):
        return expression
    if isinstance(expression, Comma) and fold(expression.first, known) is not None:
        return fold(expression.second, known)
    if isinstance(expression, Aggregate) and isinstance(expression.type, (Array, Record)):
        elements = [fold(element, known) for element in expression.elements]
        present = tuple(element for element in elements if element is not None)
        return Aggregate(expression.type, expression.location, present) if len(present) == len(elements) else None
    if isinstance(expression, UnionOf):
        held = fold(expression.value, known)
        return None if held is None else replace(expression, value=held)
    value = evaluate(expression, known)
    if value is not None:
        return constant_of(expression.type, value, expression.location)
    return _address(expression, known)


def _address(expression: Expression, known: Known) -> Expression | None:
    """An address constant (C99 6.6p9), its indices folded: what its AddressOf, PointerOffset and casts are made of."""
    match expression:
        case AddressOf(place=place):
            fixed = _fixed_place(place, known)
            return None if fixed is None else replace(expression, place=fixed)
        case PointerOffset(pointer=pointer, offset=offset):
            base, steps = _address(pointer, known), evaluate(offset, known)
            if base is None or not isinstance(steps, int):
                return None
            if isinstance(base, PointerOffset) and isinstance(base.offset, Constant):
                steps += int(base.offset.value)
                base = base.pointer
            moved = Constant(offset.type, offset.location, steps)
            return PointerOffset(expression.type, expression.location, base, moved)
        case Bitcast(operand=operand) | CastAddressSpace(operand=operand):
            held = _address(operand, known)
            return None if held is None else replace(expression, operand=held)
        case Comma(first=first, second=second) if fold(first, known) is not None:
            return _address(second, known)
        case Load(place=place):
            found = _Evaluator(known).held(place)
            return None if found is None or not isinstance(found.type, Pointer) else found
    return None


def _fixed_place(place: Place, known: Known) -> Place | None:
    """A place in a variable that lives as long as the program, at a constant offset."""
    match place:
        case VariablePlace(variable=variable):
            return place if variable.address_space in (AddressSpace.CONSTANT, AddressSpace.GLOBAL) else None
        case ElementPlace(base=base, index=index):
            fixed, position = _fixed_place(base, known), evaluate(index, known)
            if fixed is None or not isinstance(position, int):
                return None
            return replace(place, base=fixed, index=Constant(index.type, index.location, position))
        case FieldPlace(base=base):
            fixed = _fixed_place(base, known)
            return None if fixed is None else replace(place, base=fixed)
        case Dereference(pointer=pointer):
            held = _address(pointer, known)
            return None if held is None else replace(place, pointer=held)
    return None


def integer_value(expression: Expression, known: Known = _NOTHING) -> int | None:
    """The value of an integer constant expression, or None."""
    if not (expression.type.is_integer or isinstance(expression.type, Enumeration) or _is_bool(expression.type)):
        return None
    value = evaluate(expression, known)
    return int(value) if isinstance(value, int) else None


def _is_bool(type_: Type) -> bool:
    return isinstance(type_, Scalar) and type_.kind == "bool"
