"""Which kernels with matrices of work-groups have a schedule, what it says, and why others have none."""

from __future__ import annotations

from dataclasses import replace

import pytest

import coopmat as cm
from coopmat.runtime.executable import executable
from coopmat.sycl import kernel
from coopmat.targets.cuda.chips import CHIPS
from coopmat.targets.cuda.lanes import Pipeline
from coopmat.targets.cuda.program import PtxProgram
from coopmat.targets.cuda.work_groups.pipeline import (
    BARRIER_BYTES,
    CHUNK_BUFFERS,
    CHUNK_BYTES,
    MOST_STAGES,
    TILE_ALIGNMENT,
    NoSchedule,
    Schedule,
)
from coopmat.targets.cuda.work_groups.schedule import schedule_of
from coopmat.targets.llvm.kernel import traced
from tests.kit.targets.ptx import flat_of
from tests.kit.targets.work_group_gemm import Gemm

BF16, S8 = ("bf16", "bf16", "fp32"), ("sint8", "sint8", "sint32")
SHARED = 227 << 10  # bytes of a work-group on Hopper


def scheduled(text: str, *, chip: str = "sm_90a", items: int = 128, pipeline: Pipeline = "loads and stores",
              cluster: int | None = None, shared: int = SHARED) -> Schedule:
    """The schedule of a kernel that a text defines."""
    program = PtxProgram(executable(cm.build(kernel.from_source(text)).module), CHIPS[chip])
    name = next(iter(program.signatures))
    variant = program.variant(program.signatures[name], (items, 1, 1))
    variant = replace(variant, pipeline=pipeline, cluster=cluster)
    return schedule_of(traced(flat_of(program, variant, name)), variant, shared)


# ------------------------------------------------------------------ kernels that have one


@pytest.mark.parametrize(("gemm", "tiles"), [
    (Gemm(BF16, (128, 128, 64), 128), ((128, 64, True, 128), (64, 128, False, 128))),
    (Gemm(BF16, (128, 128, 64), 128, "AC"), ((128, 64, True, 128), (128, 64, True, 128))),
    (Gemm(BF16, (128, 128, 64), 128, "BC"), ((64, 128, False, 128), (64, 128, False, 128))),
    (Gemm(BF16, (128, 64, 16), 256, "AC"), ((128, 16, True, 32), (64, 16, True, 32))),  # lines of 32 bytes
    (Gemm(S8, (64, 96, 64), 128, "AC"), ((64, 64, True, 64), (96, 64, True, 64)))], ids=str)
def test_tiles(gemm: Gemm, tiles: tuple[tuple[int, int, bool, int], ...]) -> None:
    """Lines in memory, elements of each, whether these follow K, and bytes of a line in shared memory."""
    found = scheduled(gemm.text, items=gemm.items)
    [ring] = found.rings.values()
    assert tuple((load.tile.lines, load.tile.along, load.tile.along_k, load.tile.line_bytes)
                 for load in ring.loads) == tiles
    assert [load.map.parameter for load in ring.loads] == [0, 1]
    assert [load.map.box for load in ring.loads] == [
        (line_bytes // load.tile.element, lines) for (lines, _, _, line_bytes), load in zip(tiles, ring.loads,
                                                                                         strict=True)]
    numbers = [0, 0, 0, 1000, 2000, 3000, 11, 22, 33]  # M, N, K and strides
    sizes = {"A": (1000, 3000), "B": (3000, 2000)}
    for load, letter, stride in zip(ring.loads, "AB", (11, 22), strict=True):
        height, width = sizes[letter] if letter in gemm.rows_of else reversed(sizes[letter])
        assert tuple(value.of(numbers) for value in (load.map.height, load.map.width, load.map.stride)) == (
            height, width, stride)


@pytest.mark.parametrize(("tile", "shared"), [
    ((64, 32, 32), SHARED), ((128, 128, 64), SHARED), ((128, 128, 64), 99 << 10), ((64, 256, 64), SHARED)], ids=str)
def test_places_in_shared_memory(tile: tuple[int, int, int], shared: int) -> None:
    """As many stages as there is room for; nothing overlaps, tiles lie at multiples of a KiB."""
    found = scheduled(Gemm(BF16, tile, 128, "AC").text, shared=shared, pipeline="loads")
    [ring] = found.rings.values()
    assert 2 <= ring.stages <= MOST_STAGES
    assert ring.stages == MOST_STAGES or (ring.stages + 1) * ring.stage_bytes > shared - 1024
    places = [(ring.offset + stage * ring.stage_bytes + load.offset, load.tile.nbytes)
              for stage in range(ring.stages) for load in ring.loads]
    places.append((ring.barriers, 2 * ring.stages * BARRIER_BYTES))
    ends = [0]
    for offset, nbytes in places:
        assert offset >= ends[-1]
        ends.append(offset + nbytes)
    assert all(offset % TILE_ALIGNMENT == 0 for offset, _ in places[:-1])
    assert ends[-1] <= found.nbytes <= shared


