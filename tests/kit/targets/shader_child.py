"""In a process of its own: the shaders of all cases on Vulkan's first device, which takes their modules as they are."""

from __future__ import annotations

import pickle
import sys

import coopmat as cm
from coopmat.spirv import Module
from coopmat.targets.vulkan.descriptors import ShaderProgram
from tests.kit.spirv.shaders import DRIVER_CASES, launched


def main() -> None:
    takes = ShaderProgram.runs_as_it_is

    def taken(self: ShaderProgram, name: str) -> bool:
        assert takes(self, name), "the shader would be translated"
        return True

    ShaderProgram.runs_as_it_is = taken  # type: ignore[method-assign]
    device = cm.device("vulkan:0", options=cm.VulkanOptions(validation=True))
    found = [launched(case, Module.from_bytes(spirv), device)
             for case, spirv in zip(DRIVER_CASES, pickle.load(sys.stdin.buffer), strict=True)]
    sys.stdout.buffer.write(pickle.dumps(found))


if __name__ == "__main__":
    main()
