"""Matrices of work-groups on a device of Vulkan, beside numpy: cases that a child process runs. Lavapipe has none, so
that its sub-groups share them."""

from __future__ import annotations

import numpy as np
import pytest

import coopmat as cm
from coopmat.sycl import float32, half
from examples.joint_matrix_work_group_attention import attention_kernel, reference
from tests.kit.targets.work_group_gemm import ELEMENTS, Gemm

DEVICE = "vulkan:0"


def _items(sub_groups: int) -> int:
    """So many of the device's sub-groups."""
    return sub_groups * cm.device(DEVICE).sub_group_sizes[0]


def _check(gemm: Gemm, sizes: tuple[int, int, int], gap: int = 0) -> None:
    m, n, k = sizes
    rng = np.random.default_rng(m + n + k)
    a, b, c = (rng.integers(-4, 5, shape) for shape in ((m, k), (k, n), (m, n)))
    formats = (*gemm.formats[:2], gemm.d)
    found = gemm.run(DEVICE, *(one.astype(ELEMENTS[name].dtype) for one, name in zip((a, b, c), formats, strict=True)),
                     gap=gap)
    np.testing.assert_array_equal(found.astype(np.int64), a @ b + (c if gemm.accumulates else 0))


def whole_tiles() -> None:
    _check(Gemm(("fp16", "fp16", "fp32"), (32, 32, 16), _items(4)), (64, 64, 48))
    _check(Gemm(("sint8", "sint8", "sint32"), (32, 16, 32), _items(2)), (64, 64, 32), 8)


def edges() -> None:
    _check(Gemm(("fp16", "fp16", "fp32"), (32, 32, 16), _items(4), rows_of="A"), (45, 33, 17), 3)
    _check(Gemm(("fp16", "fp16", "fp16"), (32, 16, 16), _items(4), rows_of="", accumulates=True), (31, 65, 16), 1)


def types_that_it_does_not_have() -> None:
    """No driver multiplies fp64, and some no bf16."""
    _check(Gemm(("bf16", "bf16", "fp32"), (16, 16, 16), _items(2), result="bf16"), (16, 16, 16))
    if cm.device(DEVICE).description.has_fp64:
        _check(Gemm(("fp64", "fp64", "fp64"), (16, 16, 16), _items(2)), (16, 16, 16))


def other_numbers_of_sub_groups() -> None:
    for sub_groups, tile in ((1, (16, 16, 16)), (3, (48, 16, 16))):
        _check(Gemm(("fp16", "fp16", "fp32"), tile, _items(sub_groups)), (48, 48, 32))


def local_memory() -> None:
    """What one matrix leaves there, another one finds."""
    source = """
    #define MATRIX(use) __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_WORKGROUP, 32, 32, \\
        CLK_COOPERATIVE_MATRIX_##use)))
    #define ROWS CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR
    #define COLUMNS CLK_COOPERATIVE_MATRIX_LAYOUT_COLUMN_MAJOR
    kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void turn(global const half *in, global float *out) {
        local half own[32 * 32];
        half MATRIX(ACCUMULATOR) m = coop_mat_load(in, ROWS, 32);
        for (int i = 0; i < 3; i++) {
            coop_mat_store(own, m, ROWS, 32);
            m = coop_mat_load(own, COLUMNS, 32);
        }
        half MATRIX(A) a = coop_mat_load(own, ROWS, 32);
        half MATRIX(B) b = coop_mat_load(in, ROWS, 32);
        float MATRIX(ACCUMULATOR) c = coop_mat_init(0);
        coop_mat_store(out, coop_matmul_add(a, b, c, 0), ROWS, 32);
    }"""
    rng = np.random.default_rng(0)
    matrix, out = rng.integers(-4, 5, (32, 32)).astype(np.float16), np.zeros((32, 32), np.float32)
    items = _items(4)
    kernel = cm.build(source, (f"-DITEMS={items}",), DEVICE).kernel("turn")
    cm.Queue(DEVICE).enqueue(kernel, items, items, matrix, out).wait()
    np.testing.assert_array_equal(out, matrix.astype(np.float32) @ matrix)


def what_sub_groups_cannot_share() -> None:
    with pytest.raises(cm.KernelNotSupported, match="3 sub-groups cannot share"):
        _check(Gemm(("fp16", "fp16", "fp32"), (16, 16, 16), _items(3)), (16, 16, 16))


def attention() -> None:
    """Reductions of rows, an accumulator that becomes an A, and the columns of elements."""
    heads, length, depth, tile = 1, 32, 16, 16
    rng = np.random.default_rng(0)
    q, k, v = (rng.standard_normal((heads, length, depth)).astype(np.float16) for _ in range(3))
    out, scale = np.zeros((heads, length, depth), np.float32), depth**-0.5
    items = _items(2)
    made = attention_kernel(half, float32, tile, tile, depth, items, True)
    kernel = cm.build(made, device=DEVICE).kernel("attention")
    cm.Queue(DEVICE).enqueue(kernel, (length // tile * items, heads), (items, 1), q, k, v, out, heads, length,
                             scale * np.log2(np.e)).wait()
    np.testing.assert_allclose(out, reference(q, k, v, scale, True), atol=2e-3)
