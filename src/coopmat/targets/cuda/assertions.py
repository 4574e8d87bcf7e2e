"""Assertions of kernels on a GPU: the first that fails is noted for the host, and its thread ends.

Accesses are not checked: the hardware reports those outside of all memory, the simulator the others.
"""

from __future__ import annotations

from collections.abc import Sequence

from coopmat.spirv.analysis.types import MatrixType, Type
from coopmat.support import assertions
from coopmat.targets.llvm.checks import Extent
from coopmat.targets.llvm.threads.launch import Word
from coopmat.targets.llvm.threads.threads import ThreadLanes
from coopmat.targets.llvm.values import Number


class Assertions:
    """See :class:`~coopmat.targets.llvm.checks.AccessChecks`. texts: what each assertion says, with its place."""

    def __init__(self, lanes: ThreadLanes) -> None:
        self.lanes = lanes
        self.texts: list[str] = []

    def access(self, pointer: Number, size: int, writing: bool, identifier: int | None = None) -> None:
        """Accesses are not checked."""

    def parts(self, pointer: Number, kind: Type, writing: bool) -> None:
        """Accesses are not checked."""

    def bytes(self, pointer: Number, count: Number, writing: bool) -> None:
        """Accesses are not checked."""

    def index(self, index: Number, length: int, variable: int, leaves: int = 1) -> None:
        """Accesses are not checked."""

    def extent(self, kind: str, identifier: int, address: str, extent: Extent, values: Sequence[str], *, size: int,
               writing: bool, matrix: MatrixType | None = None, layout: int = 0, detail: Sequence[int] = (),
               is_empty: str = "false") -> None:
        """Accesses are not checked."""

    def assertion(self, text: str, place: str | None) -> None:
        """An assertion that has failed: its number, counted from 1, goes to the host's word if none is there."""
        location = self.lanes.emitter.location() or place
        self.texts.append(assertions.message(text.encode()) + (f" (at {location})" if location else ""))
        writer = self.lanes.writer
        address = writer.let(f"inttoptr i64 {self.lanes.block.word(Word.FAILURE)} to ptr")
        writer.let(f"cmpxchg ptr {address}, i64 0, i64 {len(self.texts)} monotonic monotonic")
        writer.call("void", "llvm.nvvm.exit", [])
