"""SPV_INTEL_subgroups: shuffles, block reads and writes."""

from __future__ import annotations

import numpy as np
import pytest

from coopmat.diagnostics import (
    DivergentGroupOperation,
    Misaligned,
    OutOfBounds,
    SimulationError,
    UndefinedBehavior,
    ValidationError,
)
from coopmat.targets.base.local_memory import LocalMemory
from tests.kit.targets.short_kernels import DTYPES, evaluate, module, run

RNG = np.random.default_rng(5)
LANES = 16


def random(kind: str, *shape: int) -> np.ndarray:
    return RNG.integers(-120, 120, shape).astype(DTYPES[kind])


@pytest.mark.parametrize("kind", ["i8", "i16", "i32", "i64", "f16", "f32", "f64"])
@pytest.mark.parametrize("count", [1, 2, 3, 4, 8, 16])
def test_shuffles(kind: str, count: int) -> None:
    """As the extension defines them, with an index of its own for each work-item."""
    shape = (64,) if count == 1 else (64, count)
    name = kind if count == 1 else f"v{count}_{kind}"
    one, two = random(kind, *shape), random(kind, *shape)
    lane, start = np.arange(64) % LANES, np.arange(64) // LANES * LANES
    chosen = RNG.integers(0, LANES, 64).astype(np.int32)
    found = evaluate(f"OpSubgroupShuffleINTEL %{name} {{0}} {{1}}", name, one, chosen)
    np.testing.assert_array_equal(found, one[start + chosen])
    found = evaluate(f"OpSubgroupShuffleXorINTEL %{name} {{0}} {{1}}", name, one, chosen)
    np.testing.assert_array_equal(found, one[start + (lane ^ chosen)])
    delta = RNG.integers(0, LANES + 1, 64).astype(np.int32)
    both = np.concatenate([one.reshape(4, LANES, -1), two.reshape(4, LANES, -1)], axis=1)
    group = np.arange(64) // LANES
    found = evaluate(f"OpSubgroupShuffleDownINTEL %{name} {{0}} {{1}} {{2}}", name, one, two, delta)
    np.testing.assert_array_equal(found.reshape(64, -1), both[group, np.minimum(lane + delta, 31)])
    found = evaluate(f"OpSubgroupShuffleUpINTEL %{name} {{0}} {{1}} {{2}}", name, one, two, delta)
    np.testing.assert_array_equal(found.reshape(64, -1), both[group, lane - delta + LANES])


@pytest.mark.parametrize(("line", "index", "low", "high"), [
    ("OpSubgroupShuffleINTEL %i32 {0} {1}", 16, 0, 15), ("OpSubgroupShuffleXorINTEL %i32 {0} {1}", 16, 0, 15),
    ("OpSubgroupShuffleINTEL %i32 {0} {1}", -1, 0, 15),
    ("OpSubgroupShuffleDownINTEL %i32 {0} {0} {1}", 27, 0, 31),
    ("OpSubgroupShuffleUpINTEL %i32 {0} {0} {1}", 22, -16, 15)])
def test_an_index_out_of_range(line: str, index: int, low: int, high: int) -> None:
    values, operand = np.arange(64, dtype=np.int32), np.zeros(64, np.int32)
    operand[37] = index
    with pytest.raises(UndefinedBehavior, match=f"must be from {low} to {high}") as error:
        evaluate(line, "i32", values, operand)
    assert (error.value.where.sub_group, error.value.where.lane) == (2, 5)


def test_only_active_work_items_are_checked() -> None:
    values, index = np.arange(64, dtype=np.int32), np.tile(np.arange(16, 0, -1, dtype=np.int32), 4)
    found = evaluate("""
        %some = OpSLessThan %bool {1} %i32_c16
        OpBranchConditional %some %then %end
        %then = OpLabel
        %t = OpSubgroupShuffleINTEL %i32 {0} {1}
        OpBranch %end
        %end = OpLabel
        %r = OpPhi %i32 %t %then %i32_c7 %entry""", "i32", values, index)
    expected = np.arange(64) // 16 * 16 + index
    expected[::16] = 7
    np.testing.assert_array_equal(found, expected)


# --------------------------------------------------------------------------------------
# Block reads and writes
# --------------------------------------------------------------------------------------


