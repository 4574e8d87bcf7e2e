"""Tiles that threads bring where no tensor map can: cp.async into the same swizzled lines.

PTX ISA: cp.async, "Swizzling modes". Chunks have the widest size that the first element's address and the stride allow.
A tile that the matrix does not fill gets zeros by the number of bytes that a chunk reads; what is aligned to less than
a chunk, or begins left of the matrix, is moved element by element.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from coopmat.targets.cuda.lanes import SHARED
from coopmat.targets.cuda.work_groups.pipeline import LINES_OF_CORE, Tile
from coopmat.targets.llvm.writer import Operand, Writer

CACHED = {16: "cg", 8: "ca", 4: "ca"}
"""Chunks by their bytes, and in which caches they are kept on their way: 16 bytes pass by the first level."""
CELL, CELL_BITS, LINE_BITS = 16, 4, 7  # of what swizzling exchanges: 16 bytes, by the number of 128 bytes
_FROM, _TO = "ptr addrspace(1)", f"ptr addrspace({SHARED})"


def swizzled(writer: Writer, tile: Tile, place: str) -> str:
    """Where a byte of a tile lies, by its place in lines and slabs that follow each other, an i32."""
    let = writer.let
    cell = let(f"and i32 {let(f'lshr i32 {place}, {LINE_BITS}')}, {tile.line_bytes // CELL - 1}")
    return let(f"xor i32 {place}, {let(f'shl i32 {cell}, {CELL_BITS}')}")


@dataclass(frozen=True)
class _Place:
    """Where a part of a tile is: its line, and the byte there, each an i64; addresses of what is copied, and of where
    it goes."""

    line: str
    byte: str
    source: str
    target: str


class TileCopy:
    """Writes the code that brings a tile, by some threads together.

    target: where, in shared memory. base, stride: of the matrix, and the bytes from line to line, an i64. window: first
    line, first element, lines and elements of a line, each an i64. thread: its number among so many threads, an i32.
    """

    def __init__(self, writer: Writer, tile: Tile, target: str, base: str, stride: str, window: tuple[str, ...],
                 thread: str, threads: int) -> None:
        let = writer.let
        self.threads = threads
        self.writer, self.tile, self.target, self.stride, self.thread = writer, tile, target, stride, thread
        self.line, self.first, self.height, self.width = window
        self.first_byte = let(f"mul i64 {self.first}, {tile.element}")
        way = let(f"add i64 {let(f'mul i64 {self.line}, {stride}')}, {self.first_byte}")
        self.start = let(f"getelementptr i8, {_FROM} {let(f'addrspacecast ptr {base} to {_FROM}')}, i64 {way}")

    def write(self) -> str:
        """Write it; whether threads stored elements themselves, which no count of copies tells, an i1."""
        writer, tile = self.writer, self.tile
        let = writer.let
        begins = let(f"icmp sge i64 {self.first}, 0")
        ends = let(f"icmp sle i64 {let(f'add i64 {self.first}, {tile.stored}')}, {self.width}")
        below = let(f"icmp sge i64 {self.line}, 0")
        above = let(f"icmp sle i64 {let(f'add i64 {self.line}, {tile.lines}')}, {self.height}")
        is_inside = writer.all_of(begins, ends, below, above)
        mixed = let(f"or i64 {let(f'ptrtoint {_FROM} {self.start} to i64')}, {self.stride}")
        found: list[tuple[str, str]] = []
        end = writer.fresh("brought")[1:]

        def way(copy: Callable[[], None], stores: str) -> None:
            copy()
            found.append((stores, writer.block))
            writer.do(f"br label %{end}")

        for width in (width for width in CACHED if width >= tile.element):
            fits = let(f"icmp eq i64 {let(f'and i64 {mixed}, {width - 1}')}, 0")
            for fills, condition in ((False, is_inside), (True, begins)):
                this, other = writer.fresh("chunks")[1:], writer.fresh("else")[1:]
                writer.do(f"br i1 {writer.all_of(fits, condition)}, label %{this}, label %{other}")
                writer.label(this)
                way(lambda width=width, fills=fills: self._chunks(width, fills=fills), "false")  # type: ignore[misc]
                writer.label(other)
        way(self._elements, "true")
        writer.label(end)
        return let(f"phi i1 {', '.join(f'[ {stores}, %{block} ]' for stores, block in found)}")

    def _is_line(self, place: _Place) -> str:
        """Whether the matrix has the line of a place, an i1."""
        line = self.writer.let(f"add i64 {self.line}, {place.line}")
        return self.writer.let(f"icmp ult i64 {line}, {self.height}")

    def _chunks(self, width: int, *, fills: bool) -> None:
        """The copies of chunks: of a whole tile, or of one whose chunks may be short or empty."""
        def copy(place: _Place) -> None:
            operands: list[Operand] = [(_TO, place.target), (_FROM, place.source)]
            if fills:  # of none, the source only has to be aligned
                operands.append(("i32", self._bytes_there(place, width)))
            name = f"llvm.nvvm.cp.async.{CACHED[width]}.shared.global.{width}"
            self.writer.call("void", f"{name}.s" if fills else name, operands)

        self._each(width, copy, unrolls=width == max(CACHED) and not fills)

    def _bytes_there(self, place: _Place, width: int) -> str:
        """How many bytes of a chunk the matrix has, an i32."""
        let = self.writer.let
        left = let(f"sub i64 {let(f'mul i64 {self.width}, {self.tile.element}')}, "
                   f"{let(f'add i64 {self.first_byte}, {place.byte}')}")
        some = self.writer.call("i64", "llvm.smax.i64", [("i64", left), ("i64", "0")])
        most = self.writer.call("i64", "llvm.smin.i64", [("i64", some), ("i64", str(width))])
        return let(f"trunc i64 {let(f'select i1 {self._is_line(place)}, i64 {most}, i64 0')} to i32")

    def _elements(self) -> None:
        """The loads and stores of elements."""
        size = self.tile.element
        llvm, let, writer = f"i{8 * size}", self.writer.let, self.writer

        def move(place: _Place) -> None:
            number = let(f"add i64 {self.first}, {let(f'udiv i64 {place.byte}, {size}')}")
            is_there = writer.all_of(self._is_line(place), let(f"icmp ult i64 {number}, {self.width}"))
            before, load, store = writer.block, writer.fresh("load")[1:], writer.fresh("store")[1:]
            writer.do(f"br i1 {is_there}, label %{load}, label %{store}")
            writer.label(load)
            loaded = let(f"load {llvm}, {_FROM} {place.source}, align {size}")
            writer.do(f"br label %{store}")
            writer.label(store)
            value = let(f"phi {llvm} [ 0, %{before} ], [ {loaded}, %{load} ]")
            writer.do(f"store {llvm} {value}, {_TO} {place.target}, align {size}")

        self._each(size, move, unrolls=False)

    def _each(self, nbytes: int, body: Callable[[_Place], None], *, unrolls: bool) -> None:
        """Do something with each part of so many bytes, the threads side by side: along the lines of a slab, slab by
        slab."""
        writer, tile = self.writer, self.tile
        let, per_line = writer.let, tile.line_bytes // nbytes
        per_slab = tile.lines * per_line
        lines = max(LINES_OF_CORE, self.threads // per_line)  # of a turn, so that places in swizzled lines repeat
        if self.threads % per_line == 0 and tile.lines % lines == 0:
            numbers = [let(f"add i32 {self.thread}, {first}") for first in range(0, lines * per_line, self.threads)]
            own = [self._place("0", number, per_line, nbytes) for number in numbers]
            turns = tile.lines // lines

            def next_lines(number: str) -> None:
                turn = let(f"trunc i64 {number} to i32")
                slab = let(f"udiv i32 {turn}, {turns}")
                line = let(f"mul i32 {let(f'urem i32 {turn}, {turns}')}, {lines}")
                for one in own:
                    body(self._further(one, slab, line))

            writer.count(turns * tile.slabs, next_lines, unrolls=unrolls)
            return

        def turn(number: str) -> None:
            before = let(f"mul i32 {let(f'trunc i64 {number} to i32')}, {self.threads}")
            at = let(f"add i32 {before}, {self.thread}")

            def move() -> None:
                slab, rest = let(f"udiv i32 {at}, {per_slab}"), let(f"urem i32 {at}, {per_slab}")
                body(self._place(slab, rest, per_line, nbytes))

            if per_slab * tile.slabs % self.threads:
                writer.when(let(f"icmp ult i32 {at}, {per_slab * tile.slabs}"), move)
            else:
                move()

        writer.count(-(-per_slab * tile.slabs // self.threads), turn, unrolls=False)

    def _place(self, slab: str, number: str, per_line: int, nbytes: int) -> _Place:
        """Of a part, by its slab and its number there, each an i32."""
        tile, let = self.tile, self.writer.let
        line = let(f"udiv i32 {number}, {per_line}")
        within = let(f"mul i32 {let(f'urem i32 {number}, {per_line}')}, {nbytes}")
        in_slab = let(f"add i32 {let(f'mul i32 {line}, {tile.line_bytes}')}, {within}")
        plain = let(f"add i32 {let(f'mul i32 {slab}, {tile.slab_bytes}')}, {in_slab}")
        byte = let(f"add i32 {let(f'mul i32 {slab}, {tile.line_bytes}')}, {within}")
        wide_line, wide_byte = (let(f"zext i32 {one} to i64") for one in (line, byte))
        way = let(f"add i64 {let(f'mul i64 {wide_line}, {self.stride}')}, {wide_byte}")
        return _Place(wide_line, wide_byte, let(f"getelementptr i8, {_FROM} {self.start}, i64 {way}"),
                      let(f"getelementptr i8, {_TO} {self.target}, i32 {swizzled(self.writer, tile, plain)}"))

    def _further(self, own: _Place, slab: str, line: str) -> _Place:
        """The place so many slabs and lines behind another one, each an i32; lines of which wgmma reads eight."""
        tile, let = self.tile, self.writer.let
        wide_line, wide_slab = (let(f"zext i32 {one} to i64") for one in (line, slab))
        beside = let(f"mul i64 {wide_slab}, {tile.line_bytes}")
        on = let(f"add i32 {let(f'mul i32 {slab}, {tile.slab_bytes}')}, {let(f'mul i32 {line}, {tile.line_bytes}')}")
        way = let(f"add i64 {let(f'mul i64 {wide_line}, {self.stride}')}, {beside}")
        return _Place(let(f"add i64 {own.line}, {wide_line}"), let(f"add i64 {own.byte}, {beside}"),
                      let(f"getelementptr i8, {_FROM} {own.source}, i64 {way}"),
                      let(f"getelementptr i8, {_TO} {own.target}, i32 {on}"))
