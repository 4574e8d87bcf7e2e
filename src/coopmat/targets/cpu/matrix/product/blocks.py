"""Blocks of a product whose sums stay in registers over K, and the loops over them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from hashlib import sha256

from coopmat.formats import Format
from coopmat.spirv.analysis.types import MatrixType
from coopmat.targets.cpu.byte_products import ByteProducts, Signs, add_pairs
from coopmat.targets.cpu.matrix.amx import TILE
from coopmat.targets.cpu.matrix.body import Body, Features
from coopmat.targets.cpu.matrix.packing import shuffled
from coopmat.targets.cpu.matrix.product.ahead import Ahead
from coopmat.targets.cpu.matrix.product.unit import LINE, Unit
from coopmat.targets.cpu.matrix.sums import add_product, from_work, register_bytes, to_work
from coopmat.targets.cpu.matrix.types import element_type
from coopmat.targets.llvm.numbers import NumberWriter
from coopmat.targets.llvm.values import Number


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


# --------------------------------------------------------------------------------------
# AMX
# --------------------------------------------------------------------------------------


REGISTERS = 8  # tiles
TILE_BYTES = 1024
STRIPS = 2  # of A and of B that a block has, if there are as many
NEAR = 48 << 10  # bytes of the first-level cache


@dataclass(frozen=True)
class TileBlocks(Blocks):
    """Blocks of four tiles of sums. count: of the blocks of a size; begun: the steps along K that come before a block,
    an i64."""

    count: int = 0
    begun: str = ""

    def sizes(self, rows: int, columns: int) -> tuple[int, int]:
        """Two by two strips; four beside each other where there are no two in the other direction."""
        lanes = self.unit.lanes
        if rows <= lanes:
            return lanes, 4 * lanes
        if columns <= lanes:
            return 4 * lanes, lanes
        return STRIPS * lanes, STRIPS * lanes

    def blocks(self, m: Region, n: Region) -> None:
        """Blocks of one size, in a function of their own: there a register has the same shape throughout. For some rows
        all columns: rows of D that lie in the kernel's memory are written on and on."""
        body = Body(self.body.features)
        given: list[tuple[str, str]] = []

        def passed(kind: str, value: str) -> str:
            given.append((kind, value))
            return f"%{len(given) - 1}"

        def panel(one: Panel) -> Panel:
            ahead = one.ahead if m.first == n.first == 0 else None  # what remains is soon done
            ahead = ahead and replace(ahead, base=passed("ptr", ahead.base), pitch=passed("i64", ahead.pitch))
            line, tile, strip = (passed("i64", found) for found in (one.line, one.tile, one.strip))
            return Panel(passed("ptr", one.base), line, tile, strip, ahead=ahead)

        def sums(one: Sums) -> Sums:
            return replace(one, base=passed("ptr", one.base), pitch=passed("i64", one.pitch))

        inner = replace(self, body=body, a=panel(self.a), b=panel(self.b), c=sums(self.c), d=sums(self.d),
                        tiles=passed("i64", self.tiles), count=m.count * n.count)
        names = [f"%{number}" for number in range(len(given))]
        number = body.writer.slot("i64")
        body.writer.do(f"store i64 0, ptr {number}")

        def block(row: str, column: str) -> None:
            begun = body.writer.let(f"load i64, ptr {number}")
            body.writer.do(f"store i64 {body.writer.let(f'add i64 {begun}, {self.depth}')}, ptr {number}")
            replace(inner, begun=begun).block(row, m.size, column, n.size)

        m.each(body, lambda row: n.each(body, lambda column: block(row, column)))
        lines = "\n".join([*body.writer.entry, *body.writer.lines])
        name = f"matrix.blocks.{sha256(lines.encode()).hexdigest()[:16]}"
        parameters = ", ".join(f"{llvm} {name}" for (llvm, _), name in zip(given, names, strict=True))
        self.body.writer.helper(name, f"define internal void @{name}({parameters}) noinline nounwind {{\nentry:\n"
                                      f"{lines}\n  ret void\n}}")
        self.body.writer.declarations |= body.writer.declarations
        self.body.writer.call("void", name, given)

    def block(self, m: str, height: int, n: str, width: int) -> None:
        """Tiles are loaded where a product is the first one that takes them: all eight are in use, and none that LLVM
        keeps from another block has room."""
        writer = self.body.writer
        down, across = self.parts(height), self.parts(width)
        a = [self.body.hidden(self.strip_of(self.a, m, number)) for number in range(len(down))]
        b = [self.body.hidden(self.strip_of(self.b, n, number)) for number in range(len(across))]
        places = [(row, column) for row in range(len(down)) for column in range(len(across))]

        fits = len(down) + len(across) + len(places) <= REGISTERS

        def step(tile: str, sums: list[str]) -> list[str]:
            found = list(sums)
            self._ask(tile)
            loaded_a: dict[int, str] = {}
            loaded_b: dict[int, str] = {}

            def load(row: int, column: int) -> None:
                if column not in loaded_b:
                    loaded_b[column] = self._load(self.words, across[column][1],
                                                  writer.line(b[column], tile, self.b.tile), self.b.line,
                                                  self._hint)
                if row not in loaded_a:
                    loaded_a[row] = self._load(down[row][1], self.words, writer.line(a[row], tile, self.a.tile),
                                               self.a.line)

            for row, column in places if fits else ():
                load(row, column)
            for number, (row, column) in enumerate(places):
                load(row, column)
                found[number] = writer.call(TILE, f"llvm.x86.{self.unit.instruction}.internal", [
                    *_shorts(down[row][1], 4 * across[column][1], 4 * self.words), (TILE, found[number]),
                    (TILE, loaded_a[row]), (TILE, loaded_b[column])])
            return found

        start = [(TILE, self._load(down[row][1], across[column][1],
                                   self.place(self.c, m, down[row][0], n, across[column][0]), self.c.pitch))
                 for row, column in places]
        sums = writer.repeat(self.tiles, start, step, unrolls=False)
        for (row, column), total in zip(places, sums, strict=True):
            writer.call("void", "llvm.x86.tilestored64.internal", [
                *_shorts(down[row][1], 4 * across[column][1]),
                ("ptr", self.place(self.d, m, down[row][0], n, across[column][0])), ("i64", self.d.pitch),
                (TILE, total)])

    @property
    def _hint(self) -> str:
        """How tiles of B are loaded: where the strips of a block do not all fit into the first-level cache, they leave
        those of A there."""
        return "t1" if 2 * STRIPS * self.depth * TILE_BYTES > NEAR else ""

    def _ask(self, tile: str) -> None:
        """Ask for a step's part of what comes later."""
        step = self.body.writer.let(f"add i64 {self.begun}, {tile}")
        for one in (self.a, self.b):
            if one.ahead is not None:
                one.ahead.ask(self.body, step, self.count * self.depth)

    def _load(self, rows: int, words: int, address: str, pitch: str, hint: str = "") -> str:
        return self.body.writer.call(TILE, f"llvm.x86.tileloadd{hint}64.internal", [
            *_shorts(rows, 4 * words), ("ptr", address), ("i64", pitch)])


