"""Where work-items meet in shaders: with maximal reconvergence at merge blocks and continue targets, and nowhere else
for certain."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

import coopmat as cm
from coopmat.spirv import Module
from coopmat.spirv.grammar import Op
from coopmat.spirv.transform.to_vulkan import VulkanTarget, to_vulkan
from tests.kit.fuzz import lock_step_kernels, random_graphs
from tests.kit.oracles import vulkan

KERNEL = """
__attribute__((intel_reqd_sub_group_size(16))) kernel void k(global uint *out, global const uint *in)
{
    uint x = in[get_global_id(0)];
    BODY
    out[get_global_id(0)] = x;
}
"""
MIX = "x = x * 5 + sub_group_non_uniform_reduce_add(x);"
BODIES = {
    "several numbers lead to one case": f"switch (x & 3) {{ case 0: case 1: {MIX} }}",
    "the default is for many numbers": f"switch (x & 3) {{ case 0: x++; break; default: {MIX} }}",
    "a case leads to the next one": f"switch (x & 3) {{ case 0: x++; case 1: {MIX} }}",
    "a case goes on with the loop": (f"for (int i = 0; i < 9; i++) {{ switch (x & 3) {{ default: {MIX} case 1: "
                                     f"continue; case 2: x++; }} {MIX} }}"),
    "the numbers are long": f"switch ((long)x & 3) {{ case 0: case -1: {MIX} }}",
    "all leave a loop at once": f"int i = 0; do {{ if (x & 1) {{ break; }} else {{ break; }} }} while (++i < 3); {MIX}",
}


def shader(source: str) -> Module:
    module = Module.from_bytes(cm.build(source, ("-w",)).spirv)
    return Module.from_bytes(to_vulkan(module, "k", VulkanTarget.of_everything(16)).spirv)


def check(shaders: list[Module], folder: Path) -> None:
    tool = vulkan.spirv_val()
    assert tool is not None
    files = [folder / f"{number}.spv" for number in range(len(shaders))]
    for file, one in zip(files, shaders, strict=True):
        assert one.validate() == []
        file.write_bytes(one.to_bytes())
        run = subprocess.run([tool, "--target-env", "vulkan1.3", file], capture_output=True, text=True, check=False,
                             timeout=60)
        assert run.returncode == 0, run.stdout + run.stderr


@pytest.mark.oracle("lavapipe")
@pytest.mark.parametrize("name", BODIES)
def test_control_flow_after_which_they_need_not_meet(name: str, tmp_path: Path) -> None:
    found = shader(KERNEL.replace("BODY", BODIES[name]))
    assert not any(found.of_opcode(Op.Switch))
    check([found], tmp_path)


@pytest.mark.parametrize("body", [
    f"switch (x & 3) {{ case 0: {MIX} break; case 1: x++; }}",
    "switch (x & 3) { case 0: x++; default: x--; }"], ids=["each number has a case", "it does not matter"])
def test_switches_that_stay(body: str) -> None:
    assert any(shader(KERNEL.replace("BODY", body)).of_opcode(Op.Switch))


@pytest.mark.oracle("lavapipe")
def test_random_kernels_are_valid(tmp_path: Path) -> None:
    shaders = []
    for seed in range(6):
        sources: tuple[str | bytes, ...] = (lock_step_kernels.generate(seed).source, random_graphs.generate(seed).spirv)
        for source in sources:
            module = Module.from_bytes(source if isinstance(source, bytes) else cm.build(source, ("-w",)).spirv)
            [(name, signature)] = module.kernel_signatures.items()
            target = VulkanTarget.of_everything(signature.sub_group_size or 16)
            shaders.append(Module.from_bytes(to_vulkan(module, name, target).spirv))
    check(shaders, tmp_path)
