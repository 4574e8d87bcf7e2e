"""Matrices in the two roles: what the computing threads do with tiles, and how the fetching ones bring them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from coopmat.formats import Rounding
from coopmat.spirv.analysis.types import MatrixType
from coopmat.spirv.grammar import CooperativeMatrixUse as Use
from coopmat.targets.cuda.lanes import CONVERGENT, SHARED
from coopmat.targets.cuda.matrix.form import FragmentMatrices
from coopmat.targets.cuda.matrix.multiply import Factor, FactorRegisters, instructions_for
from coopmat.targets.cuda.work_groups import wgmma
from coopmat.targets.cuda.work_groups.copies import TileCopy
from coopmat.targets.cuda.work_groups.lanes import EXISTS, ComputingLanes, FetchingLanes
from coopmat.targets.cuda.work_groups.pipeline import (
    CLUSTER,
    KINDS,
    ROWS_OF_D,
    WARP_GROUP,
    Schedule,
    StagedLoad,
    Tile,
    fetchers_of,
    unit_of,
)
from coopmat.targets.cuda.work_groups.rings import CLUSTER_POINTER, RingPosition
from coopmat.targets.cuda.work_groups.stores import ChunkedStore
from coopmat.targets.cuda.work_groups.tiles import TileFactor
from coopmat.targets.llvm.emitter import Emitter
from coopmat.targets.llvm.matrices import MatrixAccess
from coopmat.targets.llvm.threads.launch import LAUNCH, Slot
from coopmat.targets.llvm.values import Matrix, Number, literal

_SHARED = f"ptr addrspace({SHARED})"


def _is_zero(text: str) -> bool:
    """Whether an operand is a zero."""
    return text in ("0", "0.0", *(literal(llvm, 0.0) for llvm in ("half", "float", "double")))


def _staged(emitter: Emitter, schedule: Schedule) -> StagedLoad | None:
    """The load that is being written, if it is one of a pipeline."""
    row = emitter.row
    return None if row is None or row.result_id is None else schedule.loads.get(row.result_id)


class ComputingMatrices(FragmentMatrices):
    """The form of matrices of the threads that compute: tiles of A and B stay in shared memory."""

    def __init__(self, emitter: Emitter, lanes: ComputingLanes, schedule: Schedule) -> None:
        super().__init__(emitter, lanes)
        self.role, self.schedule = lanes, schedule
        self.has_wgmma = lanes.variant.chip.has_wgmma
        self.maps: Sequence[Slot] = ()  # where the tensor maps are, once that is known
        self._positions: dict[int, RingPosition] = {}
        self._tiles: dict[str, tuple[StagedLoad, str]] = {}  # by the operand that stands for one; where they begin
        self._sums = {("value", one) for one in schedule.sums}  # what their slots begin with
        self._zeros: dict[str, str] = {}  # whether a matrix is zero, whatever its registers hold; an i1

    def load(self, kind: MatrixType, access: MatrixAccess) -> Matrix:
        """A matrix in memory; a tile of a pipeline is waited for, and stays where it is."""
        staged = _staged(self.emitter, self.schedule)
        if staged is None:
            return super().load(kind, access)
        block = self.emitter.block
        if block not in self._positions:
            ring = self.schedule.rings[block]
            position = self._positions[block] = RingPosition(self.role, ring)
            position.read()
            position.wait_until_full()
            if staged.map is None and self.has_wgmma:  # which reads by another way than threads write
                self.writer.call("void", "llvm.nvvm.fence.proxy.async.shared_cta", [], CONVERGENT)
        start = self.role.shared(self._positions[block].tile(staged.offset))
        text = f"tile.{len(self._tiles)}"  # nothing but a multiplication takes it
        self._tiles[text] = staged, start
        return Matrix(kind, text)

    def store(self, matrix: Matrix, access: MatrixAccess) -> None:
        """Write a matrix; in chunks by a tensor map where there is one."""
        staged = self.schedule.store_of(self.emitter.row)
        if staged is None:
            self.writer.when(EXISTS, lambda: super(ComputingMatrices, self).store(matrix, access))
        else:
            store = ChunkedStore(self, self.role, self.schedule.staging, self.maps[staged.number], waits=staged.waits)
            store.write(matrix, access)

    def multiply(self, kind: MatrixType, operands: Sequence[Matrix], formats: tuple[str, str, str, str], *,
                 saturates: bool) -> Matrix:
        """``A*B + C``; of tiles by wgmma, or by mma.sync."""
        a, b, c = operands
        if b.text not in self._tiles:
            return super().multiply(kind, operands, formats, saturates=saturates)
        if not self.has_wgmma:
            return self._by_warps(kind, operands, formats)
        groups = self.lanes.total // WARP_GROUP
        right, at_b = self._tile(b)
        found = wgmma.multiply(
            self.writer, KINDS[formats[0], formats[1], formats[3]], super().registers(c), self._a_of_wgmma(a),
            (self._descriptor(at_b, right), right), (kind.columns, a.kind.columns),
            kind.rows // (ROWS_OF_D * groups), groups, self._zeros.get(c.text, "false"))
        self._after_use()
        return self.matrix(kind, found)

    def _by_warps(self, kind: MatrixType, operands: Sequence[Matrix], formats: tuple[str, str, str, str]) -> Matrix:
        a, b, _ = operands
        lane, top, beside = self.warp_of(kind)
        above: FactorRegisters = Factor(self, a, is_a=True) if a.text not in self._tiles else TileFactor(
            self, *self._tile(a), top, lane, is_a=True)
        across = TileFactor(self, *self._tile(b), beside, lane, is_a=False)
        instructions = instructions_for(formats, self.role.variant.chip)
        found = self.by_factors(kind, operands, formats, instructions, above, across, saturates=False)
        self._after_use()
        return found

    def _tile(self, matrix: Matrix) -> tuple[Tile, str]:
        staged, start = self._tiles[matrix.text]
        return staged.tile, start

    def _a_of_wgmma(self, a: Matrix) -> tuple[str, Tile] | list[str]:
        """A's descriptor, at the rows of the warp group, or its registers."""
        if a.text not in self._tiles:
            return super().registers(a)
        left, start = self._tile(a)
        group = self.writer.let(f"lshr i32 {self.role.warp()}, 2")
        down = self.writer.let(f"mul i32 {group}, {wgmma.rows_step(left, ROWS_OF_D)}")
        return self._descriptor(self.writer.let(f"getelementptr i8, {_SHARED} {start}, i32 {down}"), left), left

    def _descriptor(self, start: str, tile: Tile) -> str:
        """What wgmma takes for a tile that begins there."""
        return wgmma.descriptor(self.writer, self.writer.let(f"ptrtoint {_SHARED} {start} to i32"), tile)

    # --- accumulators that are zero: wgmma has a flag for it, and the registers need no zeros -------------------------

    def fill(self, kind: MatrixType, text: str) -> Matrix:
        """A matrix of equal elements; an accumulator of zeros is one by its flag."""
        if not kind.is_of_work_group or kind.use != Use.MatrixAccumulatorKHR or not _is_zero(text):
            return super().fill(kind, text)
        matrix = Matrix(kind, self.writer.let(f"freeze {self.type(kind)} poison"))
        self._zeros[matrix.text] = "true"
        return matrix

    def registers(self, matrix: Matrix) -> list[str]:
        """The registers of a matrix; of one that may be zero by its flag, with the zeros."""
        flag = self._zeros.get(matrix.text)
        if flag is None:
            return super().registers(matrix)
        if flag == "true":
            return super().registers(super().fill(matrix.kind, self.zero(matrix.kind).base))
        writer, llvm = self.writer, self.type(matrix.kind)
        before, zero, end = writer.fresh("as.it.is")[1:], writer.fresh("zero")[1:], writer.fresh("known")[1:]
        writer.do(f"br label %{before}")
        writer.label(before)
        writer.do(f"br i1 {flag}, label %{zero}, label %{end}")
        writer.label(zero)
        writer.do(f"br label %{end}")
        writer.label(end)
        text = writer.let(f"phi {llvm} [ {matrix.text}, %{before} ], [ zeroinitializer, %{zero} ]")
        return super().registers(Matrix(matrix.kind, text))

    def store_slot(self, key: Any, matrix: Matrix) -> None:
        """Keep a matrix, and whether it is zero."""
        if not self._has_flag(key):
            super().store_slot(key, self.matrix(matrix.kind, self.registers(matrix)))
        else:
            super().store_slot(key, matrix)
            flag = self._zeros.get(matrix.text, "false")
            self.lanes.store_slot((key, "is zero"), Number("i1", flag))

    def load_slot(self, key: Any, kind: MatrixType) -> Matrix:
        """What a slot holds."""
        matrix = super().load_slot(key, kind)
        if self._has_flag(key):
            self._zeros[matrix.text] = self.lanes.load_slot((key, "is zero"), "i1").base
        return matrix

    def _has_flag(self, key: Any) -> bool:
        """Whether a slot is one of a sum."""
        return key[0] in self._sums

    def store_element(self, key: Any, count: int, matrix: Matrix, index: Number) -> None:
        """Replace a matrix of an array in slots."""
        super().store_element(key, count, self.matrix(matrix.kind, self.registers(matrix)), index)

    def _after_use(self) -> None:
        """Give the stage back behind the last instruction that reads it."""
        block = self.emitter.block
        position = self._positions.get(block)
        if position is None or position.ring.is_held:
            return
        if self.emitter.row is self.emitter.flat.blocks[block].instructions[position.ring.last_use]:
            self._release(position)

    def finish(self) -> None:
        """Behind the code of a work-group: give the stages back that were held so long."""
        for position in self._positions.values():
            if position.ring.is_held:
                self._release(position)

    def _release(self, position: RingPosition) -> None:
        writer = self.writer
        thread = writer.let(f"and i32 {self.role.thread().base}, {unit_of(self.role.variant) - 1}")
        writer.when(writer.let(f"icmp ult i32 {thread}, {self.role.cluster}"), lambda: position.release(thread))
        position.advance()


