"""Large matrices to and from memory: their rows as they are or turned, all of them or what lies in a window."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from coopmat.spirv.analysis.types import MatrixType
from coopmat.targets.cpu.matrix.body import Body
from coopmat.targets.cpu.matrix.packing import turned
from coopmat.targets.cpu.matrix.types import element_type
from coopmat.targets.cpu.prefetch import CACHE_LINE, WRITE, prefetch
from coopmat.targets.llvm.writer import Writer

AHEAD = 2048  # bytes: how far behind the line at hand the one lies that is asked for

Range = tuple[str, str]  # the first one, and the end, each an i64


def inside(writer: Writer, start: str, size: str, count: int) -> Range:
    """Of ``count`` lines, or elements of them, that begin at a place of a window, those that lie in it."""
    def limited(value: str) -> str:
        low = writer.call("i64", "llvm.smax.i64", [("i64", value), ("i64", "0")])
        return writer.call("i64", "llvm.smin.i64", [("i64", low), ("i64", str(count))])

    return limited(writer.let(f"sub i64 0, {start}")), limited(writer.let(f"sub i64 {size}, {start}"))


@dataclass(frozen=True)
class Copy:
    """A matrix in its buffer and in memory. here: the buffer; there, stride: the first line in memory, and the bytes to
    the next. is_turned: lines are columns. is_load: from memory to the buffer."""

    body: Body
    kind: MatrixType
    here: str
    there: str
    stride: str
    is_turned: bool
    is_load: bool

    @property
    def size(self) -> int:
        """The bytes of an element."""
        return self.kind.component.size

    @property
    def pitch(self) -> int:
        """The bytes from row to row in the buffer."""
        return self.kind.columns * self.size

    @property
    def shape(self) -> tuple[int, int]:
        """Lines, and elements of each."""
        rows, columns = self.kind.rows, self.kind.columns
        return (columns, rows) if self.is_turned else (rows, columns)

    def whole(self) -> None:
        """Copy all of it."""
        lines, elements = self.shape
        if self.is_turned:
            self._blocks(("0", str(lines)), ("0", str(elements)))
            return
        self.body.writer.count(lines, lambda line: self._line(line, "0", str(self.pitch)))

    def window(self, window: Sequence[str]) -> None:
        """Copy what lies in a window, which is where ``there`` points; a load gives zeros outside."""
        writer = self.body.writer
        x, y, height, width = window
        lines, elements = (inside(writer, start, size, count)
                           for start, size, count in zip((x, y), (height, width), self.shape, strict=True))
        if self.is_load:
            whole = [writer.let(f"icmp eq i64 {place}, {wanted}") for found, count in zip(
                (lines, elements), self.shape, strict=True) for place, wanted in zip(found, (0, count), strict=True)]
            part = writer.let(f"xor i1 {writer.all_of('true', *whole)}, true")
            writer.when(part, lambda: self.body.clear(self.here, self.kind.rows * self.pitch))
        if self.is_turned:
            self._blocks(lines, elements)
            return
        first = writer.let(f"mul i64 {elements[0]}, {self.size}")
        count = writer.let(f"sub i64 {elements[1]}, {elements[0]}")
        nbytes = writer.let(f"mul i64 {count}, {self.size}")
        is_some = writer.let(f"icmp sgt i64 {count}, 0")
        writer.when(is_some, lambda: self._each(
            lines, 1, lambda line, _: self._line(line, first, nbytes)))

    def _line(self, line: str, first: str, nbytes: str) -> None:
        """Copy a part of a line. Lines of memory that are written soon are asked for: they lie too far apart for the
        processor to foresee them."""
        writer, body = self.body.writer, self.body
        if not self.is_load and self.pitch >= CACHE_LINE:
            later = writer.let(f"add i64 {line}, {max(1, AHEAD // self.pitch)}")
            prefetch(writer, body.address(writer.line(self.there, later, self.stride), "i8", first), "1", nbytes, "0",
                     WRITE)
        places = (body.address(writer.line(self.here, line, self.pitch), "i8", first),
                  body.address(writer.line(self.there, line, self.stride), "i8", first))
        target, source = places if self.is_load else places[::-1]
        writer.call("void", "llvm.memcpy.p0.p0.i64", [
            ("ptr", f"align {self.size} {target}"), ("ptr", f"align {self.size} {source}"), ("i64", nbytes),
            ("i1", "false")])

    # --- turned -----------------------------------------------------------------------------

    def _blocks(self, lines: Range, elements: Range) -> None:
        """Copy lines that are columns, in squares."""
        side = 16 if self.size <= 4 else 8
        writer = self.body.writer

        def block(line: str, line_end: str, element: str, element_end: str) -> None:
            ends = [writer.let(f"icmp eq i64 {writer.let(f'add i64 {first}, {side}')}, {end}")
                    for first, end in ((line, line_end), (element, element_end))]
            whole = writer.all_of("true", *ends)
            writer.when(whole, lambda: self._square(line, element, side))
            part = writer.let(f"xor i1 {whole}, true")
            writer.when(part, lambda: self._each((line, line_end), 1, lambda i, _: self._each(
                (element, element_end), 1, lambda j, _: self._single(i, j))))

        self._each(lines, side, lambda line, line_end: self._each(
            elements, side, lambda element, element_end: block(line, line_end, element, element_end)))

    def _each(self, found: Range, step: int, part: Callable[[str, str], None]) -> None:
        """A loop over parts of a range: ``part`` gets where one begins and ends."""
        writer = self.body.writer
        count = writer.let(f"sub i64 {found[1]}, {found[0]}")
        up = writer.let(f"add i64 {count}, {step - 1}")
        turns = writer.let(f"sdiv i64 {up}, {step}")

        def turn(number: str) -> None:
            offset = writer.let(f"mul i64 {number}, {step}")
            first = writer.let(f"add i64 {found[0]}, {offset}")
            end = writer.let(f"add i64 {first}, {step}")
            part(first, writer.call("i64", "llvm.smin.i64", [("i64", end), ("i64", found[1])]))

        is_some = writer.let(f"icmp sgt i64 {count}, 0")
        writer.when(is_some, lambda: writer.turns(turns, turn))

    def _square(self, line: str, element: str, side: int) -> None:
        writer, name = self.body.writer, element_type(self.kind)
        vector = f"<{side} x {name}>"
        there = self._place(self.there, self.stride, line, element)
        here = self._place(self.here, str(self.pitch), element, line)
        (source, source_pitch), (target, target_pitch) = ((there, self.stride), (here, str(self.pitch)))[
            ::1 if self.is_load else -1]
        rows = [writer.let(f"load {vector}, ptr {writer.line(source, number, source_pitch)}, align {self.size}")
                for number in range(side)]
        for number, row in enumerate(turned(writer, rows, name)):
            writer.do(f"store {vector} {row}, ptr {writer.line(target, number, target_pitch)}, align {self.size}")

    def _single(self, line: str, element: str) -> None:
        writer, name = self.body.writer, element_type(self.kind)
        there = self._place(self.there, self.stride, line, element)
        here = self._place(self.here, str(self.pitch), element, line)
        source, target = (there, here) if self.is_load else (here, there)
        value = writer.let(f"load {name}, ptr {source}, align {self.size}")
        writer.do(f"store {name} {value}, ptr {target}, align {self.size}")

    def _place(self, base: str, pitch: str, line: str, element: str) -> str:
        return self.body.address(self.body.writer.line(base, line, pitch), element_type(self.kind), element)
