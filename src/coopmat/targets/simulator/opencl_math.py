"""The math, common and geometric functions of OpenCL.std.

Results in fp16 and fp32 are computed in float64 and rounded once. Functions that store a second
result through a pointer give a pair here; see ``opencl_std``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np

from coopmat.formats import round_pair
from coopmat.numerics.summation import product_error, two_sum
from coopmat.targets.simulator.conversions import to_float
from coopmat.targets.simulator.values import Array

Function = Callable[..., Array]
FLOAT64_FRACTION_BITS = 52
ILOGB_ZERO = -(1 << 31)
ILOGB_NAN = (1 << 31) - 1
QUOTIENT_BITS = 7  # of remquo


def in_double(function: Function) -> Function:
    """The function computed in float64 and rounded once to the type of its first operand."""

    def apply(*values: Array) -> Array:
        wide = [value.astype(np.float64) if value.dtype.kind in "fV" else value for value in values]
        return to_float(function(*wide), values[0].dtype)

    return apply


def _each(function: Callable[..., float]) -> Function:
    """A function of Python's ``math`` on every element; its domain and range errors as C99 has them."""

    def of_one(*values: float) -> float:
        try:
            return function(*values)
        except OverflowError:
            return math.inf
        except ValueError:
            return math.nan

    vectorised = np.frompyfunc(of_one, 1, 1)
    return lambda value: np.asarray(vectorised(value)).astype(np.float64)


# --------------------------------------------------------------------------------------
# Exact functions
# --------------------------------------------------------------------------------------


def fused_multiply_add(a: Array, b: Array, c: Array) -> Array:
    """a * b + c, rounded once."""
    if a.dtype == np.float64:
        return _fma64(a, b, c)
    wide_c = c.astype(np.float64)
    product = a.astype(np.float64) * b.astype(np.float64)  # exact: at most 48 bits
    total = product + wide_c
    if _may_round_twice(total, a.dtype).any():
        finite = np.isfinite(total)
        odd = round_pair(np.where(finite, product, 0.0), np.where(finite, wide_c, 0.0), "odd")
        total = np.where(finite & (odd != 0), odd, total)
    return to_float(total, a.dtype)


def _may_round_twice(total: Array, dtype: np.dtype[Any]) -> Array:
    """Where a sum that was rounded to float64 lies half-way between numbers of a narrower format, or is
    subnormal there: only then does it matter how it was rounded before."""
    info = ml_dtypes.finfo(dtype)
    dropped = FLOAT64_FRACTION_BITS - info.nmant
    tie = (total.view(np.int64) & (1 << dropped) - 1) == 1 << dropped - 1
    return tie | ((np.abs(total) < 2 * float(info.smallest_normal)) & (total != 0))


def _fma64(a: Array, b: Array, c: Array) -> Array:
    """By error-free transformations; where they could over- or underflow, with rational numbers.

    The exact product is high + low. Of the exact sum, the two smaller parts are rounded to odd, so that
    the last addition is the only one that rounds (Boldo and Melquiond, 2008).
    """
    high = a * b
    low = product_error(a, b, high)
    first, rest = two_sum(c, low)
    total, small = two_sum(high, first)
    usual = (np.abs(high) < 2.0**900) & (np.abs(high) > 2.0**-900) & (np.abs(c) < 2.0**900)
    usual &= (np.abs(c) > 2.0**-900) | (c == 0)
    usual &= np.maximum(np.abs(a), np.abs(b)) < 2.0**900
    result = total + round_pair(np.where(usual, small, 0.0), np.where(usual, rest, 0.0), "odd")
    if not usual.all():
        exact = np.asarray(np.frompyfunc(_fma_of_one, 3, 1)(a, b, c)).astype(np.float64)
        result = np.where(usual, result, exact)
    return result


def _fma_of_one(x: float, y: float, z: float) -> float:
    if not (math.isfinite(x) and math.isfinite(y) and math.isfinite(z)):
        return z if math.isfinite(x) and math.isfinite(y) else x * y + z
    exact = Fraction(x) * Fraction(y) + Fraction(z)
    if exact == 0:
        return x * y + z if 0 in (x, y, z) else 0.0
    try:
        return float(exact)
    except OverflowError:
        return math.inf if exact > 0 else -math.inf


def round_half_away(value: Array) -> Array:
    """OpenCL's ``round``: halves away from zero."""
    whole = np.trunc(value)
    up = np.abs(value - whole) >= value.dtype.type(0.5)
    return np.copysign(np.where(up, whole + np.copysign(value.dtype.type(1), value), whole), value)


