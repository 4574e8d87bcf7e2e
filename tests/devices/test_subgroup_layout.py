"""Lane layouts of Intel's sub-group built-ins: the worked examples of the specifications, and bijections."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np
import pytest

from coopmat.devices import ARCHITECTURES, USES, Use, describe
from coopmat.devices.lane_layout import LaneLayout
from coopmat.devices.subgroup_layout import (
    SUB_GROUP_MATRIX_ROWS,
    SubGroupMatrixRow,
    block_elements,
    block_io_element,
    block_io_layout,
    has_2d_block_io,
    matrix_rows_of,
)
from coopmat.devices.subgroup_matrices import M_SIZES
from coopmat.formats import format_of
from tests.kit.opencl.matrix_mad import PROTOTYPES


def place(layout: LaneLayout, row: int, column: int) -> tuple[int, int, int]:
    """Lane, component of the vector and lowest bit of an element."""
    places = layout.of_elements
    return tuple(int(axis[row, column]) for axis in (places.lane, places.register, places.bit))


def row_of(fmt: str, size: int) -> SubGroupMatrixRow:
    return next(row for row in SUB_GROUP_MATRIX_ROWS if row.a == row.b == fmt and row.sub_group_size == size)


@pytest.mark.parametrize(("fmt", "size", "use", "element", "expected"), [
    ("sint8", 8, "a", (1, 13), (3, 1, 8)),      # columns 12 to 15 in the bytes of lane 3
    ("sint8", 16, "a", (1, 13), (6, 1, 8)),
    ("sint4", 8, "a", (2, 45), (5, 2, 20)),
    ("sint4", 16, "a", (2, 45), (11, 2, 4)),
    ("bf16", 8, "a", (5, 9), (4, 5, 16)),
    ("bf16", 16, "a", (5, 9), (9, 5, 0)),
    ("tf32", 16, "a", (5, 3), (11, 2, 0)),      # odd rows in the upper half
    ("sint8", 8, "b", (13, 6), (6, 3, 8)),
    ("sint4", 8, "b", (45, 6), (6, 5, 20)),
    ("bf16", 16, "b", (9, 6), (6, 4, 16)),
    ("tf32", 16, "b", (5, 6), (6, 5, 0)),
    ("sint8", 8, "accumulator", (3, 6), (6, 3, 0))])
def test_worked_examples(fmt: str, size: int, use: Use, element: tuple[int, int], expected: tuple) -> None:
    assert place(row_of(fmt, size).layout(use, 8), *element) == expected


def fields(layout: LaneLayout) -> list[tuple[int, int, int]]:
    """Lane, component of the vector and lowest bit of all elements, row by row."""
    return [place(layout, *element) for element in np.ndindex(layout.rows, layout.columns)]


@pytest.mark.parametrize("row", SUB_GROUP_MATRIX_ROWS, ids=str)
@pytest.mark.parametrize("m", M_SIZES)
def test_every_bit_field_holds_one_element(row, m: int) -> None:
    lanes, bits = row.sub_group_size, format_of(row.a).bits
    a = Counter(fields(row.layout("a", m)))
    full = {(lane, component, bit) for lane in range(lanes) for component in range(row.a_components(m))
            for bit in range(0, row.a_bits, bits)}
    expected = full if row.a != "tf32" or m > 1 else {place for place in full if place[0] < row.k}
    assert set(a) == expected
    assert set(a.values()) == {1}
    b = Counter(fields(row.layout("b", m)))
    assert set(b) == {(lane, component, bit) for lane in range(lanes) for component in range(8)
                      for bit in range(0, 32, bits)}
    assert set(b.values()) == {1}


# ------------------------------------------------------------------ the documents' text once more

ELEMENT_BITS = {"i8": 8, "u8": 8, "i4": 4, "u4": 4, "f16": 16, "bf16": 16, "tf32": 32}
SCALAR_BITS = {"short": 16, "ushort": 16, "int": 32, "uint": 32, "float": 32}


def split(vector: str) -> tuple[str, int]:
    """``short8`` → short, 8."""
    scalar = vector.rstrip("0123456789")
    return scalar, int(vector[len(scalar):] or 1)


def passed_a(lane: int, element: str, a: str, m: int, k: int) -> Iterator[tuple[int, int, int, int]]:
    """What a work-item contributes to A, in the order in which it passes it: (row, column, component, bit).

    "each work item is contributing 32 bits (the size of a uint) of data per row": so many columns, from left to
    right. tf32: "the first K work-items contribute the even rows of the matrix a, and the remaining work-items
    contribute the odd rows"; for M = 1 "contributions from the remaining work-items are ignored".
    """
    scalar, count = split(a)
    if element == "tf32":
        first = 0 if lane < k else 1
        for component in range(count):
            if first + 2 * component < m:
                yield first + 2 * component, lane if lane < k else lane - k, component, 0
        return
    values_per_row = SCALAR_BITS[scalar] // ELEMENT_BITS[element]
    assert count == m
    for component in range(count):
        for value in range(values_per_row):
            yield component, lane * values_per_row + value, component, value * ELEMENT_BITS[element]


def passed_b(element: str, b: str) -> Iterator[tuple[int, int, int]]:
    """What a work-item contributes to its column of B: "256 bits of source data", as (row, component, bit)."""
    scalar, count = split(b)
    row = 0
    for component in range(count):
        for bit in range(0, SCALAR_BITS[scalar], ELEMENT_BITS[element]):
            yield row, component, bit
            row += 1


@pytest.mark.parametrize(("name", "a", "b", "acc"), PROTOTYPES)
def test_every_element_is_where_the_documents_say(name: str, a: str, b: str, acc: str) -> None:
    k, size = PROTOTYPES[name, a, b, acc]
    element_a, element_b = name.removeprefix("intel_sub_group_").split("_")[:2]
    m = split(acc)[1]
    row = next(row for row in SUB_GROUP_MATRIX_ROWS if row.name == name and row.sub_group_size == size)
    said_a = {(i, j): (lane, component, bit) for lane in range(size)
              for i, j, component, bit in passed_a(lane, element_a, a, m, k)}
    said_b = {(i, lane): (lane, component, bit) for lane in range(size) for i, component, bit in passed_b(element_b, b)}
    found_a, found_b, found_c = (row.layout(use, m) for use in USES)
    assert {element: place(found_a, *element) for element in np.ndindex(m, k)} == said_a
    assert {element: place(found_b, *element) for element in np.ndindex(k, size)} == said_b
    # "each work item contributes one column of accumulation values", a component for each row
    assert {element: place(found_c, *element) for element in np.ndindex(m, size)} == {
        (i, lane): (lane, i, 0) for lane in range(size) for i in range(m)}


def test_the_coding_sample_of_the_extension() -> None:
    """Lane w's word of A times component w of B, byte by byte, is row times column (K = 32, sub-group size 8)."""
    row = next(row for row in SUB_GROUP_MATRIX_ROWS if (row.a, row.b, row.sub_group_size) == ("sint8", "sint8", 8))
    random = np.random.default_rng(0)
    a, b = random.integers(-128, 128, (2, 32)), random.integers(-128, 128, (32, 8))
    words_a, words_b = np.zeros((8, 2), np.uint32), np.zeros((8, 8), np.uint32)
    for words, matrix, use in ((words_a, a, "a"), (words_b, b, "b")):
        places = row.layout(use, 2).of_elements
        bits = (matrix & 255).astype(np.uint32) << places.bit.astype(np.uint32)
        np.bitwise_or.at(words, (places.lane, places.register), bits)

    def as_char4(word: np.uint32) -> list[int]:
        return np.array([word], "<u4").view(np.int8).astype(int).tolist()

    for lane in range(8):
        for i in range(2):
            result = sum(x * y for w in range(8)
                         for x, y in zip(as_char4(words_a[w, i]), as_char4(words_b[lane, w]), strict=True))
            assert result == (a @ b)[i, lane]


@pytest.mark.parametrize("size", [8, 16, 32])
def test_one_dimensional_blocks(size: int) -> None:
    """The first value is p[lane], the second p[lane + sub-group size] (cl_intel_subgroups)."""
    for component in range(8):
        for lane in range(size):
            element = lane + component * size
            assert place(block_io_layout(8, size, size, 32), component, lane) == (lane, component, 0)
            assert block_io_element(lane, component, size) == element


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
