"""``coopmat opt``, run as a user runs it."""

from __future__ import annotations

import json
from pathlib import Path

from coopmat.spirv import Module
from coopmat.spirv.grammar import Capability
from coopmat.spirv.transform.passes import PASSES
from tests.kit.command_line import coopmat, failure
from tests.kit.paths import ROOT
from tests.kit.spirv.case import kernel

SOURCE = """float twice(float x) { return 2 * x; }
kernel void k(global float *p) { float x = p[0]; p[0] = twice(x) + ONE; }
"""


def test_source_to_module_with_a_report(tmp_path: Path) -> None:
    (tmp_path / "k.cl").write_text(SOURCE)
    found = coopmat("opt", tmp_path / "k.cl", "-DONE=1.0f", "-o", tmp_path / "k.spv", "-v")
    assert found.returncode == 0
    assert "inline: 1 call replaced by what they call" in found.stderr
    assert "values: 1 variable became values" in found.stderr
    text = Module.from_bytes((tmp_path / "k.spv").read_bytes()).to_text()
    assert "OpVariable" not in text
    assert "OpFunctionCall" not in text
    again = coopmat("opt", tmp_path / "k.spv", "-o", tmp_path / "k.spvasm", "--passes", "fold")
    assert again.stderr == ""
    assert Module.from_text((tmp_path / "k.spvasm").read_text()).validate() == []


def test_matrices_for_a_device(tmp_path: Path) -> None:
    options = ["-DTM=32", "-DTN=32", "-DTK=64", "--device", "sim:intel_gpu_pvc", "-v"]
    found = coopmat("opt", ROOT / "examples" / "gemm.cl", "-o", tmp_path / "k.spv", *options)
    assert "cut: 32x64 int8 matrix of use a cut into 8x32" in found.stderr
    assert coopmat("val", tmp_path / "k.spv", "--device", "sim:intel_gpu_pvc").returncode == 0


def test_merged_work_groups(tmp_path: Path) -> None:
    options = ["-DTM=16", "-DTN=16", "-DTK=32", "--passes", "merge", "--device", "sim:nvidia_gpu_sm_80", "-v"]
    found = coopmat("opt", ROOT / "examples" / "gemm.cl", "-o", tmp_path / "k.spv", *options, "--merge", "2x3",
                    "--work-group", "32,1,1")
    assert "merge: kernel 'gemm': 3 x 2 x 1 neighbouring work-groups (along x, y, z) are one" in found.stderr
    assert coopmat("val", tmp_path / "k.spv").returncode == 0
    found = coopmat("opt", ROOT / "examples" / "gemm.cl", "-o", tmp_path / "k.spv", *options)
    assert "kernel 'gemm' is not merged: it requires no work-group size, and none is given (--work-group)" in (
        found.stderr)


def test_shaders(tmp_path: Path) -> None:
    (tmp_path / "k.cl").write_text(SOURCE + "kernel void other(local int *x) { x[0] = 1; }")
    found = coopmat("opt", tmp_path / "k.cl", "-DONE=1.0f", "-o", tmp_path / "k.spvasm", "--to", "vulkan", "-v",
                    "--kernel", "k")
    assert json.loads(found.stderr)["arguments"] == [
        {"kind": "pointer", "offset": 0, "size": 8, "spec_id": None, "element_size": 0,
         "grain_id": None}]
    shader = Module.from_text((tmp_path / "k.spvasm").read_text())
    assert shader.validate() == []
    assert Capability.Shader in shader.capabilities
    assert [one.name for one in shader.entry_points] == ["k"]
    coopmat("compile", tmp_path / "k.cl", "-DONE=1.0f", "-o", tmp_path / "k.spv", "--emit", "vulkan", "--kernel", "k")
    again = Module.from_bytes((tmp_path / "k.spv").read_bytes())
    assert [row.opcode for row in again.instructions] == [row.opcode for row in shader.instructions]
    assert failure("compile", tmp_path / "k.cl", "-DONE=1.0f", "-o", tmp_path / "k.spv", "--emit", "vulkan").startswith(
        "coopmat: error: a shader is made of one kernel: choose it with --kernel: k, other")
    assert "found 'metal'" in failure("opt", tmp_path / "k.spv", "-o", tmp_path / "x.spv", "--to",
                                                         "metal")


def test_what_is_refused(tmp_path: Path) -> None:
    (tmp_path / "k.cl").write_text(SOURCE)
    (tmp_path / "shader.spvasm").write_text("OpCapability Shader\nOpMemoryModel Logical GLSL450\n")
    (tmp_path / "wrong.spvasm").write_text(kernel("%sum = OpFAdd %uint %p0 %p0", parameters="%uint"))
    out = ("-o", tmp_path / "out.spv")
    known = ", ".join(one.name for one in PASSES)
    assert (f"there is no pass 'inlin': the passes are {known}\n"
            in failure("opt", tmp_path / "k.cl", "-DONE=1", *out, "--passes", "inlin"))
    assert "--merge takes how many work-groups become one, down and across, such as 2x2; found '2'" in failure(
        "opt", tmp_path / "k.cl", "-DONE=1", *out, "--merge", "2")
    assert "--work-group takes X, Y and Z such as 16,16,16; found '16'" in failure(
        "opt", tmp_path / "k.cl", "-DONE=1", *out, "--work-group", "16")
    assert "--tile takes M, N and K such as 16,16,16; found '16,16'" in failure(
        "opt", tmp_path / "k.cl", "-DONE=1", *out, "--tile", "16,16")
    assert "this is one of shaders" in failure("opt", tmp_path / "shader.spvasm", *out)
    assert "the result of OpFAdd must be a floating-point number" in failure("opt", tmp_path / "wrong.spvasm", *out)
    assert not (tmp_path / "out.spv").exists()
