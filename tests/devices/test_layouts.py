"""The layouts of the devices against the documents' own formulas, in the direction in which they are written there,
and against what an H200 was seen to do."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pytest
from wmma_fragments import layout_key, matrices, said

import coopmat as cm
from coopmat.devices import ARCHITECTURES, USES, Use
from coopmat.devices.lane_layout import LaneLayout
from coopmat.devices.layouts import layout_of, matrix_layout
from coopmat.formats import format_of
from tests.kit.numerics.recorded import recorded_wmma

Element = tuple[int, int]


def held(layout: LaneLayout) -> list[list[Element | None]]:
    """What each component of each lane holds; None for padding."""
    return [[(int(r), int(c)) if v else None for r, c, v in zip(*lane, strict=True)]
            for lane in zip(*layout.held, strict=True)]


def of(name: str, use: Use, fmt: str, m: int, n: int, k: int) -> LaneLayout:
    return layout_of(ARCHITECTURES[name], use, fmt, m, n, k)


# --------------------------------------------------------------------------------------
# PTX ISA, matrix fragments for mma: groupID = lane >> 2, threadID_in_group = lane % 4
# --------------------------------------------------------------------------------------

Formula = Callable[[int, int, int], Element]


def _a16(g: int, t: int, i: int) -> Element:
    return (g if i in (0, 1, 4, 5) else g + 8, t * 2 + (i & 1) + (8 if i >= 4 else 0))


def _b16(g: int, t: int, i: int) -> Element:
    return (t * 2 + (i & 1) + (8 if i >= 2 else 0), g)


def _c(g: int, t: int, i: int) -> Element:
    return (g if i < 2 else g + 8, t * 2 + (i & 1))


def _a_tf32(g: int, t: int, i: int) -> Element:
    return (g if i in (0, 2) else g + 8, t if i < 2 else t + 4)


PTX: dict[tuple[tuple[int, int, int], str, Use], tuple[int, Formula]] = {
    ((16, 8, 16), "fp16", "a"): (8, _a16), ((16, 8, 16), "fp16", "b"): (4, _b16),
    ((16, 8, 16), "bf16", "a"): (8, _a16), ((16, 8, 16), "bf16", "b"): (4, _b16),
    ((16, 8, 16), "fp32", "accumulator"): (4, _c), ((16, 8, 16), "fp16", "accumulator"): (4, _c),
    ((16, 8, 8), "fp16", "a"): (4, lambda g, t, i: (g if i < 2 else g + 8, t * 2 + (i & 1))),
    ((16, 8, 8), "fp16", "b"): (2, lambda g, t, i: (t * 2 + i, g)),
    ((16, 8, 4), "tf32", "a"): (2, lambda g, t, i: (g if i == 0 else g + 8, t)),
    ((16, 8, 4), "tf32", "b"): (1, lambda g, t, i: (t, g)),
    ((16, 8, 8), "tf32", "a"): (4, _a_tf32),
    ((16, 8, 8), "tf32", "b"): (2, lambda g, t, i: (t if i == 0 else t + 4, g)),
    ((8, 8, 4), "fp64", "a"): (1, lambda g, t, i: (g, t)), ((8, 8, 4), "fp64", "b"): (1, lambda g, t, i: (t, g)),
    ((8, 8, 4), "fp64", "accumulator"): (2, lambda g, t, i: (g, t * 2 + i)),
    ((16, 8, 16), "fp64", "a"): (8, lambda g, t, i: (g if i % 2 == 0 else g + 8, i // 2 * 4 + t)),
    ((16, 8, 16), "fp64", "b"): (4, lambda g, t, i: (t + i * 4, g)),
    ((8, 8, 16), "sint8", "a"): (4, lambda g, t, i: (g, t * 4 + i)),
    ((8, 8, 16), "uint8", "b"): (4, lambda g, t, i: (t * 4 + i, g)),
    ((8, 8, 16), "sint32", "accumulator"): (2, lambda g, t, i: (g, t * 2 + i)),
    ((16, 8, 16), "sint8", "a"): (8, lambda g, t, i: (g if i < 4 else g + 8, t * 4 + (i & 3))),
    ((16, 8, 16), "sint8", "b"): (4, lambda g, t, i: (t * 4 + i, g)),
    ((16, 8, 32), "uint8", "a"): (16, lambda g, t, i: (
        g if i < 4 or 8 <= i < 12 else g + 8, t * 4 + (i & 3) + (16 if i >= 8 else 0))),
    ((16, 8, 32), "sint8", "b"): (8, lambda g, t, i: (t * 4 + (i & 3) + (16 if i >= 4 else 0), g)),
    ((8, 8, 32), "sint4", "a"): (8, lambda g, t, i: (g, t * 8 + i)),
    ((16, 8, 64), "uint4", "a"): (32, lambda g, t, i: (
        g if i < 8 or 16 <= i < 24 else g + 8, t * 8 + (i & 7) + (32 if i >= 16 else 0))),
    ((16, 8, 64), "sint4", "b"): (16, lambda g, t, i: (t * 8 + (i & 7) + (32 if i >= 8 else 0), g)),
}


@pytest.mark.parametrize("key", PTX, ids=str)
def test_fragments_of_mma(key: tuple[tuple[int, int, int], str, Use]) -> None:
    shape, fmt, use = key
    count, formula = PTX[key]
    layout = of("nvidia_gpu_sm_90", use, fmt, *shape)
    assert held(layout) == [[formula(lane >> 2, lane % 4, i) for i in range(count)] for lane in range(32)]
    assert not layout.implementation_dependent


def test_fragments_of_wgmma() -> None:
    """D: row 16 * warp + lane / 4, columns in pairs; A of 16 bits: that of mma.sync in each warp."""
    d = of("nvidia_gpu_sm_90", "accumulator", "fp32", 64, 24, 16)
    assert held(d) == [[(16 * (lane // 32) + lane % 32 // 4 + 8 * (i // 2 % 2), 8 * (i // 4) + lane % 4 * 2 + i % 2)
                        for i in range(12)] for lane in range(128)]
    a = of("nvidia_gpu_sm_90", "a", "bf16", 64, 24, 16)
    assert held(a) == [[(16 * (lane // 32) + _a16(lane % 32 >> 2, lane % 4, i)[0], _a16(0, lane % 4, i)[1])
                        for i in range(8)] for lane in range(128)]
    with pytest.raises(cm.KernelNotSupported):
        of("nvidia_gpu_sm_90", "b", "bf16", 64, 24, 16)


def test_the_quad_pairs_of_volta() -> None:
    """mma.m8n8k4: quad-pair 0 is lanes 0 to 3 and 16 to 19; C of fp32: X = (lane & 1) + (i & 2) …, PTX ISA."""
    a, c16, c32 = (of("nvidia_gpu_sm_70", use, fmt, 8, 8, 4)
                   for use, fmt in (("a", "fp16"), ("accumulator", "fp16"), ("accumulator", "fp32")))
    for lane in range(32):
        if lane % 16 >= 4:
            assert not a.held.valid[lane].any()
            assert not c32.held.valid[lane].any()
            continue
        row = lane % 4 + (4 if lane >= 16 else 0)
        assert held(a)[lane] == [(row, i) for i in range(4)]
        assert held(c16)[lane] == [(row, i) for i in range(8)]
        assert held(c32)[lane] == [((lane & 1) + (i & 2) + (4 if lane >= 16 else 0), (i & 4) + (lane & 2) + (i & 1))
                                   for i in range(8)]


@pytest.mark.parametrize("name", [name for name, device in ARCHITECTURES.items() if device.instructions])
def test_every_fragment_holds_every_element_once(name: str) -> None:
    for row in ARCHITECTURES[name].instructions:
        for use in () if row.kind.makes_combinations else USES:
            for fmt in row.types_of(use):
                for shape in row.shapes if row.has_fragment(use, fmt) else ():
                    layout = row.layout(use, format_of(fmt), shape)
                    assert layout is not None
                    assert (layout.copies == 1).all()


@pytest.mark.parametrize(("name", "count"), [
    ("nvidia_gpu_sm_70", 1), ("nvidia_gpu_sm_72", 1), ("nvidia_gpu_sm_75", 4), ("nvidia_gpu_sm_80", 14),
    ("nvidia_gpu_sm_86", 14), ("nvidia_gpu_sm_89", 14), ("nvidia_gpu_sm_90", 145), ("amd_gpu_gfx90a", 0)])
def test_which_device_has_which_instruction(name: str, count: int) -> None:
    """Beside those of its combinations."""
    assert sum(len(row.shapes) for row in ARCHITECTURES[name].instructions if not row.kind.makes_combinations) == count


# --------------------------------------------------------------------------------------
# wmma: what an H200 was seen to do, and what is published of older ones
# --------------------------------------------------------------------------------------


@pytest.mark.parametrize("matrix", matrices(), ids=layout_key)
def test_fragments_of_wmma_as_the_chip_has_them(matrix) -> None:
    np.testing.assert_array_equal(said(matrix), recorded_wmma()[layout_key(matrix)])
    assert matrix_layout("nvidia_gpu_sm_80", matrix.use, matrix.fmt, matrix.rows, matrix.columns,
                         32).implementation_dependent == (matrix.fmt != "fp64")


def test_published_fragments_of_volta() -> None:
    """wmma_extension's formulas for sm_70; every element of A and of B is in two lanes."""
    a, b, c16, c32 = (of("nvidia_gpu_sm_70", use, fmt, 16, 16, 16) for use, fmt in (
        ("a", "fp16"), ("b", "fp16"), ("accumulator", "fp16"), ("accumulator", "fp32")))
    for lane in range(32):
        row = (lane & 3) + ((lane & 4) << 1) + ((lane & 16) >> 2)
        column = (lane & 3) + (lane & 8) + ((lane & 16) >> 2)
        assert held(a)[lane] == [(row, x) for x in range(16)]
        assert held(b)[lane] == [(x, column) for x in range(16)]
        assert held(c16)[lane] == [(row, (lane & 8) + x) for x in range(8)]
        assert held(c32)[lane] == [((lane & 1) + ((lane & 4) << 1) + ((lane & 16) >> 2) + (x & 2),
                                    (lane & 2) + (lane & 8) + (x & 1) + (x & 4)) for x in range(8)]
    assert (a.copies == 2).all()
    assert (b.copies == 2).all()


