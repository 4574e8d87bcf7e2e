"""Multiply-accumulates of sub-groups on an NVIDIA GPU.

Every row of the chip's table is bit for bit what the model of its architecture computes, which the simulator uses, on
ordinary and hostile numbers; other shapes and types agree with exact sums.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import cycle

import numpy as np
import pytest
from inputs import KINDS, operands
from models import product

from coopmat.devices import ARCHITECTURES
from coopmat.formats import FORMATS
from tests.kit.targets import gpu
from tests.kit.targets.matrix_rows import (
    COLUMN,
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

pytestmark = pytest.mark.oracle("cuda")

ROWS = [Case(row.types, *row.largest) for row in ARCHITECTURES["nvidia_gpu_sm_90"].combinations]
LAYOUTS = ((ROW, ROW, ROW), (ROW, COLUMN, ROW), (COLUMN, ROW, COLUMN), (COLUMN, COLUMN, ROW))
MATRICES, LONG_MATRICES = 6, 200  # of each kind, for each layout
BATCH = 8  # cases of a test
SEED = 20261123


def compare(case: Case, number: int, count: int) -> None:
    """A case on numbers of every kind, beside the model."""
    m, n, k = case.m, case.n, case.k
    loaded = None
    for kind in KINDS:
        seed = (SEED, number, KINDS.index(kind))
        bits = operands(seed, kind, case.formats[:3], ((count, m, k), (count, k, n), (count, m, n)))
        expected = product(gpu.architecture(), case.formats, *bits, saturating=case.saturating)
        for place in range(count):
            memory = memory_for(case, [gpu.numbers_of(one[place], fmt)
                                       for one, fmt in zip(bits, case.formats, strict=False)])
            if loaded is None:
                loaded = gpu.program(program_text(case, [array.shape[1] for array in memory]))
            loaded.launch("kernel", (32,), (32,), memory)
            gpu.assert_same_bits(result_in(case, memory[-1]), expected[place].view(FORMATS[case.formats[3]].dtype),
                                 f"{case}, {kind} numbers, matrix {place}")


@pytest.mark.parametrize("case", ROWS, ids=str)
def test_rows_of_the_table(case: Case, long_form: bool) -> None:
    """In every layout; rows of memory are as far apart as they are long, or farther."""
    if not any(row.types == case.formats for row in ARCHITECTURES[gpu.architecture()].combinations):
        pytest.skip(f"{gpu.architecture()} has no such row")
    for number, (layouts, gap) in enumerate(zip(LAYOUTS, cycle((0, 8, 3)), strict=False)):
        compare(replace(case, layouts=layouts, gap=gap), number, LONG_MATRICES if long_form else MATRICES)


@pytest.mark.parametrize("case", [case for case in ROWS if case.formats[3] == "sint32"], ids=str)
def test_saturation(case: Case, long_form: bool) -> None:
    compare(replace(case, saturating=True), 9, LONG_MATRICES if long_form else MATRICES)


def run(case: Case, seed: int = 0) -> None:
    """A case on random numbers, beside the exact sums."""
    numbers = numbers_for(case, seed)
    memory = memory_for(case, numbers)
    gpu.program(program_text(case, [array.shape[1] for array in memory])).launch("kernel", (32,), (32,), memory)
    check(case, result_in(case, memory[-1]), *numbers, fewest=8)


def batches(cases: list[Case]) -> list[list[Case]]:
    return [cases[start:start + BATCH] for start in range(0, len(cases), BATCH)]


@pytest.mark.parametrize("cases", batches(table_cases()), ids=lambda cases: str(cases[0]))
def test_rows_of_other_tables(cases: list[Case]) -> None:
    """The largest shape of each row of every architecture."""
    for case in cases:
        run(case)


@pytest.mark.parametrize("first", [first if first < 64 else pytest.param(first, marks=pytest.mark.slow)
                                   for first in range(0, 1000, BATCH)])
def test_random_shapes(first: int) -> None:
    """Of any type and layout, with padding, saturation, and gaps in memory."""
    for seed in range(first, first + BATCH):
        run(random_case(seed), seed)


@pytest.mark.parametrize("size", [16, 8, 4])
def test_parts_of_a_warp(size: int) -> None:
    """Sub-groups that are a part of a warp share matrices, too; each of two has its own."""
    case = Case(("sint8", "sint8", "sint32", "sint32"), 12, 20, 36)
    numbers = numbers_for(case, size)
    memory = memory_for(case, numbers)
    source = program_text(case, [array.shape[1] for array in memory])
    gpu.CudaProgram(gpu.executable(source), validates=False, sub_group_size=size).launch(
        "kernel", (2 * size,), (2 * size,), memory)
    check(case, result_in(case, memory[-1]), *numbers)


def test_matrices_of_many_sub_groups() -> None:
    """Several warps and several work-groups write the same numbers."""
    case = Case(("bf16", "bf16", "fp32", "fp32"), 16, 16, 16)
    numbers = numbers_for(case, 3)
    memory = memory_for(case, numbers)
    loaded = gpu.program(program_text(case, [array.shape[1] for array in memory]))
    for sizes in (((32,), (32,)), ((256,), (128,)), ((64, 4, 2), (32, 4, 2))):
        memory[-1].view(np.uint8)[...] = 0x5A
        loaded.launch("kernel", *sizes, memory)
        check(case, result_in(case, memory[-1]), *numbers)
