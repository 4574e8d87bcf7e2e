"""How matrices lie in memory: strided rectangles of a buffer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from coopmat.devices.lane_layout import WORD_BITS, can_be_packed, rows_per_word
from coopmat.spirv.analysis.types import IntType, MatrixType
from coopmat.spirv.grammar import CooperativeMatrixLayout
from coopmat.spirv.grammar import CooperativeMatrixUse as Use

Array = np.ndarray[Any, Any]

PACKED_WORD = WORD_BITS // 8  # bytes: what PackedINTEL interleaves consecutive rows into


@dataclass(frozen=True)
class Grid:
    """How a matrix lies in memory: nested dimensions in units of ``dtype``, with strides in bytes.

    The dimensions are, in order, those of the row (one or two) and that of the column. 4-bit components
    lie two in a byte: ``pair_axis`` is the axis of ``[n, rows, columns]`` along which they are neighbours.
    """

    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: np.dtype[Any]
    pair_axis: int | None = None

    @property
    def low(self) -> int:
        """Byte offset of the lowest element."""
        return sum(min(0, (n - 1) * s) for n, s in zip(self.shape, self.strides, strict=True))

    @property
    def high(self) -> int:
        """Byte offset past the highest element."""
        last = sum(max(0, (n - 1) * s) for n, s in zip(self.shape, self.strides, strict=True))
        return last + self.dtype.itemsize

    @property
    def offsets(self) -> Array:
        """Byte offset of each unit."""
        steps = np.indices(self.shape, np.int64)
        return np.tensordot(np.array(self.strides, np.int64), steps, axes=1)

    def components(self, units: Array, upper: Array) -> Array:
        """Units ``[n, *shape]`` as ``[n, rows, columns]``; of paired components ``upper`` has the second ones."""
        plane = (len(units), -1, self.shape[-1])
        if self.pair_axis is None:
            return units.reshape(plane)
        both = np.stack([units.reshape(plane), upper.reshape(plane)], axis=self.pair_axis + 1)
        size = [*units.reshape(plane).shape]
        size[self.pair_axis] *= 2
        return both.reshape(size)


def grid_of(kind: MatrixType, layout: int, stride: int) -> Grid | None:
    """The grid of a matrix in memory, ``stride`` in bytes; None for a layout that it cannot have."""
    unit = kind.component.size
    per_unit = 2 if kind.component == IntType(4) else 1
    is_packed = layout == CooperativeMatrixLayout.PackedINTEL
    if layout == CooperativeMatrixLayout.RowMajorKHR or (is_packed and kind.use == Use.MatrixAKHR):
        shape: tuple[int, ...] = (kind.rows, -(-kind.columns // per_unit))
        return Grid(shape, (stride, unit), kind.dtype, 2 if per_unit > 1 else None)
    pair_axis = 1 if per_unit > 1 else None
    if layout == CooperativeMatrixLayout.ColumnMajorKHR:
        shape = (-(-kind.rows // per_unit), kind.columns)
        return Grid(shape, (unit, stride), kind.dtype, pair_axis)
    bits = 8 * unit // per_unit
    if is_packed and kind.use == Use.MatrixBKHR and can_be_packed(kind.rows, bits):
        together = rows_per_word(bits)
        shape = (kind.rows // together, together // per_unit, kind.columns)
        return Grid(shape, (stride, unit, PACKED_WORD), kind.dtype, pair_axis)
    return None
