"""SPIR-V kernels become Vulkan compute shaders."""

from coopmat.spirv.transform.to_vulkan.shader import Argument, PrintedCall, Shader, VulkanTarget
from coopmat.spirv.transform.to_vulkan.translate import to_vulkan

__all__ = ["Argument", "PrintedCall", "Shader", "VulkanTarget", "to_vulkan"]
