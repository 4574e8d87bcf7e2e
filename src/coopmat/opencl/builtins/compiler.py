"""Built-in functions of the compiler, ``__builtin_…``, which clang has in every language, OpenCL C included.

Those with a plain signature stand here; :mod:`coopmat.opencl.builtins.compiler_calls` has the ones that look at
their arguments before, or instead of, evaluating them.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from coopmat.opencl.builtins.patterns import Build, BuiltinCall, Row
from coopmat.tree.nodes import (
    Binary,
    BinaryOperator,
    Bitcast,
    Comma,
    Constant,
    Convert,
    Expression,
    Select,
    Swizzle,
    Unary,
    UnaryOperator,
)
from coopmat.tree.types import BOOL, DOUBLE, FLOAT, INT, UCHAR, Scalar, Vector

# ------------------------------------------------------------------ building nodes

Fold = Callable[[int, int], int | None]
"""The value of a function of one integer, given as its bits and their number; None where it is undefined."""


def folding(fold: Fold, build: Build) -> Build:
    """A function of one integer, folded where that is a constant."""
    def checked(call: BuiltinCall) -> Expression:
        (value,) = call.arguments
        if isinstance(value, Constant):
            bits = _bits(value)
            result = fold(int(value.value) % (1 << bits), bits)
            if result is not None:
                return Constant(call.result, call.location, result)
        return build(call)
    return checked


def _bits(value: Expression) -> int:
    assert isinstance(value.type, Scalar)
    return value.type.bits


def counted(operation: str) -> Build:
    """An operation on an integer whose result is an int."""
    def build(call: BuiltinCall) -> Expression:
        (value,) = call.arguments
        return Convert(INT, call.location, call.operation(operation, value, type_=value.type))
    return build


def find_first_set(call: BuiltinCall) -> Expression:
    """One more than the position of the lowest set bit, 0 for 0."""
    (value,) = call.arguments
    position = counted("std.ctz")(call)
    following = Binary(INT, call.location, BinaryOperator.ADD, position, call.constant(1, INT))
    is_zero = Binary(BOOL, call.location, BinaryOperator.EQUAL, value, Constant(value.type, call.location, 0))
    return Select(INT, call.location, is_zero, call.constant(0, INT), following)


def parity(call: BuiltinCall) -> Expression:
    """Whether the number of set bits is odd."""
    return Binary(INT, call.location, BinaryOperator.AND, counted("std.popcount")(call), call.constant(1, INT))


def redundant_sign_bits(call: BuiltinCall) -> Expression:
    """How many bits below the sign bit are equal to it."""
    (value,) = call.arguments
    is_negative = Binary(BOOL, call.location, BinaryOperator.LESS, value, Constant(value.type, call.location, 0))
    inverted = Unary(value.type, call.location, UnaryOperator.COMPLEMENT, value)
    positive = Select(value.type, call.location, is_negative, inverted, value)
    zeros = Convert(INT, call.location, call.operation("std.clz", positive, type_=value.type))
    return Binary(INT, call.location, BinaryOperator.SUBTRACT, zeros, call.constant(1, INT))


def swap_bytes(call: BuiltinCall) -> Expression:
    """The bytes in reverse order."""
    (value,) = call.arguments
    count = _bits(value) // 8
    octets = Bitcast(Vector(UCHAR, count), call.location, value)
    swapped = Swizzle(octets.type, call.location, octets, tuple(reversed(range(count))))
    return Bitcast(call.result, call.location, swapped)


def rotate_right(call: BuiltinCall) -> Expression:
    """A rotation to the right, which is one to the left by the negative amount."""
    value, amount = call.arguments
    negative = Unary(amount.type, call.location, UnaryOperator.NEGATE, amount)
    return call.operation("std.rotate", value, negative)


def first_of_two(call: BuiltinCall) -> Expression:
    """``__builtin_expect``: the value; what is expected of it is no part of SPIR-V's core."""
    value, expected = call.arguments
    if isinstance(expected, Constant):
        return value
    return Comma(call.result, call.location, expected, value)


def number(value: float) -> Build:
    """A constant."""
    return lambda call: Constant(call.result, call.location, value)


def classified(operation: str) -> Build:
    """A core instruction that gives a bool."""
    def build(call: BuiltinCall) -> Expression:
        return Convert(INT, call.location, call.operation(operation, *call.arguments, type_=BOOL))
    return build


# ------------------------------------------------------------------ folding