# --------------------------------------------------------------------------------------
# AMD: the forward formulas of the AMD Matrix Instruction Calculator
# --------------------------------------------------------------------------------------


def _mfma(m: int, k: int, each: int) -> Iterator[tuple[Use, Callable[[int, int], tuple[int, int]]]]:
    """Lane and component of A[i][k], B[k][j], and D[i][j]."""
    yield "a", lambda i, kk: (m * (kk // each) + i, kk % each)
    yield "b", lambda kk, j: (m * (kk // each) + j, kk % each)
    others = 64 // m
    if k == 4:
        yield "accumulator", lambda i, j: (16 * (i % 4) + j, i // 4)
    else:
        yield "accumulator", lambda i, j: (m * (i // 4 % others) + j, 4 * (i // (4 * others)) + i % 4)


@pytest.mark.parametrize(("fmt", "accumulator"), [("fp16", "fp32"), ("bf16", "fp32"), ("sint8", "sint32"),
                                                  ("fp64", "fp64")])
@pytest.mark.parametrize(("m", "k"), [(32, 8), (16, 16), (16, 4)])
def test_registers_of_mfma(fmt: str, accumulator: str, m: int, k: int) -> None:
    if (fmt == "fp64") != (k == 4):
        return
    each = 1 if fmt == "fp64" else 4
    for use, formula in _mfma(m, k, each):
        layout = of("amd_gpu_gfx90a", use, accumulator if use == "accumulator" else fmt, m, m, k)
        lane, component = layout.owner
        for place in np.ndindex(layout.rows, layout.columns):
            assert (lane[place], component[place]) == formula(*place)
        assert (layout.copies == 1).all()
        assert not layout.implementation_dependent


@pytest.mark.parametrize(("use", "fmt", "shape", "element", "expected"), [
    ("a", "fp16", (32, 32, 8), (13, 7), (45, 1, 16)), ("accumulator", "fp32", (32, 32, 8), (13, 7), (39, 5, 0)),
    ("b", "sint8", (16, 16, 16), (13, 7), (55, 0, 8)), ("accumulator", "fp64", (16, 16, 4), (5, 3), (19, 1, 0))])
def test_what_the_calculator_prints(use: Use, fmt: str, shape: tuple[int, int, int], element: Element,
                                    expected: tuple[int, int, int]) -> None:
    places = of("amd_gpu_gfx90a", use, fmt, *shape).of_elements
    assert (places.lane[element], places.register[element], places.bit[element]) == expected


# --------------------------------------------------------------------------------------
# Intel
# --------------------------------------------------------------------------------------


@pytest.mark.parametrize(("use", "fmt", "shape", "element", "expected"), [
    ("a", "bf16", (16, 16, 32), (3, 7), (3, 8 * 14)),      # bytes 14 and 15
    ("b", "bf16", (16, 16, 32), (7, 3), (3, 32 * 3 + 16)),  # dword 3, bits 31 to 16
    ("b", "sint8", (16, 16, 64), (13, 6), (3, 32 * 6 + 8)),
    ("accumulator", "sint32", (16, 16, 64), (5, 6), (5, 32 * 6))])
def test_rows_and_bits_of_tiles(use: Use, fmt: str, shape: tuple[int, int, int], element: Element,
                                expected: tuple[int, int]) -> None:
    layout = of("intel_cpu_spr", use, fmt, *shape)
    places = layout.of_elements
    assert (places.register[element], places.bit[element]) == expected
    assert layout.implementation_dependent  # as to lanes and components


def test_tiles_of_every_size_hold_every_bit_field_once() -> None:
    for rows, columns in ((1, 1), (3, 5), (64, 16), (7, 16)):
        places = matrix_layout("intel_cpu_spr", "b", "sint8", rows, columns, 16).of_elements
        fields = set(zip(places.register.flat, places.bit.flat, strict=True))
        assert len(fields) == rows * columns
        assert max(field[0] for field in fields) == (rows - 1) // 4


@pytest.mark.parametrize(("name", "size"), [("intel_gpu_pvc", 16), ("intel_gpu_dg2_g10", 8)])
@pytest.mark.parametrize(("fmt", "accumulator", "k"), [("sint8", "sint32", 32), ("bf16", "fp32", 16)])
def test_matrices_of_xmx_are_those_of_the_built_ins(name: str, size: int, fmt: str, accumulator: str,
                                                    k: int) -> None:
    """Sections 'a', 'b' and 'acc' of cl_intel_subgroup_matrix_multiply_accumulate."""
    a, b, c = (of(name, use, types, 8, size, k) for use, types in zip(USES, (fmt, fmt, accumulator), strict=True))
    each = k // size
    for lane in range(size):
        assert held(a)[lane] == [(row, lane * each + i) for row in range(8) for i in range(each)]
        assert held(b)[lane] == [(row, lane) for row in range(k)]
        assert held(c)[lane] == [(row, lane) for row in range(8)]
    assert not any(layout.implementation_dependent for layout in (a, b, c))


def test_other_sub_group_sizes_are_dealt_out() -> None:
    device = ARCHITECTURES["intel_gpu_pvc"]
    layout = layout_of(device, "accumulator", "fp32", 8, 16, 16, sub_group_size=32)
    assert held(layout)[17] == [(1, 1), (3, 1), (5, 1), (7, 1)]
    assert layout.implementation_dependent
    with pytest.raises(cm.Error, match="intel_gpu_pvc has no sub-groups of 8 work-items"):
        layout_of(device, "accumulator", "fp32", 8, 16, 16, sub_group_size=8)


# --------------------------------------------------------------------------------------
# Every row of every table
# --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_every_matrix_of_every_table_has_a_layout(name: str) -> None:
    device = ARCHITECTURES[name]
    for row in device.combinations:
        shapes = {row.largest, tuple(exact or 1 for exact in (row.msize, row.nsize, row.ksize))}
        for m, n, k in shapes:
            for use in USES:
                for fmt in row.types_of(use):
                    layout = layout_of(device, use, fmt, m, n, k)
                    assert layout.sub_group_size == device.sub_group_sizes[0]
                    copies = layout.copies
                    assert copies.min() == copies.max() >= 1
                    assert copies.max() == 1 or (name.startswith("nvidia") and fmt == "fp16")


@pytest.mark.parametrize(("name", "use", "fmt", "shape", "text"), [
    ("intel_gpu_pvc", "a", "fp64", (8, 16, 16), "intel_gpu_pvc has no fp64 matrix of use 'a' for M=8 N=16 K=16; "
     "types of this use are uint8, sint8, fp16, bf16, tf32"),
    ("intel_gpu_pvc", "a", "sint4", (8, 16, 32), "for this type it has N=16 K=64 with M in 1, 2, 4, 8"),
    ("nvidia_gpu_sm_75", "a", "fp16", (16, 8, 16), "mma.sync m16n8k8"),
    ("generic", "a", "fp16", (0, 8, 16), "matrices of generic have 1 to 1048576 elements; found M=0 N=8 K=16"),
    ("generic", "a", "fp16", (4096, 8, 16384), "found M=4096 N=8 K=16384")])
def test_what_a_device_does_not_have(name: str, use: Use, fmt: str, shape: tuple[int, int, int], text: str) -> None:
    with pytest.raises(cm.KernelNotSupported) as caught:
        of(name, use, fmt, *shape)
    assert text in str(caught.value)


def test_unknown_words() -> None:
    with pytest.raises(cm.Error, match="unknown matrix use 'c'"):
        of("generic", "c", "fp16", 1, 1, 1)  # type: ignore[arg-type]
    with pytest.raises(cm.Error, match="fp17"):
        of("generic", "a", "fp17", 1, 1, 1)
