"""The host's arrays of one launch as spans of memory, so that arrays which overlap stay so in a copy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


@dataclass
class Span:
    """Bytes of the host's memory that arrays share, from address ``start`` up to ``end``. written: whether a kernel may
    write there. copy: what a target has in its place."""

    start: int
    end: int
    written: bool
    copy: Any = None

    @property
    def nbytes(self) -> int:
        """The size in bytes."""
        return self.end - self.start


class Spans:
    """The spans of arrays, each given with whether a kernel may write to it."""

    def __init__(self, arrays: Sequence[tuple[Any, bool]]) -> None:
        self.all: list[Span] = []
        places = sorted(((_address(array), _address(array) + array.nbytes, written) for array, written in arrays
                         if array.nbytes), key=lambda place: place[:2])
        for start, end, written in places:
            last = self.all[-1] if self.all else None
            if last is not None and start < last.end:
                last.end, last.written = max(last.end, end), last.written or written
            else:
                self.all.append(Span(start, end, written))

    def place(self, array: Any) -> tuple[Span, int] | None:
        """The span that an array lies in, and how many bytes from its start; None for one without elements."""
        address = _address(array)
        for span in self.all:
            if span.start <= address < span.end:
                return span, address - span.start
        return None


def _address(array: Any) -> int:
    return int(array.ctypes.data)
