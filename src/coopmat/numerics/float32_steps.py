"""Models that round to float32 (or float64) after every step: chains of fused multiply-adds, and pairwise trees.

A step is computed in float64 and rounded once more. That is right: the operands of every addition have at most 24
significant bits, and 53 bits are enough for their sum to be rounded twice without harm (Figueroa 1995).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from coopmat.formats import FORMATS, Format, round_pair, round_to
from coopmat.numerics.summation import product_error, rounded_exact_sum, two_sum
from coopmat.numerics.terms import Array, Mask, Terms

_LEAST_NORMAL = 2.0**-126
# What x86 flushes: results that are below the least normal number after rounding to 24 bits.
_FLUSHED = 2.0**-126 - 2.0**-151
_DEFAULT_NAN = np.uint32(0xFFC00000)  # x86's
_QUIET = np.uint32(0x00400000)
_SMALLEST, _LARGEST = 2.0**-900, 2.0**500  # between them, float64's errors can be computed exactly
Bits = NDArray[np.uint32]


def to_float32(values: Array) -> Array:
    """Rounded to nearest, ties to even, and widened again."""
    return values.astype(np.float32).astype(np.float64)


def flushed(values: Array, limit: float = _LEAST_NORMAL) -> Array:
    """Zeros, with their signs, for numbers below ``limit``; in place."""
    small = np.abs(values) < limit
    if small.any():
        values[small] = np.copysign(0.0, values[small])
    return values


# --------------------------------------------------------------------------------------
# Intel AMX
# --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class TwoChains:
    """AMX: one chain of fused multiply-adds over the even k and one over the odd ones, both from +0; their sum is
    added to C. Subnormal numbers are zero, on input (where their format has float32's exponents) and on output.

    products: of one tile instruction; more of them run tile after tile.
    """

    products: int

    def accumulate(self, terms: Terms, d_format: Format) -> NDArray[np.float32]:
        """The elements of ``A*B + C`` as float32 [E], NaNs with the payloads that x86 gives them."""
        a, b = (flushed(x.copy()) for x in (terms.a, terms.b))
        if len(a) % 2:
            a, b = (np.concatenate([x, np.zeros((1, x.shape[1]))]) for x in (a, b))
        result = flushed(terms.c.copy())
        with np.errstate(all="ignore"):
            for start in range(0, len(a), self.products):
                tile = slice(start, start + self.products)
                result = flushed(to_float32(result + _sum_of_chains(a[tile], b[tile])))
        found = result.astype(np.float32)
        is_nan = np.isnan(result)
        if is_nan.any():
            found.view(np.uint32)[is_nan] = self._nan_bits(a[:, is_nan], b[:, is_nan], terms.c[is_nan])
        return found

    def _nan_bits(self, a: Array, b: Array, c: Array) -> Bits:
        """Which NaN comes out: the payload of an operand that is one, else x86's default."""
        result, held = flushed(c.copy()), _operand_nan(c)
        with np.errstate(all="ignore"):
            for start in range(0, len(a), self.products):
                chains = [np.zeros(len(c)), np.zeros(len(c))]
                nans = [np.zeros(len(c), np.uint32), np.zeros(len(c), np.uint32)]
                for k in range(start, min(start + self.products, len(a))):
                    chain = k % 2
                    value = _fused(a[k], b[k], chains[chain])
                    nans[chain] = _first(_operand_nan(a[k]), _operand_nan(b[k]), nans[chain], _made(value))
                    chains[chain] = value
                both = flushed(to_float32(chains[0] + chains[1]))
                of_both = _first(nans[0], nans[1], _made(both))
                result = flushed(to_float32(result + both))
                held = _first(held, of_both, _made(result))
        return held


def _sum_of_chains(a: Array, b: Array) -> Array:
    even, odd = np.zeros(a.shape[1]), np.zeros(a.shape[1])
    for k in range(0, len(a), 2):
        even = _fused(a[k], b[k], even)
        odd = _fused(a[k + 1], b[k + 1], odd)
    return flushed(to_float32(even + odd))


def _fused(a: Array, b: Array, c: Array) -> Array:
    total = a * b
    total += c
    small = np.abs(total) < _FLUSHED
    total = to_float32(total)
    if small.any():
        total[small] = np.copysign(0.0, total[small])
    return total


def _operand_nan(values: Array) -> Bits:
    """The quiet NaN that an operand gives, 0 where it is none."""
    bits: Bits = round_to(values, "fp32").view(np.uint32)
    return np.where(np.isnan(values), bits | _QUIET, np.uint32(0))


def _made(values: Array) -> Bits:
    """The NaN of an invalid operation, 0 where there was none."""
    return np.where(np.isnan(values), _DEFAULT_NAN, np.uint32(0))


def _first(*candidates: Bits) -> Bits:
    result = candidates[0]
    for candidate in candidates[1:]:
        result = np.where(result != 0, result, candidate)
    return result


# --------------------------------------------------------------------------------------
# AMD matrix cores
# --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class PairwiseTree:
    """AMD CDNA2: the sum of ``group`` products, pair by pair, is added to C; then come the next products. Every
    operation rounds to float32; subnormal numbers are zero on input and output."""

    group: int
    least_input: float  # of the input format's normal numbers

    def accumulate(self, terms: Terms, d_format: Format) -> NDArray[np.generic]:
        """The elements of ``A*B + C`` in storage of D's format [E]."""
        missing = -len(terms.a) % self.group
        a, b = (np.where(np.abs(x) < self.least_input, 0.0, x) for x in (terms.a, terms.b))
        a, b = (np.concatenate([x, np.zeros((missing, x.shape[1]))]) for x in (a, b))
        total = np.where(np.abs(terms.c) < _LEAST_NORMAL, 0.0, terms.c)
        with np.errstate(all="ignore"):
            for start in range(0, len(a), self.group):
                products = flushed(to_float32(a[start:start + self.group] * b[start:start + self.group]))
                while len(products) > 1:
                    products = flushed(to_float32(products[0::2] + products[1::2]))
                total = flushed(to_float32(total + products[0]))
        return round_to(total, d_format)


# --------------------------------------------------------------------------------------
# float64
# --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Float64Chain:
    """A chain of IEEE fused multiply-adds in float64 from C, k ascending. ``default_nan`` is what an invalid operation
    gives; a NaN operand comes out quiet, the first of ``nan_order`` (of the letters a, b and c) that is one."""

    default_nan: int
    nan_order: str

    def accumulate(self, terms: Terms, d_format: Format) -> NDArray[np.float64]:
        """The elements of ``A*B + C`` as float64 [E]."""
        total = terms.c
        with np.errstate(all="ignore"):
            products = terms.a * terms.b
            lows = product_error(terms.a, terms.b, products)
        for a, b, product, low in zip(terms.a, terms.b, products, lows, strict=True):
            before, total = total, _fused_float64(a, b, total, product, low)
            is_nan = np.isnan(total)
            if is_nan.any():
                operands = {"a": a[is_nan], "b": b[is_nan], "c": before[is_nan]}
                total.view(np.uint64)[is_nan] = self._nan_bits(operands)
        return total

    def _nan_bits(self, operands: dict[str, Array]) -> NDArray[np.uint64]:
        result = np.full(len(operands["a"]), self.default_nan, np.uint64)
        for name in reversed(self.nan_order):
            values = operands[name]
            quiet = values.view(np.uint64) | np.uint64(1 << 51)
            result = np.where(np.isnan(values), quiet, result)
        return result


def _fused_float64(a: Array, b: Array, c: Array, product: Array, low: Array) -> Array:
    """``a * b + c``, rounded once, where ``product + low`` is the exact product (Boldo and Melquiond 2008: the errors
    of product and sum, rounded to odd)."""
    with np.errstate(all="ignore"):
        high, first = two_sum(c, low)
        total, second = two_sum(product, high)
        result = total + round_pair(first, second, "odd")
        easy = np.isfinite(result) & (np.abs(product) > _SMALLEST) & (np.abs(result) < _LARGEST) & (
            np.abs(c) < _LARGEST) & ((np.abs(c) > _SMALLEST) | (c == 0))
    if easy.all():
        return result
    rest = ~easy
    result[rest] = _fused_carefully(a[rest], b[rest], c[rest], result[rest])
    return result


def _fused_carefully(a: Array, b: Array, c: Array, found: Array) -> Array:
    """The same for zeros, infinities, NaNs, and numbers whose errors could not be computed exactly; ``found`` is right
    for the others."""
    with np.errstate(all="ignore"):
        product = a * b
        plain = product + c
    finite = np.isfinite(a) & np.isfinite(b)
    result = np.where((a == 0) | (b == 0) | ~finite, plain, found)
    infinite = finite & ~np.isfinite(c)
    result[infinite] = c[infinite]
    for index in np.flatnonzero(finite & ~infinite & _is_unsafe(a, b, c, product)):
        result[index] = rounded_exact_sum(a[index:index + 1], b[index:index + 1], float(c[index]), FORMATS["fp64"])
    return result


def _is_unsafe(a: Array, b: Array, c: Array, product: Array) -> Mask:
    """Where an error could not be computed exactly."""
    large = np.maximum(np.abs(a), np.maximum(np.abs(b), np.abs(c))) > _LARGEST
    small = (np.abs(product) < _SMALLEST) | ((np.abs(c) < _SMALLEST) & (c != 0))
    found: Mask = (large | small) & (a != 0) & (b != 0)
    return found
