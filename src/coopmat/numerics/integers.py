"""Integer matrix multiply-accumulate: exact, then modulo 2**bits or clamped.

Wrapping is the same on all hardware, so every model uses this module for integers.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from coopmat.formats import Format, round_to
from coopmat.numerics.operands import Operands

_FLOAT32_EXACT = 1 << 24
_FLOAT64_EXACT = 1 << 53
_INT64_LIMIT = 1 << 63
_NARROW = frozenset({"sint32", "uint32"})
"""Formats whose sums modulo 2**32 are what numpy's integers of 32 bits make."""


def multiply_accumulate_integers(operands: Operands, saturating: bool = False) -> NDArray[Any]:
    """``D = A*B + C`` on integers, in storage of D's format.

    A, B and C are extended by the signedness of their own formats. The exact result is kept modulo
    2**bits of D, or clamped to D's range where ``saturating``. The latter agrees with SPIR-V's
    SaturatingAccumulation wherever that is defined, that is unless A*B alone overflows D.
    """
    bound = _product_bound(operands)
    if bound < _FLOAT32_EXACT and not saturating and {operands.c_format.name, operands.d_format.name} <= _NARROW:
        total = _float_product(operands, np.float32).astype(np.int32) + operands.c.view(np.int32)
        return total.view(operands.d_format.dtype)
    if saturating and bound + _magnitude_by_data(operands.c) >= _INT64_LIMIT:
        return _clamped_sum_of_any_size(operands)
    total = _product_modulo_2_64(operands, bound) + _as_int64(operands.c)
    return round_to(total, operands.d_format, overflow="saturate" if saturating else "wrap")


def _product_bound(operands: Operands) -> int:
    """A bound of the sum of the magnitudes of the products; from the data where the formats say too little."""
    bound = operands.k * _magnitude_by_format(operands.a_format) * _magnitude_by_format(operands.b_format)
    if bound < _FLOAT64_EXACT:
        return bound
    return operands.k * _magnitude_by_data(operands.a) * _magnitude_by_data(operands.b)


def _magnitude_by_format(fmt: Format) -> int:
    return int(max(-fmt.min_value, fmt.max_value))


def _magnitude_by_data(array: NDArray[Any]) -> int:
    return max(-int(array.min()), int(array.max())) if array.size else 0


def _product_modulo_2_64(operands: Operands, bound: int) -> NDArray[np.int64]:
    """A*B as int64, modulo 2**64: through BLAS if no partial sum can be inexact in floating point."""
    if bound < _FLOAT64_EXACT:
        return _float_product(operands, np.float32 if bound < _FLOAT32_EXACT else np.float64).astype(np.int64)
    return np.matmul(_as_int64(operands.a), _as_int64(operands.b))


def _float_product(operands: Operands, dtype: type) -> NDArray[Any]:
    return np.matmul(operands.a.astype(dtype), operands.b.astype(dtype))


def _as_int64(array: NDArray[Any]) -> NDArray[np.int64]:
    """Integers as int64; uint64 modulo 2**64."""
    return array.view(np.int64) if array.dtype == np.uint64 else array.astype(np.int64)


def _clamped_sum_of_any_size(operands: Operands) -> NDArray[Any]:
    """The clamped result where 64 bits cannot hold the exact sum: with Python's integers."""
    a, b, c = (array.astype(np.uint64 if array.dtype == np.uint64 else np.int64).astype(object)
               for array in (operands.a, operands.b, operands.c))
    limits = operands.d_format.min_value, operands.d_format.max_value
    clamped = np.minimum(np.maximum(np.matmul(a, b) + c, limits[0]), limits[1])
    return round_to(clamped.astype(np.int64 if operands.d_format.is_signed else np.uint64), operands.d_format)
