"""The schedule of a kernel with matrices of work-groups: which loads are a pipeline, and what speaks against one.

What is wanted: every multiplication is one of the instructions', of a B and mostly an A that were loaded in the same
block or at the kernel's start, by checked loads, of memory that a tensor map can describe, or else by copies of
threads; and what leads to the loads (addresses, branches) is made of arguments, constants and the work-group's
position, so that those who fetch can run ahead of the others.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, Literal

from coopmat.spirv.analysis.matrix_uses import multiply_accumulate_of
from coopmat.spirv.analysis.types import MatrixType, PointerType, Type
from coopmat.spirv.grammar import OPENCL_STD, BuiltIn, CooperativeMatrixOperands, Decoration, Op, StorageClass
from coopmat.spirv.grammar import CooperativeMatrixLayout as Layout
from coopmat.spirv.grammar import CooperativeMatrixUse as Use
from coopmat.spirv.module.instruction import Instruction
from coopmat.targets.analysis.flatten import Flat
from coopmat.targets.analysis.origins import Origins
from coopmat.targets.cuda.chips import Chip
from coopmat.targets.cuda.lanes import WARP, Variant
from coopmat.targets.cuda.matrix.fragments import fragment_of
from coopmat.targets.cuda.work_groups.launch_values import group_axes, launch_value, zeros_of
from coopmat.targets.cuda.work_groups.memory_order import MemoryOrder
from coopmat.targets.cuda.work_groups.pipeline import (
    BARRIER_BYTES,
    CHUNK_BUFFERS,
    CHUNK_BYTES,
    CLUSTER,
    FEWEST_STAGES,
    KINDS,
    LINES_OF_CORE,
    MAP_ALIGNMENT,
    MOST_BOX_ROWS,
    MOST_COLUMNS,
    MOST_STAGES,
    MOST_THREADS,
    OWN_REGISTERS,
    ROWS_OF_D,
    STORED,
    SWIZZLES,
    TILE_ALIGNMENT,
    WARP_GROUP,
    Kind,
    NoSchedule,
    Ring,
    Schedule,
    StagedLoad,
    StagedStore,
    TensorMap,
    Tile,
    launched_registers,
    unit_of,
)
from coopmat.targets.llvm.threads.spread import LaneBits


def schedule_of(origins: Origins, variant: Variant, shared_memory: int) -> Schedule:
    """The schedule of a kernel. NoSchedule, with the reason, if it has none."""
    flat = origins.uses.flat
    total = math.prod(variant.local_size)
    _check_chip(variant.chip, variant.pipeline)
    if total % unit_of(variant) or total > MOST_THREADS - WARP_GROUP:
        unit = f"warp groups of {WARP_GROUP}" if variant.chip.has_wgmma else f"warps of {WARP}"
        raise NoSchedule(f"work-groups of {total} work-items are no whole {unit}, at most {MOST_THREADS - WARP_GROUP}")
    rings: dict[int, Ring] = {}
    for block in flat.blocks:
        for place, row in enumerate(block.instructions):
            _check(flat, row)
            if row.opcode == Op.CooperativeMatrixMulAddKHR and _is_shared(flat.type_of(row.result_id or 0)):
                _add(flat, variant, rings, place, row)
    if not rings:
        raise NoSchedule("there is no multiplication of matrices of a work-group")
    order = MemoryOrder(origins)
    loads = {load.row.result_id or 0: load for ring in rings.values() for load in ring.loads}
    for number, load in enumerate(loads.values()):
        load.number = number
        order.check_load(load.row)
    _check_slice(flat, rings)
    if variant.cluster is not None:
        _share(flat, loads.values(), variant.cluster)
    stores = _stores(flat, order, len(loads)) if variant.pipeline == "loads and stores" else []
    warp_groups = total // WARP_GROUP if variant.chip.has_wgmma else 1
    staging = CHUNK_BUFFERS * CHUNK_BYTES * warp_groups if stores else 0
    schedule = Schedule(rings, loads, stores, _sums(flat), apart=tuple(sorted(order.apart)))
    end = _place(rings, shared_memory - staging)
    schedule.staging = -(-end // TILE_ALIGNMENT) * TILE_ALIGNMENT if stores else end
    schedule.nbytes = schedule.staging + staging
    return schedule


def _check_chip(chip: Chip, pipeline: str) -> None:
    """Refuse what a chip cannot do."""
    if not chip.has(80):
        raise NoSchedule(f"{chip.name} has no asynchronous copies")
    if pipeline != "copies" and not chip.has_wgmma:
        raise NoSchedule(f"{chip.name} has no wgmma")


def _share(flat: Flat, loads: Iterable[StagedLoad], axis: int) -> None:
    """Let two work-groups that are neighbours along an axis have tiles in common. NoSchedule if there are none."""
    if any(axis in group_axes(flat, row.words[0]) for row in _branches(flat)):
        raise NoSchedule(f"which way a work-group takes depends on its position along axis {axis}")
    alike = [load for load in loads if load.tile.lines % (CLUSTER * LINES_OF_CORE) == 0
             and not any(axis in group_axes(flat, word) for word in load.row.words)]
    if not alike:
        raise NoSchedule(f"work-groups that are neighbours along axis {axis} have no tiles in common")
    for load in alike:
        load.share()


def _stores(flat: Flat, order: MemoryOrder, number: int) -> list[StagedStore]:
    """The stores of accumulators that tensor maps can do; their numbers begin with ``number``."""
    rows = [row for block in flat.blocks for row in block.instructions
            if row.opcode == Op.CooperativeMatrixStoreCheckedINTEL]
    described = [(row, one) for row in rows if (one := _stored(flat, row)) is not None]
    late = [row for row, _ in described]
    while not all(order.may_be_late(row, late) for row in late):
        late = [row for row in late if order.may_be_late(row, late)]
    return [StagedStore(row, one, number + place, order.is_overtaken(row, late))
            for place, (row, one) in enumerate(pair for pair in described if pair[0] in late)]


def _stored(flat: Flat, row: Instruction) -> TensorMap | None:
    """The tensor map of a store, by chunks of 64 rows and 128 bytes; None if there is none."""
    pointer, _, column, matrix, layout, height, width, *rest = row.words
    kind = flat.type_of(matrix)
    if not isinstance(kind, MatrixType) or not kind.is_of_work_group or kind.use != Use.MatrixAccumulatorKHR:
        return None
    element = STORED.get(str(kind.component))
    size = kind.component.size
    if element is None or flat.constant_of(layout) != Layout.RowMajorKHR or kind.columns * size % SWIZZLES[0] or (
            size << zeros_of(flat, column)) % MAP_ALIGNMENT:
        return None
    return _map(flat, pointer, (width, height, *rest[:1]), element, size, (SWIZZLES[0] // size, ROWS_OF_D),
                SWIZZLES[0], "stores")


def _is_shared(kind: Type) -> bool:
    return isinstance(kind, MatrixType) and kind.is_of_work_group


_FORBIDDEN = {
    **{op: "atomic instructions" for op in Op if op.name.startswith("Atomic")},
    **{op: "operations of groups" for op in Op if op.name.startswith(("Group", "Subgroup"))},
    Op.FunctionCall: "assertions",
}


def _check(flat: Flat, row: Instruction) -> None:
    """Refuse what only all threads can do."""
    if row.opcode in _FORBIDDEN:
        raise NoSchedule(f"it has {_FORBIDDEN[Op(row.opcode)]} ({row.name})")
    if row.opcode == Op.ExtInst and row.words[1] == OPENCL_STD["printf"]:
        raise NoSchedule("it prints")
    if row.opcode == Op.Select and _is_shared(flat.type_of(row.result_id or 0)):
        raise NoSchedule("it selects one of two matrices")


def _add(flat: Flat, variant: Variant, rings: dict[int, Ring], place: int, row: Instruction) -> None:
    """Note a multiplication."""
    kinds = [flat.type_of(word) for word in (*row.words[:3], row.result_id or 0)]
    a, b, c, d = (kind for kind in kinds if isinstance(kind, MatrixType))
    use = multiply_accumulate_of(a, b, c, d, CooperativeMatrixOperands(row.words[3] if len(row.words) > 3 else 0), row)
    product = KINDS.get((use.formats[0], use.formats[1], use.formats[3]))
    if product is None or use.formats[2] != use.formats[3] or use.saturating:
        raise NoSchedule(f"no pipeline multiplies {' '.join(use.formats)}")
    _check_shape(variant, a, d, product)
    operands = [(row.words[0], a), (row.words[1], b)]
    if flat.definition(row.words[0]).opcode != Op.CooperativeMatrixLoadCheckedINTEL:
        if not fragment_of(a).lies_like(fragment_of(d)):
            raise NoSchedule(f"A is neither loaded nor one that wgmma takes from registers ({a})")
        del operands[0]
    for word, kind in operands:
        loaded = flat.definition(word)
        block = next((number for number, one in enumerate(flat.blocks) if loaded in one.instructions), -1)
        ring = rings.setdefault(block, Ring(block))
        if word not in {load.row.result_id for load in ring.loads}:
            ring.loads.append(_staged(flat, word, kind, product, variant))
        if row in flat.blocks[block].instructions:
            ring.last_use = max(ring.last_use, place)
        elif block != 0:
            raise NoSchedule("a tile that is not loaded in the kernel's first block is used in another block")
        else:
            ring.is_held = True


def _sums(flat: Flat) -> frozenset[int]:
    """The phis that are C of a product."""
    factors = {row.words[2] for block in flat.blocks for row in block.instructions
               if row.opcode == Op.CooperativeMatrixMulAddKHR}
    return frozenset(one for one in factors if one in flat.definitions and flat.definitions[one].opcode == Op.Phi)


def _check_shape(variant: Variant, a: MatrixType, d: MatrixType, product: Kind) -> None:
    spread = fragment_of(d).spread
    if a.columns % product.k:
        raise NoSchedule(f"K = {a.columns} is no multiple of an instruction's {product.k}")
    if not variant.chip.has_wgmma:
        if not spread.is_regular or spread.lanes % WARP or d.rows % (2 * LINES_OF_CORE) or not all(spread.everywhere):
            raise NoSchedule(f"a work-group of {d.work_items} does not share a {d} as warps multiply")
        return
    warps = d.work_items // 32
    expected = (LaneBits(0, 2, 0, 2), LaneBits(2, 3, 1, 0), LaneBits(5, (warps - 1).bit_length(), 16, 0))
    if not spread.is_regular or spread.lane_bits != expected or d.columns > MOST_COLUMNS:
        raise NoSchedule(f"a work-group of {d.work_items} does not share a {d} as wgmma has it: {16 * warps} rows, or "
                         f"a multiple, and at most {MOST_COLUMNS} columns")
    needed, most = fragment_of(d).registers + OWN_REGISTERS, launched_registers(variant)
    if needed > most:  # ptxas takes no instruction with more, whatever threads have later
        raise NoSchedule(f"a product of {d} takes {needed} registers of each of {d.work_items} work-items, which begin "
                         f"with {most} beside those that fetch")


_OTHER = {Layout.RowMajorKHR: Layout.ColumnMajorKHR, Layout.ColumnMajorKHR: Layout.RowMajorKHR}


def _staged(flat: Flat, identifier: int, kind: MatrixType, product: Kind, variant: Variant) -> StagedLoad:
    """The load of an operand. NoSchedule if it is none that the variant's pipeline can do."""
    row = flat.definition(identifier)
    if row.opcode != Op.CooperativeMatrixLoadCheckedINTEL:
        raise NoSchedule("an operand is not what a checked load gives")
    for user in (user for block in flat.blocks for user in block.instructions):
        if identifier in user.ids() and user.opcode != Op.CooperativeMatrixMulAddKHR:
            raise NoSchedule(f"a loaded tile is used by {user.name}, not only multiplied")
    pointer, line, along, layout, height, width, *rest = row.words
    order = flat.constant_of(layout)
    if order not in _OTHER:
        raise NoSchedule("the layout of a load is neither row-major nor column-major")
    size = kind.component.size
    is_turned = not product.mixes and (kind.use == Use.MatrixAKHR) != (order == Layout.RowMajorKHR)
    tile = _tile(kind, _OTHER[Layout(order)] if is_turned else Layout(order), variant.chip)
    if variant.pipeline == "copies":
        if is_turned:
            raise NoSchedule("an operand would have to be transposed on the way, which copies do not")
        at = flat.type_of(pointer)
        if not isinstance(at, PointerType) or at.storage != StorageClass.CrossWorkgroup:
            raise NoSchedule("a checked load is not one of global memory")
        return StagedLoad(row, kind, tile, None)
    if (size << zeros_of(flat, line if is_turned else along)) % MAP_ALIGNMENT:
        raise NoSchedule(f"the first column of a load is not known to be a multiple of {MAP_ALIGNMENT} bytes")
    described = _map(flat, pointer, (width, height, *rest[:1]), product.tensor, size,
                     (tile.line_bytes // size, tile.lines), tile.line_bytes)
    if described is None:
        raise NoSchedule("the base, the stride and the sizes of a checked load are not the kernel's arguments")
    return StagedLoad(row, kind, tile, replace(described, is_turned=is_turned))


def _map(flat: Flat, pointer: int, sizes: Sequence[int], element: str, element_bytes: int, box: tuple[int, int],
         line_bytes: int, way: Literal["loads", "stores"] = "loads") -> TensorMap | None:
    """The tensor map of a matrix in memory: its base is a parameter; the ids of width, height and stride stand for what
    is known at the launch. None if they do not."""
    parameter = next((place for place, one in enumerate(flat.parameters) if one.result_id == pointer), None)
    at = flat.type_of(pointer)
    if not isinstance(at, PointerType) or at.storage != StorageClass.CrossWorkgroup:
        return None
    values = [value for word in sizes if (value := launch_value(flat, word)) is not None]
    if parameter is None or len(values) < 3:
        return None
    width, height, stride = values
    return TensorMap(parameter, element, element_bytes, width, height, stride, box, line_bytes, way)


def _tile(kind: MatrixType, layout: Layout, chip: Chip) -> Tile:
    is_a, by_rows = kind.use == Use.MatrixAKHR, layout == Layout.RowMajorKHR
    lines, along = (kind.rows, kind.columns) if by_rows else (kind.columns, kind.rows)
    along_k = is_a == by_rows
    size = kind.component.size
    line_bytes = next((width for width in SWIZZLES if along * size % width == 0), 0)
    if chip.has_wgmma and not along_k:
        line_bytes = SWIZZLES[0]
    is_read = line_bytes > 0 and lines % LINES_OF_CORE == 0 and (not chip.has_wgmma or lines <= MOST_BOX_ROWS)
    if not is_read:
        raise NoSchedule(f"a tile of {lines} lines of {along * size} bytes is none that {chip.name} multiplies")
    return Tile(lines, along, size, along_k, line_bytes)


_PURE = frozenset({
    Op.IAdd, Op.ISub, Op.IMul, Op.SDiv, Op.UDiv, Op.SMod, Op.UMod, Op.SRem, Op.SNegate, Op.Not, Op.BitwiseAnd,
    Op.BitwiseOr, Op.BitwiseXor, Op.ShiftLeftLogical, Op.ShiftRightLogical, Op.ShiftRightArithmetic, Op.UConvert,
    Op.SConvert, Op.Bitcast, Op.Select, Op.Phi, Op.CompositeExtract, Op.CompositeConstruct, Op.CopyObject, Op.Undef,
    Op.IEqual, Op.INotEqual, Op.SLessThan, Op.SLessThanEqual, Op.SGreaterThan, Op.SGreaterThanEqual, Op.ULessThan,
    Op.ULessThanEqual, Op.UGreaterThan, Op.UGreaterThanEqual, Op.LogicalAnd, Op.LogicalOr, Op.LogicalNot,
    Op.LogicalEqual, Op.LogicalNotEqual, Op.Load, Op.AccessChain, Op.InBoundsAccessChain, Op.PtrAccessChain,
    Op.InBoundsPtrAccessChain, Op.PtrCastToGeneric, Op.GenericCastToPtr})
_INTEGER_FUNCTIONS = frozenset(number for name, number in OPENCL_STD.items() if name.startswith(("s_", "u_")))
_POSITIONS = frozenset({BuiltIn.WorkgroupId, BuiltIn.NumWorkgroups, BuiltIn.WorkgroupSize, BuiltIn.GlobalSize,
                        BuiltIn.GlobalOffset, BuiltIn.EnqueuedWorkgroupSize, BuiltIn.WorkDim})


def _check_slice(flat: Flat, rings: dict[int, Ring]) -> None:
    """Refuse a kernel whose loads or branches depend on more than its arguments and the work-group's position."""
    wanted = [word for ring in rings.values() for load in ring.loads for word in load.row.words]
    wanted += [row.words[0] for row in _branches(flat)]
    own = {row.result_id: row for block in flat.blocks for row in block.instructions if row.result_id is not None}
    seen: set[int] = set()
    while wanted:
        identifier = wanted.pop()
        row = own.get(identifier)
        if row is None or identifier in seen:
            continue
        seen.add(identifier)
        is_pure = row.opcode in _PURE or (row.opcode == Op.ExtInst and row.words[1] in _INTEGER_FUNCTIONS)
        if not is_pure or (row.opcode == Op.Load and not _is_position(flat, row)):
            raise NoSchedule(f"where the tiles lie depends on {row.name}, not on arguments and the work-group alone")
        wanted += row.ids()


def _branches(flat: Flat) -> Iterator[Instruction]:
    for block in flat.blocks:
        if block.terminator.opcode in (Op.BranchConditional, Op.Switch):
            yield block.terminator


def _is_position(flat: Flat, row: Instruction) -> bool:
    """Whether a load reads a built-in that all work-items of a work-group have alike."""
    source = flat.definition(row.words[0])
    return source.opcode == Op.Variable and any(
        decoration == Decoration.BuiltIn and words[0] in _POSITIONS
        for decoration, words in flat.module.decorations(flat.original(row.words[0])))


def _place(rings: dict[int, Ring], shared_memory: int) -> int:
    """Give every ring its stages and its place; the bytes of all. NoSchedule if there is no room for two each."""
    alike: dict[Any, list[Ring]] = {}
    for ring in rings.values():
        alike.setdefault((ring.block if ring.is_held else -1, *(load.tile for load in ring.loads)), []).append(ring)
    heads = [group[0] for group in alike.values()]
    held = [ring for ring in heads if ring.is_held]
    room = shared_memory - sum(2 * MOST_STAGES * BARRIER_BYTES for _ in heads)
    room -= sum(FEWEST_STAGES * ring.stage_bytes for ring in held)
    offset = 0
    for number, ring in enumerate(heads):
        share = room // max(1, len(heads) - len(held)) // ring.stage_bytes
        ring.number, ring.stages = number, FEWEST_STAGES if ring.is_held else min(MOST_STAGES, share)
        if ring.stages < FEWEST_STAGES or room < 0:
            raise NoSchedule(f"shared memory of {shared_memory} bytes has no room for two stages of {ring.stage_bytes}")
        ring.offset = offset
        offset += ring.stages * ring.stage_bytes
    for ring in heads:
        ring.barriers = offset
        offset += 2 * ring.stages * BARRIER_BYTES
    for head, *others in alike.values():
        for ring in others:
            ring.number, ring.stages, ring.offset, ring.barriers = head.number, head.stages, head.offset, head.barriers
    for ring in rings.values():
        place = 0
        for load in ring.loads:
            load.offset = place
            place += -(-load.tile.nbytes // TILE_ALIGNMENT) * TILE_ALIGNMENT
    return offset
