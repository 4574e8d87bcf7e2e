"""The fragments of NVIDIA's matrix instructions: which lane holds which element.

``mma.sync`` and ``wgmma`` (sm_90): PTX ISA, "Matrix Fragments for mma" and "Register Fragments for wgmma". In lane
4g + t, g counts rows of A, columns of B and rows of the accumulator, and t what lies along the other dimension.
``wmma``: PTX leaves fragments opaque; those of Volta are published (wmma_extension of wmmae), all others were read out
on an H200 by benchmarks/hardware/wmma_fragments.py, and agree with what is published of sm_75 and sm_80.
"""

from __future__ import annotations

from dataclasses import dataclass

from coopmat.devices.lane_layout import LaneLayout, Step, Steps, spread
from coopmat.devices.model import Use, shape_of
from coopmat.formats import Format

_REGISTER_BITS = 32
_MMA = "PTX ISA, matrix fragments for mma.sync"
_WGMMA = "PTX ISA, register fragments for wgmma; lanes are those of the four warps together"
_WMMA = "wmma, opaque in PTX; as read out on an H200"
_VOLTA_WMMA = "wmma, opaque in PTX; as published for sm_70 by wmma_extension, A in row-major, B in column-major memory"
_QUAD_PAIR = ("PTX ISA, matrix fragments for mma.m8n8k4; quad-pair 0, A row-major and B column-major: the same lanes "
              "+ 4, + 8 and + 12 hold three other matrices")


@dataclass(frozen=True, slots=True)
class Instruction:
    """An instruction: the compute capability that it needs, its shape M, N, K, and the formats of A and B and of the
    accumulators that it takes."""

    since: int
    m: int
    n: int
    k: int
    inputs: tuple[str, ...]
    accumulators: tuple[str, ...]

    @property
    def is_group(self) -> bool:
        """Whether it is wgmma, of four warps."""
        return self.m == 64

    @property
    def name(self) -> str:
        """As PTX writes it, without the types."""
        return f"{'wgmma' if self.is_group else 'mma.sync'} m{self.m}n{self.n}k{self.k}"

    def takes(self, use: Use, fmt: str) -> bool:
        """Whether a matrix of this use can have this format and lies in registers: B of wgmma does not."""
        return fmt in (self.accumulators if use == "accumulator" else self.inputs) and not (
            self.is_group and use == "b")


_HALVES = ("fp16", "fp32")
_TABLE: tuple[tuple[int, tuple[str, ...], tuple[str, ...], tuple[tuple[int, int, int], ...]], ...] = (
    (75, ("fp16",), _HALVES, ((16, 8, 8),)),
    (80, ("fp16",), _HALVES, ((16, 8, 16),)),
    (80, ("bf16",), ("fp32",), ((16, 8, 8), (16, 8, 16))),
    (80, ("tf32",), ("fp32",), ((16, 8, 4), (16, 8, 8))),
    (75, ("sint8", "uint8"), ("sint32",), ((8, 8, 16),)),
    (80, ("sint8", "uint8"), ("sint32",), ((16, 8, 16), (16, 8, 32))),
    (75, ("sint4", "uint4"), ("sint32",), ((8, 8, 32),)),
    (80, ("sint4", "uint4"), ("sint32",), ((16, 8, 32), (16, 8, 64))),
    (80, ("fp64",), ("fp64",), ((8, 8, 4),)),
    (90, ("fp64",), ("fp64",), ((16, 8, 4), (16, 8, 8), (16, 8, 16))),
    *((90, inputs, accumulators, tuple((64, n, k) for n in range(8, 257, 8))) for inputs, accumulators, k in (
        (("fp16",), _HALVES, 16), (("bf16",), ("fp32",), 16), (("tf32",), ("fp32",), 8),
        (("sint8", "uint8"), ("sint32",), 32))),
)
INSTRUCTIONS = (Instruction(70, 8, 8, 4, ("fp16",), _HALVES),
                *(Instruction(since, *shape, inputs, accumulators)
                  for since, inputs, accumulators, shapes in _TABLE for shape in shapes))
"""The instructions with specified fragments."""


def instruction_layout(instruction: Instruction, use: Use, fmt: Format) -> LaneLayout:
    """The fragment of an instruction that takes a matrix of this use and format."""
    rows, columns = shape_of(use, instruction.m, instruction.n, instruction.k)
    if instruction.since == 70:
        steps, source = _quad_pair(use, fmt, rows), _QUAD_PAIR
    else:
        steps, source = _fragment(use, fmt, rows, columns), _MMA
        if instruction.is_group:
            steps, source = ([*steps[0], Step(4, 16, 0)], steps[1][:-1]), _WGMMA
    return _layout(fmt, rows, columns, steps, source, implementation_dependent=False)


def layout(use: Use, fmt: Format, rows: int, columns: int, lanes: int, compute_capability: int) -> LaneLayout | None:
    """The fragment of wmma; None where it is not known."""
    if lanes != 32:
        return None
    if compute_capability < 75:
        known = _VOLTA.get((use, fmt.name, rows, columns))
        return None if known is None else _layout(fmt, rows, columns, known, _VOLTA_WMMA,
                                                  implementation_dependent=True)
    if fmt.name == "fp64":  # the shape of mma.sync, too, whose fragments PTX specifies, and the same
        return _layout(fmt, rows, columns, _fragment(use, fmt, rows, columns), _MMA, implementation_dependent=False)
    return _layout(fmt, rows, columns, _wmma_fragment(use, fmt, rows, columns), _WMMA, implementation_dependent=True)


