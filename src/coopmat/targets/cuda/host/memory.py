"""Memory of a GPU: blocks that are kept for the next launch, and the host's arrays copied there and back."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any, NamedTuple

from coopmat.diagnostics import LaunchError
from coopmat.targets.base.spans import Spans
from coopmat.targets.cuda.host.context import Context
from coopmat.targets.cuda.host.driver import call

SMALLEST = 512  # bytes of a block
ALIGNMENT = 256  # of every block
MOST_KEPT = 1 << 30  # bytes of free blocks


class Block(NamedTuple):
    """Memory of the GPU: its address, and its size in bytes."""

    address: int
    size: int


class Blocks:
    """Blocks of a GPU's memory; those that are given back serve again."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self._free: dict[int, list[int]] = defaultdict(list)
        self._kept = 0

    def take(self, nbytes: int) -> Block:
        """A block of at least so many bytes. LaunchError if there is no room."""
        size = _rounded(nbytes)
        if self._free[size]:
            self._kept -= size
            return Block(self._free[size].pop(), size)
        try:
            return Block(self._allocated(size), size)
        except LaunchError:
            self.clear()
            return Block(self._allocated(size), size)

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


class Copies:
    """The host's arrays of one launch, copied to the GPU; arrays that overlap stay so."""

    def __init__(self, blocks: Blocks, arrays: Sequence[tuple[Any, bool]], stream: Any = 0) -> None:
        """``arrays``: each with whether the kernel may write to it. They are copied in the order of a stream."""
        self.blocks = blocks
        self.stream = stream
        self.spans = Spans(arrays)
        for span in self.spans.all:
            span.copy = blocks.take(span.nbytes)
            call("cuMemcpyHtoDAsync", span.copy.address, span.start, span.nbytes, stream)

    def address(self, array: Any) -> int:
        """Where an array is on the GPU; of one without elements, any address."""
        found = self.spans.place(array)
        return ALIGNMENT if found is None else found[0].copy.address + found[1]

    def bring_back(self) -> None:
        """Copy what the kernel may have written, when the stream has come to that; it has then."""
        written = [span for span in self.spans.all if span.written]
        for span in written:
            call("cuMemcpyDtoHAsync", span.start, span.copy.address, span.nbytes, self.stream)
        if written:
            call("cuStreamSynchronize", self.stream)

    def free(self) -> None:
        """Give the memory on the GPU back."""
        for span in self.spans.all:
            if span.copy is not None:
                self.blocks.give_back(*span.copy)
        self.spans.all = []
