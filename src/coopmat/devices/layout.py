"""How the elements of a matrix are spread over the work-items of a sub-group.

SPIR-V leaves the mapping of components to invocations to the implementation
(SPV_KHR_cooperative_matrix). Here the elements, counted along the rows, are dealt out to the
work-items in turn: element number ``e`` is component ``e // size`` of work-item ``e % size``. Every
work-item has the same number of components; those beyond the last element are padding.

Every function takes integers or arrays of integers.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

Index = TypeVar("Index", int, NDArray[Any])


def components(rows: int, columns: int, sub_group_size: int) -> int:
    """Number of components that each work-item holds, padding included (OpCooperativeMatrixLengthKHR)."""
    return -(-rows * columns // sub_group_size)


def element_of(component: Index, lane: Index, rows: int, columns: int,
               sub_group_size: int) -> tuple[Index, Index]:
    """(row, column) of a work-item's component; the row of padding is ``rows`` or more."""
    element = component * sub_group_size + lane
    return element // columns, element % columns


def position_of(row: Index, column: Index, columns: int, sub_group_size: int) -> tuple[Index, Index]:
    """(component, lane) that hold an element: the inverse of :func:`element_of`."""
    element = row * columns + column
    return element // sub_group_size, element % sub_group_size


class ElementIndices(NamedTuple):
    """Index arrays for all components of all work-items, each of shape [components, sub_group_size].

    Where ``valid`` is false (padding), ``row`` and ``column`` are 0, so that they can be used to
    index a matrix.
    """

    row: NDArray[np.intp]
    column: NDArray[np.intp]
    valid: NDArray[np.bool_]


def element_indices(rows: int, columns: int, sub_group_size: int) -> ElementIndices:
    """Row, column and validity of every (component, lane)."""
    count = components(rows, columns, sub_group_size)
    component = np.arange(count, dtype=np.intp)[:, np.newaxis]
    lane = np.arange(sub_group_size, dtype=np.intp)[np.newaxis, :]
    row, column = element_of(component, lane, rows, columns, sub_group_size)
    valid = row < rows
    return ElementIndices(np.where(valid, row, 0), np.where(valid, column, 0), valid)
