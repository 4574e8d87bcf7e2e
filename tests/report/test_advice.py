"""Each rule of advice finds what was planted, and nothing in its twin."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pytest

import coopmat as cm
from coopmat.report.advice import RULES

floats = partial(np.zeros, dtype=np.float32)
MATRICES = """
#define MATRIX(r, c, u) \\
    __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, r, c, CLK_COOPERATIVE_MATRIX_##u)))
#define ROWS CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR
typedef half tile_a MATRIX(8, 16, A);
typedef half tile_b MATRIX(16, 16, B);
typedef float tile_c MATRIX(8, 16, ACCUMULATOR);
"""


@dataclass(frozen=True)
class Planted:
    """A kernel with a cause of slowness, what is replaced in its twin, and how it is launched. ``words`` are those of
    the advice, at ``line`` (None: the whole launch)."""

    rule: str
    source: str
    cure: tuple[str, str]
    arguments: tuple[Any, ...]
    sizes: tuple[Any, Any]
    words: str
    line: int | None
    device: str = "sim:nvidia_gpu_sm_90"
    cured_sizes: tuple[Any, Any] | None = None


PLANTED = (
    Planted("strided-access", "kernel void f(global const float *A, global float *B) {\n"
            "    int i = get_local_id(0), j = get_local_id(1);\n"
            "    B[j * 32 + i] = A[i * 1024 + j];\n}", ("A[i * 1024 + j]", "A[i + j * 1024]"),
            (floats(32768), floats(1024)), ((32, 32), (32, 32)),
            "the work-items of a sub-group read 'A' with a stride of 4,096 bytes: 32 sectors of 32 bytes for 128 bytes",
            3),
    Planted("narrow-rows", MATRICES + "kernel void f(global const half *A, global half *B) {\n"
            "    half MATRIX(16, WIDTH, B) b = coop_mat_load(A, ROWS, 64);\n"
            "    coop_mat_store(B, b, ROWS, 64);\n}", ("WIDTH", "16"),
            (np.zeros(1024, np.float16), np.zeros(1024, np.float16)), (16, 16),
            "the rows of the matrix in 'A' fill a part of their sectors: 16 sectors of 32 bytes for 256 bytes", 9,
            "sim:generic"),
    Planted("bank-conflict", "kernel void f(global const float *A, global float *B) {\n"
            "    local float tile[32][32];\n    int i = get_local_id(0), j = get_local_id(1);\n"
            "    tile[j][i] = A[j * 32 + i];\n    barrier(CLK_LOCAL_MEM_FENCE);\n"
            "    B[j * 32 + i] = tile[i][j];\n}", ("[32][32]", "[32][33]"), (floats(1024), floats(1024)),
            ((32, 32), (32, 32)), "bank conflict of degree 32 in 'tile': 32 passes instead of 1", 6),
    Planted("repeated-load", "kernel void f(global const float *A, global float *B) {\n"
            "    int i = get_global_id(0), j = get_local_id(1);\n"
            "    B[j * 32 + i] = A[i] + j;\n}", ("A[i]", "A[j * 32 + i]"), (floats(256), floats(256)),
            ((32, 8), (32, 8)), "'A' is loaded 8 times by each work-group", 3),
    Planted("little-reuse", MATRICES + "kernel void f(global const half *A, global const half *B, global float *C) {\n"
            "    tile_a a = coop_mat_load(A, ROWS, 16);\n"
            "    tile_b b = coop_mat_load(B + get_group_id(0) * 256, ROWS, 16);\n"
            "    tile_c c = coop_mat_init(0);\n"
            "    c = coop_matmul_add(a, b, c, CLK_COOPERATIVE_MATRIX_OPERAND_NONE);\n"
            "    coop_mat_store(C + get_group_id(0) * 128, c, ROWS, 16);\n}",
            ("coop_mat_load(A,", "coop_mat_load(A + get_group_id(0) * 128,"),
            (np.zeros(2048, np.float16), np.zeros(4096, np.float16), floats(2048)), (256, 16),
            "'A' is loaded 16 times by the launch, by different work-groups", 9, "sim:intel_gpu_pvc"),
    Planted("contended-atomic", "kernel void f(global const int *A, global int *B) {\n"
            "    int x = A[get_global_id(0)];\n"
            "    atomic_add(B, x);\n}", ("atomic_add(B, x)", "atomic_add(B + get_global_id(0), x)"),
            (np.zeros(64, np.int32), np.zeros(64, np.int32)), (64, 32),
            "32 work-items of a sub-group change the same element of 'B' atomically, one after the other", 3),
    Planted("private-array", "kernel void f(global const int *A, global int *B) {\n"
            "    int own[8], i = get_global_id(0);\n    for (int k = 0; k < 8; k++)\n        own[k] = A[k];\n"
            "    for (int k = 0; k < 8; k++)\n        B[i] += own[(i + k) % 8];\n}",
            ("(i + k) % 8", "k"), (np.zeros(64, np.int32), np.zeros(64, np.int32)), (64, 32),
            "'own' is indexed differently by the work-items of a sub-group, 8 times by each, so it cannot be in "
            "registers", 6),
    Planted("inactive-lanes", "kernel void f(global float *A) {\n    int i = get_global_id(0);\n"
            "    if (i % 32 < 10)\n        for (int k = 0; k < 9; k++)\n            A[i] = A[i] * 2 + k;\n}",
            ("i % 32 < 10", "i % 64 < 32"), (floats(64),), (64, 32), "31% of the work-items are active", 5),
    Planted("partial-sub-group", "kernel void f(global float *A) { A[get_global_id(0)] = 1; }", ("", ""),
            (floats(80),), (80, 20), "work-groups of 20 work-items leave 12 of 32 lanes of their sub-groups idle", None,
            cured_sizes=(64, 32)),
    Planted("few-work-groups", "kernel void f(global float *A) { A[get_global_id(0)] = 1; }", ("", ""),
            (floats(132 * 32),), (128, 32), "the launch has 4 work-groups for 132 SMs: 97% of them have nothing to do",
            None, cured_sizes=(132 * 32, 32)),
    Planted("low-occupancy", "kernel void f(global float *A) {\n    local float tile[30000];\n"
            "    tile[get_local_id(0)] = 1;\n    A[get_global_id(0)] = tile[get_local_id(0)];\n}",
            ("30000", "300"), (floats(64),), (64, 32), "a work-group takes 120,000 bytes of local memory: each "
            "SM has room for 1, 2% of the sub-groups that it could have", None),
    Planted("scalar-products", "kernel void f(global const float *A, global float *B) {\n    float sum = 0;\n"
            "    for (int k = 0; k < 16; k++)\n        sum += A[get_global_id(0)] * k;\n"
            "    B[get_global_id(0)] = sum;\n}",
            ("* k", "+ k"), (floats(64), floats(64)), (64, 32),
            "16 scalar multiply-adds in each work-item, where the device has matrix instructions", 4),
)


def advice(planted: Planted, source: str, sizes: tuple[Any, Any]) -> list[Any]:
    kernel = cm.build(source, device=planted.device).kernel("f")
    found = kernel.report(*sizes, *(np.copy(argument) for argument in planted.arguments))
    return [one for one in found.advice if one.rule == planted.rule]


@pytest.mark.parametrize("planted", PLANTED, ids=lambda planted: planted.rule)
def test_planted(planted: Planted) -> None:
    one, *_ = advice(planted, planted.source.replace("WIDTH", "8"), planted.sizes)
    assert planted.words in one.cause
    assert one.line == planted.line
    assert one.remedy
    assert advice(planted, planted.source.replace(*planted.cure), planted.cured_sizes or planted.sizes) == []


def test_every_rule_is_planted() -> None:
    assert [planted.rule for planted in PLANTED] == [rule.name for rule in RULES]
