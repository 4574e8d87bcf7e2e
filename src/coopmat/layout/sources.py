"""The layouts of Intel's sub-group functions, with the names that their kernels have for them."""

from __future__ import annotations

from coopmat.devices.subgroup_layout import SubGroupMatrixRow, block_2d_layout, block_io_layout
from coopmat.layout.picture import Picture


def matrix_a(row: SubGroupMatrixRow, m: int) -> Picture:
    """The first operand of a sub-group matrix multiply-accumulate with ``m`` rows."""
    title = f"A ({row.a}): M = {m}, K = {row.k}, sub-group size {row.sub_group_size}"
    return Picture(row.layout("a", m), "A", title, "vector")


def matrix_b(row: SubGroupMatrixRow) -> Picture:
    """The second operand of a sub-group matrix multiply-accumulate."""
    title = f"B ({row.b}): K = {row.k}, N = {row.sub_group_size} = sub-group size"
    return Picture(row.layout("b", 1), "B", title, "vector")


def accumulator(row: SubGroupMatrixRow, m: int) -> Picture:
    """The accumulator, and the result, of a sub-group matrix multiply-accumulate."""
    title = f"Accumulator and result ({row.accumulator}): M = {m}, N = {row.sub_group_size} = sub-group size"
    return Picture(row.layout("accumulator", m), "C", title, "vector")


def block_io(function: str, rows: int, columns: int, sub_group_size: int, bits: int) -> Picture:
    """A row-major tile without gaps between its rows, read or written by a one-dimensional block function."""
    title = f"{function}: {rows}×{columns} elements without gaps, sub-group size {sub_group_size}"
    return Picture(block_io_layout(rows, columns, sub_group_size, bits), "tile", title, "vector")


def block_2d(function: str, width: int, height: int, count: int, bits: int, component_bits: int, *,
             sub_group_size: int = 16, transpose: bool = False, transform: bool = False) -> Picture:
    """``count`` blocks of ``width`` x ``height`` beside each other, as a 2D block function deals them out.

    ``component_bits`` is the width of what its private pointer points to.
    """
    layout = block_2d_layout(width, height, count, bits, component_bits, lanes=sub_group_size, transpose=transpose,
                             transform=transform)
    title = f"{function}: {height} rows, {width * count} columns of {bits} bits"
    return Picture(layout, "block", title, "array")
