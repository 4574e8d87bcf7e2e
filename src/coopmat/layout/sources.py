"""The layouts of :mod:`coopmat.devices` as lists of elements."""

from __future__ import annotations

import numpy as np

from coopmat.devices.layout import position_of
from coopmat.devices.subgroup_layout import (
    WORD_BITS,
    Indices,
    Position,
    SubGroupMatrixRow,
    block_elements,
    block_io_position,
)
from coopmat.formats import format_of
from coopmat.layout.elements import Element, ElementLayout


def matrix_a(row: SubGroupMatrixRow, m: int) -> ElementLayout:
    """The first operand of a sub-group matrix multiply-accumulate with ``m`` rows."""
    title = f"A ({row.a}): M = {m}, K = {row.k}, sub-group size {row.sub_group_size}"
    return ElementLayout("A", title, m, row.k, row.sub_group_size, row.bits, row.a_bits,
                         _whole_matrix(m, row.k, row.a_positions(m)))


def matrix_b(row: SubGroupMatrixRow) -> ElementLayout:
    """The second operand of a sub-group matrix multiply-accumulate."""
    n = row.sub_group_size
    return ElementLayout("B", f"B ({row.b}): K = {row.k}, N = {n} = sub-group size", row.k, n, n, row.bits, WORD_BITS,
                         _whole_matrix(row.k, n, row.b_positions()))


def accumulator(row: SubGroupMatrixRow, m: int) -> ElementLayout:
    """The accumulator, and the result, of a sub-group matrix multiply-accumulate."""
    n, bits = row.sub_group_size, format_of(row.accumulator).bits
    title = f"Accumulator and result ({row.accumulator}): M = {m}, N = {n} = sub-group size"
    return ElementLayout("C", title, m, n, n, bits, bits, _whole_matrix(m, n, row.accumulator_positions(m)))


def block_io(function: str, rows: int, columns: int, sub_group_size: int, bits: int) -> ElementLayout:
    """A row-major tile without gaps between its rows, read or written by a one-dimensional block function."""
    title = f"{function}: {rows}×{columns} elements without gaps, sub-group size {sub_group_size}"
    positions = block_io_position(np.arange(rows * columns).reshape(rows, columns), sub_group_size)
    return ElementLayout("tile", title, rows, columns, sub_group_size, bits, bits,
                         _whole_matrix(rows, columns, positions))


def block_2d(function: str, width: int, height: int, count: int, bits: int, component_bits: int, *,
             sub_group_size: int = 16, transpose: bool = False, transform: bool = False) -> ElementLayout:
    """``count`` blocks of ``width`` x ``height`` beside each other, as a 2D block function deals them out.

    ``component_bits`` is the width of what its private pointer points to.
    """
    held = block_elements(width, height, count, sub_group_size, transpose=transpose,
                          rows_per_word=WORD_BITS // bits if transform else 1)
    lane, index = np.nonzero(held.valid)
    per_component = component_bits // bits
    positions = Position(lane, index // per_component, bits * (index % per_component))
    elements = _elements(held.row[held.valid], held.column[held.valid], positions)
    return ElementLayout("block", f"{function}: {height} rows, {width * count} columns of {bits} bits", height,
                         width * count, sub_group_size, bits, component_bits, elements, "array")


def cooperative_matrix(rows: int, columns: int, sub_group_size: int, bits: int) -> ElementLayout:
    """A cooperative matrix of any use on the simulated devices."""
    title = f"Cooperative matrix, {rows}×{columns}, sub-group size {sub_group_size}, on simulated devices"
    row, column = np.indices((rows, columns))
    component, lane = position_of(row, column, columns, sub_group_size)
    return ElementLayout("m", title, rows, columns, sub_group_size, bits, bits,
                         _whole_matrix(rows, columns, Position(lane, component, 0 * lane)), "array")


def _whole_matrix(rows: int, columns: int, positions: Position) -> tuple[Element, ...]:
    """All elements of a matrix, row by row; the positions are arrays [rows, columns]."""
    row, column = np.indices((rows, columns))
    return _elements(row, column, positions)


def _elements(row: Indices, column: Indices, positions: Position) -> tuple[Element, ...]:
    """The elements in the order of the matrix, row by row."""
    numbers = (array.ravel().tolist() for array in (row, column, *positions))
    return tuple(sorted(Element(*element) for element in zip(*numbers, strict=True)))
