"""How values are held: numpy arrays that broadcast over sub-groups and lanes.

===========  =============================================================================
type         value
===========  =============================================================================
scalar       array ``[S, L]``; an axis along which the value is the same has length 1
vector       array ``[S, L, components]``
matrix       array ``[S, rows, columns]``; of a work-group ``[S, L, components]`` (matrix_groups.py)
aggregate    tuple of its members' values
===========  =============================================================================

``S`` counts the sub-groups of the running batch, ``L`` the lanes of a sub-group. Values are never
changed in place: several names may share one array.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from coopmat.diagnostics import Error
from coopmat.spirv.analysis.types import (
    ArrayType,
    MatrixType,
    StructType,
    Type,
    VectorType,
    VoidType,
    is_number,
)

Value = Any  # np.ndarray, or a tuple of values for an aggregate
Array = np.ndarray[Any, np.dtype[Any]]


def members_of(kind: Type) -> tuple[Type, ...] | None:
    """The types of an aggregate's members, or None for any other type."""
    if isinstance(kind, StructType):
        return kind.members
    if isinstance(kind, ArrayType):
        return (kind.element,) * kind.length
    return None


def zero(kind: Type) -> Value:
    """The all-zero value of a type: uniform over sub-groups and lanes."""
    if isinstance(kind, ArrayType):
        return (zero(kind.element),) * kind.length
    if isinstance(kind, StructType):
        return tuple(map(zero, kind.members))
    if isinstance(kind, MatrixType):
        shape = (1, kind.slice_length) if kind.is_of_work_group else (kind.rows, kind.columns)
        return np.zeros((1, *shape), kind.dtype)
    if isinstance(kind, VectorType):
        return np.zeros((1, 1, kind.length), kind.dtype)
    if is_number(kind):
        return np.zeros((1, 1), kind.dtype)
    if isinstance(kind, VoidType):
        return None
    raise Error(f"there is no value of type {kind}")


def scalar(value: int | float | bool, kind: Type) -> Array:
    """A constant as a uniform value; an integer may be given signed or unsigned."""
    if kind.dtype.kind == "i":
        bits = 8 * kind.dtype.itemsize
        value = (int(value) + (1 << bits - 1)) % (1 << bits) - (1 << bits - 1)
    return np.full((1, 1), value, kind.dtype)


def spread(kind: Type, lanes: Array) -> Array:
    """Bring a condition per lane ``[S, L]`` to the shape of a value of type ``kind``.

    For a matrix every element takes the condition of the lane that owns it.
    """
    if isinstance(kind, VectorType):
        return lanes[..., None]
    if isinstance(kind, MatrixType):
        if lanes.shape[1] == 1 or kind.is_of_work_group:
            return lanes[..., None]
        return lanes[:, kind.layout.owner[0]]
    return lanes


def blend(kind: Type, lanes: Array, chosen: Value, other: Value) -> Value:
    """``chosen`` in the lanes where ``lanes`` is true, ``other`` elsewhere."""
    members = members_of(kind)
    if members is not None:
        return tuple(blend(*item) for item in
                     zip(members, (lanes,) * len(members), chosen, other, strict=True))
    return np.where(spread(kind, lanes), chosen, other)


def unsigned(value: Array) -> Array:
    """An integer array read as unsigned, without a copy."""
    return value.view(f"u{value.dtype.itemsize}")


def signed(value: Array) -> Array:
    """An integer array back in the simulator's own signed form, without a copy."""
    return value.view(f"i{value.dtype.itemsize}")


def sign_extend_nibble(value: Array) -> Array:
    """The low four bits of an ``int8`` array as 4-bit signed integers."""
    return np.right_shift(np.left_shift(value, 4), 4)


# --------------------------------------------------------------------------------------
# A matrix as the slices that its lanes own
# --------------------------------------------------------------------------------------


def slices_of(kind: MatrixType, matrix: Array) -> Array:
    """The components of each lane, ``[S, L, slice length]``; padding is zero, but in matrices of work-groups."""
    if kind.is_of_work_group:
        return matrix
    row, column, valid = kind.layout.held
    slices = np.zeros((matrix.shape[0], *valid.shape), matrix.dtype)
    slices[:, valid] = matrix[:, row[valid], column[valid]]
    return slices


def from_slices(kind: MatrixType, slices: Array) -> Array:
    """The matrix ``[S, rows, columns]`` whose lanes own ``slices``; of an element that is held several times, the first
    one counts."""
    if kind.is_of_work_group:
        return slices
    lanes, components = kind.layout.owner
    full = np.broadcast_to(slices, (slices.shape[0], kind.work_items, kind.slice_length))
    return full[:, lanes, components]
