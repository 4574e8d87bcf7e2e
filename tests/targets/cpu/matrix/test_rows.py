"""Multiply-accumulates on the CPU against numpy: every row of every table, and shapes of all kinds.

Integers are equal. Floating-point numbers lie within the bound of docs/cpu.md: ``K + 2`` roundings of the sum of the
absolute products and C, and one to the type of D.
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from coopmat.runtime.executable import executable
from coopmat.targets.cpu.features import LEVELS, VARIABLE, cpu_features
from coopmat.targets.cpu.options import CpuOptions
from coopmat.targets.cpu.program import CpuProgram
from tests.kit.clock import is_within
from tests.kit.targets.matrix_rows import (
    COLUMN,
    PACKED,
    ROW,
    Case,
    check,
    memory_for,
    numbers_for,
    program_text,
    random_case,
    result_in,
    table_cases,
)
from tests.kit.targets.short_kernels import module

SLOWEST = 45.0  # seconds that a compilation may take, as wall time beside two others


def run(case: Case, level: str, seed: int = 0) -> None:
    """Compile and launch a case, and compare."""
    numbers = numbers_for(case, seed)
    memory = memory_for(case, numbers)
    program = CpuProgram(executable(program_text(case, [array.shape[1] for array in memory])),
                         cpu_features({VARIABLE: level}))
    start = time.perf_counter()
    program.launcher("kernel", (16,), (16,), memory)
    assert is_within(SLOWEST, time.perf_counter() - start)
    program.launch("kernel", (16,), (16,), memory)
    check(case, result_in(case, memory[-1]), *numbers)


# ------------------------------------------------------------------ rows of the tables


def in_turns(cases: list[Case], *levels: str) -> list[Any]:
    """Each case at every level: in the short form, the given levels take turns."""
    return [pytest.param(case, level, id=f"{case}-{level}",
                         marks=[] if level == levels[number % len(levels)] else pytest.mark.slow)
            for number, case in enumerate(cases) for level in LEVELS]


@pytest.mark.parametrize(("case", "level"), in_turns(table_cases(), "amx", "avx2"))
def test_rows_of_the_tables(case: Case, level: str) -> None:
    run(case, level)


@pytest.mark.oracle("amx")
@pytest.mark.thinned(3)
@pytest.mark.parametrize("layout", [ROW, COLUMN, PACKED])
@pytest.mark.parametrize("case", [case for case in table_cases() if case.formats[0] in ("sint8", "uint8", "bf16")],
                         ids=str)
def test_rows_in_tiles(case: Case, layout: int) -> None:
    """On a processor with AMX: B in every layout, rows further apart than they are long."""
    run(replace(case, layouts=(ROW, layout, ROW), gap=3), "amx")


# ------------------------------------------------------------------ other shapes


@pytest.mark.parametrize("seed", range(24))
def test_random_shapes(seed: int) -> None:
    run(random_case(seed), list(LEVELS)[seed // 4 % len(LEVELS)], seed)


@pytest.mark.slow
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("seed", range(24, 184))
def test_more_random_shapes(seed: int, level: str) -> None:
    run(random_case(seed), level, seed)


# ------------------------------------------------------------------ denormal numbers


@pytest.mark.parametrize("level", LEVELS)
def test_denormal_bf16_numbers(level: str) -> None:
    """The instructions of AMX and AVX512-BF16 take denormal operands as zeros; other code computes with them."""
    case = Case(("bf16", "bf16", "fp32", "fp32"), 16, 16, 32)
    a = np.full((16, 32), 2.0**-130, ml_dtypes.bfloat16)
    b, c, out = np.full((32, 16), 2.0**100, ml_dtypes.bfloat16), np.zeros((16, 16), np.float32), np.zeros((16, 16),
                                                                                                          np.float32)
    features = cpu_features({VARIABLE: level})
    CpuProgram(executable(program_text(case, [32, 16, 16, 16])), features).launch("kernel", (16,), (16,),
                                                                                  [a, b, c, out])
    flushes = bool({"amx-bf16", "avx512bf16"} & features.used)
    assert (out == (0 if flushes else 2.0**-25)).all()


# ------------------------------------------------------------------ bf16 in integers


@pytest.mark.parametrize("numerics", ["hardware", "exact", "intel_gpu_pvc"])
@pytest.mark.parametrize("level", LEVELS)
def test_bf16_numbers_in_16_bit_integers(level: str, numerics: str) -> None:
    """SPV_INTEL_joint_matrix: operand bits say that A, B, C and the result are bf16. Sums are exact in float."""
    rng = np.random.default_rng(1)
    a, b, c = (rng.integers(-8, 9, (16, 16)).astype(ml_dtypes.bfloat16) for _ in range(3))
    out = np.zeros((16, 16), np.int16)
    source = module("g_i16 a, g_i16 b, g_i16 c, g_i16 d", """
        %ma = OpCooperativeMatrixLoadKHR %m_i16_16x16_0 %a %i32_c0 %i64_c16
        %mb = OpCooperativeMatrixLoadKHR %m_i16_16x16_1 %b %i32_c0 %i64_c16
        %mc = OpCooperativeMatrixLoadKHR %m_i16_16x16_2 %c %i32_c0 %i64_c16
        %md = OpCooperativeMatrixMulAddKHR %m_i16_16x16_2 %ma %mb %mc MatrixAAndBBFloat16ComponentsINTEL|""" +
                    """MatrixCBFloat16ComponentsINTEL|MatrixResultBFloat16ComponentsINTEL
        OpCooperativeMatrixStoreKHR %d %md %i32_c0 %i64_c16""")
    program = CpuProgram(executable(source), cpu_features({VARIABLE: level}), CpuOptions(numerics=numerics))
    program.launch("kernel", (16,), (16,), [a.view(np.int16), b.view(np.int16), c.view(np.int16), out])
    expected = a.astype(np.float32) @ b.astype(np.float32) + c.astype(np.float32)
    np.testing.assert_array_equal(out, expected.astype(ml_dtypes.bfloat16).view(np.int16))
