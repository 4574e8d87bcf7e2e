"""Layouts by steps and by dealing out: every element is held, and its places are found again."""

from __future__ import annotations

import numpy as np
import pytest

from coopmat.devices.lane_layout import Held, LaneLayout, dealt, dealt_components, rows_per_word, spread

CASES = [(rows, columns, size) for rows in (1, 3, 8, 16) for columns in (1, 5, 16, 32) for size in (4, 8, 16, 64)]


def layout_of(held: Held, rows: int, columns: int, **more: object) -> LaneLayout:
    return LaneLayout(rows, columns, 16, 32, held, "a test", **more)


@pytest.mark.parametrize(("rows", "columns", "size"), CASES)
def test_elements_are_dealt_out_in_turn(rows: int, columns: int, size: int) -> None:
    count = dealt_components(rows, columns, size)
    assert count * size >= rows * columns > (count - 1) * size
    held = dealt(rows, columns, size)
    assert held.row.shape == held.column.shape == held.valid.shape == (size, count)
    places = [(held.row[lane, component], held.column[lane, component])
              for component in range(count) for lane in range(size) if held.valid[lane, component]]
    assert places == [(row, column) for row in range(rows) for column in range(columns)]


@pytest.mark.parametrize(("rows", "columns", "size"), CASES)
def test_every_element_is_found_where_it_is_held(rows: int, columns: int, size: int) -> None:
    layout = layout_of(dealt(rows, columns, size), rows, columns)
    lane, component = layout.owner
    row, column = np.indices((rows, columns))
    np.testing.assert_array_equal(layout.held.row[lane, component], row)
    np.testing.assert_array_equal(layout.held.column[lane, component], column)
    assert layout.held.valid[lane, component].all()
    assert (layout.copies == 1).all()


def test_steps() -> None:
    held = spread(4, 4, [(2, 0, 2), (4, 1, 0)], [(2, 0, 1)])
    assert held.row.tolist() == [[lane // 2] * 2 for lane in range(8)]
    assert held.column.tolist() == [[lane % 2 * 2, lane % 2 * 2 + 1] for lane in range(8)]
    assert held.valid.all()


def test_an_element_in_two_lanes_and_in_two_components() -> None:
    layout = layout_of(spread(2, 2, [(2, 1, 0), (2, 0, 0)], [(2, 0, 1), (2, 0, 0)]), 2, 2)
    assert (layout.copies == 4).all()
    assert layout.components == 4
    lane, component = layout.owner
    assert lane.tolist() == [[0, 0], [1, 1]]
    assert component.tolist() == [[0, 1], [0, 1]]


def test_registers_and_bits() -> None:
    layout = layout_of(dealt(2, 4, 2), 2, 4)
    places = layout.of_elements
    assert places.register.tolist() == [[0, 0, 0, 0], [1, 1, 1, 1]]
    assert places.bit.tolist() == [[0, 0, 16, 16], [0, 0, 16, 16]]
    tile = layout_of(dealt(4, 2, 2), 4, 2, tile_rows=2).of_elements
    assert tile.register.tolist() == [[0, 0], [0, 0], [1, 1], [1, 1]]
    assert tile.bit.tolist() == [[0, 32], [16, 48], [0, 32], [16, 48]]


@pytest.mark.parametrize(("held", "text"), [
    (spread(1, 4, [(2, 0, 1)], [(1, 0, 0)]), "is held by no lane"),
    (Held(np.array([[0, 9]]), np.array([[0, 0]]), np.array([[True, True]])), "outside of 1x4 is held"),
    (Held(np.array([[0, -1]]), np.array([[0, 0]]), np.array([[True, True]])), "outside of 1x4 is held")])
def test_what_is_no_layout(held: Held, text: str) -> None:
    with pytest.raises(ValueError, match=text):
        layout_of(held, 1, 4)


def test_elements_that_do_not_fill_registers() -> None:
    with pytest.raises(ValueError, match="elements of 24 bits do not fill registers of 32"):
        LaneLayout(1, 1, 24, 32, dealt(1, 1, 1), "a test")


def test_rows_per_word() -> None:
    assert [rows_per_word(bits) for bits in (4, 8, 16, 32, 64)] == [8, 4, 2, 1, 1]
