"""The order in which a reduction combines elements: by halves.

Of n elements, element i is combined with element i + h, where h is n / 2, rounded up; of an odd number the one in the
middle stays as it is. So 5 elements become ``(a0 o a3) o a2`` and ``a1 o a4``, and then one. Every target that chooses
the order chooses this one, which vectors compute fast, and whose rounding errors grow with the logarithm of n.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


def halves(count: int) -> tuple[int, int]:
    """How many pairs there are of ``count`` elements, and how far apart the two of a pair are."""
    return count // 2, count - count // 2


def fold(combine: Callable[[Array, Array], Array], values: Array, axis: int) -> Array:
    """The elements along an axis, which stays with length 1, combined by halves; ``combine`` takes arrays."""
    moved = np.moveaxis(values, axis, 0)
    while len(moved) > 1:
        pairs, distance = halves(len(moved))
        combined = combine(moved[:pairs], moved[distance:])
        moved = np.concatenate([combined, moved[pairs:distance]]) if pairs < distance else combined
    return np.moveaxis(moved, 0, axis)