def test_results_by_tensor_maps() -> None:
    """Where lines of the accumulator are whole chunks; the chunks of a warp group have two buffers."""
    found = scheduled(Gemm(BF16, (128, 128, 64), 128).text)
    assert [store.number for store in found.stores] == [2]
    assert len(found.maps) == 3
    assert found.nbytes - found.staging == CHUNK_BUFFERS * CHUNK_BYTES
    assert found.staging % TILE_ALIGNMENT == 0
    assert scheduled(Gemm(BF16, (128, 128, 64), 128).text, pipeline="loads").stores == []
    assert scheduled(Gemm(BF16, (128, 128, 64), 128, result="bf16").text).stores[0].map.element == "BFLOAT16"
    assert scheduled(Gemm(BF16, (128, 80, 64), 128, "AC").text).stores == []  # 320 bytes are no whole chunks
    assert scheduled(Gemm(BF16, (128, 128, 64), 128, "AB").text).stores == []  # by columns


def test_clusters() -> None:
    """Neighbours along y have the tiles of A in common, those along x B's; each brings half of the lines."""
    text = Gemm(BF16, (128, 128, 64), 128).text
    for axis, shared in ((0, [True, False]), (1, [False, True])):  # nd_item's last axis is the first one of SPIR-V
        loads = [*scheduled(text, cluster=axis).loads.values()]
        assert [load.is_shared for load in loads] == shared
        assert [load.map.box[1] for load in loads] == [load.tile.lines // (2 if one else 1)
                                                       for load, one in zip(loads, shared, strict=True)]


# ------------------------------------------------------------------ kernels that have none

BASE = Gemm(BF16, (128, 128, 64), 128).text
LOAD_B = "joint_matrix_load_checked(g, b, B, strideB, K, N, at, column)"
MAD = "joint_matrix_mad(g, c, a, b, c)"
STORE = "joint_matrix_store_checked(g, c,"
APPLY_A = "joint_matrix_apply(g, a, lambda x: x + x)"
ORDER = "memory_order.relaxed, memory_scope.device"


def changed(*pairs: tuple[str, str]) -> str:
    """The kernel with some of its text replaced."""
    text = BASE
    for old, new in pairs:
        assert old in text
        text = text.replace(old, new)
    return text


