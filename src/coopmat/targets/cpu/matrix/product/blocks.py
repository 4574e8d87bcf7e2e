"""Blocks of a product, and the loops over them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

from coopmat.formats import Format
from coopmat.spirv.analysis.types import MatrixType
from coopmat.targets.cpu.byte_products import Signs
from coopmat.targets.cpu.matrix.body import Body
from coopmat.targets.cpu.matrix.product.ahead import Ahead
from coopmat.targets.cpu.matrix.product.unit import Unit
from coopmat.targets.cpu.matrix.types import element_type


@dataclass(frozen=True)
class Panel:
    """An operand in tiles. base: the first one's address. line, tile, strip: bytes from one to the next, each an i64.
    excess: the offset of a strip's line of that; negative if it has none. ahead: what the next product takes of the
    operand, as far as that is known. by_words: whether a line has a word of each row or column, not those of one.
    is_aligned: whether lines are those of the caches."""

    base: str
    line: str
    tile: str
    strip: str
    excess: int = -1
    ahead: Ahead | None = None
    by_words: bool = True
    is_aligned: bool = True


@dataclass(frozen=True)
class Sums:
    """C or D in memory, by rows. pitch: the bytes from row to row, an i64."""

    kind: MatrixType
    fmt: Format
    base: str
    pitch: str


@dataclass(frozen=True)
class Region:
    """Rows or columns of the same size, one behind the other."""

    first: int
    size: int
    count: int

    def each(self, body: Body, part: Callable[[str], None]) -> None:
        """A loop; ``part`` gets where one begins, an i64."""
        writer = body.writer
        writer.count(self.count, lambda number: part(
            writer.let(f"add i64 {self.first}, {writer.let(f'mul i64 {number}, {self.size}')}")), unrolls=False)


@dataclass(frozen=True)
class Blocks(ABC):
    """A product of strips. words: of a tile along K; tiles: how many there are along K, an i64, at least one; depth:
    the most that there may be."""

    body: Body
    unit: Unit
    words: int
    signs: Signs
    a: Panel
    b: Panel
    c: Sums
    d: Sums
    tiles: str
    depth: int
    is_saturating: bool

    # --- loops ------------------------------------------------------------------------------

    def write(self) -> None:
        """The whole product, a block at a time."""
        rows, columns = self.d.kind.rows, self.d.kind.columns
        down, across = self.sizes(rows, columns)
        for n in _regions(columns, across):
            for m in _regions(rows, down):
                self.blocks(m, n)

    def blocks(self, m: Region, n: Region) -> None:
        """Blocks of one size: for some strips of B all rows of A."""
        n.each(self.body, lambda column: m.each(self.body, lambda row: self.block(row, m.size, column, n.size)))

    @abstractmethod
    def sizes(self, rows: int, columns: int) -> tuple[int, int]:
        """Rows and columns of a block."""

    @abstractmethod
    def block(self, m: str, height: int, n: str, width: int) -> None:
        """The block from row ``m`` and column ``n`` on."""

    # --- places -----------------------------------------------------------------------------

    def strip_of(self, panel: Panel, first: str, number: int) -> str:
        """The address of a strip, some strips behind the one of a row or column."""
        writer = self.body.writer
        place = writer.let(f"udiv i64 {first}, {self.unit.lanes}")
        return writer.line(panel.base, writer.let(f"add i64 {place}, {number}"), panel.strip)

    def place(self, sums: Sums, m: str, row: int, n: str, column: int) -> str:
        """The address of an element of C or D."""
        writer = self.body.writer
        line = writer.line(sums.base, writer.let(f"add i64 {m}, {row}"), sums.pitch)
        return self.body.address(line, element_type(sums.kind), writer.let(f"add i64 {n}, {column}"))

    def parts(self, extent: int) -> list[tuple[int, int]]:
        """An extent strip by strip: where each begins, and how much of it there is."""
        return [(first, min(self.unit.lanes, extent - first)) for first in range(0, extent, self.unit.lanes)]


def _regions(extent: int, size: int) -> list[Region]:
    """Parts of a size, and what remains."""
    whole, rest = divmod(extent, size)
    return [one for one in (Region(0, size, whole), Region(whole * size, rest, 1)) if one.size and one.count]
