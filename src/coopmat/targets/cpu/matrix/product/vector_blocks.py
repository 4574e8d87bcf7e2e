"""Blocks of vectors of sums: in registers over all of K, or of few rows along lines of B."""

from __future__ import annotations

from dataclasses import replace

from coopmat.targets.cpu.byte_products import ByteProducts, add_pairs
from coopmat.targets.cpu.matrix.body import Features
from coopmat.targets.cpu.matrix.packing import shuffled
from coopmat.targets.cpu.matrix.product.blocks import Blocks, Sums
from coopmat.targets.cpu.matrix.product.unit import LINE, Unit
from coopmat.targets.cpu.matrix.sums import add_product, from_work, register_bytes, to_work
from coopmat.targets.cpu.matrix.types import element_type
from coopmat.targets.llvm.numbers import NumberWriter
from coopmat.targets.llvm.values import Number

SHAPES = {64: (8, 2), 32: (6, 1), 16: (2, 1)}
"""By the bytes of a register: the rows of a block, and its strips of columns."""


class VectorBlocks(Blocks):
    """Blocks of vectors of sums: a word of A meets those of all columns of a strip."""

    def sizes(self, rows: int, columns: int) -> tuple[int, int]:
        """What the registers hold, and a number of rows that is a part of a strip."""
        features = self.body.features
        return block_rows(self.unit, features), SHAPES[register_bytes(features)][1] * self.unit.lanes

    def block(self, m: str, height: int, n: str, width: int) -> None:
        """K in tiles; the words of one stand in the code one after the other."""
        writer, unit = self.body.writer, self.unit
        numbers, across = NumberWriter(writer, unit.lanes), self.parts(width)
        first = writer.let(f"urem i64 {m}, {unit.lanes}")
        a = writer.line(self.strip_of(self.a, m, 0), first, self._row_pitch)
        b = [self.strip_of(self.b, n, number) for number in range(len(across))]
        total = numbers.vector(unit.total)

        def step(tile: str, sums: list[str]) -> list[str]:
            found = list(sums)
            lines = self._lines(a, tile, height)
            b_tiles = [writer.line(strip, tile, self.b.tile) for strip in b]
            for word in range(self.words):
                factors = [self._factors(numbers, one, word) for one in b_tiles]
                for row, line in enumerate(lines):
                    one = self._word(line, word)
                    for place, factor in enumerate(factors):
                        number = row * len(across) + place
                        found[number] = self._added(numbers, found[number], one, factor)
            return found

        start = [(total, self._start(numbers, self.c, m, row, n, part, strip)) for row in range(height)
                 for part, strip in zip(across, b, strict=True)]
        sums = writer.repeat(self.tiles, start, step, unrolls=False)
        for number, text in enumerate(sums):
            row, column = divmod(number, len(across))
            self._store(numbers, text, m, row, n, across[column])

    @property
    def _row_pitch(self) -> str:
        return str(self.unit.word_bytes) if self.a.by_words else self.a.line

    def _lines(self, a: str, tile: str, height: int) -> list[str]:
        """Where the words of each row of A begin in a tile of a strip, whose first row is at an address."""
        a_tile = self.body.writer.line(a, tile, self.a.tile)
        return [self.body.writer.line(a_tile, row, self._row_pitch) for row in range(height)]

    def _word(self, line: str, word: int) -> str:
        """A word of a row of A."""
        pitch = LINE if self.a.by_words else self.unit.word_bytes
        return self.body.writer.let(f"load {self.unit.word}, ptr {self.body.address(line, 'i8', word * pitch)}")

    def _factors(self, numbers: NumberWriter, tile: str, word: int) -> str:
        """The words of a line of B."""
        alignment = LINE if self.b.is_aligned else self.unit.word_bytes
        return self.body.writer.let(f"load {numbers.vector(self.unit.word)}, ptr "
                                    f"{self.body.writer.line(tile, word, self.b.line)}, align {alignment}")

    def _added(self, numbers: NumberWriter, total: str, word: str, factor: str) -> str:
        """Sums plus the products of a word of A."""
        unit, writer = self.unit, self.body.writer
        if unit.kind == "numbers":
            return numbers.lanes(add_product(self.body.features, numbers, Number(unit.word, lanes=total),
                                             Number(unit.word, lanes=numbers.splat(unit.word, word)),
                                             Number(unit.word, lanes=factor)))
        words = numbers.splat("i32", word)
        if unit.kind == "bytes":
            return ByteProducts(numbers, self.body.features).accumulated(total, words, factor, unit.lanes, self.signs)
        if unit.kind == "shorts":
            return add_pairs(numbers, self.body.features, total, words, factor)
        vector, pairs = numbers.vector("float"), f"<{2 * unit.lanes} x bfloat>"
        x, y = (writer.let(f"bitcast {numbers.vector('i32')} {one} to {pairs}") for one in (words, factor))
        return writer.call(vector, "llvm.x86.avx512bf16.dpbf16ps.512", [(vector, total), (pairs, x), (pairs, y)])

    def _start(self, numbers: NumberWriter, c: Sums, m: str, row: int, n: str, part: tuple[int, int],
               strip: str) -> str:
        """What the sums of a row begin with: those of ``c``."""
        writer, unit, (column, width) = self.body.writer, self.unit, part
        element = element_type(c.kind)
        text = writer.let(f"load <{width} x {element}>, ptr {self.place(c, m, row, n, column)}, align "
                          f"{c.kind.component.size}")
        if width < unit.lanes:
            order = [*range(width), *[None] * (unit.lanes - width)]
            text = shuffled(writer, element, width, text, "zeroinitializer", order)
        if unit.kind == "numbers":
            return numbers.lanes(to_work(numbers, Number(element, lanes=text), c.fmt, unit.total))
        if self.b.excess < 0:
            return text
        excess = writer.let(f"load <16 x i32>, ptr {self.body.address(strip, 'i8', self.b.excess)}, align {LINE}")
        return writer.let(f"sub <16 x i32> {text}, {excess}")

    def _store(self, numbers: NumberWriter, text: str, m: str, row: int, n: str, part: tuple[int, int]) -> None:
        writer, unit, (column, width) = self.body.writer, self.unit, part
        element = element_type(self.d.kind)
        if unit.kind == "numbers":
            text = numbers.lanes(from_work(numbers, Number(unit.total, lanes=text), self.d.fmt, self.d.kind,
                                           self.is_saturating))
        if width < unit.lanes:
            text = shuffled(writer, element, unit.lanes, text, "poison", range(width))
        writer.do(f"store <{width} x {element}> {text}, ptr {self.place(self.d, m, row, n, column)}, align "
                  f"{self.d.kind.component.size}")


