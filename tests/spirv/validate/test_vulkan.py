"""Shaders that the translation makes, damaged at random: our verdict beside that of SPIRV-Tools for Vulkan."""

from __future__ import annotations

import subprocess
from functools import cache
from random import Random

import pytest

import coopmat as cm
from coopmat.diagnostics import ValidationError
from coopmat.spirv import Module
from coopmat.spirv.transform.to_vulkan import VulkanTarget, to_vulkan
from tests.kit.paths import EXAMPLES, ROOT
from tests.kit.spirv.mutations import RANDOM

SOURCES = {EXAMPLES / "gemm.cl": ("-DTM=8", "-DTN=8", "-DTK=8"), EXAMPLES / "dot_products.cl": (),
           ROOT / "tests" / "kernels" / "control.cl": (), ROOT / "tests" / "kernels" / "memory.cl": ()}
MUTATIONS = ("notable word", "opcode", "delete", "double", "exchange", "another word", "another word", "another word")
MOST_DIFFERENT = 0.02
"""Of the verdicts: SPIRV-Tools knows enumerants by heart that our tables do not have."""


@cache
def shaders() -> list[bytes]:
    target = VulkanTarget.of_everything(8)
    modules = [cm.build(path, options).module for path, options in SOURCES.items()]
    return [to_vulkan(module, entry.name, target).spirv for module in modules for entry in module.entry_points]


def is_valid(data: bytes) -> bool:
    try:
        return all(found.severity != "error" for found in Module.from_bytes(data).validate())
    except ValidationError:
        return False


def is_valid_for_spirv_tools(data: bytes) -> bool:
    return subprocess.run(["spirv-val", "--target-env", "vulkan1.3", "-"], input=data, capture_output=True,
                          check=False).returncode == 0


@pytest.mark.oracle("spirv-val")
def test_verdicts_on_damaged_shaders(long_form: bool) -> None:
    assert all(is_valid(data) and is_valid_for_spirv_tools(data) for data in shaders())
    count = 2000 if long_form else 60
    different = []
    for seed in range(count):
        random = Random(seed)
        data = RANDOM[random.choice(MUTATIONS)](random.choice(shaders()), random)
        if is_valid(data) != is_valid_for_spirv_tools(data):
            different.append(seed)
    assert len(different) <= count * MOST_DIFFERENT, different
