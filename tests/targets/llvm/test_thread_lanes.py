"""The execution model of GPUs on a machine of which there is nothing else: kernels without matrices as code for AMD's.

NVIDIA's GPUs have tests of their own, in tests/targets/cuda/.
"""

from __future__ import annotations

import shutil
import subprocess
from functools import cache
from pathlib import Path

import pytest

import coopmat as cm
from coopmat import llvm
from coopmat.runtime.executable import executable
from coopmat.targets.analysis.large_values import Prepared, prepared
from coopmat.targets.llvm.threads.threads import ThreadLanes
from tests.kit.targets.amd_lanes import CHIP, FEATURES, TRIPLE, WAVE, AmdLanes, kernel_ir
from tests.kit.targets.group_kernels import GROUPS

KERNELS = Path(__file__).parents[2] / "kernels"
LEVEL = 2  # of LLVM's optimiser
SIZES = ((WAVE, 1, 1), (5, 3, 7))  # of work-groups: one sub-group, and several of which the last is a part


@cache
def modules() -> dict[str, Prepared]:
    """The kernels without matrices, prepared for a compiled target."""
    found = {file.stem: cm.build(file) for file in sorted(KERNELS.glob("*.cl")) if file.stem != "matrices"}
    found["groups"] = cm.build(GROUPS)
    return {name: prepared(executable(program.module)) for name, program in found.items()}


@cache
def ir_of(name: str, kernel: str, size: tuple[int, int, int] = SIZES[0]) -> str:
    module = modules()[name]
    entry = next(entry for entry in module.module.entry_points if entry.name == kernel)
    return kernel_ir(module, entry, size)


CASES = [(name, entry.name) for name, module in modules().items() for entry in module.module.entry_points]


@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize(("name", "kernel"), CASES)
def test_every_number_is_one(name: str, kernel: str, size: tuple[int, int, int]) -> None:
    """No vector is written, and LLVM accepts the module."""
    ir = ir_of(name, kernel, size)
    llvm.verify(ir, source_name=kernel)
    assert "<1 x " not in ir
    assert f"<{WAVE} x " not in ir


def test_the_hardware_says_no_more_than_it_must() -> None:
    """The methods of AMD's lanes are those that the execution model leaves to the hardware, and helpers."""
    own = {name for name, member in vars(AmdLanes).items() if callable(member) and not name.startswith("_")}
    assert own - {"local_at"} == ThreadLanes.__abstractmethods__


def test_waves_wait() -> None:
    """Threads of a sub-group go on by themselves; a barrier of a sub-group is an instruction."""
    assert "llvm.amdgcn.wave.barrier" in ir_of("groups", "sub_groups")
    assert "llvm.amdgcn.s.barrier" not in ir_of("groups", "sub_groups")
    assert "llvm.amdgcn.s.barrier" in ir_of("groups", "work_groups")


def test_what_a_machine_lacks_is_an_error() -> None:
    """A machine without checks takes no kernel with assertions."""
    program = cm.build("""
        void __assert_fail(const constant char *text, const constant char *file, unsigned line, const constant char *f);
        kernel void asserts(global int *a) { if (a[0]) __assert_fail("a", "b", 1, "c"); }""")
    module = prepared(executable(program.module))
    with pytest.raises(cm.Error, match=r"cannot compile '%.* = OpFunctionCall .*' for the GPU"):
        kernel_ir(module, module.module.entry_points[0])


@cache
def object_of(name: str, kernel: str) -> bytes:
    return llvm.compile(ir_of(name, kernel), TRIPLE, CHIP, FEATURES, LEVEL, "object")


@pytest.mark.parametrize(("name", "kernel"), CASES)
def test_an_object(name: str, kernel: str) -> None:
    code = object_of(name, kernel)
    assert int.from_bytes(code[18:20], "little") == 224  # EM_AMDGPU
    assert f"{kernel}.kd".encode() in code


@pytest.mark.oracle("llvm-objdump")
@pytest.mark.parametrize(("name", "kernel"), CASES)
def test_the_object_is_disassembled(name: str, kernel: str, tmp_path: Path) -> None:
    (tmp_path / "kernel.o").write_bytes(object_of(name, kernel))
    text = subprocess.run([str(shutil.which("llvm-objdump")), "-d", f"--mcpu={CHIP}", str(tmp_path / "kernel.o")],
                          capture_output=True, text=True, check=True).stdout
    assert f"<{kernel}>:" in text
    assert "s_endpgm" in text
    assert "<unknown>" not in text
