"""Intel's sub-group matrix and block built-ins: which work-item holds which element.

The combinations of cl_intel_subgroup_matrix_multiply_accumulate (and its tf32 extension) with their layouts, which are
those of the matrix engine (devices/intel_xmx.py), and the layouts of cl_intel_subgroups' block reads and writes and of
SPV_INTEL_2d_block_io. The components of a built-in's vectors are the layout's registers.

``D = A*B + C``: A is M x K, B is K x N, C and D are M x N, and N is the sub-group size.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from coopmat.devices import intel_xmx
from coopmat.devices.lane_layout import Held, Indices, LaneLayout, dealt, rows_per_word
from coopmat.devices.model import DeviceDescription
from coopmat.devices.operands import Use, shape_of, types_text
from coopmat.devices.subgroup_matrices import M_SIZES, SUBGROUP_MATRIX_MADS, SubgroupMatrixMad
from coopmat.formats import format_of

# --------------------------------------------------------------------------------------
# The multiply-accumulate
# --------------------------------------------------------------------------------------


class SubGroupMatrixRow(SubgroupMatrixMad):
    """A combination with the layouts of its matrices."""

    __slots__ = ()

    @property
    def formats(self) -> tuple[str, str, str, str]:
        """Of A, B, C and D."""
        return self.a, self.b, self.accumulator, self.accumulator

    def types_of(self, use: Use) -> tuple[str, ...]:
        """The element types that a matrix of this use may have: one."""
        return ({"a": self.a, "b": self.b, "accumulator": self.accumulator}[use],)

    def has(self, use: Use, fmt: str, m: int, n: int, k: int) -> bool:
        """Whether a matrix of this use, format and shape is part of this combination."""
        return fmt in self.types_of(use) and m in M_SIZES and (n, k) == (self.sub_group_size, self.k)

    def layout(self, use: Use, m: int) -> LaneLayout:
        """The layout of A, B, or C and D for this M (B's is the same for all)."""
        n = self.sub_group_size
        return _layout(use, *self.types_of(use), *shape_of(use, m, n, self.k), n)

    def __str__(self) -> str:
        return f"{types_text(*self.formats)}, N={self.sub_group_size} K={self.k}"


@lru_cache(maxsize=256)
def _layout(use: Use, fmt: str, rows: int, columns: int, lanes: int) -> LaneLayout:
    return intel_xmx.layout(use, format_of(fmt), rows, columns, lanes)


SUB_GROUP_MATRIX_ROWS: tuple[SubGroupMatrixRow, ...] = tuple(
    SubGroupMatrixRow(mad.sub_group_size, mad.k, mad.a, mad.b, mad.accumulator) for mad in SUBGROUP_MATRIX_MADS)
"""All combinations; each exists for every M of :data:`M_SIZES`."""


def matrix_rows_of(description: DeviceDescription) -> tuple[SubGroupMatrixRow, ...]:
    """The combinations that a device has: those whose N is its smallest sub-group size; generic has all."""
    if description.any_combination:
        return SUB_GROUP_MATRIX_ROWS
    if description.vendor_family != "intel_xmx":
        return ()
    smallest = min(description.sub_group_sizes)
    return tuple(row for row in SUB_GROUP_MATRIX_ROWS if row.sub_group_size == smallest)


def has_2d_block_io(description: DeviceDescription) -> bool:
    """Whether a device has cl_intel_subgroup_2d_block_io: the smallest sub-group size must be 16."""
    if description.any_combination:
        return True
    return description.vendor_family == "intel_xmx" and min(description.sub_group_sizes) == 16


# --------------------------------------------------------------------------------------
# Layout of blocks
# --------------------------------------------------------------------------------------


def block_io_layout(rows: int, columns: int, lanes: int, bits: int) -> LaneLayout:
    """A row-major tile without gaps between its rows, read or written by a one-dimensional block function: its
    elements, counted from the pointer, are dealt out (cl_intel_subgroups)."""
    return LaneLayout(rows, columns, bits, bits, dealt(rows, columns, lanes), "cl_intel_subgroups")


def block_io_element(lane: Indices, component: Indices, sub_group_size: int) -> Indices:
    """The element, counted from the pointer, that a component of a work-item is read from."""
    return component * sub_group_size + lane


def block_2d_layout(width: int, height: int, count: int, bits: int, component_bits: int, *, lanes: int = 16,
                    transpose: bool = False, transform: bool = False) -> LaneLayout:
    """``count`` blocks of ``width`` x ``height`` elements beside each other, as a 2D block function deals them out.

    component_bits: the width of what its private pointer points to. transpose, transform: which function it is.
    """
    held = block_elements(width, height, count, lanes, transpose=transpose,
                          rows_per_word=rows_per_word(bits) if transform else 1)
    return LaneLayout(height, width * count, bits, component_bits, held, "SPV_INTEL_2d_block_io")


def block_elements(width: int, height: int, count: int, sub_group_size: int, *, transpose: bool = False,
                   rows_per_word: int = 1) -> Held:
    """How ``count`` neighbouring blocks of ``width`` x ``height`` elements are spread over a sub-group; rows and
    columns are those in memory.

    SPV_INTEL_2d_block_io, "Mapping Block Data to Invocations". ``transpose``: the block is transposed
    on its way. ``rows_per_word``: so many rows of a column follow each other in one work-item (the
    transform to the packed layout of B). Blocks that lie beside each other follow each other in a
    work-item's data.
    """
    rows, columns = (width, height) if transpose else (-(-height // rows_per_word), width)
    row, column = _spread(rows, 1 << (columns - 1).bit_length(), sub_group_size)
    valid = (row < rows) & (column < columns)
    if transpose:
        row, column = column, row
    inner = np.arange(rows_per_word)
    row = (row[..., None] * rows_per_word + inner).reshape(sub_group_size, -1)
    column = np.repeat(column, rows_per_word, axis=1)
    valid = np.repeat(valid, rows_per_word, axis=1) & (row < height)
    starts = np.repeat(np.arange(count) * width, row.shape[1])
    return Held(np.tile(row, count), np.tile(column, count) + starts, np.tile(valid, count))


def _spread(rows: int, columns: int, lanes: int) -> tuple[Indices, Indices]:
    """Row and column of each component, [lanes, components]; ``columns`` and ``lanes`` are powers of two.

    Several rows share a pass over the lanes if they are short, several neighbouring elements of a long
    row go to one lane.
    """
    per_lane, rows_per_pass = max(1, columns // lanes), max(1, lanes // columns)
    components = -(-rows // rows_per_pass) * per_lane
    lane, component = np.indices((lanes, components))
    row = component // per_lane * rows_per_pass + lane // min(columns, lanes)
    column = lane % min(columns, lanes) * per_lane + component % per_lane
    return row, column
