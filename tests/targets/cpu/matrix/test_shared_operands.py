"""Operands of products that several work-groups take: kept for them, and put into order as far along K as products
go."""

from __future__ import annotations

import numpy as np
import pytest

import coopmat as cm
from coopmat.sycl import (
    float32,
    int32,
    joint_matrix,
    joint_matrix_fill,
    joint_matrix_load_checked,
    joint_matrix_mad,
    joint_matrix_store,
    kernel,
    layout,
    nd_item,
    nd_range,
    ptr,
    sub_group,
    use,
)
from coopmat.targets.cpu.features import LEVELS
from coopmat.targets.cpu.features import VARIABLE as FEATURES
from coopmat.targets.cpu.merging import VARIABLE

BATCHED = """
#define M(rows, columns, use) \\
    __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, rows, columns, CLK_COOPERATIVE_MATRIX_##use)))
#define ROW CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR
kernel void k(global const char *a, global const char *b, global int *c, int m, int n, int k)
{
    const size_t batch = get_group_id(2);
    a += batch * m * k;
    b += (SHARED ? batch / get_num_groups(2) : batch) * k * n;
    c += batch * m * n;
    const int row = get_group_id(1) * 16, column = get_group_id(0) * 16;
    int M(16, 16, ACCUMULATOR) sum = coop_mat_init(0);
    for (int at = 0; at < k; at += 32) {
        char M(16, 32, A) x = coop_mat_load(a + row * k + at, ROW, k);
        char M(32, 16, B) y = coop_mat_load(b + at * n + column, ROW, n);
        sum = coop_matmul_add(x, y, sum, 15);
    }
    coop_mat_store(c + row * n + column, sum, ROW, n);
}
"""


@pytest.mark.parametrize(("count", "rows", "is_kept"), [(3, 64, False), (1, 256, True)])
def test_b_of_batches(count: int, rows: int, is_kept: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """B is kept if another block takes it, too: not if each batch has its own."""
    monkeypatch.setenv(VARIABLE, "4x4")
    device = cm.device("cpu", options=cm.CpuOptions(threads=1))
    program = cm.build(BATCHED, "-DSHARED=0", device)
    columns, depth, rng = 64, 96, np.random.default_rng(1)
    a, b = (rng.integers(-128, 128, shape).astype(np.int8) for shape in ((count, rows, depth), (count, depth, columns)))
    c = np.zeros((count, rows, columns), np.int32)
    cm.Queue(device).enqueue(program.kernel("k"), (columns, rows // 16, count), (16, 1, 1), a, b, c, rows, columns,
                             depth).wait()
    np.testing.assert_array_equal(c, a.astype(np.int32) @ b.astype(np.int32))
    said = "\n".join(device.explanation(program.load(device)))
    assert ("B: packed once, and kept for blocks that share it" in said) == is_kept
    assert ("B: packed for each block" in said) != is_kept


@kernel(sub_group_size=16)
def windows(item: nd_item[1], A: ptr[float32], B: ptr[float32], C: ptr[float32], widths: ptr[int32],
            height: int32):
    """Each work-group has another part of A along K, and the same of B."""
    sg, group = item.get_sub_group(), item.get_group(0)
    a = joint_matrix(sub_group, float32, use.a, 32, 128, layout.row_major)
    b = joint_matrix(sub_group, float32, use.b, 128, 32, layout.row_major)
    s = joint_matrix(sub_group, float32, use.accumulator, 32, 32)
    joint_matrix_fill(sg, s, 0)
    joint_matrix_load_checked(sg, a, A + group * 32 * 128, 128, 32, widths[group], 0, 0)
    joint_matrix_load_checked(sg, b, B, 32, height, 32, 0, 0)
    joint_matrix_mad(sg, s, a, b, s)
    joint_matrix_store(sg, s, C + group * 32 * 32, 32, layout.row_major)


@pytest.mark.parametrize("level", LEVELS)
def test_one_operand_ends_before_the_other(level: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """B is kept, and its end along K is the same for all; but not how much of it is multiplied."""
    monkeypatch.setenv(FEATURES, level)
    device = cm.device("cpu", options=cm.CpuOptions(threads=1))
    widths = np.array([16, 128, 1, 40, 100, 33], np.int32)
    rng = np.random.default_rng(0)
    a, b = (rng.integers(-9, 10, shape).astype(np.float32) for shape in ((6, 32, 128), (128, 32)))
    c = np.zeros((6, 32, 32), np.float32)
    for given, height in ((np.full_like(b, np.nan), 128), (b, 40)):  # the first launch leaves NaNs where B is kept
        cm.Queue(device).parallel_for(nd_range(6 * 16, 16), windows, a, given, c, widths, height).wait()
    for number, width in enumerate(widths):
        there = min(width, 40)
        np.testing.assert_array_equal(c[number], a[number, :, :there] @ b[:there])
