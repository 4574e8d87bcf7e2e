"""Operands in strips: lines of 64 bytes in the order in which a unit takes them.

A strip is as many rows of A, or columns of B, as a line has words. Along K it is cut into tiles. A tile of A has a line
for each row, with words along K; one of B has a line for each word along K, with those of all columns. Vectors take A
by single words: where memory has its columns, its tiles are like B's. A unit of bytes wants a line more in each strip
of B: what its sums have too much of.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from coopmat.spirv.grammar import CooperativeMatrixUse as Use
from coopmat.spirv.transform.enlarge.runs import Runs
from coopmat.targets.cpu.byte_products import ByteProducts, Signs
from coopmat.targets.cpu.matrix.body import Body
from coopmat.targets.cpu.matrix.copies import Range
from coopmat.targets.cpu.matrix.packing import mixed, mixed_bytes, shuffled, turned
from coopmat.targets.cpu.matrix.product.source import Lines
from coopmat.targets.cpu.matrix.product.unit import LINE, Unit
from coopmat.targets.cpu.matrix.sums import to_work
from coopmat.targets.llvm.numbers import NumberWriter
from coopmat.targets.llvm.values import Number

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

    def write(self, body: Body, target: str) -> None:
        """Put the operand into strips."""
        self._write(body, target, "0", self.count)

    def write_part(self, body: Body, target: str, part: str) -> None:
        """Put a part of the operand into strips; ``part``: its number, an i64."""
        count = self.count // self.parts
        self._write(body, target, body.writer.let(f"mul i64 {part}, {count}"), count)

    def _write(self, body: Body, target: str, first: str, count: int) -> None:
        """Put some strips where they belong. Those of lines that are all there are copied as they are."""
        if not self.are_lines:
            _Filling(body, self, target).done(first, count)
            return
        writer, lines = body.writer, self.lines
        last = writer.let(f"sub i64 {self.filled or self.tiles}, 1")
        end = writer.let(f"add i64 {self.start(body, last, self.elements)}, {self.elements}")
        wanted = (str(self.extent), end) if lines.order == "along" else (end, str(self.extent))
        conditions = [writer.let(f"icmp {test} i64 {found}, {place}") for bounds, size in zip(
            (lines.lines, lines.elements), wanted, strict=True)
            for test, found, place in zip(("eq", "sge"), bounds, ("0", size), strict=True)]
        is_whole = writer.all_of("true", *conditions)
        part = writer.let(f"xor i1 {is_whole}, true")
        copy = self._copy_along if lines.order == "along" else self._copy_across
        writer.when(is_whole, lambda: copy(body, target, first, count))
        writer.when(part, lambda: _Filling(body, self, target).done(first, count))

    def _copy_along(self, body: Body, target: str, first: str, count: int) -> None:
        """Copy some strips of an operand of which all lines are there, row by row, as memory is read fastest."""
        writer, lines = body.writer, self.lines
        start = writer.let(f"mul i64 {first}, {self.unit.lanes}")
        rows = min(count * self.unit.lanes, self.extent)

        def row(number: str) -> None:
            number = writer.let(f"add i64 {start}, {number}")
            source = writer.line(lines.base, number, lines.stride)
            strip = writer.line(target, writer.let(f"udiv i64 {number}, {self.unit.lanes}"), self.strip_bytes)
            place = writer.line(strip, writer.let(f"urem i64 {number}, {self.unit.lanes}"), LINE)
            writer.turns(self.filled or str(self.tiles), lambda tile: self._copy_part(
                body, body.address(source, lines.element, self.start(body, tile, self.elements)),
                writer.line(place, tile, self.tile_bytes), self.elements), unrolls=True)

        writer.count(rows, row, unrolls=False)

    def _copy_across(self, body: Body, target: str, first: str, count: int) -> None:
        """The same, where lines are those of all strips."""
        writer, lines, lanes = body.writer, self.lines, self.unit.lanes

        def line(tile: str, word: str) -> None:
            number = writer.let(f"add i64 {self.start(body, tile, self.words)}, {word}")
            source = writer.line(lines.base, number, lines.stride)
            place = writer.line(writer.line(target, tile, self.tile_bytes), word, LINE)

            def part(number: str) -> None:
                strip = writer.let(f"add i64 {first}, {number}")
                self._copy_part(body, writer.line(source, strip, lanes * lines.size),
                                writer.line(place, strip, self.strip_bytes), lanes)

            writer.count(count, part)

        writer.turns(self.filled or str(self.tiles), lambda tile: writer.count(
            self.words, lambda word: line(tile, word), unrolls=False))

    def _copy_part(self, body: Body, source: str, place: str, length: int) -> None:
        """Copy so many elements of a line, as the unit takes them."""
        numbers, lines = NumberWriter(body.writer, length), self.lines
        found = Number(lines.element, lanes=body.writer.let(
            f"load {numbers.vector(lines.element)}, ptr {source}, align {lines.size}"))
        if self.unit.kind == "numbers":
            found = to_work(numbers, found, lines.fmt, self.unit.word)
        body.writer.do(f"store {numbers.vector(found.type)} {found.lanes}, ptr {place}, align {LINE}")


class _Filling:
    """Writes the code that fills strips."""

    def __init__(self, body: Body, strips: Strips, target: str) -> None:
        self.body, self.writer = body, body.writer
        self.strips, self.target = strips, target
        self.lines, self.unit = strips.lines, strips.unit
        lanes, elements = self.unit.lanes, strips.elements
        self.count, self.length = {  # lines of memory that a tile is made of, and elements of each
            "along": (lanes, elements), "across": (elements, lanes),
            "packed": (elements // self.lines.together, lanes * self.lines.together),
        }[self.lines.order]
        self.pitch = max(LINE, self.length * self.lines.size)  # of a tile's lines that are not all there
        self.edge = ""

    def done(self, first: str, count: int) -> None:
        """Fill some strips, in the order in which memory has the lines."""
        writer, strips = self.writer, self.strips

        tiles = strips.filled or str(strips.tiles)

        def each(number: str, size: int = 1) -> str:
            return writer.let(f"add i64 {first}, {writer.let(f'mul i64 {number}, {size}')}")

        if strips.has_excess:
            writer.count(count, lambda number: writer.do(
                f"store <16 x i32> zeroinitializer, ptr {self._excess(each(number))}, align {LINE}"))
        if self.lines.order == "along":
            def along(number: str) -> None:
                strip = each(number)
                writer.turns(tiles, lambda tile: self._tile(strip, tile))

            writer.count(count, along, unrolls=False)
            return
        beside = strips.beside
        whole, rest = divmod(count, beside)

        def across(tile: str) -> None:
            writer.count(whole, lambda number: self._beside(each(number, beside), beside, tile), unrolls=False)
            self._beside(each(str(whole), beside), rest, tile)

        writer.turns(tiles, across)

    def _beside(self, first: str, count: int, tile: str) -> None:
        """Fill the same tile of strips beside each other."""
        if count == 4 and self._are_bytes:
            self._four(first, tile)
            return
        for number in range(count):
            self._tile(self.writer.let(f"add i64 {first}, {number}"), tile)

    def _excess(self, strip: str) -> str:
        return self.body.address(self._strip(strip), "i8", self.strips.tiles * self.strips.tile_bytes)

    def _strip(self, strip: str) -> str:
        return self.writer.line(self.target, strip, self.strips.strip_bytes)

    @property
    def _are_bytes(self) -> bool:
        """Whether lines of 64 bytes have four strips side by side."""
        return (self.unit.together, self.unit.lanes, self.lines.size, self.unit.kind in ("tiles", "bytes")) == (
            4, 16, 1, True)

    def _four(self, strip: str, tile: str) -> None:
        """Fill the same tile of four strips."""
        writer = self.writer
        first, start = self.strips.start(self.body, tile, self.count), writer.let(f"mul i64 {strip}, {self.length}")
        source, stride = self._whole(first, start, 4 * self.length)
        lines: list[list[str]] = [[] for _ in range(4)]
        for number in range(0, self.count, 4):
            rows = [writer.let(f"load <64 x i8>, ptr {writer.line(source, number + row, stride)}, align 1")
                    for row in range(4)]
            for found, line in zip(lines, mixed_bytes(writer, rows), strict=True):
                found.append(line)
        for number, found in enumerate(lines):
            self._store(writer.let(f"add i64 {strip}, {number}"), tile,
                        found if self.strips.by_words else self._turned(found))

    # --- a tile -----------------------------------------------------------------------------

    def _tile(self, strip: str, tile: str) -> None:
        """Fill a tile."""
        sizes = self.count, self.length
        along, across = sizes[::-1] if self.lines.order == "along" else sizes
        places = self.strips.start(self.body, tile, along), self.writer.let(f"mul i64 {strip}, {across}")
        first, start = places[::-1] if self.lines.order == "along" else places
        source, stride = self._whole(first, start, self.length)
        lines = self._words(source, stride)
        if self.strips.by_words == (self.lines.order == "along"):
            lines = self._turned(lines)
        self._store(strip, tile, lines)

    def _whole(self, first: str, start: str, length: int) -> tuple[str, str]:
        """The address and the stride of lines of a length; of a copy with zeros where not all of them are there."""
        writer, size = self.writer, self.lines.size
        conditions = []
        for place, count, found in ((first, self.count, self.lines.lines), (start, length, self.lines.elements)):
            end = writer.let(f"add i64 {place}, {count}")
            conditions += [writer.let(f"icmp sge i64 {place}, {found[0]}"),
                           writer.let(f"icmp sle i64 {end}, {found[1]}")]
        is_whole = writer.all_of("true", *conditions)
        there = writer.line(self.lines.base, first, self.lines.stride)
        there = self.body.address(there, "i8", writer.let(f"mul i64 {start}, {size}"))
        part = writer.let(f"xor i1 {is_whole}, true")
        if not self.edge:
            self.edge = writer.slot(f"[{self.count * self.pitch} x i8]", align=LINE)
        writer.when(part, lambda: self._copy(first, start, length))
        return (writer.let(f"select i1 {is_whole}, ptr {there}, ptr {self.edge}"),
                writer.let(f"select i1 {is_whole}, i64 {self.lines.stride}, i64 {self.pitch}"))

    def _copy(self, first: str, start: str, length: int) -> None:
        """Copy what is there of lines of a length."""
        writer, size = self.writer, self.lines.size
        self._clear()
        low, high = self._part(self.lines.elements, start, length)
        top, bottom = self._part(self.lines.lines, first, self.count)
        width = writer.let(f"sub i64 {high}, {low}")
        nbytes = writer.let(f"mul i64 {width}, {size}")
        offset = writer.let(f"mul i64 {low}, {size}")
        here = writer.let(f"sub i64 {low}, {start}")
        skipped = writer.let(f"mul i64 {here}, {size}")

        def line(number: str) -> None:
            place = writer.let(f"add i64 {top}, {number}")
            there = self.body.address(writer.line(self.lines.base, place, self.lines.stride), "i8", offset)
            target = writer.line(self.edge, writer.let(f"sub i64 {place}, {first}"), self.pitch)
            writer.call("void", "llvm.memcpy.p0.p0.i64", [
                ("ptr", self.body.address(target, "i8", skipped)), ("ptr", there), ("i64", nbytes), ("i1", "false")])

        height = writer.let(f"sub i64 {bottom}, {top}")
        is_some = writer.all_of(writer.let(f"icmp sgt i64 {width}, 0"), writer.let(f"icmp sgt i64 {height}, 0"))
        writer.when(is_some, lambda: writer.turns(height, line))

    def _clear(self) -> None:
        """Fill the copy with what stands for elements that are not there."""
        if not (self.strips.adds_nothing and self.strips.is_a):
            self.body.clear(self.edge, self.count * self.pitch)
            return
        bits = 8 * self.lines.size
        zeros = NumberWriter(self.writer, self.pitch // self.lines.size).splat(f"i{bits}", str(-(1 << bits - 1)))
        for number in range(self.count):
            self.writer.do(f"store <{self.pitch // self.lines.size} x i{bits}> {zeros}, ptr "
                           f"{self.body.address(self.edge, 'i8', number * self.pitch)}, align {LINE}")

    def _part(self, there: Range, start: str, count: int) -> tuple[str, str]:
        """Of what begins at a place, the first one that is there, and the end."""
        end = self.writer.let(f"add i64 {start}, {count}")
        return (self.writer.call("i64", "llvm.smax.i64", [("i64", start), ("i64", there[0])]),
                self.writer.call("i64", "llvm.smin.i64", [("i64", end), ("i64", there[1])]))

    # --- words ------------------------------------------------------------------------------

    def _words(self, source: str, stride: str) -> list[str]:
        """The lines of memory as words: for each row or column those along K, or for each word those across K."""
        writer, lines = self.writer, self.lines
        vector, align = f"<{self.length} x {lines.element}>", lines.size
        found = [writer.let(f"load {vector}, ptr {writer.line(source, number, stride)}, align {align}")
                 for number in range(self.count)]
        if self.unit.kind == "numbers":
            numbers = NumberWriter(writer, self.length)
            return [part for line in found for part in self._parted(numbers.lanes(
                to_work(numbers, Number(lines.element, lanes=line), lines.fmt, self.unit.word)), self.unit.word)]
        element = lines.element
        if self.unit.kind == "shorts":
            numbers, element = NumberWriter(writer, self.length), "i16"
            found = [numbers.lanes(to_work(numbers, Number(lines.element, lanes=line), lines.fmt, "i16"))
                     for line in found]
        if lines.order == "across":
            together = self.unit.together
            return [mixed(writer, found[first:first + together], element, self.length)
                    for first in range(0, self.count, together)]
        found = [part for line in found for part in self._parted(line, element)]
        length = self.length // (lines.together // self.unit.together or 1)
        words = length // self.unit.together
        return [writer.let(f"bitcast <{length} x {element}> {line} to <{words} x i32>") for line in found]

    def _parted(self, line: str, element: str) -> list[str]:
        """A line of which more rows share a word than the unit takes, as lines with so many."""
        own, all_ = self.unit.together, self.lines.together
        if all_ <= own:
            return [line]
        columns = self.length // all_
        return [shuffled(self.writer, element, self.length, line, "poison",
                         [column * all_ + first + place for column in range(columns) for place in range(own)])
                for first in range(0, all_, own)]

    def _turned(self, lines: Sequence[str]) -> list[str]:
        """Lines across K of lines along it, or the other way round."""
        lanes, words, word = self.unit.lanes, self.strips.words, self.unit.word
        if words < lanes and self.lines.order == "along":
            lines = [shuffled(self.writer, word, words, line, "poison",
                              [*range(words), *[None] * (lanes - words)]) for line in lines]
        found = turned(self.writer, [*lines, *["poison"] * (lanes - len(lines))], word)
        return found[:words] if self.lines.order == "along" else found

    def _store(self, strip: str, tile: str, lines: Sequence[str]) -> None:
        """Put the lines of a tile where they belong."""
        writer, strips, unit = self.writer, self.strips, self.unit
        numbers = NumberWriter(writer, unit.lanes)
        bytes_ = ByteProducts(numbers, self.body.features)
        if unit.kind == "bytes" and strips.is_a:
            lines = [numbers.lanes(bytes_.turned(Number("i32", lanes=line), strips.signs)) for line in lines]
        target = writer.line(self._strip(strip), tile, strips.tile_bytes)
        width = strips.words if strips.is_a and self.lines.order == "along" else unit.lanes
        for number, line in enumerate(lines):
            writer.do(f"store <{width} x {unit.word}> {line}, ptr {self.body.address(target, 'i8', number * LINE)}, "
                      f"align {LINE}")
        if strips.has_excess:
            address = self._excess(strip)
            total = writer.let(f"load <16 x i32>, ptr {address}, align {LINE}")
            for line in lines:
                total = bytes_.excess(total, line, unit.lanes, strips.signs)
            writer.do(f"store <16 x i32> {total}, ptr {address}, align {LINE}")
