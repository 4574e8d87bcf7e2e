"""Operands in strips: lines of 64 bytes in the order in which a unit takes them.

A strip is as many rows of A, or columns of B, as a line has words. Along K it is cut into tiles. A tile of A has a line
for each row, with words along K; one of B has a line for each word along K, with those of all columns. Vectors take A
by single words: where memory has its columns, its tiles are like B's. A unit of bytes wants a line more in each strip
of B: what its sums have too much of.
"""

from __future__ import annotations

from dataclasses import dataclass

from coopmat.spirv.grammar import CooperativeMatrixUse as Use
from coopmat.spirv.transform.enlarge.runs import Runs
from coopmat.targets.cpu.byte_products import Signs
from coopmat.targets.cpu.matrix.body import Body
from coopmat.targets.cpu.matrix.product.source import Lines
from coopmat.targets.cpu.matrix.product.unit import LINE, Unit

PART = 4  # strips at least that a thread writes at once


@dataclass(frozen=True)
class Strips:
    """The strips of an operand. words: of a tile along K. signs: of the elements of A and B. runs: what is taken along
    K, of which a run has whole tiles. adds_nothing: where A is not there, it is -0, whose products change no sum.
    filled: the tiles of a strip that are multiplied, an i64, at least one; nothing: all of them."""

    unit: Unit
    lines: Lines
    words: int
    signs: Signs
    runs: Runs
    adds_nothing: bool = False
    filled: str = ""

    @property
    def is_a(self) -> bool:
        return self.lines.kind.use == Use.MatrixAKHR

    @property
    def extent(self) -> int:
        """The rows of A, or the columns of B."""
        return self.lines.kind.rows if self.is_a else self.lines.kind.columns

    @property
    def depth(self) -> int:
        """The elements along K."""
        return self.lines.kind.columns if self.is_a else self.lines.kind.rows

    @property
    def elements(self) -> int:
        """Elements along K of a tile."""
        return self.words * self.unit.together

    @property
    def count(self) -> int:
        """How many strips there are; the last one may be a part of one."""
        return -(-self.extent // self.unit.lanes)

    @property
    def tiles(self) -> int:
        """How many tiles a strip has."""
        return -(-self.runs.taken(self.depth) // self.elements)

    @property
    def tile_bytes(self) -> int:
        return LINE * (self.unit.lanes if self.is_a else self.words)

    @property
    def has_excess(self) -> bool:
        """Whether a strip ends with what sums have too much of."""
        return not self.is_a and self.unit.kind == "bytes" and self.signs[0] == self.signs[1]

    @property
    def strip_bytes(self) -> int:
        return self.tiles * self.tile_bytes + LINE * self.has_excess

    @property
    def nbytes(self) -> int:
        return self.count * self.strip_bytes

    @property
    def by_words(self) -> bool:
        """Whether a tile has a line for each word along K."""
        return not self.is_a or (self.unit.kind != "tiles" and self.lines.order != "along")

    @property
    def are_lines(self) -> bool:
        """Whether parts of memory's lines are lines of tiles, but for the type of numbers."""
        order, kind = self.lines.order, self.unit.kind
        if self.runs.taken(self.depth) % self.elements or order == "packed" or self.by_words == (order == "along"):
            return False
        return self.is_a if kind == "tiles" else kind == "numbers" and (
            order == "along" or self.extent % self.unit.lanes == 0)

    @property
    def may_stay(self) -> bool:
        """Whether floats may be multiplied from where they are: elements of A along K, lines of B across it."""
        order = "along" if self.is_a else "across"
        return (self.lines.order == order and self.unit.kind == "numbers" and self.lines.element == self.unit.word
                and self.lines.fmt.name in ("fp32", "fp64") and not self.runs.gap
                and (self.is_a or self.extent % self.unit.lanes == 0))

    def is_whole(self, body: Body) -> str:
        """Whether all of the operand is there, as far as it is multiplied, an i1."""
        writer, lines = body.writer, self.lines
        last = writer.let(f"sub i64 {self.filled or self.tiles}, 1")
        end = writer.let(f"add i64 {self.start(body, last, self.elements)}, {self.elements}")
        wanted = (str(self.extent), end) if lines.order == "along" else (end, str(self.extent))
        conditions = [writer.let(f"icmp {test} i64 {found}, {place}") for bounds, size in zip(
            (lines.lines, lines.elements), wanted, strict=True)
            for test, found, place in zip(("eq", "sge"), bounds, ("0", size), strict=True)]
        return writer.all_of("true", *conditions)

    @property
    def beside(self) -> int:
        """Strips that share lines of the caches in memory."""
        length = {"along": LINE, "across": self.unit.lanes, "packed": self.unit.lanes * self.lines.together}
        return max(1, LINE // (length[self.lines.order] * self.lines.size))

    @property
    def parts(self) -> int:
        """Parts of the same number of strips, which several threads may write side by side."""
        each = max(PART, self.beside)
        return self.count // each if self.extent % (each * self.unit.lanes) == 0 else 1

    def start(self, body: Body, tile: str, each: int) -> str:
        """Where a tile begins along K, in units of which it has ``each``; ``tile``: its number, an i64."""
        writer = body.writer
        start = writer.let(f"mul i64 {tile}, {each}")
        if not self.runs.gap:
            return start
        run = writer.let(f"udiv i64 {tile}, {self.runs.length // self.elements}")
        gaps = writer.let(f"mul i64 {run}, {self.runs.gap * each // self.elements}")
        return writer.let(f"add i64 {start}, {gaps}")
