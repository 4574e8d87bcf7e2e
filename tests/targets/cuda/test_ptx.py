"""PTX for every kind of chip, without a GPU: it has the instructions that are expected, and ptxas takes it.

ptxas is asked where it is installed; it also says whether registers are spilled and whether wgmma instructions wait for
each other. The long form has all chips, kernels and variants.
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache
from types import ModuleType
from typing import Any

import pytest

import coopmat as cm
from coopmat.diagnostics import Error
from coopmat.runtime import selection
from coopmat.runtime.executable import executable
from coopmat.targets.cuda.chips import CHIPS
from coopmat.targets.cuda.compilation import to_ptx
from coopmat.targets.cuda.kernel import KernelCode
from coopmat.targets.cuda.lanes import Variant
from coopmat.targets.cuda.program import PtxProgram
from tests.kit.cases import CASES, Case
from tests.kit.targets import matrix_rows
from tests.kit.targets.group_kernels import GROUPS
from tests.kit.targets.ptx import NAMES, Ptx, PtxDevice, assembled, chips, ptx_of
from tests.kit.targets.work_group_gemm import WGMMA, Gemm
from tests.programs.test_programs import PROGRAMS, shape_on
from tests.whole.test_joint_matrix_examples import MODULES

SHORT = ("sm_75", "sm_90a")
SPILLED = ("gemm_tuned", "gemm_tuned_gpu")
"""The first one's blocks are as large as a CPU's cache; the other's matrices are those of whole warps."""
SLOW = pytest.mark.slow


def checked(found: Ptx, *, may_spill: bool = False) -> Ptx:
    """PTX that ptxas takes, without spills; before Ampere, threads compute what has no instructions."""
    made = assembled(found)
    assert made is None or may_spill or not made.spilled or found.variant.chip.capability < 80, (
        f"{found}: {made.spilled} bytes")
    assert f".target {found.chip}" in found.text
    return found


# ------------------------------------------------------------------ functions


RELAXED = "-cl-unsafe-math-optimizations"


@pytest.mark.parametrize(("call", "instructions"), [
    ("native_exp2(x)", ["ex2.approx.ftz.f32"]), ("native_recip(x)", ["rcp.approx.ftz.f32"]),
    ("native_divide(y, x)", ["rcp.approx.ftz.f32", "mul.rn.f32"]),
    ("native_exp(x)", ["mul.rn.f32", "ex2.approx.ftz.f32"]),
    ("native_tan(x)", ["cos.approx.f32", "mul.rn.f32", "rcp.approx.ftz.f32", "sin.approx.f32"]),
    ("fmax(x, y)", ["max.f32"])])
def test_functions_that_are_instructions(call: str, instructions: list[str]) -> None:
    """Nothing is computed beside them; so it is without native_ where errors may be larger."""
    wanted = sorted(instructions)
    assert instructions_of(call) == wanted
    name = call.removeprefix("native_")
    if name.startswith(("exp", "tan")):
        assert instructions_of(name, RELAXED) == wanted
        assert instructions_of(name) != wanted


def instructions_of(call: str, options: str = "") -> list[str]:
    """Of floats, in a kernel that computes something of a number."""
    source = f"kernel void one(global float *at, float y) {{ float x = *at; *at = {call}; }}"
    program = PtxProgram(executable(cm.build(source, options).module), CHIPS["sm_90a"])
    found, = ptx_of(program, "one", (32,))
    return sorted(re.findall(r"^\s+((?:\w+\.)+f32)\s", found.text, re.M))


# ------------------------------------------------------------------ kernels of all kinds


@cache
def built(case: Case) -> cm.Program:
    return cm.build(case.source, case.options)


@pytest.mark.thinned(2)
@pytest.mark.parametrize("name", [name if name in SHORT else pytest.param(name, marks=SLOW) for name in NAMES])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_examples_and_kernels(case: Case, name: str) -> None:
    program = PtxProgram(executable(built(case).module), CHIPS[name])
    for found in ptx_of(program, case.kernel, case.local_size):
        checked(found, may_spill=case.source.stem in SPILLED)


@pytest.mark.thinned(3)
@pytest.mark.parametrize("kernel", ["sub_groups", "work_groups", "atomics", "mathematics"])
@pytest.mark.parametrize("name", NAMES)
def test_groups_and_atomics(kernel: str, name: str) -> None:
    """One warp, and several of which the last is a part."""
    program = PtxProgram(executable(groups().module), CHIPS[name])
    for size in ((32,), (5, 3, 7)):
        for found in ptx_of(program, kernel, size):
            checked(found)
            if kernel == "sub_groups":
                assert "bar.warp.sync" in found.text
                assert "shfl.sync.idx" in found.text
                assert "bar.sync" not in found.text


