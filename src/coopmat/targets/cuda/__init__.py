"""NVIDIA's GPUs: SPIR-V kernels as PTX, by LLVM, and launches by the driver."""
