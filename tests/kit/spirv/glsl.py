"""GLSL of our own as SPIR-V, by Khronos' compiler (the oracle ``glslangValidator``)."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

from coopmat.spirv import Module

HEADER = """#version 450
#extension GL_EXT_shader_explicit_arithmetic_types : enable
#extension GL_EXT_scalar_block_layout : enable
#extension GL_EXT_buffer_reference : enable
#extension GL_EXT_buffer_reference2 : enable
#extension GL_EXT_shared_memory_block : enable
#extension GL_EXT_control_flow_attributes : enable
#extension GL_KHR_memory_scope_semantics : enable
#extension GL_KHR_cooperative_matrix : enable
#extension GL_KHR_shader_subgroup_basic : enable
#extension GL_KHR_shader_subgroup_arithmetic : enable
#extension GL_KHR_shader_subgroup_ballot : enable
#extension GL_KHR_shader_subgroup_shuffle : enable
"""


def compile_glsl(text: str, environment: str = "vulkan1.3") -> Module:
    """A compute shader's module; AssertionError, with what the compiler says, for one with a mistake."""
    with tempfile.TemporaryDirectory() as folder:
        source, binary = Path(folder) / "shader.comp", Path(folder) / "shader.spv"
        source.write_text(HEADER + text)
        run = subprocess.run(["glslangValidator", "--target-env", environment, "-V", str(source), "-o", str(binary)],
                             capture_output=True, text=True, timeout=60, check=False)
        assert run.returncode == 0, run.stdout
        return Module.from_bytes(binary.read_bytes())
