"""Products whose result takes the place of A."""

from __future__ import annotations

import numpy as np
import pytest

import coopmat as cm

SOURCE = """
#define ROW CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR
#define MATRIX(rows, columns, use) \\
    __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, rows, columns, CLK_COOPERATIVE_MATRIX_##use)))
kernel void k(global const T *A, global const T *B, global T *C)
{
    int row = get_group_id(1) * 16;
    T MATRIX(16, 64, ACCUMULATOR) c = coop_mat_init(0);
    for (int k = 0; k < 64; k += 16) {
        T MATRIX(16, 16, A) a = coop_mat_load(A + row * 64 + k, ROW, 64);
        T MATRIX(16, 64, B) b = coop_mat_load(B + k * 64, ROW, 64);
        c = coop_matmul_add(a, b, c, CLK_COOPERATIVE_MATRIX_OPERAND_NONE);
    }
    coop_mat_store(C + row * 64, c, ROW, 64);
}
"""


@pytest.mark.parametrize(("element", "dtype"), [("float", np.float32), ("double", np.float64)])
def test_in_place_of_a(element: str, dtype: type[np.floating]) -> None:
    """A, of which each work-group has rows of its own, is not multiplied where it lies while sums are written there."""
    a, b = (np.random.default_rng(0).integers(-8, 8, shape).astype(dtype) for shape in ((176, 64), (64, 64)))
    expected = a @ b
    kernel = cm.build(SOURCE, options=f"-DT={element}", device="cpu").kernel("k")
    cm.Queue("cpu").enqueue(kernel, (16, 11), (16, 1), a, b, a).wait()
    np.testing.assert_array_equal(a, expected)
