"""AMD matrix cores: sycl_ext_oneapi_matrix, appendix "AMD Matrix Cores Supported Combinations"."""

from __future__ import annotations

from coopmat.devices.model import Combination, DeviceDescription

# (type of A and B, type of C and D, shapes M, N, K)
_TABLE: tuple[tuple[str, str, tuple[tuple[int, int, int], ...]], ...] = (
    ("fp16", "fp32", ((32, 32, 8), (16, 16, 16))),
    ("sint8", "sint32", ((32, 32, 8), (16, 16, 16))),
    ("bf16", "fp32", ((32, 32, 8), (16, 16, 16))),
    ("fp64", "fp64", ((16, 16, 4),)),
)

_GFX90A = tuple(Combination.row(ab, ab, cd, cd, *shape) for ab, cd, shapes in _TABLE for shape in shapes)

ARCHITECTURES = (DeviceDescription("amd_gpu_gfx90a", "amd", (64,), _GFX90A),)
