"""Intel XMX, in GPUs: sycl_ext_oneapi_matrix, appendix "Intel XMX Supported Combinations"."""

from __future__ import annotations

from coopmat.devices.model import Combination, DeviceDescription, up_to

_FAMILY = "intel_xmx"


def _rows(n: int) -> tuple[Combination, ...]:
    """The rows that PVC (N = 16) and DG2 (N = 8) share up to N."""
    int8 = tuple(Combination.row(a, b, "sint32", "sint32", up_to(8), n, 32)
                 for a in ("uint8", "sint8") for b in ("uint8", "sint8"))
    float16 = tuple(Combination.row(ab, ab, "fp32", "fp32", up_to(8), n, 16) for ab in ("fp16", "bf16"))
    return int8 + float16


_PVC_ONLY = (
    Combination.row("bf16", "bf16", "fp32", "fp32", 16, 16, 16),
    Combination.row("bf16", "bf16", "fp32", "fp32", 32, 64, 16),
    Combination.row("tf32", "tf32", "fp32", "fp32", up_to(8), 16, 8),
)

ARCHITECTURES = (
    DeviceDescription("intel_gpu_pvc", _FAMILY, (16, 32), _rows(n=16) + _PVC_ONLY,
                      xmx_sub_group_sizes=(16,)),
    *(DeviceDescription(f"intel_gpu_dg2_{variant}", _FAMILY, (8, 16, 32), _rows(n=8), has_fp64=False,
                        xmx_sub_group_sizes=(8,))
      for variant in ("g10", "g11", "g12")),
)
