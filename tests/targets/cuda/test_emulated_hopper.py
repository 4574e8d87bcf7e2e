"""Pipelines of Hopper on the emulated GPU: tensor maps, barriers and wgmma as PTX's manual has them, no clusters.

test_work_group_products.py and others say the same of a real one.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import coopmat as cm
from coopmat.sycl import *
from tests.kit.targets import gpu
from tests.kit.targets.emulated_gpu.driver import emulated
from tests.kit.targets.work_group_gemm import Gemm
from tests.targets.cuda.test_work_group_products import Product

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
HALF = ("-DIN=half", "-DOUT=float", "-DTM=16", "-DTN=16", "-DTK=16", "-DFLAGS=0")
BYTES = ("-DTM=16", "-DTN=16", "-DTK=32")
MERGED = "neighbouring work-groups are one"
FETCHED, STORED = "fetched ahead by tensor maps: A, B", "results leave by tensor maps: C"


@pytest.fixture(autouse=True)
def _emulated() -> Iterator[None]:
    with emulated(90):
        yield


@pytest.mark.parametrize(("name", "options", "tile", "sizes", "said"), [
    ("gemm", HALF, 16, (256, 256, 96), ["8 x 8", MERGED, FETCHED, STORED]),
    ("gemm", HALF, 16, (16, 48, 64), [MERGED, FETCHED, STORED]),  # a part of a tile
    ("gemm_blocked", HALF, 32, (288, 320, 48), ["6 x 6", MERGED, FETCHED, STORED]),
    ("gemm", BYTES, 16, (128, 272, 160), [MERGED, "transposed in memory first: B"]),
    ("gemm", (*HALF, "-coopmat-schedule=block:64x256,pipeline:loads"), 16, (64, 256, 32), ["16 x 4", MERGED, FETCHED]),
    ("gemm", (*HALF, "-coopmat-schedule=block:192x192"), 16, (208, 192, 48), ["12 x 12", MERGED, FETCHED]),
    ("gemm", (*HALF, "-coopmat-schedule=block:none"), 16, (32, 32, 32), ["no pipeline"]),
])
def test_kernels_of_sub_groups(name: str, options: tuple[str, ...], tile: int, sizes: tuple[int, int, int],
                               said: list[str]) -> None:
    """As the documents have them, merged; small integers, so that sums are exact."""
    m, n, k = sizes
    rng = np.random.default_rng(6)
    of, to = (np.float16, np.float32) if options[0] == HALF[0] else (np.int8, np.int32)
    a, b = rng.integers(-8, 8, (m, k)).astype(of), rng.integers(-8, 8, (k, n)).astype(of)
    c = np.full((m, n), -1, to)
    device = cm.device(gpu.GPU)
    program = cm.build((EXAMPLES / f"{name}.cl").read_text(), list(options), device=device)
    cm.Queue(device).enqueue(program.kernel("gemm"), (n // tile * 32, m // tile), (32, 1), a, b, c, n, k).wait()
    np.testing.assert_array_equal(c, a.astype(np.float64) @ b.astype(np.float64))
    explanation = "\n".join(device.explanation(program.load(device)))
    for one in said:
        assert one in explanation


@pytest.mark.thinned(2)
@pytest.mark.parametrize(("formats", "tile", "items", "rows_of", "sizes"), [
    (("bf16", "bf16", "fp32"), (128, 128, 64), 128, "AC", (200, 136, 72)),
    (("bf16", "bf16", "fp32"), (64, 256, 64), 128, "BC", (72, 264, 136)),
    (("fp16", "fp16", "fp16"), (128, 256, 64), 256, "ABC", (136, 264, 72)),
    (("fp16", "fp16", "fp32"), (64, 64, 32), 128, "C", (64, 128, 40)),
    (("tf32", "tf32", "fp32"), (64, 128, 32), 128, "ABC", (68, 132, 36)),  # B is transposed first
    (("uint8", "sint8", "sint32"), (64, 128, 64), 128, "BC", (80, 144, 80)),  # both are
    (("bf16", "bf16", "fp32"), (192, 96, 64), 384, "ABC", (200, 104, 72)),  # B's last slab is half empty
])
def test_work_groups(formats: tuple[str, str, str], tile: tuple[int, int, int], items: int, rows_of: str,
                     sizes: tuple[int, int, int]) -> None:
    """Types, layouts and ragged sizes; bit for bit what the model computes."""
    Product(Gemm(formats, tile, items, rows_of), sizes).compare("ordinary", 1)


def test_warp_groups_in_two_loops() -> None:
    """Of one turn, and of more turns than there are stages; of unlike tiles."""
    @kernel(work_group_size=(1, 256))
    def gemm(item: nd_item[2], A: ptr[const[half]], B: ptr[const[half]], C: ptr[float32], M: int32, N: int32, K: int32,
             first: int32):
        g = item.get_group()
        row, column = g.get_group_id(0) * 128, g.get_group_id(1) * 64
        a = joint_matrix(work_group, half, use.a, 128, 64, layout.row_major)
        b = joint_matrix(work_group, half, use.b, 64, 64, layout.row_major)
        d = joint_matrix(work_group, half, use.a, 128, 128, layout.row_major)
        e = joint_matrix(work_group, half, use.b, 128, 64, layout.row_major)
        c = joint_matrix(work_group, float32, use.accumulator, 128, 64)
        joint_matrix_fill(g, c, 0)
        for k in range(0, first, 64):
            joint_matrix_load_checked(g, a, A, K, M, K, row, k)
            joint_matrix_load_checked(g, b, B, N, K, N, k, column)
            joint_matrix_mad(g, c, a, b, c)
        for step in range(0, K - first, 128):
            joint_matrix_load_checked(g, d, A, K, M, K, row, step + 64)
            joint_matrix_load_checked(g, e, B, N, K, N, step + 64, column)
            joint_matrix_mad(g, c, d, e, c)
        joint_matrix_store_checked(g, c, C, N, layout.row_major, M, N, row, column)

    m, n, k = 640, 64, 64 + 5 * 128
    rng = np.random.default_rng(3)
    a, b = (rng.integers(-8, 8, shape).astype(np.float16) for shape in ((m, k), (k, n)))
    c = np.full((m, n), -1, np.float32)
    device = cm.device(gpu.GPU)
    program = cm.build(gemm, device=device)
    cm.Queue(device).enqueue(program.kernel("gemm"), (256, 5), (256, 1), a, b, c, m, n, k, 64).wait()
    np.testing.assert_array_equal(c, a.astype(np.float64) @ b.astype(np.float64))
    assert FETCHED in "\n".join(device.explanation(program.load(device)))


def test_warp_groups_that_meet() -> None:
    """All wait for each other in each turn; the fetching one goes on."""
    @kernel(work_group_size=(1, 256))
    def gemm(item: nd_item[2], A: ptr[const[half]], B: ptr[const[half]], C: ptr[float32], M: int32, N: int32, K: int32):
        g = item.get_group()
        row, column = g.get_group_id(0) * 128, g.get_group_id(1) * 64
        a = joint_matrix(work_group, half, use.a, 128, 32, layout.row_major)
        b = joint_matrix(work_group, half, use.b, 32, 64, layout.row_major)
        c = joint_matrix(work_group, float32, use.accumulator, 128, 64)
        joint_matrix_fill(g, c, 0)
        for k in range(0, K, 32):
            joint_matrix_load_checked(g, a, A, K, M, K, row, k)
            joint_matrix_load_checked(g, b, B, N, K, N, k, column)
            joint_matrix_mad(g, c, a, b, c)
            group_barrier(g)
        joint_matrix_store_checked(g, c, C, N, layout.row_major, M, N, row, column)

    rng = np.random.default_rng(3)
    a, b = (rng.integers(-8, 8, shape).astype(np.float16) for shape in ((512, 160), (160, 192)))
    c = np.full((512, 192), -1, np.float32)
    device = cm.device(gpu.GPU)
    program = cm.build(gemm, device=device)
    cm.Queue(device).enqueue(program.kernel("gemm"), (3 * 256, 4), (256, 1), a, b, c, 512, 192, 160).wait()
    np.testing.assert_array_equal(c, a.astype(np.float64) @ b.astype(np.float64))
    assert FETCHED in "\n".join(device.explanation(program.load(device)))


def small(rows: int, columns: int) -> np.ndarray:
    """Integers of which every sum is exact."""
    return np.random.default_rng(rows + columns).integers(-8, 8, (rows, columns)).astype(np.float16)


def run(what: Any, whole: tuple[int, ...], local: tuple[int, ...], *arguments: Any) -> str:
    """Launch a kernel; what was chosen."""
    device = cm.device(gpu.GPU)
    program = cm.build(what, device=device)
    (made,) = program.kernels.values()
    cm.Queue(device).enqueue(made, whole[::-1], local[::-1], *arguments).wait()
    return "\n".join(device.explanation(program.load(device)))


def test_an_order_of_work_groups_of_ones_own() -> None:
    """By min, max and divisions: bands of two rows of tiles."""
    @kernel(work_group_size=(128,))
    def gemm(item: nd_item[1], A: ptr[const[half]], B: ptr[const[half]], C: ptr[float32], M: int32, N: int32, K: int32,
             down: int32, across: int32):
        g = item.get_group()
        number = g.get_group_id(0)
        band, within = number // (2 * across), number % (2 * across)
        height = min(2, down - 2 * band)
        row, column = (2 * band + within % height) * 64, max(within // height, 0) * 32
        a = joint_matrix(work_group, half, use.a, 64, 32, layout.row_major)
        b = joint_matrix(work_group, half, use.b, 32, 32, layout.row_major)
        c = joint_matrix(work_group, float32, use.accumulator, 64, 32)
        joint_matrix_fill(g, c, 0)
        for k in range(0, K, 32):
            joint_matrix_load_checked(g, a, A, K, M, K, row, k)
            joint_matrix_load_checked(g, b, B, N, K, N, k, column)
            joint_matrix_mad(g, c, a, b, c)
        joint_matrix_store_checked(g, c, C, N, layout.row_major, M, N, row, column)

    m, n, k = 180, 72, 40
    a, b, c = small(m, k), small(k, n), np.full((m, n), -1, np.float32)
    assert FETCHED in run(gemm, (3 * 3 * 128,), (128,), a, b, c, m, n, k, 3, 3)
    np.testing.assert_array_equal(c, a.astype(np.float64) @ b.astype(np.float64))


WORK_GROUP_GEMM = """
#define TILE(rows, columns, use) \\
    __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_WORKGROUP, rows, columns, CLK_COOPERATIVE_MATRIX_##use)))
