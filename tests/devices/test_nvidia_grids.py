"""Fragments of matrices that several instructions compute: of any shape, and of work-groups."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coopmat.devices import ARCHITECTURES
from coopmat.devices.instructions import Instruction, Shape
from coopmat.devices.lane_layout import LaneLayout
from coopmat.devices.layouts import DEALT, matrix_layout, work_group_layout
from coopmat.devices.nvidia import WMMA
from coopmat.devices.nvidia_fragments import grid_fragment, warp_group_fragment, work_group_fragment
from coopmat.devices.operands import USES, Use, shape_of
from coopmat.formats import format_of

FORMATS = ("sint4", "sint8", "fp16", "bf16", "tf32", "fp32", "fp64", "sint32", "sint64")
SIZES = st.integers(1, 70)
WMMA_ROWS = [row for row in ARCHITECTURES["nvidia_gpu_sm_90"].instructions if row.kind is WMMA]


def held_by(layout: LaneLayout) -> list[set[tuple[int, int]]]:
    """The elements that each lane holds."""
    return [{(int(row), int(column)) for row, column, valid in zip(*(part[lane] for part in layout.held), strict=True)
             if valid} for lane in range(layout.sub_group_size)]


@settings(max_examples=150)
@given(st.sampled_from(USES), st.sampled_from(FORMATS), SIZES, SIZES)
def test_every_element_is_held_once(use: Use, fmt: str, rows: int, columns: int) -> None:
    layout = grid_fragment(use, format_of(fmt), rows, columns)
    assert (layout.copies == 1).all()
    assert layout.sub_group_size == 32
    assert layout.implementation_dependent


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("row", WMMA_ROWS, ids=lambda row: row.inputs[0])
def test_native_shapes_as_wmma_has_them(row: Instruction, use: Use) -> None:
    """Each lane holds the same elements, so that a matrix may be an operand of both."""
    for shape in row.shapes:
        for fmt in row.accumulators if use == "accumulator" else row.inputs:
            own = row.layout(use, format_of(fmt), shape)
            assert own is not None
            assert held_by(own) == held_by(grid_fragment(use, format_of(fmt), *shape_of(use, *shape.sizes)))


def test_which_layout_a_matrix_has() -> None:
    """wmma's where the table has the matrix, a grid in warps of 32, else elements are dealt out."""
    name = "nvidia_gpu_sm_80"
    assert "wmma" in matrix_layout(name, "a", "bf16", 16, 16, 32).source
    assert "side by side" in matrix_layout(name, "a", "bf16", 48, 80, 32).source
    assert matrix_layout(name, "a", "bf16", 48, 80, 16).source == DEALT
    assert "side by side" in work_group_layout(name, "accumulator", "fp32", 128, 256, 256).source
    assert "side by side" in work_group_layout(name, "a", "bf16", 128, 64, 256).source
    assert work_group_layout(name, "a", "fp64", 128, 64, 256).source == DEALT


# ------------------------------------------------------------------ of work-groups


@settings(max_examples=100)
@given(st.sampled_from(("fp32", "fp16", "sint32", "fp64")), st.integers(1, 16), st.integers(1, 32), st.integers(0, 5))
def test_every_element_of_a_work_group(fmt: str, rows: int, columns: int, warps: int) -> None:
    layout = work_group_fragment("accumulator", format_of(fmt), 16 * rows, 8 * columns, 32 << warps)
    assert layout is not None
    assert (layout.copies == 1).all()
    assert layout.sub_group_size == 32 << warps


@pytest.mark.parametrize("columns", [8, 24, 128, 256])
@pytest.mark.parametrize("fmt", ["fp32", "fp16", "sint32"])
def test_a_warp_group_has_wgmmas_fragment(fmt: str, columns: int) -> None:
    """Component by component."""
    own = work_group_fragment("accumulator", format_of(fmt), 64, columns, 128)
    theirs = warp_group_fragment("accumulator", format_of(fmt), Shape(64, columns, 16))
    assert own is not None
    for one, other in zip(own.held, theirs.held, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("groups", [2, 4])
def test_blocks_of_64_rows_belong_to_warp_groups_in_turn(groups: int) -> None:
    own = work_group_fragment("accumulator", format_of("fp32"), 128 * groups, 16, 128 * groups)
    one = warp_group_fragment("accumulator", format_of("fp32"), Shape(64, 16, 16))
    assert own is not None
    count = one.components
    for group in range(groups):
        lanes = slice(128 * group, 128 * group + 128)
        for block in range(2):
            part = own.held.row[lanes, block * count:(block + 1) * count]
            np.testing.assert_array_equal(part, one.held.row + 64 * (group + groups * block))


@pytest.mark.parametrize(("use", "rows", "columns", "threads"), [
    ("a", 64, 64, 128), ("b", 64, 64, 128), ("accumulator", 64, 64, 100), ("accumulator", 48, 64, 384),
    ("accumulator", 60, 64, 128), ("accumulator", 64, 60, 128)])
def test_others_have_none(use: Use, rows: int, columns: int, threads: int) -> None:
    """A and B, three warps down and four across, parts of warps and of tiles."""
    assert work_group_fragment(use, format_of("fp32"), rows, columns, threads) is None
