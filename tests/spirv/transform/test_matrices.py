"""Matrices as sub-group code compute what matrices compute: every row of the tables, any shape, type and layout, every
size of sub-groups; a driver's own matrices stay, larger ones are cut into them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import coopmat as cm
from coopmat.devices import Combination, DeviceDescription
from coopmat.diagnostics import KernelNotSupported
from coopmat.runtime.executable import executable
from coopmat.spirv import Module
from coopmat.spirv.edit.editor import Editor
from coopmat.spirv.grammar import Op
from coopmat.spirv.transform import passes
from coopmat.spirv.transform.goal import EXTENSIONS, JOINT_MATRIX, Goal, MatrixSupport
from coopmat.targets import simulator
from coopmat.targets.simulator import SimulatorOptions
from tests.kit.fuzz import modelled_matrices
from tests.kit.fuzz.executions import Result, attempt, same
from tests.kit.lenient import lenient
from tests.kit.targets.matrix_rows import (
    COLUMN,
    PACKED,
    Case,
    check,
    memory_for,
    numbers_for,
    program_text,
    random_case,
    result_in,
    table_cases,
)
from tests.spirv.transform.test_cut import cut, gemm_module
from tests.spirv.transform.test_shared_matrices import completed
from tests.targets.simulator import test_sub_group_matrix

SIZES = (4, 8, 16, 32)
EXAMPLES = Path(__file__).parents[3] / "examples"
GENERIC = cm.device("sim:generic").description
assert isinstance(GENERIC, DeviceDescription)


def nothing(lanes: int = 16, moves: str = "khr") -> Goal:
    """A driver without matrices."""
    return Goal(driver=MatrixSupport("a driver without matrices", sub_group_size=lanes, moves=moves))  # type: ignore[arg-type]


def opcodes(module: Module) -> set[int]:
    return {row.opcode for row in module.instructions}


def run(case: Case, seed: int, lanes: int, moves: str = "khr") -> None:
    """A case as sub-group code, in the simulator with all checks."""
    numbers = numbers_for(case, seed)
    *given, out = memory_for(case, numbers)
    strides = [one.shape[1] for one in (*given, out)]
    module = Editor(executable(program_text(case, strides))).finish()
    module, _ = cut(module, nothing(lanes, moves), ("matrices", "fold"))
    assert Op.TypeCooperativeMatrixKHR not in opcodes(module)
    program = simulator.compile(module, GENERIC, SimulatorOptions())
    program.launch("kernel", (lanes,), (lanes,), [*given, out])
    check(case, result_in(case, out), *numbers)


@pytest.mark.parametrize("place", range(len(table_cases())), ids=lambda place: str(table_cases()[place]))
def test_rows_of_the_tables(place: int, long_form: bool) -> None:
    case = table_cases()[place]
    if not long_form and place % 4:
        pytest.skip("the long form of a sweep: run with --long")
    b = PACKED if case.formats[1] in ("sint8", "bf16", "fp16") and place % 2 else COLUMN if place % 3 == 0 else 0
    for lanes in SIZES if long_form else SIZES[place // 4 % len(SIZES)::len(SIZES)]:
        run(replace(case, layouts=(0, b, 0), gap=place % 3), place, lanes)


def is_undefined(case: Case) -> bool:
    """Whether products by themselves may be more than the accumulator holds, which saturates."""
    return case.saturating and case.formats[0] in ("sint32", "uint32")


@pytest.mark.parametrize("seed", range(24))
def test_random_shapes(seed: int) -> None:
    case = random_case(seed)
    if case.m * case.n * case.k <= 1 << 13 and not is_undefined(case):
        run(case, seed, SIZES[seed % len(SIZES)], ("khr", "intel", "local")[seed % 3])


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(24, 224))
def test_more_random_shapes(seed: int) -> None:
    case = random_case(seed)
    for lanes in () if is_undefined(case) else SIZES:
        run(case, seed, lanes, ("khr", "intel", "local")[seed % 3])


# --- Intel's built-ins -----------------------------------------------------------------------


@pytest.mark.parametrize("m", test_sub_group_matrix.SIZES)
@pytest.mark.parametrize(("size", "name", "accumulator"), test_sub_group_matrix.FLOAT_ROWS)
def test_float_rows_of_intel(size: int, name: str, accumulator: str, m: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sums lie within the bound of sums in float, rounded once to the accumulator's type; integer rows are exact in
    test_shared_matrices."""
    compile_ = simulator.compile

    def plain(module: Module, *more: object) -> object:
        changed, _ = cut(completed(module), nothing(size), ("matrices", "fold"))
        assert Op.SubgroupMatrixMultiplyAccumulateINTEL not in opcodes(changed)
        return compile_(changed, *more)  # type: ignore[arg-type]

    monkeypatch.setattr(simulator, "compile", plain)
    bits, _, dtype = test_sub_group_matrix.FLOATS[name]
    precision, own = test_sub_group_matrix.ACCUMULATORS[accumulator][1::3]
    rng, k = np.random.default_rng(m), 256 // bits
    a, b, c = (rng.standard_normal(shape).astype(kind)
               for shape, kind in (((m, k), dtype), ((k, size), dtype), ((m, size), own)))
    found = test_sub_group_matrix.multiply(size, name, accumulator, a, b, c).astype(np.float64)
    if name == "tf32":
        a, b = ((one.view(np.uint32) & 0xFFFFE000).view(np.float32) for one in (a, b))
    a, b, c = (one.astype(np.float64) for one in (a, b, c))
    allowed = (k + 1) * 2.0**-24 * (np.abs(a) @ np.abs(b) + np.abs(c))
    allowed += 2.0**-precision * (np.abs(a @ b + c) + allowed)
    assert (np.abs(found - (a @ b + c)) <= allowed).all()


