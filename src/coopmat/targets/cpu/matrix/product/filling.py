"""How strips are filled: from lines of memory that are all there by copying their parts, otherwise tile by tile."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from coopmat.targets.cpu.byte_products import ByteProducts
from coopmat.targets.cpu.matrix.body import Body
from coopmat.targets.cpu.matrix.copies import Range
from coopmat.targets.cpu.matrix.packing import joined, mixed, mixed_bytes, shuffled, turned
from coopmat.targets.cpu.matrix.product.strips import Strips
from coopmat.targets.cpu.matrix.product.unit import LINE
from coopmat.targets.cpu.matrix.sums import register_bytes, to_work
from coopmat.targets.llvm.numbers import NumberWriter
from coopmat.targets.llvm.values import Number


def fill(body: Body, strips: Strips, target: str) -> None:
    """Put an operand into strips."""
    _fill(body, strips, target, "0", strips.count)


def fill_part(body: Body, strips: Strips, target: str, part: str) -> None:
    """Put a part of an operand into strips; ``part``: its number, an i64."""
    count = strips.count // strips.parts
    _fill(body, strips, target, body.writer.let(f"mul i64 {part}, {count}"), count)


def _fill(body: Body, strips: Strips, target: str, first: str, count: int) -> None:
    """Put some strips where they belong. Those of lines that are all there are copied as they are."""
    if not strips.are_lines:
        _Filling(body, strips, target).done(first, count)
        return
    writer, lines, is_whole = body.writer, strips.lines, strips.is_whole(body)
    part = writer.let(f"xor i1 {is_whole}, true")
    copying = _Copying(body, strips, target)
    writer.when(is_whole, lambda: (copying.along if lines.order == "along" else copying.across)(first, count))
    writer.when(part, lambda: _Filling(body, strips, target).done(first, count))


@dataclass(frozen=True)
class _Copying:
    """Copies lines that are all there, one after the other, as memory is read fastest."""

    body: Body
    strips: Strips
    target: str

    def along(self, first: str, count: int) -> None:
        """Some strips, of each of which a line is a row or column."""
        writer, strips, lines, lanes = self.body.writer, self.strips, self.strips.lines, self.strips.unit.lanes
        start = writer.let(f"mul i64 {first}, {lanes}")

        def row(number: str) -> None:
            number = writer.let(f"add i64 {start}, {number}")
            source = writer.line(lines.base, number, lines.stride)
            strip = writer.line(self.target, writer.let(f"udiv i64 {number}, {lanes}"), strips.strip_bytes)
            place = writer.line(strip, writer.let(f"urem i64 {number}, {lanes}"), LINE)
            writer.turns(self._tiles, lambda tile: self._part(
                self.body.address(source, lines.element, strips.start(self.body, tile, strips.elements)),
                writer.line(place, tile, strips.tile_bytes), strips.elements), unrolls=True)

        writer.count(min(count * lanes, strips.extent), row, unrolls=False)

    def across(self, first: str, count: int) -> None:
        """Some strips, all of which a line has parts of."""
        writer, strips, lines, lanes = self.body.writer, self.strips, self.strips.lines, self.strips.unit.lanes

        def line(tile: str, word: str) -> None:
            number = writer.let(f"add i64 {strips.start(self.body, tile, strips.words)}, {word}")
            source = writer.line(lines.base, number, lines.stride)
            place = writer.line(writer.line(self.target, tile, strips.tile_bytes), word, LINE)

            def part(number: str) -> None:
                strip = writer.let(f"add i64 {first}, {number}")
                self._part(writer.line(source, strip, lanes * lines.size),
                           writer.line(place, strip, strips.strip_bytes), lanes)

            writer.count(count, part)

        writer.turns(self._tiles, lambda tile: writer.count(strips.words, lambda word: line(tile, word), unrolls=False))

    @property
    def _tiles(self) -> str:
        """How many tiles of a strip are filled."""
        return self.strips.filled or str(self.strips.tiles)

    def _part(self, source: str, place: str, length: int) -> None:
        """So many elements of a line, as the unit takes them."""
        numbers, lines, unit = NumberWriter(self.body.writer, length), self.strips.lines, self.strips.unit
        found = lines.converted(numbers, self.body.writer.let(
            f"load {numbers.vector(lines.element)}, ptr {source}, align {lines.size}"))
        if unit.kind == "numbers":
            found = to_work(numbers, found, lines.fmt, unit.word)
        self.body.writer.do(f"store {numbers.vector(found.type)} {found.lanes}, ptr {place}, align {LINE}")


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
        if self.strips.by_words != (self.lines.order == "along"):
            self._store(strip, tile, self._words(source, stride))
        elif self._are_squares:
            self._store(strip, tile, self._squares(source, stride))
        else:
            self._store(strip, tile, self._turned(self._words(source, stride)))

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

    @property
    def _side(self) -> int:
        """The words of a register."""
        return register_bytes(self.body.features) // self.unit.word_bytes

    @property
    def _are_squares(self) -> bool:
        """Whether a tile that is turned has several squares of registers."""
        return (self.unit.kind == "numbers" and self.count % self._side == self.length % self._side == 0
                and self._side < max(self.count, self.length))

    def _squares(self, source: str, stride: str) -> list[str]:
        """The words of lines across K of lines along it, or the other way round, square by square, so that registers
        hold what is turned."""
        side, found = self._side, []
        for first in range(0, self.length, side):
            start = self.body.address(source, "i8", first * self.lines.size)
            squares = [turned(self.writer, self._loaded(self.writer.line(start, line, stride), stride, side, side)[0],
                              self.unit.word) for line in range(0, self.count, side)]
            found += [joined(self.writer, [square[number] for square in squares], self.unit.word, side, self.count)
                      for number in range(side)]
        return found

    def _loaded(self, source: str, stride: str, count: int, length: int) -> tuple[list[str], str]:
        """Some lines of memory and the type of their elements, as they are multiplied."""
        writer, lines = self.writer, self.lines
        vector, align = f"<{length} x {lines.element}>", lines.size
        numbers = NumberWriter(writer, length)
        found = [writer.let(f"load {vector}, ptr {writer.line(source, number, stride)}, align {align}")
                 for number in range(count)]
        loaded = [lines.converted(numbers, line) for line in found]
        work = {"numbers": self.unit.word, "shorts": "i16"}.get(self.unit.kind)
        if work:
            loaded = [to_work(numbers, one, lines.fmt, work) for one in loaded]
        return [numbers.lanes(one) for one in loaded], loaded[0].type

    def _words(self, source: str, stride: str) -> list[str]:
        """The lines of memory as words: for each row or column those along K, or for each word those across K."""
        writer, lines = self.writer, self.lines
        found, element = self._loaded(source, stride, self.count, self.length)
        if self.unit.kind == "numbers":
            return [part for line in found for part in self._parted(line, element)]
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
