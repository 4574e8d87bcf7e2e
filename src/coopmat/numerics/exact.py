"""The arithmetic of ``sim:generic``: the exact ``A*B + C``, rounded once to the format of D.

Floating-point results are found in four steps, each for the elements that the one before left open:

1. a float64 matrix product with a bound of its error: if both ends of the interval round to the same
   number, that number is the result (Ziv's test);
2. the same product where it can be shown that no operation in it rounded;
3. a compensated sum, whose error is smaller by a factor of about 2**53, and the same test;
4. exact rational numbers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from coopmat.diagnostics import Error
from coopmat.formats import Format, drop_unused_bits, round_to
from coopmat.numerics import summation
from coopmat.numerics.integers import multiply_accumulate_integers
from coopmat.numerics.operands import Operands, check_operands

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]
Index = tuple[NDArray[np.intp], ...]

_TERMS_AT_A_TIME = 1 << 20


def matrix_multiply_accumulate_exact(
        a: ArrayLike, b: ArrayLike, c: ArrayLike, *, a_format: str | Format, b_format: str | Format,
        c_format: str | Format, d_format: str | Format, saturating: bool = False) -> NDArray[Any]:
    """``D = A*B + C``, exact and rounded once.

    a, b, c: arrays [..., M, K], [..., K, N] and [..., M, N] of the storage types of their formats
        (integers of the same width but other signedness are reinterpreted); leading axes are a batch.
    d_format: the format of the result, an array [..., M, N] of its storage type.
    saturating: clamp integer results to D's range instead of keeping them modulo 2**bits.

    Floating point: to nearest, ties to even, subnormal numbers kept, overflow to infinity. The result
    is NaN (the positive quiet one without payload) if any operand is NaN, an infinity meets a zero in
    a product, or infinities of both signs are added. An exact zero is +0, unless C and all products
    are -0. The low 13 bits of tf32 operands are cut off.
    Raises :class:`coopmat.Error` if types or shapes do not fit.
    """
    operands = check_operands(a, b, c, a_format=a_format, b_format=b_format, c_format=c_format,
                              d_format=d_format)
    if not operands.is_float:
        return multiply_accumulate_integers(operands, saturating)
    if saturating:
        raise Error(f"only integers are accumulated with saturation, not {operands.d_format}")
    return _multiply_accumulate_floats(operands)


@dataclass(frozen=True, slots=True)
class _Terms:
    """The operands as float64: A [..., M, K], B [..., K, N], C [..., M, N] with the same batch axes."""

    a: Array
    b: Array
    c: Array

    def of(self, index: Index) -> tuple[Array, Array, Array]:
        """The terms of n elements of D: A [n, K], B [n, K] and C [n]."""
        *batch, row, column = index
        return self.a[(*batch, row)], np.swapaxes(self.b, -1, -2)[(*batch, column)], self.c[index]

    def chunks(self, mask: Mask) -> Iterator[Index]:
        """The indices of the marked elements of D, so many at a time that their terms fit into memory."""
        if not mask.any():
            return
        index = np.nonzero(mask)
        step = max(1, _TERMS_AT_A_TIME // (self.a.shape[-1] + 1))
        for start in range(0, len(index[0]), step):
            yield tuple(axis[start:start + step] for axis in index)


def _multiply_accumulate_floats(operands: Operands) -> NDArray[Any]:
    terms = _float64_terms(operands)
    finite_terms, is_finite = _without_nonfinite(terms)
    fmt = operands.d_format
    exact_products = "fp64" not in (operands.a_format.name, operands.b_format.name)
    result, is_settled = _round_float64_sum(finite_terms, fmt, exact_products)
    for index in terms.chunks(is_finite & ~is_settled):
        result[index] = _round_accurate_sum(*finite_terms.of(index), fmt, exact_products)
    for index in terms.chunks(~is_finite):
        result[index] = round_to(_nonfinite_sum(*terms.of(index)), fmt)
    return result


def _float64_terms(operands: Operands) -> _Terms:
    batch = operands.shape[:-2]
    arrays = (operands.a, operands.b, operands.c)
    formats = (operands.a_format, operands.b_format, operands.c_format)
    with np.errstate(invalid="ignore"):  # signalling NaNs
        a, b, c = (drop_unused_bits(array, fmt).astype(np.float64)
                   for array, fmt in zip(arrays, formats, strict=True))
    return _Terms(np.broadcast_to(a, batch + a.shape[-2:]), np.broadcast_to(b, batch + b.shape[-2:]),
                  np.broadcast_to(c, operands.shape))


def _without_nonfinite(terms: _Terms) -> tuple[_Terms, Mask]:
    """The terms with zeros for NaNs and infinities, and which elements of D have only finite terms."""
    a, b, c = (np.isfinite(array) for array in (terms.a, terms.b, terms.c))
    rows, columns = np.logical_and.reduce(a, axis=-1), np.logical_and.reduce(b, axis=-2)
    is_finite: Mask = rows[..., :, np.newaxis] & columns[..., np.newaxis, :] & c
    if is_finite.all():
        return terms, is_finite
    cleaned = _Terms(np.where(a, terms.a, 0.0), np.where(b, terms.b, 0.0), np.where(c, terms.c, 0.0))
    return cleaned, is_finite


def _round_float64_sum(terms: _Terms, fmt: Format, exact_products: bool) -> tuple[NDArray[Any], Mask]:
    """Steps 1 and 2: rounded float64 sums, and where they are right."""
    a, b, c = terms.a, terms.b, terms.c
    total, magnitude, error = summation.float64_sum(a, b, c)
    if not exact_products:
        error += summation.underflow_error(a.shape[-1])
    with np.errstate(invalid="ignore", over="ignore"):
        lower, upper = round_to(total - error, fmt), round_to(total + error, fmt)
    is_settled = summation.same_bits(lower, upper, fmt) & np.isfinite(error)
    if not is_settled.all():
        is_exact = ~is_settled & summation.has_exact_float64_sum(a, b, c, magnitude)
        lower[is_exact] = round_to(total[is_exact], fmt)
        is_settled |= is_exact
    _restore_negative_zeros(lower, terms, (magnitude == 0) & np.signbit(c))
    return lower, is_settled


def _restore_negative_zeros(result: NDArray[Any], terms: _Terms, candidates: Mask) -> None:
    """Where C and all products are -0, the sum is -0; float64_sum made it +0."""
    for index in terms.chunks(candidates):
        a, b, _ = terms.of(index)
        is_negative_zero = ((a == 0) | (b == 0)) & (np.signbit(a) != np.signbit(b))
        zeros = np.where(is_negative_zero.all(axis=-1), -0.0, result[index].astype(np.float64))
        result[index] = zeros.astype(result.dtype)


def _round_accurate_sum(a: Array, b: Array, c: Array, fmt: Format, exact_products: bool) -> NDArray[Any]:
    """Steps 3 and 4 for n elements: A [n, K], B [n, K], C [n]."""
    high, low, error = summation.compensated_sum(a, b, c, exact_products=exact_products)
    result, is_settled = summation.round_interval(high, low, error, fmt)
    for i in np.flatnonzero(~is_settled):
        result[i] = summation.rounded_exact_sum(a[i], b[i], float(c[i]), fmt)
    return result


def _nonfinite_sum(a: Array, b: Array, c: Array) -> Array:
    """Infinity or NaN for n elements with a nonfinite operand: A [n, K], B [n, K], C [n].

    Finite numbers count only by their sign, so that finite products cannot overflow.
    """
    x, y, z = (np.where(np.isfinite(values), np.sign(values), values) for values in (a, b, c))
    with np.errstate(invalid="ignore"):
        total = (x * y).sum(axis=-1) + z
    return np.where(np.isnan(total), np.nan, total)
