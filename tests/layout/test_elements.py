"""Layouts as lists of elements: what they refuse, how elements share components, how places are named."""

from __future__ import annotations

import pytest

from coopmat.devices.subgroup_layout import SUB_GROUP_MATRIX_ROWS
from coopmat.layout import Element, ElementLayout, accumulator, block_2d, cooperative_matrix, matrix_a, matrix_b


def row(fmt: str, size: int):
    return next(row for row in SUB_GROUP_MATRIX_ROWS if row.a == row.b == fmt and row.sub_group_size == size)


def layout(*elements: Element) -> ElementLayout:
    return ElementLayout("m", "m", 2, 4, 4, 8, 16, elements)


@pytest.mark.parametrize(("element", "text"), [
    (Element(2, 0, 0, 0, 0), "outside of 2x4"),
    (Element(0, -1, 0, 0, 0), "outside of 2x4"),
    (Element(0, 0, 4, 0, 0), "outside of a sub-group of 4"),
    (Element(0, 0, 0, -1, 0), "outside of its component"),
    (Element(0, 0, 0, 0, 9), "outside of its component")])
def test_an_element_without_a_place_is_refused(element: Element, text: str) -> None:
    with pytest.raises(ValueError, match=text):
        layout(element)


def test_a_layout_without_elements_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one element"):
        layout()


@pytest.mark.parametrize(("made", "packing"), [
    (matrix_a(row("bf16", 16), 4), (1, 1)), (matrix_a(row("sint8", 16), 4), (1, 2)),
    (matrix_a(row("sint4", 16), 4), (1, 4)), (matrix_a(row("sint4", 8), 4), (1, 8)),
    (matrix_a(row("tf32", 16), 4), (1, 1)), (matrix_b(row("bf16", 16)), (2, 1)), (matrix_b(row("sint8", 8)), (4, 1)),
    (matrix_b(row("sint4", 8)), (8, 1)), (matrix_b(row("tf32", 16)), (1, 1)),
    (block_2d("", 32, 4, 2, 8, 16), (1, 2)), (block_2d("", 16, 32, 2, 8, 32, transform=True), (4, 1)),
    (cooperative_matrix(8, 8, 16, 8), (1, 1)),
    (layout(Element(0, 0, 0, 0, 0), Element(1, 1, 0, 0, 8)), (1, 1)),   # no block
    (layout(Element(0, 1, 0, 0, 0), Element(0, 2, 0, 0, 8)), (1, 1)),   # not where blocks of two begin
    (layout(Element(0, 0, 0, 0, 0), Element(0, 1, 0, 0, 8), Element(0, 2, 1, 0, 0)), (1, 1))])  # of different size
def test_packing(made: ElementLayout, packing: tuple[int, int]) -> None:
    assert made.packing == packing


def test_words_for_a_place() -> None:
    def described(made: ElementLayout, row: int, column: int) -> str:
        return made.describe(next(e for e in made.elements if (e.row, e.column) == (row, column)))

    assert described(matrix_a(row("sint8", 16), 8), 1, 13) == "A[1][13]: lane 6, s1, bits 15:8"
    assert described(matrix_b(row("tf32", 16)), 5, 6) == "B[5][6]: lane 6, s5"
    assert described(accumulator(row("sint8", 8), 8), 3, 6) == "C[3][6]: lane 6, s3"
    assert described(accumulator(row("sint8", 8), 1), 0, 6) == "C[0][6]: lane 6"
    assert described(cooperative_matrix(16, 16, 16, 32), 11, 3) == "m[11][3]: lane 3, [11]"
    assert described(matrix_a(row("sint8", 8), 8), 7, 31) == "A[7][31]: lane 7, s7, bits 31:24"


def test_lanes_that_hold_nothing() -> None:
    assert matrix_a(row("tf32", 16), 1).lanes == set(range(8))
    assert matrix_a(row("tf32", 16), 2).lanes == set(range(16))
    assert block_2d("", 8, 1, 1, 32, 32).lanes == set(range(8))
