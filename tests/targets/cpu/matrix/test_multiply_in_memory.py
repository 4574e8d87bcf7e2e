"""Multiply-accumulates that take the elements of A from memory: the bits of those that take a matrix, and what was
there when the kernel loads it."""

from __future__ import annotations

import numpy as np
import pytest

import coopmat as cm
from coopmat.targets.cpu.features import LEVELS, cpu_features
from coopmat.targets.cpu.features import VARIABLE as FEATURES
from coopmat.targets.cpu.program import CpuProgram

SOURCE = """
#define M_(rows, columns, use) \\
    __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, rows, columns, CLK_COOPERATIVE_MATRIX_##use)))
#define ROW CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR
#define COLUMN CLK_COOPERATIVE_MATRIX_LAYOUT_COLUMN_MAJOR
kernel void k(global T *A, global const T *B, global T *C, int K)
{
    const int lane = get_local_id(0);
    local T tiles[TK * 16];
    T M_(TM, 16, ACCUMULATOR) c = coop_mat_init(0);
    for (int k = 0; k < K; k += TK) {
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int row = 0; row < TK; row++)
            tiles[row * 16 + lane] = B[(k + row) * 16 + lane];
        barrier(CLK_LOCAL_MEM_FENCE);
        T M_(TM, TK, A) a = coop_mat_load(PLACE);
        BETWEEN
        T M_(TK, 16, B) b = coop_mat_load(tiles, ROW, 16);
        c = coop_matmul_add(a, b, c, 0);
        TWICE
    }
    coop_mat_store(C, c, ROW, 16);
}
"""
ROWS, COLUMNS = "A + k, ROW, K", "A + k * TM, COLUMN, TM"
KEPT = "elements of A from where they are"
FORMS = {
    "rows": (ROWS, "", "", KEPT),
    "columns": (COLUMNS, "", "", KEPT),
    "written meanwhile": (ROWS, "A[k + lane % TK] = 7;", "", ": vectors"),
    "two products": (ROWS, "", "c = coop_matmul_add(a, b, c, 0);", ": vectors"),
}

CASES = [*((form, "float", "avx512") for form in FORMS), *(("rows", "double", level) for level in LEVELS)]


@pytest.mark.parametrize(("form", "element", "level"), CASES)
def test_bits(form: str, element: str, level: str) -> None:
    """Fused multiply-adds in ascending k of what was loaded, or, where the processor has none, products that are
    rounded."""
    place, between, twice, expected = FORMS[form]
    m, depth, k = 4, 4, 24
    dtype = {"float": np.float32, "double": np.float64}[element]
    source = SOURCE.replace("PLACE", place).replace("BETWEEN", between).replace("TWICE", twice)
    device = cm.device("cpu")
    kernel = cm.build(source, (f"-DT={element}", f"-DTM={m}", f"-DTK={depth}"), device)
    program = CpuProgram(kernel.module, cpu_features({FEATURES: level}), device.options)
    rng = np.random.default_rng(len(form))
    a, b = rng.integers(-9, 10, (m, k)).astype(dtype), rng.integers(-9, 10, (k, 16)).astype(dtype)
    given, c = (a.T.copy() if place == COLUMNS else a.copy()), np.zeros((m, 16), dtype)
    program.launch("k", (16, 1), (16, 1), [given, b, c, np.int32(k)])
    np.testing.assert_array_equal(c, a @ b * (2 if twice else 1))
    if level == "avx512" and (element == "float" or "avx512f" in program.features):  # or sums have no room
        assert expected in "\n".join(program.explanation()), program.explanation()
