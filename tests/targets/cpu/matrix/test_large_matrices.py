"""Matrices in memory: every test of matrices again, with all of them as only large ones are otherwise; large shapes
against numpy; and how long they take to compile."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import coopmat as cm
from coopmat.targets.cpu.features import LEVELS, VARIABLE
from coopmat.targets.cpu.matrix import body, lowering
from tests.kit.clock import is_within
from tests.kit.targets import short_kernels
from tests.targets.cpu import test_shared
from tests.targets.cpu.matrix import test_exact_numerics, test_rows

STEMS = ("test_matrix__", "test_matrix_functions__", "test_matrix_windows__")
ROWS = (test_rows.test_random_shapes, test_rows.test_bf16_numbers_in_16_bit_integers,
        test_exact_numerics.test_numbers_of_every_kind, test_exact_numerics.test_cancellation_and_ties)
MOST_SECONDS = 20  # to compile a product; it takes one or two where nothing else runs
LANGUAGE = """
#define MATRIX(rows, columns, use) __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, rows, columns, \
                                                           CLK_COOPERATIVE_MATRIX_##use)))
#define ROWS CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR
#define COLUMNS CLK_COOPERATIVE_MATRIX_LAYOUT_COLUMN_MAJOR
typedef IN matrix_a MATRIX(M, K, A);
typedef IN matrix_b MATRIX(K, N, B);
typedef OUT matrix_c MATRIX(M, N, ACCUMULATOR);
"""
FIBONACCI = LANGUAGE + """
kernel void k(global const IN *A, global const IN *B, global const OUT *C, global OUT *D, int n)
{
    matrix_a a = coop_mat_load(A, ROWS, K);
    matrix_b b = coop_mat_load(B, COLUMNS, K);
    matrix_c x = coop_mat_load(C, ROWS, N), y = x;
    for (int i = 0; i < n; i++) {
        matrix_c z = x;
        x = y;
        y = coop_matmul_add(a, b, z, FLAGS);
    }
    if (n & 1)
        y = y + x;
    for (int i = 0; i < coop_mat_length(y); i += 3)
        y[i] = y[i] - (OUT)get_local_id(0);
    coop_mat_store(D, y, ROWS, N);
}
"""
TOGETHER = LANGUAGE + """
__attribute__((intel_reqd_sub_group_size(16)))
kernel void k(global const IN *A, global const IN *B, global OUT *C, local OUT *shared)
{
    const int group = get_sub_group_id();
    matrix_a a = coop_mat_load(A + group * M * K, ROWS, K);
    matrix_b b = coop_mat_load(B, ROWS, N);
    matrix_c c = coop_mat_init(0);
    for (int i = 0; i < 3; i++) {
        c = coop_matmul_add(a, b, c, FLAGS);
        if (group == 0)
            coop_mat_store(shared, c, ROWS, N);
        barrier(CLK_LOCAL_MEM_FENCE);
        matrix_c first = coop_mat_load(shared, ROWS, N);
        barrier(CLK_LOCAL_MEM_FENCE);
        c = group & 1 ? c + first : c;
    }
    coop_mat_store(C + group * M * N, c, ROWS, N);
}
"""
pytestmark = pytest.mark.thinned(4)
SIGNED = 15
TYPES = {"float": (np.float32, "float", np.float32, 0), "half": (np.float16, "float", np.float32, 0),
         "double": (np.float64, "double", np.float64, 0), "char": (np.int8, "int", np.int32, SIGNED)}
"""Type of A and B → its numpy type, C's type and its numpy type, which operands have a sign."""
SHAPES = [(64, 64, 64), (128, 128, 128), (96, 72, 80), (65, 67, 63), (16, 16, 1024), (8, 8, 4096), (3, 2048, 5),
          (512, 4, 4), (33, 31, 2)]


def built(source: str, element: str, shape: tuple[int, int, int]) -> cm.Kernel:
    _, sums, _, flags = TYPES[element]
    m, n, k = shape
    return cm.build(source, (f"-DM={m}", f"-DN={n}", f"-DK={k}", f"-DIN={element}", f"-DOUT={sums}",
                             f"-DFLAGS={flags}")).kernel("k")


def given(element: str, *shapes: tuple[int, int]) -> list[np.ndarray]:
    rng = np.random.default_rng(sum(map(sum, shapes)))
    return [rng.integers(-4, 5, shape).astype(TYPES[element][0]) for shape in shapes]


# ------------------------------------------------------------- all matrices in memory


def _again() -> Iterator[tuple[str, Callable[..., Any]]]:
    for name, test in vars(test_shared).items():
        if name.startswith(STEMS):
            yield name, test
    for test in ROWS:
        yield f"{test.__name__}_again", test


globals().update(_again())


@pytest.fixture(autouse=True)
def _all_are_large(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without tiles, which small matrices have."""
    if request.function.__module__ != __name__:
        monkeypatch.setattr(short_kernels, "TARGET", "cpu")
        monkeypatch.setattr(body, "MOST_ROWS", 0)
        monkeypatch.setenv("COOPMAT_CACHE_DIR", "off")
        monkeypatch.setattr(lowering, "tile_kinds", lambda *_: {})
        short_kernels._cpu_program.cache_clear()


# ------------------------------------------------------------------------ large ones


@pytest.mark.parametrize("level", [level if level != "avx2" else pytest.param(level, marks=pytest.mark.slow)
                                   for level in LEVELS])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("element", TYPES)
def test_products(element: str, shape: tuple[int, int, int], level: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Phis that exchange their values, a choice, components, and rows and columns: exact in every type."""
    monkeypatch.setenv(VARIABLE, level)
    m, n, k = shape
    a, b, c = given(element, (m, k), (k, n), (m, n))
    c = c.astype(TYPES[element][2])
    kernel, queue = built(FIBONACCI, element, shape), cm.Queue("cpu")
    for turns in (0, 5):
        x = y = c.astype(np.float64)
        for _ in range(turns):
            x, y = y, a.astype(np.float64) @ b + x
        y = (y + x if turns & 1 else y).reshape(-1)
        items = np.arange(y.size)
        y = np.where(items // 16 % 3 == 0, y - items % 16, y).reshape(m, n)
        out = np.zeros_like(c)
        start = time.perf_counter()
        queue.enqueue(kernel, 16, 16, a, b.T.copy(), c, out, np.int32(turns)).wait()
        assert is_within(MOST_SECONDS, time.perf_counter() - start)
        np.testing.assert_array_equal(out, y)


def test_sub_groups_that_wait_for_each_other() -> None:
    """Each has a stack of its own, on which its matrices lie."""
    m, n, k = shape = (64, 96, 128)
    a, b = given("float", (4 * m, k), (k, n))
    out = np.zeros((4 * m, n), np.float32)
    cm.Queue("cpu").enqueue(built(TOGETHER, "float", shape), 64, 64, a, b, out, cm.LocalMemory(4 * m * n)).wait()
    product = (a @ b).reshape(4, m, n)
    c = np.zeros_like(product)
    for _ in range(3):
        c += product
        c[1::2] += c[0]
    np.testing.assert_array_equal(out.reshape(4, m, n), c)


def test_there_is_a_limit() -> None:
    arrays = [np.zeros((1024, 1024), np.float32) for _ in range(4)]
    with pytest.raises(cm.Error, match=r"kernel 'k' needs \d+ bytes for the variables and large matrices of a "):
        cm.Queue("cpu").enqueue(built(FIBONACCI, "float", (1024,) * 3), 16, 16, *arrays, np.int32(1)).wait()
