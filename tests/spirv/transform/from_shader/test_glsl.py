"""Compute shaders in GLSL compute what numpy does: in the simulator with all checks, on the CPU, and on lavapipe."""

from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path

import pytest

import coopmat as cm
from coopmat.spirv.transform.from_shader.kernels import to_kernels
from tests.kit.oracles import vulkan
from tests.kit.spirv.glsl import compile_glsl
from tests.kit.spirv.shaders import CASES, DRIVER_CASES, Case, check, launched

ROOT = Path(__file__).parents[4]


@pytest.mark.oracle("glslangValidator")
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_as_numpy(case: Case) -> None:
    module = compile_glsl(case.text)
    assert [str(one) for one in to_kernels(module).validate()] == []
    for device in ("sim:generic", "cpu"):
        check(case, launched(case, module, device))


@pytest.mark.oracle("glslangValidator")
@pytest.mark.oracle("lavapipe")
def test_as_the_driver() -> None:
    """The driver takes the modules as they are; its results are numpy's, and so the simulator's."""
    work = pickle.dumps([compile_glsl(case.text).to_bytes() for case in DRIVER_CASES])
    child = subprocess.run([str(vulkan.python()), "-m", "tests.kit.targets.shader_child"], input=work,
                           capture_output=True, timeout=240, check=False, cwd=ROOT, env={
                               **vulkan.environment(validation=True), "PYTHONPATH": ":".join(sys.path)})
    assert child.returncode == 0, child.stderr.decode()[-3000:]
    for case, found in zip(DRIVER_CASES, pickle.loads(child.stdout), strict=True):
        check(case, found)


@pytest.mark.oracle("glslangValidator")
def test_what_does_not_run() -> None:
    """One line tells what kernels do not have."""
    text = "layout(local_size_x = 1) in; layout(set = 0, binding = 0, r32f) uniform image2D picture;" \
           "void main() { imageStore(picture, ivec2(0), vec4(1)); }"
    with pytest.raises(cm.Error, match=r"the function Refract of GLSL\.std\.450"):
        cm.build(compile_glsl(DRIVER_CASES[-1].text), device="cpu")
    with pytest.raises(cm.Error, match="'picture' is OpTypeImage: of descriptors, only"):
        cm.build(compile_glsl(text))