FACTORS, AT_ONCE = 16, 8
"""Of blocks of few rows: words of A that registers hold, and lines of B at most that are read side by side."""


class ThinBlocks(VectorBlocks):
    """Blocks of few rows, whose B is read where it lies, once: some lines from end to end, as memory is read fastest.
    Sums are in memory meanwhile."""

    def write(self) -> None:
        """Lines of B one after the other; the first sums are those of C."""
        writer, (rows, columns) = self.body.writer, (self.d.kind.rows, self.d.kind.columns)
        each = min(AT_ONCE, max(2, FACTORS // rows))

        def tile(number: str) -> None:
            is_first = writer.let(f"icmp eq i64 {number}, 0")
            base, pitch = (writer.let(f"select i1 {is_first}, {kind} {c}, {kind} {d}") for kind, c, d in (
                ("ptr", self.c.base, self.d.base), ("i64", self.c.pitch, self.d.pitch)))
            for first in range(0, self.words, each):
                before = self.d if first else replace(self.c, base=base, pitch=pitch)
                self._take(before, rows, columns, number, range(first, min(first + each, self.words)))

        writer.turns(self.tiles, tile)

    def _take(self, before: Sums, rows: int, columns: int, tile: str, words: range) -> None:
        """Add the products of some words of a tile of A and lines of B to sums, of which are those of ``before``."""
        writer, unit = self.body.writer, self.unit
        numbers, whole = NumberWriter(writer, unit.lanes), (0, unit.lanes)
        lines = self._lines(self.a.base, tile, rows)
        factors = [[numbers.splat(unit.word, self._word(line, word)) for word in words] for line in lines]

        def strip(number: str) -> None:
            n = writer.let(f"mul i64 {number}, {unit.lanes}")
            there = writer.line(self.strip_of(self.b, n, 0), tile, self.b.tile)
            sums = [self._start(numbers, before, "0", row, n, whole, there) for row in range(rows)]
            for place, word in enumerate(words):
                others = Number(unit.word, lanes=self._factors(numbers, there, word))
                sums = [numbers.lanes(add_product(self.body.features, numbers, Number(unit.word, lanes=total),
                                                  Number(unit.word, lanes=factor[place]), others))
                        for total, factor in zip(sums, factors, strict=True)]
            for row, text in enumerate(sums):
                self._store(numbers, text, "0", row, n, whole)

        writer.count(columns // unit.lanes, strip, unrolls=False)


def block_rows(unit: Unit, features: Features) -> int:
    """The most rows of a block of vectors, a part of a strip."""
    most = SHAPES[register_bytes(features)][0]
    return next(rows for rows in range(most, 0, -1) if unit.lanes % rows == 0)
