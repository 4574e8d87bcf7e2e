"""Who accesses memory: numbers for the work-items of a launch.

An *agent* is a work-item, or a sub-group that moves a matrix: which of its work-items moves which element is the
implementation's choice, so a matrix access is one of nobody in particular. Accesses of one matrix type by one sub-group
are one agent's: the same work-item moves the same element each time.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from coopmat.spirv.grammar import Scope
from coopmat.targets.base.geometry import Geometry
from coopmat.targets.simulator.state import Batch, Mask
from coopmat.targets.simulator.values import Array

MATRIX_KINDS = 64  # agents of a sub-group beside its work-items


class Who(NamedTuple):
    """The agents of an access, by position: the first and the last of those that are there; ``lanes`` says which
    positions are accessed, None for all."""

    first: Array
    last: Array
    lanes: Array | None


@dataclass(frozen=True)
class Agents:
    """The numbering of a launch's agents."""

    geometry: Geometry

    @property
    def per_sub_group(self) -> int:
        return self.geometry.sub_group_size + MATRIX_KINDS

    @property
    def dtype(self) -> np.dtype[np.signedinteger]:
        """Wide enough for all of them."""
        total = self.geometry.group_total * self.geometry.sub_groups_per_group * self.per_sub_group
        return np.dtype(np.int32 if total < 1 << 31 else np.int64)

    def first_of(self, batch: Batch) -> Array:
        """The first agent of each sub-group of a batch, ``[S]``."""
        sub_groups = batch.first_group * batch.sub_groups_per_group + np.arange(batch.sub_groups)
        return (sub_groups * self.per_sub_group).astype(self.dtype)

    def of_lanes(self, batch: Batch, mask: Mask, shape: tuple[int, ...]) -> Who:
        """The work-items that share each position of an access of ``shape``, ``[S, L]``, ``[S, 1]`` or ``[1, 1]``."""
        base = self.first_of(batch)[:, None]
        if shape == mask.expanded.shape:
            items = base + np.arange(shape[1], dtype=self.dtype)
            lanes = None if mask.full else mask.expanded
            found = items.reshape(-1) if lanes is None else items[lanes]
            return Who(found, found, lanes)
        first = base[:, 0] + np.argmax(mask.expanded, axis=1).astype(self.dtype)
        last = base[:, 0] + (mask.lane_count - 1 - np.argmax(mask.expanded[:, ::-1], axis=1)).astype(self.dtype)
        some = mask.some
        if shape[0] == 1:
            here = np.flatnonzero(some)
            return Who(first[here[:1]], last[here[-1:]], None)
        return Who(first[some], last[some], None if some.all() else some[:, None])

    def of_matrix(self, batch: Batch, sub_groups: Array, kind: int) -> Array:
        """The agents that move matrices of a kind (a number), one for each of the batch's ``sub_groups``."""
        return self.first_of(batch)[sub_groups] + self.dtype.type(
            self.geometry.sub_group_size + kind % MATRIX_KINDS)

    def sub_group(self, agent: Array) -> Array:
        """The number of an agent's sub-group in the launch."""
        return agent // self.per_sub_group

    def share(self, scope: int, agent: Array, other: Array) -> Array:
        """Whether a scope includes two agents."""
        if scope == Scope.Invocation:
            return np.asarray(agent == other)
        if scope not in (Scope.Subgroup, Scope.Workgroup):
            return np.ones(agent.shape, np.bool_)
        size = self.per_sub_group * (self.geometry.sub_groups_per_group if scope == Scope.Workgroup else 1)
        return np.asarray(agent // size == other // size)

    def place(self, agent: int) -> tuple[tuple[int, int, int], int, int | None]:
        """Work-group, sub-group in it, and lane (None for a matrix) of an agent."""
        sub_group, lane = divmod(agent, self.per_sub_group)
        group, index = divmod(sub_group, self.geometry.sub_groups_per_group)
        x, y, _ = self.geometry.group_counts
        where = (group % x, group // x % y, group // (x * y))
        return where, index, lane if lane < self.geometry.sub_group_size else None

    def in_words(self, agent: int) -> str:
        """An agent, as messages call it."""
        group, sub_group, lane = self.place(agent)
        if lane is None:
            return f"sub-group {sub_group} of work-group {group}"
        return f"lane {lane} of sub-group {sub_group} of work-group {group}"