def _layout(fmt: Format, rows: int, columns: int, steps: tuple[Steps, Steps], source: str, *,
            implementation_dependent: bool) -> LaneLayout:
    return LaneLayout(rows, columns, fmt.bits, max(_REGISTER_BITS, fmt.bits), spread(rows, columns, *steps), source,
                      implementation_dependent)


# --------------------------------------------------------------------------------------
# Steps of lanes and of components
# --------------------------------------------------------------------------------------


def _fragment(use: Use, fmt: Format, rows: int, columns: int) -> tuple[list[Step], list[Step]]:
    if use == "b":
        return _beside(fmt, rows, columns)
    if use == "a":
        return _above(fmt, rows, columns)
    return ([Step(4, 0, 2), Step(8, 1, 0)],
            [Step(2, 0, 1), Step(_halves(rows), 8, 0), Step(columns // 8, 0, 8), Step(_sixteens(rows), 16, 0)])


def _above(fmt: Format, rows: int, columns: int) -> tuple[list[Step], list[Step]]:
    """A: rows eight, then sixteen apart; the elements of a register lie along K."""
    each = _each(fmt)
    return ([Step(4, 0, each), Step(8, 1, 0)],
            [Step(each, 0, 1), Step(_halves(rows), 8, 0), Step(columns // (4 * each), 0, 4 * each),
             Step(_sixteens(rows), 16, 0)])


def _beside(fmt: Format, rows: int, columns: int) -> tuple[list[Step], list[Step]]:
    """B: eight columns, then the next eight."""
    each = _each(fmt)
    return ([Step(4, each, 0), Step(8, 0, 1)],
            [Step(each, 1, 0), Step(rows // (4 * each), 4 * each, 0), Step(columns // 8, 0, 8)])


def _wmma_fragment(use: Use, fmt: Format, rows: int, columns: int) -> tuple[list[Step], list[Step]]:
    """Those of mma.sync, two beside each other or one below the other; 8x32x16 is the transposed product, B**T * A**T.
    A and B of fp16 always have 16 components, which repeat what there is."""
    is_transposed = {"a": rows == 8, "b": columns == 32, "accumulator": columns == 32}[use]
    if is_transposed:
        lanes, components = (_transposed(steps) for steps in _fragment(_TRANSPOSED_USE[use], fmt, columns, rows))
    else:
        lanes, components = _fragment(use, fmt, rows, columns)
    if fmt.name == "fp16" and use != "accumulator":
        components.append(Step(16 * 32 // (rows * columns), 0, 0))
    return lanes, components


_TRANSPOSED_USE: dict[Use, Use] = {"a": "b", "b": "a", "accumulator": "accumulator"}


def _transposed(steps: list[Step]) -> list[Step]:
    return [Step(size, beside, down) for size, down, beside in steps]


def _each(fmt: Format) -> int:
    """Elements in a register."""
    return max(1, _REGISTER_BITS // fmt.bits)


def _halves(rows: int) -> int:
    return min(rows, 16) // 8


def _sixteens(rows: int) -> int:
    return max(1, rows // 16)


# --------------------------------------------------------------------------------------
# Volta
# --------------------------------------------------------------------------------------

_VOLTA: dict[tuple[Use, str, int, int], tuple[Steps, Steps]] = {
    ("a", "fp16", 16, 16): ([Step(4, 1, 0), Step(2, 8, 0), Step(2, 0, 0), Step(2, 4, 0)], [Step(16, 0, 1)]),
    ("b", "fp16", 16, 16): ([Step(4, 0, 1), Step(2, 0, 0), Step(2, 0, 8), Step(2, 0, 4)], [Step(16, 1, 0)]),
    ("accumulator", "fp16", 16, 16): ([Step(4, 1, 0), Step(2, 8, 0), Step(2, 0, 8), Step(2, 4, 0)], [Step(8, 0, 1)]),
    ("accumulator", "fp32", 16, 16): (
        [Step(2, 1, 0), Step(2, 0, 2), Step(2, 8, 0), Step(2, 0, 8), Step(2, 4, 0)],
        [Step(2, 0, 1), Step(2, 2, 0), Step(2, 0, 4)]),
}


def _quad_pair(use: Use, fmt: Format, rows: int) -> tuple[list[Step], list[Step]]:
    """Lanes 0 to 3 and 16 to 19; those between hold what is not in this matrix."""
    others = Step(4, rows, 0)
    if use == "a":
        return [Step(4, 1, 0), others, Step(2, 4, 0)], [Step(4, 0, 1)]
    if use == "b":
        return [Step(4, 0, 1), others, Step(2, 0, 4)], [Step(4, 1, 0)]
    if fmt.bits == 16:
        return [Step(4, 1, 0), others, Step(2, 4, 0)], [Step(8, 0, 1)]
    return [Step(2, 1, 0), Step(2, 0, 2), others, Step(2, 4, 0)], [Step(2, 0, 1), Step(2, 2, 0), Step(2, 0, 4)]