def exponent(value: Array) -> Array:
    """``logb``: the exponent as a floating-point number."""
    _, power = np.frexp(value)
    result = (power - 1).astype(value.dtype)
    result = np.where(value == 0, value.dtype.type(-np.inf), result)
    return np.where(np.isfinite(value), result, np.abs(value))


def integer_exponent(value: Array) -> Array:
    """``ilogb``."""
    _, power = np.frexp(value)
    result = np.where(value == 0, ILOGB_ZERO, power.astype(np.int64) - 1)
    return np.where(np.isfinite(value), result, ILOGB_NAN).astype(np.int32)


def load_exponent(value: Array, power: Array) -> Array:
    """``ldexp``, rounded once."""
    limited = np.clip(power, -5000, 5000)
    if value.dtype == np.float64:
        return np.ldexp(value, limited)
    return to_float(np.ldexp(value.astype(np.float64), limited), value.dtype)


def positive_difference(a: Array, b: Array) -> Array:
    """``fdim``."""
    return np.where(np.isnan(a) | np.isnan(b), a + b, np.where(a > b, a - b, a.dtype.type(0)))


def larger_magnitude(a: Array, b: Array) -> Array:
    """``maxmag``."""
    return np.where(np.abs(a) > np.abs(b), a, np.where(np.abs(b) > np.abs(a), b, np.fmax(a, b)))


def smaller_magnitude(a: Array, b: Array) -> Array:
    """``minmag``."""
    return np.where(np.abs(a) < np.abs(b), a, np.where(np.abs(b) < np.abs(a), b, np.fmin(a, b)))


def remainder_and_quotient(a: Array, b: Array) -> tuple[Array, Array]:
    """``remquo``: the IEEE remainder, and the low bits of the rounded quotient with its sign."""
    x, y = np.abs(a.astype(np.float64)), np.abs(b.astype(np.float64))
    scale = np.where(y > 2.0**1000, 2.0**-QUOTIENT_BITS, 1.0)  # so that multiples of y do not overflow
    rest, unit = np.fmod(x * scale, y * scale * 2.0**QUOTIENT_BITS), y * scale
    quotient = np.zeros(rest.shape, np.int64)
    for bit in range(QUOTIENT_BITS - 1, -1, -1):
        fits = rest >= unit * 2.0**bit
        rest = np.where(fits, rest - unit * 2.0**bit, rest)
        quotient += np.where(fits, 1 << bit, 0)
    above = (rest > unit - rest) | ((rest == unit - rest) & (quotient & 1 == 1))
    rest = np.where(above, rest - unit, rest) / scale
    quotient = (quotient + above) & (1 << QUOTIENT_BITS) - 1
    small = x < y * 0.5
    undefined = np.isnan(a) | np.isnan(b) | np.isinf(a) | (b == 0)
    rest = np.where(undefined, np.nan, np.where(small, x, rest))
    quotient = np.where(undefined | small, 0, quotient)
    rest = np.where(np.signbit(a), -rest, rest)
    quotient = np.where(np.signbit(a) != np.signbit(b), -quotient, quotient)
    return rest.astype(a.dtype), quotient.astype(np.int32)


def fraction_and_floor(value: Array) -> tuple[Array, Array]:
    """``fract``: the fraction, below 1, and the floor."""
    floor = np.floor(value)
    below_one = np.nextafter(value.dtype.type(1), value.dtype.type(0))
    fraction = np.minimum(value - floor, below_one)
    is_special = (value == 0) | np.isinf(value)
    return np.where(is_special, np.copysign(value.dtype.type(0), value), fraction), floor


def fraction_and_whole(value: Array) -> tuple[Array, Array]:
    """``modf``: both parts with the sign of the number."""
    fraction, whole = np.modf(value)
    return fraction, whole


def significand_and_exponent(value: Array) -> tuple[Array, Array]:
    """``frexp``."""
    significand, power = np.frexp(value)
    return significand, np.where(np.isfinite(value), power, 0).astype(np.int32)


def not_a_number(payload: Array) -> Array:
    """``nan``: a quiet NaN with the payload in its low bits."""
    bits = 8 * payload.dtype.itemsize
    fraction = {16: 10, 32: 23, 64: 52}[bits]
    quiet = (1 << bits - 1) - (1 << fraction - 1)
    mask = (1 << fraction - 1) - 1
    return ((payload & payload.dtype.type(mask)) | payload.dtype.type(quiet)).view(f"f{bits // 8}")


