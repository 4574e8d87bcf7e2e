"""Layouts as lists of elements: how they share registers, how places are named, what is said of all of them."""

from __future__ import annotations

import numpy as np
import pytest

import coopmat as cm
from coopmat.devices.lane_layout import Held, LaneLayout
from coopmat.devices.subgroup_layout import SUB_GROUP_MATRIX_ROWS
from coopmat.diagnostics import Error
from coopmat.layout import Picture, accumulator, block_2d, matrix_a, matrix_b, of
from coopmat.layout.elements import Naming


def row(fmt: str, size: int):
    return next(row for row in SUB_GROUP_MATRIX_ROWS if row.a == row.b == fmt and row.sub_group_size == size)


def picture(*lanes: list[tuple[int, int] | None], rows: int, columns: int, naming: Naming = "vector") -> Picture:
    """Elements of 8 bits in registers of 16: what each component of each lane holds; None is padding."""
    row, column = (np.array([[(-1, -1)[axis] if held is None else held[axis] for held in lane] for lane in lanes])
                   for axis in (0, 1))
    return Picture(LaneLayout(rows, columns, 8, 16, Held(row, column, row >= 0), "a test"), "m", "m", naming)


@pytest.mark.parametrize(("made", "packing"), [
    (matrix_a(row("bf16", 16), 4), (1, 1)), (matrix_a(row("sint8", 16), 4), (1, 2)),
    (matrix_a(row("sint4", 16), 4), (1, 4)), (matrix_a(row("sint4", 8), 4), (1, 8)),
    (matrix_a(row("tf32", 16), 4), (1, 1)), (matrix_b(row("bf16", 16)), (2, 1)), (matrix_b(row("sint8", 8)), (4, 1)),
    (matrix_b(row("sint4", 8)), (8, 1)), (matrix_b(row("tf32", 16)), (1, 1)),
    (block_2d("", 32, 4, 2, 8, 16), (1, 2)), (block_2d("", 16, 32, 2, 8, 32, transform=True), (4, 1)),
    (of("intel_gpu_pvc", use="a", type="sint8", m=8, n=16, k=32), (1, 1)),  # components are elements
    (picture([(0, 0), (1, 1)], [(0, 1), (1, 0)], rows=2, columns=2), (1, 1)),  # no block
    (picture([(0, 1), (0, 2)], [(0, 0), (0, 3)], rows=1, columns=4), (1, 1)),  # not where blocks of two begin
    (picture([(0, 0), (0, 1)], [(0, 2), None], rows=1, columns=3), (1, 1))])  # of different size
def test_packing(made: Picture, packing: tuple[int, int]) -> None:
    assert made.packing == packing


def described(made: Picture, row: int, column: int) -> str:
    return made.describe(next(e for e in made.elements if (e.row, e.column) == (row, column)))


def test_words_for_a_place_in_a_function_of_intels() -> None:
    assert described(matrix_a(row("sint8", 16), 8), 1, 13) == "A[1][13]: lane 6, s1, bits 15:8"
    assert described(matrix_b(row("tf32", 16)), 5, 6) == "B[5][6]: lane 6, s5"
    assert described(accumulator(row("sint8", 8), 8), 3, 6) == "C[3][6]: lane 6, s3"
    assert described(accumulator(row("sint8", 8), 1), 0, 6) == "C[0][6]: lane 6"
    assert described(matrix_a(row("sint8", 8), 8), 7, 31) == "A[7][31]: lane 7, s7, bits 31:24"
    assert described(block_2d("", 32, 4, 1, 8, 16), 1, 3) == "block[1][3]: lane 1, [1], bits 15:8"


def test_words_for_a_place_in_a_matrix_of_a_device() -> None:
    xmx = of("intel_gpu_pvc", use="a", type="sint8", m=8, n=16, k=32)
    assert described(xmx, 1, 13) == "A[1][13]: lane 6, component 3, register 1, bits 15:8"
    tile = of("intel_cpu_spr", use="b", type="bf16", m=16, n=16, k=32)
    assert described(tile, 7, 3) == "B[7][3]: lane 3, component 7, tile row 3, bits 127:112"
    twice = of("nvidia_gpu_sm_80", use="a", type="fp16", m=16, n=16, k=16)
    assert described(twice, 10, 11) == ("A[10][11]: lane 9, component 7, register 3, bits 31:16; "
                                        "and in lane 9, component 15, register 7, bits 31:16")


