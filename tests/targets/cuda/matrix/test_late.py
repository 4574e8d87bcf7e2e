"""Matrices that are loaded where they are used: epilogues spill nothing, whatever is added to the sums."""

from __future__ import annotations

import pytest

import coopmat as cm
from coopmat.runtime.executable import executable
from coopmat.sycl import *
from coopmat.targets.cuda.chips import CHIPS
from coopmat.targets.cuda.program import PtxProgram
from tests.kit.targets.ptx import assembled, ptx_of


def fused(epilogue: str):
    """A product in bf16 by tiles of 128 x 256, with what the letters say behind it."""
    @kernel(work_group_size=(1, 256))
    def gemm(item: nd_item[2], A: ptr[const[bfloat16]], B: ptr[const[bfloat16]], bias: ptr[const[float32]],
             scales: ptr[const[float32]], R: ptr[const[bfloat16]], C: ptr[bfloat16], M: int, N: int, K: int):
        g = item.get_group()
        m, n = g.get_group_id(0) * 128, g.get_group_id(1) * 256
        a = joint_matrix(work_group, bfloat16, use.a, 128, 64, layout.row_major)
        b = joint_matrix(work_group, bfloat16, use.b, 64, 256, layout.row_major)
        c = joint_matrix(work_group, float32, use.accumulator, 128, 256)
        joint_matrix_fill(g, c, 0)
        for k in range(0, K, 64):
            joint_matrix_load_checked(g, a, A, K, M, K, m, k)
            joint_matrix_load_checked(g, b, B, N, K, N, k, n)
            joint_matrix_mad(g, c, a, b, c)
        if "b" in epilogue:
            x = joint_matrix(work_group, float32, use.accumulator, 128, 256)
            joint_matrix_load_checked(g, x, bias, 0, layout.row_major, M, N, m, n)
            c = c + x
        if "s" in epilogue:
            y = joint_matrix(work_group, float32, use.accumulator, 128, 256)
            joint_matrix_load_checked(g, y, scales, 0, layout.row_major, M, N, m, n)
            c = c * y
        if "g" in epilogue:
            joint_matrix_apply(g, c, lambda x: x * 0.5 * (1.0 + erf(x * 0.7071067811865476)))
        if "r" in epilogue:
            z = joint_matrix(work_group, bfloat16, use.accumulator, 128, 256)
            joint_matrix_load_checked(g, z, R, N, layout.row_major, M, N, m, n)
            w = joint_matrix(work_group, float32, use.accumulator, 128, 256)
            joint_matrix_copy(g, z, w)
            c = c + w
        result = joint_matrix(work_group, bfloat16, use.accumulator, 128, 256)
        joint_matrix_copy(g, c, result)
        joint_matrix_store_checked(g, result, C, N, layout.row_major, M, N, m, n)

    return gemm


@pytest.mark.thinned(3)
@pytest.mark.parametrize("epilogue", ["bsgr", "bs", "gr"])
def test_epilogues_spill_nothing(epilogue: str) -> None:
    program = PtxProgram(executable(cm.build(fused(epilogue)).module), CHIPS["sm_90a"])
    first, *_ = ptx_of(program, "gemm", (256, 1))
    assert first.variant.pipeline == "loads and stores"
    made = assembled(first)
    assert made is None or not made.spilled
