"""NVIDIA tensor cores: sycl_ext_oneapi_matrix, appendix "Nvidia Tensor Cores Supported Combinations".

The appendix gives each row a minimum compute capability, of which there are three, and says that what is compiled for
one runs on devices of this capability and greater ones: a device has every row up to its own. The devices are those of
sycl_ext_oneapi_device_architecture. PTX ISA agrees, for sm_75, 86, 89 and 90 too: wmma.mma needs "sm_70 or higher" for
fp16, sm_72 for 8-bit integers, sm_80 for bf16, tf32 and fp64.
"""

from __future__ import annotations

from coopmat.devices.model import Combination, DeviceDescription, Limits

_FAMILY = "nvidia"
_COMPUTE_CAPABILITIES = (70, 72, 75, 80, 86, 89, 90)
_WMMA_SHAPES = ((16, 16, 16), (8, 32, 16), (32, 8, 16))

# (minimum compute capability, type of A and B, type of C, type of D, shapes M, N, K)
_TABLE: tuple[tuple[int, str, str, str, tuple[tuple[int, int, int], ...]], ...] = (
    (70, "fp16", "fp32", "fp32", _WMMA_SHAPES),
    (70, "fp16", "fp16", "fp16", _WMMA_SHAPES),
    (70, "fp16", "fp32", "fp16", _WMMA_SHAPES),
    (70, "fp16", "fp16", "fp32", _WMMA_SHAPES),
    (72, "sint8", "sint32", "sint32", _WMMA_SHAPES),
    (72, "uint8", "sint32", "sint32", _WMMA_SHAPES),
    (80, "tf32", "fp32", "fp32", ((16, 16, 8),)),
    (80, "bf16", "fp32", "fp32", _WMMA_SHAPES),
    (80, "fp64", "fp64", "fp64", ((8, 8, 4),)),
)


def _combinations(compute_capability: int) -> tuple[Combination, ...]:
    return tuple(Combination.row(ab, ab, c, d, *shape)
                 for minimum, ab, c, d, shapes in _TABLE if minimum <= compute_capability
                 for shape in shapes)


_SHARED_MEMORY = {70: 96, 72: 48, 75: 64, 80: 163, 86: 99, 89: 99, 90: 227}
"""KiB of shared memory that a thread block may have, after it has asked for more than 48."""
_LIMITS_SOURCE = "CUDA C++ Programming Guide, table of technical specifications per compute capability"

ARCHITECTURES = tuple(
    DeviceDescription(f"nvidia_gpu_sm_{cc}", _FAMILY, (32,), _combinations(cc), compute_capability=cc,
                      limits=Limits(_SHARED_MEMORY[cc] << 10, 1024, _LIMITS_SOURCE))
    for cc in _COMPUTE_CAPABILITIES)
