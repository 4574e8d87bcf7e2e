"""Checks that a group operation is reached by its whole group, with operands that agree."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from coopmat.diagnostics import DivergentGroupOperation, UndefinedBehavior
from coopmat.spirv.grammar import Scope
from coopmat.targets.simulator.address_space import first_of
from coopmat.targets.simulator.lanes import GroupRows
from coopmat.targets.simulator.state import Frame, Site
from coopmat.targets.simulator.values import Array


def require_sub_groups(frame: Frame, site: Site) -> None:
    """Raise DivergentGroupOperation unless each sub-group is here with all work-items it has, or not at all."""
    mask = frame.mask
    if mask.lanes.shape[1] == 1 or not frame.batch.options.convergence:
        return
    existing = frame.batch.existing.expanded
    absent = existing & ~mask.expanded
    partly = mask.some & absent.any(axis=1)
    if not partly.any():
        return
    sub_group = int(np.argmax(partly))
    lane = int(np.argmax(absent[sub_group]))
    raise DivergentGroupOperation(
        f"{site.in_words} must be reached by the whole sub-group; {int(mask.expanded[sub_group].sum())} of its "
        f"{int(existing[sub_group].sum())} work-items are here, the first one missing is lane {lane}",
        site.where(frame, sub_group, lane))


def require_full_sub_groups(frame: Frame, site: Site) -> None:
    """As ``require_sub_groups``; besides, each sub-group that is here must be full."""
    mask = frame.mask
    if mask.lanes.shape[1] == 1 or not frame.batch.options.convergence:
        return
    require_sub_groups(frame, site)
    partly = mask.some & ~mask.whole
    if not partly.any():
        return
    sub_group = int(np.argmax(partly))
    here = mask.expanded[sub_group]
    raise DivergentGroupOperation(
        f"{site.in_words} needs full sub-groups of {mask.lane_count} work-items, but this one has only "
        f"{int(here.sum())}: make the work-group size a multiple of the sub-group size",
        site.where(frame, sub_group, int(np.argmin(here))))


def require_work_groups(frame: Frame, site: Site) -> None:
    """Raise DivergentGroupOperation unless each work-group is here with all of its lanes, or not at all."""
    mask, batch = frame.mask, frame.batch
    if mask.full or not batch.options.convergence:
        return
    here = mask.expanded.reshape(batch.group_count, -1)
    absent = batch.existing.expanded.reshape(batch.group_count, -1) & ~here
    partly = here.any(axis=1) & absent.any(axis=1)
    if not partly.any():
        return
    group = int(np.argmax(partly))
    index, lane = divmod(int(np.argmax(absent[group])), mask.lane_count)
    raise DivergentGroupOperation(
        f"{site.in_words} must be reached by the whole work-group; {int(here[group].sum())} of its "
        f"{batch.geometry.local_total} work-items are here, the first one missing is lane {lane} of "
        f"sub-group {index}", site.where(frame, group * batch.sub_groups_per_group + index, lane))


def shown(value: np.generic) -> str:
    """A value as messages write it."""
    return str(value.item())


def uniform_value(frame: Frame, value: Array, site: Site, what: str,
                  show: Callable[[np.generic], str] = shown) -> Array:
    """The one value that all active lanes of each sub-group have: ``[S]``, or ``[1]`` for all of them.

    Raises UndefinedBehavior naming two lanes that differ; ``show`` says how it writes their values.
    """
    if value.shape[1] == 1:
        return value[:, 0]
    mask = frame.mask
    first = np.zeros(len(value), np.intp) if mask.full else np.argmax(mask.expanded, axis=1)
    full = np.broadcast_to(value, (max(len(value), len(first)), value.shape[1]))
    chosen = np.take_along_axis(full, np.broadcast_to(first, (len(full),))[:, None], axis=1)
    differs = mask.lanes & (full != chosen)
    if differs.any() and frame.batch.options.convergence:
        sub_group, lane = first_of(differs)
        row = 0 if len(full) == 1 else sub_group
        leader = int(first[0 if len(first) == 1 else sub_group])
        raise UndefinedBehavior(
            f"the {what} of {site.in_words} must be the same in the whole sub-group; lane {leader} has "
            f"{show(full[row, leader])} and lane {lane} has {show(full[row, lane])}",
            site.where(frame, sub_group, lane))
    return chosen[:, 0]


def group_uniform_value(frame: Frame, value: Array, site: Site, what: str,
                        show: Callable[[np.generic], str] = shown) -> Array:
    """The one value that all active work-items of each work-group have: ``[groups]``.

    Raises UndefinedBehavior naming two work-items that differ.
    """
    rows = GroupRows.of(frame, Scope.Workgroup)
    values, active = rows.arrange(value), rows.active
    first = np.argmax(active, axis=1)
    chosen = values[np.arange(len(values)), first]
    if value.size == 1:
        return chosen
    differs = active & (values != chosen[:, None])
    if differs.any() and frame.batch.options.convergence:
        group, other = map(int, np.argwhere(differs)[0])
        places = [rows.place(group, int(member)) for member in (first[group], other)]
        numbers = (chosen[group], values[group, other])
        found = [f"lane {lane} of sub-group {sub_group % rows.per_row} has {show(number)}"
                 for (sub_group, lane), number in zip(places, numbers, strict=True)]
        raise UndefinedBehavior(f"the {what} of {site.in_words} must be the same in the whole work-group; "
                                f"{' and '.join(found)}", site.where(frame, *places[1]))
    return chosen


def first_active(frame: Frame, lanes: Array) -> tuple[int, int] | None:
    """Sub-group and lane of the first active lane in which ``lanes`` is true, or None."""
    wrong = frame.mask.lanes & lanes
    if not wrong.any():
        return None
    return first_of(np.broadcast_to(wrong, frame.mask.expanded.shape))
