"""What accesses cost: sectors of global memory, and passes through the banks of local memory.

Starts are byte offsets, ``[requests, lanes]``, sorted along each row; lanes that take no part repeat another one.
"""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

SECTOR = 32
"""Bytes that global memory is moved in (CUDA C++ Best Practices Guide, Coalesced Access to Global Memory)."""
WORD = 4
"""Bytes of a word of local memory: a bank gives one of them in a pass."""
PIECE = 16
"""Bytes of a matrix's line that a work-item fetches at a time from local memory, as ldmatrix does (PTX)."""


def covered(starts: Array, nbytes: int, unit: int) -> Array:
    """How many units of ``unit`` bytes, a power of two, each request touches, those of several lanes once:
    ``[requests]``."""
    shift = unit.bit_length() - 1
    first, last = starts >> shift, starts + (nbytes - 1) >> shift
    new = last[:, 1:] - np.maximum(first[:, 1:], last[:, :-1] + 1) + 1
    return np.asarray(last[:, 0] - first[:, 0] + 1 + np.maximum(new, 0).sum(axis=1))


def least(nbytes: Array, unit: int) -> Array:
    """The fewest units that so many bytes could lie in."""
    return -(-nbytes // unit)


def passes(starts: Array, nbytes: int, banks: int) -> tuple[Array, Array]:
    """How many passes through the banks each request takes, and how many it would take without conflicts.

    In a pass each bank gives one word, to as many lanes as want it.
    """
    words = starts[..., None] // WORD + np.arange(-(-nbytes // WORD))
    words = np.sort(words.reshape(len(starts), -1), axis=1)
    is_new = np.ones(words.shape, np.bool_)
    is_new[:, 1:] = words[:, 1:] != words[:, :-1]
    place = np.arange(len(words))[:, None] * banks + words % banks
    counts = np.bincount(place[is_new], minlength=len(words) * banks).reshape(-1, banks)
    return counts.max(axis=1), least(is_new.sum(axis=1), banks)


def tile_passes(places: Array, size: int, banks: int) -> tuple[Array, Array]:
    """The same for a matrix whose elements of ``size`` bytes lie at ``places``: pieces of 16 bytes of its lines are
    fetched together, those at the same place of neighbouring lines, as many as the banks give in one pass."""
    ordered = np.sort(places.reshape(-1))
    lines = np.cumsum(np.diff(ordered, prepend=ordered[0]) > size)
    along = ordered - ordered[np.searchsorted(lines, lines)]
    order = np.lexsort((ordered, lines, along // PIECE))
    pieces = np.cumsum((np.diff(lines[order], prepend=-1) != 0) | (np.diff(along[order] // PIECE, prepend=-1) != 0)) - 1
    together = pieces // max(1, banks * WORD // PIECE)
    rows = ordered[order]
    found = [passes(rows[together == number][None], size, banks) for number in range(int(together[-1]) + 1)]
    total, ideal = (sum(counts) for counts in zip(*found, strict=True))
    return np.asarray(total), np.asarray(ideal)
