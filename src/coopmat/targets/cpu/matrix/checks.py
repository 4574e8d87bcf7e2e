"""Bounds checks of matrices in memory: of all elements, or of those that lie in a window."""

from __future__ import annotations

from collections.abc import Sequence

from coopmat.spirv.analysis.types import MatrixType
from coopmat.spirv.grammar import CooperativeMatrixLayout as Layout
from coopmat.targets.base.matrix_grid import grid_of
from coopmat.targets.cpu.checks.bounds import bounds_of
from coopmat.targets.llvm.emitter import Emitter
from coopmat.targets.llvm.extents import Extent, overlap, rows_of_bytes


def check_matrix(emitter: Emitter, kind: MatrixType, pointer: int, layout: Layout, address: str, stride: str,
                 window: Sequence[str], *, writing: bool) -> None:
    """Check a load or store through the pointer ``address``, rows or columns ``stride`` bytes apart. ``window``: first
    row, first column, height and width, or nothing."""
    bounds, grids = bounds_of(emitter), [grid_of(kind, layout, distance) for distance in (0, 1)]
    if bounds is None or grids[0] is None or grids[1] is None:
        return  # in another layout there is no such matrix
    start = emitter.writer.let(f"ptrtoint ptr {address} to i64")
    count, row_bytes = grids[1].high - grids[0].high + 1, grids[0].high
    size = grids[0].dtype.itemsize
    if not window:
        extent = rows_of_bytes(emitter, start, ("0", str(count)), stride, ("0", str(row_bytes)))
        bounds.extent("matrix", pointer, address, extent, [stride], size=size, writing=writing, matrix=kind,
                      layout=int(layout))
        return
    extent, is_empty = _inside(emitter, start, stride, count, row_bytes // size, size, window)
    bounds.extent("window", pointer, address, extent, [stride, *window], size=size, writing=writing, matrix=kind,
                  layout=int(layout), is_empty=is_empty)


def _inside(emitter: Emitter, start: str, stride: str, rows: int, columns: int, size: int,
            window: Sequence[str]) -> tuple[Extent, str]:
    """What of ``rows`` x ``columns`` elements in memory lies in a window, and whether that is nothing."""
    writer = emitter.writer
    row, column, height, width = window
    top, bottom, no_rows = overlap(emitter, row, rows, height)
    left, right, no_columns = overlap(emitter, column, columns, width)
    first, last = (writer.let(f"mul i64 {place}, {size}") for place in (left, right))
    extent = rows_of_bytes(emitter, start, (top, bottom), stride, (first, last))
    return extent, writer.let(f"or i1 {no_rows}, {no_columns}")
