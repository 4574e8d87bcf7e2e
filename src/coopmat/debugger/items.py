"""Work-items: their global ids, and the places in a batch that execute them."""

from __future__ import annotations

import re

import numpy as np

from coopmat.diagnostics import Error
from coopmat.targets.base.geometry import Geometry
from coopmat.targets.simulator.state import Batch
from coopmat.targets.simulator.values import Array

Item = tuple[int, int, int]
"""A global id, with its offset."""


def place_in(batch: Batch, item: Item) -> tuple[int, int] | None:
    """Sub-group and lane of a work-item in a batch; None if it runs in another one."""
    geometry = batch.geometry
    distance = [one - first for one, first in zip(item, geometry.global_offset, strict=True)]
    group = [one // size for one, size in zip(distance, geometry.local_size, strict=True)]
    local = [one % size for one, size in zip(distance, geometry.local_size, strict=True)]
    number = _linear(group, geometry.group_counts) - batch.first_group
    if not 0 <= number < batch.group_count:
        return None
    sub_group, lane = divmod(_linear(local, geometry.local_size), batch.lanes)
    return number * batch.sub_groups_per_group + sub_group, lane


def item_at(batch: Batch, sub_group: int, lane: int) -> Item:
    """The work-item that a lane of a batch executes."""
    geometry = batch.geometry
    index = sub_group % batch.sub_groups_per_group * batch.lanes + lane
    x, y, _ = geometry.local_size
    local = index % x, index // x % y, index // (x * y)
    group = batch.work_group(sub_group)
    a, b, c = (g * size + one + first for g, size, one, first in
               zip(group, geometry.local_size, local, geometry.global_offset, strict=True))
    return a, b, c


def items_of(batch: Batch, lanes: Array) -> list[Item]:
    """The work-items of the lanes, ``[S, L]``, that are true; in the order of their work-groups and local ids."""
    return [item_at(batch, int(sub_group), int(lane)) for sub_group, lane in np.argwhere(lanes)]


def check_item(geometry: Geometry, text: str) -> Item:
    """``3``, ``3,1`` or ``3,1,0`` as a work-item of a launch; Error for anything else."""
    if not re.fullmatch(r"\d{1,18}(\s*,\s*\d{1,18}){0,2}", text.strip()):
        raise Error(f"a work-item is named by its global id, one to three numbers such as 3,1; found '{text.strip()}'")
    x, y, z = ([int(part) for part in text.split(",")] + list(geometry.global_offset[text.count(",") + 1:]))[:3]
    ends = [first + size for first, size in zip(geometry.global_offset, geometry.global_size, strict=True)]
    if any(not first <= one < end for one, first, end in zip((x, y, z), geometry.global_offset, ends, strict=True)):
        raise Error(f"there is no work-item {show_item((x, y, z))}: the global size is {geometry.global_size}")
    return x, y, z


def show_item(item: Item) -> str:
    """A work-item as it is shown."""
    return f"({', '.join(map(str, item))})"


def _linear(place: list[int], sizes: tuple[int, int, int]) -> int:
    return (place[2] * sizes[1] + place[1]) * sizes[0] + place[0]