def _trailing_zeros(value: int, bits: int) -> int | None:
    return (value & -value).bit_length() - 1 if value else None


def _leading_zeros(value: int, bits: int) -> int | None:
    return bits - value.bit_length() if value else None


def _sign_bits(value: int, bits: int) -> int:
    positive = value ^ ((1 << bits) - 1) if value >> (bits - 1) else value
    return bits - positive.bit_length() - 1


def _reversed_bytes(value: int, bits: int) -> int:
    return int.from_bytes(value.to_bytes(bits // 8, "little"), "big")


# ------------------------------------------------------------------ rows

_WIDTHS = {"": ("uint", "int"), "l": ("ulong", "long"), "ll": ("ulong", "long")}
"""The suffixes of functions on integers, with the unsigned and the signed type that they take."""

_UNSIGNED: dict[str, tuple[Fold, Build]] = {
    "popcount": (lambda value, bits: value.bit_count(), counted("std.popcount")),
    "parity": (lambda value, bits: value.bit_count() & 1, parity),
    "ctz": (_trailing_zeros, counted("std.ctz")),
    "clz": (_leading_zeros, counted("std.clz")),
}
_SIGNED: dict[str, tuple[Fold, Build]] = {
    "ffs": (lambda value, bits: (value & -value).bit_length(), find_first_set),
    "clrsb": (_sign_bits, redundant_sign_bits),
}
_SIZED = {8: "uchar", 16: "ushort", 32: "uint", 64: "ulong"}

BITS = (
    *(Row(f"__builtin_{name}{suffix}", f"int({unsigned})", folding(fold, build))
      for name, (fold, build) in _UNSIGNED.items() for suffix, (unsigned, _) in _WIDTHS.items()),
    *(Row(f"__builtin_{name}{suffix}", f"int({signed})", folding(fold, build))
      for name, (fold, build) in _SIGNED.items() for suffix, (_, signed) in _WIDTHS.items()),
    *(Row(f"__builtin_bswap{bits}", f"{_SIZED[bits]}({_SIZED[bits]})", folding(_reversed_bytes, swap_bytes))
      for bits in (16, 32, 64)),
    *(Row(f"__builtin_rotateleft{bits}", f"{type_}({type_}, {type_})", "std.rotate")
      for bits, type_ in _SIZED.items()),
    *(Row(f"__builtin_rotateright{bits}", f"{type_}({type_}, {type_})", rotate_right)
      for bits, type_ in _SIZED.items()),
)

_UNARY = ("acos", "acosh", "asin", "asinh", "atan", "atanh", "cbrt", "ceil", "cos", "cosh", "erf", "erfc", "exp",
          "exp2", "expm1", "fabs", "floor", "lgamma", "log", "log10", "log1p", "log2", "logb", "rint", "round", "sin",
          "sinh", "sqrt", "tan", "tanh", "tgamma", "trunc")
_BINARY = ("atan2", "copysign", "fdim", "fmax", "fmin", "fmod", "hypot", "nextafter", "pow", "remainder")
_SPECIAL = {"inf": math.inf, "huge_val": math.inf}
_TESTS = {"isnan": "core.IsNan", "isinf": "core.IsInf", "isfinite": "core.IsFinite", "isnormal": "core.IsNormal"}


def _math(suffix: str, type_: str) -> tuple[Row, ...]:
    """C's functions for one floating type; the suffix is what C puts behind their names."""
    return (
        *(Row(f"__builtin_{name}{suffix}", f"{type_}({type_})", f"std.{name}") for name in _UNARY),
        *(Row(f"__builtin_{name}{suffix}", f"{type_}({type_}, {type_})", f"std.{name}") for name in _BINARY),
        Row(f"__builtin_fma{suffix}", f"{type_}({type_}, {type_}, {type_})", "std.fma"),
        *(Row(f"__builtin_{name}{suffix}", f"{type_}()", number(value)) for name, value in _SPECIAL.items()),
        Row(f"__builtin_signbit{suffix}", f"int({type_})", classified("core.SignBitSet")),
    )


MATH = (
    *_math("f", "float"),
    *_math("", "double"),
    *(Row(f"__builtin_{name}", "int(gen)", classified(operation), (FLOAT, DOUBLE), (1,))
      for name, operation in _TESTS.items()),
)

HINTS = (Row("__builtin_expect", "long(long, long)", first_of_two),)

ROWS = (*BITS, *MATH, *HINTS)