def block_copy(kind: str, count: int, *, size: int = LANES, source_offset: int = 0, target_offset: int = 0):
    """Each sub-group reads its block of ``a`` and writes it to ``out``; the lanes write what they hold to ``held``."""
    name = kind if count == 1 else f"v{count}_{kind}"
    return module(f"g_{kind} out, g_{name} held, g_{kind} a", f"""
        %s = OpUConvert %i64 %sub_group
        %g = OpIMul %i64 %wx %i64_c{32 // size}
        %n = OpIAdd %i64 %g %s
        %start = OpIMul %i64 %n %i64_c{size * count}
        %from = OpIAdd %i64 %start %i64_c{source_offset}
        %to = OpIAdd %i64 %start %i64_c{target_offset}
        %p = OpPtrAccessChain %g_{kind} %a %from
        %v = OpSubgroupBlockReadINTEL %{name} %p
        %h = OpPtrAccessChain %g_{name} %held %gx
        OpStore %h %v
        %q = OpPtrAccessChain %g_{kind} %out %to
        OpSubgroupBlockWriteINTEL %q %v""", modes=[f"SubgroupSize {size}"])


@pytest.mark.parametrize("kind", ["i8", "i16", "i32", "i64", "f16", "f32"])
@pytest.mark.parametrize("count", [1, 2, 4, 8, 16])
@pytest.mark.parametrize("size", [8, 16, 32])
def test_block_reads_and_writes(kind: str, count: int, size: int) -> None:
    """Component i of lane l is element i * size + l of the block."""
    if size * count * DTYPES[kind](0).itemsize < 16:
        count = 16  # a block of eight bytes would leave the next one misaligned
    a = random(kind, 64 * count)
    out, held = np.zeros_like(a), np.zeros((64, count), a.dtype)
    run(block_copy(kind, count, size=size), [out, held, a], 64, 32)
    np.testing.assert_array_equal(out, a)
    blocks = a.reshape(-1, count, size)
    for item in range(64):
        np.testing.assert_array_equal(held[item], blocks[item // size, :, item % size])


def test_blocks_in_local_memory() -> None:
    source = module("g_i16 out, w_i16 t, g_i16 a", """
        %v = OpSubgroupBlockReadINTEL %v4_i16 %a
        OpSubgroupBlockWriteINTEL %t %v
        OpControlBarrier %i32_c2 %i32_c2 %i32_c264
        %r = OpSubgroupBlockReadINTEL %v4_i16 %t
        OpSubgroupBlockWriteINTEL %out %r""")
    a, out = random("i16", 64), np.zeros(64, np.int16)
    run(source, [out, LocalMemory(128), a])
    np.testing.assert_array_equal(out, a)


def test_blocks_need_an_aligned_pointer_inside_the_buffer() -> None:
    a, held = random("i8", 96), np.zeros((32, 1), np.int8)
    with pytest.raises(Misaligned, match="OpSubgroupBlockReadINTEL must be a multiple of 4 bytes"):
        run(block_copy("i8", 1, source_offset=2), [a.copy(), held, a], 32, 32)
    with pytest.raises(Misaligned, match="OpSubgroupBlockWriteINTEL must be a multiple of 16 bytes"):
        run(block_copy("i8", 1, target_offset=8), [a.copy(), held, a], 32, 32)
    run(block_copy("i8", 1, source_offset=4, target_offset=16), [a.copy(), held, a], 32, 32)
    with pytest.raises(OutOfBounds, match="buffer has 24 bytes") as error:
        run(block_copy("i8", 1), [a, held, a[:24].copy()], 32, 32)
    assert (error.value.where.sub_group, error.value.where.lane) == (1, 8)
    with pytest.raises(OutOfBounds):
        run(block_copy("i8", 1), [a[:24].copy(), held, a], 32, 32)
    a.flags.writeable = False
    with pytest.raises(SimulationError, match="read-only"):
        run(block_copy("i8", 1), [a, held, a], 32, 32)


def test_blocks_need_one_pointer_and_the_whole_sub_group() -> None:
    a, out = random("i32", 64), np.zeros(64, np.int32)
    with pytest.raises(UndefinedBehavior, match=r"pointer of the block read .* must be the same"):
        run(module("g_i32 out, g_i32 a", """
            %p = OpPtrAccessChain %g_i32 %a %gx
            %v = OpSubgroupBlockReadINTEL %i32 %p"""), [out, a])
    with pytest.raises(DivergentGroupOperation):
        run(module("g_i32 out, g_i32 a", """
            %c = OpSLessThan %bool %lane %i32_c3
            OpBranchConditional %c %then %end
            %then = OpLabel
            %v = OpSubgroupBlockReadINTEL %i32 %a
            OpBranch %end
            %end = OpLabel"""), [out, a])
    with pytest.raises(UndefinedBehavior, match="global or local memory"):
        run(module("g_i32 out", """
            %t = OpVariable %p_i32 Function
            %v = OpSubgroupBlockReadINTEL %i32 %t"""), [out])


def test_the_pointee_must_be_the_component_type() -> None:
    with pytest.raises(ValidationError, match="needs a pointer to int16, not to int32") as error:
        run(module("g_i32 a", "%v = OpSubgroupBlockReadINTEL %v2_i16 %a"), [np.zeros(64, np.int32)])
    assert error.value.rule == "block-io-type"