# --------------------------------------------------------------------------------------
# Functions of real numbers, in float64
# --------------------------------------------------------------------------------------


def _sine_of_pi(value: Array) -> Array:
    reduced = value - 2.0 * np.rint(value / 2.0)  # in [-1, 1], exact
    folded = np.where(np.abs(reduced) > 0.5, np.copysign(1.0 - np.abs(reduced), reduced), reduced)
    return np.copysign(np.sin(np.pi * folded), np.where(folded == 0, value, folded))


def _cosine_of_pi(value: Array) -> Array:
    reduced = np.abs(value - 2.0 * np.rint(value / 2.0))
    return np.sin(np.pi * (0.5 - reduced))


def _tangent_of_pi(value: Array) -> Array:
    reduced = value - np.rint(value)  # in [-0.5, 0.5]
    odd = np.fmod(np.rint(value), 2.0) != 0
    zero = np.where(odd != np.signbit(value), -0.0, 0.0)
    half = np.where(np.fmod(np.floor(value), 2.0) != 0, -np.inf, np.inf)
    steep = np.abs(reduced) > 0.25  # there a rounded product with pi would be far off
    slope = np.tan(np.pi * np.where(steep, np.copysign(0.5, reduced) - reduced, reduced))
    result = np.where(steep, 1.0 / slope, slope)
    return np.where(reduced == 0, zero, np.where(np.abs(reduced) == 0.5, half, result))


def _power_of_positive(base: Array, power: Array) -> Array:
    """``powr``: defined as exp(power * log(base)), so with fewer special values than ``pow``."""
    undefined = (base < 0) | ((base == 0) & (power == 0)) | (np.isinf(base) & (power == 0))
    undefined |= (base == 1) & np.isinf(power)
    return np.where(undefined | np.isnan(base) | np.isnan(power), np.nan, np.power(np.abs(base), power))


def _root(value: Array, degree: Array) -> Array:
    """``rootn``."""
    odd = degree % 2 != 0
    result = np.power(np.abs(value), 1.0 / degree.astype(np.float64))
    result = np.where(np.signbit(value) & odd, -result, result)
    return np.where((degree == 0) | ((value < 0) & ~odd), np.nan, result)


def _gamma(value: float) -> float:
    if value == 0:
        return math.copysign(math.inf, value)
    try:
        return math.gamma(value)
    except OverflowError:
        return math.inf if value > 0 or math.floor(value) % 2 == 0 else -math.inf


def _log_gamma(value: float) -> float:
    return math.inf if value <= 0 and value == math.floor(value) else math.lgamma(value)


log_gamma = in_double(_each(_log_gamma))


def log_gamma_and_sign(value: Array) -> tuple[Array, Array]:
    """``lgamma_r``: the logarithm, and the sign of the gamma function."""
    wide = value.astype(np.float64)
    negative = (wide < 0) & (np.fmod(np.floor(wide), 2.0) != 0)
    return log_gamma(value), np.where(negative, -1, 1).astype(np.int32)


def _smooth_step(low: Array, high: Array, value: Array) -> Array:
    t = np.clip((value - low) / (high - low), 0.0, 1.0)
    return t * t * (3.0 - 2.0 * t)


def _sign(value: Array) -> Array:
    return np.where(np.isnan(value), 0.0, np.where(value == 0, value, np.sign(value)))


# --------------------------------------------------------------------------------------
# Geometry: on vectors [..., n], or on scalars as vectors of one component
# --------------------------------------------------------------------------------------


def _norm(vector: Array) -> Array:
    """The length of ``[S, L, n]``, without overflow of the squares."""
    wide = vector.astype(np.float64)
    return np.hypot.reduce(wide, axis=-1) if vector.ndim == 3 else np.abs(wide)


def length(vector: Array) -> Array:
    """The length of a vector, a scalar."""
    return to_float(_norm(vector), vector.dtype)


def distance(a: Array, b: Array) -> Array:
    """The distance of two points, a scalar."""
    return to_float(_norm(a.astype(np.float64) - b.astype(np.float64)), a.dtype)


def normalize(vector: Array) -> Array:
    """The vector divided by its length; a zero vector as it is."""
    wide, norm = vector.astype(np.float64), _norm(vector)
    infinite = np.isinf(wide)
    if infinite.any():
        of_infinite = (infinite if vector.ndim == 2 else infinite.any(axis=-1, keepdims=True))
        wide = np.where(of_infinite, np.where(infinite, np.copysign(1.0, wide), np.copysign(0.0, wide)), wide)
        norm = _norm(wide)
    divisor = np.where(norm == 0, 1.0, norm)
    return to_float(wide / (divisor[..., None] if vector.ndim == 3 else divisor), vector.dtype)


