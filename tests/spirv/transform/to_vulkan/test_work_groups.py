"""Matrices of work-groups as shaders: by way of tensors, with a shader of their own for launches in which nothing is
checked and everything is aligned; what drivers do not have is refused."""

from __future__ import annotations

import itertools
import subprocess
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

import coopmat as cm
from coopmat.devices import Combination
from coopmat.spirv import Module
from coopmat.spirv.grammar import Capability, Decoration, Op, Scope, TensorClampMode
from coopmat.spirv.transform.goal import MatrixSupport
from coopmat.spirv.transform.matrices.shares import shared_out
from coopmat.spirv.transform.to_vulkan import Shader, VulkanTarget, to_vulkan
from tests.kit.oracles import vulkan
from tests.kit.targets.work_group_gemm import Gemm

ITEMS = 128
FP16 = Combination.row("fp16", "fp16", "fp32", "fp32", 128, 128, 64)
TARGET = replace(VulkanTarget.of_everything(), combinations=(), work_group=(ITEMS, 1, 1), work_groups=(FP16,))
PLAIN = """
#define MATRIX(rows, columns, use) __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_WORKGROUP, rows, columns, \\
    CLK_COOPERATIVE_MATRIX_##use)))
#define ROWS CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR
#define COLUMNS CLK_COOPERATIVE_MATRIX_LAYOUT_COLUMN_MAJOR
kernel __attribute__((reqd_work_group_size(128, 1, 1)))
void gemm(global const half *A, global const half *B, global float *C, int N, int K, int shift) {
    float MATRIX(128, 128, ACCUMULATOR) c = coop_mat_init(0);
    for (int k = 0; k < K; k += 64) {
        half MATRIX(128, 64, A) a = coop_mat_load(A + get_group_id(1) * 128 * K + k, ROWS, K);
        half MATRIX(64, 128, B) b = coop_mat_load(B + get_group_id(0) * 128 * K + k, COLUMNS, K);
        c = coop_matmul_add(a, b, c, 0);
    }
    coop_mat_store(C + get_group_id(1) * 128 * N + get_group_id(0) * 128 SHIFT, c, ROWS, N);
}
"""


@cache
def checked(gemm: Gemm) -> Module:
    return Module.from_bytes(cm.build(gemm.kernel).spirv)


def plain(shift: str = "") -> Module:
    return Module.from_bytes(cm.build(PLAIN, (f"-DSHIFT={shift}",)).spirv)


def both(shader: Shader) -> list[Module]:
    assert shader.tame is not None
    return [Module.from_bytes(shader.spirv), Module.from_bytes(shader.tame_spirv)]


SHADERS = {**{str(gemm): checked(gemm) for gemm in (
    Gemm(("fp16", "fp16", "fp32")), Gemm(("fp16", "fp16", "fp32"), rows_of="", accumulates=True))}, "plain": plain()}


@pytest.mark.oracle("lavapipe")
@pytest.mark.parametrize("name", SHADERS)
def test_validators_accept_the_shaders(name: str, tmp_path: Path) -> None:
    tool = vulkan.spirv_val()
    assert tool is not None
    for number, shader in enumerate(both(to_vulkan(SHADERS[name], "gemm", TARGET))):
        assert shader.validate() == []
        file = tmp_path / f"{number}.spv"
        file.write_bytes(shader.to_bytes())
        run = subprocess.run([tool, "--target-env", "vulkan1.3", file], capture_output=True, text=True, check=False,
                             timeout=60)
        assert run.returncode == 0, run.stdout + run.stderr


def test_what_is_checked() -> None:
    """A tensor has a clamp mode; tame launches need none."""
    shader = to_vulkan(checked(Gemm(("fp16", "fp16", "fp32"))), "gemm", TARGET)
    modes = [{one.constant_value(row.words[1]) for row in one.of_opcode(Op.TypeTensorLayoutNV)} for one in both(shader)]
    assert modes == [{TensorClampMode.Constant}, {TensorClampMode.Undefined}]
    for one in both(shader):
        assert Capability.TensorAddressingNV in one.capabilities
        assert not any(one.of_opcode(Op.CooperativeMatrixLoadKHR, Op.CooperativeMatrixLoadCheckedINTEL))
    assert {"cooperativeMatrixWorkgroupScope", "cooperativeMatrixTensorAddressing"} <= shader.features
    assert all(one.grain_id is not None for one in shader.arguments)


