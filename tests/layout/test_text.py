"""Layouts as text."""

from __future__ import annotations

import re

import pytest

from coopmat.devices.subgroup_layout import SUB_GROUP_MATRIX_ROWS
from coopmat.layout import Picture, block_2d, matrix_a, matrix_b, of
from tests.layout.test_svg import PICTURES, generic


def row(fmt: str, size: int):
    return next(row for row in SUB_GROUP_MATRIX_ROWS if row.a == row.b == fmt and row.sub_group_size == size)


def parts(picture: Picture) -> tuple[list[str], list[str]]:
    """The lines above the table, and those of the table."""
    above, _, below = str(picture).partition("\n\n")
    return above.splitlines(), below.splitlines()


def test_rows_that_share_a_component() -> None:
    notes, lines = parts(matrix_b(row("sint4", 8)))
    assert notes[2] == "8 rows share a component, in bits 3:0, 7:4, 11:8, 15:12, 19:16, 23:20, 27:24, 31:28"
    assert lines[0].split() == ["0", "1", "2", "3", "4", "5", "6", "7"]
    assert lines[1].split() == ["0-7", *(f"{lane}.s0" for lane in range(8))]
    assert lines[-1].split() == ["56-63", *(f"{lane}.s7" for lane in range(8))]


def test_columns_that_share_a_component() -> None:
    notes, lines = parts(matrix_a(row("sint8", 8), 2))
    assert notes == ["A (sint8): M = 2, K = 32, sub-group size 8", "each field: the lane and its component",
                     "4 columns share a component, in bits 7:0, 15:8, 23:16, 31:24",
                     "source: cl_intel_subgroup_matrix_multiply_accumulate"]
    assert lines[0].split()[:2] == ["0-3", "4-7"]
    assert lines[2].split() == ["1", *(f"{lane}.s1" for lane in range(8))]


def test_scalars_and_arrays() -> None:
    assert str(matrix_a(row("tf32", 16), 1)).splitlines()[-1].split() == ["0", *"01234567"]
    assert str(generic(2, 4, 4)).splitlines()[-1].split() == ["1", *(f"{i}[1]" for i in range(4))]


def test_columns_without_room_continue_below() -> None:
    lines = str(block_2d("", 16, 2, 4, 8, 8)).splitlines()
    assert sum(line.startswith(" ") for line in lines) == 4  # headings of 16 columns each
    assert lines[-1].split() == ["1", *(f"{lane}[7]" for lane in range(16))]


@pytest.mark.parametrize("picture", PICTURES, ids=lambda picture: picture.title)
def test_every_component_is_named_once(picture: Picture) -> None:
    text = str(picture)
    assert max(map(len, text.splitlines()[1:])) <= 120
    labels = re.findall(r"(?<=[ \n])\d+(?:\.s[0-9a-f]|\[\d+\])(?=[ \n])", text)
    if picture.component_name(picture.elements[0].first):
        high, wide = picture.packing
        assert len(labels) == len(set(labels)) == len(picture.elements) // (high * wide)


TABLES = [("nvidia_gpu_sm_80", "a", "fp16", 16, 16, 16, 16), ("nvidia_gpu_sm_80", "a", "bf16", 32, 8, 16, 16),
          ("intel_cpu_spr", "b", "bf16", 16, 16, 32, 16), ("nvidia_gpu_sm_80", "accumulator", "fp32", 32, 8, 16, 8),
          ("amd_gpu_gfx90a", "accumulator", "fp32", 32, 32, 8, 16)]


@pytest.mark.parametrize(("device", "use", "fmt", "m", "n", "k", "columns"), TABLES)
def test_sixteen_columns_find_room_beside_each_other(device: str, use: str, fmt: str, m: int, n: int, k: int,
                                                      columns: int) -> None:
    """With up to 64 lanes and 100 components: a matrix of 16x16 is one table."""
    lines = str(of(device, use=use, type=fmt, m=m, n=n, k=k)).split("\n\n")[1].splitlines()
    assert lines[0].split() == list(map(str, range(columns)))
    assert len({len(line) for line in lines}) == 1
    assert len(lines) == 1 + int(lines[-1].split()[0]) + 1


def test_the_whole_table() -> None:
    assert str(of("amd_gpu_gfx90a", use="b", type="fp64", m=16, n=16, k=4)).splitlines() == [
        "amd_gpu_gfx90a: B (fp64), M = 16, N = 16, K = 4, sub-group size 64",
        "each field: the lane and its component",
        "source: AMD CDNA2 instruction set, V_MFMA (AMD Matrix Instruction Calculator)",
        "",
        " " + "".join(f"{column:7}" for column in range(16)),
        *(f"{row}" + "".join(f"{16 * row + column:4}[0]" for column in range(16)) for row in range(4))]