def cross(a: Array, b: Array) -> Array:
    """The cross product of 3-component vectors; a fourth component becomes 0."""
    wide = np.cross(a[..., :3].astype(np.float64), b[..., :3].astype(np.float64))
    if a.shape[-1] == 4:
        wide = np.concatenate([wide, np.zeros_like(wide[..., :1])], axis=-1)
    return to_float(wide, a.dtype)


# --------------------------------------------------------------------------------------
# The table
# --------------------------------------------------------------------------------------

_REAL: dict[str, Callable[..., Any]] = {
    "acos": np.arccos, "acosh": np.arccosh, "acospi": lambda x: np.arccos(x) / np.pi,
    "asin": np.arcsin, "asinh": np.arcsinh, "asinpi": lambda x: np.arcsin(x) / np.pi,
    "atan": np.arctan, "atanh": np.arctanh, "atanpi": lambda x: np.arctan(x) / np.pi,
    "atan2": np.arctan2, "atan2pi": lambda y, x: np.arctan2(y, x) / np.pi,
    "cbrt": np.cbrt, "cos": np.cos, "cosh": np.cosh, "cospi": _cosine_of_pi,
    "erf": _each(math.erf), "erfc": _each(math.erfc),
    "exp": np.exp, "exp2": np.exp2, "exp10": lambda x: np.power(10.0, x), "expm1": np.expm1,
    "hypot": np.hypot, "log": np.log, "log2": np.log2, "log10": np.log10, "log1p": np.log1p,
    "pow": np.power, "pown": lambda x, n: np.power(x, n.astype(np.float64)), "powr": _power_of_positive,
    "rootn": _root, "rsqrt": lambda x: 1.0 / np.sqrt(x),
    "sin": np.sin, "sinh": np.sinh, "sinpi": _sine_of_pi, "sqrt": np.sqrt,
    "tan": np.tan, "tanh": np.tanh, "tanpi": _tangent_of_pi, "tgamma": _each(_gamma),
    "degrees": np.degrees, "radians": np.radians, "mix": lambda x, y, a: x + (y - x) * a,
    "smoothstep": _smooth_step, "sign": _sign,
}
_FAST = ("cos", "exp", "exp2", "exp10", "log", "log2", "log10", "powr", "rsqrt", "sin", "sqrt", "tan")

FUNCTIONS: dict[str, Function] = {
    **{name: in_double(function) for name, function in _REAL.items()},
    **{f"{prefix}_{name}": in_double(_REAL[name]) for prefix in ("half", "native") for name in _FAST},
    **{f"{prefix}_divide": np.divide for prefix in ("half", "native")},
    **{f"{prefix}_recip": lambda x: x.dtype.type(1) / x for prefix in ("half", "native")},
    "ceil": np.ceil,
    "copysign": np.copysign,
    "fabs": np.abs,
    "fdim": positive_difference,
    "floor": np.floor,
    "fma": fused_multiply_add,
    "mad": fused_multiply_add,
    "fmax": np.fmax,
    "fmin": np.fmin,
    "fmax_common": np.fmax,
    "fmin_common": np.fmin,
    "fmod": np.fmod,
    "fclamp": lambda value, low, high: np.fmin(np.fmax(value, low), high),
    "ilogb": integer_exponent,
    "ldexp": load_exponent,
    "lgamma": log_gamma,
    "logb": exponent,
    "maxmag": larger_magnitude,
    "minmag": smaller_magnitude,
    "nan": not_a_number,
    "nextafter": np.nextafter,
    "remainder": lambda a, b: remainder_and_quotient(a, b)[0],
    "rint": np.rint,
    "round": round_half_away,
    "trunc": np.trunc,
    "step": lambda edge, value: np.where(value < edge, value.dtype.type(0), value.dtype.type(1)),
    "cross": cross,
    "distance": distance,
    "fast_distance": distance,
    "length": length,
    "fast_length": length,
    "normalize": normalize,
    "fast_normalize": normalize,
}

PAIRS: dict[str, Callable[..., tuple[Array, Array]]] = {
    "fract": fraction_and_floor,
    "frexp": significand_and_exponent,
    "lgamma_r": log_gamma_and_sign,
    "modf": fraction_and_whole,
    "remquo": remainder_and_quotient,
    "sincos": lambda value: (FUNCTIONS["sin"](value), FUNCTIONS["cos"](value)),
}
"""Functions with a second result, which is stored through their last operand."""
