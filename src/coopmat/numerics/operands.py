"""The operands of one (batched) matrix multiply-accumulate, checked once for all arithmetic models."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from coopmat.diagnostics import Error
from coopmat.formats import FORMATS, Format, format_of


@dataclass(frozen=True, slots=True)
class Operands:
    """A [..., M, K], B [..., K, N] and C [..., M, N] in storage, with their formats and that of D.

    The four formats are all integers or all floating-point formats; the leading axes are a batch and
    broadcast against each other.
    """

    a: NDArray[Any]
    b: NDArray[Any]
    c: NDArray[Any]
    a_format: Format
    b_format: Format
    c_format: Format
    d_format: Format
    shape: tuple[int, ...]  # of D

    @property
    def k(self) -> int:
        """Number of products in each element of A*B."""
        return int(self.a.shape[-1])

    @property
    def is_float(self) -> bool:
        """Whether the formats are floating-point ones."""
        return self.d_format.is_float


def check_operands(a: ArrayLike, b: ArrayLike, c: ArrayLike, *, a_format: str | Format, b_format: str | Format,
                   c_format: str | Format, d_format: str | Format) -> Operands:
    """Check types and shapes, and view integers with the signedness of their formats.

    Raises :class:`coopmat.Error` saying what was expected and what was found.
    """
    formats = (format_of(a_format), format_of(b_format), format_of(c_format), format_of(d_format))
    if len({fmt.is_float for fmt in formats}) != 1:
        raise Error("A, B, C and D are either all integers or all floating-point numbers; "
                    f"found {', '.join(fmt.name for fmt in formats)}")
    a, b, c = (_as_storage(array, fmt, name)
               for array, fmt, name in zip((a, b, c), formats[:3], "ABC", strict=True))
    return Operands(a, b, c, *formats, shape=_result_shape(a, b, c))


def _as_storage(array: ArrayLike, fmt: Format, name: str) -> NDArray[Any]:
    try:
        found = np.asarray(array)
    except ValueError as error:
        raise Error(f"{name} must be an array of matrices (numpy: {error})") from None
    if found.ndim < 2:
        raise Error(f"{name} must have at least two dimensions, found shape {found.shape}")
    if found.dtype == fmt.dtype:
        return found
    same_width = [row.dtype for row in FORMATS.values() if row.is_integer and row.bits == fmt.bits]
    if fmt.is_integer and found.dtype in same_width:
        return found.view(fmt.dtype)
    raise Error(f"{name} of type {fmt} is an array of {fmt.dtype}, found {found.dtype}")


def _result_shape(a: NDArray[Any], b: NDArray[Any], c: NDArray[Any]) -> tuple[int, ...]:
    (m, k), n = a.shape[-2:], b.shape[-1]
    if b.shape[-2] != k or c.shape[-2:] != (m, n):
        raise Error("expected A [..., M, K], B [..., K, N] and C [..., M, N], "
                    f"found shapes {a.shape}, {b.shape} and {c.shape}")
    try:
        batch = np.broadcast_shapes(a.shape[:-2], b.shape[:-2], c.shape[:-2])
    except ValueError:
        raise Error("the batch dimensions of A, B and C do not broadcast: "
                    f"{a.shape[:-2]}, {b.shape[:-2]} and {c.shape[:-2]}") from None
    return (*batch, m, n)
