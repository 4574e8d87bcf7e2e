"""What reports count, against numbers that follow from the kernels."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import coopmat as cm
from coopmat.report import Report
from coopmat.report.model import Access, LineRow
from tests.kit.paths import ROOT

GEMM = """kernel void gemm(global const float *A, global const float *B, global float *C, int N, int K) {
    int row = get_global_id(1), column = get_global_id(0);
    float sum = 0;
    for (int k = 0; k < K; k++)
        sum += A[row * K + k] * B[k * N + column];
    C[row * N + column] = sum;
}
"""
M, N, K = 8, 64, 24


def report(source: str | Path, device: str, sizes: tuple[Any, Any], *arguments: Any) -> Report:
    kernel, = cm.build(source, device=device).kernels.values()
    return kernel.report(*sizes, *arguments)


def access(found: Report, buffer: str, action: str = "load") -> Access:
    return next(row for row in found.accesses if f"'{buffer}'" in row.buffer and row.action == action)


def line(found: Report, number: int) -> LineRow:
    return next(row for row in found.lines if row.number == number)


@pytest.fixture(scope="module")
def gemm() -> Report:
    c = np.zeros((M, N), np.float32)
    a, b = np.ones((M, K), np.float32), np.ones((K, N), np.float32)
    found = report(GEMM, "sim:nvidia_gpu_sm_90", ((N, M), (32, 4)), a, b, c, N, K)
    np.testing.assert_array_equal(c, K)
    return found


class TestScalarProduct:
    """A work-item computes an element; a sub-group 32 of a row."""

    def test_loads(self, gemm: Report) -> None:
        """All work-items of a sub-group want one element of A, and 32 neighbouring ones of B."""
        rounds = M * N // 32 * K
        a, b, c = access(gemm, "A"), access(gemm, "B"), access(gemm, "C", "store")
        assert (a.requests, a.accesses, a.sectors, a.ideal_sectors, a.stride) == (rounds, 32 * rounds, rounds, rounds,
                                                                                  0)
        assert (b.requests, b.nbytes, b.sectors, b.ideal_sectors, b.stride) == (rounds, 128 * rounds, 4 * rounds,
                                                                               4 * rounds, 4)
        assert (c.requests, c.nbytes, c.sectors) == (M * N // 32, 4 * M * N, 4 * M * N // 32)
        assert (a.repeats, b.repeats) == (1, 4)  # a work-group has four rows

    def test_buffers(self, gemm: Report) -> None:
        a, b, c = gemm.buffers
        assert (a.loaded, a.unique_loaded, a.stored) == (4 * M * N * K, 4 * M * K, 0)
        assert (b.loaded, b.unique_loaded, b.stored) == (4 * M * N * K, 4 * N * K, 0)
        assert (c.loaded, c.stored, c.unique_stored) == (0, 4 * M * N, 4 * M * N)

    def test_operations(self, gemm: Report) -> None:
        assert gemm.intensity.operations == 2 * M * N * K
        assert gemm.intensity.requested == 2 * M * N * K / (8 * M * N * K + 4 * M * N)
        assert gemm.intensity.compulsory == 2 * M * N * K / (4 * (M * K + K * N + M * N))
        assert {row.name: row.items for row in gemm.mix}["float"] == 2 * M * N * K
        assert {row.name: row.sub_groups for row in gemm.mix}["global"] == (2 * K + 1) * M * N // 32
        assert {row.name: row.sub_groups for row in gemm.mix}["control"] == (K + 1) * M * N // 32

    def test_times_and_lines(self, gemm: Report) -> None:
        """The H200's 4.8 TB/s and 67 TFLOP/s."""
        sectors = 5 * M * N // 32 * K + 4 * M * N // 32
        assert gemm.times.global_memory == pytest.approx(sectors * 32 / 4.8e12)
        slots = sum(row.sub_groups for row in gemm.mix)
        slots += 3 * next((row.sub_groups for row in gemm.mix if row.name == "function"), 0)
        assert gemm.times.issue == pytest.approx(slots * 32 / 33.5e12)
        assert sum(row.share for row in gemm.lines) == pytest.approx(1)
        assert (line(gemm, 5).flops, line(gemm, 4).divergent, line(gemm, 5).active) == (2 * M * N * K, 0, 1)
        assert line(gemm, 5).text == "        sum += A[row * K + k] * B[k * N + column];"

    def test_roofline(self, gemm: Report) -> None:
        assert gemm.roofline is not None
        assert [roof.peak for roof in gemm.roofline.roofs] == [67e12]
        assert gemm.roofline.attainable_requested == pytest.approx(gemm.intensity.requested * 4.8e12)


