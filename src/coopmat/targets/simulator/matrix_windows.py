"""Matrices that lie in a window of a matrix in memory (SPV_INTEL_joint_matrix, checked instructions).

The elements inside of the window are gathered and scattered one by one, and only they are accessed: what lies
outside is 0 or is dropped, and no memory needs to be there.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from coopmat.diagnostics import UndefinedBehavior
from coopmat.spirv.analysis.types import MatrixType
from coopmat.spirv.grammar import CooperativeMatrixLayout as Layout
from coopmat.spirv.grammar import CooperativeMatrixUse as Use
from coopmat.targets.base.matrix_grid import PACKED_WORD
from coopmat.targets.base.out_of_bounds import InMemory
from coopmat.targets.simulator.address_space import BIAS, FARTHEST, OFFSET_BITS, Buffer
from coopmat.targets.simulator.layouts import layouts_of
from coopmat.targets.simulator.matrix_groups import acting, count, per_group
from coopmat.targets.simulator.matrix_memory import (
    MatrixAccess,
    buffer_of,
    check_alignment,
    out_of_bounds,
)
from coopmat.targets.simulator.races.memory import watch_elements
from coopmat.targets.simulator.state import Frame
from coopmat.targets.simulator.traffic import traffic_of
from coopmat.targets.simulator.values import Array


class Window(NamedTuple):
    """Row and column of the matrix's first element and the sizes of the region: ``[S]`` or ``[1]`` each."""

    row: Array
    column: Array
    height: Array
    width: Array


@dataclass(frozen=True)
class _Elements:
    """The elements inside the window of sub-groups whose pointers lead to one buffer.

    ``inside`` is ``[n, rows, columns]``; ``starts`` are the byte offsets in the buffer's memory of its true elements.
    """

    buffer: Buffer
    layout: int
    sub_groups: Array
    inside: Array
    starts: Array


def inside_window(kind: MatrixType, window: Window) -> Array:
    """Which elements of a matrix lie inside: ``[S, rows, columns]`` or ``[1, rows, columns]``."""
    row, column = np.indices((kind.rows, kind.columns))
    return _is_inside(window, _row_of(window) + row, _column_of(window) + column)


