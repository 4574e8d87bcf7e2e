"""The terms of matrix products laid out for arithmetic models: k comes first, and the elements of D last."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coopmat.formats import Format
from coopmat.numerics.operands import Operands

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]
Exponents = NDArray[np.int16]
NO_EXPONENT = -(1 << 12)  # of a zero: below every other, also when two are added
_TERMS = 1 << 17  # at a time: more would not fit into caches, fewer would leave Python too much to do


@dataclass(frozen=True, slots=True)
class Terms:
    """The operands of some elements of D as float64: c has a shape E, and a and b broadcast to [K, *E].

    NaN payloads are kept as far as float64 widens them. tf32 operands have lost their unused bits, so that a NaN whose
    payload was there is an infinity, as on the H200. The exponents of a and b, of their shapes, are those of
    :func:`exponents_of`.
    """

    a: Array
    b: Array
    c: Array
    a_exponents: Exponents
    b_exponents: Exponents

    def block(self, start: int, stop: int, c: Array) -> Terms:
        """The products of k from ``start`` up to ``stop``, on another accumulator."""
        rows = slice(start, stop)
        return Terms(self.a[rows], self.b[rows], c, self.a_exponents[rows], self.b_exponents[rows])

    def where(self, chosen: Mask) -> Terms:
        """Those of the n chosen elements of D: a and b [K, n], c [n]."""
        shape = (len(self.a), *self.c.shape)
        a, b = (np.broadcast_to(x, shape)[:, chosen] for x in (self.a, self.b))
        exponents = (np.broadcast_to(x, shape)[:, chosen] for x in (self.a_exponents, self.b_exponents))
        return Terms(a, b, self.c[chosen], *exponents)

    @property
    def finite(self) -> Mask:
        """Which elements have finite terms only."""
        found: Mask = np.isfinite(self.a).all(axis=0) & np.isfinite(self.b).all(axis=0) & np.isfinite(self.c)
        return found


Slices = tuple[slice, slice]


def all_terms(operands: Operands) -> Iterator[tuple[Slices, Terms]]:
    """The terms of all elements of D, so many at a time that they fit into the cache, with their places in the
    result as [batch, M, N]: whole matrices, or some rows of one."""
    (m, n), k = operands.shape[-2:], operands.k
    if not math.prod(operands.shape):
        return
    a, b, c = (_in_batch(array, operands.shape[:-2]) for array in (operands.a, operands.b, operands.c))
    rows = max(1, _TERMS // max(1, k * n))
    for batch in _slices(len(c), max(1, rows // m)):
        terms = _terms(a[batch], b[batch], c[batch], operands)
        for part in _slices(m, rows):
            yield (batch, part), Terms(terms.a[:, :, part], terms.b, terms.c[:, part], terms.a_exponents[:, :, part],
                                       terms.b_exponents)


def _slices(count: int, step: int) -> Iterator[slice]:
    return (slice(start, start + step) for start in range(0, count, step))


def _in_batch(array: NDArray[Any], batch: tuple[int, ...]) -> NDArray[Any]:
    """Matrices as [batch, rows, columns]."""
    return np.broadcast_to(array, (*batch, *array.shape[-2:])).reshape(math.prod(batch), *array.shape[-2:])


def _terms(a: NDArray[Any], b: NDArray[Any], c: NDArray[Any], operands: Operands) -> Terms:
    """Those of matrices [batch, rows, columns]."""
    a = np.moveaxis(_widened(a, operands.a_format), -1, 0)[..., np.newaxis].copy()
    b = np.moveaxis(_widened(b, operands.b_format), -2, 0)[..., np.newaxis, :].copy()
    return Terms(a, b, _widened(c, operands.c_format), exponents_of(a, operands.a_format),
                 exponents_of(b, operands.b_format))


def exponents_of(values: Array, fmt: Format) -> Exponents:
    """The exponent of each number of a format; a subnormal one has the least exponent, a zero NO_EXPONENT."""
    exponent = ((values.view(np.int64) >> 52) & 0x7FF).astype(np.int16)
    is_zero = exponent == 0  # float64 holds the subnormal numbers of narrower formats as normal ones
    exponent -= 1023
    np.maximum(exponent, np.int16(fmt.min_exponent), out=exponent)
    exponent[is_zero] = NO_EXPONENT
    return exponent


def _widened(array: NDArray[Any], fmt: Format) -> Array:
    if fmt.unused_bits:
        used = fmt.bits_dtype.type((1 << fmt.bits) - (1 << fmt.unused_bits))
        array = (array.view(fmt.bits_dtype) & used).view(fmt.dtype)
    with np.errstate(invalid="ignore"):
        return array.astype(np.float64)
