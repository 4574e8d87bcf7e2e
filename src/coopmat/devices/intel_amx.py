"""Intel AMX, in CPUs: sycl_ext_oneapi_matrix, appendix "Intel AMX Supported Combinations"."""

from __future__ import annotations

from coopmat.devices.model import Combination, DeviceDescription, up_to

_FAMILY = "intel_amx"
_CPU_SUB_GROUP_SIZES = (16, 4, 8, 32, 64)  # sub-groups are a matter of software on a CPU

_INT8 = tuple(Combination.row(a, b, "sint32", "sint32", up_to(16), up_to(16), up_to(64))
              for a in ("uint8", "sint8") for b in ("uint8", "sint8"))
_BF16 = (Combination.row("bf16", "bf16", "fp32", "fp32", up_to(16), up_to(16), up_to(32)),)
_FP16 = (Combination.row("fp16", "fp16", "fp32", "fp32", up_to(16), up_to(16), up_to(32)),)

ARCHITECTURES = (
    DeviceDescription("intel_cpu_spr", _FAMILY, _CPU_SUB_GROUP_SIZES, _INT8 + _BF16),
    DeviceDescription("intel_cpu_gnr", _FAMILY, _CPU_SUB_GROUP_SIZES, _INT8 + _BF16 + _FP16),
)
