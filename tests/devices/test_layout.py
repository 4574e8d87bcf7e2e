"""The spreading of matrix elements over work-items."""

import numpy as np
import pytest

from coopmat.devices.layout import components, element_indices, element_of, position_of

CASES = [(rows, columns, size) for rows in (1, 3, 8, 16) for columns in (1, 5, 16, 32) for size in (4, 8, 16, 64)]


@pytest.mark.parametrize(("rows", "columns", "size"), CASES)
def test_each_element_is_held_exactly_once(rows, columns, size):
    count = components(rows, columns, size)
    assert count * size >= rows * columns > (count - 1) * size
    held = [element_of(component, lane, rows, columns, size) for component in range(count) for lane in range(size)]
    inside = [place for place in held if place[0] < rows]
    assert inside == [(row, column) for row in range(rows) for column in range(columns)]
    for component in range(count):
        for lane in range(size):
            row, column = element_of(component, lane, rows, columns, size)
            assert position_of(row, column, columns, size) == (component, lane)


@pytest.mark.parametrize(("rows", "columns", "size"), CASES)
def test_index_arrays_agree_with_the_scalar_function(rows, columns, size):
    row, column, valid = element_indices(rows, columns, size)
    assert row.shape == column.shape == valid.shape == (components(rows, columns, size), size)
    for (component, lane), is_valid in np.ndenumerate(valid):
        expected = element_of(component, lane, rows, columns, size)
        assert is_valid == (expected[0] < rows)
        assert (row[component, lane], column[component, lane]) == (expected if is_valid else (0, 0))


def test_a_matrix_goes_out_and_comes_back():
    matrix = np.arange(15).reshape(3, 5)
    row, column, valid = element_indices(3, 5, 4)
    shares = matrix[row, column]
    back = np.zeros_like(matrix)
    back[row[valid], column[valid]] = shares[valid]
    np.testing.assert_array_equal(back, matrix)


def test_arrays_of_indices():
    lanes = np.arange(16)
    rows, columns = element_of(np.full(16, 2), lanes, 8, 16, 16)
    assert rows.tolist() == [2] * 16
    assert columns.tolist() == lanes.tolist()
