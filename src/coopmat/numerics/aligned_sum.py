"""Aligned sums: how NVIDIA's tensor cores add the products of a block.

All products of a block and the accumulator are aligned at the largest exponent, cut off (towards zero) after a number
of fraction bits, added exactly, and converted once. :class:`AlignedSum` says how long a block is and what is kept.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from coopmat.formats import FORMATS, Format
from coopmat.numerics.terms import Array, Exponents, Terms, exponents_of

_LEAST_EXPONENT = -600  # where all terms are zero


@dataclass(frozen=True, slots=True)
class AlignedSum:
    """One row: a block of ``products`` (an instruction with more of them runs block after block, in ascending k).

    fraction_bits: kept below the largest exponent of a block's terms.
    floor: the least exponent that terms are aligned at, None for no limit.
    truncates: whether a block's sum is converted to float32 by truncation; else it is converted to D's format, to
        nearest, ties to even.
    """

    products: int
    fraction_bits: int
    floor: int | None
    truncates: bool

    def accumulate(self, terms: Terms, d_format: Format) -> Array:
        """The elements of ``A*B + C`` as float64, in float32 or D's format; C is in the same format."""
        block_format = FORMATS["fp32"] if self.truncates else d_format
        result = terms.c
        for start in range(0, len(terms.a), self.products):
            result = self._block(terms.block(start, start + self.products, result), block_format)
        return result

    def _block(self, terms: Terms, fmt: Format) -> Array:
        finite = terms.finite
        if finite.all():
            return self._finite_block(terms, fmt)
        result = np.empty_like(terms.c)
        result[finite] = self._finite_block(terms.where(finite), fmt)
        result[~finite] = special_sum(terms.where(~finite))
        return result

    def _finite_block(self, terms: Terms, fmt: Format) -> Array:
        exponent = (terms.a_exponents + terms.b_exponents).max(axis=0)
        np.maximum(exponent, exponents_of(terms.c, fmt), out=exponent)
        np.maximum(exponent, _LEAST_EXPONENT if self.floor is None else self.floor, out=exponent)
        scale = _power_of_two(self.fraction_bits - exponent)
        aligned = terms.a * terms.b
        aligned *= scale
        np.trunc(aligned, out=aligned)
        total = aligned.sum(axis=0)
        total += np.trunc(terms.c * scale)
        total += 0.0  # -0 becomes +0
        total /= scale
        return self._truncated(total, exponent, fmt) if self.truncates else _rounded(total, fmt)

    def _truncated(self, total: Array, exponent: Exponents, fmt: Format) -> Array:
        """Cut off below the precision of a format, and below its least subnormal number; but too large a number
        becomes infinity, not the largest finite one. The exponents say where that cannot happen."""
        kept = (total.view(np.int64) & np.int64(-(1 << 52 - fmt.fraction_bits))).view(np.float64)
        least = fmt.min_exponent - fmt.fraction_bits
        if (exponent < least + self.fraction_bits).any():
            small = np.abs(total) < 2.0**fmt.min_exponent
            kept[small] = np.trunc(total[small] / 2.0**least) * 2.0**least + 0.0
        if (exponent > fmt.max_exponent - 2 - (self.products + 1).bit_length()).any():
            too_large = np.abs(total) >= 2.0 ** (fmt.max_exponent + 1)
            kept[too_large] = np.copysign(np.inf, total[too_large])
        return kept


def _power_of_two(exponent: Exponents) -> Array:
    """2**exponent, of normal numbers."""
    return ((exponent.astype(np.int64) + 1023) << 52).view(np.float64)


def _rounded(values: Array, fmt: Format) -> Array:
    """To nearest, ties to even, in a format that is one of numpy's; what rounds to zero is +0."""
    return values.astype(fmt.dtype).astype(np.float64) + 0.0


def special_sum(terms: Terms) -> Array:
    """Infinity or NaN where a term is not finite: NaN for a NaN, for an infinity times zero, and for infinities of
    both signs. What is finite counts by its sign alone."""
    with np.errstate(invalid="ignore"):
        a, b = (np.where(np.isfinite(x), np.sign(x), x) for x in (terms.a, terms.b))
        products = a * b
        return np.where(np.isfinite(products), 0.0, products).sum(axis=0) + np.where(
            np.isfinite(terms.c), 0.0, terms.c)
