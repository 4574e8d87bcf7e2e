"""The groups that share matrices: who must be here and agree, and a matrix as a whole.

A matrix of a sub-group is held as a whole, ``[S, rows, columns]``. One of a work-group is held as its work-items'
shares, ``[S, L, components]``, as its layout says. What concerns elements by themselves works on either; what concerns
the whole matrix puts it together, ``[matrices, rows, columns]``, and deals the result out again.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np

from coopmat.devices.lane_layout import Held
from coopmat.spirv.analysis.types import ArrayType, MatrixType, StructType, Type
from coopmat.targets.simulator.convergence import (
    group_uniform_value,
    require_full_sub_groups,
    require_work_groups,
    shown,
    uniform_value,
)
from coopmat.targets.simulator.state import Frame, Site
from coopmat.targets.simulator.values import Array


def matrix_in(kind: Type) -> MatrixType | None:
    """The first matrix that is, or is part of, a type."""
    if isinstance(kind, ArrayType):
        return matrix_in(kind.element)
    if isinstance(kind, StructType):
        return next((found for member in kind.members if (found := matrix_in(member))), None)
    return kind if isinstance(kind, MatrixType) else None


# --------------------------------------------------------------------------------------
# Who must be here
# --------------------------------------------------------------------------------------


def require_group(frame: Frame, site: Site, kind: MatrixType) -> None:
    """Raise DivergentGroupOperation unless each group that shares matrices of a type is here as a whole, or not at
    all."""
    if kind.is_of_work_group:
        require_work_groups(frame, site)
    else:
        require_full_sub_groups(frame, site)


def require_components(frame: Frame, site: Site, kind: MatrixType) -> None:
    """Raise DivergentGroupOperation for a component of the value of a work-group's matrix that only a part of it takes
    or replaces: as long as it is a value, a compiler decides where it is, and all have to move it. The components of
    variables are each work-item's own."""
    if kind.is_of_work_group:
        require_work_groups(frame, site)


def agreed_value(frame: Frame, kind: MatrixType, value: Array, site: Site, what: str,
                 show: Callable[[np.generic], str] = shown) -> Array:
    """The one value that all active work-items of each group have: ``[S]``, or ``[1]`` for all of them.

    Raises UndefinedBehavior naming two that differ.
    """
    if not kind.is_of_work_group or value.size == 1:
        return uniform_value(frame, value, site, what, show)
    return np.repeat(group_uniform_value(frame, value, site, what, show), frame.batch.sub_groups_per_group)


def per_group(frame: Frame, kind: MatrixType) -> int:
    """How many sub-groups share a matrix."""
    return frame.batch.sub_groups_per_group if kind.is_of_work_group else 1


def count(frame: Frame, kind: MatrixType) -> int:
    """How many matrices of a type the batch holds in one value."""
    return frame.batch.sub_groups // per_group(frame, kind)


def acting(frame: Frame, kind: MatrixType) -> Array:
    """The sub-groups that access memory: all that are active, or the first of each work-group that is."""
    active = frame.mask.sub_groups
    sub_groups = np.arange(frame.batch.sub_groups) if active is None else active
    per = per_group(frame, kind)
    return sub_groups if per == 1 else np.unique(sub_groups // per) * per


def of_matrices(frame: Frame, kind: MatrixType, value: Array) -> Array:
    """What :func:`agreed_value` gives as one value for each matrix, ``[matrices]``, or ``[1]``."""
    return value if len(value) == 1 else value[::per_group(frame, kind)]


# --------------------------------------------------------------------------------------
# Whole matrices
# --------------------------------------------------------------------------------------


def whole(frame: Frame, kind: MatrixType, value: Array) -> Array:
    """The matrices that a value holds, ``[matrices, rows, columns]``; one where all are the same."""
    if not kind.is_of_work_group:
        return value
    groups = 1 if len(value) == 1 else count(frame, kind)
    shape = (groups * per_group(frame, kind), frame.batch.lanes, kind.slice_length)
    shares = np.broadcast_to(value, shape).reshape(groups, -1, kind.slice_length)[:, :kind.work_items]
    components, elements = _places(kind)
    matrices = np.empty((groups, kind.rows * kind.columns), value.dtype)
    matrices[:, elements] = shares.reshape(groups, -1)[:, components]
    return matrices.reshape(-1, kind.rows, kind.columns)


def dealt(frame: Frame, kind: MatrixType, matrices: Array) -> Array:
    """The value that holds matrices ``[matrices, rows, columns]``."""
    if not kind.is_of_work_group:
        return matrices
    components, elements = _places(kind)
    shares = np.zeros((len(matrices), kind.work_items * kind.slice_length), matrices.dtype)
    shares[:, components] = matrices.reshape(len(matrices), -1)[:, elements]
    found = _in_sub_groups(frame, kind, shares.reshape(len(matrices), kind.work_items, kind.slice_length))
    return found if len(found) in (1, frame.batch.sub_groups) else np.tile(found, (count(frame, kind), 1, 1))


def held(frame: Frame, kind: MatrixType) -> Held:
    """The element that each component of each work-item holds: ``[S, L, components]``, or ``[1, L, components]``."""
    def spread(part: Array) -> Array:
        if not kind.is_of_work_group:
            return part[None]
        return np.tile(_in_sub_groups(frame, kind, part[None]), (count(frame, kind), 1, 1))

    row, column, valid = kind.layout.held
    return Held(spread(row), spread(column), spread(valid))


def in_layout(frame: Frame, kind: MatrixType, given: MatrixType, value: Array) -> Array:
    """A value of a type as one of another, whose components may lie otherwise."""
    if not kind.is_of_work_group or all(map(np.array_equal, kind.layout.held, given.layout.held)):
        return value
    return dealt(frame, kind, whole(frame, given, value))


@lru_cache(maxsize=256)
def _places(kind: MatrixType) -> tuple[Array, Array]:
    """The components of all work-items that hold elements, the last work-item first, and which elements these are,
    counted along the rows."""
    row, column, valid = kind.layout.held
    [components] = np.nonzero(valid.reshape(-1))
    return components[::-1], (row * kind.columns + column).reshape(-1)[components][::-1]


def _in_sub_groups(frame: Frame, kind: MatrixType, shares: Array) -> Array:
    """``[groups, work-items, components]`` as ``[sub-groups, L, components]``; the last one may have lanes too many."""
    lanes = frame.batch.lanes
    missing = per_group(frame, kind) * lanes - kind.work_items
    return np.pad(shares, ((0, 0), (0, missing), (0, 0))).reshape(-1, lanes, kind.slice_length)
