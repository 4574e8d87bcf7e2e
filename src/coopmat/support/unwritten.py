"""Memory that knows which of its bytes nobody has written: what malloc_device gives on a simulated device."""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]


class MarkedMemory:
    """Bytes, with ``marks`` of the same size: 0xFF where nobody has written. It is the base of all arrays over it."""

    def __init__(self, memory: Array) -> None:
        self.memory = memory
        self.marks: Array = np.full(memory.nbytes, 0xFF, np.uint8)
        self.__array_interface__ = memory.__array_interface__


def marked(memory: Array) -> Array:
    """The same memory, an array of bytes of which none has been written."""
    return np.asarray(MarkedMemory(memory))


def marks_of(array: Array) -> Array | None:
    """The marks of the bytes of a contiguous array; None for other memory than that of ``marked``."""
    base: Any = array
    while isinstance(base, np.ndarray):
        base = base.base
    if not isinstance(base, MarkedMemory):
        return None
    start = array.ctypes.data - base.memory.ctypes.data
    return base.marks[start:start + array.nbytes]


def copied(target: Array, source: Array | None = None) -> None:
    """Bytes have been copied from one array to another one of the same size, or written by whoever (None)."""
    marks = marks_of(target)
    if marks is not None:
        origin = None if source is None else marks_of(source)
        marks[:] = 0 if origin is None else origin
