"""AMD matrix cores: sycl_ext_oneapi_matrix, appendix "AMD Matrix Cores Supported Combinations", and the layouts of the
matrix instructions that carry them out (AMD Matrix Instruction Calculator; CDNA2 ISA guide)."""

from __future__ import annotations

from coopmat.devices.arithmetic import INTEGERS, Evidence, Float64Steps, MatrixCoreTrees
from coopmat.devices.lane_layout import LaneLayout, Step, Steps, spread
from coopmat.devices.model import Combination, DeviceDescription, Limits
from coopmat.devices.operands import Use
from coopmat.formats import Format

# (type of A and B, type of C and D, shapes M, N, K)
_TABLE: tuple[tuple[str, str, tuple[tuple[int, int, int], ...]], ...] = (
    ("fp16", "fp32", ((32, 32, 8), (16, 16, 16))),
    ("sint8", "sint32", ((32, 32, 8), (16, 16, 16))),
    ("bf16", "fp32", ((32, 32, 8), (16, 16, 16))),
    ("fp64", "fp64", ((16, 16, 4),)),
)

_GFX90A = tuple(Combination.row(ab, ab, cd, cd, *shape) for ab, cd, shapes in _TABLE for shape in shapes)

_LIMITS = Limits(64 << 10, 1024, "AMD CDNA2 instruction set: local data share; HIP documentation, hardware features")

_CDNA2 = (MatrixCoreTrees({"fp16": 4, "bf16": 4}, 0x7FC00000), Float64Steps(0xFFF8000000000000, "bca"))

ARCHITECTURES = (DeviceDescription("amd_gpu_gfx90a", "amd", (64,), _GFX90A, limits=_LIMITS, arithmetic=_CDNA2),)

EVIDENCE = (
    Evidence(("amd_gpu_gfx90a",), ("fp16", "bf16", "fp64"),
             "MIOpen's documentation: what is flushed; MMA-Sim and Khattak: the tree",
             "MMA-Sim (CDNA2, bf16 by the `_1k` instructions): 537,600, all equal but for the bits of NaNs, which are "
             "a choice; no hardware"),
    Evidence(("amd_gpu_gfx90a",), (INTEGERS,), "an assumption: exact modulo 2^32", "exact integers; no hardware"),
)

# --------------------------------------------------------------------------------------
# Layouts
# --------------------------------------------------------------------------------------

_SOURCE = "AMD CDNA2 instruction set, V_MFMA (AMD Matrix Instruction Calculator)"
_LANES = 64


def layout(use: Use, fmt: Format, rows: int, columns: int, lanes: int) -> LaneLayout | None:
    """The layout of an operand of V_MFMA.

    A: as many lanes as A has rows hold a row each, the next ones hold the columns behind theirs; B is its mirror image.
    Accumulator: as many lanes as it has columns hold a column each; the rows are dealt out to the groups of lanes, four
    neighbouring ones at a time, of fp64 one.
    """
    if lanes != _LANES:
        return None
    if use == "accumulator":
        steps = _accumulator(rows, columns, 1 if fmt.bits == 64 else 4)
    else:
        steps = _a(rows, columns) if use == "a" else _b(rows, columns)
    return LaneLayout(rows, columns, fmt.bits, max(32, fmt.bits), spread(rows, columns, *steps), _SOURCE)


def _a(rows: int, columns: int) -> tuple[Steps, Steps]:
    others = _LANES // rows
    each = columns // others
    return [Step(rows, 1, 0), Step(others, 0, each)], [Step(each, 0, 1)]


def _b(rows: int, columns: int) -> tuple[Steps, Steps]:
    others = _LANES // columns
    each = rows // others
    return [Step(columns, 0, 1), Step(others, each, 0)], [Step(each, 1, 0)]


def _accumulator(rows: int, columns: int, together: int) -> tuple[Steps, Steps]:
    others = _LANES // columns
    each = together * others
    return [Step(columns, 0, 1), Step(others, together, 0)], [Step(together, 1, 0), Step(rows // each, each, 0)]
