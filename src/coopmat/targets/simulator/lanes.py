"""The values of a group side by side: rows of work-items, and reductions and scans along them.

A *group row* is the sub-group, or the work-group with its sub-groups in their order, so that the
position in the row is the linear local id.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from coopmat.spirv.grammar import GroupOperation, Scope
from coopmat.targets.simulator.state import Frame
from coopmat.targets.simulator.values import Array, unsigned


@dataclass(frozen=True)
class GroupRows:
    """Arranges values as ``[groups, members, ...]``; ``per_row`` sub-groups make up one group."""

    frame: Frame
    per_row: int

    @classmethod
    def of(cls, frame: Frame, scope: int) -> GroupRows:
        """The rows of a scope, Subgroup or Workgroup."""
        return cls(frame, frame.batch.sub_groups_per_group if scope == Scope.Workgroup else 1)

    def arrange(self, value: Array) -> Array:
        """A value ``[S, L, ...]``, axes of length 1 spread out, as ``[groups, members, ...]``."""
        shape = self.frame.mask.expanded.shape
        full = np.broadcast_to(value, (*shape, *value.shape[2:]))
        return full.reshape(shape[0] // self.per_row, shape[1] * self.per_row, *value.shape[2:])

    def restore(self, rows: Array) -> Array:
        """The inverse of ``arrange``; one value per group (``[groups, 1, ...]``) stays uniform."""
        if rows.shape[1] == 1:
            return np.repeat(rows, self.per_row, axis=0)
        return rows.reshape(-1, self.frame.batch.lanes, *rows.shape[2:])

    @property
    def active(self) -> Array:
        """The active work-items, ``[groups, members]``."""
        return self.arrange(self.frame.mask.lanes)

    def place(self, group: int, member: int) -> tuple[int, int]:
        """Sub-group and lane of a member."""
        sub_group, lane = divmod(member, self.frame.batch.lanes)
        return group * self.per_row + sub_group, lane


Limit = Callable[[np.dtype[Any]], Any]


def _constant(number: float | bool) -> Limit:
    return lambda dtype: number


@dataclass(frozen=True)
class Reduction:
    """An associative operation, carried out in the order of the work-items.

    neutral: what stands in for a work-item that takes no part; it leaves every value, also -0 and
    NaN, as it is. identity: the first value of an exclusive scan, as the specification has it.
    """

    function: np.ufunc
    neutral: Limit
    identity: Limit
    is_unsigned: bool = False

    def prefixes(self, values: Array, active: Array) -> Array:
        """The results of the active work-items up to and including each, ``[groups, members, ...]``."""
        if self.is_unsigned:
            values = unsigned(values)
        spread = active.reshape(*active.shape, *[1] * (values.ndim - 2))
        if self.neutral is NOT_A_NUMBER:
            spread = spread & ~np.isnan(values)  # numpy lets a signalling NaN win
        cleaned = np.where(spread, values, values.dtype.type(self.neutral(values.dtype)))
        return self.function.accumulate(cleaned, axis=1, dtype=values.dtype)

    def apply(self, operation: int, values: Array, active: Array) -> Array:
        """A reduction ``[groups, 1, ...]`` or a scan ``[groups, members, ...]``."""
        prefixes = self.prefixes(values, active)
        if operation == GroupOperation.ExclusiveScan:
            before = np.cumsum(active, axis=1) - active
            is_first = (before == 0).reshape(*active.shape, *[1] * (values.ndim - 2))
            shifted = np.roll(prefixes, 1, axis=1)
            prefixes = np.where(is_first, prefixes.dtype.type(self.identity(prefixes.dtype)), shifted)
        elif operation == GroupOperation.Reduce:
            prefixes = prefixes[:, -1:]
        return prefixes.view(values.dtype)

    def apply_clustered(self, values: Array, active: Array, size: int) -> Array:
        """The reduction of every ``size`` neighbouring members, given to each of them."""
        groups, members = active.shape
        shape = (groups * (members // size), size)
        clusters = self.prefixes(values.reshape(*shape, *values.shape[2:]), active.reshape(shape))[:, -1:]
        return np.repeat(clusters, size, axis=1).reshape(values.shape).view(values.dtype)


def _highest(dtype: np.dtype[Any]) -> Any:
    return np.inf if dtype.kind == "f" else np.iinfo(dtype).max


def _lowest(dtype: np.dtype[Any]) -> Any:
    return -np.inf if dtype.kind == "f" else np.iinfo(dtype).min


ZERO, ONE, ALL_BITS, NOT_A_NUMBER = map(_constant, (0, 1, -1, np.nan))
FALSE, TRUE = map(_constant, (False, True))

REDUCTIONS: dict[str, Reduction] = {
    "IAdd": Reduction(np.add, ZERO, ZERO),
    "FAdd": Reduction(np.add, _constant(-0.0), ZERO),
    "IMul": Reduction(np.multiply, ONE, ONE),
    "FMul": Reduction(np.multiply, ONE, ONE),
    "SMin": Reduction(np.minimum, _highest, _highest),
    "UMin": Reduction(np.minimum, _highest, _highest, is_unsigned=True),
    "FMin": Reduction(np.fmin, NOT_A_NUMBER, _highest),
    "SMax": Reduction(np.maximum, _lowest, _lowest),
    "UMax": Reduction(np.maximum, _lowest, _lowest, is_unsigned=True),
    "FMax": Reduction(np.fmax, NOT_A_NUMBER, _lowest),
    "BitwiseAnd": Reduction(np.bitwise_and, ALL_BITS, ALL_BITS),
    "BitwiseOr": Reduction(np.bitwise_or, ZERO, ZERO),
    "BitwiseXor": Reduction(np.bitwise_xor, ZERO, ZERO),
    "LogicalAnd": Reduction(np.logical_and, TRUE, TRUE),
    "LogicalOr": Reduction(np.logical_or, FALSE, FALSE),
    "LogicalXor": Reduction(np.logical_xor, FALSE, FALSE),
}
"""The operations of the group instructions, by the end of the instruction's name."""


def take_lanes(value: Array, source: Array, shape: tuple[int, int]) -> Array:
    """For each lane the value of lane ``source`` (in range) of its sub-group."""
    full = np.broadcast_to(value, (*shape, *value.shape[2:]))
    index = np.broadcast_to(source, shape).astype(np.intp)
    return np.take_along_axis(full, index.reshape(*shape, *[1] * (value.ndim - 2)), axis=1)
