"""Blocks of AMX's tiles: four of sums, over all of K."""

from __future__ import annotations

from dataclasses import dataclass, replace
from hashlib import sha256

from coopmat.targets.cpu.matrix.amx import TILE
from coopmat.targets.cpu.matrix.body import Body
from coopmat.targets.cpu.matrix.product.blocks import Blocks, Panel, Region, Sums

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
