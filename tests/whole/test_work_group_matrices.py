"""Matrices at work-group scope: both front ends, on the simulator and on the CPU, against numpy.

The shapes go beyond what sub-groups have; work-groups have one sub-group, several, and a last one that is not full.
"""

from __future__ import annotations

import math
import re

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import coopmat as cm
from coopmat.sycl import *
from tests.kit.sycl.launches import error_of, validate

DEALING = ("sim:generic", "cpu")
"""Devices on which the elements of a matrix are dealt out to the work-items."""
DEVICES = (*DEALING, pytest.param("cuda:0", marks=pytest.mark.oracle("cuda")))
BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
TYPES = {  # element type of A and B, of the accumulators, numpy's of both
    "bf16": (bfloat16, float32, BFLOAT16, np.float32), "fp16": (half, float32, np.float16, np.float32),
    "fp16 alone": (half, half, np.float16, np.float16), "fp32": (float32, float32, np.float32, np.float32),
    "tf32": (precision.tf32, float32, np.float32, np.float32), "fp64": (float64, float64, np.float64, np.float64),
    "int8": (int8, int32, np.int8, np.int32), "uint8": (uint8, int32, np.uint8, np.int32),
    "int16": (int16, int32, np.int16, np.int32), "int64": (int64, int64, np.int64, np.int64)}


def small(shape: tuple[int, ...], dtype: object, seed: int = 0) -> np.ndarray:
    """Small integers, of which every product and sum is exact in every type."""
    first = 0 if np.dtype(dtype).kind == "u" else -2
    return np.random.default_rng(seed).integers(first, 3, shape).astype(dtype)


def gemm_of(m: int, n: int, k: int, types: tuple, work_items: int, sub_group_size: int | None = 16):
    """A product of ragged matrices by tiles of a work-group."""
    element, accumulator = types[:2]
    stored = float32 if element is precision.tf32 else element

    @kernel(work_group_size=(1, work_items), sub_group_size=sub_group_size)
    def gemm(item: nd_item[2], A: ptr[stored], B: ptr[stored], C: ptr[accumulator], M: int32, N: int32, K: int32):
        g = item.get_group()
        row, column = g.get_group_id(0) * m, g.get_group_id(1) * n
        a = joint_matrix(work_group, element, use.a, m, k, layout.row_major)
        b = joint_matrix(work_group, element, use.b, k, n, layout.row_major)
        c = joint_matrix(work_group, accumulator, use.accumulator, m, n)
        joint_matrix_fill(g, c, 0)
        for at in range(0, K, k):
            joint_matrix_load_checked(g, a, A, K, M, K, row, at)
            joint_matrix_load_checked(g, b, B, N, K, N, at, column)
            joint_matrix_mad(g, c, a, b, c)
        joint_matrix_store_checked(g, c, C, N, layout.row_major, M, N, row, column)

    return gemm