# --- random programs -----------------------------------------------------------------------


def check_model(seed: int) -> None:
    """A generated kernel as sub-group code computes what its model does; one that asks who holds what is left out."""
    kernel = modelled_matrices.generate(seed)
    if "uint own" in kernel.source:
        return
    names = (*(one.name for one in passes.usual()), "matrices", "fold")
    changed, _ = cut(cm.build(kernel.source).module, nothing(kernel.sub_group_size), names)

    def launch() -> list[np.ndarray]:
        arguments, size = kernel.arguments(), kernel.sub_group_size
        cm.Queue(lenient("sim:generic")).enqueue(cm.build(changed).kernel("k"), size, size, *arguments).wait()
        return arguments[:1]

    found: Result = attempt(launch)
    assert same(found, [kernel.expected]), f"seed {seed}: {found if isinstance(found, str) else 'differs'}"


def test_random_matrices() -> None:
    for seed in range(100, 110):
        check_model(seed)


@pytest.mark.slow
def test_random_matrices_long() -> None:
    for seed in range(6000, 6300):
        check_model(seed)


# --- what a driver has -----------------------------------------------------------------------


EIGHT = MatrixSupport("a driver", tuple(Combination.row(*types, 8, 8, 8) for types in (
    ("fp16", "fp16", "fp16", "fp16"), ("fp16", "fp16", "fp32", "fp32"), ("sint8", "sint8", "sint32", "sint32"))),
    sub_group_size=8)


def test_what_a_driver_has_stays_and_larger_ones_are_cut() -> None:
    same_size, notes = cut(gemm_module("s8", (8, 8, 8), 8), Goal(driver=EIGHT), ("matrices",))
    assert Op.TypeCooperativeMatrixKHR in opcodes(same_size)
    assert any("as a driver has it" in note for note in notes)
    larger, notes = cut(gemm_module("fp16", (16, 8, 24), 8), Goal(driver=EIGHT), ("matrices",))
    assert any("cut into 8x8" in note for note in notes)
    sizes = {tuple(larger.constant_value(word) for word in row.words[2:4])
             for row in larger.of_opcode(Op.TypeCooperativeMatrixKHR)}
    assert sizes == {(8, 8)}


