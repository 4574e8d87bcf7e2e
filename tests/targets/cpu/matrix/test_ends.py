"""Sums of products that begin with zeros and go to where the kernel stores them (matrix/ends.py), without a copy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import pytest

import coopmat as cm
from coopmat.targets.cpu.features import LEVELS, cpu_features
from coopmat.targets.cpu.features import VARIABLE as FEATURES
from coopmat.targets.cpu.merging import VARIABLE
from coopmat.targets.cpu.program import CpuProgram

SOURCE = """
#define MATRIX(rows, columns, use) \\
    __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, rows, columns, CLK_COOPERATIVE_MATRIX_##use)))
#define ROW CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR
#define COLUMN CLK_COOPERATIVE_MATRIX_LAYOUT_COLUMN_MAJOR

__attribute__((reqd_work_group_size(16, 1, 1)))
kernel void k(global const char *A, global const char *B, global int *C, int N, int K)
{
    size_t r = get_group_id(1) * T, c = get_group_id(0) * T;
    int MATRIX(T, T, ACCUMULATOR) s = coop_mat_init(0);
    for (int k = 0; k < K; k += 64) {
        char MATRIX(T, 64, A) a = coop_mat_load(A + r * K + k, ROW, K);
        char MATRIX(64, T, B) b = coop_mat_load(B + (size_t)k * N + c, ROW, N);
        s = coop_matmul_add(a, b, s, 15);
    }
    STORE
}
"""
STORES: dict[str, tuple[str, Callable[[np.ndarray], np.ndarray]]] = {
    "once": ("coop_mat_store(C + r * N + c, s, ROW, N);", lambda product: product),
    "twice": ("coop_mat_store(C + r * N + c, s, ROW, N); coop_mat_store(C + r * N + c, s, ROW, N);",
              lambda product: product),
    "and changed": ("coop_mat_store(C + r * N + c, s, ROW, N); s = s + s; coop_mat_store(C + r * N + c, s, ROW, N);",
                    lambda product: 2 * product),
    "by columns": ("coop_mat_store(C + c * N + r, s, COLUMN, N);", np.transpose),
    "where there is some K": ("if (K > 0) coop_mat_store(C + r * N + c, s, ROW, N);", lambda product: product),
}
"""What is done with the sums, and what C is then, of the product."""
DIRECT = "sums go to where the kernel stores them, without a copy"


@dataclass
class Case:
    """A product of random numbers, and what it is to be."""

    rows: int
    columns: int
    depth: int
    a: np.ndarray = field(init=False, repr=False)
    b: np.ndarray = field(init=False, repr=False)
    c: np.ndarray = field(init=False, repr=False)

    def __post_init__(self) -> None:
        rng, depth = np.random.default_rng(0), max(64, self.depth)
        self.a, self.b = (rng.integers(-128, 128, shape).astype(np.int8)
                          for shape in ((self.rows, depth), (depth, self.columns)))
        self.c = np.full((self.rows, self.columns), 7, np.int32)

    @property
    def arguments(self) -> list[object]:
        return [self.a, self.b, self.c, self.columns, self.depth]

    @property
    def wanted(self) -> np.ndarray:
        return self.a[:, :self.depth].astype(np.int32) @ self.b[:self.depth].astype(np.int32)

    def sizes(self, tile: int) -> tuple[int, int]:
        return self.columns // tile * 16, self.rows // tile


@pytest.mark.parametrize(("case", "level"), [
    *((Case(48, 80, 128), level) for level in LEVELS), (Case(64, 64, 0), "amx"), (Case(160, 288, 192), "amx"),
    (Case(32, 32, 2112), "avx512"), (Case(32, 32, 2112), "amx")], ids=str)
def test_sizes(case: Case, level: str) -> None:
    """No round, one, and several; blocks that reach beyond the last row and column; every unit that multiplies."""
    device = cm.device("cpu")
    module = cm.build(SOURCE.replace("STORE", STORES["once"][0]), "-DT=16", device=device).module
    program = CpuProgram(module, cpu_features({FEATURES: level}), device.options)
    program.launch("k", case.sizes(16), (16, 1), case.arguments)
    np.testing.assert_array_equal(case.c, case.wanted)


@pytest.mark.parametrize("store", STORES)
@pytest.mark.parametrize("merge", ["", "0"])
def test_stores(store: str, merge: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sums that something else needs as well, or that lie otherwise in memory, stay in their buffer."""
    monkeypatch.setenv(VARIABLE, merge)
    device, case, (text, result) = cm.device("cpu"), Case(128, 128, 128), STORES[store]
    program = cm.build(SOURCE.replace("STORE", text), "-DT=64", device=device)
    cm.Queue(device).enqueue(program.kernel("k"), case.sizes(64), (16, 1), *case.arguments).wait()
    np.testing.assert_array_equal(case.c, result(case.wanted))
    said = "\n".join(device.explanation(program.load(device)))
    assert "begins with zeros" in said
    assert (DIRECT in said) == (store in ("once", "where there is some K"))


@pytest.mark.parametrize("depth", [64, 128])
def test_in_place(depth: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """C lies where A does: what a product reads it has read before it writes."""
    monkeypatch.setenv(VARIABLE, "0")
    rng, size = np.random.default_rng(0), 64
    c = rng.integers(-9999, 9999, (size, size)).astype(np.int32)
    a = c.view(np.int8).reshape(-1)[:size * depth].reshape(size, depth)
    b = rng.integers(-128, 128, (depth, size)).astype(np.int8)
    wanted = a.astype(np.int32) @ b.astype(np.int32)
    device = cm.device("cpu")
    program = cm.build(SOURCE.replace("STORE", STORES["once"][0]), f"-DT={size}", device=device)
    cm.Queue(device).enqueue(program.kernel("k"), (16, 1), (16, 1), a, b, c, size, depth).wait()
    np.testing.assert_array_equal(c, wanted)
    assert DIRECT in "\n".join(device.explanation(program.load(device)))
