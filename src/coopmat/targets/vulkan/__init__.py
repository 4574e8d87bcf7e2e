"""GPUs (and CPUs) through Vulkan: drivers, their matrices, and kernels that have become compute shaders."""