@pytest.mark.parametrize(("name", "shape", "reason"), [
    ("fp64", (8, 8, 8), "has no combination of these types"), ("s8", (4, 8, 8), "is no multiple of a combination")])
def test_what_it_has_not_becomes_sub_group_code(name: str, shape: tuple[int, int, int], reason: str) -> None:
    module, notes = cut(gemm_module(name, shape, 8), Goal(driver=EIGHT), ("matrices",))
    assert Op.TypeCooperativeMatrixKHR not in opcodes(module)
    assert any("sub-group code" in note and reason in note for note in notes)


def test_packed_matrices_need_their_extension() -> None:
    case = Case(("sint8", "sint8", "sint32", "sint32"), 8, 8, 8, (0, PACKED, 0))
    module = Editor(program_text(case, [8, 32, 8, 8])).finish()
    _, notes = cut(module, Goal(driver=EIGHT), ("matrices",))
    assert any(JOINT_MATRIX in note and "sub-group code" in note for note in notes)
    with_it = replace(EIGHT, extensions=frozenset(EXTENSIONS))
    assert Op.TypeCooperativeMatrixKHR in opcodes(cut(module, Goal(driver=with_it), ("matrices",))[0])


def test_matrices_of_work_groups_are_refused() -> None:
    source = """
    typedef float m __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_WORKGROUP, 32, 32,
                                            CLK_COOPERATIVE_MATRIX_ACCUMULATOR)));
    __attribute__((reqd_work_group_size(64, 1, 1))) kernel void copy(global float *a) {
        m x = coop_mat_load(a, CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, 32);
        coop_mat_store(a, x, CLK_COOPERATIVE_MATRIX_LAYOUT_COLUMN_MAJOR, 32); }"""
    module = cm.build(source).module
    with pytest.raises(KernelNotSupported, match="has no matrices of work-groups, such as the 32x32 float32 matrix"):
        cut(module, nothing(), ("matrices",))
    changed, notes = cut(module, Goal(), ("matrices",))
    assert changed is module
    assert any("left: only matrices of sub-groups" in note for note in notes)


def test_every_shape_is_left() -> None:
    module = gemm_module("s8", (5, 6, 7), 16)
    changed, notes = cut(module, Goal(GENERIC), ("matrices",))
    assert changed is module
    assert notes == ["matrices: nothing is changed: generic has every shape"]


def test_a_size_of_sub_groups_for_all_kernels() -> None:
    """Two kernels of one module that require different sizes are refused in words."""
    source = """
    typedef int m __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, 8, 8,
                                          CLK_COOPERATIVE_MATRIX_ACCUMULATOR)));
    #define COPY(S) __attribute__((intel_reqd_sub_group_size(S))) kernel void copy##S(global int *a) { \\
        m x = coop_mat_load(a, CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, 8); \\
        coop_mat_store(a, x, CLK_COOPERATIVE_MATRIX_LAYOUT_COLUMN_MAJOR, 8); }
    COPY(8) COPY(16)"""
    with pytest.raises(KernelNotSupported, match=r"require sub-groups of \[8, 16\] work-items"):
        cut(cm.build(source).module, nothing(), ("matrices",))


@pytest.mark.parametrize("name", ["gemm", "gemm_blocked", "matrix_bf16", "matrix_int8", "matrix_tf32", "convolution",
                                  "flash_attention", "gemm_quantized", "gemm_w4a16", "gemm_tuned"])
def test_examples_are_valid_without_matrices(name: str) -> None:
    module = cm.build(EXAMPLES / f"{name}.cl", device="sim:generic").module
    changed, _ = cut(module, nothing(), (*(one.name for one in passes.usual()), "matrices", "fold"))
    gone = {op for op in Op if op.name.startswith(("CooperativeMatrix", "SubgroupMatrixMultiply"))}
    assert not gone & opcodes(changed)
