"""Lane layouts of Intel's sub-group built-ins: the worked examples of the specifications, and bijections."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from coopmat.devices import ARCHITECTURES, describe
from coopmat.devices.subgroup_layout import (
    SUB_GROUP_MATRIX_ROWS,
    a_position,
    accumulator_position,
    b_position,
    block_elements,
    has_2d_block_io,
    matrix_rows_of,
)
from coopmat.devices.subgroup_matrices import M_SIZES
from coopmat.formats import format_of


@pytest.mark.parametrize(("position", "expected"), [
    (a_position(1, 13, 32, 8, 8), (3, 1, 8)),      # columns 12 to 15 in the bytes of lane 3
    (a_position(1, 13, 32, 16, 8), (6, 1, 8)),
    (a_position(2, 45, 64, 8, 4), (5, 2, 20)),
    (a_position(2, 45, 64, 16, 4), (11, 2, 4)),
    (a_position(5, 9, 16, 8, 16), (4, 5, 16)),
    (a_position(5, 9, 16, 16, 16), (9, 5, 0)),
    (a_position(5, 3, 8, 16, 32), (11, 2, 0)),     # tf32: odd rows in the upper half
    (b_position(13, 6, 8), (6, 3, 8)),
    (b_position(45, 6, 4), (6, 5, 20)),
    (b_position(9, 6, 16), (6, 4, 16)),
    (b_position(5, 6, 32), (6, 5, 0)),
    (accumulator_position(3, 6), (6, 3, 0))])
def test_worked_examples(position: tuple, expected: tuple) -> None:
    assert tuple(position) == expected


@pytest.mark.parametrize("row", SUB_GROUP_MATRIX_ROWS, ids=str)
@pytest.mark.parametrize("m", M_SIZES)
def test_every_bit_field_holds_one_element(row, m: int) -> None:
    lanes, bits = row.sub_group_size, row.bits
    a = Counter(zip(*(axis.ravel().tolist() for axis in row.a_positions(m)), strict=True))
    full = {(lane, component, bit) for lane in range(lanes) for component in range(row.a_components(m))
            for bit in range(0, row.a_bits, bits)}
    expected = full if row.a != "tf32" or m > 1 else {place for place in full if place[0] < row.k}
    assert set(a) == expected
    assert set(a.values()) == {1}
    b = Counter(zip(*(axis.ravel().tolist() for axis in row.b_positions()), strict=True))
    assert set(b) == {(lane, component, bit) for lane in range(lanes) for component in range(8)
                      for bit in range(0, 32, bits)}
    assert set(b.values()) == {1}


def test_the_table_has_the_combinations_of_the_extension() -> None:
    assert len(SUB_GROUP_MATRIX_ROWS) == 10 + 13
    assert len(set(SUB_GROUP_MATRIX_ROWS)) == 23
    for row in SUB_GROUP_MATRIX_ROWS:
        assert row.k * format_of(row.a).bits == 256
        assert row.a_bits == {8: 32, 16: 32 if row.a == "tf32" else 16}[row.sub_group_size]
    assert next(row for row in SUB_GROUP_MATRIX_ROWS if row.a == "tf32").a_components(8) == 4


def test_which_device_has_which_rows() -> None:
    sizes = {name: {row.sub_group_size for row in matrix_rows_of(device)} for name, device in ARCHITECTURES.items()}
    found = {name: value for name, value in sizes.items() if value}
    assert found == {"intel_gpu_pvc": {16}, "intel_gpu_dg2_g10": {8}, "intel_gpu_dg2_g11": {8},
                     "intel_gpu_dg2_g12": {8}, "generic": {8, 16}}
    assert [name for name in ARCHITECTURES if has_2d_block_io(describe(name))] == ["intel_gpu_pvc", "generic"]


def held(lane: int, *arguments: int, **more: object) -> list[tuple[int, int]]:
    """The (row, column) that a lane holds, padding left out."""
    elements = block_elements(*arguments, **more)
    return [(int(r), int(c)) for r, c, v in zip(*(axis[lane] for axis in elements), strict=True) if v]


def test_examples_of_the_2d_block_extension() -> None:
    """The six examples of SPV_INTEL_2d_block_io; the sub-group size is four."""
    for lane in range(4):
        assert held(lane, 4, 2, 1, 4) == [(0, lane), (1, lane)]
        assert held(lane, 2, 4, 1, 4) == [(lane // 2, lane % 2), (2 + lane // 2, lane % 2)]
        assert held(lane, 8, 2, 1, 4) == [(0, 2 * lane), (0, 2 * lane + 1), (1, 2 * lane), (1, 2 * lane + 1)]
        assert held(lane, 2, 4, 1, 4, transpose=True) == [(lane, 0), (lane, 1)]
        assert held(lane, 4, 2, 1, 4, rows_per_word=2) == [(0, lane), (1, lane)]
        assert held(lane, 4, 4, 1, 4, rows_per_word=4) == [(i, lane) for i in range(4)]


@pytest.mark.parametrize("transpose", [False, True])
@pytest.mark.parametrize("rows_per_word", [1, 2, 4])
@pytest.mark.parametrize(("width", "height", "count"), [
    (16, 8, 1), (16, 8, 2), (12, 5, 1), (4, 32, 4), (64, 3, 1), (2, 1, 1), (8, 16, 2), (1, 1, 1)])
def test_every_element_of_a_block_is_held_once(width: int, height: int, count: int, rows_per_word: int,
                                               transpose: bool) -> None:
    if transpose and rows_per_word > 1:
        return
    for size in (8, 16, 32):
        elements = block_elements(width, height, count, size, transpose=transpose, rows_per_word=rows_per_word)
        found = Counter(zip(elements.row[elements.valid].tolist(), elements.column[elements.valid].tolist(),
                            strict=True))
        assert found == Counter((int(r), int(c)) for r, c in np.ndindex(height, width * count))
