"""The integer functions of OpenCL.std."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from coopmat.targets.simulator.arithmetic import (
    count_bits,
    multiply_high_signed,
    multiply_high_unsigned,
    of_unsigned,
    shift_amount,
)
from coopmat.targets.simulator.values import Array, signed, unsigned

MUL24_BITS = 24


def _width(value: Array) -> int:
    return 8 * value.dtype.itemsize


def _limits(value: Array) -> tuple[Array, Array]:
    info = np.iinfo(value.dtype)
    return value.dtype.type(info.min), value.dtype.type(info.max)


def add_saturating(a: Array, b: Array) -> Array:
    """a + b, clamped to the type's range; of unsigned arrays, too."""
    total = a + b
    low, high = _limits(a)
    if a.dtype.kind == "u":
        return np.where(total < a, high, total)
    overflow = ((a ^ total) & (b ^ total)) < 0
    return np.where(overflow, np.where(a < 0, low, high), total)


def subtract_saturating(a: Array, b: Array) -> Array:
    """a - b, clamped to the type's range; of unsigned arrays, too."""
    difference = a - b
    low, high = _limits(a)
    if a.dtype.kind == "u":
        return np.where(a < b, low, difference)
    overflow = ((a ^ b) & (a ^ difference)) < 0
    return np.where(overflow, np.where(a < 0, low, high), difference)


def multiply_add_saturating(a: Array, b: Array, c: Array) -> Array:
    """a * b + c, clamped to the type's range; of unsigned arrays, too."""
    low, high = (int(limit) for limit in _limits(a))
    wide = object if _width(a) == 64 else np.int64
    if _width(a) == 32 and a.dtype.kind == "u":
        wide = np.uint64
    exact = a.astype(wide) * b.astype(wide) + c.astype(wide)
    return np.minimum(np.maximum(exact, low), high).astype(a.dtype)


def half_add(a: Array, b: Array) -> Array:
    """(a + b) >> 1 without overflow."""
    return (a >> 1) + (b >> 1) + (a & b & a.dtype.type(1))


def half_add_rounded(a: Array, b: Array) -> Array:
    """(a + b + 1) >> 1 without overflow."""
    return (a >> 1) + (b >> 1) + ((a | b) & a.dtype.type(1))


def difference(a: Array, b: Array) -> Array:
    """\\|a - b\\|, an unsigned result in the operands' own type."""
    return np.where(a > b, a - b, b - a)


def rotate(value: Array, count: Array) -> Array:
    """The bits rotated to the left."""
    bits, left = unsigned(value), unsigned(shift_amount(count, value))
    right = (bits.dtype.type(_width(value)) - left) & bits.dtype.type(_width(value) - 1)
    return signed((bits << left) | (bits >> right))


def leading_zeros(value: Array) -> Array:
    """Zero bits above the highest one bit; the width for 0."""
    bits = unsigned(value)
    shift = 1
    while shift < _width(value):
        bits = bits | bits >> bits.dtype.type(shift)
        shift *= 2
    return (_width(value) - np.bitwise_count(bits)).astype(value.dtype)


def trailing_zeros(value: Array) -> Array:
    """Zero bits below the lowest one bit; the width for 0."""
    return np.bitwise_count(unsigned(~value & (value - value.dtype.type(1)))).astype(value.dtype)


def upsample(high: Array, low: Array) -> Array:
    """The bits of ``high`` above those of ``low``, in an integer of twice the width."""
    wide = np.dtype(f"i{2 * high.dtype.itemsize}")
    return (high.astype(wide) << wide.type(_width(high))) | unsigned(low).astype(wide)


def _low24_signed(value: Array) -> Array:
    return (value << 8) >> 8


def _low24_unsigned(value: Array) -> Array:
    return value & value.dtype.type((1 << MUL24_BITS) - 1)


def clamp(value: Array, low: Array, high: Array) -> Array:
    """min(max(value, low), high)."""
    return np.minimum(np.maximum(value, low), high)


FUNCTIONS: dict[str, Callable[..., Array]] = {
    "s_abs": np.abs,
    "u_abs": lambda value: value,
    "s_abs_diff": difference,
    "u_abs_diff": of_unsigned(difference),
    "s_add_sat": add_saturating,
    "u_add_sat": of_unsigned(add_saturating),
    "s_sub_sat": subtract_saturating,
    "u_sub_sat": of_unsigned(subtract_saturating),
    "s_mad_sat": multiply_add_saturating,
    "u_mad_sat": of_unsigned(multiply_add_saturating),
    "s_hadd": half_add,
    "u_hadd": of_unsigned(half_add),
    "s_rhadd": half_add_rounded,
    "u_rhadd": of_unsigned(half_add_rounded),
    "s_clamp": clamp,
    "u_clamp": of_unsigned(clamp),
    "s_max": np.maximum,
    "u_max": of_unsigned(np.maximum),
    "s_min": np.minimum,
    "u_min": of_unsigned(np.minimum),
    "s_mul_hi": multiply_high_signed,
    "u_mul_hi": of_unsigned(multiply_high_unsigned),
    "s_mad_hi": lambda a, b, c: multiply_high_signed(a, b) + c,
    "u_mad_hi": lambda a, b, c: of_unsigned(multiply_high_unsigned)(a, b) + c,
    "s_mul24": lambda a, b: _low24_signed(a) * _low24_signed(b),
    "u_mul24": lambda a, b: _low24_unsigned(a) * _low24_unsigned(b),
    "s_mad24": lambda a, b, c: _low24_signed(a) * _low24_signed(b) + c,
    "u_mad24": lambda a, b, c: _low24_unsigned(a) * _low24_unsigned(b) + c,
    "clz": leading_zeros,
    "ctz": trailing_zeros,
    "popcount": count_bits,
    "rotate": rotate,
    "s_upsample": upsample,
    "u_upsample": upsample,
}
