"""Which work-groups are merged on the CPU, and into blocks of which sizes: what was measured to take less time."""

from __future__ import annotations

import re
from typing import Any

import pytest

import coopmat as cm
from coopmat.spirv.transform.enlarge.merge import NoMerge
from coopmat.targets.base.geometry import Geometry
from coopmat.targets.cpu.program import CpuProgram
from tests.kit.targets.processors import processor

SOURCE = """
#define M(rows, columns, use) \\
    __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, rows, columns, CLK_COOPERATIVE_MATRIX_##use)))
#define ROW CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR
#define COLUMN CLK_COOPERATIVE_MATRIX_LAYOUT_COLUMN_MAJOR
OUT positive(OUT x) { return x > 0 ? x : 0; }
kernel void k(global const IN *A, global const IN *B, global OUT *C, int m, int n, int k)
{
    const int row = get_group_id(1) * 16, column = get_group_id(0) * 16;
    OUT M(16, 16, ACCUMULATOR) s = coop_mat_init(0), none = coop_mat_init(0), part;
    for (int at = 0; at < k; at += TK) {
        IN M(16, TK, A) a = coop_mat_load(A + A_AT);
        IN M(TK, 16, B) b = coop_mat_load(B + at * n + column, ROW, n);
        EACH
    }
    coop_mat_store(C + row * n + column, s, ROW, n);
}
"""
ADDED = "s = coop_matmul_add(a, b, s, FLAGS);"
STORED = ADDED + "coop_mat_store(C + row * n + column, s, ROW, n);"
SCALED = ADDED + "s = s * (OUT)3;"
PARTS = "part = coop_matmul_add(a, b, none, FLAGS); s = s + part * (OUT)3;"
POSITIVE = ADDED + "s = coop_mat_apply(s, positive);"
A_SCALED = "a = a * (IN)3;" + ADDED
TYPES = {"__bf16": ("float", 0, 32), "char": ("int", 15, 64), "float": ("float", 0, 16), "half": ("half", 0, 16)}
"""IN → OUT, the flags of products, and the K of an instruction of AMX, or of what vectors do in a kernel's code."""
NOT_ALONE = "its loop along K does not only add up products of tiles that follow each other"


def merged(element: str, each: str, groups: tuple[int, int], level: str, threads: int = 1, *,
           a_by_columns: bool = False, rounds: int = 1) -> tuple[int, int] | str:
    """How many work-groups of so many become one, down and across, or why none do, on a Xeon that need not be here."""
    out, flags, depth = TYPES[element]
    options = [f"-DIN={element}", f"-DOUT={out}", f"-DFLAGS={flags}", f"-DTK={rounds * depth}", f"-DEACH={each}",
               f"-DA_AT={'at * m + row, COLUMN, m' if a_by_columns else 'row * k + at, ROW, k'}"]
    program = CpuProgram(cm.build(SOURCE, options).module, processor(level),
                         cm.CpuOptions(threads=threads))
    signature = program.signatures["k"]
    geometry = Geometry.checked(signature, (16 * groups[1], groups[0], 1), (16, 1, 1), None, 16)
    try:
        across, down, _ = program.merged_form("k", program.variant(signature, geometry.local_size), geometry
                                              ).merged.factors
    except NoMerge as reason:
        return str(reason)
    return down, across


@pytest.mark.parametrize(("groups", "threads", "factors"), [
    ((64, 64), 1, (8, 16)),
    ((5, 6), 1, (5, 6)),      # as many as there are
    ((10, 10), 1, (10, 10)),
    ((16, 16), 2, (16, 8)),   # of which each thread has one
    ((8, 8), 2, (8, 8)),      # too few for two threads
    ((11, 22), 1, (11, 8)),   # blocks of much the same size
    ((50, 33), 1, (13, 7)),
    ((1, 64), 1, (1, 16)),
])
def test_sizes_of_blocks(groups: tuple[int, int], threads: int, factors: tuple[int, int]) -> None:
    assert merged("char", ADDED, groups, "avx512", threads) == factors


@pytest.mark.parametrize(("groups", "options", "found"), [
    ((64, 1), {}, "C is one tile wide, and so narrow that no part of A is multiplied more than once"),
    ((64, 1), {"a_by_columns": True}, (16, 1)),
    ((64, 4), {}, (16, 4)),
    ((16, 4), {"level": "amx"}, (16, 4)),
    ((64, 4), {"level": "amx"}, "C has only 64 columns, so that parts of A are multiplied few times"),
])
def test_narrow_products(groups: tuple[int, int], options: dict[str, Any], found: tuple[int, int] | str) -> None:
    """Parts of A that are used few times are not put into order."""
    answer = merged(**({"element": "char", "each": ADDED, "groups": groups, "level": "avx512"} | options))
    assert answer == found if isinstance(found, tuple) else re.fullmatch(rf"{found} \(<source>:\d+\)", str(answer))


@pytest.mark.parametrize(("element", "level", "each", "groups", "found"), [
    ("__bf16", "amx", STORED, (16, 16), NOT_ALONE),
    ("__bf16", "amx", SCALED, (64, 64), (2, 8)),       # the sums of a block are in the first-level cache
    ("__bf16", "amx", SCALED, (10, 10), (10, 10)),     # or all of C in the second-level one
    ("char", "amx", PARTS, (4, 64), (4, 8)),
    ("char", "amx", POSITIVE, (64, 4), (8, 4)),
    ("char", "amx", SCALED, (64, 4), NOT_ALONE),       # tiles of A are used too rarely
    ("__bf16", "amx", A_SCALED, (64, 64), (32, 8)),    # sums are loaded and stored
    ("char", "amx", A_SCALED, (4, 64), (4, 32)),
    ("float", "avx512", ADDED, (16, 16), (8, 16)),
    ("float", "avx512", SCALED, (16, 16), NOT_ALONE),  # sums stay in registers
    ("float", "avx512", STORED, (16, 16), NOT_ALONE),
    ("float", "avx512", SCALED, (64, 64), (4, 8)),     # but A and B not in caches
    ("float", "avx2", SCALED, (16, 16), (4, 8)),       # which has too few of them
    ("char", "avx512", SCALED, (16, 16), (4, 8)),      # whose elements are put into order for each product
    ("half", "avx512", ADDED, (8, 8), "each product rounds its sums, so that several rounds cannot be one"),
    ("half", "avx512", ADDED, (64, 64), (8, 16)),
])
def test_rounds_that_stay_apart(element: str, level: str, each: str, groups: tuple[int, int],
                                found: tuple[int, int] | str) -> None:
    """Loops of which several rounds cannot be one are merged where each work-group by itself takes longer."""
    answer = merged(element, each, groups, level)
    assert answer == found if isinstance(found, tuple) else isinstance(answer, str) and found in answer


@pytest.mark.parametrize(("element", "level", "each"), [("__bf16", "amx", STORED), ("float", "avx512", SCALED)])
def test_rounds_of_much_of_k(element: str, level: str, each: str) -> None:
    """Products of more of K than one instruction takes have their sums in memory anyway."""
    assert isinstance(merged(element, each, (16, 16), level), str)
    assert isinstance(merged(element, each, (16, 16), level, rounds=2), tuple)
