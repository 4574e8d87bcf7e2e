"""What ``coopmat opt --to vulkan`` and ``coopmat compile --emit vulkan`` write: a kernel as a compute shader."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from coopmat.diagnostics import Error
from coopmat.runtime import Device
from coopmat.runtime.vulkan_device import VulkanDevice
from coopmat.spirv import Module
from coopmat.spirv.transform.passes import check
from coopmat.spirv.transform.to_vulkan import Shader, VulkanTarget, to_vulkan

SUB_GROUP = 32
"""The sub-group size where neither the kernel nor a device says one: that of most GPUs."""


def shader_of(module: Module, kernel: str | None, device: Device | None) -> Shader:
    """A kernel, by name or the only one, as a shader for a Vulkan device; for any other device, or none, as one for
    drivers that have everything. KernelNotSupported, naming the feature, for what the device does not have."""
    check(module)
    signatures = module.kernel_signatures
    if kernel is None and len(signatures) != 1:
        raise Error("a shader is made of one kernel: choose it with --kernel: " + ", ".join(signatures) if signatures
                    else "the module has no kernels")
    name = kernel if kernel is not None else next(iter(signatures))
    if isinstance(device, VulkanDevice) and name in signatures:
        return device.load(module).shader(name)
    size = signatures[name].sub_group_size if name in signatures else None
    return to_vulkan(module, name, VulkanTarget.of_everything(size or SUB_GROUP))


def interface(shader: Shader) -> str:
    """How a shader is launched, as JSON: the fields of :class:`Shader` but for code and images of memory."""
    shown: dict[str, Any] = {
        "entry_point": shader.entry_point, "arguments": [asdict(one) for one in shader.arguments],
        "block_size": shader.block_size, "block_in_memory": shader.block_in_memory, "hidden": dict(shader.hidden),
        "local_size_spec_ids": shader.local_size_spec_ids, "globals_bytes": len(shader.globals_image),
        "local_bytes": shader.local_bytes, "features": sorted(shader.features)}
    return json.dumps(shown, indent=1)
