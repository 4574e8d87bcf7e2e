"""Functions of Python's math and of numpy in kernels, constants in functions, and types that meet."""

from __future__ import annotations

import math

import numpy as np

import coopmat.sycl as sycl
from coopmat.sycl import atan2, bfloat16, exp, kernel, nd_item, sqrt
from tests.kit.sycl.launches import launch


def test_constants_are_weak_and_exact() -> None:
    x, out = np.array([1.0, 3.0], np.float64), np.zeros((6, 2), np.float64)
    half = np.array([1.5, 2.5], np.float16)
    back = np.zeros(2, np.float16)

    @kernel
    def k(item: nd_item[1]):
        i = item.get_global_id(0)
        out[i] = x[i] * math.sqrt(2.0)
        out[2 + i] = x[i] * sqrt(2)
        out[4 + i] = sycl.pow(x[i], 0.1)
        out[6 + i] = exp(int(i))  # integers become float32
        out[8 + i] = atan2(half[i], x[i])  # the common type, float64
        out[10 + i] = x[i] + math.pi
        back[i] = sycl.fmax(half[i], 2.0)

    launch(k, 2, 2)
    np.testing.assert_array_equal(out[0], x * math.sqrt(2))
    np.testing.assert_array_equal(out[1], x * math.sqrt(2))
    np.testing.assert_allclose(out[2], x**0.1, rtol=1e-14)
    np.testing.assert_array_equal(out[3], out[3].astype(np.float32))
    np.testing.assert_allclose(out[3], [1, math.e], rtol=1e-6)
    np.testing.assert_allclose(out[4], np.arctan2(half.astype(float), x), rtol=1e-14)
    np.testing.assert_array_equal(out[5], x + math.pi)
    assert back.tolist() == [2.0, 2.5]


def test_functions_of_python_and_numpy() -> None:
    x = np.array([-2.5, -0.5, 0.5, 1.5, 2.5, 3.49, math.nan, math.inf], np.float32)
    out, whole = np.zeros((8, 8), np.float32), np.zeros((5, 8), np.int32)

    @kernel
    def k(item: nd_item[1]):
        i = item.get_global_id(0)
        out[i] = math.exp(x[i])
        out[8 + i] = np.exp(x[i])
        out[16 + i] = math.log(abs(x[i]), 2)
        out[24 + i] = math.hypot(x[i], 1.0)
        out[32 + i] = np.minimum(x[i], 1.0)
        out[40 + i] = np.maximum(1.0, x[i])
        out[48 + i] = min(x[i], 1.0)
        out[56 + i] = sycl.round(x[i])
        if math.isfinite(x[i]):
            whole[i] = math.floor(x[i])
            whole[8 + i] = math.ceil(x[i])
            whole[16 + i] = math.trunc(x[i])
            whole[24 + i] = round(x[i])
            whole[32 + i] = round(i) + math.floor(2.5)

    launch(k, 8, 8)
    wide = x.astype(np.float64)
    with np.errstate(invalid="ignore"):
        expected = [np.exp(wide), np.exp(wide), np.log2(np.abs(wide)), np.hypot(wide, 1), np.minimum(wide, 1),
                    np.maximum(1, wide), np.fmin(wide, 1), [-3, -1, 1, 2, 3, 3, math.nan, math.inf]]
    np.testing.assert_allclose(out, expected, rtol=1e-6)
    finite = wide[:6]
    assert whole[:, :6].tolist() == [[f(value) for value in finite] for f in (
        math.floor, math.ceil, math.trunc, round)] + [[i + 2 for i in range(6)]]


def test_select_and_extremes_of_bfloat16() -> None:
    x = np.array([1.5, -2.5, 3.0, -0.0], bfloat16)
    out = np.zeros((5, 4), bfloat16)

    @kernel
    def k(item: nd_item[1]):
        i = item.get_global_id(0)
        out[i] = sycl.select(x[i], 7, x[i] > 0)
        out[4 + i] = sycl.abs(x[i])
        out[8 + i] = sycl.min(x[i], 1)
        out[12 + i] = np.maximum(x[i], 0.5)
        out[16 + i] = math.floor(x[i]) + round(x[i])

    launch(k, 4, 4)
    assert out.astype(float).tolist() == [[7, -2.5, 7, 0], [1.5, 2.5, 3, 0], [1, -2.5, 1, 0], [1.5, 0.5, 3, 0.5],
                                          [3, -5, 6, 0]]


def test_select_takes_the_second_where_the_condition_holds() -> None:
    x, out = np.arange(4, dtype=np.int32), np.zeros(4, np.float32)

    @kernel
    def k(item: nd_item[1]):
        i = item.get_global_id(0)
        out[i] = sycl.select(x[i], 0.5, x[i] > 1)

    launch(k, 4, 4)
    assert out.tolist() == [0, 1, 0.5, 0.5]
