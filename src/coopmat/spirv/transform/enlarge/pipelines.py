"""Kernels that work ahead, written as if they did one thing after the other: what finds larger matrices understands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from coopmat.spirv.module import Module
from coopmat.spirv.transform.enlarge.ahead import Ahead
from coopmat.spirv.transform.enlarge.conditions import Computed, Condition, Placing
from coopmat.spirv.transform.enlarge.indices import Indices
from coopmat.spirv.transform.enlarge.last_rounds import LastRounds
from coopmat.spirv.transform.enlarge.matrices import scope_of, taken_apart
from coopmat.spirv.transform.enlarge.sums import Sums
from coopmat.spirv.transform.fold import fold
from coopmat.spirv.transform.goal import Goal

_MOST = 64  # changes of a kernel


class InTurn(NamedTuple):
    """A kernel that does one thing after the other, what must hold in its launches, and the values in these conditions
    that are computed."""

    module: Module
    conditions: tuple[Condition, ...] = ()
    computed: Mapping[int, Computed] = MappingProxyType({})


def in_turn(module: Module, kernel: str, local_size: Sequence[int], sub_group_size: int, placing: Placing | None = None
            ) -> InTurn:
    """The kernel whose loops load what they multiply, do all of it, and form one sum of integers. ``module`` has values
    instead of variables. NoMerge for matrices of several scopes."""
    conditions: dict[Condition, None] = {}
    computed: dict[int, Computed] = {}
    for change in (Ahead, LastRounds, Sums):
        for _ in range(_MOST):
            editor, body = taken_apart(module, kernel)
            indices = Indices(editor, body, local_size, sub_group_size, scope_of(module), placing)
            one = change(editor, body, indices)
            if not one.done():
                break
            conditions |= one.conditions
            computed |= indices.computed
            module = fold(editor.done(), Goal(), lambda _: None)
    return InTurn(module, tuple(conditions), computed)
