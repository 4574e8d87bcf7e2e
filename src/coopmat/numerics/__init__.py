"""Arithmetic models of matrix multiply-accumulate, one module per hardware family."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from numpy.typing import ArrayLike, NDArray

from coopmat.diagnostics import Error
from coopmat.formats import Format
from coopmat.numerics.exact import matrix_multiply_accumulate_exact
from coopmat.numerics.hardware import ROWS, multiply_accumulate

__all__ = ["EXACT", "MODELS", "Model", "matrix_multiply_accumulate", "matrix_multiply_accumulate_exact"]

Model = Callable[..., NDArray[Any]]
EXACT = "generic"
"""The architecture whose arithmetic is exact, rounded once."""
MODELS: dict[str, Model] = {
    EXACT: matrix_multiply_accumulate_exact,
    **{architecture: partial(multiply_accumulate, architecture) for architecture in ROWS}}
"""The arithmetic model of each architecture; all take the same arguments."""


def matrix_multiply_accumulate(
        a: ArrayLike, b: ArrayLike, c: ArrayLike, *, a_type: str | Format, b_type: str | Format,
        c_type: str | Format, d_type: str | Format | None = None, architecture: str = EXACT) -> NDArray[Any]:
    """One ``D = A*B + C`` with the arithmetic of an architecture, bit for bit.

    a, b, c: arrays [..., M, K], [..., K, N] and [..., M, N], any M, N and K, of the numpy or ml_dtypes
        types that store their element types (tf32: float32); leading axes are a batch.
    d_type: the element type of the result; that of C if None.

    Raises :class:`coopmat.Error` if types or shapes do not fit, or there is no model of that name.
    """
    model = MODELS.get(str(architecture).removeprefix("sim:"))
    if model is None:
        raise Error(f"no arithmetic model for architecture {architecture!r} (there are: {', '.join(MODELS)})")
    return model(a, b, c, a_format=a_type, b_format=b_type, c_format=c_type,
                 d_format=c_type if d_type is None else d_type)
