"""The blocks that warps load and store at once: where PTX says that each thread finds its bytes is where its layout has
them.

PTX ISA, ldmatrix: thread t has bytes 4 (t % 4) to + 3 of line t / 4 of a block; of a transposed one, element t / 4 of
lines 2 (t % 4) and + 1. Thread t gives the address of line t % 8 of block t / 8.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import coopmat as cm
from coopmat.runtime.executable import executable
from coopmat.spirv.analysis.types import FloatType, IntType, MatrixType, Type
from coopmat.spirv.grammar import CooperativeMatrixLayout as Layout
from coopmat.targets.cuda.chips import CHIPS
from coopmat.targets.cuda.matrix.blocks import Blocks
from coopmat.targets.cuda.matrix.fragments import fragment_of
from coopmat.targets.cuda.program import PtxProgram
from tests.kit.targets import gpu
from tests.kit.targets.emulated_gpu.driver import emulated
from tests.kit.targets.ptx import assembled, ptx_of

A, B, ACCUMULATOR = range(3)
ROW, COLUMN, PACKED = Layout.RowMajorKHR, Layout.ColumnMajorKHR, Layout.PackedINTEL
COMPONENTS = (FloatType(16), FloatType(32), IntType(8), IntType(4), IntType(16))
SHAPES = ((16, 16), (8, 16), (16, 8), (16, 32), (64, 32), (48, 80), (32, 64), (16, 128), (24, 40))


def element_of(blocks: Blocks, bits: int, thread: int, register: int, part: int) -> tuple[int, int]:
    """Line of memory, and element of it, that a component of a register comes from."""
    [(registers, steps)] = [group for group in blocks.groups if register in group[0]]
    number = registers.index(register)
    start = [blocks.places[registers[0]][axis] + sum(step[axis] for bit, step in enumerate(steps) if number >> bit & 1)
             for axis in (0, 1)]
    if blocks.is_turned:
        return start[0] + 2 * (thread % 4) + part, start[1] * 8 // bits + thread // 4
    return start[0] + thread // 4, (8 * start[1] + 32 * (thread % 4) + part * bits) // bits


@pytest.mark.thinned(3)
@pytest.mark.parametrize("component", COMPONENTS, ids=str)
@pytest.mark.parametrize("use", [A, B, ACCUMULATOR])
@pytest.mark.parametrize("layout", [ROW, COLUMN, PACKED])
def test_every_thread_gets_its_elements(component: Type, use: int, layout: Layout) -> None:
    if layout == PACKED and (use == ACCUMULATOR or (use == B and component == FloatType(32))):
        pytest.skip("there is no such layout")
    found = 0
    for rows, columns in SHAPES:
        kind = MatrixType(component, rows, columns, use, 32, "nvidia_gpu_sm_90")
        blocks, fragment = Blocks.of(kind, layout), fragment_of(kind)
        if blocks is None:
            continue
        found += 1
        held = fragment.spread.held
        for thread in range(32):
            for number in range(fragment.components):
                register, part = divmod(number, fragment.per_register)
                where = int(held.row[thread, number]), int(held.column[thread, number])
                expected = where if layout == ROW or (layout, use) == (PACKED, A) else where[::-1]
                assert element_of(blocks, fragment.bits, thread, register, part) == expected, kind
    assert bool(found) == is_expected(component, use, layout)


def is_expected(component: Type, use: int, layout: Layout) -> bool:
    """Whether some matrix of a kind is made of blocks."""
    if layout == PACKED and use == B:
        return False  # words of B's pairs would have to be transposed
    if use == ACCUMULATOR:
        return component in (FloatType(16), IntType(16))
    if component in (FloatType(16), IntType(16)):
        return True
    return (use == A) == (layout in (ROW, PACKED))


SOURCE = """
typedef TYPE a_t __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, 16, K, CLK_COOPERATIVE_MATRIX_A)));
typedef TYPE b_t __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, K, 16, CLK_COOPERATIVE_MATRIX_B)));
kernel void copy(global TYPE *p, global TYPE *q)
{
    local TYPE tile[2 * 16 * K];
    for (int i = get_local_id(0); i < 2 * 16 * K; i += 32)
        tile[i] = p[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    a_t a = coop_mat_load(tile, ORDER_A, ORDER_A == 0 ? K : 16);
    b_t b = coop_mat_load(tile + 16 * K, ORDER_B, ORDER_B == 0 ? 16 : K);
    barrier(CLK_LOCAL_MEM_FENCE);
    coop_mat_store(tile, a, ORDER_A, ORDER_A == 0 ? K : 16);
    coop_mat_store(tile + 16 * K, b, ORDER_B, ORDER_B == 0 ? 16 : K);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = get_local_id(0); i < 2 * 16 * K; i += 32)
        q[i] = tile[i];
}
"""


COPIES = [("half", 16, (0, 1), ("x4", "x4")), ("half", 16, (1, 0), ("x4.trans", "x4.trans")),
          ("half", 16, (0, 0), ("x4", "x4.trans")), ("char", 32, (0, 1), ("x4", "x4"))]


def options_of(type_: str, k: int, orders: tuple[int, int]) -> list[str]:
    return [f"-DTYPE={type_}", f"-DK={k}", f"-DORDER_A={orders[0]}", f"-DORDER_B={orders[1]}"]


def copy(case: tuple[str, int, tuple[int, int], Any]) -> None:
    """Matrices go from local memory into registers and back."""
    given = np.random.default_rng(1).integers(0, 256, 2 * 16 * case[1] * (2 if case[0] == "half" else 1), np.uint8)
    found = np.zeros_like(given)
    source = cm.build(SOURCE, options_of(*case[:3]))
    gpu.program(source.module).launch("copy", (32,), (32,), [given, found])
    np.testing.assert_array_equal(found, given)


@pytest.mark.oracle("cuda")
@pytest.mark.parametrize("case", COPIES, ids=str)
def test_copies(case: Any) -> None:
    copy(case)


@pytest.mark.parametrize("case", COPIES, ids=str)
def test_copies_of_hopper(case: Any) -> None:
    """With stmatrix."""
    with emulated(90):
        copy(case)


@pytest.mark.parametrize(("type_", "k", "orders", "moves"), COPIES)
def test_ptx(type_: str, k: int, orders: tuple[int, int], moves: tuple[str, str]) -> None:
    """Alignment is known when code is made: nothing is asked at run time."""
    for name in ("sm_75", "sm_90a"):
        for found in ptx_of(PtxProgram(executable(cm.build(
                SOURCE, options_of(type_, k, orders)).module), CHIPS[name]), "copy", (32, 1)):
            for instruction, is_there in (("ldmatrix", True), ("stmatrix", name != "sm_75")):
                there = re.findall(rf"{instruction}\.sync\.aligned\.m8n8\.(x\d(?:\.trans)?)\.shared", found.text)
                assert sorted(there) == (sorted(moves) if is_there else [])
            assert name == "sm_75" or not re.search(r"[ls][dt]\.shared\.b16", found.text.split("ldmatrix")[1].split(
                "stmatrix")[0])
            assembled(found)


def test_groups() -> None:
    """Four blocks at once where their places are sums; else fewer."""
    blocks = Blocks(((0, 0), (8, 0), (0, 16), (8, 16), (0, 32), (8, 32), (16, 0)), False, tuple(range(7)))
    assert [*blocks.groups] == [((0, 1, 2, 3), ((8, 0), (0, 16))), ((4, 5), ((8, 0),)), ((6,), ())]


@pytest.mark.parametrize(("use", "rows", "columns", "steps"), [
    (A, 64, 32, ((8, 0), (0, 16))), (B, 32, 64, ((8, 0), (0, 16))), (A, 16, 16, ((8, 0), (0, 16)))])
def test_what_an_instruction_takes_is_loaded_at_once(use: int, rows: int, columns: int, steps: object) -> None:
    """Of A sixteen rows and two blocks along K, of B two along K and sixteen columns: then ptxas moves no register."""
    blocks = Blocks.of(MatrixType(FloatType(16), rows, columns, use, 32, "nvidia_gpu_sm_90"), ROW)
    assert blocks is not None
    assert {found for _, found in blocks.groups} == {steps}