REASONS = {
    "atomic instructions": (
        changed((STORE, f"atomic_ref[float32, {ORDER}](C[0]).fetch_add(1.0)\n    {STORE}")),
        r"it has atomic instructions \(OpAtomic"),
    "groups": (changed((STORE, f"x = reduce_over_group(g, K, plus())\n    {STORE}"), ("strideC, layout", "x, layout")),
               r"it has operations of groups \(OpGroup"),
    "assertions": (changed((STORE, f"assert K > 3\n    {STORE}")), r"it has assertions \(OpFunctionCall\)"),
    "printing": (changed((STORE, f"print(K)\n    {STORE}")), "it prints"),
    "types": (changed(("bfloat16", "float64"), ("float32", "float64")), "no pipeline multiplies fp64 fp64 fp64 fp64"),
    "an accumulator of bf16": (changed(("float32", "bfloat16")), "no pipeline multiplies bf16 bf16 bf16"),
    "rows": (Gemm(BF16, (48, 128, 64)).text,
             r"a work-group of 128 does not share a 48x128 .* as wgmma has it: 64 rows, or a multiple, and at most 256 "
             "columns"),
    "columns": (Gemm(BF16, (64, 272, 64)).text, r"does not share a 64x272 "),
    "K": (Gemm(S8, (64, 64, 48), rows_of="AC").text, "K = 48 is no multiple of an instruction's 32"),
    "a plain load": (changed((LOAD_B, "joint_matrix_load(g, b, B + at * strideB + column, strideB)")),
                     "an operand is not what a checked load gives"),
    "another use": (changed((MAD, f"joint_matrix_store_checked(g, b, B2, N, K, N, at, column)\n        {MAD}"),
                            ("B: ptr", "B2: ptr[bfloat16], B: ptr")),
                    r"a loaded tile is used by OpCooperativeMatrixStore\w*, not only multiplied"),
    "a stride from memory": (changed(("B, strideB, K", "B, steps[0], K"), ("strideC: int32", "strideC: int32, steps: "
                                                                          "ptr[int32]")),
                             "the base, the stride and the sizes of a checked load are not the kernel's arguments"),
    "a base that moves": (changed(("B, strideB, K, N, at", "B + at * strideB, strideB, K, N, 0")),
                          "the base, the stride and the sizes"),
    "an odd column": (changed((", at, column)", ", at, column + 3)")),
                      "the first column of a load is not known to be a multiple of 16 bytes"),
    "many lines": (Gemm(BF16, (320, 32, 64), 640).text, "a tile of 320 lines of 128 bytes is none that "),
    "many registers": (Gemm(BF16, (128, 256, 64)).text, "takes 284 registers of each of 128 work-items, which begin"),
    "8 bits that are computed": (
        Gemm(S8, (128, 128, 64), 128, "AC").text.replace(MAD, f"{APPLY_A}\n        {MAD}"),
        r"A is neither loaded nor one that wgmma takes from registers \(128x64 int8 matrix"),
    "the last tile": (changed((STORE, f"{MAD}\n    {STORE}")), "a loaded tile is used by OpPhi, not only multiplied"),
    "a place from memory": (changed(("row, at)", "row + places[0], at)"), ("strideC: int32", "strideC: int32, places: "
                                                                      "ptr[int32]")),
                            "where the tiles lie depends on OpLoad, not on arguments and the work-group alone"),
    "a way from memory": (changed((MAD, f"if places[at] > 0:\n            {MAD}"),
                                  ("strideC: int32", "strideC: int32, places: ptr[int32]")),
                          "a tile that is not loaded in the kernel's first block is used in another block"),
}


def test_operands_that_are_transposed_first() -> None:
    """wgmma takes integers along K only: what lies across it is turned by the host."""
    for rows_of, turned in (("AC", [False, False]), ("ABC", [False, True]), ("C", [True, False]), ("BC", [True, True])):
        found = scheduled(Gemm(S8, (128, 128, 64), rows_of=rows_of).text)
        assert [load.map.is_turned for load in found.loads.values()] == turned
        assert all(load.tile.along_k for load in found.loads.values())
    assert not any(one.is_turned for one in scheduled(Gemm(BF16, (128, 128, 64), rows_of="BC").text).maps)


@pytest.mark.parametrize(("text", "reason"), REASONS.values(), ids=REASONS.keys())
def test_why_there_is_none(text: str, reason: str) -> None:
    with pytest.raises(NoSchedule, match=reason):
        scheduled(text)


@pytest.mark.parametrize(("changes", "reason"), [
    ({"chip": "sm_80"}, "sm_80 has no wgmma"), ({"chip": "sm_100a"}, "sm_100a has no wgmma"),
    ({"shared": 48 << 10}, r"shared memory of \d+ bytes has no room for two stages of 32768")])
def test_what_chips_do_not_have(changes: dict[str, object], reason: str) -> None:
    with pytest.raises(NoSchedule, match=reason):
        scheduled(BASE, **changes)  # type: ignore[arg-type]


@pytest.mark.parametrize("items", [64, 96, 1024])
def test_work_groups_of_other_sizes(items: int) -> None:
    with pytest.raises(NoSchedule, match=f"work-groups of {items} work-items are no whole warp groups of 128, at most "
                                         "896"):
        scheduled(Gemm(BF16, (128, 128, 64), items).text, items=items)


def test_no_product() -> None:
    text = changed((MAD, "joint_matrix_apply(g, c, lambda x: x + 1)"), (LOAD_B, "pass"))
    with pytest.raises(NoSchedule, match="there is no multiplication of matrices of a work-group"):
        scheduled(text)


def test_a_that_is_computed() -> None:
    """wgmma takes A from registers; B alone is a tile."""
    found = scheduled(changed((MAD, f"{APPLY_A}\n        {MAD}")))
    assert [load.map.parameter for load in found.loads.values()] == [1]


def test_clusters_without_tiles_in_common() -> None:
    with pytest.raises(NoSchedule, match="neighbours along axis 1 have no tiles in common"):
        scheduled(changed((", at, column)", ", at, column + row)")), cluster=1)
    with pytest.raises(NoSchedule, match="which way a work-group takes depends on its position along axis 1"):
        scheduled(changed(("range(0, K", "range(row, K")), cluster=1)