#define ROWS CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR
typedef half a_tile TILE(M, 32, A);
typedef half b_tile TILE(32, 64, B);
typedef float c_tile TILE(M, 64, ACCUMULATOR);
__attribute__((reqd_work_group_size(128, 1, 1)))
kernel void gemm(global const half *A, global const half *B, global float *C, int N, int K)
{
    size_t m = get_group_id(1) * M, n = get_group_id(0) * 64;
    c_tile c = coop_mat_init(0);
    for (int k = 0; k < K; k += 32) {
        a_tile a = coop_mat_load(A + m * K + k, ROWS, K);
        b_tile b = coop_mat_load(B + (size_t)k * N + n, ROWS, N);
        c = coop_mat_mulAdd(a, b, c);
    }
    coop_mat_store(C + m * N + n, c, ROWS, N);
}
"""


@pytest.mark.parametrize(("rows", "said"), [
    (64, "wgmma, of tiles that are fetched ahead by tensor maps"),
    (32, "mma.sync, of tiles that are fetched ahead by 32 threads")])  # which wgmma does not multiply
def test_opencl_c(rows: int, said: str) -> None:
    """Whole tiles, which are as large as the launch says."""
    m, n, k = 2 * rows, 128, 96
    a, b, c = small(m, k), small(k, n), np.full((m, n), -1, np.float32)
    device = cm.device(gpu.GPU)
    program = cm.build(WORK_GROUP_GEMM, f"-DM={rows}", device=device)
    cm.Queue(device).enqueue(program.kernel("gemm"), (2 * 128, 2), (128, 1), a, b, c, n, k).wait()
    np.testing.assert_array_equal(c, a.astype(np.float64) @ b.astype(np.float64))
    assert said in "\n".join(device.explanation(program.load(device)))


@pytest.mark.thinned(2)
@pytest.mark.parametrize(("gap", "width"), [(0, 72), (1, 71)])
def test_an_epilogue_of_many_matrices(gap: int, width: int) -> None:
    """Each is loaded where it is used, part by part: whole, and what of it there is; a residual of another type."""
    @kernel(work_group_size=(1, 128))
    def fused(item: nd_item[2], A: ptr[const[half]], B: ptr[const[half]], bias: ptr[const[float32]],
              scales: ptr[const[float32]], R: ptr[const[half]], S: ptr[const[float32]], C: ptr[float32], M: int32,
              N: int32, K: int32, line: int32):
        g = item.get_group()
        row, column = g.get_group_id(0) * 64, g.get_group_id(1) * 128
        a = joint_matrix(work_group, half, use.a, 64, 32, layout.row_major)
        b = joint_matrix(work_group, half, use.b, 32, 128, layout.row_major)
        c = joint_matrix(work_group, float32, use.accumulator, 64, 128)
        joint_matrix_fill(g, c, 0)
        for k in range(0, K, 32):
            joint_matrix_load_checked(g, a, A, K, M, K, row, k)
            joint_matrix_load_checked(g, b, B, line, K, N, k, column)
            joint_matrix_mad(g, c, a, b, c)
        x = joint_matrix(work_group, float32, use.accumulator, 64, 128)
        joint_matrix_load_checked(g, x, bias, 0, layout.row_major, M, N, row, column)
        c = c + x
        y = joint_matrix(work_group, float32, use.accumulator, 64, 128)
        joint_matrix_load_checked(g, y, scales, 0, layout.col_major, N, M, column, row)
        c = c * y
        joint_matrix_apply(g, c, lambda x: max(x, 0))
        z = joint_matrix(work_group, half, use.accumulator, 64, 128)
        joint_matrix_load_checked(g, z, R, line, layout.row_major, M, N, row, column)
        w = joint_matrix(work_group, float32, use.accumulator, 64, 128)
        joint_matrix_copy(g, z, w)
        c = c - w
        v = joint_matrix(work_group, float32, use.accumulator, 64, 128)
        joint_matrix_load_checked(g, v, S, line, layout.row_major, M, N, row, column)
        joint_matrix_apply(g, v, c, lambda y, x: x + 2 * y)
        joint_matrix_store_checked(g, c, C, line, layout.row_major, M, N, row, column)

    m, n, k, line = 80, 128 + width, 40, 128 + width + gap
    a, b, r = small(m, k), small(k, line), small(m, line)
    bias, scales, s = (small(*one).astype(np.float32) for one in ((1, n), (m, 1), (m, line + 8)))
    s, c = np.ascontiguousarray(s[:, :line]), np.full((m, line), -1, np.float32)
    run(fused, (2, 2 * 128), (1, 128), a, b, bias, scales, r, s, c, m, n, k, line)
    products = a.astype(np.float64) @ b.astype(np.float64)[:, :n]
    expected = np.maximum((products + bias) * scales, 0) - r[:, :n] + 2 * s[:, :n]
    np.testing.assert_array_equal(c[:, :n], expected)
    assert (c[:, n:] == -1).all()


# ------------------------------------------------------------------ the order of what is done to memory


def copied(reads_back: bool):
    """S = H, a barrier, C = A * B; or S * B."""
    @kernel(work_group_size=(1, 128))
    def copied(item: nd_item[2], H: ptr[const[half]], S: ptr[half], A: ptr[const[half]], B: ptr[const[half]],
               C: ptr[float32]):
        g = item.get_group()
        h = joint_matrix(work_group, half, use.accumulator, 64, 64)
        a = joint_matrix(work_group, half, use.a, 64, 32, layout.row_major)
        b = joint_matrix(work_group, half, use.b, 32, 64, layout.row_major)
        c = joint_matrix(work_group, float32, use.accumulator, 64, 64)
        joint_matrix_load_checked(g, h, H, 64, layout.row_major, 64, 64, 0, 0)
        joint_matrix_store_checked(g, h, S, 64, layout.row_major, 64, 64, 0, 0)
        group_barrier(g)
        joint_matrix_fill(g, c, 0)
        for k in range(0, 64, 32):
            if reads_back:
                joint_matrix_load_checked(g, a, S, 64, 64, 64, 0, k)
            else:
                joint_matrix_load_checked(g, a, A, 64, 64, 64, 0, k)
            joint_matrix_load_checked(g, b, B, 64, 64, 64, k, 0)
            joint_matrix_mad(g, c, a, b, c)
        joint_matrix_store_checked(g, c, C, 64, layout.row_major, 64, 64, 0, 0)

    return copied


def test_tiles_that_the_kernel_has_written() -> None:
    """They are not fetched ahead."""
    h, b = small(64, 64), small(64, 64)
    s, c = np.zeros((64, 64), np.float16), np.full((64, 64), -1, np.float32)
    assert "that the kernel may have written before" in run(copied(True), (1, 128), (1, 128), h, s, h, b, c)
    np.testing.assert_array_equal(c, h.astype(np.float64) @ b.astype(np.float64))


@pytest.mark.parametrize("is_one", [False, True])
def test_arrays_that_may_be_one(is_one: bool) -> None:
    """What is written and what is fetched are two arguments: a launch says whether they are one array."""
    h, b = small(64, 64), small(64, 64)
    s, c = h[::-1].copy(), np.full((64, 64), -1, np.float32)
    said = run(copied(False), (1, 128), (1, 128), h, s, s if is_one else h, b, c)
    assert ("no pipeline" if is_one else FETCHED) in said
    np.testing.assert_array_equal(c, h.astype(np.float64) @ b.astype(np.float64))


def test_results_that_are_read_again() -> None:
    """They do not leave by tensor maps, which would be later."""
    @kernel(work_group_size=(1, 128))
    def twice(item: nd_item[2], A: ptr[const[half]], B: ptr[const[half]], C: ptr[float32]):
        g = item.get_group()
        a = joint_matrix(work_group, half, use.a, 64, 32, layout.row_major)
        b = joint_matrix(work_group, half, use.b, 32, 64, layout.row_major)
        c = joint_matrix(work_group, float32, use.accumulator, 64, 64)
        joint_matrix_fill(g, c, 0)
        for k in range(0, 64, 32):
            joint_matrix_load_checked(g, a, A, 64, 64, 64, 0, k)
            joint_matrix_load_checked(g, b, B, 64, 64, 64, k, 0)
            joint_matrix_mad(g, c, a, b, c)
        joint_matrix_store_checked(g, c, C, 64, layout.row_major, 64, 64, 0, 0)
        group_barrier(g)
        d = joint_matrix(work_group, float32, use.accumulator, 64, 64)
        joint_matrix_load_checked(g, d, C, 64, layout.row_major, 64, 64, 0, 0)
        joint_matrix_store_checked(g, d + d, C, 64, layout.row_major, 64, 64, 0, 0)

    a, b, c = small(64, 64), small(64, 64), np.full((64, 64), -1, np.float32)
    said = run(twice, (1, 128), (1, 128), a, b, c)
    assert FETCHED in said
    np.testing.assert_array_equal(c, 2 * (a.astype(np.float64) @ b.astype(np.float64)))


def test_tiles_in_local_memory() -> None:
    """No tensor map describes it."""
    @kernel(work_group_size=(1, 128))
    def gemm(item: nd_item[2], A: ptr[const[half]], B: ptr[const[half]], C: ptr[float32], T: local_accessor[half, 1]):
        g = item.get_group()
        local_id = item.get_local_id(1)
        for place in range(local_id, 64 * 64, 128):
            T[place] = A[place]
        group_barrier(g)
        a = joint_matrix(work_group, half, use.a, 64, 32, layout.row_major)
        b = joint_matrix(work_group, half, use.b, 32, 64, layout.row_major)
        c = joint_matrix(work_group, float32, use.accumulator, 64, 64)
        joint_matrix_fill(g, c, 0)
        for k in range(0, 64, 32):
            joint_matrix_load_checked(g, a, T, 64, 64, 64, 0, k)
            joint_matrix_load_checked(g, b, B, 64, 64, 64, k, 0)
            joint_matrix_mad(g, c, a, b, c)
        joint_matrix_store_checked(g, c, C, 64, layout.row_major, 64, 64, 0, 0)

    a, b, c = small(64, 64), small(64, 64), np.full((64, 64), -1, np.float32)
    said = run(gemm, (1, 128), (1, 128), a, b, c, cm.LocalMemory(64 * 64 * 2))
    assert "no pipeline" in said
    np.testing.assert_array_equal(c, a.astype(np.float64) @ b.astype(np.float64))


COPIED = "fetched ahead by 128 threads with cp.async"


@pytest.mark.thinned(2)
@pytest.mark.parametrize(("formats", "rows_of", "gap"), [
    (("bf16", "bf16", "fp32"), "ABC", 1),  # element by element
    (("bf16", "bf16", "fp32"), "BC", 2),  # four bytes at a time
    (("fp16", "fp16", "fp32"), "C", 4),  # eight
    (("tf32", "tf32", "fp32"), "AC", 1),
    (("sint8", "sint8", "sint32"), "AC", 3)])
def test_lines_that_tensor_maps_refuse(formats: tuple[str, str, str], rows_of: str, gap: int) -> None:
    """Threads fetch them: whole tiles, and what is left at the edges."""
    gemm, device = Gemm(formats, (64, 64, 32), 128, rows_of), cm.device(gpu.GPU)
    for sizes in ((128, 64, 96), (40, 72, 44), (1, 65, 33)):
        Product(gemm, sizes, gap=gap).compare_exactly()
        assert COPIED in "\n".join(device.explanation(gemm.program(device).load(device)))


def test_matrices_behind_each_other() -> None:
    """Their addresses are computed in the kernel, for which no tensor map is made before."""
    @kernel(work_group_size=(1, 1, 256))
    def gemm(item: nd_item[3], A: ptr[const[half]], B: ptr[const[half]], C: ptr[float32], M: int32, N: int32, K: int32):
        g = item.get_group()
        number, row, column = g.get_group_id(0), g.get_group_id(1) * 128, g.get_group_id(2) * 64
        a = joint_matrix(work_group, half, use.a, 128, 64, layout.row_major)
        b = joint_matrix(work_group, half, use.b, 64, 64, layout.row_major)
        c = joint_matrix(work_group, float32, use.accumulator, 128, 64)
        joint_matrix_fill(g, c, 0)
        for k in range(0, K, 64):
            joint_matrix_load_checked(g, a, A + number * M * K, K, M, K, row, k)
            joint_matrix_load_checked(g, b, B + number * K * N, N, K, N, k, column)
            joint_matrix_mad(g, c, a, b, c)
        joint_matrix_store_checked(g, c, C + number * M * N, N, layout.row_major, M, N, row, column)

    m, n, k = 136, 72, 104
    rng = np.random.default_rng(3)
    a, b = (rng.integers(-8, 8, shape).astype(np.float16) for shape in ((3, m, k), (3, k, n)))
    c = np.full((3, m, n), -1, np.float32)
    device = cm.device(gpu.GPU)
    program = cm.build(gemm, device=device)
    cm.Queue(device).enqueue(program.kernel("gemm"), (2 * 256, 2, 3), (256, 1, 1), a, b, c, m, n, k).wait()
    np.testing.assert_array_equal(c, a.astype(np.float64) @ b.astype(np.float64))
    assert COPIED in "\n".join(device.explanation(program.load(device)))
