"""Matrices in global and local memory: strided rectangles of a buffer, one per sub-group.

The rectangles of all sub-groups that share buffer, stride and layout are moved by one numpy
operation on a strided view of the buffer.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
from numpy.lib.stride_tricks import as_strided

from coopmat.devices.lane_layout import WORD_BITS, rows_per_word
from coopmat.diagnostics import Misaligned, OutOfBounds, SimulationError, UndefinedBehavior
from coopmat.spirv.grammar import CooperativeMatrixLayout
from coopmat.spirv.grammar import CooperativeMatrixUse as Use
from coopmat.spirv.types import IntType, MatrixType
from coopmat.targets.simulator.address_space import BIAS, OFFSET_BITS, Buffer, Extent
from coopmat.targets.simulator.state import Frame, Site
from coopmat.targets.simulator.values import Array, sign_extend_nibble

PACKED_WORD = WORD_BITS // 8  # bytes: what PackedINTEL interleaves consecutive rows into


@dataclass(frozen=True)
class StrideRule:
    """What a device demands of the stride: a multiple of so many components."""

    multiple: int = 1
    device: str = ""


@dataclass(frozen=True)
class MatrixAccess:
    """A load or store instruction: the matrix type, the alignment in bytes that the pointer needs, and what the
    stride must be."""

    kind: MatrixType
    alignment: int
    site: Site
    writing: bool
    stride_rule: StrideRule = StrideRule()


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
    together = rows_per_word(8 * unit // per_unit)
    if is_packed and kind.use == Use.MatrixBKHR and together > 1 and kind.rows % together == 0:
        shape = (kind.rows // together, together // per_unit, kind.columns)
        return Grid(shape, (stride, unit, PACKED_WORD), kind.dtype, pair_axis)
    return None


# --------------------------------------------------------------------------------------
# Rectangles of one buffer
# --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Tiles:
    """Sub-groups whose rectangles share buffer and grid; ``starts`` are byte offsets in its memory."""

    buffer: Buffer
    grid: Grid
    sub_groups: Array  # their numbers in the batch
    starts: Array


def load_matrix(frame: Frame, access: MatrixAccess, address: Array, layout: Array, stride: Array) -> Array:
    """The matrices at each sub-group's address: ``[S, rows, columns]``."""
    kind = access.kind
    result = None
    for tiles in _tiles(frame, access, address, layout, stride):
        part = _gather(kind, tiles)
        if len(part) == frame.batch.sub_groups:
            return part
        if result is None:
            result = np.zeros((frame.batch.sub_groups, kind.rows, kind.columns), kind.dtype)
        result[tiles.sub_groups] = part
    if result is None:
        return np.zeros((1, kind.rows, kind.columns), kind.dtype)
    return result


def store_matrix(frame: Frame, access: MatrixAccess, matrix: Array, address: Array, layout: Array,
                 stride: Array) -> None:
    """Write each sub-group's matrix to its address; where they overlap the last sub-group wins."""
    kind = access.kind
    for tiles in _tiles(frame, access, address, layout, stride):
        everywhere = len(matrix) in (1, len(tiles.sub_groups))
        _scatter(kind, tiles, matrix if everywhere else matrix[tiles.sub_groups])


def _tiles(frame: Frame, access: MatrixAccess, address: Array, layout: Array,
           stride: Array) -> Iterator[Tiles]:
    """The active sub-groups, by buffer, stride and layout; checked."""
    active = frame.mask.sub_groups
    sub_groups = np.arange(frame.batch.sub_groups) if active is None else active
    values = [np.broadcast_to(value, (frame.batch.sub_groups,))[sub_groups] if len(value) > 1 else value
              for value in (address, layout, stride)]
    numbers = values[0] >> OFFSET_BITS
    if all(len(value) == 1 or (value == value[0]).all() for value in (numbers, values[1], values[2])):
        address = np.broadcast_to(values[0], sub_groups.shape)
        yield from _checked(frame, access, sub_groups, address, int(values[1][0]), int(values[2][0]))
        return
    keys = np.stack(np.broadcast_arrays(numbers, values[1], values[2], sub_groups)[:3], axis=1)
    distinct, inverse = np.unique(keys, axis=0, return_inverse=True)
    address = np.broadcast_to(values[0], sub_groups.shape)
    for position, (_, order, distance) in enumerate(distinct):
        chosen = inverse.reshape(-1) == position
        yield from _checked(frame, access, sub_groups[chosen], address[chosen], int(order), int(distance))


def _checked(frame: Frame, access: MatrixAccess, sub_groups: Array, address: Array, layout: int,
             stride: int) -> Iterator[Tiles]:
    """Tiles of one buffer, stride and layout, after all checks."""
    site = access.site
    grid = grid_of(access.kind, layout, stride)
    if grid is None:
        raise UndefinedBehavior(f"layout {layout} is not possible for a {access.kind} of use {access.kind.use}",
                                site.where(frame, int(sub_groups[0])))
    buffer = buffer_of(frame, access, int(address[0]), int(sub_groups[0]), stores_over_itself=stride == 0)
    check_alignment(frame, access, sub_groups, address, stride, buffer)
    offset = (address & (1 << OFFSET_BITS) - 1) - BIAS
    inside = (offset + grid.low >= 0) & (offset + grid.high <= buffer.row.nbytes)
    if not inside.all():
        if frame.batch.options.bounds:
            wrong = int(np.argmin(inside))
            _first_out_of_bounds(frame, access, grid, int(sub_groups[wrong]), int(address[wrong]), buffer)
        sub_groups, offset = sub_groups[inside], offset[inside]
    if len(sub_groups):
        starts = offset if buffer.instances is None else offset + buffer.instances[sub_groups, 0]
        yield Tiles(buffer, grid, sub_groups, starts)


