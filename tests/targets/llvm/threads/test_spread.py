"""Positions of components, as code computes them from a thread's number: those of the layout tables."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from coopmat.devices import ARCHITECTURES
from coopmat.devices.lane_layout import Held, LaneLayout, Step, dealt, placed, spread
from coopmat.devices.layouts import matrix_layout
from coopmat.devices.nvidia_fragments import grid_fragment, work_group_fragment
from coopmat.devices.operands import USES
from coopmat.devices.subgroup_layout import block_elements
from coopmat.formats import format_of
from coopmat.targets.llvm.numbers import NumberWriter
from coopmat.targets.llvm.threads.spread import LaneBits, Spread
from coopmat.targets.llvm.values import Number
from coopmat.targets.llvm.writer import Writer
from tests.kit.targets.straight_line import value, values


def layouts() -> Iterator[tuple[str, LaneLayout]]:
    """Of every instruction of the newest NVIDIA row, and of shapes that several instructions compute."""
    for row in ARCHITECTURES["nvidia_gpu_sm_90"].instructions:
        for shape in row.shapes[::7]:
            for use in USES:
                for fmt in dict.fromkeys(row.types_of(use)):
                    found = row.layout(use, format_of(fmt), shape) if row.has_fragment(use, fmt) else None
                    if found is not None:
                        yield f"{row.kind.name} {use} {fmt} {shape.sizes}", found
    for use in USES:
        for fmt in ("sint4", "sint8", "fp16", "fp32", "fp64"):
            for rows, columns in ((1, 1), (16, 16), (40, 24), (17, 33), (24, 32)):
                yield f"grid {use} {fmt} {rows}x{columns}", grid_fragment(use, format_of(fmt), rows, columns)
    for threads in (32, 128, 512):
        found = work_group_fragment("accumulator", format_of("fp32"), 128, 40, threads)
        assert found is not None
        yield f"work-group of {threads}", found


ALL = list(layouts())
QUAD_PAIR = "(8, 8, 4)"


def check(held: Held, llvm: str = "i32") -> None:
    """Positions as code computes them, for every thread."""
    spread_ = Spread(held)
    assert spread_.is_regular
    writer = Writer()
    found = spread_.positions(NumberWriter(writer, 1), Number(llvm, "%lane"))  # type: ignore[arg-type]
    assert len(found) == spread_.components
    for lane in range(spread_.lanes):
        known = values(writer, {"%lane": lane})
        for component, (row, column) in enumerate(found):
            expected = int(held.row[lane, component]), int(held.column[lane, component])
            assert (value(row, known), value(column, known)) == expected, (lane, component)


@pytest.mark.parametrize("layout", [pytest.param(found, id=name) for name, found in ALL if QUAD_PAIR not in name])
def test_positions(layout: LaneLayout) -> None:
    check(layout.held)


def test_types() -> None:
    """Positions have the type of the thread's number."""
    check(grid_fragment("a", format_of("fp16"), 32, 32).held, "i64")


@pytest.mark.parametrize(("width", "height", "count"), [(16, 8, 1), (16, 4, 2), (8, 16, 1), (64, 2, 1)])
def test_blocks(width: int, height: int, count: int) -> None:
    """Of SPV_INTEL_2d_block_io, for each size of sub-groups."""
    for lanes in (8, 16, 32):
        held = block_elements(width, height, count, lanes, transpose=False, rows_per_word=1)
        if Spread(held).is_regular:
            check(held)
        assert Spread(held).is_regular or width % lanes


def test_what_repeats_is_left_out() -> None:
    """fp16's A and B of wmma have sixteen components, whatever the shape."""
    for use, rows, columns, components in (("a", 32, 16, 16), ("a", 16, 16, 8), ("b", 16, 8, 4)):
        found = matrix_layout("nvidia_gpu_sm_90", use, "fp16", rows, columns, 32)  # type: ignore[arg-type]
        assert (found.components, Spread(found.held).components) == (16, components)


def test_dealt_elements_are_irregular_where_lines_do_not_fit() -> None:
    assert Spread(dealt(16, 16, 32)).is_regular
    assert not Spread(dealt(16, 20, 32)).is_regular
    assert not Spread(dealt(3, 5, 16)).is_regular


def test_padding() -> None:
    """Of 10 rows, threads hold eight each time; the second eight are there in two of the eight rows only."""
    found = Spread(placed(10, 4, [Step(4, 0, 1), Step(8, 1, 0)], [Step(3, 8, 0)]))
    assert found.everywhere == (True, False, False)
    assert found.nowhere == (False, False, True)


def test_lane_bits() -> None:
    """Neighbouring bits that lead along one way are one step."""
    found = Spread(spread(16, 16, [Step(4, 0, 2), Step(8, 1, 0)], [Step(2, 0, 1), Step(2, 8, 0), Step(2, 0, 8)]))
    assert found.lane_bits == (LaneBits(0, 2, 0, 2), LaneBits(2, 3, 1, 0))
    assert found.offsets == ((0, 0), (0, 1), (8, 0), (8, 1), (0, 8), (0, 9), (8, 8), (8, 9))
    assert found.component_at[8, 9] == 7
    np.testing.assert_array_equal(sorted(found.component_at.values()), range(8))
