"""Arithmetic models of matrix multiply-accumulate, one module per hardware family."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from numpy.typing import ArrayLike, NDArray

from coopmat.diagnostics import Error, value_text
from coopmat.formats import Format
from coopmat.numerics.exact import matrix_multiply_accumulate_exact
from coopmat.numerics.hardware import ROWS, WITH_XMX, multiply_accumulate
from coopmat.numerics.xmx import XmxArithmetic

__all__ = ["EXACT", "MODELS", "Model", "XmxArithmetic", "matrix_multiply_accumulate",
           "matrix_multiply_accumulate_exact", "model_of"]

Model = Callable[..., NDArray[Any]]
EXACT = "generic"
"""The architecture whose arithmetic is exact, rounded once."""
MODELS: dict[str, Model] = {
    EXACT: matrix_multiply_accumulate_exact,
    **{architecture: partial(multiply_accumulate, architecture) for architecture in ROWS}}
"""The arithmetic model of each architecture; all take the same arguments."""


def model_of(architecture: str, xmx: XmxArithmetic | None = None) -> Model:
    """The arithmetic model of an architecture; with Intel's XMX, one with other choices than the usual ones.

    Raises :class:`coopmat.Error` if there is none, or ``xmx`` is not for it.
    """
    model = MODELS.get(architecture)
    if model is None:
        raise Error(f"no arithmetic model for architecture {value_text(architecture)} (there are: {', '.join(MODELS)})")
    if xmx is None:
        return model
    if not isinstance(xmx, XmxArithmetic):
        raise Error(f"xmx must be a coopmat.XmxArithmetic or None; "
                    f"found {value_text(xmx)} of type {type(xmx).__name__}")
    if architecture not in WITH_XMX:
        raise Error(f"xmx says how Intel's XMX computes, which {architecture} does not have; these do: "
                    f"{', '.join(WITH_XMX)}")
    return partial(multiply_accumulate, architecture, xmx=xmx)


def matrix_multiply_accumulate(
        a: ArrayLike, b: ArrayLike, c: ArrayLike, *, a_type: str | Format, b_type: str | Format,
        c_type: str | Format, d_type: str | Format | None = None, architecture: str = EXACT,
        saturating: bool = False, xmx: XmxArithmetic | None = None) -> NDArray[Any]:
    """One ``D = A*B + C`` with the arithmetic of an architecture, bit for bit.

    a, b, c: arrays [..., M, K], [..., K, N] and [..., M, N], any M, N and K, of the numpy or ml_dtypes
        types that store their element types (tf32: float32); leading axes are a batch.
    d_type: the element type of the result; that of C if None.
    saturating: clamp integer results to D's range (SPIR-V's SaturatingAccumulation, NVIDIA's ``.satfinite``)
        instead of keeping them modulo 2**bits.
    xmx: for an architecture with Intel's XMX, what its documents leave open.

    Raises :class:`coopmat.Error` if types or shapes do not fit, there is no model of that name, ``saturating`` is
    asked for floating-point numbers, or ``xmx`` is given for an architecture without XMX.
    """
    model = model_of(str(architecture).removeprefix("sim:"), xmx)
    return model(a, b, c, a_format=a_type, b_format=b_type, c_format=c_type,
                 d_format=c_type if d_type is None else d_type, saturating=saturating)
