"""Index spaces as a kernel sees them: nd_item, group and sub_group (SYCL 4.9.1).

The methods are documented in docs/joint-matrix.md; the compiler knows what each becomes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from coopmat.diagnostics import Error, value_text
from coopmat.runtime.ranges import MAX_DIMENSIONS


@dataclass(frozen=True, slots=True)
class NdItemType:
    """``nd_item[D]``: the type of a kernel's first parameter."""

    dimensions: int

    def __str__(self) -> str:
        return f"nd_item[{self.dimensions}]"

    __repr__ = __str__


@dataclass(frozen=True, slots=True)
class GroupType:
    """``group[D]``: the work-group, as nd_item.get_group() returns it."""

    dimensions: int

    def __str__(self) -> str:
        return f"group[{self.dimensions}]"

    __repr__ = __str__


class nd_item:
    """A work-item's place in an nd_range: ``item: nd_item[2]`` is the first parameter of a kernel."""

    def __class_getitem__(cls, dimensions: Any) -> NdItemType:
        if dimensions not in range(1, MAX_DIMENSIONS + 1):
            raise Error(f"nd_item has 1, 2 or 3 dimensions, such as nd_item[2]; found {value_text(dimensions)}")
        return NdItemType(int(dimensions))


class group:
    """A work-group (as a helper's parameter: ``g: group[2]``)."""

    def __class_getitem__(cls, dimensions: Any) -> GroupType:
        if dimensions not in range(1, MAX_DIMENSIONS + 1):
            raise Error(f"group has 1, 2 or 3 dimensions, such as group[2]; found {value_text(dimensions)}")
        return GroupType(int(dimensions))


class sub_group:
    """A sub-group: the Group of a joint_matrix that its work-items share, and what nd_item.get_sub_group() returns."""


class work_group:
    """The Group of a joint_matrix that all work-items of a work-group share; operations on it take the group that
    nd_item.get_group() returns."""
