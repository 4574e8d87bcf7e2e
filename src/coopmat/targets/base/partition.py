"""A grid of work-groups cut into parts, one for each device."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from coopmat.targets.base.geometry import Triple

ENOUGH_FOR_EACH = 16  # positions along an axis for each part, so that parts can be as large as they should be


@dataclass(frozen=True)
class Part:
    """Some work-groups of a launch: the position of the first one and how many there are along each axis. ``owner``:
    the number of the device."""

    owner: int
    first: Triple
    counts: Triple


def partition(group_counts: Triple, speeds: Sequence[float]) -> list[Part]:
    """The parts of a grid, as large as speeds tell, which are positive; slices along one axis, the slowest that has
    enough positions. A device whose share is less than half a slice has no part."""
    axis = _axis(group_counts, ENOUGH_FOR_EACH * len(speeds))
    found, start = [], 0
    for owner, size in enumerate(_shares(group_counts[axis], speeds)):
        if size:
            first, counts = [0, 0, 0], list(group_counts)
            first[axis], counts[axis] = start, size
            found.append(Part(owner, _triple(first), _triple(counts)))
            start += size
    return found


def _axis(group_counts: Triple, wanted: int) -> int:
    for axis in (2, 1, 0):
        if group_counts[axis] >= wanted:
            return axis
    return max((2, 1, 0), key=lambda one: group_counts[one])


def _shares(total: int, speeds: Sequence[float]) -> list[int]:
    """Whole numbers with a sum, as near to their shares as can be (largest remainders)."""
    exact = [total * speed / sum(speeds) for speed in speeds]
    found = [int(one) for one in exact]
    by_remainder = sorted(range(len(speeds)), key=lambda place: found[place] - exact[place])
    for place in by_remainder[:total - sum(found)]:
        found[place] += 1
    return found


def _triple(values: Sequence[int]) -> Triple:
    x, y, z = values
    return x, y, z
