"""Tiles in shared memory as factors of mma.sync, on chips without wgmma: ldmatrix from their swizzled lines.

PTX ISA: ldmatrix; mma.sync's fragments are two blocks of 16 bytes along K, of A also two of eight rows. A thread gives
the address of one line of one of the blocks that are loaded at once.
"""

from __future__ import annotations

from collections.abc import Sequence

from coopmat.targets.cuda.lanes import SHARED
from coopmat.targets.cuda.matrix.blocks import BlockMemory
from coopmat.targets.cuda.matrix.multiply import COLUMNS, EIGHT, FactorRegisters, Instruction
from coopmat.targets.cuda.work_groups.copies import CELL, swizzled
from coopmat.targets.cuda.work_groups.pipeline import Tile
from coopmat.targets.llvm.values import Number
from coopmat.targets.llvm.writer import Operand

SECOND, THIRD = 3, 4  # the bits of a thread's number that count blocks; those before count lines


class TileFactor(FactorRegisters):
    """A (``is_a``) or B. start: of the tile in shared memory, an i32. outer: the warp's first row of A or column of B.
    lane: a thread's number in its warp."""

    def __init__(self, form: BlockMemory, tile: Tile, start: str, outer: Number, lane: Number, *, is_a: bool) -> None:
        self.form, self.writer, self.tile, self.start, self.is_a = form, form.writer, tile, start, is_a
        let = self.writer.let
        self.outer = let(f"trunc i64 {outer.base} to i32")
        self.lane = let(f"trunc i64 {lane.base} to i32")
        self._ways: dict[int, str] = {}

    def registers(self, instruction: Instruction, outer: int, k: int, count: int) -> list[Operand]:
        blocks = 2 * count // EIGHT
        words = self.form.loaded_blocks(self._address(outer, k), blocks, is_turned=not self.tile.along_k)
        return [(instruction.operand, self.writer.of_word(instruction.operand, word)) for word in words]

    def pair(self, instruction: Instruction, outers: Sequence[int], k: int) -> list[list[Operand]]:
        if len(outers) < 2 or outers[1] != outers[0] + COLUMNS:
            return super().pair(instruction, outers, k)
        found = self.registers(instruction, outers[0], k, 2 * COLUMNS)
        return [found[:2], found[2:]]

    def _address(self, outer: int, k: int) -> str:
        """Of the line that a thread stands for, of the blocks from an outer place and one of K on."""
        tile = self.tile
        if tile.along_k:
            line, (slab, within) = outer, divmod(k * tile.element, tile.line_bytes)
        else:
            line, (slab, within) = k, divmod(outer * tile.element, tile.line_bytes)
        if within not in self._ways:
            self._ways[within] = self._way(within)
        let = self.writer.let
        place = let(f"getelementptr i8, ptr addrspace({SHARED}) {self.start}, i32 {self._ways[within]}")
        return let(f"getelementptr i8, ptr addrspace({SHARED}) {place}, i32 "
                   f"{line * tile.line_bytes + slab * tile.slab_bytes}")

    def _way(self, within: int) -> str:
        """A thread's way from the tile's start to its line, for blocks so many bytes into the lines; other lines and
        slabs are a constant further, as lines of blocks are multiples of eight."""
        tile, let = self.tile, self.writer.let
        row = let(f"and i32 {self.lane}, {EIGHT - 1}")
        along, across = (self._bit(SECOND), self._bit(THIRD))[::-1 if self.is_a else 1]  # K; the outer side
        if tile.along_k:
            down = let(f"add i32 {let(f'add i32 {self.outer}, {row}')}, {let(f'mul i32 {across}, {EIGHT}')}")
            byte = let(f"add i32 {let(f'mul i32 {along}, {CELL}')}, {within}")
        else:
            down = let(f"add i32 {row}, {let(f'mul i32 {along}, {EIGHT}')}")
            first = let(f"add i32 {let(f'mul i32 {self.outer}, {tile.element}')}, {within}")
            byte = let(f"add i32 {first}, {let(f'mul i32 {across}, {CELL}')}")
        slab, rest = (let(f"{operation} i32 {byte}, {tile.line_bytes}") for operation in ("udiv", "urem"))
        way = let(f"add i32 {let(f'mul i32 {down}, {tile.line_bytes}')}, {rest}")
        return swizzled(self.writer, tile, let(f"add i32 {way}, {let(f'mul i32 {slab}, {tile.slab_bytes}')}"))

    def _bit(self, bit: int) -> str:
        return self.writer.let(f"and i32 {self.writer.let(f'lshr i32 {self.lane}, {bit}')}, 1")
