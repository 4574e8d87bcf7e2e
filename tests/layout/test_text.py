"""Layouts as text."""

from __future__ import annotations

import re

import pytest

from coopmat.devices.subgroup_layout import SUB_GROUP_MATRIX_ROWS
from coopmat.layout import as_text, block_2d, cooperative_matrix, matrix_a, matrix_b
from tests.layout.test_svg import LAYOUTS


def row(fmt: str, size: int):
    return next(row for row in SUB_GROUP_MATRIX_ROWS if row.a == row.b == fmt and row.sub_group_size == size)


def test_rows_that_share_a_component() -> None:
    lines = as_text(matrix_b(row("sint4", 8))).splitlines()
    assert lines[1].endswith("8 rows share a component, in bits 3:0, 7:4, 11:8, 15:12, 19:16, 23:20, 27:24, 31:28")
    assert lines[3].split() == ["0", "1", "2", "3", "4", "5", "6", "7"]
    assert lines[4].split() == ["0-7", *(f"{lane}.s0" for lane in range(8))]
    assert lines[-1].split() == ["56-63", *(f"{lane}.s7" for lane in range(8))]


def test_columns_that_share_a_component() -> None:
    lines = as_text(matrix_a(row("sint8", 8), 2)).splitlines()
    assert lines[1].endswith("4 columns share a component, in bits 7:0, 15:8, 23:16, 31:24")
    assert lines[3].split()[:2] == ["0-3", "4-7"]
    assert lines[5].split() == ["1", *(f"{lane}.s1" for lane in range(8))]


def test_scalars_and_arrays() -> None:
    assert as_text(matrix_a(row("tf32", 16), 1)).splitlines()[-1].split() == ["0", *"01234567"]
    assert as_text(cooperative_matrix(2, 4, 4, 8)).splitlines()[-1].split() == ["1", *(f"{i}[1]" for i in range(4))]


def test_columns_without_room_continue_below() -> None:
    lines = as_text(block_2d("", 16, 2, 4, 8, 8)).splitlines()
    assert sum(line.startswith(" ") for line in lines) == 4  # headings of 16 columns each
    assert lines[-1].split() == ["1", *(f"{lane}[7]" for lane in range(16))]


@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: layout.title)
def test_every_component_is_named_once(layout) -> None:
    text = as_text(layout)
    assert max(map(len, text.splitlines()[2:])) <= 120
    labels = re.findall(r"(?<=[ \n])\d+(?:\.s[0-9a-f]|\[\d+\])(?=[ \n])", text)
    if layout.components > 1:
        high, wide = layout.packing
        assert len(labels) == len(set(labels)) == len(layout.elements) // (high * wide)