def test_tame_launches_leave_no_window() -> None:
    shader = to_vulkan(checked(Gemm(("fp16", "fp16", "fp32"))), "gemm", TARGET)
    assert shader.tame is not None
    for rows, columns, depth in itertools.product((127, 128, 256), (128, 200, 256), (63, 64, 128)):
        groups = (-(-columns // 128), -(-rows // 128), 1)
        strides = (depth + 8, columns, columns)
        is_inside = not (rows % 128 or columns % 128 or depth % 64)
        for address, is_aligned in ((1 << 40, True), ((1 << 40) + 8, False)):
            arguments = (address, 1 << 41, 1 << 42, rows, columns, depth, *strides)
            assert shader.tame.holds(arguments, groups) == (is_inside and is_aligned)


@pytest.mark.parametrize(("shift", "needs"), [("", (0, 1, 2)), ("+ 4 * shift", (0, 1, 2)), ("+ shift", (0, 1, 2, 5))])
def test_what_must_be_aligned(shift: str, needs: tuple[int, ...]) -> None:
    """Elements of C have 4 bytes: 4 times something are 16."""
    shader = to_vulkan(plain(shift), "gemm", TARGET)
    assert shader.tame is not None
    assert shader.tame.aligned == needs


def test_places_of_which_nothing_is_known() -> None:
    for shift in ("+ 1", "+ *(global int *)B"):
        assert to_vulkan(plain(shift), "gemm", TARGET).tame is None


def test_counters_of_loops_do_not_wrap_around() -> None:
    """Without that, NVIDIA's driver does not see that the rounds of a loop are an even number."""
    shader = Module.from_bytes(to_vulkan(plain(), "gemm", TARGET).spirv)
    marked = [row.words[0] for row in shader.of_opcode(Op.Decorate) if row.words[1] == Decoration.NoSignedWrap]
    assert [shader.definition(one).opcode for one in marked] == [Op.IAdd]


LOCAL = PLAIN.replace("float MATRIX", "local float l[128 * 128]; float MATRIX").replace(
    "coop_mat_store(C + get_group_id(1) * 128 * N + get_group_id(0) * 128", "coop_mat_store(l")
SHARED = {"the driver has none": (PLAIN, ()), "local memory": (LOCAL, (FP16,)),
          "other sizes": (PLAIN, (Combination.row("fp16", "fp16", "fp32", "fp32", 64, 64, 32),))}


@pytest.mark.parametrize("name", SHARED)
def test_what_sub_groups_share(name: str) -> None:
    """Four sub-groups of 32 have 64 rows and columns each."""
    source, rows = SHARED[name]
    module = Module.from_bytes(cm.build(source, ("-DSHIFT=",)).spirv)
    shader = to_vulkan(module, "gemm", replace(TARGET, combinations=None, work_groups=rows))
    made = Module.from_bytes(shader.spirv)
    assert made.validate() == []
    types = {tuple(made.constant_value(word) for word in row.words[1:])
             for row in made.of_opcode(Op.TypeCooperativeMatrixKHR)}
    assert types == {(Scope.Subgroup, 64, 64, use) for use in range(3)}
    assert shader.tame is None
    assert len(list(made.of_opcode(Op.ControlBarrier))) == 2  # around the store


REDUCTION = "c = coop_mat_reduce(c, CLK_COOPERATIVE_MATRIX_REDUCE_{}, CLK_COOPERATIVE_MATRIX_COMBINE_ADD);"


@pytest.mark.parametrize(("axis", "grid"), [("ROW", (4, 1)), ("COLUMN", (1, 4)), ("ALL", None)])
def test_reductions_are_of_what_one_sub_group_has(axis: str, grid: tuple[int, int] | None) -> None:
    """All columns, or all rows; no sub-group has both."""
    source = PLAIN.replace("    coop_mat_store", f"    {REDUCTION.format(axis)}\n    coop_mat_store")
    module = Module.from_bytes(cm.build(source, ("-DSHIFT=",)).spirv)
    support = MatrixSupport("the driver", work_groups=(FP16,))
    if grid is None:
        with pytest.raises(cm.KernelNotSupported, match=r"OpCooperativeMatrixReduceEXT.* 4 sub-groups cannot"):
            shared_out(module, support, ITEMS, 32)
        return
    made = shared_out(module, support, ITEMS, 32)
    assert made.validate() == []
    down, across = grid
    sizes = {made.constant_value(row.words[4]): tuple(map(made.constant_value, row.words[2:4]))
             for row in made.of_opcode(Op.TypeCooperativeMatrixKHR)}
    assert sizes == {0: (128 // down, 64), 1: (64, 128 // across), 2: (128 // down, 128 // across)}