def product(device: str, tile: tuple[int, int, int], types: tuple, work_items: int, sizes: tuple[int, int, int],
            sub_group_size: int | None = 16) -> None:
    """Multiply ragged matrices, and compare with numpy."""
    (m, n, _), (rows, columns, depth) = tile, sizes
    a, b = small((rows, depth), types[2]), small((depth, columns), types[2], 1)
    c = np.full((rows, columns), 99, types[3])
    groups = -(-rows // m), -(-columns // n) * work_items
    cm.Queue(device).parallel_for(nd_range(groups, (1, work_items)), gemm_of(*tile, types, work_items, sub_group_size),
                                  a, b, c, rows, columns, depth).wait()
    expected = (a.astype(np.float64) @ b.astype(np.float64)).astype(types[3])
    np.testing.assert_array_equal(c, expected)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize(("tile", "work_items", "sizes"), [
    ((16, 16, 16), 16, (16, 16, 16)),  # one sub-group
    ((16, 16, 16), 7, (20, 18, 17)),  # a part of one
    ((64, 48, 32), 64, (100, 75, 50)),  # four sub-groups
    ((48, 16, 32), 40, (50, 30, 33)),  # a last one that is not full
    ((128, 256, 64), 256, (150, 300, 70))])
def test_ragged_product(device: str, tile: tuple[int, int, int], work_items: int, sizes: tuple[int, int, int]) -> None:
    product(device, tile, TYPES["bf16"], work_items, sizes)


def test_a_wrong_size_is_named_as_it_was_written() -> None:
    with pytest.raises(cm.LaunchError, match=r"requires work-groups of \(1, 64\), found \(64, 1\)"):
        cm.Queue("cpu").parallel_for(nd_range((64, 1), (64, 1)), gemm_of(16, 16, 16, TYPES["bf16"], 64),
                                     *[None] * 3, 1, 1, 1)


def test_any_stride_on_a_simulated_gpu() -> None:
    """The rule of its wmma is one of sub-groups' matrices."""
    product("sim:nvidia_gpu_sm_90", (32, 32, 16), TYPES["fp16"], 64, (45, 39, 33), 32)


@pytest.mark.parametrize("device", DEVICES)
@settings(max_examples=8, deadline=None, derandomize=True)
@given(st.tuples(*[st.integers(1, 4).map(lambda number: 16 * number)] * 3), st.sampled_from(sorted(TYPES)),
       st.sampled_from([16, 24, 32, 100]), st.tuples(*[st.integers(1, 70)] * 3))
def test_any_shape_and_type(device: str, tile: tuple[int, int, int], name: str, work_items: int,
                            sizes: tuple[int, int, int]) -> None:
    product(device, tile, TYPES[name], work_items, sizes)


@kernel(work_group_size=(1, 64))
def lines_of_memory(item: nd_item[2], bias: ptr[const[float32]], scales: ptr[const[float32]], out: ptr[float32],
                    M: int32, N: int32, row: int32, column: int32):
    g = item.get_group()
    a = joint_matrix(work_group, float32, use.accumulator, 32, 48)
    b = joint_matrix(work_group, float32, use.accumulator, 32, 48)
    joint_matrix_load_checked(g, a, bias, 0, layout.row_major, M, N, row, column)
    joint_matrix_load_checked(g, b, scales, 0, layout.col_major, N, M, column, row)
    a = a + b * 100.0
    joint_matrix_store(g, a, out, 48, layout.row_major)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize(("sizes", "first"), [
    ((40, 60), (0, 0)), ((40, 60), (8, 12)), ((40, 60), (20, 30)), ((40, 60), (-5, -7)), ((40, 60), (39, 59)),
    ((40, 60), (40, 0)), ((40, 60), (0, 60)), ((40, 60), (-32, 0)), ((10, 5), (-3, -3)), ((0, 60), (0, 0))])
def test_a_line_for_all_lines(device: str, sizes: tuple[int, int], first: tuple[int, int]) -> None:
    """A stride of zero: a bias for each column, a scale for each row; zeros outside, where memory is not read."""
    (height, width), (row, column) = sizes, first
    bias, scales = (np.arange(1, size + 1, dtype=np.float32) for size in (width, height))
    out = np.full((32, 48), -1, np.float32)
    cm.Queue(device).parallel_for(nd_range((1, 64), (1, 64)), lines_of_memory, bias, scales, out, height, width, row,
                                  column).wait()
    whole = np.zeros((200, 200), np.float32)
    whole[70:70 + height, 70:70 + width] = bias + 100 * scales[:, None]
    np.testing.assert_array_equal(out, whole[70 + row:102 + row, 70 + column:118 + column])


@pytest.mark.parametrize("architecture", ["nvidia_gpu_sm_90", "intel_gpu_pvc", "amd_gpu_gfx90a", "intel_cpu_spr"])
def test_simulated_devices(architecture: str) -> None:
    size = cm.device(f"sim:{architecture}").sub_group_sizes[0]
    product(f"sim:{architecture}", (48, 32, 32), TYPES["bf16"], 2 * size, (50, 40, 40), None)


def test_arithmetic_of_a_device() -> None:
    """K beyond the device's block is chained in ascending order."""
    architecture, (m, n, k) = "nvidia_gpu_sm_90", (32, 32, 64)
    rng = np.random.default_rng(5)
    a, b = (rng.normal(size=shape).astype(BFLOAT16) for shape in ((m, k), (k, n)))
    c = np.zeros((m, n), np.float32)
    cm.Queue(f"sim:{architecture}").parallel_for(nd_range((1, 64), (1, 64)), gemm_of(m, n, k, TYPES["bf16"], 64, 32),
                                                a, b, c, m, n, k).wait()
    expected = cm.matrix_multiply_accumulate(a, b, np.zeros_like(c), a_type="bf16", b_type="bf16", c_type="fp32",
                                             architecture=architecture)
    np.testing.assert_array_equal(c, expected)


# ------------------------------------------------------------------ everything else that sub-group matrices can do

ROWS, COLUMNS, ITEMS = 32, 48, 40


@kernel(work_group_size=(ITEMS,), sub_group_size=16)
def operations(item: nd_item[1], X: ptr[float32], Y: ptr[float32], H: ptr[half], sums: ptr[float32], N: int32):
    g = item.get_group()
    x = joint_matrix(work_group, float32, use.accumulator, ROWS, COLUMNS)
    y = joint_matrix(work_group, float32, use.accumulator, ROWS, COLUMNS)
    joint_matrix_prefetch[ROWS, COLUMNS](g, X, N, layout.row_major)
    joint_matrix_load(g, x, X, N, layout.row_major)
    joint_matrix_copy(g, x, y)
    y = max(x + y, 0.0) * 0.5 - x / 4.0
    joint_matrix_apply(g, y, lambda value, row, column: value + row - column)
    joint_matrix_store(g, y, Y, ROWS, layout.col_major)
    h = joint_matrix(work_group, half, use.a, ROWS, COLUMNS, layout.row_major)
    joint_matrix_copy(g, y, h)
    joint_matrix_store(g, h, H, COLUMNS)
    turned = joint_matrix(work_group, half, use.b, COLUMNS, ROWS, layout.row_major)
    joint_matrix_transpose(g, y, turned)
    joint_matrix_store(g, turned, H + ROWS * COLUMNS, ROWS)
    joint_matrix_store(g, joint_matrix_reduce(g, x, "row", "add"), sums, COLUMNS, layout.row_major)
    largest, least = joint_matrix_reduce(g, x, "column", "max"), joint_matrix_reduce(g, x, "all", "min")
    joint_matrix_store(g, largest, sums + ROWS * COLUMNS, COLUMNS, layout.row_major)
    joint_matrix_store(g, least, sums + 2 * ROWS * COLUMNS, COLUMNS, layout.row_major)
    joint_matrix_fill_checked(g, x, 3.0, 20, 30, -4, 2)
    joint_matrix_store(g, x, sums + 3 * ROWS * COLUMNS, COLUMNS, layout.row_major)


@pytest.mark.parametrize("device", DEVICES)
def test_all_operations(device: str) -> None:
    n = COLUMNS + 3
    x = small((ROWS, n), np.float32)
    y, sums = np.zeros((COLUMNS, ROWS), np.float32), np.zeros((4, ROWS, COLUMNS), np.float32)
    halves = np.zeros((2, ROWS * COLUMNS), np.float16)
    cm.Queue(device).parallel_for(nd_range((ITEMS,), (ITEMS,)), operations, x, y, halves, sums, n).wait()
    given_ = x[:, :COLUMNS]
    rows, columns = np.indices(given_.shape)
    expected = np.maximum(2 * given_, 0) * 0.5 - given_ / 4 + rows - columns
    np.testing.assert_array_equal(y, expected.T)
    np.testing.assert_array_equal(halves[0].reshape(given_.shape), expected.astype(np.float16))
    np.testing.assert_array_equal(halves[1].reshape(COLUMNS, ROWS), expected.T.astype(np.float16))
    filled = np.where((rows - 4 >= 0) & (rows - 4 < 20) & (columns + 2 < 30), 3.0, 0.0)
    for found, wanted in zip(sums, (given_.sum(1, keepdims=True), given_.max(0), given_.min(), filled), strict=True):
        np.testing.assert_array_equal(found, np.broadcast_to(wanted, given_.shape))


OPENCL = """
#define WG CLK_COOPERATIVE_MATRIX_SCOPE_WORKGROUP
#define ROW CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR
typedef char a_t __attribute__((coop_mat(WG, M, K, CLK_COOPERATIVE_MATRIX_A)));
typedef char b_t __attribute__((coop_mat(memory_scope_work_group, K, N, CLK_COOPERATIVE_MATRIX_B)));
typedef int c_t __attribute__((coop_mat(WG, M, N, CLK_COOPERATIVE_MATRIX_ACCUMULATOR)));
typedef float f_t __attribute__((coop_mat(WG, M, N, CLK_COOPERATIVE_MATRIX_ACCUMULATOR)));

kernel __attribute__((reqd_work_group_size(8, 5, 1))) __attribute__((intel_reqd_sub_group_size(16)))
void matmul(global char *A, global char *B, global int *C, global float *F, global int *lengths) {
    a_t a = coop_mat_load(A, ROW, K);
    b_t b = coop_mat_load(B, CLK_COOPERATIVE_MATRIX_LAYOUT_COLUMN_MAJOR, K);
    c_t c = coop_mat_init(1);
    c = coop_mat_mulAdd(a, b, c);
    c_t held[2];
    for (int i = 0; i < 2; i++)
        held[i] = c * (i + 1);
    c = held[0] + held[1];
    for (uint i = 0; i < coop_mat_length(c); i++) {
        int2 at = coop_mat_get_coord(c, i);
        c[i] = c[i] < 0 ? -c[i] : c[i] + 100 * at.x + at.y;
    }
    coop_mat_store(C, c, ROW, N);
    f_t f = coop_mat_convert(c);
    f = -f * 0.5f;
    coop_mat_store(F, f, ROW, N);
    lengths[get_local_linear_id()] = coop_mat_length(c);
}
"""


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("suffix", ["", ".ll"])
def test_opencl_c(device: str, suffix: str, tmp_path) -> None:
    """Components, coordinates, arrays and operators; also by way of the LLVM IR and back."""
    m, n, k = 48, 32, 16
    options = (f"-DM={m}", f"-DN={n}", f"-DK={k}")
    program = cm.build(OPENCL, options, device=cm.device(device))
    if suffix:
        assert f'target("spirv.CooperativeMatrixKHR", i8, 2, {m}, {k}, 0)' in program.llvm_ir
        path = tmp_path / f"kernel{suffix}"
        path.write_text(program.llvm_ir)
        program = cm.build(path, device=cm.device(device))
    a, b = small((m, k), np.int8), small((n, k), np.int8, 1)
    c, f, lengths = np.zeros((m, n), np.int32), np.zeros((m, n), np.float32), np.zeros(40, np.int32)
    cm.Queue(device).enqueue(program.kernel("matmul"), (8, 5), (8, 5), a, b, c, f, lengths).wait()
    total = 3 * (a.astype(np.int32) @ b.T.astype(np.int32) + 1)
    rows, columns = np.indices((m, n))
    expected = np.where(total < 0, -total, total + 100 * rows + columns)
    np.testing.assert_array_equal(c, expected)
    np.testing.assert_array_equal(f, -expected * np.float32(0.5))
    assert lengths.tolist() == [math.ceil(m * n / 40)] * 40


MIXED = """
typedef float c_t __attribute__((coop_mat(2, 32, 16, CLK_COOPERATIVE_MATRIX_ACCUMULATOR)));
typedef float s_t __attribute__((coop_mat(3, 16, 16, CLK_COOPERATIVE_MATRIX_ACCUMULATOR)));

void twice(c_t *m, int which) {
    for (uint i = 0; i < coop_mat_length(*m); i++)
        if (i % 2 == which) (*m)[i] *= 2;
}

kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) __attribute__((intel_reqd_sub_group_size(16)))
void k(global float *p, global float *q, int n, local float *l) {
    c_t c[3];
    q += get_group_id(0) * 1280;
    for (int i = 0; i < 3; i++) c[i] = coop_mat_load(p + i, 0, 32);
    s_t s = coop_mat_load(p, 0, 32);
    twice(&c[n], 1);
    for (uint i = 0; i < coop_mat_length(c[0]); i++) c[n][i] += c[(n + 1) % 3][i];
    c_t sum = coop_mat_init(0);
    for (int round = 0; round < n + 2; round++) {
        sum = sum + c[round % 3];
        if (round == 1) continue;
        sum = sum * 2;
    }
    struct { c_t a; int x; c_t b; } both;
    both.a = sum; both.b = c[n]; both.x = n;
    c_t chosen = n > 5 ? both.a : both.b;
    coop_mat_store(l, chosen, 0, 16);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = get_local_id(0); i < 512; i += ITEMS) q[i] = l[i];
    coop_mat_store(q + 512, both.a, 0, 16);
    if (get_sub_group_id() == 0) coop_mat_store(q + 1024, s + s, 0, 16);
}
"""


@pytest.mark.parametrize("device", DEALING)
@pytest.mark.parametrize(("items", "n"), [(16, 1), (48, 0), (64, 2)])
def test_matrices_in_variables(device: str, items: int, n: int) -> None:
    """Arrays, structures, pointers, components of chosen matrices, loops; beside matrices of sub-groups."""
    program = cm.build(MIXED, (f"-DITEMS={items}",), device=cm.device(device))
    p, q = small((33, 32), np.float32), np.zeros(2 * 1280, np.float32)
    cm.Queue(device).enqueue(program.kernel("k"), (2 * items,), (items,), p, q, n, cm.local(2048)).wait()
    c = [np.lib.stride_tricks.as_strided(p.reshape(-1)[i:], (32, 16), (128, 4)).copy() for i in range(3)]
    twice = 2 * c[0][:16]
    c[n] *= 1 + np.arange(512).reshape(32, 16) // items % 2
    c[n] += c[(n + 1) % 3]
    total = np.zeros((32, 16))
    for turn in range(n + 2):
        total = (total + c[turn % 3]) * (1 if turn == 1 else 2)
    np.testing.assert_array_equal(q, np.tile(np.concatenate([c[n].ravel(), total.ravel(), twice.ravel()]), 2))


@pytest.mark.parametrize("device", DEVICES)
def test_reduction_by_any_function(device: str, tmp_path) -> None:
    """A module's own function, x + y + x * y."""
    source = """
        typedef double c_t __attribute__((coop_mat(2, 32, 16, CLK_COOPERATIVE_MATRIX_ACCUMULATOR)));
        kernel __attribute__((reqd_work_group_size(40, 1, 1))) void k(global double *p, global double *q) {
            c_t c = coop_mat_load(p, 0, 16);
            c = coop_mat_reduce(c, CLK_COOPERATIVE_MATRIX_REDUCE_ROW, CLK_COOPERATIVE_MATRIX_COMBINE_ADD);
            coop_mat_store(q, c, 0, 16);
        }"""
    text = cm.build(source).spirv_asm
    changed = re.sub(r"(%\w+) = OpFAdd (%\w+) (%\w+) (%\w+)", r"%sum = OpFAdd \2 \3 \4\n"
                     r"%product = OpFMul \2 \3 \4\n\1 = OpFAdd \2 %sum %product", text)
    assert changed != text
    (tmp_path / "kernel.spvasm").write_text(changed)
    p, q = np.random.default_rng(3).normal(size=(32, 16)) / 4, np.zeros((32, 16))
    program = cm.build(tmp_path / "kernel.spvasm", device=cm.device(device))
    cm.Queue(device).enqueue(program.kernel("k"), (40,), (40,), p, q).wait()
    np.testing.assert_allclose(q, np.broadcast_to(np.prod(1 + p, axis=1, keepdims=True) - 1, q.shape), rtol=1e-9)


@pytest.mark.oracle("spirv-val")
def test_spirv(tmp_path) -> None:
    """SPIRV-Tools accepts the modules; the scope is Workgroup."""
    @kernel(work_group_size=(1, 256))
    def plain(item: nd_item[2], A: ptr[half], B: ptr[half], C: ptr[float32]):
        g = item.get_group()
        a = joint_matrix(work_group, half, use.a, 128, 64, layout.row_major)
        b = joint_matrix(work_group, half, use.b, 64, 256, layout.col_major)
        c = joint_matrix(work_group, float32, use.accumulator, 128, 256)
        joint_matrix_load(g, a, A, 64)
        joint_matrix_load(g, b, B, 64)
        joint_matrix_fill(g, c, 1)
        joint_matrix_mad(g, c, a, b, c)
        joint_matrix_store(g, c * 2.0, C, 256, layout.row_major)

    text = validate(plain, tmp_path)
    assert re.search(r"OpTypeCooperativeMatrixKHR %half %uint_2 %uint_128 %uint_64 %uint_0", text)
    assert "LocalSize 256 1 1" in text


# ------------------------------------------------------------------ what is refused


def test_a_work_group_of_any_size() -> None:
    @kernel
    def unsized(item: nd_item[1], X: ptr[float32]):
        x = joint_matrix(work_group, float32, use.accumulator, 16, 16)
        joint_matrix_fill(item.get_group(), x, 0)

    code, message, _ = error_of(unsized)
    assert (code, message) == (
        "CM6140", "kernel 'unsized' must require a work-group size, as it has a joint_matrix that a work_group shares: "
        "@kernel(work_group_size=(…)), such as (1, 256)")


def test_the_wrong_group() -> None:
    @kernel(work_group_size=(32,))
    def wrong(item: nd_item[1], X: ptr[float32]):
        x = joint_matrix(work_group, float32, use.accumulator, 16, 16)
        joint_matrix_fill(item.get_sub_group(), x, 0)

    code, message, _ = error_of(wrong)
    assert code == "CM6139"
    assert "the group that item.get_group() returns; found the sub_group" in message


@pytest.mark.parametrize(("device", "types", "says"), [
    ("intel_gpu_pvc", "fp64", "the matrix multiply-accumulate fp64"),
    ("amd_gpu_gfx90a", "uint8", "at work-group scope; there it takes")])
def test_types_that_a_device_lacks(device: str, types: str, says: str) -> None:
    with pytest.raises(cm.KernelNotSupported, match=r"at work-group scope; there it takes .*multiples of 16") as caught:
        cm.build(gemm_of(32, 32, 32, TYPES[types], 64, None), device=cm.device(f"sim:{device}"))
    assert says in str(caught.value)


def test_sizes_of_a_module(tmp_path) -> None:
    """What front ends refuse, a module may have."""
    text = cm.build(OPENCL, ("-DM=16", "-DN=16", "-DK=16")).spirv_asm
    broken = text.replace("%uint_16 = OpConstant %uint 16", "%uint_16 = OpConstant %uint 8")
    assert broken != text
    (tmp_path / "kernel.spvasm").write_text(broken)
    with pytest.raises(cm.KernelNotSupported, match=r"does not support .* at work-group scope; there it takes sizes "
                                                    r"that are multiples of 16"):
        cm.build(tmp_path / "kernel.spvasm", device=cm.device("sim:generic"))


def run_one(body: str, device: cm.Device | str = "sim:generic", work_items: int = 32) -> np.ndarray:
    """Run lines of OpenCL C on a 16x16 matrix of a work-group."""
    source = f"""
        typedef float c_t __attribute__((coop_mat(2, 16, 16, CLK_COOPERATIVE_MATRIX_ACCUMULATOR)));
        kernel __attribute__((reqd_work_group_size({work_items}, 1, 1)))
        __attribute__((intel_reqd_sub_group_size(16))) void k(global float *p) {{
            c_t c = coop_mat_init(0); size_t item = get_local_id(0);
            {body}
        }}"""
    memory = np.zeros(256, np.float32)
    found = cm.device(device) if isinstance(device, str) else device
    cm.Queue(found).enqueue(cm.build(source, device=found).kernel("k"), (work_items,), (work_items,),
                             memory).wait()
    return memory


@pytest.mark.parametrize(("body", "says"), [
    ("if (item < 16) coop_mat_store(p, c, 0, 16);",
     "the coop_mat_store (OpCooperativeMatrixStoreKHR) must be reached by the whole work-group; 16 of its 32"),
    ("if (item % 2) c = c + c;", "the matrix '+' (OpFAdd) must be reached by the whole work-group; 16 of its 32")])
def test_divergence(body: str, says: str) -> None:
    with pytest.raises(cm.DivergentGroupOperation, match=re.escape(says)):
        run_one(body)


def test_operands_that_differ() -> None:
    with pytest.raises(cm.UndefinedBehavior, match=r"the pointer of the coop_mat_store .* must be the same in the "
                                                   r"whole work-group; lane 0 of sub-group 0 has .* and lane 0 of "
                                                   r"sub-group 1"):
        run_one("coop_mat_store(p + item / 16, c, 0, 16);")


@pytest.mark.parametrize("device", [cm.device("sim:generic"), cm.device("cpu", options=cm.CpuOptions(bounds=True))],
                         ids=["simulator", "cpu"])
def test_out_of_bounds(device: cm.Device) -> None:
    """Named are the element, and the work-item that would hold it."""
    with pytest.raises(cm.OutOfBounds, match=r"\(15, 8\)|row 15") as caught:
        run_one("coop_mat_store(p + 8, c, 0, 16);", device)
    assert (caught.value.where.sub_group, caught.value.where.lane) == (1, 8)


@pytest.mark.parametrize("device", DEALING)
def test_components_for_some(device: str) -> None:
    """Each work-item may read and write its own components by itself."""
    memory = run_one("""
        if (item % 3 == 0) { c[0] = item; c[7] += 2 + coop_mat_get_coord(c, 7).x; }
        else if (item < 16) for (uint i = 0; i < coop_mat_length(c); i++) c[i] = -1;
        coop_mat_store(p, c, 0, 16);""", device)
    expected = np.zeros((8, 32), np.float32)
    items = np.arange(32)
    expected[:, (items % 3 != 0) & (items < 16)] = -1
    expected[0, items % 3 == 0] = items[items % 3 == 0]
    expected[7, items % 3 == 0] = 2 + (7 * 32 + items[items % 3 == 0]) // 16
    np.testing.assert_array_equal(memory, expected.reshape(-1))


@pytest.mark.parametrize("device", DEVICES)
def test_memory_that_others_write(device: str) -> None:
    """A barrier orders what work-items write and what the work-group loads, and the other way."""
    memory = run_one("""
        for (int i = item; i < 256; i += 32) p[i] = i;
        barrier(CLK_GLOBAL_MEM_FENCE);
        c = coop_mat_load(p, 0, 16);
        c = c + c;
        barrier(CLK_GLOBAL_MEM_FENCE);
        coop_mat_store(p, c, 1, 16);
        barrier(CLK_GLOBAL_MEM_FENCE);
        for (int i = item; i < 256; i += 32) p[i] += 1;""", device)
    np.testing.assert_array_equal(memory, (2 * np.arange(256).reshape(16, 16).T + 1).reshape(-1))


@pytest.mark.parametrize("device", [*DEVICES, "sim:nvidia_gpu_sm_90"])
@pytest.mark.parametrize(("rows", "columns", "items"), [(16, 16, 32), (64, 64, 128), (128, 32, 256), (48, 32, 128)])
@pytest.mark.parametrize("use_of", [use.a, use.accumulator], ids=str)
def test_functions_of_coordinates(use_of: use, rows: int, columns: int, items: int, device: str) -> None:
    """Whoever holds an element knows its coordinates, with and without branches, and rows give what they hold."""
    order = (layout.row_major,) if use_of is use.a else ()

    @kernel(work_group_size=(items,))
    def numbered(item: nd_item[1], out: ptr[half], sums: ptr[half]):
        g = item.get_group()
        m = joint_matrix(work_group, half, use_of, rows, columns, *order)
        joint_matrix_fill(g, m, 1)
        joint_matrix_apply(g, m, lambda x, r, c: x + r * 16 + c if r >= c else -x)
        joint_matrix_apply(g, m, lambda x, r, c: x * 2)
        total = joint_matrix(work_group, half, use.accumulator, rows, columns)
        joint_matrix_copy(g, m, total)
        joint_matrix_store(g, total, out, columns, layout.row_major)
        largest = joint_matrix_reduce(g, total, "row", "max", 16)
        joint_matrix_store(g, largest, sums, 16, layout.row_major)

    out, largest = np.zeros((rows, columns), np.float16), np.zeros((rows, 16), np.float16)
    queue(device).parallel_for(nd_range(items, items), numbered, out, largest).wait()
    row, column = np.indices((rows, columns))
    expected = 2 * np.where(row >= column, 1 + row * 16 + column, -1).astype(np.float16)
    np.testing.assert_array_equal(out, expected)
    np.testing.assert_array_equal(largest, np.repeat(expected.max(axis=1, keepdims=True), 16, axis=1))
