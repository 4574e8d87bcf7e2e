"""The terms of matrix products laid out for arithmetic models: one row for each k, one column for each element of D."""

from __future__ import annotations

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
_TERMS = 1 << 15  # at a time: some arrays of them fit into the second-level cache


@dataclass(frozen=True, slots=True)
class Terms:
    """The operands of some elements of D as float64: a and b [K, E], c [E].

    NaN payloads are kept as far as float64 widens them. tf32 operands have lost their unused bits, so that a NaN whose
    payload was there is an infinity, as on the H200. The exponents of a and b [K, E] are those of
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
        """Those of the chosen elements of D."""
        return Terms(self.a[:, chosen], self.b[:, chosen], self.c[chosen], self.a_exponents[:, chosen],
                     self.b_exponents[:, chosen])

    @property
    def finite(self) -> Mask:
        """Which elements have finite terms only: [E]."""
        found: Mask = np.isfinite(self.a).all(axis=0) & np.isfinite(self.b).all(axis=0) & np.isfinite(self.c)
        return found


def all_terms(operands: Operands) -> Iterator[tuple[slice, Terms]]:
    """The terms of all elements of D, so many at a time that they fit into the cache, with their places in the
    flattened result."""
    batch, (m, n) = operands.shape[:-2], operands.shape[-2:]
    a, b, c = (_widened(array, fmt) for array, fmt in (
        (operands.a, operands.a_format), (operands.b, operands.b_format), (operands.c, operands.c_format)))
    k = a.shape[-1]
    a = np.broadcast_to(a, (*batch, m, k)).reshape(-1, k)  # rows of A
    b = np.broadcast_to(b.swapaxes(-1, -2), (*batch, n, k)).reshape(-1, n, k)  # columns of B
    c = np.broadcast_to(c, operands.shape).reshape(-1, n)
    a_exponents, b_exponents = exponents_of(a, operands.a_format), exponents_of(b, operands.b_format)
    step = max(1, _TERMS // max(1, k * n))
    for start in range(0, len(a), step):
        rows = np.arange(start, min(start + step, len(a)))
        columns = rows // max(1, m)
        yield (slice(start * n, (start + len(rows)) * n),
               Terms(np.repeat(a[rows].T, n, axis=1), _by_k(b[columns]), c[rows].reshape(-1),
                     np.repeat(a_exponents[rows].T, n, axis=1), _by_k(b_exponents[columns])))


def _by_k(columns: NDArray[Any]) -> NDArray[Any]:
    """Columns of B [R, N, K] as one row for each k."""
    return np.ascontiguousarray(columns.transpose(2, 0, 1)).reshape(columns.shape[-1], -1)


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
