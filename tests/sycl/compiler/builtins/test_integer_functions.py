"""SYCL's integer functions, on simulated devices against Python's integers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import coopmat.sycl as sycl
from coopmat.sycl import clamp, kernel, mad24, nd_item
from coopmat.sycl.math_functions import FUNCTIONS
from tests.kit.builtin_references import wrap
from tests.kit.sycl.launches import launch
from tests.kit.sycl.mathematics import INTEGERS, TYPES, table_kernel


@pytest.mark.parametrize("element", ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"])
@settings(max_examples=5, deadline=None)
@given(data=st.data())
def test_integer_functions(element: str, data: st.DataObject) -> None:
    info = np.iinfo(element)
    edges = st.sampled_from(sorted({int(info.min), int(info.max), int(info.max) - 1, 0, 1, 5}))
    number = st.one_of(edges, st.integers(int(info.min), int(info.max)))
    rows = data.draw(st.lists(st.tuples(number, number, number), min_size=32, max_size=32))
    columns = [np.array(column, element) for column in zip(*rows, strict=True)]
    out = np.zeros((len(INTEGERS), 32), element)
    launch(table_kernel([FUNCTIONS[name] for name in INTEGERS], columns, out), 32, 16)
    for (name, reference), found in zip(INTEGERS.items(), out, strict=True):
        assert found.tolist() == [reference(*row, info.bits, info.min < 0) for row in rows], name


def test_24_bit_functions_and_clamp_of_integers() -> None:
    random = np.random.default_rng(8)
    a, b = (random.integers(-2**23, 2**23, 16).astype(np.int32) for _ in range(2))
    small = np.arange(-8, 8, dtype=np.int8)
    out, narrow = np.zeros((3, 16), np.int32), np.zeros(16, np.int8)

    @kernel
    def k(item: nd_item[1]):
        i = item.get_global_id(0)
        out[i] = mad24(a[i], b[i], 7)
        out[16 + i] = sycl.mul24(a[i], b[i])
        out[32 + i] = sycl.mul24(small[i], 3)
        narrow[i] = clamp(small[i], -3, 4)

    launch(k, 16, 16)
    exact = [wrap(int(x) * int(y), 32, True) for x, y in zip(a, b, strict=True)]
    assert out[1].tolist() == exact
    assert out[0].tolist() == [wrap(value + 7, 32, True) for value in exact]
    assert out[2].tolist() == [3 * value for value in range(-8, 8)]
    assert narrow.tolist() == np.clip(small, -3, 4).tolist()


@pytest.mark.parametrize("element", ["half", "float32", "float64"])
def test_bits_of_floating_point_numbers(element: str) -> None:
    dtype, word = TYPES[element], f"u{np.dtype(TYPES[element]).itemsize}"
    a, b, mask = (np.random.default_rng(seed).integers(0, 1 << 15, 16).astype(word).view(dtype) for seed in range(3))
    out = np.zeros((1, 16), dtype)
    launch(table_kernel([FUNCTIONS["bitselect"]], [a, b, mask], out), 16, 16)
    bits = [column.view(word) for column in (a, b, mask)]
    assert out.view(word).tolist() == [(bits[0] & ~bits[2] | bits[1] & bits[2]).tolist()]
