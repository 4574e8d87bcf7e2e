"""What the next product of a loop takes: lines that are asked for while the blocks of this one are multiplied, a few in
each step. They come from the third-level cache or from memory into the second-level cache meanwhile."""

from __future__ import annotations

from dataclasses import dataclass

from coopmat.targets.cpu.matrix.body import Body
from coopmat.targets.cpu.matrix.product.unit import LINE
from coopmat.targets.cpu.prefetch import READ

_SECOND_LEVEL = 2  # the cache, as LLVM's prefetch counts
_MOST = 32  # lines of a step: more would keep products waiting


@dataclass(frozen=True)
class Ahead:
    """Rows of lines in memory. base: where the first one begins; pitch: the bytes from row to row, an i64; rows and
    lines of each: how many there are."""

    base: str
    pitch: str
    rows: int
    lines: int

    def ask(self, body: Body, step: str, steps: int) -> None:
        """Ask for a step's part of all lines; ``step``: the number of one of so many steps, an i64."""
        writer, each = body.writer, self._each(steps)
        writer.declarations["llvm.prefetch.p0"] = "declare void @llvm.prefetch.p0(ptr, i32, i32, i32)"
        first = writer.let(f"mul i64 {step}, {each}")
        row, line = (writer.let(f"{part} i64 {first}, {self.lines}") for part in ("udiv", "urem"))
        start = writer.line(writer.line(self.base, row, self.pitch), line, LINE)
        for number in range(each):
            place = body.address(start, "i8", number * LINE)
            writer.do(f"call void @llvm.prefetch.p0(ptr {place}, i32 {READ}, i32 {_SECOND_LEVEL}, i32 1)")

    def _each(self, steps: int) -> int:
        """Lines of a step, all of one row: enough for all of them, if there may be as many."""
        needed = min(_MOST, -(-self.rows * self.lines // steps))
        return next((count for count in range(needed, self.lines) if self.lines % count == 0), self.lines)
