"""What a pipeline of tiles consists of: products, tiles in shared memory, loads and stores, the stages that they go
through, and who takes part."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Literal

from coopmat.spirv.analysis.types import MatrixType
from coopmat.spirv.module.instruction import Instruction
from coopmat.targets.cuda.lanes import WARP, Variant
from coopmat.targets.cuda.work_groups.launch_values import LaunchValue

WARP_GROUP = 128  # threads that carry out a wgmma together
SWIZZLES = (128, 64, 32)  # bytes of a line of a tile
MAP_ALIGNMENT = 16  # bytes: of the address, the stride and the first column that a tensor map takes
MOST_COLUMNS, ROWS_OF_D = 256, 64  # of a wgmma's D
MOST_BOX_ROWS = 256
BARRIER_BYTES = 8
CLUSTER = 2  # work-groups that share tiles
LINES_OF_CORE = 8  # of a tile, which wgmma reads together
CHUNK_BUFFERS = 2  # of a warp group, for chunks of results
CHUNK_BYTES = ROWS_OF_D * SWIZZLES[0]
STORED = {"float32": "FLOAT32", "int32": "INT32", "float16": "FLOAT16", "bf16": "BFLOAT16"}
"""The types of accumulators that leave by tensor maps, and what these call them."""
FEWEST_STAGES, MOST_STAGES = 2, 8
MOST_THREADS = 1024  # of a work-group
TILE_ALIGNMENT = 1024
REGISTERS, REGISTER_UNIT = 1 << 16, 8  # of a multiprocessor, and in which threads get them
FETCHING_REGISTERS, COPYING_REGISTERS, MOST_REGISTERS = 24, 104, 240  # of a thread
OWN_REGISTERS = 28  # of a thread, beside those of a product


class NoSchedule(Exception):
    """Why a kernel has none."""


@dataclass(frozen=True)
class Kind:
    """Products of wgmma. k: of an instruction. letters: PTX's types. mixes: its operands may lie along M or N, too;
    others are transposed first, where they do. tensor: the type of a tensor map's elements."""

    k: int
    letters: str
    accumulator: str
    mixes: bool
    tensor: str


KINDS: dict[tuple[str, str, str], Kind] = {
    ("bf16", "bf16", "fp32"): Kind(16, "bf16.bf16", "f32", True, "BFLOAT16"),
    ("fp16", "fp16", "fp32"): Kind(16, "f16.f16", "f32", True, "FLOAT16"),
    ("fp16", "fp16", "fp16"): Kind(16, "f16.f16", "f16", True, "FLOAT16"),
    ("tf32", "tf32", "fp32"): Kind(8, "tf32.tf32", "f32", False, "FLOAT32"),
    **{(a, b, "sint32"): Kind(32, f"{a[0]}8.{b[0]}8", "s32", False, "UINT8")
       for a in ("sint8", "uint8") for b in ("sint8", "uint8")},
}
"""By the types of A, B and the accumulator: PTX ISA, wgmma.mma_async."""


