"""The pictures of A, B and accumulator against execution: operands packed as drawn give the product of the matrices."""

from __future__ import annotations

import numpy as np
import pytest

import coopmat as cm
from coopmat.devices.subgroup_layout import SUB_GROUP_MATRIX_ROWS, SubGroupMatrixRow
from coopmat.devices.subgroup_matrices import M_SIZES
from coopmat.layout import accumulator, matrix_a, matrix_b
from tests.kit.layout.pictures import WORDS, drawn, pack
from tests.opencl.builtins.test_matrix_mad_numerics import ACCUMULATORS, OVERLOADS, Shape, bits_of, random_elements

FORMATS = {"int": "sint32", "float": "fp32", "half": "fp16", "short": "bf16"}


def row_of(shape: Shape) -> SubGroupMatrixRow:
    """The combination of an overload, by its name and types."""
    accumulators = {numpy: FORMATS[name] for name, numpy in ACCUMULATORS.items()}
    prefix = f"intel_sub_group_{shape.a}_{shape.b}_matrix_mad_k{shape.k}"
    return next(row for row in SUB_GROUP_MATRIX_ROWS
                if row.name == prefix and row.sub_group_size == shape.n and row.accumulator == accumulators[shape.acc])


@pytest.mark.parametrize("overload", OVERLOADS, ids=str)
def test_matrices_packed_as_drawn_give_their_product(overload) -> None:
    shape = Shape(overload)
    row, m, n, k = row_of(shape), shape.m, shape.n, shape.k
    assert m in M_SIZES
    random = np.random.default_rng(m)
    a = random_elements(shape.a, (m, k), random, extreme=False)
    b = random_elements(shape.b, (k, n), random, extreme=False)
    c = random.integers(-100, 100, (m, n)).astype(shape.acc)
    picture_c = accumulator(row, m)
    words_c = pack(picture_c, c.view(WORDS[c.itemsize * 8]))
    source = f"""__attribute__((intel_reqd_sub_group_size({n})))
    kernel void k(global {shape.a_type} *a, global {shape.b_type} *b, global {shape.acc_type} *c) {{
        size_t i = get_global_id(0);
        c[i] = {overload.name}(a[i], b[i], c[i]);
    }}"""
    device = cm.device("sim:generic")
    held = words_c.view(np.int16 if shape.acc_type.startswith("short") else shape.acc)
    words_a = pack(matrix_a(row, m), bits_of(shape.a, a))
    words_b = pack(matrix_b(row), bits_of(shape.b, b))
    if shape.a == "tf32":
        words_a, words_b = words_a.view(np.float32), words_b.view(np.float32)
    cm.Queue(device).enqueue(cm.build(source, device=device).kernel("k"), n, n, words_a, words_b, held).wait()
    found = np.zeros((m, n), np.float64)
    for place in drawn(picture_c.to_svg()):
        found[place.row, place.column] = held.view(shape.acc)[place.lane, place.register]
    exact = a.astype(np.float64) @ b.astype(np.float64) + c.astype(np.float64)
    np.testing.assert_array_equal(found, exact.astype(shape.acc).astype(np.float64))


ONE = {"i8": 1, "u8": 1, "i4": 1, "u4": 1, "bf16": 0x3F80, "f16": 0x3C00, "tf32": 0x3F800000}


@pytest.mark.parametrize("overload", [o for o in OVERLOADS if o.count in (1, 8)], ids=str)
def test_a_single_one_is_where_the_picture_says(overload) -> None:
    """A one in one field of A at a time, B numbering its elements in binary: the result tells row and column.

    One sub-group for each field of A and each binary digit of (k, j).
    """
    shape = Shape(overload)
    row, m, n, k = row_of(shape), shape.m, shape.n, shape.k
    picture_a = matrix_a(row, m)
    places = list(drawn(picture_a.to_svg()))
    digits = (k * n).bit_length()
    numbers = np.arange(1, k * n + 1).reshape(k, n)
    words_b = np.stack([pack(matrix_b(row), np.where(numbers >> digit & 1, ONE[shape.b], 0))
                        for digit in range(digits)])
    registers = pack(picture_a, np.zeros((m, k), np.int64))
    words_a = np.zeros((len(places), *registers.shape), registers.dtype)
    for index, place in enumerate(places):
        words_a[index, place.lane, place.register] = ONE[shape.a] << place.bit
    source = f"""__attribute__((intel_reqd_sub_group_size({n})))
    kernel void k(global {shape.a_type} *a, global {shape.b_type} *b, global {shape.acc_type} *c) {{
        size_t lane = get_local_id(0), digit = get_group_id(1);
        size_t out = (get_group_id(0) * {digits} + digit) * {n} + lane;
        c[out] = {overload.name}(a[get_global_id(0)], b[digit * {n} + lane], ({shape.acc_type})0);
    }}"""
    device = cm.device("sim:generic")
    held = np.zeros((len(places), digits, n, m), np.int16 if shape.acc_type.startswith("short") else shape.acc)
    if shape.a == "tf32":
        words_a, words_b = words_a.view(np.float32), words_b.view(np.float32)
    cm.Queue(device).enqueue(cm.build(source, device=device).kernel("k"), (len(places) * n, digits), (n, 1),
                             words_a, words_b, held).wait()
    bits = (held != 0).astype(np.int64)
    found = (bits << np.arange(digits)[:, None, None]).sum(axis=1)  # [field, lane, component]: the number of (k, j)
    expected = np.zeros_like(found)
    for index, place in enumerate(places):
        expected[index, :, place.row] = numbers[place.column]
    np.testing.assert_array_equal(found, expected)