class FetchingMatrices:
    """The form of matrices of the fetching threads, which have none: they start the copies of the loads."""

    def __init__(self, emitter: Emitter, lanes: FetchingLanes, schedule: Schedule, maps: Sequence[Slot]) -> None:
        self.emitter, self.writer, self.role = emitter, emitter.writer, lanes
        self.schedule, self.maps = schedule, maps
        self._positions: dict[int, RingPosition] = {}
        self._begun: dict[int, int] = {}  # loads of a block so far
        self._stored: dict[int, str] = {}  # whether threads have stored elements of a block's tiles, an i1

    def load(self, kind: MatrixType, access: MatrixAccess) -> Matrix:
        """Start the copy of a tile, once its stage is empty."""
        staged = _staged(self.emitter, self.schedule)
        if staged is None:
            return self._none(kind)
        block = self.emitter.block
        ring = self.schedule.rings[block]
        is_first = block not in self._positions
        if is_first:
            position = self._positions[block] = RingPosition(self.role, ring)
            position.read()
            position.wait_until_empty()
        position = self._positions[block]
        if staged.map is None:
            self._bring(staged, position, access)
        else:
            self._fetch(staged, position, access, is_first=is_first)
        self._begun[block] = self._begun.get(block, 0) + 1
        if self._begun[block] == len(ring.loads):
            if staged.map is None:
                position.brought(self._stored.pop(block))
            position.advance()
        return self._none(kind)

    def _bring(self, staged: StagedLoad, position: RingPosition, access: MatrixAccess) -> None:
        """Have all who fetch copy a tile."""
        writer, threads = self.writer, fetchers_of(self.role.variant)
        thread = writer.let(f"sub i32 {self.role.thread().base}, {self.role.total}")
        stores = TileCopy(writer, staged.tile, self.role.shared(position.tile(staged.offset)), access.address,
                          access.stride, access.window, thread, threads).write()
        block = self.emitter.block
        self._stored[block] = writer.let(f"or i1 {self._stored.get(block, 'false')}, {stores}")

    def _fetch(self, staged: StagedLoad, position: RingPosition, access: MatrixAccess, *, is_first: bool) -> None:
        """Have one thread start the copies of a tile by its map."""
        writer, ring = self.writer, position.ring
        one = writer.call("{ i32, i1 }", "llvm.nvvm.elect.sync", [("i32", "-1")], CONVERGENT)

        def copy() -> None:
            if is_first:
                position.expect(sum(load.tile.nbytes for load in ring.loads))
            self._copy(staged, position, access)

        writer.when(writer.let(f"extractvalue {{ i32, i1 }} {one}, 1"), copy)

    def _copy(self, staged: StagedLoad, position: RingPosition, access: MatrixAccess) -> None:
        """The copies of a tile's slabs."""
        let = self.writer.let
        line, first = (let(f"trunc i64 {one} to i32") for one in access.window[:2])
        assert staged.map is not None
        if staged.map.is_turned:
            line, first = first, line
        slot = self.maps[staged.number]
        described = let(f"getelementptr i8, {self.role.block.pointer} {LAUNCH}, i64 {slot.offset}")
        tile, rank = staged.tile, self.role.rank()
        part = tile.lines // CLUSTER
        if staged.is_shared:  # this work-group's part, for both
            line = let(f"add i32 {line}, {let(f'mul i32 {rank}, {part}')}")
        for slab in range(tile.slabs):
            place = position.tile(staged.offset + slab * tile.slab_bytes)
            if staged.is_shared:
                place = let(f"add i32 {place}, {let(f'mul i32 {rank}, {part * tile.line_bytes}')}")
            column = let(f"add i32 {first}, {slab * tile.line_bytes // tile.element}")
            self._start(self.role.shared(place), position.full(), described, column, line, shares=staged.is_shared)

    def _start(self, target: str, barrier: str, described: str, column: str, line: str, *, shares: bool) -> None:
        """One copy: to this work-group, or to all of the cluster."""
        if self.role.cluster == 1:
            self.writer.call("void", "llvm.nvvm.cp.async.bulk.tensor.g2s.cta.tile.2d", [
                (_SHARED, target), (_SHARED, barrier), ("ptr", described), ("i32", column), ("i32", line),
                ("i64", "0"), ("i1", "false")], CONVERGENT)
            return
        there = self.writer.let(f"addrspacecast {_SHARED} {target} to {CLUSTER_POINTER}")
        self.writer.call("void", "llvm.nvvm.cp.async.bulk.tensor.g2s.tile.2d", [
            (CLUSTER_POINTER, there), (_SHARED, barrier), ("ptr", described), ("i32", column), ("i32", line),
            ("i16", str((1 << CLUSTER) - 1 if shares else 0)), ("i64", "0"), ("i1", "true" if shares else "false"),
            ("i1", "false"), ("i32", "0")], CONVERGENT)

    # --- all the rest is nothing ------------------------------------------------------

    def type(self, kind: MatrixType) -> str:
        """LLVM's type of what stands for a matrix."""
        return "i8"

    def _none(self, kind: MatrixType) -> Matrix:
        return Matrix(kind, "0")

    def load_slot(self, key: Any, kind: MatrixType) -> Matrix:
        """Nothing."""
        return self._none(kind)

    def store_slot(self, key: Any, matrix: Matrix) -> None:
        """Nothing."""

    def load_element(self, key: Any, count: int, kind: MatrixType, index: Number) -> Matrix:
        """Nothing."""
        return self._none(kind)

    def store_element(self, key: Any, count: int, matrix: Matrix, index: Number) -> None:
        """Nothing."""

    def load_private(self, pointer: Number, kind: MatrixType, alignment: int) -> Matrix:
        """Nothing."""
        return self._none(kind)

    def store_private(self, pointer: Number, matrix: Matrix, alignment: int) -> None:
        """Nothing."""

    def store(self, matrix: Matrix, access: MatrixAccess) -> None:
        """Nothing."""

    def prefetch(self, address: str, rows: int, row_bytes: int, stride: str) -> None:
        """Nothing."""

    def fill(self, kind: MatrixType, text: str) -> Matrix:
        """Nothing."""
        return self._none(kind)

    def fill_window(self, kind: MatrixType, text: str, window: Sequence[str]) -> Matrix:
        """Nothing."""
        return self._none(kind)

    def elementwise(self, kind: MatrixType, name: str, operands: Sequence[Matrix]) -> Matrix:
        """Nothing."""
        return self._none(kind)

    def scale(self, matrix: Matrix, factor: str) -> Matrix:
        """Nothing."""
        return matrix

    def convert(self, kind: MatrixType, matrix: Matrix, opcode: int, rounding: Rounding, saturates: bool) -> Matrix:
        """Nothing."""
        return self._none(kind)

    def change_use(self, kind: MatrixType, matrix: Matrix, *, transposed: bool) -> Matrix:
        """Nothing."""
        return self._none(kind)

    def reduce(self, kind: MatrixType, matrix: Matrix, axes: int, name: str) -> Matrix:
        """Nothing."""
        return self._none(kind)

    def multiply(self, kind: MatrixType, operands: Sequence[Matrix], formats: tuple[str, str, str, str], *,
                 saturates: bool) -> Matrix:
        """Nothing."""
        return self._none(kind)

    def extract(self, matrix: Matrix, index: Number) -> Number:
        """Nothing that counts: no tile depends on it."""
        from coopmat.targets.cuda.matrix.fragments import fragment_of

        return Number(fragment_of(matrix.kind).element, "poison")

    def insert(self, matrix: Matrix, index: Number, number: Number) -> Matrix:
        """Nothing."""
        return matrix

    def coordinates(self, kind: MatrixType, index: Number) -> tuple[Number, Number]:
        """Nothing that counts."""
        zero = self.emitter.constant("i32", 0)
        return zero, zero