@dataclass(frozen=True)
class Tile:
    """A matrix in shared memory, as a tensor map's boxes bring it: lines of at most 128 bytes, swizzled.

    lines: in memory, and along: elements of each. along_k: whether these follow K. line_bytes: of a line in shared
    memory; longer lines are cut into slabs that follow each other.
    """

    lines: int
    along: int
    element: int
    along_k: bool
    line_bytes: int

    @property
    def slabs(self) -> int:
        """Parts of the lines; the last one may hold more than the tile."""
        return -(-self.along * self.element // self.line_bytes)

    @property
    def stored(self) -> int:
        """Elements of a line in shared memory."""
        return self.slabs * self.line_bytes // self.element

    @property
    def slab_bytes(self) -> int:
        return self.lines * self.line_bytes

    @property
    def nbytes(self) -> int:
        return self.slabs * self.slab_bytes


@dataclass(frozen=True)
class TensorMap:
    """What the host makes a tensor map of: a matrix in memory, and the boxes that are copied.

    parameter: of the pointer. element: the type of an element. width, height: elements of a line, and lines. stride:
    elements from line to line. way: what it is for. is_turned: whether it is of the transposed matrix, which the host
    makes first: lines become what was along them.
    """

    parameter: int
    element: str
    element_bytes: int
    width: LaunchValue
    height: LaunchValue
    stride: LaunchValue
    box: tuple[int, int]
    line_bytes: int
    way: Literal["loads", "stores"] = "loads"
    is_turned: bool = False


@dataclass
class StagedLoad:
    """A load that is a part of the pipeline. map: None where threads bring the tile. number: of the map. offset: of the
    tile in a stage. is_shared: the work-groups of a cluster have it in common."""

    row: Instruction
    kind: MatrixType
    tile: Tile
    map: TensorMap | None
    number: int = 0
    offset: int = 0
    is_shared: bool = False

    def share(self) -> None:
        """Have each work-group of a cluster bring its part of every slab, for all."""
        assert self.map is not None
        self.is_shared = True
        columns, lines = self.map.box
        self.map = replace(self.map, box=(columns, lines // CLUSTER))


@dataclass
class Ring:
    """The stages of the loads of one block. number: of the ring; blocks whose tiles are alike share one. offset: of the
    first stage in local memory; barriers: of the first full barrier, which the empty ones follow. is_held: whether
    other blocks read the tiles, too, which stay until the work-group ends."""

    block: int
    loads: list[StagedLoad] = field(default_factory=list)
    is_held: bool = False
    last_use: int = 0  # the position in the block of the last instruction that reads a tile
    number: int = 0
    stages: int = 0
    offset: int = 0
    barriers: int = 0

    @property
    def stage_bytes(self) -> int:
        return sum(-(-load.tile.nbytes // TILE_ALIGNMENT) * TILE_ALIGNMENT for load in self.loads)


@dataclass
class StagedStore:
    """A store of an accumulator by way of shared memory. number: of its tensor map. waits: for those before it."""

    row: Instruction
    map: TensorMap
    number: int
    waits: bool = False


@dataclass
class Schedule:
    """The pipelines of a kernel, by their blocks; the loads by the ids of what they load. stores: those that leave by
    tensor maps; staging: the offset of their chunks in shared memory. nbytes: of shared memory. sums: the phis that
    products are added to, and nothing else is done with. apart: pairs of parameters whose memory must not overlap."""

    rings: dict[int, Ring]
    loads: dict[int, StagedLoad]
    stores: list[StagedStore]
    sums: frozenset[int] = frozenset()
    staging: int = 0
    nbytes: int = 0
    apart: tuple[tuple[int, int], ...] = ()

    @property
    def maps(self) -> list[TensorMap]:
        """Those that the host makes."""
        return [*(load.map for load in self.loads.values() if load.map is not None),
                *(store.map for store in self.stores)]

    def store_of(self, row: Instruction | None) -> StagedStore | None:
        """The store by a tensor map that an instruction is."""
        return next((one for one in self.stores if one.row is row), None)


def unit_of(variant: Variant) -> int:
    """The threads that multiply together, and give stages back together: a warp group, or a warp."""
    return WARP_GROUP if variant.chip.has_wgmma else WARP


def fetchers_of(variant: Variant) -> int:
    """The threads that fetch: a warp group that copies beside others, else a warp."""
    return WARP_GROUP if variant.pipeline == "copies" and variant.chip.has_wgmma else WARP


def threads_of(variant: Variant) -> int:
    """The threads of a work-group, with those that fetch. Beside warp groups that is one, too, of which only a warp
    fetches where tensor maps do the work: registers are given away by whole warp groups."""
    return math.prod(variant.local_size) + unit_of(variant)


def launched_registers(variant: Variant) -> int:
    """The registers of each thread, before some give theirs away."""
    return REGISTERS // threads_of(variant) // REGISTER_UNIT * REGISTER_UNIT


def registers_of(variant: Variant) -> int | None:
    """The registers of a computing thread, once those that fetch have given some away; None if none are given away."""
    launched, fetching = launched_registers(variant), fetching_registers(variant)
    if not variant.chip.has_wgmma or not fetching <= launched < MOST_REGISTERS:
        return None
    left = launched * threads_of(variant) - fetching * WARP_GROUP
    return min(MOST_REGISTERS, left // math.prod(variant.local_size) // REGISTER_UNIT * REGISTER_UNIT)


def fetching_registers(variant: Variant) -> int:
    """Those that a thread needs which fetches."""
    return COPYING_REGISTERS if variant.pipeline == "copies" else FETCHING_REGISTERS
