"""Specialisation constants and linking from Python and from the command line."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import coopmat as cm
from coopmat.spirv import Module
from tests.kit.command_line import coopmat, failure
from tests.kit.lenient import lenient
from tests.kit.paths import EXAMPLES

EXAMPLE = EXAMPLES / "spec_gemm.spvasm"
LLVM_IR = """
target triple = "spirv64-unknown-unknown"
define spir_kernel void @k(ptr addrspace(1) %out) {
  %c = call spir_func i32 @_Z20__spirv_SpecConstantii(i32 7, i32 40)
  %f = call spir_func float @_Z20__spirv_SpecConstantif(i32 8, float 1.5)
  %g = fptosi float %f to i32
  %s = add i32 %c, %g
  store i32 %s, ptr addrspace(1) %out
  ret void
}
declare spir_func i32 @_Z20__spirv_SpecConstantii(i32, i32)
declare spir_func float @_Z20__spirv_SpecConstantif(i32, float)
"""
ARRAY = """
OpCapability Kernel
OpCapability Addresses
OpMemoryModel Physical64 OpenCL
OpEntryPoint Kernel %kernel "kernel"
OpExecutionModeId %kernel LocalSizeId %size %one %one
OpDecorate %n SpecId 5
OpDecorate %size SpecId 6
%void = OpTypeVoid
%int = OpTypeInt 32 0
%zero = OpConstant %int 0
%one = OpConstant %int 1
%n = OpSpecConstant %int 3
%size = OpSpecConstant %int 2
%length = OpSpecConstantOp %int IAdd %n %one
%array = OpTypeArray %int %length
%record = OpTypeStruct %array %int
%global_int = OpTypePointer CrossWorkgroup %int
%global_record = OpTypePointer CrossWorkgroup %record
%type = OpTypeFunction %void %global_record %global_int
%kernel = OpFunction %void None %type
%in = OpFunctionParameter %global_record
%out = OpFunctionParameter %global_int
%entry = OpLabel
%place = OpInBoundsAccessChain %global_int %in %one
%value = OpLoad %int %place Aligned 4
OpStore %out %value Aligned 4
OpReturn
OpFunctionEnd
"""
# What may follow "the module has no ...": the list of the constants that exist.
KNOWN = r"0 'M': uint32, default 8; 1 'N': uint32, default 16; 2 'K': uint32, default 32"


def product(program: cm.Program, m: int, n: int, k: int) -> None:
    rng = np.random.default_rng(m)
    a, b = rng.integers(-128, 128, (m, k), np.int8), rng.integers(-128, 128, (k, n), np.int8)
    c = np.zeros((m, n), np.int32)
    cm.Queue("sim:generic").enqueue(program.kernel("product"), 16, 16, a, b, c).wait()
    np.testing.assert_array_equal(c, a.astype(np.int32) @ b.astype(np.int32))


@pytest.mark.parametrize(("values", "shape"), [
    (None, (8, 16, 32)), ({}, (8, 16, 32)), ({"M": 3}, (3, 16, 32)), ({0: 1, "N": 64, 2: np.int64(5)}, (1, 64, 5)),
])
def test_shapes_of_matrices(values: dict[int | str, int] | None, shape: tuple[int, int, int]) -> None:
    product(cm.build(EXAMPLE, spec_constants=values), *shape)


def test_a_device_checks_the_specialised_shape() -> None:
    cm.build(EXAMPLE, device="sim:intel_gpu_pvc")
    with pytest.raises(cm.KernelNotSupported, match="M=9"):
        cm.build(EXAMPLE, device="sim:intel_gpu_pvc", spec_constants={"M": 9})


@pytest.mark.parametrize(("values", "result"), [({}, 41), ({7: 5}, 6), ({7: -2, 8: 2.9}, 0), ({8: 1}, 41)])
def test_constants_in_llvm_ir(values: dict[int | str, float], result: int, tmp_path: Path) -> None:
    path = tmp_path / "k.ll"
    path.write_text(LLVM_IR)
    program = cm.build(path, spec_constants=values)
    for made in (program, program.optimized(2)):
        out = np.zeros(1, np.int32)
        cm.Queue("sim:generic").enqueue(made.kernel("k"), 1, 1, out).wait()
        assert out[0] == result


@pytest.mark.parametrize(("values", "size", "local"), [({}, 20, 2), ({5: 6, 6: 4}, 32, 4)])
def test_array_lengths_and_work_group_sizes(values: dict[int | str, int], size: int, local: int) -> None:
    program = cm.build(Module.from_text(ARRAY).to_bytes(), spec_constants=values)
    signature = program.kernel("kernel").signature
    assert (signature.parameters[0].type.size, signature.work_group_size) == (size, (local, 1, 1))
    data, out = np.arange(size, dtype=np.uint8), np.zeros(1, np.int32)
    cm.Queue(lenient("sim:generic")).enqueue(program.kernel("kernel"), local, local, data, out).wait()
    assert out[0] == data[-4:].view(np.int32)[0]
    with pytest.raises(cm.LaunchError, match=f"{local}"):
        cm.Queue("sim:generic").enqueue(program.kernel("kernel"), 8, 8, data, out).wait()


def test_a_specialised_program_has_no_constants_left() -> None:
    program = cm.build(EXAMPLE)
    assert [constant.name for constant in program.spec_constants] == ["M", "N", "K"]
    assert program.specialized({"M": 4}).spec_constants == []
    assert "OpSpecConstant" in program.spirv_asm
    assert "OpSpecConstant" not in program.specialized({"M": 4}).spirv_asm


@pytest.mark.parametrize(("values", "message"), [
    ({3: 1}, f"no specialisation constant 3: its constants are {KNOWN}"),
    ({"Q": 1}, f"no specialisation constant 'Q': its constants are {KNOWN}"),
    ({"M": 2**32}, "0 'M': uint32, default 8: 4294967296 does not fit; expected an integer from -2147483648 to"),
    ({"M": 1.5}, "1.5 does not fit"), ({"M": "8"}, "'8' does not fit"), ({"M": 1, 0: 2}, "0 has two values: 1 and 2"),
    ([("M", 1)], "are a dict"),
])
def test_errors(values: dict[int | str, int], message: str) -> None:
    with pytest.raises(cm.Error, match=message):
        cm.build(EXAMPLE, spec_constants=values)


def test_opencl_c_has_no_specialisation_constants() -> None:
    with pytest.raises(cm.Error, match=r"is OpenCL C, which has no specialisation constants: define a macro.* TILE=V"):
        cm.build("kernel void k(void) {}", spec_constants={"TILE": 3})
    cm.build("kernel void k(void) {}", spec_constants={})


def test_from_the_command_line(tmp_path: Path) -> None:
    for name, shape in (("a", (4, 64)), ("b", (64, 16))):
        np.save(tmp_path / f"{name}.npy", np.ones(shape, np.int8))
    common = ("--kernel", "product", "--global", "16", "--local", "16", "--arg", tmp_path / "a.npy", "--arg",
              tmp_path / "b.npy", "--arg", "zeros:sint32:4x16", "--out", f"2={tmp_path / 'c.npy'}")
    assert coopmat("run", EXAMPLE, *common, "--spec", "M=0x4", "--spec", "2=64").returncode == 0
    assert (np.load(tmp_path / "c.npy") == 64).all()
    target = tmp_path / "special.spv"
    assert coopmat("compile", EXAMPLE, "-o", target, "--spec", "M=4", "--spec", "K=64").returncode == 0
    assert coopmat("run", target, *common).returncode == 0
    assert "expected ID=VALUE" in failure("run", EXAMPLE, *common, "--spec", "M")
    assert "has the value 4 already" in failure("run", EXAMPLE, *common, "--spec", "M=4", "--spec", "M=5")
    assert "'four' is no number" in failure("run", EXAMPLE, *common, "--spec", "M=four")
    assert "it has none" in failure("compile", target, "-o", tmp_path / "again.spv", "--spec", "M=4")


def test_linking_from_the_command_line(tmp_path: Path) -> None:
    from tests.spirv.edit.test_linker import EXPECTED, EXPORT, KERNEL

    (tmp_path / "a.spvasm").write_text(KERNEL)
    (tmp_path / "b.spvasm").write_text(EXPORT)
    linked = tmp_path / "linked.spv"
    launch = ("--kernel", "kernel", "--global", "8", "--local", "4", "--arg", "zeros:uint32:8", "--out",
              f"0={tmp_path / 'out.npy'}")
    assert coopmat("compile", tmp_path / "a.spvasm", "--link", tmp_path / "b.spvasm", "-o", linked).returncode == 0
    for source in ((linked,), (tmp_path / "b.spvasm", "--link", tmp_path / "a.spvasm")):
        assert coopmat("run", *source, *launch).returncode == 0
        np.testing.assert_array_equal(np.load(tmp_path / "out.npy"), EXPECTED)
    assert "'weigh' is imported, and no module" in failure("run", tmp_path / "a.spvasm", *launch)
    assert "b.spvasm" in failure("run", tmp_path / "b.spvasm", "--link", tmp_path / "b.spvasm", *launch)


CALLER = """
target triple = "spirv64-unknown-unknown"
declare spir_func i32 @weigh(ptr addrspace(1), i32)
declare spir_func i64 @_Z13get_global_idj(i32)
define spir_kernel void @kernel(ptr addrspace(1) %out) {
  %id = call spir_func i64 @_Z13get_global_idj(i32 0)
  %n = trunc i64 %id to i32
  %place = getelementptr i32, ptr addrspace(1) %out, i64 %id
  %weight = call spir_func i32 @weigh(ptr addrspace(1) %place, i32 %n)
  store i32 %weight, ptr addrspace(1) %place
  ret void
}
"""
CALLEE = """
target triple = "spirv64-unknown-unknown"
define spir_func i32 @weigh(ptr addrspace(1) %start, i32 %n) {
  %old = load i32, ptr addrspace(1) %start
  %product = mul i32 %old, %n
  ret i32 %product
}
"""


def test_llvm_ir_of_two_files(tmp_path: Path) -> None:
    caller, callee = tmp_path / "caller.ll", tmp_path / "callee.ll"
    caller.write_text(CALLER)
    callee.write_text(CALLEE)
    for source, link in ((caller, callee), (callee, caller)):
        out = np.full(8, 3, np.int32)
        program = cm.build(source, link=[link])
        cm.Queue("sim:generic").enqueue(program.kernel("kernel"), 8, 4, out).wait()
        np.testing.assert_array_equal(out, 3 * np.arange(8))
    with pytest.raises(cm.CompileError, match="function 'weigh' is called, but not defined"):
        cm.build(caller)
