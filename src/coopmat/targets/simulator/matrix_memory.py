"""Matrices in global and local memory: strided rectangles of a buffer, one per sub-group.

The rectangles of all sub-groups that share buffer, stride and layout are moved by one numpy
operation on a strided view of the buffer.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NoReturn

import numpy as np
from numpy.lib.stride_tricks import as_strided

from coopmat.diagnostics import Misaligned, OutOfBounds, SimulationError, UndefinedBehavior
from coopmat.spirv.analysis.types import MatrixType
from coopmat.targets.base import out_of_bounds as say
from coopmat.targets.base.matrix_grid import Grid, grid_of
from coopmat.targets.simulator.address_space import BIAS, OFFSET_BITS, Buffer, Extent
from coopmat.targets.simulator.layouts import layouts_of
from coopmat.targets.simulator.matrix_groups import acting, count, per_group
from coopmat.targets.simulator.races.memory import watch_elements
from coopmat.targets.simulator.state import Frame, Site
from coopmat.targets.simulator.traffic import traffic_of
from coopmat.targets.simulator.values import Array, sign_extend_nibble


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


# --------------------------------------------------------------------------------------
# Rectangles of one buffer
# --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Tiles:
    """Sub-groups, or the first ones of work-groups, whose rectangles share buffer and grid; ``starts`` are byte offsets
    in its memory."""

    buffer: Buffer
    grid: Grid
    sub_groups: Array  # their numbers in the batch
    starts: Array
    layout: int


def load_matrix(frame: Frame, access: MatrixAccess, address: Array, layout: Array, stride: Array) -> Array:
    """The matrices at each group's address: ``[matrices, rows, columns]``."""
    kind = access.kind
    result, per = None, per_group(frame, kind)
    for tiles in _tiles(frame, access, address, layout, stride):
        _watch(frame, access, tiles)
        part = _gather(kind, tiles)
        if len(part) == count(frame, kind):
            return part
        if result is None:
            result = np.zeros((count(frame, kind), kind.rows, kind.columns), kind.dtype)
        result[tiles.sub_groups // per] = part
    if result is None:
        return np.zeros((1, kind.rows, kind.columns), kind.dtype)
    return result


def store_matrix(frame: Frame, access: MatrixAccess, matrix: Array, address: Array, layout: Array,
                 stride: Array) -> None:
    """Write each group's matrix to its address; where they overlap the last one wins."""
    kind = access.kind
    per = per_group(frame, kind)
    for tiles in _tiles(frame, access, address, layout, stride):
        everywhere = len(matrix) in (1, len(tiles.sub_groups))
        _watch(frame, access, tiles)
        _scatter(kind, tiles, matrix if everywhere else matrix[tiles.sub_groups // per])


def _watch(frame: Frame, access: MatrixAccess, tiles: Tiles) -> None:
    """Tell what watches memory of each element."""
    grid, layouts, traffic = tiles.grid, layouts_of(frame), traffic_of(frame)
    if traffic is not None:
        traffic.tiles(tiles.buffer, tiles.sub_groups, tiles.starts, grid.offsets, grid.dtype.itemsize, access.site,
                      writing=access.writing)
    if layouts is not None and not access.writing and not layouts.knows(tiles.buffer):
        layouts = None
    if tiles.buffer.watched is None and layouts is None:
        return
    places = grid.offsets.reshape(-1)
    start = (tiles.starts[:, None] + places).reshape(-1)
    watch_elements(frame, access.kind, tiles.buffer, np.repeat(tiles.sub_groups, len(places)), start,
                   grid.dtype.itemsize, access.site, writing=access.writing)
    if layouts is not None and access.writing:
        layouts.matrix_stored(tiles.buffer, start, grid.dtype.itemsize, tiles.layout, access.site)
    elif layouts is not None:
        layouts.matrix_loaded(frame, tiles.buffer, start, tiles.layout, access.site, tiles.sub_groups)


def _tiles(frame: Frame, access: MatrixAccess, address: Array, layout: Array,
           stride: Array) -> Iterator[Tiles]:
    """What the sub-groups that act access, by buffer, stride and layout; checked."""
    sub_groups = acting(frame, access.kind)
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
            memory = say.InMemory(access.kind, layout, stride, frame.memory.offset_in(int(address[wrong])))
            _first_out_of_bounds(frame, access, grid, memory, int(sub_groups[wrong]), buffer)
        sub_groups, offset = sub_groups[inside], offset[inside]
    if len(sub_groups):
        starts = offset if buffer.instances is None else offset + buffer.instances[sub_groups, 0]
        yield Tiles(buffer, grid, sub_groups, starts, layout)


def buffer_of(frame: Frame, access: MatrixAccess, address: int, sub_group: int, *,
              stores_over_itself: bool) -> Buffer:
    """The buffer that a matrix is moved to or from; raises for memory where that is not possible."""
    site, buffer = access.site, frame.memory.buffer_at(address)
    if buffer is None or buffer.row.extent is Extent.LANE:
        what = (f"is {frame.memory.describe(address, access.kind.component.size)}" if buffer is None
                else f"points to private memory, {buffer.row.name}")
        raise OutOfBounds(say.not_shared(site.in_words, what), site.where(frame, sub_group))
    if access.writing and stores_over_itself:
        raise UndefinedBehavior("a matrix cannot be stored with a stride of 0", site.where(frame, sub_group))
    if access.writing and not buffer.row.writable:
        raise SimulationError(say.MATRIX_READ_ONLY, site.where(frame, sub_group, None, buffer.row.name))
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


def _first_out_of_bounds(frame: Frame, access: MatrixAccess, grid: Grid, memory: say.InMemory, sub_group: int,
                         buffer: Buffer) -> NoReturn:
    """Name the first element, counted along the rows, that lies outside."""
    found = say.first_outside(access.kind, grid, memory.start, buffer.row.nbytes)
    assert found is not None
    row, column, byte = found
    out_of_bounds(frame, access, (row, column), byte, memory, sub_group, buffer, grid.dtype.itemsize)


def out_of_bounds(frame: Frame, access: MatrixAccess, element: tuple[int, int], byte: int, memory: say.InMemory,
                  sub_group: int, buffer: Buffer, size: int, *, is_window: bool = False) -> NoReturn:
    """Raise OutOfBounds for an element (row and column) at a byte of the buffer; ``size``: bytes of what holds it."""
    row, column = element
    beyond, lane = divmod(int(access.kind.layout.owner[0][row, column]), frame.batch.lanes)
    text = say.element_outside(access.site.in_words, access.writing, element, memory, byte, buffer.row.nbytes, size,
                               is_window=is_window)
    raise OutOfBounds(text, access.site.where(frame, sub_group + beyond, lane, buffer.row.name, byte // size))


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
