"""Tiles that were converted once, for all sub-groups that load them again.

A tile load takes a row-major B apart and puts it together again, each time. Where the kernel does not write to the
memory behind a parameter, what was made of it stays right as long as the launch: each thread keeps such tiles, by the
addresses that they came from. Work-groups that are neighbours load the same ones (fibers.BAND).
"""

from __future__ import annotations

from coopmat.spirv.analysis.types import MatrixType
from coopmat.spirv.grammar import CooperativeMatrixUse as Use
from coopmat.targets.cpu.frame import Frame
from coopmat.targets.cpu.host.frame import REUSE_BYTES, TAG_BYTES, TILE_BYTES, TILES, Field
from coopmat.targets.llvm.emitter import Emitter
from coopmat.targets.llvm.writer import Operand


class KeptTiles:
    """Which tiles of a kernel may be kept. parameters: those whose matrices are, by their ids."""

    def __init__(self, emitter: Emitter, frame: Frame) -> None:
        self._emitter = emitter
        self._frame = frame
        self.parameters: set[int] = set()
        self._operands: list[Operand] = []

    def operands(self, pointer: int) -> list[Operand]:
        """What a load of kept tiles takes besides: where they are (null: nowhere), and the number of the launch. Empty
        if the memory may be written."""
        origins = self._emitter.origins
        root = origins.of(pointer)
        if root is None or root not in origins.constant_parameters:
            return []
        self.parameters.add(root)
        if not self._operands:
            number = self._frame.field(Field.REUSE)
            writer = self._emitter.writer
            names = [writer.fresh("reuse") for _ in range(3)]
            writer.entry += [f"  {names[0]} = getelementptr i8, ptr %local, i64 -{REUSE_BYTES}",
                             f"  {names[1]} = icmp eq i64 {number}, 0",
                             f"  {names[2]} = select i1 {names[1]}, ptr null, ptr {names[0]}"]
            self._operands = [("ptr", names[2]), ("i64", number)]
        return self._operands


def function(name: str, load: str, plain_type: str, converter: str, number: int) -> str:
    """The function that gives the address of a tile: a kept one, or one that it makes where it belongs.

    It must be inlined: around a call, all tiles would be moved to memory and back.
    """
    return f"""
define internal ptr @{name}(ptr %slot, ptr %from, i64 %stride, ptr %reuse, i64 %launch) alwaysinline nounwind {{
entry:
  %none = icmp eq ptr %reuse, null
  br i1 %none, label %make, label %look
look:
  %address = ptrtoint ptr %from to i64
  %unit = lshr i64 %address, 4
  %mixed = mul i64 %unit, -7046029254386353131
  %index = lshr i64 %mixed, {64 - (TILES - 1).bit_length()}
  %tag.offset = mul i64 %index, {TAG_BYTES}
  %tag = getelementptr i8, ptr %reuse, i64 %tag.offset
  %stride.at = getelementptr i64, ptr %tag, i64 1
  %launch.at = getelementptr i64, ptr %tag, i64 2
  %kind.at = getelementptr i64, ptr %tag, i64 3
  %tile.offset = mul i64 %index, {TILE_BYTES}
  %tiles = getelementptr i8, ptr %reuse, i64 {TILES * TAG_BYTES}
  %tile = getelementptr i8, ptr %tiles, i64 %tile.offset
  %old.address = load i64, ptr %tag
  %old.stride = load i64, ptr %stride.at
  %old.launch = load i64, ptr %launch.at
  %old.kind = load i64, ptr %kind.at
  %same.address = icmp eq i64 %old.address, %address
  %same.stride = icmp eq i64 %old.stride, %stride
  %same.launch = icmp eq i64 %old.launch, %launch
  %same.kind = icmp eq i64 %old.kind, {number}
  %same.place = and i1 %same.address, %same.stride
  %same.time = and i1 %same.launch, %same.kind
  %same = and i1 %same.place, %same.time
  br i1 %same, label %done, label %miss
miss:
  store i64 %address, ptr %tag
  store i64 %stride, ptr %stride.at
  store i64 %launch, ptr %launch.at
  store i64 {number}, ptr %kind.at
  br label %make
make:
  %to = phi ptr [ %slot, %entry ], [ %tile, %miss ]
  %matrix = call {plain_type} @{load}(ptr %from, i64 %stride, ptr %reuse, i64 %launch)
  call void @{converter}.put(ptr %to, {plain_type} %matrix)
  br label %done
done:
  %found = phi ptr [ %tile, %look ], [ %to, %make ]
  ret ptr %found
}}
"""


def is_kept(kind: MatrixType, is_direct: bool) -> bool:
    """Whether tiles of a matrix type are worth keeping: those of A and B, which are loaded to be multiplied. Of those
    that a tile load takes as they are (``is_direct``) B's, whose rows lie far apart: kept ones are in one piece."""
    return kind.use == Use.MatrixBKHR or (kind.use == Use.MatrixAKHR and not is_direct)