@cache
def groups() -> cm.Program:
    return cm.build(GROUPS)


def launched(run: Any, names: tuple[str, ...], *, may_spill: bool) -> list[Ptx]:
    """The PTX of what a function launches on a device, checked; the simulator computes the results."""
    found: list[Ptx] = []
    run(PtxDevice(chips(names), lambda one: found.append(checked(one, may_spill=may_spill))))
    assert found
    return found


LARGE = ("joint_matrix_work_group",)
"""Whose tiles of a work-group, without wgmma, take more registers than there are."""


def sample(values: list[Any], *short: str) -> list[Any]:
    """Parameters, of which the short form has some."""
    names = [value.__name__.rpartition(".")[2] for value in values]
    return [pytest.param(value, id=name, marks=[] if name in short else SLOW)
            for value, name in zip(values, names, strict=True)]


@pytest.mark.parametrize("module", sample([*MODULES], "joint_matrix_epilogue", "joint_matrix_w4a16"))
def test_joint_matrix_examples(module: ModuleType, long_form: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    name = module.__name__.rpartition(".")[2]

    def run(device: PtxDevice) -> None:
        monkeypatch.setitem(selection._MAKERS, "ptx", lambda: device)
        assert module.main(["ptx"]) == 0

    launched(run, NAMES if long_form and name not in LARGE else SHORT[1:], may_spill=name in LARGE)


@pytest.mark.parametrize("program", sample(PROGRAMS, "lora", "layer_norm"))
def test_programs(program: ModuleType, long_form: bool) -> None:
    def run(device: PtxDevice) -> None:
        program.check(device, *(shape_on(device, program) or (16, 16, 16)))

    launched(run, NAMES if long_form else SHORT[1:], may_spill=True)


# ------------------------------------------------------------------ matrix instructions

HALF, BF16, TF32, FP64 = ((fmt, fmt, acc, acc) for fmt, acc in (
    ("fp16", "fp32"), ("bf16", "fp32"), ("tf32", "fp32"), ("fp64", "fp64")))
S8, U8S8, S4 = (("sint8", "sint8", "sint32", "sint32"), ("uint8", "sint8", "sint32", "sint32"),
                ("sint4", "sint4", "sint32", "sint32"))
FROM = {70: NAMES, 75: NAMES[2:], 80: NAMES[3:], 90: NAMES[6:]}
"""The chips from a capability on."""
MMA = [  # types, shape, the chips, the instruction and how often
    (HALF, (16, 16, 16), ("sm_75",), "m16n8k8.row.col.f32.f16.f16.f32", 4),
    (HALF, (16, 16, 16), FROM[80], "m16n8k16.row.col.f32.f16.f16.f32", 2),
    (("fp16",) * 4, (16, 16, 16), FROM[80], "m16n8k16.row.col.f16.f16.f16.f16", 2),
    (HALF, (8, 32, 16), FROM[80], "m16n8k16.row.col.f32.f16.f16.f32", 2),
    (HALF, (32, 8, 16), FROM[80], "m16n8k16.row.col.f32.f16.f16.f32", 2),
    (BF16, (16, 16, 16), FROM[80], "m16n8k16.row.col.f32.bf16.bf16.f32", 2),
    (BF16, (16, 16, 8), FROM[80], "m16n8k8.row.col.f32.bf16.bf16.f32", 2),
    (BF16, (64, 64, 32), FROM[80], "m16n8k16.row.col.f32.bf16.bf16.f32", 64),
    (TF32, (16, 16, 8), FROM[80], "m16n8k8.row.col.f32.tf32.tf32.f32", 2),
    (FP64, (8, 8, 4), FROM[80][:3], "m8n8k4.row.col.f64.f64.f64.f64", 1),
    (FP64, (16, 16, 16), FROM[90], "m16n8k16.row.col.f64.f64.f64.f64", 2),
    (S8, (16, 16, 16), ("sm_75",), "m8n8k16.row.col.s32.s8.s8.s32", 4),
    (S8, (16, 16, 32), FROM[80], "m16n8k32.row.col.s32.s8.s8.s32", 2),
    (U8S8, (16, 16, 32), FROM[80], "m16n8k32.row.col.s32.u8.s8.s32", 2),
    (S4, (16, 16, 64), FROM[80], "m16n8k64.row.col.s32.s4.s4.s32", 2),
    (("fp16", "fp16", "fp32", "fp16"), (16, 16, 16), FROM[75], "", 0),
]
"""PTX ISA, mma.sync: the shapes and types, and the first chip that has them."""
WITHOUT = [(BF16, 80), (TF32, 80), (FP64, 80), (S8, 75), (S4, 75)]
"""The first chip with an instruction for types."""


@cache
def mma_ptx(formats: tuple[str, str, str, str], shape: tuple[int, int, int], name: str) -> Ptx:
    m, n, k = shape
    source = matrix_rows.program_text(matrix_rows.Case(formats, m, n, k), [k, n, n, n])
    [found] = ptx_of(PtxProgram(executable(source), CHIPS[name]), "kernel", (32,))
    return checked(found, may_spill=shape == (64, 64, 32))


def instructions(found: Ptx) -> list[str]:
    return re.findall(r"mma\.sync\.aligned\.(\S+)", found.text)


@pytest.mark.parametrize(("formats", "shape", "names", "expected", "count"), MMA, ids=str)
def test_matrix_instructions(formats: tuple[str, str, str, str], shape: tuple[int, int, int], names: tuple[str, ...],
                             expected: str, count: int, long_form: bool) -> None:
    for name in names if long_form else {names[0], names[-1]}:
        found = mma_ptx(formats, shape, name)
        if expected:
            assert instructions(found) == [expected] * count, name
        else:  # the one that only wmma has
            assert re.findall(r"wmma\.mma\.sync\.aligned\.(\S+)", found.text) == ["row.col.m16n16k16.f16.f32"]


@pytest.mark.parametrize(("formats", "first"), WITHOUT, ids=str)
def test_chips_without_the_instruction(formats: tuple[str, str, str, str], first: int) -> None:
    """Threads compute the elements."""
    last = [name for name in NAMES if CHIPS[name].capability < first][-1]
    assert instructions(mma_ptx(formats, (16, 16, 16), last)) == []


@pytest.mark.parametrize(("formats", "shape", "expected", "count"), [
    (HALF, (16, 16, 16), "m16n16k16.f32.f32", 1), (("fp16",) * 4, (8, 32, 16), "m8n32k16.f16.f16", 1),
    (("fp16", "fp16", "fp32", "fp16"), (32, 8, 16), "m32n8k16.f16.f32", 1),
    (HALF, (32, 32, 16), "m16n16k16.f32.f32", 4),
])
def test_volta(formats: tuple[str, str, str, str], shape: tuple[int, int, int], expected: str, count: int) -> None:
    """wmma, whose loads and stores know the fragments."""
    found = mma_ptx(formats, shape, "sm_70")
    assert re.findall(r"wmma\.mma\.sync\.aligned\.row\.row\.(\S+)", found.text) == [expected] * count
    assert len(re.findall(r"wmma\.store\.d", found.text)) == count


def test_saturation() -> None:
    case = replace(matrix_rows.Case(S8, 16, 16, 32), saturating=True)
    [found] = ptx_of(PtxProgram(executable(matrix_rows.program_text(case, [32, 16, 16, 16])), CHIPS["sm_80"]),
                     "kernel", (32,))
    assert instructions(checked(found)) == ["m16n8k32.row.col.satfinite.s32.s8.s8.s32"] * 2


@pytest.mark.parametrize("name", NAMES)
def test_dot_products(name: str) -> None:
    case = next(case for case in CASES if case.source.stem == "dot_products")
    program = PtxProgram(executable(built(case).module), CHIPS[name])
    for kernel, letters in (("signed_signed", "s32.s32"), ("unsigned_signed", "u32.s32|s32.u32"),
                            ("unsigned_unsigned", "u32.u32")):
        [found] = ptx_of(program, kernel, (20,))
        assert re.search(rf"dp4a\.({letters})", found.text), kernel


# ------------------------------------------------------------------ work-groups on Hopper


def variants_of(gemm: Gemm, name: str) -> list[Ptx]:
    """Of every variant; the largest tiles of a thread's registers are spilled where there is no wgmma."""
    program = PtxProgram(executable(cm.build(gemm.kernel).module), CHIPS[name])
    return [checked(one, may_spill=one.variant.pipeline == "none")
            for one in ptx_of(program, "gemm", (gemm.items, 1))]


@pytest.mark.parametrize("formats", [
    pytest.param(one, marks=[] if one[0] in ("bf16", "uint8") or one[2] == "fp16" else SLOW) for one in WGMMA], ids=str)
@pytest.mark.parametrize("rows_of", ["AC", *(pytest.param(one, marks=SLOW) for one in ("ABC", "BC", "C"))])
def test_work_group_products_on_hopper(formats: tuple[str, str, str], rows_of: str) -> None:
    """wgmma with tiles that tensor maps or threads bring, by maps also transposed."""
    gemm = Gemm(formats, (128, 128, 64), 128, rows_of)
    found = variants_of(gemm, "sm_90a")
    k = {"bf16": 16, "fp16": 16, "tf32": 8}.get(formats[0], 32)
    for one in found[:-1]:
        if not one.variant.chip.has_wgmma:  # which is there for tiles that wgmma does not multiply
            assert "wgmma" not in one.text
            continue
        numbers = re.findall(r"wgmma\.mma_async\.sync\.aligned\.(\S+)", one.text)
        kinds = [{"bf16": "bf16", "fp16": "f16", "tf32": "tf32"}.get(fmt, f"{fmt[0]}8") for fmt in formats[:2]]
        result = {"sint32": "s32", "fp32": "f32", "fp16": "f16"}[formats[2]]
        assert numbers == [f"m64n128k{k}.{result}.{'.'.join(kinds)}"] * (2 * 64 // k)
        way = "cp.async.cg" if one.variant.pipeline == "copies" else "cp.async.bulk.tensor.2d.shared"
        assert way in one.text
    assert ("cp.async.bulk.tensor.2d.global" in found[0].text) == (len(found) > 1)
    assert "wgmma" not in found[-1].text
    assert "mma.sync" in found[-1].text
    assert len(found) > 1
    assert found[-2].variant.pipeline == ("copies" if k == 16 or rows_of == "AC" else "loads")


@pytest.mark.parametrize("items", [256, pytest.param(384, marks=SLOW)])
def test_several_warp_groups(items: int) -> None:
    rows = 64 * items // 128
    if rows & rows - 1:  # warps beside each other share no rows as wgmma has them
        assert len(variants_of(Gemm(WGMMA[0], (rows, 64, 32), items), "sm_90a")) == 1
        return
    first = variants_of(Gemm(WGMMA[0], (rows, 64, 32), items), "sm_90a")[0]
    assert "m64n64k16" in first.text
    assert f".reqntid {items + 128}" in first.text


@pytest.mark.parametrize("name", ["sm_80", *(pytest.param(one, marks=SLOW) for one in ("sm_75", "sm_100a", "sm_120a"))])
def test_work_group_products_elsewhere(name: str) -> None:
    """By mma.sync, from shared memory; Turing has it for fp16."""
    found = variants_of(Gemm(("fp16", "fp16", "fp32"), (64, 64, 32)), name)
    assert [one.variant.pipeline for one in found] == ["none"] if name == "sm_75" else ["copies", "none"]
    for one in found:
        assert "wgmma" not in one.text
        assert {found.partition(".")[0] for found in instructions(one)} == {
            "m16n8k8" if name == "sm_75" else "m16n8k16"}


# ------------------------------------------------------------------ what a chip does not have

MODULE = """
declare {result} @{name}({types})
define ptx_kernel void @k(ptr %p) {{
  %1 = call {result} @{name}({operands})
  store {result} %1, ptr %p
  ret void
}}
"""
EMPTY = KernelCode("", "k", (), {}, 0, 0, [], [], 32)
ABSENT = [
    ("sm_75", "nvvm.mma.m16n8k4.row.col.tf32", "{ float, float, float, float }", ["i32 0"] * 3 + ["float 0.0"] * 4),
    ("sm_70", "nvvm.mma.m8n8k16.row.col.s8", "{ i32, i32 }", ["i32 0"] * 4),
    ("sm_80", "nvvm.elect.sync", "{ i32, i1 }", ["i32 -1"]),
    ("sm_80", "nvvm.there.is.none", "i32", ["i32 1"])]


@pytest.mark.parametrize(("chip", "name", "result", "operands"), ABSENT, ids=[f"{row[0]}-{row[1]}" for row in ABSENT])
def test_an_instruction_that_a_chip_does_not_have(chip: str, name: str, result: str, operands: list[str]) -> None:
    """An error that names the chip and the instruction, and LLVM lives on."""
    types = ", ".join(one.split()[0] for one in operands)
    ir = MODULE.format(name=f"llvm.{name}", result=result, types=types, operands=", ".join(operands))
    with pytest.raises(Error, match=rf"kernel 'k'.*{chip}.*{name}"):
        to_ptx(replace(EMPTY, ir=ir), "k", Variant(CHIPS[chip], (32, 1, 1)))

