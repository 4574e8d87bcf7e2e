"""Sums whose order and rounding others decided: numpy's float32 arithmetic, and the C library's fma."""

from __future__ import annotations

import ctypes
import ctypes.util

import numpy as np
import pytest

from coopmat.probing import names, probe, setup_of
from tests.kit.probing.arithmetics import BF16, FP16, Types, summed


def ascending(products: np.ndarray, c: np.ndarray) -> np.ndarray:
    return np.add.accumulate(np.concatenate([c[:, None], products], axis=1), axis=1, dtype=np.float32)[:, -1]


def descending(products: np.ndarray, c: np.ndarray) -> np.ndarray:
    return ascending(products[:, ::-1], c)


def c_last(products: np.ndarray, c: np.ndarray) -> np.ndarray:
    return np.add.accumulate(products, axis=1, dtype=np.float32)[:, -1] + c


def pairwise(products: np.ndarray, c: np.ndarray) -> np.ndarray:
    while products.shape[1] > 1:
        products = products[:, 0::2] + products[:, 1::2]
    return c + products[:, 0]


def halves(products: np.ndarray, c: np.ndarray) -> np.ndarray:
    while products.shape[1] > 1:
        middle = products.shape[1] // 2
        products = products[:, :middle] + products[:, middle:]
    return c + products[:, 0]


def chopped(products: np.ndarray, c: np.ndarray) -> np.ndarray:
    """Pairs first, in float64, every sum truncated to float32."""
    def add(one: np.ndarray, other: np.ndarray) -> np.ndarray:
        total, rest = one.astype(np.float64) + other, 0.0
        rest = other - (total - one)  # by Dekker, where the first is the larger one
        nearest = total.astype(np.float32)
        is_beyond = (np.abs(nearest) > np.abs(total)) | ((nearest == total) & (rest * np.sign(total) < 0))
        return np.where(is_beyond, np.nextafter(nearest, np.float32(0)), nearest)

    def larger_first(one: np.ndarray, other: np.ndarray) -> np.ndarray:
        is_larger = np.abs(one) >= np.abs(other)
        return add(np.where(is_larger, one, other), np.where(is_larger, other, one))

    return larger_first(c, larger_first(larger_first(products[:, 0], products[:, 1]),
                                        larger_first(products[:, 2], products[:, 3])))


SUMS = {
    ascending: "C + p0 + p1 + … + p7",
    descending: "C + p7 + p6 + … + p0",
    c_last: "C + (p0 + p1 + … + p7)",
    pairwise: "C + (((p0 + p1) + (p2 + p3)) + ((p4 + p5) + (p6 + p7)))",
    halves: "C + (((p0 + p4) + (p2 + p6)) + ((p1 + p5) + (p3 + p7)))",
}


@pytest.mark.parametrize("types", [FP16, BF16], ids=lambda types: types[0])
@pytest.mark.parametrize("total", SUMS, ids=lambda total: total.__name__)
def test_sums_in_float32(total, types: Types) -> None:
    found = probe(summed(types, total), setup_of(types, 8), 1, 1)
    assert found[names.ORDER] == SUMS[total]
    assert found[names.AT_ONCE] == "1"
    assert found[names.PARTIAL] == "23 fraction bits, to nearest even"
    assert found[names.RESULT] == "to nearest even"
    assert found[names.PRODUCTS] == "exact"
    assert found[names.NEGATIVE_ZEROS] == "-0"
    assert found[names.DIFFERENCE] == "+0"
    assert {found[name] for key, name in names.SUBNORMAL.items() if name in found} == {"kept"}
    assert names.KEPT not in found


def test_truncated_pairs() -> None:
    found = probe(summed(FP16, chopped), setup_of(FP16, 4), 1, 1)
    assert found[names.ORDER] == "C + ((p0 + p1) + (p2 + p3))"
    assert found[names.PARTIAL] == "23 fraction bits, towards zero"
    assert found[names.RESULT] == "towards zero"


def test_sums_of_more_precision_than_the_result() -> None:
    def wide(products: np.ndarray, c: np.ndarray) -> np.ndarray:
        return np.add.accumulate(np.concatenate([c[:, None], products], axis=1, dtype=np.float64), axis=1)[:, -1]

    found = probe(summed(FP16, wide), setup_of(FP16, 4), 1, 1)
    assert found[names.ORDER] == "C + p0 + p1 + p2 + p3"
    assert found[names.PARTIAL] == "52 fraction bits, to nearest even"
    assert found[names.RESULT] == "to nearest even"


def test_sums_in_integers() -> None:
    """Fixed point without loss, as a wide accumulator has it: Python's integers, rounded once by numpy."""
    def exact(products: np.ndarray, c: np.ndarray) -> np.ndarray:
        terms = np.concatenate([products, c[:, None]], axis=1).astype(np.float64)
        with np.errstate(all="ignore"):
            special = terms.sum(axis=1)
        return np.array([number if not np.isfinite(number) else sum(int(term * 2.0**200) for term in row) / 2**200
                         for number, row in zip(special, terms.tolist(), strict=True)])

    found = probe(summed(FP16, exact), setup_of(FP16, 4), 1, 1)
    assert found[names.ORDER] == "C + {p0…p3}"
    assert found[names.AT_ONCE] == "4"
    assert found[names.KEPT] == "all (at least 57)"
    assert found[names.RESULT] == "to nearest even"


def test_double_precision_by_the_c_librarys_fma() -> None:
    path = ctypes.util.find_library("m")
    if path is None:
        pytest.skip("no C library with fma here")
    fma = ctypes.CDLL(path).fma
    fma.restype, fma.argtypes = ctypes.c_double, [ctypes.c_double] * 3

    def multiply(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
        result = c.view(np.float64).copy()
        rows, columns = a.view(np.float64), b.view(np.float64)
        for number in range(len(a)):
            for k in range(a.shape[2]):
                result[number, 0, 0] = fma(rows[number, 0, k], columns[number, k, 0], result[number, 0, 0])
        return result.view(np.uint64)

    found = probe(multiply, setup_of(("fp64",) * 4, 4), 1, 1)
    assert found[names.ORDER] == "C + p0 + p1 + p2 + p3"
    assert found[names.PARTIAL] == "52 fraction bits, to nearest even"
    assert found[names.PRODUCTS] == "exact"
    assert found[names.PRODUCT_OVERFLOW] == "infinity"


def test_products_that_are_rounded() -> None:
    def multiply(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
        with np.errstate(all="ignore"):
            return (a.view(np.float64) * b.view(np.float64) + c.view(np.float64)).view(np.uint64)

    found = probe(multiply, setup_of(("fp64",) * 4, 1), 1, 1)
    assert found[names.ORDER] == "C + p0"
    assert found[names.PRODUCTS] == "rounded"