def _shorts(*numbers: int) -> list[tuple[str, str]]:
    return [("i16", str(number)) for number in numbers]


# --------------------------------------------------------------------------------------
# Vectors
# --------------------------------------------------------------------------------------

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

        start = [(total, self._start(numbers, m, row, n, part, strip)) for row in range(height)
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

    def _start(self, numbers: NumberWriter, m: str, row: int, n: str, part: tuple[int, int], strip: str) -> str:
        """What the sums of a row begin with."""
        writer, unit, (column, width) = self.body.writer, self.unit, part
        element = element_type(self.c.kind)
        text = writer.let(f"load <{width} x {element}>, ptr {self.place(self.c, m, row, n, column)}, align "
                          f"{self.c.kind.component.size}")
        if width < unit.lanes:
            order = [*range(width), *[None] * (unit.lanes - width)]
            text = shuffled(writer, element, width, text, "zeroinitializer", order)
        if unit.kind == "numbers":
            return numbers.lanes(to_work(numbers, Number(element, lanes=text), self.c.fmt, unit.total))
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


FACTORS, LINES = 16, 8
"""Of blocks of few rows: words of A that registers hold, and lines of B at most that are read side by side."""


class ThinBlocks(VectorBlocks):
    """Blocks of few rows, whose B is read where it lies, once: some lines from end to end, as memory is read fastest.
    Sums are in memory meanwhile."""

    def write(self) -> None:
        """Lines of B one after the other; the first sums are those of C."""
        writer, (rows, columns) = self.body.writer, (self.d.kind.rows, self.d.kind.columns)
        each = min(LINES, max(2, FACTORS // rows))

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
        numbers = NumberWriter(writer, unit.lanes)
        lines = self._lines(self.a.base, tile, rows)
        factors = [[numbers.splat(unit.word, self._word(line, word)) for word in words] for line in lines]

        def strip(number: str) -> None:
            n = writer.let(f"mul i64 {number}, {unit.lanes}")
            there = writer.line(self.strip_of(self.b, n, 0), tile, self.b.tile)
            sums = [replace(self, c=before)._start(numbers, "0", row, n, (0, unit.lanes), there) for row in range(rows)]
            for place, word in enumerate(words):
                others = Number(unit.word, lanes=self._factors(numbers, there, word))
                for row in range(rows):
                    sums[row] = numbers.lanes(add_product(
                        self.body.features, numbers, Number(unit.word, lanes=sums[row]),
                        Number(unit.word, lanes=factors[row][place]), others))
            for row, text in enumerate(sums):
                self._store(numbers, text, "0", row, n, (0, unit.lanes))

        writer.count(columns // unit.lanes, strip, unrolls=False)


def block_rows(unit: Unit, features: Features) -> int:
    """The most rows of a block of vectors, a part of a strip."""
    most = SHAPES[register_bytes(features)][0]
    return next(rows for rows in range(most, 0, -1) if unit.lanes % rows == 0)


def blocks_of(unit: Unit, *, thin: bool) -> Callable[..., Blocks]:
    """What multiplies the strips of a unit. thin: those of B are read once, where they lie."""
    return TileBlocks if unit.kind == "tiles" else ThinBlocks if thin else VectorBlocks


