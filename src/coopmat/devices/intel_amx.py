"""Intel AMX, in CPUs: sycl_ext_oneapi_matrix, appendix "Intel AMX Supported Combinations", and the layout of tiles."""

from __future__ import annotations

from coopmat.devices.arithmetic import INTEGERS, AmxTiles, Evidence
from coopmat.devices.lane_layout import LaneLayout, dealt, rows_per_word
from coopmat.devices.model import Combination, DeviceDescription, up_to
from coopmat.devices.operands import Use
from coopmat.formats import Format

_FAMILY = "intel_amx"
_CPU_SUB_GROUP_SIZES = (16, 4, 8, 32, 64)  # sub-groups are a matter of software on a CPU

_INT8 = tuple(Combination.row(a, b, "sint32", "sint32", up_to(16), up_to(16), up_to(64))
              for a in ("uint8", "sint8") for b in ("uint8", "sint8"))
_BF16 = (Combination.row("bf16", "bf16", "fp32", "fp32", up_to(16), up_to(16), up_to(32)),)
_FP16 = (Combination.row("fp16", "fp16", "fp32", "fp32", up_to(16), up_to(16), up_to(32)),)

_ARITHMETIC = (AmxTiles({"bf16": 32, "fp16": 32}),)

ARCHITECTURES = (
    DeviceDescription("intel_cpu_spr", _FAMILY, _CPU_SUB_GROUP_SIZES, _INT8 + _BF16, arithmetic=_ARITHMETIC),
    DeviceDescription("intel_cpu_gnr", _FAMILY, _CPU_SUB_GROUP_SIZES, _INT8 + _BF16 + _FP16, arithmetic=_ARITHMETIC),
)

_NAMES = ("intel_cpu_spr", "intel_cpu_gnr")
EVIDENCE = (
    Evidence(_NAMES, ("bf16",), "SDM, TDPBF16PS",
             "Emerald Rapids: 1.6 million dot products, ordinary and hostile, NaN payloads included, all equal; "
             "`benchmarks/hardware/amx.py` does it again, a test does where a processor has AMX, a sample of the "
             "results is a test everywhere. The same steps in SSE's fused multiply-adds"),
    Evidence(_NAMES, ("fp16",), "SDM, TDPFP16PS",
             "the same steps in SSE's fused multiply-adds; no processor with AMX-FP16 was at hand (the same program "
             "compares a million dot products where one is)"),
    Evidence(_NAMES, (INTEGERS,), "SDM, TDPBSSD, TDPBSUD, TDPBUSD, TDPBUUD",
             "Emerald Rapids: 1.2 million dot products of each instruction, ordinary and extreme, all equal; as above"),
)

_SOURCE = "tile rows and bits: Intel's manual, TDPBF16PS and TDPBSSD; lanes and components: coopmat's choice"


def layout(use: Use, fmt: Format, rows: int, columns: int, lanes: int) -> LaneLayout:
    """The layout of a tile: a row of B is a row of words that hold some rows of the matrix each. Tiles have no lanes;
    the components of work-items are dealt out along the rows."""
    together = rows_per_word(fmt.bits) if use == "b" else 1
    return LaneLayout(rows, columns, fmt.bits, fmt.bits, dealt(rows, columns, lanes), _SOURCE,
                      implementation_dependent=True, tile_rows=together)
