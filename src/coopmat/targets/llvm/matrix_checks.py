"""Bounds checks of matrices in memory: of all elements, or of those that lie in a window."""

from __future__ import annotations

from collections.abc import Sequence

from coopmat.spirv.analysis.types import MatrixType
from coopmat.targets.base.matrix_grid import grid_of
from coopmat.targets.llvm.checks import Extent
from coopmat.targets.llvm.emitter import Emitter
from coopmat.targets.llvm.extents import overlap, rows_of_bytes
from coopmat.targets.llvm.matrices import MatrixAccess


def check_matrix(emitter: Emitter, kind: MatrixType, access: MatrixAccess, *, writing: bool) -> None:
    """Where accesses are checked, have that of a matrix checked, or of what of it lies in a window."""
    checks, grids = emitter.checks, [grid_of(kind, access.layout, distance) for distance in (0, 1)]
    if checks is None or grids[0] is None or grids[1] is None:
        return  # in another layout there is no such matrix
    start = emitter.writer.let(f"ptrtoint ptr {access.address} to i64")
    count, row_bytes = grids[1].high - grids[0].high + 1, grids[0].high
    size, layout, stride = grids[0].dtype.itemsize, int(access.layout), access.stride
    if not access.window:
        extent = rows_of_bytes(emitter, start, ("0", str(count)), stride, ("0", str(row_bytes)))
        checks.extent("matrix", access.pointer, access.address, extent, [stride], size=size, writing=writing,
                      matrix=kind, layout=layout)
        return
    extent, is_empty = _inside(emitter, start, stride, count, row_bytes // size, size, access.window)
    checks.extent("window", access.pointer, access.address, extent, [stride, *access.window], size=size,
                  writing=writing, matrix=kind, layout=layout, is_empty=is_empty)


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
