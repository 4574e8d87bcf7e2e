"""SPIR-V kernels become Vulkan compute shaders."""
