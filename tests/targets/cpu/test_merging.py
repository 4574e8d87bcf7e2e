"""Merged work-groups on the CPU: the bits of the kernel as it was written, and of numpy; what is said of them."""

from __future__ import annotations

import random
from dataclasses import dataclass

import ml_dtypes
import numpy as np
import pytest

import coopmat as cm
from coopmat.targets.cpu.features import LEVELS, cpu_features
from coopmat.targets.cpu.features import VARIABLE as FEATURES
from coopmat.targets.cpu.host.launch import MergedPlan
from coopmat.targets.cpu.merging import VARIABLE
from coopmat.targets.cpu.program import CpuProgram

SOURCE = """
#define M(rows, columns, use) \\
    __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, rows, columns, CLK_COOPERATIVE_MATRIX_##use)))
#define ROW CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR
#define COLUMN CLK_COOPERATIVE_MATRIX_LAYOUT_COLUMN_MAJOR
OUT relu(OUT x) { return x > 0 ? x : 0; }
kernel void gemm(global const IN *a, global const IN *b, global const OUT *bias, global OUT *c, int m, int n, int k)
{
    size_t row = get_group_id(1) * (RM * TM), column = get_group_id(0) * (RN * TN);
    OUT M(TM, TN, ACCUMULATOR) sums[RM][RN];
    for (int i = 0; i < RM; i++)
        for (int j = 0; j < RN; j++)
            sums[i][j] = START;
    for (int at = 0; at < k; at += TK)
        for (int i = 0; i < RM; i++)
            for (int j = 0; j < RN; j++) {
                size_t top = row + i * TM, left = column + j * TN;
                IN M(TM, TK, A) x = BY_COLUMNS_A ? coop_mat_load(a + top + (size_t)at * m, COLUMN, m)
                                                 : coop_mat_load(a + top * k + at, ROW, k);
                IN M(TK, TN, B) y = BY_COLUMNS_B ? coop_mat_load(b + at + left * k, COLUMN, k)
                                                 : coop_mat_load(b + (size_t)at * n + left, ROW, n);
                sums[i][j] = coop_matmul_add(x, y, sums[i][j], FLAGS);
            }
    for (int i = 0; i < RM; i++)
        for (int j = 0; j < RN; j++) {
            OUT M(TM, TN, ACCUMULATOR) sum = sums[i][j];
            END;
            coop_mat_store(c + (row + i * TM) * n + column + j * TN, sum, ROW, n);
        }
}
"""
TYPES = {"char": (np.int8, "int", np.int32, 15), "uchar": (np.uint8, "int", np.int32, 12),
         "short": (np.int16, "int", np.int32, 15), "half": (np.float16, "float", np.float32, 0),
         "__bf16": (ml_dtypes.bfloat16, "float", np.float32, 0), "float": (np.float32, "float", np.float32, 0),
         "double": (np.float64, "double", np.float64, 0)}
"""Type of A and B → its numpy type, C's, its numpy type, which operands have a sign."""
STARTS = ("coop_mat_init(0)", "coop_mat_load(bias + (row + i * TM) * n + column + j * TN, ROW, n)")
ENDS = ("", "sum = sum * (OUT)3", "sum = coop_mat_apply(sum, relu)")


@dataclass(frozen=True)
class Drawn:
    """A kernel's options, its sizes, and how many of its work-groups become one."""

    element: str
    options: tuple[str, ...]
    sizes: tuple[int, int, int]
    grid: tuple[int, int]
    start: int
    end: int
    columns: tuple[bool, bool]
    merge: str
    threads: int


def drawn(seed: int) -> Drawn:
    chance = random.Random(seed)
    element = chance.choice(list(TYPES))
    tile = [chance.choice((8, 16, 24, 32)) for _ in range(2)]
    depth = chance.choice((8, 16, 32, 64))
    blocks, grid = ([chance.randint(1, most) for _ in range(2)] for most in (2, 6))
    start, end = chance.randrange(len(STARTS)), chance.randrange(len(ENDS))
    columns = chance.random() < 0.4, chance.random() < 0.4
    options = {"IN": element, "OUT": TYPES[element][1], "FLAGS": TYPES[element][3], "TM": tile[0], "TN": tile[1],
               "TK": depth, "RM": blocks[0], "RN": blocks[1], "START": STARTS[start], "END": ENDS[end],
               "BY_COLUMNS_A": int(columns[0]), "BY_COLUMNS_B": int(columns[1])}
    m, n = (grid[place] * blocks[place] * tile[place] for place in range(2))
    return Drawn(element, tuple(f"-D{name}={value}" for name, value in options.items()),
                 (m, n, depth * chance.randint(1, 9)), (grid[0], grid[1]), start, end, columns,
                 f"{chance.randint(1, 5)}x{chance.randint(1, 5)}", chance.randint(1, 3))


def compare(seed: int, level: str, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Launch a kernel merged and as it is; whether it was merged."""
    one = drawn(seed)
    dtype, _, sums, _ = TYPES[one.element]
    m, n, k = one.sizes
    rng = np.random.default_rng(seed)
    if np.issubdtype(sums, np.integer):
        info = np.iinfo(dtype)
        a, b = (rng.integers(info.min, info.max + 1, shape).astype(dtype) for shape in ((m, k), (k, n)))
        bias = rng.integers(-1000, 1000, (m, n)).astype(sums)
    else:
        a, b = (rng.standard_normal(shape).astype(dtype) for shape in ((m, k), (k, n)))
        bias = rng.standard_normal((m, n)).astype(sums)
    given = [np.ascontiguousarray(matrix.T) if turned else matrix for matrix, turned in
             zip((a, b), one.columns, strict=True)]
    device = cm.device("cpu", options=cm.CpuOptions(threads=one.threads))
    kernel = cm.build(SOURCE, one.options, device=device)
    found, merged = [], False
    for merge in ("0", one.merge):
        monkeypatch.setenv(VARIABLE, merge)
        program = CpuProgram(kernel.module, cpu_features({FEATURES: level}), device.options)
        out = np.full((m, n), 77, sums)
        arguments = [*given, bias, out, np.int32(m), np.int32(n), np.int32(k)]
        program.launch("gemm", (one.grid[1] * 16, one.grid[0]), (16, 1), arguments)
        found.append(out)
        (plan, _), = program._plans.values()
        merged = isinstance(plan, MergedPlan) and plan.is_merged
    np.testing.assert_array_equal(found[0], found[1], str(one))
    wide = np.int64 if np.issubdtype(sums, np.integer) else np.float64
    expected = a.astype(wide) @ b.astype(wide) + (bias if one.start else 0)
    expected = expected.astype(sums) if wide is np.int64 else expected  # integers wrap around
    expected = (expected, expected * expected.dtype.type(3), np.maximum(expected, 0))[one.end]
    if wide is np.int64:
        np.testing.assert_array_equal(found[1], expected.astype(sums), str(one))
    else:
        size = 3 * (np.abs(a.astype(wide)) @ np.abs(b.astype(wide)) + np.abs(bias))
        assert (np.abs(found[1] - expected) <= (k + 4) * np.finfo(sums).eps * size).all(), str(one)
    return merged


@pytest.mark.parametrize("level", LEVELS)
def test_random_kernels(level: str, monkeypatch: pytest.MonkeyPatch) -> None:
    first = 6 * list(LEVELS).index(level)
    assert sum(compare(seed, level, monkeypatch) for seed in range(first, first + 6)) > 2


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 1100))
def test_more_random_kernels(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    compare(seed, list(LEVELS)[seed % len(LEVELS)], monkeypatch)
