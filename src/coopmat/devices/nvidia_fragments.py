"""The fragments of NVIDIA's matrix instructions: which lane holds which element.

``mma.sync`` and ``wgmma`` (sm_90): PTX ISA, "Matrix Fragments for mma" and "Register Fragments for wgmma". In lane
4g + t, g counts rows of A, columns of B and rows of the accumulator, and t what lies along the other dimension.
``wmma``: PTX leaves fragments opaque; those of Volta are published (wmma_extension of wmmae), all others were read out
on an H200 by benchmarks/hardware/wmma_fragments.py, and agree with what is published of sm_75 and sm_80.
"""

from __future__ import annotations

import math

from coopmat.devices.instructions import Shape
from coopmat.devices.lane_layout import LaneLayout, Step, Steps, placed, spread
from coopmat.devices.operands import Use, shape_of
from coopmat.formats import Format

_REGISTER_BITS = 32
_WARPS, _ROWS_OF_A_WARP = 4, 16  # of a warp group
_MMA = "PTX ISA, matrix fragments for mma.sync"
_WGMMA = "PTX ISA, register fragments for wgmma; lanes are those of the four warps together"
_GRID = "coopmat's choice: fragments of mma.sync side by side"
_WMMA = "wmma, opaque in PTX; as read out on an H200"
_VOLTA_WMMA = "wmma, opaque in PTX; as published for sm_70 by wmma_extension, A in row-major, B in column-major memory"
_QUAD_PAIR = ("PTX ISA, matrix fragments for mma.m8n8k4; quad-pair 0, A row-major and B column-major: the same lanes "
              "+ 4, + 8 and + 12 hold three other matrices")


def mma_fragment(use: Use, fmt: Format, shape: Shape) -> LaneLayout:
    """Of mma.sync, and of wmma where it is the same."""
    rows, columns = shape_of(use, *shape.sizes)
    return _layout(fmt, rows, columns, _fragment(use, fmt, rows, columns), _MMA, implementation_dependent=False)


def grid_fragment(use: Use, fmt: Format, rows: int, columns: int) -> LaneLayout:
    """Of a matrix of any shape that is computed by several mma.sync: their fragments beside and below each other, with
    padding at the ends. Accumulators of few rows lie the other way, so that their rows are what N counts."""
    each = _each(fmt)
    if use == "a":
        lanes, pair, tile = [Step(4, 0, each), Step(8, 1, 0)], Step(each, 0, 1), (8, 4 * each)
    elif use == "b":
        lanes, pair, tile = [Step(4, each, 0), Step(8, 0, 1)], Step(each, 1, 0), (4 * each, 8)
    elif rows % 16 and not columns % 16:
        lanes, pair, tile = [Step(4, 2, 0), Step(8, 0, 1)], Step(2, 1, 0), (8, 8)
    else:
        lanes, pair, tile = [Step(4, 0, 2), Step(8, 1, 0)], Step(2, 0, 1), (8, 8)
    down, beside = Step(-(-rows // tile[0]), tile[0], 0), Step(-(-columns // tile[1]), 0, tile[1])
    across = [down, beside] if use == "a" else [beside, down]
    held = placed(rows, columns, lanes, [pair, *across])
    return LaneLayout(rows, columns, fmt.bits, max(_REGISTER_BITS, fmt.bits), held, _GRID,
                      implementation_dependent=True)


def work_group_fragment(use: Use, fmt: Format, rows: int, columns: int, threads: int) -> LaneLayout | None:
    """Of an accumulator that whole warps of a work-group share: warps follow each other down the rows, sixteen each, as
    wgmma has them; where there are more warps than that, the others are beside them. An A of 16 bits lies like it, as
    wgmma takes it from registers, if no warps are beside each other. None for other matrices."""
    warps, rest = divmod(threads, 32)
    if use == "b" or rest or rows % 16 or columns % 8:
        return None
    above = math.gcd(warps, rows // 16)
    beside = warps // above
    if above & above - 1 and beside > 1:
        return None
    if use == "a" and (fmt.bits != 16 or columns % 16 or beside > 1):
        return None
    lanes = [Step(4, 0, 2), Step(8, 1, 0), Step(above, 16, 0), Step(beside, 0, 8)]
    components = [Step(2, 0, 1), Step(2, 8, 0), Step(-(-columns // (8 * beside)), 0, 8 * beside),
                  Step(rows // (16 * above), 16 * above, 0)]
    held = placed(rows, columns, lanes, components)
    return LaneLayout(rows, columns, fmt.bits, max(_REGISTER_BITS, fmt.bits), held, _GRID,
                      implementation_dependent=True)


def quad_pair_fragment(use: Use, fmt: Format, shape: Shape) -> LaneLayout:
    """Of mma.sync on Volta, which multiplies four matrices at once."""
    rows, columns = shape_of(use, *shape.sizes)
    return _layout(fmt, rows, columns, _quad_pair(use, fmt, rows), _QUAD_PAIR, implementation_dependent=False)


def warp_group_fragment(use: Use, fmt: Format, shape: Shape) -> LaneLayout:
    """Of wgmma: each of four warps has sixteen rows as mma.sync has them."""
    rows, columns = shape_of(use, *shape.sizes)
    if use == "b" or rows != _WARPS * _ROWS_OF_A_WARP:
        raise ValueError(f"four warps hold {_WARPS * _ROWS_OF_A_WARP} rows of A and D, not {rows} of use '{use}'")
    lanes, components = _fragment(use, fmt, _ROWS_OF_A_WARP, columns)
    return _layout(fmt, rows, columns, ([*lanes, Step(_WARPS, _ROWS_OF_A_WARP, 0)], components), _WGMMA,
                   implementation_dependent=False)


def wmma_fragment(use: Use, fmt: Format, shape: Shape) -> LaneLayout:
    """Of wmma, from sm_75 on."""
    rows, columns = shape_of(use, *shape.sizes)
    steps = _wmma_fragment(use, fmt, rows, columns, is_transposed=shape.is_transposed)
    return _layout(fmt, rows, columns, steps, _WMMA, implementation_dependent=True)


def volta_fragment(use: Use, fmt: Format, shape: Shape) -> LaneLayout | None:
    """Of wmma on Volta; None where it is not published."""
    rows, columns = shape_of(use, *shape.sizes)
    known = _VOLTA.get((use, fmt.name, rows, columns))
    return None if known is None else _layout(fmt, rows, columns, known, _VOLTA_WMMA, implementation_dependent=True)


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


def _wmma_fragment(use: Use, fmt: Format, rows: int, columns: int, *,
                   is_transposed: bool) -> tuple[list[Step], list[Step]]:
    """Those of mma.sync, two beside each other or one below the other. A and B of fp16 always have 16 components, which
    repeat what there is."""
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