def load_window(frame: Frame, access: MatrixAccess, address: Array, layout: Array, stride: Array,
                window: Window) -> Array:
    """The matrices at each group's window: ``[matrices, rows, columns]``."""
    kind = access.kind
    per = per_group(frame, kind)
    result = np.zeros((count(frame, kind), kind.rows, kind.columns), kind.dtype)
    for found in _elements(frame, access, address, layout, stride, window):
        _watch(frame, access, found)
        view = found.buffer.view(kind.dtype)
        part = np.zeros(found.inside.shape, kind.dtype)
        part[found.inside] = view[found.starts // kind.component.size]
        result[found.sub_groups // per] = part
    return result


def store_window(frame: Frame, access: MatrixAccess, matrix: Array, address: Array, layout: Array, stride: Array,
                 window: Window) -> None:
    """Write what is inside of each group's window; where they overlap the last one wins."""
    kind = access.kind
    per = per_group(frame, kind)
    for found in _elements(frame, access, address, layout, stride, window):
        _watch(frame, access, found)
        part = matrix if len(matrix) == 1 else matrix[found.sub_groups // per]
        view = found.buffer.view(kind.dtype)
        view[found.starts // kind.component.size] = np.broadcast_to(part, found.inside.shape)[found.inside]


def _watch(frame: Frame, access: MatrixAccess, found: _Elements) -> None:
    sub_groups = np.repeat(found.sub_groups, found.inside.sum(axis=(1, 2)))
    size, layouts = access.kind.component.size, layouts_of(frame)
    watch_elements(frame, access.kind, found.buffer, sub_groups, found.starts, size, access.site,
                   writing=access.writing)
    if layouts is not None and access.writing:
        layouts.matrix_stored(found.buffer, found.starts, size, found.layout, access.site)
    elif layouts is not None and layouts.knows(found.buffer):
        whole = found.inside.all(axis=(1, 2))  # of a part of a matrix nobody knows what the rest was stored with
        layouts.matrix_loaded(frame, found.buffer, found.starts[np.isin(sub_groups, found.sub_groups[whole])],
                              found.layout, access.site, found.sub_groups[whole])
    traffic = traffic_of(frame)
    if traffic is not None:
        traffic.elements(found.buffer, sub_groups, found.starts, size, access.site, "matrix",
                         writing=access.writing)


def _elements(frame: Frame, access: MatrixAccess, address: Array, layout: Array, stride: Array,
              window: Window) -> Iterator[_Elements]:
    """What the sub-groups that act access, by buffer and layout; checked."""
    sub_groups = acting(frame, access.kind)

    def chosen(value: Array) -> Array:
        return np.broadcast_to(value, (frame.batch.sub_groups,))[sub_groups]

    address, layout, stride = chosen(address), chosen(layout), chosen(stride)
    window = Window(*map(chosen, (window.row, window.column, window.height, window.width)))
    for order in np.unique(layout).tolist():
        offsets, inside = _positions(frame, access, int(order), stride, window, int(sub_groups[0]))
        accessing = (layout == order) & inside.any(axis=(1, 2))
        for number in np.unique(address[accessing] >> OFFSET_BITS):
            here = accessing & (address >> OFFSET_BITS == number)
            yield _checked(frame, access, int(order), sub_groups[here], address[here], stride[here], offsets[here],
                           inside[here])


def _positions(frame: Frame, access: MatrixAccess, layout: int, stride: Array, window: Window,
               sub_group: int) -> tuple[Array, Array]:
    """Bytes from the pointer to each element, and which elements are inside: ``[n, rows, columns]`` both.

    The window is one of memory, whose rows lie a stride apart: those of a column-major matrix are its columns, those
    of a packed one what is packed. So DPC++ and Intel's compiler count.
    """
    kind, size = access.kind, access.kind.component.size
    row, column = np.indices((kind.rows, kind.columns))
    together = PACKED_WORD // size
    if layout == Layout.ColumnMajorKHR:
        row, column = column, row
    elif layout == Layout.PackedINTEL and kind.use == Use.MatrixBKHR and together > 1 and kind.rows % together == 0:
        row, column = row // together, column * together + row % together
    elif layout != Layout.RowMajorKHR and (layout != Layout.PackedINTEL or kind.use != Use.MatrixAKHR):
        raise UndefinedBehavior(f"layout {layout} is not possible for a {kind} of use {kind.use}",
                                access.site.where(frame, sub_group))
    rows, columns = _row_of(window) + row, _column_of(window) + column
    step = stride[:, None, None]
    farthest = FARTHEST // np.maximum(np.abs(step), 1)  # beyond that no buffer reaches
    return np.clip(rows, -farthest, farthest) * step + columns * size, _is_inside(window, rows, columns)


def _is_inside(window: Window, rows: Array, columns: Array) -> Array:
    height, width = (size[:, None, None] for size in (window.height, window.width))
    return (rows >= 0) & (rows < height) & (columns >= 0) & (columns < width)


def _row_of(window: Window) -> Array:
    return window.row[:, None, None]


def _column_of(window: Window) -> Array:
    return window.column[:, None, None]


def _checked(frame: Frame, access: MatrixAccess, layout: int, sub_groups: Array, address: Array, stride: Array,
             offsets: Array, inside: Array) -> _Elements:
    """The elements of sub-groups whose pointers lead to one buffer, after all checks."""
    size = access.kind.component.size
    buffer = buffer_of(frame, access, int(address[0]), int(sub_groups[0]), stores_over_itself=bool((stride == 0).any()))
    for distance in np.unique(stride):
        same = stride == distance
        check_alignment(frame, access, sub_groups[same], address[same], int(distance), buffer)
    starts = offsets + ((address & (1 << OFFSET_BITS) - 1) - BIAS)[:, None, None]
    outside = inside & ((starts < 0) | (starts > buffer.row.nbytes - size))
    if outside.any():
        if frame.batch.options.bounds:
            which, row, column = np.argwhere(outside)[0].tolist()
            memory = InMemory(access.kind, layout, int(stride[which]), frame.memory.offset_in(int(address[which])))
            out_of_bounds(frame, access, (row, column), int(starts[which, row, column]), memory,
                          int(sub_groups[which]), buffer, size, is_window=True)
        inside = inside & ~outside
    if buffer.instances is not None:
        starts = starts + buffer.instances[sub_groups, 0][:, None, None]
    return _Elements(buffer, layout, sub_groups, inside, starts[inside])
