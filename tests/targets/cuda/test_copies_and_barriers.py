"""Asynchronous copies and split barriers on NVIDIA's GPUs: cp.async in groups, mbarrier, and what older chips do."""

from __future__ import annotations

import numpy as np
import pytest

import coopmat as cm
from coopmat.runtime.executable import executable
from coopmat.targets.cuda.chips import CHIPS
from coopmat.targets.cuda.program import PtxProgram
from tests.kit.targets import gpu
from tests.kit.targets.emulated_gpu.driver import emulated
from tests.kit.targets.ptx import assembled, ptx_of

ITEMS = 64
SOURCE = """
kernel void sums(global const TYPE *in, global long *out, int tiles, int count)
{
    local TYPE tile[STAGES][MOST];
    event_t events[STAGES];
    const int lane = get_local_id(0);
    for (int t = 0; t < STAGES - 1 && t < tiles; t++)
        events[t] = async_work_group_copy(tile[t], in + t * count, count, 0);
    long sum = 0;
    for (int t = 0; t < tiles; t++) {
        const int next = t + STAGES - 1;
        if (next < tiles)
            events[next % STAGES] = async_work_group_copy(tile[next % STAGES], in + next * count, count, 0);
        wait_group_events(1, &events[t % STAGES]);
        for (int i = 0; i < count; i++)
            sum += tile[t % STAGES][i] * ((i + lane) % 7);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    out[get_global_id(0)] = sum;
}
kernel void columns(global const TYPE *in, global TYPE *out, int width, int count)
{
    local TYPE tile[2][MOST];
    event_t event = async_work_group_strided_copy(tile[0], in, count, width, 0);
    event = async_work_group_strided_copy(tile[1], in + 1, count, width, event);
    wait_group_events(1, &event);
    event_t stores[2];
    stores[0] = async_work_group_copy(out, tile[1], count, 0);
    stores[1] = async_work_group_strided_copy(out + count, tile[0], count, 2, 0);
    wait_group_events(2, stores);
}
kernel void turns(global int *data)
{
    local int t[64];
    const int i = get_local_id(0);
    int x = data[get_global_id(0)];
    for (int k = 1; k < 5; k++) {
        t[i] = x;
        intel_work_group_barrier_arrive(CLK_LOCAL_MEM_FENCE);
        x = x * 3 + k;
        intel_work_group_barrier_wait(CLK_LOCAL_MEM_FENCE);
        x += t[(i + k) % 64];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    data[get_global_id(0)] = x;
}
"""
TYPES = {"char": np.int8, "short": np.int16, "int": np.int32, "long": np.int64}


def program(type_: str = "int", stages: int = 3) -> cm.Program:
    return cm.build(SOURCE, [f"-DTYPE={type_}", f"-DSTAGES={stages}", "-DMOST=512"])


@pytest.mark.oracle("cuda")
@pytest.mark.parametrize("type_", TYPES)
@pytest.mark.parametrize(("stages", "count", "gap"), [(2, 64, 0), (3, 256, 0), (4, 37, 0), (3, 64, 1), (10, 16, 0)])
def test_copies_ahead(type_: str, stages: int, count: int, gap: int) -> None:
    """Tiles arrive while others are summed, of sizes and at addresses that cp.async takes, or not; the last case has
    more copies under way than code counts."""
    tiles = 12
    given = np.random.default_rng(3).integers(-9, 9, tiles * count + gap).astype(TYPES[type_])
    found = np.zeros(2 * ITEMS, np.int64)
    gpu.program(program(type_, stages).module).launch("sums", (2 * ITEMS,), (ITEMS,), [
        given[gap:], found, np.int32(tiles), np.int32(count)])
    weights = (np.arange(count)[:, None] + np.arange(ITEMS)) % 7
    expected = given[gap:].reshape(tiles, count).astype(np.int64).sum(axis=0) @ weights
    np.testing.assert_array_equal(found, np.tile(expected, 2))


@pytest.mark.oracle("cuda")
@pytest.mark.parametrize("type_", TYPES)
def test_strided_copies_and_those_to_global_memory(type_: str) -> None:
    count, width = 75, 5
    given = np.random.default_rng(4).integers(-99, 99, count * width + 1).astype(TYPES[type_])
    found = np.zeros(3 * count, TYPES[type_])
    gpu.program(program(type_).module).launch("columns", (ITEMS,), (ITEMS,), [
        given, found, np.int32(width), np.int32(count)])
    np.testing.assert_array_equal(found[:count], given[1::width][:count])
    np.testing.assert_array_equal(found[count::2], given[::width][:count])


def turns() -> None:
    data = np.random.default_rng(5).integers(-99, 99, 2 * ITEMS).astype(np.int32)
    expected = data.reshape(2, ITEMS).copy()
    for k in range(1, 5):
        expected = expected * 3 + k + np.roll(expected, -k, axis=1)
    gpu.program(program().module).launch("turns", (2 * ITEMS,), (ITEMS,), [data])
    np.testing.assert_array_equal(data, expected.reshape(-1))


@pytest.mark.oracle("cuda")
def test_split_barriers() -> None:
    turns()


def test_split_barriers_of_old_chips() -> None:
    with emulated(75):
        turns()


@pytest.mark.parametrize(("name", "has_them"), [("sm_75", False), ("sm_80", True), ("sm_90a", True)])
def test_ptx(name: str, has_them: bool) -> None:
    made = PtxProgram(executable(program().module), CHIPS[name])
    for kernel, instructions in (("sums", ("cp.async.cg.shared.global", "cp.async.wait_group")),
                                 ("turns", ("mbarrier.init", "mbarrier.arrive", "mbarrier.test_wait"))):
        for found in ptx_of(made, kernel, (ITEMS, 1)):
            assert all((one in found.text) == has_them for one in instructions)
            assert "fence" not in found.text  # barriers order what local memory's users access
            assembled(found)
