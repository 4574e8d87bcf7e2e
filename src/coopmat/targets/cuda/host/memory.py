"""Memory of a GPU: blocks that are kept for the next launch, and the host's arrays copied there and back."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from coopmat.diagnostics import LaunchError
from coopmat.targets.cuda.host.context import Context
from coopmat.targets.cuda.host.driver import call

SMALLEST = 512  # bytes of a block
ALIGNMENT = 256  # of every block
MOST_KEPT = 1 << 30  # bytes of free blocks


class Blocks:
    """Blocks of a GPU's memory; those that are given back serve again."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self._free: dict[int, list[int]] = defaultdict(list)
        self._kept = 0

    def take(self, nbytes: int) -> tuple[int, int]:
        """A block of at least so many bytes: its address and its size. LaunchError if there is no room."""
        size = _rounded(nbytes)
        if self._free[size]:
            self._kept -= size
            return self._free[size].pop(), size
        try:
            return self._allocated(size), size
        except LaunchError:
            self.clear()
            return self._allocated(size), size

    def _allocated(self, size: int) -> int:
        return int(call("cuMemAlloc", size, what=f"{size} bytes of the GPU's memory"))

    def give_back(self, address: int, size: int) -> None:
        """Let a block serve again."""
        if self._kept + size > MOST_KEPT:
            call("cuMemFree", address)
        else:
            self._kept += size
            self._free[size].append(address)

    def clear(self) -> None:
        """Free all blocks that nobody uses."""
        for addresses in self._free.values():
            for address in addresses:
                call("cuMemFree", address)
        self._free.clear()
        self._kept = 0


def _rounded(nbytes: int) -> int:
    """Sizes with two significant bits, so that similar ones share blocks."""
    size = max(nbytes, SMALLEST)
    step = 1 << max(size.bit_length() - 3, 8)
    return -(-size // step) * step


@dataclass
class _Span:
    """Bytes of the host's memory that arguments share, and their copy on the GPU. written: whether the kernel may
    write there."""

    start: int
    end: int
    written: bool
    address: int = 0
    size: int = 0


class Copies:
    """The host's arrays of one launch, copied to the GPU; arrays that overlap stay so."""

    def __init__(self, blocks: Blocks, arrays: Sequence[tuple[Any, bool]], stream: Any = 0) -> None:
        """``arrays``: each with whether the kernel may write to it. They are copied in the order of a stream."""
        self.blocks = blocks
        self.stream = stream
        self.spans: list[_Span] = []
        places = sorted(((_address(array), _address(array) + array.nbytes, written) for array, written in arrays
                         if array.nbytes), key=lambda place: place[:2])
        for start, end, written in places:
            last = self.spans[-1] if self.spans else None
            if last is not None and start < last.end:
                last.end, last.written = max(last.end, end), last.written or written
            else:
                self.spans.append(_Span(start, end, written))
        for span in self.spans:
            span.address, span.size = blocks.take(span.end - span.start)
            call("cuMemcpyHtoDAsync", span.address, span.start, span.end - span.start, stream)

    def address(self, array: Any) -> int:
        """Where an array is on the GPU; of one without elements, any address."""
        place = _address(array)
        for span in self.spans:
            if span.start <= place < span.end:
                return span.address + place - span.start
        return ALIGNMENT

    def bring_back(self) -> None:
        """Copy what the kernel may have written, when the stream has come to that; it has then."""
        for span in self.spans:
            if span.written:
                call("cuMemcpyDtoHAsync", span.start, span.address, span.end - span.start, self.stream)
        if any(span.written for span in self.spans):
            call("cuStreamSynchronize", self.stream)

    def free(self) -> None:
        """Give the memory on the GPU back."""
        for span in self.spans:
            self.blocks.give_back(span.address, span.size)
        self.spans = []


def _address(array: Any) -> int:
    return int(array.ctypes.data)