def buffer_of(frame: Frame, access: MatrixAccess, address: int, sub_group: int, *,
              stores_over_itself: bool) -> Buffer:
    """The buffer that a matrix is moved to or from; raises for memory where that is not possible."""
    site, buffer = access.site, frame.memory.buffer_at(address)
    if buffer is None or buffer.row.extent is Extent.LANE:
        what = (f"is {frame.memory.describe(address, access.kind.component.size)}" if buffer is None
                else f"points to private memory, {buffer.row.name}")
        raise OutOfBounds(f"{site.in_words} needs a pointer to global or local memory; this one {what}",
                          site.where(frame, sub_group))
    if access.writing and stores_over_itself:
        raise UndefinedBehavior("a matrix cannot be stored with a stride of 0", site.where(frame, sub_group))
    if access.writing and not buffer.row.writable:
        raise SimulationError("a matrix is stored to read-only memory",
                              site.where(frame, sub_group, None, buffer.row.name))
    return buffer


def check_alignment(frame: Frame, access: MatrixAccess, sub_groups: Array, address: Array, stride: int,
                    buffer: Buffer) -> None:
    """Raise Misaligned unless pointers and stride (in bytes) are multiples of what the access and the device need."""
    size = access.kind.component.size
    crooked = address & access.alignment - 1
    if crooked.any():
        place = int(np.argmax(crooked != 0))
        offset = frame.memory.offset_in(int(address[place]))
        raise Misaligned(f"the pointer of {access.site.in_words} must be a multiple of {access.alignment} "
                         f"bytes; it is byte {offset} of its buffer",
                         access.site.where(frame, int(sub_groups[place]), None, buffer.row.name))
    if stride % size:
        raise Misaligned(f"the stride of {access.site.in_words} must be a multiple of the component size, "
                         f"{size} bytes; it is {stride} bytes",
                         access.site.where(frame, int(sub_groups[0]), None, buffer.row.name))
    rule = access.stride_rule
    if stride // size % rule.multiple:
        raise Misaligned(f"on {rule.device} the stride of {access.site.in_words} must be a multiple of "
                         f"{rule.multiple} elements for a {access.kind}; it is {stride // size}",
                         access.site.where(frame, int(sub_groups[0]), None, buffer.row.name))


def _first_out_of_bounds(frame: Frame, access: MatrixAccess, grid: Grid, sub_group: int, address: int,
                         buffer: Buffer) -> NoReturn:
    """Name the first element, counted along the rows, that lies outside."""
    kind, size = access.kind, grid.dtype.itemsize
    offset = frame.memory.offset_in(address)
    bytes_of = grid.components(grid.offsets[None], grid.offsets[None])[0, :kind.rows, :kind.columns]
    outside = (bytes_of < -offset) | (bytes_of > buffer.row.nbytes - size - offset)
    row, column = divmod(int(np.argmax(outside)), kind.columns)
    out_of_bounds(frame, access, (row, column), offset + int(bytes_of[row, column]), sub_group, buffer, size)


def out_of_bounds(frame: Frame, access: MatrixAccess, element: tuple[int, int], byte: int, sub_group: int,
                  buffer: Buffer, size: int | None = None) -> NoReturn:
    """Raise OutOfBounds for an element (row and column) at a byte of the buffer; ``size``: bytes of what holds it."""
    kind = access.kind
    size = size or kind.component.size
    row, column = element
    lane = int(kind.layout.owner[0][row, column])
    verb = "stores" if access.writing else "loads"
    raise OutOfBounds(
        f"{access.site.in_words} {verb} element ({row}, {column}) of the {kind} at byte {byte}; the buffer "
        f"has {buffer.row.nbytes} bytes, {buffer.row.nbytes // size} elements of this size",
        access.site.where(frame, sub_group, lane, buffer.row.name, byte // size))


# --------------------------------------------------------------------------------------
# Moving data
# --------------------------------------------------------------------------------------


def _windows(tiles: Tiles, *, writeable: bool) -> tuple[Array, Array]:
    """A view with one window on every possible start, and the windows of the tiles."""
    grid = tiles.grid
    view = tiles.buffer.view(grid.dtype)
    size = grid.dtype.itemsize
    low, high = grid.low, grid.high
    count = len(view) - (high - low) // size + 1
    origin = view[-low // size:] if low else view
    windows = as_strided(origin, (count, *grid.shape), (size, *grid.strides), writeable=writeable)
    return windows, (tiles.starts + low) // size


def _gather(kind: MatrixType, tiles: Tiles) -> Array:
    windows, index = _windows(tiles, writeable=False)
    units, grid = windows[index], tiles.grid
    if grid.pair_axis is None:
        return grid.components(units, units)
    return sign_extend_nibble(grid.components(units, units >> 4))[:, :kind.rows, :kind.columns]


def _scatter(kind: MatrixType, tiles: Tiles, matrix: Array) -> None:
    windows, index = _windows(tiles, writeable=True)
    grid = tiles.grid
    if grid.pair_axis is None:
        windows[index] = matrix.reshape(len(matrix), *grid.shape)
        return
    present = windows[index]
    both = grid.components(present, present >> 4)  # a component past an odd end keeps its value
    both[:, :kind.rows, :kind.columns] = matrix
    lower, upper = (both.take(range(start, both.shape[grid.pair_axis], 2), grid.pair_axis) for start in (0, 1))
    windows[index] = ((lower & np.int8(15)) | (upper << 4)).reshape(present.shape)