def test_matrices() -> None:
    """Tiles of 8x16x32 int8: a row of B's tile has 16 bytes, half of a sector."""
    m, n, k = 32, 64, 96
    a, b, c = np.ones((m, k), np.int8), np.ones((k, n), np.int8), np.zeros((m, n), np.int32)
    found = report(ROOT / "examples" / "gemm.cl", "sim:intel_gpu_pvc", ((n, m // 8), (16, 1)), a, b, c, n, k)
    np.testing.assert_array_equal(c, k)
    tiles = m // 8 * n // 16
    row, = found.matrices
    assert (row.a, row.d, row.m, row.n, row.k, row.scope) == ("sint8", "sint32", 8, 16, 32, "sub-group")
    assert (row.count, row.multiply_adds) == (tiles * k // 32, m * n * k)
    assert found.intensity.operations == 2 * m * n * k
    assert found.intensity.compulsory_bytes == m * k + k * n + 4 * m * n
    of_a, of_b, of_c = access(found, "A"), access(found, "B"), access(found, "C", "store")
    assert (of_a.requests, of_a.nbytes, of_a.sectors) == (tiles * 3, tiles * 3 * 8 * 32, tiles * 3 * 8)
    assert (of_b.sectors, of_b.ideal_sectors) == (tiles * 3 * 32, tiles * 3 * 16)
    assert (of_c.nbytes, of_c.sectors) == (4 * m * n, m * n // 8)
    assert found.times.matrix == pytest.approx(2 * m * n * k / 1678e12)
    assert found.footprint is not None
    assert found.footprint.matrices == (8 * 32 + 32 * 16 + 4 * 8 * 16) // 16


@pytest.mark.parametrize(("index", "sectors", "ideal", "stride"), [
    ("i", 2, 2, 4), ("i * 1024", 16, 2, 4096), ("15 - i", 2, 2, -4), ("i / 2 * 2", 2, 1, None), ("3", 1, 1, 0),
    ("i * 2 + 1", 4, 2, 8)])
def test_sectors_of_a_load(index: str, sectors: int, ideal: int, stride: int | None) -> None:
    """Sixteen work-items: B = A[index]."""
    source = f"kernel void move(global const int *A, global int *B) {{ int i = get_local_id(0); B[i] = A[{index}]; }}"
    made = report(source, "sim:intel_gpu_pvc", (16, 16), np.zeros(16384, np.int32), np.zeros(16, np.int32))
    found = access(made, "A")
    assert (found.sectors, found.ideal_sectors, found.stride) == (sectors, ideal, stride)


def test_wide_and_crooked_accesses() -> None:
    source = """kernel void move(global const float4 *A, global float *B, global const float *C) {
        int i = get_local_id(0);
        vstore4(A[i] + vload4(i, C + 1), i, B);
    }"""
    found = report(source, "sim:nvidia_gpu_sm_80", (32, 32), np.zeros((32, 4), np.float32), np.zeros(128, np.float32),
                   np.zeros(129, np.float32))
    a, b, c = access(found, "A"), access(found, "B", "store"), access(found, "C")
    assert (a.sectors, a.nbytes, b.sectors, b.nbytes) == (16, 512, 16, 512)
    assert (c.sectors, c.ideal_sectors) == (17, 16)  # 512 bytes that begin at byte 4


TRANSPOSE = """kernel void transpose(global const float *in, global float *out) {
    local float tile[32][WIDTH];
    int x = get_local_id(0), y = get_local_id(1);
    tile[y][x] = in[y * 32 + x];
    barrier(CLK_LOCAL_MEM_FENCE);
    out[y * 32 + x] = tile[x][y];
}"""


@pytest.mark.parametrize(("width", "degree"), [(32, 32), (33, 1), (34, 2), (40, 8)])
def test_banks(width: int, degree: int) -> None:
    found = report(TRANSPOSE.replace("WIDTH", str(width)), "sim:nvidia_gpu_sm_80", ((32, 32), (32, 32)),
                   np.zeros(1024, np.float32), np.zeros(1024, np.float32))
    load, store = access(found, "tile"), access(found, "tile", "store")
    assert (store.passes, store.ideal_passes, store.degree) == (32, 32, 1)
    assert (load.passes, load.ideal_passes, load.degree, load.stride) == (32 * degree, 32, degree, 4 * width)
    assert found.local_memory == 32 * width * 4


def test_active_work_items_and_branches() -> None:
    source = """kernel void odd(global int *A) {
        int i = get_global_id(0);
        if (i % 4 == 0)
            A[i] = A[i] * 3;
        if (get_group_id(0) == 0)
            A[i] += 1;
    }"""
    found = report(source, "sim:intel_gpu_pvc", (64, 32), np.zeros(64, np.int32))
    assert (line(found, 3).branches, line(found, 3).divergent) == (4, 4)
    assert (line(found, 5).branches, line(found, 5).divergent) == (4, 0)
    assert (line(found, 4).active, line(found, 6).active) == (0.25, 1)
    assert access(found, "A").accesses == 16
    assert found.active < 1


def test_partial_sub_groups_atomics_and_constants() -> None:
    source = """kernel void count(global int *A, constant int *B) { atomic_add(A, B[get_local_id(0)]); }"""
    counts = np.zeros(1, np.int32)
    found = report(source, "sim:intel_gpu_pvc", (40, 20), counts, np.ones(20, np.int32))
    assert counts[0] == 40
    assert found.active == 20 / 32
    row = access(found, "A", "atomic")
    assert (row.requests, row.accesses, row.nbytes, row.sectors) == (4, 40, 160, 4)
    counted, = (buffer for buffer in found.buffers if "'A'" in buffer.name)
    assert (counted.unique_loaded, counted.unique_stored) == (4, 4)
    assert access(found, "B").space == "constant"


@pytest.mark.parametrize("seed", range(6))
def test_any_indices(seed: int) -> None:
    """Sectors and passes of random indices, with random work-items taking part, against sets."""
    random = np.random.default_rng(seed)
    index = random.integers(0, (16, 256, 1024)[seed % 3], 128).astype(np.int32)
    active = random.integers(0, 4, 128).astype(np.int32)
    source = """kernel void gather(global const int *I, global const int *P, global const int *A, global int *B) {
        local int tile[1024];
        int i = get_global_id(0);
        for (int k = get_local_id(0); k < 1024; k += 64)
            tile[k] = k;
        barrier(CLK_LOCAL_MEM_FENCE);
        int at = I[i];
        if (P[i] > 0)
            B[i] = A[at] + tile[at];
    }"""
    found = report(source, "sim:nvidia_gpu_sm_80", (128, 64), index, active, np.zeros(1024, np.int32),
                   np.zeros(128, np.int32))
    groups = [index[start:start + 32][active[start:start + 32] > 0].tolist() for start in range(0, 128, 32)]
    load, tile = access(found, "A"), access(found, "tile")
    assert (load.requests, load.accesses) == (4, sum(map(len, groups)))
    assert load.sectors == sum(len({place // 8 for place in group}) for group in groups)
    assert load.ideal_sectors == sum(-(-len(set(group)) // 8) for group in groups)
    assert tile.passes == sum(max(sum(place % 32 == bank for place in set(group)) for bank in range(32))
                              for group in groups)
    assert next(row for row in found.buffers if "'A'" in row.name).unique_loaded == 4 * len({*index[active > 0]})
    assert line(found, 9).active == pytest.approx(sum(map(len, groups)) / 128)


def test_functions_and_many_batches() -> None:
    """More sub-groups than run together; each calls a function twice."""
    source = """float twice(float x) {
        return x * 2;
    }
    kernel void f(global float *A) {
        int i = get_global_id(0);
        A[i] = twice(twice(A[i]));
    }"""
    count = 1 << 17
    a = np.ones(count, np.float32)
    found = report(source, "sim:intel_gpu_pvc", (count, 32), a)
    assert (a == 4).all()
    assert line(found, 2).flops == 2 * count
    assert access(found, "A").requests == count // 16
    assert found.intensity.compulsory_bytes == 8 * count


def test_the_first_work_groups() -> None:
    source = "kernel void f(global float *A) { A[get_global_id(0)] += 1; }"
    kernel, = cm.build(source, device="sim:nvidia_gpu_sm_80").kernels.values()
    a = np.zeros(1 << 20, np.float32)
    found = kernel.report(1 << 20, 64, a, work_groups=3)
    assert a.sum() == 192
    assert access(found, "A").requests == 6
    assert (found.work_groups, found.counted_groups, found.work_items) == (1 << 14, 3, 192)
    assert "16,384 work-groups of 2 sub-groups of 32; counted: the first 3 work-groups" in found.text()
    assert kernel.report(64, 64, a, work_groups=3).counted_groups == 1
    for wrong in (0, -1, 1.5, "all"):
        with pytest.raises(cm.LaunchError, match="the number of work-groups to count is an integer of at least 1"):
            kernel.report(64, 64, a, work_groups=wrong)


def test_structures_are_read_member_by_member() -> None:
    """Sixteen work-items of two structures of 16 bytes each: the one in a constant place is asked for by all."""
    source = """typedef struct { long a; int b; } pair;
    kernel void sum(global const pair *A, global long *B) {
        pair one = A[get_local_id(0)];
        B[get_local_id(0)] = one.a + one.b;
    }"""
    found = access(report(source, "sim:intel_gpu_pvc", (64, 64), np.zeros(1024, np.uint8), np.zeros(64, np.int64)), "A")
    assert (found.requests, found.nbytes, found.stride, found.repeats) == (8, 64 * 12, 16, 1)


def test_copies_and_blocks() -> None:
    source = """kernel void copy(global const int *A, global int *B) {
        local int tile[64];
        event_t e = async_work_group_copy(tile, A, 64, 0);
        wait_group_events(1, &e);
        B[get_local_id(0)] = tile[get_local_id(0)] + (int)intel_sub_group_block_read((global uint *)A);
    }"""
    found = report(source, "sim:intel_gpu_pvc", (16, 16), np.zeros(64, np.int32), np.zeros(16, np.int32))
    rows = [row for row in found.accesses if "'A'" in row.buffer]
    assert [(row.form, row.nbytes, row.sectors) for row in rows] == [("copy", 256, 8), ("items", 64, 2)]
    assert access(found, "tile", "store").nbytes == 256


def test_work_group_matrices_count_once() -> None:
    source = """#define M(r, c, u) __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_WORKGROUP, r, c, u)))
    __attribute__((reqd_work_group_size(64, 1, 1)))
    kernel void product(global const float *A, global float *C) {
        float M(16, 16, CLK_COOPERATIVE_MATRIX_A) a = coop_mat_load(A, CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, 16);
        float M(16, 16, CLK_COOPERATIVE_MATRIX_B) b = coop_mat_load(A, CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, 16);
        float M(16, 16, CLK_COOPERATIVE_MATRIX_ACCUMULATOR) c = coop_mat_init(0);
        c = coop_matmul_add(a, b, c, CLK_COOPERATIVE_MATRIX_OPERAND_NONE);
        coop_mat_store(C + get_group_id(0) * 256, c, CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, 16);
    }"""
    found = report(source, "sim:generic", (128, 64), np.ones(256, np.float32), np.zeros(512, np.float32))
    row, = found.matrices
    assert (row.scope, row.count, row.multiply_adds) == ("work-group", 2, 2 * 16 ** 3)
    assert access(found, "C", "store").requests == 2
