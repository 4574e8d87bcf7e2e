"""Every test kernel and example: right against numpy, and the same through LLVM and through other oracles."""

from __future__ import annotations

import shutil
import subprocess
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import coopmat as cm
from coopmat.spirv.module import Module
from tests.kit.cases import CASES, EXAMPLES, Case, copies
from tests.kit.checks.alarms import NO_ALARM
from tests.kit.oracles import intel_runtime

pytestmark = NO_ALARM
SEED = 20


@cache
def built(source: Path, options: tuple[str, ...]) -> cm.Program:
    return cm.build(source, options)


def check(case: Case, program: cm.Program, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = case.arguments(np.random.default_rng(SEED))
    expected, printed = case.expected(copies(arguments)), case.printed(arguments)
    case.run(program, cm.device("sim:generic"), arguments)
    for index, result in expected.items():
        np.testing.assert_array_equal(arguments[index], result, err_msg=f"argument {index}")
    assert sorted(capsys.readouterr().out.splitlines()) == sorted(printed)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_result(case: Case, capsys: pytest.CaptureFixture[str]) -> None:
    check(case, built(case.source, case.options), capsys)


@cache
def optimized(source: Path, options: tuple[str, ...], level: int) -> cm.Program:
    """The program that LLVM makes of our IR at a level of its optimiser: a valid one, at that level."""
    program = built(source, options)
    made = program.optimized(level)
    assert [found for found in made.module.validate() if found.severity == "error"] == []
    assert made.warnings == program.warnings
    return made


@pytest.mark.thinned(4)
@pytest.mark.parametrize("level", range(4))
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_result_after_llvms_optimiser(case: Case, level: int, capsys: pytest.CaptureFixture[str]) -> None:
    check(case, optimized(case.source, case.options, level), capsys)


def test_every_example_is_among_the_cases() -> None:
    assert {case.source.name for case in CASES if case.source.parent == EXAMPLES} == {
        path.name for path in EXAMPLES.glob("*.cl")}


SOURCES = sorted({(case.source, case.options) for case in CASES})


def _knows_matrices() -> bool:
    """Whether the installed spirv-val is recent enough to know cooperative matrices."""
    command = shutil.which("spirv-val")
    if command is None:
        return False
    probe = ("OpCapability Kernel\nOpCapability Addresses\nOpCapability Linkage\nOpCapability CooperativeMatrixKHR\n"
             'OpExtension "SPV_KHR_cooperative_matrix"\nOpMemoryModel Physical64 OpenCL\n')
    result = subprocess.run([command, "--target-env", "spv1.4", "-"], input=Module.from_text(probe).to_bytes(),
                            capture_output=True, check=False)
    return result.returncode == 0


@pytest.mark.oracle("spirv-val")
@pytest.mark.parametrize(("source", "options"), SOURCES, ids=lambda value: getattr(value, "stem", "-"))
def test_spirv_val_accepts_our_modules(source: Path, options: tuple[str, ...], tmp_path: Path) -> None:
    program = built(source, options)
    if "SPV_INTEL_joint_matrix" in program.module.extensions:
        pytest.skip("no release of SPIRV-Tools knows SPV_INTEL_joint_matrix, which coop_mat_get_coord needs")
    if "SPV_KHR_cooperative_matrix" in program.module.extensions and not _knows_matrices():
        pytest.skip("this spirv-val does not know cooperative matrices: SPIRV-Tools 2024 or later does")
    path = tmp_path / "module.spv"
    path.write_bytes(program.spirv)
    result = subprocess.run(["spirv-val", "--target-env", "spv1.4", str(path)], capture_output=True, text=True,
                            check=False)
    assert result.returncode == 0, result.stdout + result.stderr


PLAIN_CASES = [case for case in CASES if case.source.stem in (
    "control", "memory", "vectors", "extensions", "dot_products", "async_copies", "printing")]


@pytest.mark.oracle("intel-opencl")
@pytest.mark.parametrize("case", PLAIN_CASES, ids=lambda case: case.name)
def test_intels_runtime_computes_the_same(case: Case) -> None:
    """The module runs unchanged on Intel's CPU runtime (kernels without matrices)."""
    program = built(case.source, case.options)
    arguments = case.arguments(np.random.default_rng(SEED))
    expected, printed = case.expected(copies(arguments)), case.printed(arguments)
    results, output = intel_runtime.run_printing(program.spirv, case.kernel, case.global_size, case.local_size,
                                                 _for_pyopencl(program.kernel(case.kernel), arguments))
    for index, result in expected.items():
        np.testing.assert_array_equal(results[index], result, err_msg=f"argument {index}")
    assert sorted(output.decode().splitlines()) == sorted(printed)


def _for_pyopencl(kernel: cm.Kernel, arguments: list[object]) -> list[object]:
    """Values as their bytes; local memory by its size."""
    return [("local", value.nbytes) if isinstance(value, cm.LocalMemory) else value
            for value in kernel.bound(arguments)]
