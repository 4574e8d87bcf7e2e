"""Accumulators that leave by a tensor map: chunk by chunk through shared memory, while the next tiles are on their way.

A chunk has the 64 rows of a warp group and 128 bytes of each. It lies swizzled as the tensor map has it, so that the
threads of a warp write to different banks.
"""

from __future__ import annotations

from coopmat.targets.cuda.lanes import CONVERGENT, SHARED
from coopmat.targets.cuda.matrix.registers import Registers
from coopmat.targets.cuda.work_groups.lanes import COMPUTING_BARRIER, EXISTS, RoleLanes
from coopmat.targets.cuda.work_groups.pipeline import CHUNK_BUFFERS, CHUNK_BYTES, ROWS_OF_D, SWIZZLES, WARP_GROUP
from coopmat.targets.llvm.matrices import MatrixAccess
from coopmat.targets.llvm.threads.launch import LAUNCH, Slot
from coopmat.targets.llvm.values import Matrix, Number

_SHARED = f"ptr addrspace({SHARED})"
LINE = SWIZZLES[0]  # bytes of a row of a chunk
CELL = 16  # bytes that stay together when a row is swizzled
EIGHT = 8  # columns of a block of the accumulator, in which a thread has two neighbours in each of two rows


class ChunkedStore:
    """Writes the code of a store. form: takes matrices apart. staging: the offset of the chunks in shared memory."""

    def __init__(self, form: Registers, lanes: RoleLanes, staging: int, described: Slot, *, waits: bool) -> None:
        """``waits``: for all that has left before."""
        self.form, self.writer, self.lanes = form, form.writer, lanes
        self.staging, self.described, self.waits = staging, described, waits

    def write(self, matrix: Matrix, access: MatrixAccess) -> None:
        """Store a matrix."""
        let, kind = self.writer.let, matrix.kind
        size = kind.component.size
        warp = self.lanes.warp()
        group = let(f"lshr i32 {warp}, 2")
        lane = let(f"and i32 {self.lanes.thread().base}, 31")
        row, within = let(f"lshr i32 {lane}, 2"), let(f"and i32 {lane}, 3")
        line = self._line(warp, row)
        start = let(f"add i32 {let(f'mul i32 {group}, {CHUNK_BUFFERS * CHUNK_BYTES}')}, {self.staging}")
        first_row, first_column = (let(f"trunc i64 {one} to i32") for one in access.window[:2])
        down = let(f"add i32 {first_row}, {let(f'mul i32 {group}, {ROWS_OF_D}')}")
        leads = let(f"icmp eq i32 {let(f'and i32 {self.lanes.thread().base}, {WARP_GROUP - 1}')}, 0")
        sends = let(f"and i1 {leads}, {EXISTS}")
        if self.waits:
            self.writer.when(leads, self._arrive)
            self.writer.call("void", "llvm.nvvm.barrier.cta.sync.aligned.count", [
                ("i32", str(COMPUTING_BARRIER)), ("i32", str(self.lanes.total))], CONVERGENT)
        numbers = self.form.components(matrix)
        blocks_per_chunk = LINE // size // EIGHT
        groups = self.lanes.total // WARP_GROUP
        per_block = 4 * kind.columns // EIGHT  # components of 64 rows
        for number in range(len(numbers) // (4 * blocks_per_chunk)):
            first = number * 4 * blocks_per_chunk
            above, beside = first // per_block, first % per_block // 4 * EIGHT
            buffer = let(f"add i32 {start}, {number % CHUNK_BUFFERS * CHUNK_BYTES}")
            self._fill(buffer, line, row, within, numbers[first:first + 4 * blocks_per_chunk], size)
            self.writer.call("void", "llvm.nvvm.fence.proxy.async.shared_cta", [], CONVERGENT)
            self.writer.when(leads, self._drain)
            self.writer.call("void", "llvm.nvvm.barrier.cta.sync.aligned.count", [
                ("i32", let(f"add i32 {group}, {COMPUTING_BARRIER + 1}")), ("i32", str(WARP_GROUP))], CONVERGENT)
            self.writer.when(sends, lambda buffer=buffer, above=above, beside=beside: self._send(  # type: ignore[misc]
                buffer, let(f"add i32 {first_column}, {beside}"),
                let(f"add i32 {down}, {above * ROWS_OF_D * groups}")))

    def _line(self, warp: str, row: str) -> str:
        """The byte of a chunk at which a thread's first row begins."""
        let = self.writer.let
        sixteens = let(f"shl i32 {let(f'and i32 {warp}, 3')}, 4")
        return let(f"mul i32 {let(f'add i32 {sixteens}, {row}')}, {LINE}")

    def _fill(self, buffer: str, line: str, row: str, within: str, numbers: list[Number], size: int) -> None:
        """Put a thread's part of a chunk into its buffer: pairs of neighbours, eight rows apart."""
        let, pair = self.writer.let, 2 * size
        own = let(f"mul i32 {within}, {pair}")
        cell, rest = let(f"udiv i32 {own}, {CELL}"), let(f"and i32 {own}, {CELL - 1}")
        base = let(f"add i32 {let(f'add i32 {buffer}, {line}')}, {rest}")
        for block in range(len(numbers) // 4):
            place = let(f"add i32 {cell}, {block * EIGHT * size // CELL}")
            swizzled = let(f"shl i32 {let(f'xor i32 {place}, {row}')}, {CELL.bit_length() - 1}")
            address = self.lanes.shared(let(f"add i32 {base}, {swizzled}"))
            for half in range(2):
                one, other = numbers[4 * block + 2 * half:4 * block + 2 * half + 2]
                kind = f"<2 x {one.type}>"
                both = let(f"insertelement {kind} poison, {one.type} {one.base}, i32 0")
                both = let(f"insertelement {kind} {both}, {other.type} {other.base}, i32 1")
                there = let(f"getelementptr i8, {_SHARED} {address}, i32 {half * EIGHT * LINE}")
                self.writer.do(f"store {kind} {both}, {_SHARED} {there}, align {pair}")

    def _drain(self) -> None:
        """Wait until the other buffer has been read."""
        self.writer.call("void", "llvm.nvvm.cp.async.bulk.wait.group.read", [
            ("i32", str(CHUNK_BUFFERS - 2))], CONVERGENT)

    def _arrive(self) -> None:
        """Wait until what has left is in memory."""
        self.writer.call("void", "llvm.nvvm.cp.async.bulk.wait.group", [("i32", "0")], CONVERGENT)

    def _send(self, buffer: str, column: str, row: str) -> None:
        let = self.writer.let
        described = let(f"getelementptr i8, {self.lanes.block.pointer} {LAUNCH}, i64 {self.described.offset}")
        self.writer.call("void", "llvm.nvvm.cp.async.bulk.tensor.s2g.tile.2d", [
            (_SHARED, self.lanes.shared(buffer)), ("ptr", described), ("i32", column), ("i32", row), ("i64", "0"),
            ("i1", "false")], CONVERGENT)
        self.writer.call("void", "llvm.nvvm.cp.async.bulk.commit.group", [], CONVERGENT)
