"""Intel XMX, in GPUs: sycl_ext_oneapi_matrix, appendix "Intel XMX Supported Combinations", and the layouts of
cl_intel_subgroup_matrix_multiply_accumulate and its tf32 extension."""

from __future__ import annotations

from coopmat.devices.arithmetic import INTEGERS, Evidence, XmxStages
from coopmat.devices.lane_layout import WORD_BITS, LaneLayout, Step, spread
from coopmat.devices.model import Combination, DeviceDescription, Limits, up_to
from coopmat.devices.operands import Use
from coopmat.formats import Format

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

_LIMITS_SOURCE = "oneAPI GPU Optimization Guide, Intel Xe GPU Architecture: SLM of a work-group and its work-items"

_ARITHMETIC = (XmxStages({"bf16": 2, "fp16": 2, "tf32": 1}),)

ARCHITECTURES = (
    DeviceDescription("intel_gpu_pvc", _FAMILY, (16, 32), _rows(n=16) + _PVC_ONLY,
                      xmx_sub_group_sizes=(16,), limits=Limits(128 << 10, 1024, _LIMITS_SOURCE),
                      arithmetic=_ARITHMETIC),
    *(DeviceDescription(f"intel_gpu_dg2_{variant}", _FAMILY, (8, 16, 32), _rows(n=8), has_fp64=False,
                        xmx_sub_group_sizes=(8,), limits=Limits(64 << 10, 1024, _LIMITS_SOURCE),
                        arithmetic=_ARITHMETIC)
      for variant in ("g10", "g11", "g12")),
)

_NAMES = ("intel_gpu_pvc", "intel_gpu_dg2_g10", "intel_gpu_dg2_g11", "intel_gpu_dg2_g12")
EVIDENCE = (
    Evidence(_NAMES, ("fp16", "bf16", "tf32"), "vISA, DPAS: the order of the stages; the choices above are those "
             "of Intel's emulations (SimpleOpenCLSamples, cm-cpu-emulation)",
             "rational numbers, every combination of choices; no hardware"),
    Evidence(_NAMES, (INTEGERS,), "SPV_INTEL_subgroup_matrix_multiply_accumulate: low 32 bits of the exact result",
             "exact integers; no hardware"),
)

# --------------------------------------------------------------------------------------
# Layouts
# --------------------------------------------------------------------------------------

_SOURCE = "cl_intel_subgroup_matrix_multiply_accumulate"
_WIDE = "coopmat's choice: blocks of N columns, each as the sub-group built-ins have it, one after the other"


def layout(use: Use, fmt: Format, rows: int, columns: int, lanes: int) -> LaneLayout:
    """The layout of an operand of the matrix engine, whose N is the sub-group size.

    A: a lane holds neighbouring columns of each row; if the rows are shorter than the sub-group (tf32), it holds one
    column of every other row. B: a lane holds a column, as many rows in a word as find room. Accumulator: a lane holds
    a column.
    """
    if use == "a":
        return _layout_of_a(fmt, rows, columns, lanes)
    held = spread(rows, columns, [Step(lanes, 0, 1)], [Step(rows, 1, 0), Step(columns // lanes, 0, lanes)])
    is_wide = columns > lanes
    return LaneLayout(rows, columns, fmt.bits, WORD_BITS if use == "b" else fmt.bits, held,
                      _WIDE if is_wide else _source(fmt), implementation_dependent=is_wide)


def _layout_of_a(fmt: Format, rows: int, columns: int, lanes: int) -> LaneLayout:
    if lanes > columns:
        apart = lanes // columns
        held = spread(rows, columns, [Step(columns, 0, 1), Step(apart, 1, 0)], [Step(-(-rows // apart), apart, 0)])
        return LaneLayout(rows, columns, fmt.bits, fmt.bits, held, _source(fmt))
    together = columns // lanes
    held = spread(rows, columns, [Step(lanes, 0, together)], [Step(together, 0, 1), Step(rows, 1, 0)])
    return LaneLayout(rows, columns, fmt.bits, fmt.bits * together, held, _source(fmt))


def _source(fmt: Format) -> str:
    return f"{_SOURCE}_tf32" if fmt.name == "tf32" else _SOURCE
