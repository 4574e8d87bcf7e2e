"""Compute shaders become kernels: SPIR-V to SPIR-V."""