def notes(*matrix: str | int) -> list[str]:
    device, use, fmt, m, n, k = matrix
    return list(of(device, use=use, type=fmt, m=m, n=n, k=k).notes())


DEPENDENT = "implementation-dependent: drivers and devices may do it another way, and no kernel should rely on it"


def test_what_is_said_of_all_elements() -> None:
    assert notes("intel_gpu_pvc", "accumulator", "fp32", 8, 16, 16) == [
        "source: cl_intel_subgroup_matrix_multiply_accumulate"]
    together, twice, source, dependent = notes("nvidia_gpu_sm_80", "a", "fp16", 16, 16, 16)
    assert together == "2 components share a register of 32 bits, the first in the lowest bits"
    assert twice == "every element is held 2 times; shown is the first place, in the lowest lane"
    assert source.startswith("source: wmma")
    assert dependent == DEPENDENT
    assert notes("intel_cpu_spr", "b", "sint8", 16, 16, 64)[0] == (
        "tile row: row / 4; bits from 8 * (4 * column + row % 4) on")
    assert notes("intel_cpu_spr", "a", "sint8", 16, 16, 64)[0] == "tile row: row; bits from 8 * column on"
    assert notes("generic", "a", "fp32", 3, 1, 5)[0] == "1 lane holds nothing"
    assert notes("generic", "a", "fp32", 3, 1, 7)[0] == "11 of 32 components are padding"
    assert notes("nvidia_gpu_sm_70", "a", "fp16", 8, 8, 4)[1] == "24 lanes hold nothing"
    some = picture([(0, 0), (0, 0)], [(0, 1), (1, 1)], [(1, 0), None], rows=2, columns=2)
    assert list(some.notes()) == ["some elements are held several times; shown is the first place, in the lowest lane",
                                  "1 of 6 components are padding", "source: a test"]


def test_lanes_that_hold_something() -> None:
    assert matrix_a(row("tf32", 16), 1).lanes == set(range(8))
    assert matrix_a(row("tf32", 16), 2).lanes == set(range(16))
    assert block_2d("", 8, 1, 1, 32, 32).lanes == set(range(8))
    assert of("nvidia_gpu_sm_70", use="a", type="fp16", m=8, n=8, k=4).lanes == {*range(4), *range(16, 20)}


def test_matrices_too_large_to_be_shown() -> None:
    largest = of("generic", use="a", type="fp32", m=128, n=1, k=128)
    assert len(largest.elements) == 16384
    larger = of("generic", use="a", type="fp32", m=127, n=1, k=130)
    message = ("a matrix of 127x130 = 16510 elements is too large for a picture: text, SVG and HTML show up to 16384; "
               r"JSON \(--format json, to_json\(\)\) holds any number")
    for make in (larger.to_svg, larger.to_html, larger.__str__):
        with pytest.raises(Error, match=f"^{message}$"):
            make()
    assert larger._repr_svg_() is None
    assert repr(larger) == "<DeviceMatrix generic: A (fp32), M = 127, N = 1, K = 130, sub-group size 16>"
    assert larger.to_json().count('"row": ') == 16510


def test_a_device_is_named_or_given() -> None:
    given, named, prefixed = (of(device, use="b", type="bf16", m=8, n=16, k=16).to_json()
                              for device in (cm.device("sim:intel_gpu_pvc"), "intel_gpu_pvc", "sim:intel_gpu_pvc"))
    assert given == named == prefixed
    assert cm.layout.of is of


def test_notebooks_show_the_picture() -> None:
    shown = of("amd_gpu_gfx90a", use="a", type="fp64", m=16, n=16, k=4)
    assert shown._repr_svg_() == shown.to_svg()
    assert matrix_a(row("bf16", 16), 4)._repr_svg_().startswith("<svg")
