"""The host's arrays of one launch as spans of memory, so that arrays which overlap stay so in a copy."""

from __future__ import annotations

import ctypes
from collections.abc import Container, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

ALIGNMENT = 64  # of copies, relative to their originals
WORD = 8  # bytes that are compared at once
Bytes = np.ndarray[Any, np.dtype[np.uint8]]


@dataclass(eq=False)
class Span:
    """Bytes of the host's memory that arrays share, from address ``start`` up to ``end``. written: whether a kernel may
    write there. arrays: their positions among the arguments. copy: what a target has in its place."""

    start: int
    end: int
    written: bool
    arrays: list[int]
    copy: Any = None

    @property
    def nbytes(self) -> int:
        """The size in bytes."""
        return self.end - self.start

    @property
    def content(self) -> Bytes:
        """The memory itself, which whoever made the span keeps."""
        return np.ctypeslib.as_array((ctypes.c_uint8 * self.nbytes).from_address(self.start))

    def duplicate(self, *, is_zero: bool = False) -> Bytes:
        """Memory of its own with the same content, or zeros, aligned as the original is."""
        room = (np.zeros if is_zero else np.empty)(self.nbytes + ALIGNMENT, np.uint8)
        first = (self.start - room.ctypes.data) % ALIGNMENT
        found = room[first:first + self.nbytes]
        if not is_zero:
            found[...] = self.content
        return found


class Spans:
    """The spans of arrays, each given with whether a kernel may write to it."""

    def __init__(self, arrays: Sequence[tuple[Any, bool]]) -> None:
        self.all: list[Span] = []
        places = sorted((_address(array), _address(array) + array.nbytes, number, written)
                        for number, (array, written) in enumerate(arrays) if array.nbytes)
        for start, end, number, written in places:
            last = self.all[-1] if self.all else None
            if last is not None and start < last.end:
                last.end, last.written = max(last.end, end), last.written or written
                last.arrays.append(number)
            else:
                self.all.append(Span(start, end, written, [number]))

    @classmethod
    def of(cls, arguments: Sequence[Any], written: Container[int]) -> Spans:
        """Those of the host's arrays among arguments, of which a kernel may write those at some positions."""
        places = [place for place, one in enumerate(arguments) if isinstance(one, np.ndarray)]
        found = cls([(arguments[place], place in written) for place in places])
        for span in found.all:
            span.arrays = [places[number] for number in span.arrays]
        return found

    def place(self, array: Any) -> tuple[Span, int] | None:
        """The span that an array lies in, and how many bytes from its start; None for one without elements."""
        address = _address(array)
        for span in self.all if array.nbytes else ():
            if span.start <= address < span.end:
                return span, address - span.start
        return None


def as_in(memory: Bytes, offset: int, array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """An array in other memory: of the same elements and shape, so many bytes from the beginning."""
    return np.ndarray(array.shape, array.dtype, memory, offset)


def changed_bytes(before: Bytes, after: Bytes) -> slice:
    """The bytes from the first one that differs to the last one, by words where there are whole ones; empty if none
    does."""
    width = WORD if before.size % WORD == 0 else 1
    differs = before.view(f"u{width}") != after.view(f"u{width}")
    if not differs.any():
        return slice(0, 0)
    return slice(int(differs.argmax()) * width, (differs.size - int(differs[::-1].argmax())) * width)


def _address(array: Any) -> int:
    return int(array.ctypes.data)
