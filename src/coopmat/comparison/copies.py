"""Arguments of a launch for one device: the same contents in memory of its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
ALIGNMENT = 64  # bytes


def copied(arguments: Sequence[Any]) -> list[Any]:
    """Arguments with copies of all arrays. Arrays that share memory share it in the copy, too."""
    arrays = [argument for argument in arguments if isinstance(argument, np.ndarray) and argument.nbytes]
    regions = [(low, high, _memory(low, high)) for low, high in _regions(arrays)]
    return [_copy(argument, regions) if isinstance(argument, np.ndarray) else argument for argument in arguments]


def _regions(arrays: Sequence[Array]) -> list[tuple[int, int]]:
    """The ranges of addresses that arrays lie in; those of arrays that overlap are one."""
    found: list[tuple[int, int]] = []
    for low, high in sorted((array.ctypes.data, array.ctypes.data + array.nbytes) for array in arrays):
        if found and low < found[-1][1]:
            found[-1] = found[-1][0], max(high, found[-1][1])
        else:
            found.append((low, high))
    return found


def _memory(low: int, high: int) -> Array:
    """Memory for a range of addresses, aligned as that is."""
    raw = np.empty(high - low + 2 * ALIGNMENT, np.uint8)
    start = (low - raw.ctypes.data) % ALIGNMENT
    return raw[start:start + high - low]


def _copy(array: Array, regions: Sequence[tuple[int, int, Array]]) -> Array:
    if not array.nbytes:
        return array.copy()
    start = array.ctypes.data
    low, _, memory = next(region for region in regions if region[0] <= start < region[1])
    part = memory[start - low:start - low + array.nbytes]
    part[:] = array.reshape(-1).view(np.uint8)
    copy = part.view(array.dtype).reshape(array.shape)
    copy.flags.writeable = array.flags.writeable
    return copy
