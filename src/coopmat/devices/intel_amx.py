"""Intel AMX, in CPUs: sycl_ext_oneapi_matrix, appendix "Intel AMX Supported Combinations", and the layout of tiles."""

from __future__ import annotations

from coopmat.devices.lane_layout import LaneLayout, dealt, rows_per_word
from coopmat.devices.model import Combination, DeviceDescription, Use, up_to
from coopmat.formats import Format

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

_SOURCE = "tile rows and bits: Intel's manual, TDPBF16PS and TDPBSSD; lanes and components: coopmat's choice"


def layout(use: Use, fmt: Format, rows: int, columns: int, lanes: int) -> LaneLayout:
    """The layout of a tile: a row of B is a row of words that hold some rows of the matrix each. Tiles have no lanes;
    the components of work-items are dealt out along the rows."""
    together = rows_per_word(fmt.bits) if use == "b" else 1
    return LaneLayout(rows, columns, fmt.bits, fmt.bits, dealt(rows, columns, lanes), _SOURCE,
                      implementation_dependent=True, tile_rows=together)
