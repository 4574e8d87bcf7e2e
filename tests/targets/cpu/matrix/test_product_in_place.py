"""Products whose operands are multiplied where they lie, and those whose result takes the place of an operand."""

from __future__ import annotations

import numpy as np
import pytest

import coopmat as cm
from coopmat.sycl import (
    float32,
    float64,
    int32,
    joint_matrix,
    joint_matrix_load_checked,
    joint_matrix_mad,
    joint_matrix_store_checked,
    kernel,
    layout,
    nd_item,
    ptr,
    sub_group,
    use,
)
from coopmat.targets.cpu.features import LEVELS, cpu_features
from coopmat.targets.cpu.features import VARIABLE as FEATURES
from coopmat.targets.cpu.merging import VARIABLE
from coopmat.targets.cpu.program import CpuProgram

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
    program = cm.build(SOURCE, options=f"-DT={element}", device="cpu")
    cm.Queue("cpu").enqueue(program.kernel("k"), (16, 11), (16, 1), a, b, a).wait()
    np.testing.assert_array_equal(a, expected)


FEW_ROWS = """
#define ROW CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR
#define MATRIX(rows, columns, use) \\
    __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, rows, columns, CLK_COOPERATIVE_MATRIX_##use)))
kernel void few_rows(global const T *A, global const T *B, global T *C, int N, int K)
{
    int column = get_group_id(0) * 16;
    T MATRIX(ROWS, 16, ACCUMULATOR) c = coop_mat_load(C + column, ROW, N);
    for (int k = 0; k < K; k += 8) {
        T MATRIX(ROWS, 8, A) a = coop_mat_load(A + k, ROW, K);
        T MATRIX(8, 16, B) b = coop_mat_load(B + (size_t)k * N + column, ROW, N);
        c = coop_matmul_add(a, b, c, CLK_COOPERATIVE_MATRIX_OPERAND_NONE);
    }
    coop_mat_store(C + column, c, ROW, N);
}
"""


def checked_few_rows(T: type, rows: int) -> cm.Program:
    """The same with edges on both sides of B."""
    @kernel(sub_group_size=16)
    def few_rows(item: nd_item[2], A: ptr[T], B: ptr[T], C: ptr[T], N: int32, K: int32):
        sg, column = item.get_sub_group(), item.get_group(1) * 16
        a = joint_matrix(sub_group, T, use.a, rows, 8, layout.row_major)
        b = joint_matrix(sub_group, T, use.b, 8, 16, layout.row_major)
        c = joint_matrix(sub_group, T, use.accumulator, rows, 16)
        joint_matrix_load_checked(sg, c, C, N, layout.row_major, rows, N, 0, column)
        for k in range(0, K, 8):
            joint_matrix_load_checked(sg, a, A, K, rows, K, 0, k)
            joint_matrix_load_checked(sg, b, B, N, K, N, k, column)
            joint_matrix_mad(sg, c, a, b, c)
        joint_matrix_store_checked(sg, c, C, N, layout.row_major, rows, N, 0, column)

    return cm.build(few_rows)


TYPES = {"float": (np.float32, float32), "double": (np.float64, float64)}


@pytest.mark.thinned(2)
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize(("element", "rows"), [("float", 1), ("double", 2), ("float", 4), ("double", 8), ("float", 9)])
def test_few_rows(element: str, rows: int, level: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """B of a product of few rows, which takes each part of it once, is multiplied where it lies, line by line, with the
    bits of the kernel as it is written."""
    rng, (dtype, own) = np.random.default_rng(rows), TYPES[element]
    plain = cm.build(FEW_ROWS, [f"-DT={element}", f"-DROWS={rows}"])
    for module, n, k in ((plain.module, 2640, 264), (checked_few_rows(own, rows).module, 2616, 268)):
        a, b, c = (rng.standard_normal(shape).astype(dtype) for shape in ((rows, k), (k, n), (rows, n)))
        found, said = [], ""
        for merge in ("0", ""):
            monkeypatch.setenv(VARIABLE, merge)
            program = CpuProgram(module, cpu_features({FEATURES: level}), cm.CpuOptions(threads=1))
            found.append(c.copy())
            program.launch("few_rows", (-(-n // 16) * 16, 1), (16, 1), [a, b, found[-1], np.int32(n), np.int32(k)])
            said = "\n".join(program.explanation())
        np.testing.assert_array_equal(*found)
        np.testing.assert_allclose(found[1], c + a.astype(np.float64) @ b, rtol=0, atol=1e3 * np.finfo(dtype).eps)
        assert ("B: multiplied where it lies" in said) == (rows in _few(level))


def _few(level: str) -> range:
    """The rows of a block of vectors of this machine."""
    features = cpu_features({FEATURES: level})
    return range(1, 9 if "avx512f" in features else 5 if "avx" in features else 3)


@pytest.mark.parametrize("row", [0, 7, 130])
def test_in_place_of_b(row: int) -> None:
    """B is not multiplied where it lies while sums are written to a row of it."""
    n, k = 512, 264
    program = CpuProgram(cm.build(FEW_ROWS, ["-DT=float", "-DROWS=1"]).module, cpu_features(), cm.CpuOptions(threads=1))
    a, b = (np.random.default_rng(row).integers(-8, 8, shape).astype(np.float32) for shape in ((1, k), (k, n)))
    expected = b.copy()
    expected[row] += (a @ b)[0]
    program.launch("few_rows", (n, 1), (16, 1), [a, b, b[row], np.int32(n), np.int32(k)])
    np.testing.assert_array_equal(b, expected)
