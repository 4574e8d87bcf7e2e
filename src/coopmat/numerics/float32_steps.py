"""Models that round to float32 (or float64) after every step: chains of fused multiply-adds, and pairwise trees.

A fused step in float32 is computed in float64 and rounded once more. That is right: the operands of the addition have
at most 24 significant bits, and 53 bits are enough for their sum to be rounded twice without harm (Figueroa 1995).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from coopmat.formats import Format, round_to
from coopmat.numerics.fused import fused_chain
from coopmat.numerics.terms import Array, Terms

_LEAST_NORMAL = 2.0**-126
# What x86 flushes: results that are below the least normal number after rounding to 24 bits.
_FLUSHED = 2.0**-126 - 2.0**-151
_DEFAULT_NAN = np.uint32(0xFFC00000)  # x86's
_QUIET = np.uint32(0x00400000)
_QUIET_FLOAT64 = np.uint64(1 << 51)
Bits = NDArray[np.uint32]
Floats = TypeVar("Floats", NDArray[np.float32], NDArray[np.float64])


def to_float32(values: Array) -> Array:
    """Rounded to nearest, ties to even, and widened again."""
    return values.astype(np.float32).astype(np.float64)


def flushed(values: Floats, limit: float = _LEAST_NORMAL) -> Floats:
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
        """The elements of ``A*B + C`` as float32, NaNs with the payloads that x86 gives them."""
        a, b = (flushed(x.copy()) for x in (terms.a, terms.b))
        if len(a) % 2:
            a, b = (np.concatenate([x, np.zeros((1, *x.shape[1:]))]) for x in (a, b))
        result = flushed(terms.c.copy())
        with np.errstate(all="ignore"):
            for start in range(0, len(a), self.products):
                tile = slice(start, start + self.products)
                result = flushed(to_float32(result + _sum_of_chains(a[tile], b[tile], result.shape)))
        found = result.astype(np.float32)
        is_nan = np.isnan(result)
        if is_nan.any():
            a, b = (np.broadcast_to(x, (len(x), *result.shape))[:, is_nan] for x in (a, b))
            found.view(np.uint32)[is_nan] = self._nan_bits(a, b, terms.c[is_nan])
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


def _sum_of_chains(a: Array, b: Array, shape: tuple[int, ...]) -> Array:
    even, odd = np.zeros(shape), np.zeros(shape)
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
        """The elements of ``A*B + C`` in storage of D's format."""
        missing = -len(terms.a) % self.group
        a, b = (_zero_below(x, self.least_input) for x in (terms.a, terms.b))
        a, b = (np.concatenate([x, np.zeros((missing, *x.shape[1:]), np.float32)]) for x in (a, b))
        total = _zero_below(terms.c, _LEAST_NORMAL)
        with np.errstate(all="ignore"):
            for start in range(0, len(a), self.group):
                sums = flushed(a[start:start + self.group] * b[start:start + self.group])
                while len(sums) > 1:
                    sums = flushed(sums[0::2] + sums[1::2])
                total = flushed(total + sums[0])
        return round_to(total, d_format)


def _zero_below(values: Array, limit: float) -> NDArray[np.float32]:
    """+0 for numbers below ``limit``; zeros keep their signs."""
    return np.where((np.abs(values) < limit) & (values != 0), 0.0, values).astype(np.float32)


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
        """The elements of ``A*B + C`` as float64."""
        total = fused_chain(terms.a, terms.b, terms.c)
        is_nan = np.isnan(total)
        if is_nan.any():
            total.view(np.uint64)[is_nan] = self._nan_bits(terms.where(is_nan))
        return total

    def _nan_bits(self, terms: Terms) -> NDArray[np.uint64]:
        """The NaNs of elements that are some, step by step."""
        total = terms.c
        for k in range(len(terms.a)):
            operands = {"a": terms.a[k], "b": terms.b[k], "c": total}
            total = fused_chain(terms.a[k:k + 1], terms.b[k:k + 1], total)
            bits = np.full(total.shape, self.default_nan, np.uint64)
            for values in (operands[name] for name in reversed(self.nan_order)):
                bits = np.where(np.isnan(values), values.view(np.uint64) | _QUIET_FLOAT64, bits)
            is_nan = np.isnan(total)
            total.view(np.uint64)[is_nan] = bits[is_nan]
        return total.view(np.uint64)
