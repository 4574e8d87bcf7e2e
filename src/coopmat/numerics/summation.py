"""Sums of products with known errors, for results that are rounded exactly once.

All functions work on finite float64 numbers. ``a`` and ``b`` hold the factors of the products, ``c`` the
number added to them. "Error" is always a rigorous bound of the distance from the exact sum.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from coopmat.formats import Format, round_pair, round_to

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

_UNIT_ROUNDOFF = 2.0**-53
# Within these limits neither products nor their errors nor sums of them over- or underflow.
_LARGEST_SAFE = 2.0**490
_SMALLEST_SAFE_PRODUCT = 2.0**-900


# --------------------------------------------------------------------------------------
# Matrix products in float64
# --------------------------------------------------------------------------------------


def float64_sum(a: Array, b: Array, c: Array) -> tuple[Array, Array, Array]:
    """(sum, magnitude, error) of ``a @ b + c``; magnitude is about the sum of the terms' magnitudes.

    In any order of summation, with fused operations or not, the rounding errors of K products and K
    additions stay below K + 1 units of roundoff times the magnitude; the bound here has room for the
    rounding of the magnitude itself and of ``sum - error`` and ``sum + error``. A zero sum is +0. Where
    the magnitude is not finite or is near overflow, the error is infinite.
    """
    k = a.shape[-1]
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        total = (np.matmul(a, b) + 0.0) + c
        magnitude = np.matmul(np.abs(a), np.abs(b)) + np.abs(c)
        error = 1.01 * (k + 8) * _UNIT_ROUNDOFF * magnitude
    return total, magnitude, np.where(magnitude < 2.0**1000, error, np.inf)


def underflow_error(k: int) -> float:
    """What K float64 products that underflow may add to the error of a sum and to that of its magnitude."""
    return (k + 1) * 2.0**-1070


def has_exact_float64_sum(a: Array, b: Array, c: Array, magnitude: Array) -> Mask:
    """Where every partial sum of ``a @ b + c`` is a float64 number, so that no operation rounds.

    That holds if all terms are multiples of one power of two and their magnitudes add up to less than
    2**52 times that power.
    """
    with np.errstate(over="ignore", under="ignore"):
        products = _lowest_bit(a).min(axis=-1, initial=np.inf)[..., :, np.newaxis] * \
            _lowest_bit(b).min(axis=-2, initial=np.inf)[..., np.newaxis, :]
        quantum = np.minimum(products, _lowest_bit(c))
        result: Mask = magnitude < quantum * 2.0**52
    return result


def _lowest_bit(values: Array) -> Array:
    """The weight of the least significant one bit of each number; infinity for zero."""
    bits = values.view(np.int64)
    exponent = (bits >> 52) & 0x7FF
    significand = bits & ((1 << 52) - 1)
    significand |= (exponent > 0).astype(np.int64) << 52
    weight = np.ldexp((significand & -significand).astype(np.float64), np.maximum(exponent, 1) - 1075)
    return np.where(significand == 0, np.inf, weight)


# --------------------------------------------------------------------------------------
# Compensated sums
# --------------------------------------------------------------------------------------


def compensated_sum(a: Array, b: Array, c: Array, *, exact_products: bool) -> tuple[Array, Array, Array]:
    """(high, low, error) of ``(a * b).sum(-1) + c`` for a, b of shape [n, K] and c of shape [n].

    The sum is ``high + low``, up to ``error``. The rounding errors of products and additions are
    computed exactly (Dekker, Knuth) and added up in turn; only the errors of that second sum are lost.
    exact_products: the caller knows that no product rounds. The error is infinite where a term is too
    large or too small for this.
    """
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        products = a * b
        high, errors = _distill(np.concatenate([products, c[:, np.newaxis]], axis=-1))
        safe: Mask = np.abs(c) < _LARGEST_SAFE
        if not exact_products:
            errors = np.concatenate([errors, product_error(a, b, products)], axis=-1)
            safe &= _are_safe(a, b, products)
        low, lost = _distill(errors)
        error = 1.01 * np.abs(lost).sum(axis=-1)
    high, low = two_sum(high, low)
    return high, low, np.where(safe, error, np.inf)


def _distill(terms: Array) -> tuple[Array, Array]:
    """The rounded sums [n] of terms [n, T], and the rounding errors [n, T - 1] that they lack."""
    errors = [np.empty((len(terms), 0))]
    sums = np.concatenate([terms, np.zeros((len(terms), 1))], axis=-1) if terms.shape[-1] == 0 else terms
    while sums.shape[-1] > 1:
        half = sums.shape[-1] // 2
        pairs, lost = two_sum(sums[:, :half], sums[:, half:2 * half])
        errors.append(lost)
        sums = np.concatenate([pairs, sums[:, 2 * half:]], axis=-1)
    return sums[:, 0], np.concatenate(errors, axis=-1)


def two_sum(x: Array, y: Array) -> tuple[Array, Array]:
    """The rounded sum of two numbers and its exact rounding error."""
    total = x + y
    y_part = total - x
    return total, (x - (total - y_part)) + (y - y_part)


def product_error(a: Array, b: Array, products: Array) -> Array:
    """The exact rounding errors of products (no fused multiply-add in numpy: the factors are split)."""
    a_high, a_low = _split(a)
    b_high, b_low = _split(b)
    return ((a_high * b_high - products) + a_high * b_low + a_low * b_high) + a_low * b_low


def _split(values: Array) -> tuple[Array, Array]:
    """Each number as the sum of two whose products with other such halves are exact."""
    scaled = values * (2.0**27 + 1)
    high = scaled - (scaled - values)
    return high, values - high


def _are_safe(a: Array, b: Array, products: Array) -> Mask:
    """Per sum: no product is so large or so small that its error could not be computed exactly."""
    small = (np.abs(a) < _LARGEST_SAFE) & (np.abs(b) < _LARGEST_SAFE)
    large = (np.abs(products) > _SMALLEST_SAFE_PRODUCT) | (a == 0) | (b == 0)
    return np.logical_and.reduce(small & large, axis=-1)


def round_interval(high: Array, low: Array, error: Array, fmt: Format) -> tuple[NDArray[Any], Mask]:
    """``high + low``, known up to ``error``, rounded once to ``fmt``, and where that is certain.

    It is certain where both ends of the interval round to the same number, the sign of zero included:
    rounding is monotonic.
    """
    mode: Literal["rte", "odd"] = "rte" if fmt.name == "fp64" else "odd"
    with np.errstate(over="ignore", invalid="ignore"):
        inexact = error > 0
        below = np.where(inexact, np.nextafter(low - error, -np.inf), low)
        above = np.where(inexact, np.nextafter(low + error, np.inf), low)
        lower, upper = (round_to(round_pair(high, end, mode), fmt) for end in (below, above))
    return lower, same_bits(lower, upper, fmt) & np.isfinite(error)


def same_bits(x: NDArray[Any], y: NDArray[Any], fmt: Format) -> Mask:
    """Where two arrays in storage of ``fmt`` have the same bits."""
    result: Mask = x.view(fmt.bits_dtype) == y.view(fmt.bits_dtype)
    return result


# --------------------------------------------------------------------------------------
# Integers
# --------------------------------------------------------------------------------------


def rounded_exact_sum(a: Array, b: Array, c: float, fmt: Format) -> float:
    """``(a * b).sum() + c`` for vectors a and b, computed with integers and rounded once to ``fmt``."""
    total = Fraction(c)
    for x, y in zip(a.tolist(), b.tolist(), strict=True):
        total += Fraction(x) * Fraction(y)
    return _round_dyadic(total, fmt)


def _round_dyadic(value: Fraction, fmt: Format) -> float:
    """A fraction whose denominator is a power of two, to the nearest number of ``fmt``, ties to even."""
    if value == 0:
        return 0.0
    sign, magnitude = (-1.0 if value < 0 else 1.0), abs(value)
    exponent = -(magnitude.denominator.bit_length() - 1)  # magnitude = numerator * 2**exponent
    top = magnitude.numerator.bit_length() - 1 + exponent
    quantum = max(top, fmt.min_exponent) - fmt.fraction_bits
    # Python rounds a fraction to the nearest integer, ties to even.
    significand = round(magnitude / Fraction(2) ** quantum)
    if significand.bit_length() - 1 + quantum > fmt.max_exponent:
        return sign * math.inf
    return sign * math.ldexp(significand, quantum)
