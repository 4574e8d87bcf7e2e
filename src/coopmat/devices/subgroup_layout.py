"""Intel's sub-group matrix and block built-ins: which work-item holds which element.

The one place for the lane layouts of cl_intel_subgroup_matrix_multiply_accumulate (and its tf32
extension), of cl_intel_subgroups' block reads and writes and of SPV_INTEL_2d_block_io, and for the table
of multiply-accumulate combinations. Every layout function takes integers or arrays of integers.

``D = A*B + C``: A is M x K, B is K x N, C and D are M x N, and N is the sub-group size. ``bits`` is the
width of an element.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coopmat.devices.model import DeviceDescription, types_text
from coopmat.devices.subgroup_matrices import SUBGROUP_MATRIX_MADS, SubgroupMatrixMad
from coopmat.formats import format_of

Indices = Any  # an integer or an array of integers

WORD_BITS = 32


class Position(NamedTuple):
    """Where an element is: the work-item, its vector component, and the lowest bit in that component."""

    lane: Indices
    component: Indices
    bit: Indices


# --------------------------------------------------------------------------------------
# Layouts of the matrix multiply-accumulate
# --------------------------------------------------------------------------------------


def a_position(row: Indices, column: Indices, k: int, sub_group_size: int, bits: int) -> Position:
    """The position of A[row][column].

    A work-item holds K/N neighbouring columns, one component per row. If K is below N, it holds every
    (N/K)-th row of one column: with tf32 the first K work-items have the even rows. With one row the
    work-items from K on hold nothing.
    """
    if sub_group_size <= k:
        per_lane = k // sub_group_size
        return Position(column // per_lane, row, bits * (column % per_lane))
    apart = sub_group_size // k
    return Position(column + k * (row % apart), row // apart, 0 * column)


def b_position(row: Indices, column: Indices, bits: int) -> Position:
    """The position of B[row][column]: 32/bits rows of a column share a component, the lowest in the low bits."""
    per_word = WORD_BITS // bits
    return Position(column, row // per_word, bits * (row % per_word))


def accumulator_position(row: Indices, column: Indices) -> Position:
    """The position of C[row][column] and D[row][column]."""
    return Position(column, row, 0 * column)


# --------------------------------------------------------------------------------------
# The combinations
# --------------------------------------------------------------------------------------


class SubGroupMatrixRow(SubgroupMatrixMad):
    """A combination with the positions of its elements."""

    __slots__ = ()

    @property
    def bits(self) -> int:
        """Width of an element of A and B."""
        return format_of(self.a).bits

    def a_positions(self, m: int) -> Position:
        """The positions of all of A, arrays [m, K]."""
        row, column = np.indices((m, self.k))
        return a_position(row, column, self.k, self.sub_group_size, self.bits)

    def b_positions(self) -> Position:
        """The positions of all of B, arrays [K, N]."""
        row, column = np.indices((self.k, self.sub_group_size))
        return b_position(row, column, self.bits)

    def accumulator_positions(self, m: int) -> Position:
        """The positions of all of C and D, arrays [m, N]."""
        return accumulator_position(*np.indices((m, self.sub_group_size)))

    def __str__(self) -> str:
        types = types_text(self.a, self.b, self.accumulator, self.accumulator)
        return f"{types}, N={self.sub_group_size} K={self.k}"


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


def block_io_position(element: Indices, sub_group_size: int) -> Position:
    """The position of an element of a one-dimensional block, counted from the pointer (cl_intel_subgroups)."""
    return Position(element % sub_group_size, element // sub_group_size, 0 * element)


def block_io_element(lane: Indices, component: Indices, sub_group_size: int) -> Indices:
    """The inverse of :func:`block_io_position`."""
    return component * sub_group_size + lane


class BlockElements(NamedTuple):
    """The element of a 2D block that each component of each work-item holds: arrays [lanes, components].

    Rows and columns are those in memory; where ``valid`` is false the component is padding.
    """

    row: NDArray[np.intp]
    column: NDArray[np.intp]
    valid: NDArray[np.bool_]


def block_elements(width: int, height: int, count: int, sub_group_size: int, *, transpose: bool = False,
                   rows_per_word: int = 1) -> BlockElements:
    """How ``count`` neighbouring blocks of ``width`` x ``height`` elements are spread over a sub-group.

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
    return BlockElements(np.tile(row, count), np.tile(column, count) + starts, np.tile(valid, count))


def _spread(rows: int, columns: int, lanes: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
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
