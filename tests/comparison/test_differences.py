"""How far arrays are apart: against the sorted list of all numbers of a format, and exact integers."""

from __future__ import annotations

import math

import ml_dtypes
import numpy as np
import pytest

from coopmat.comparison.copies import copied
from coopmat.comparison.differences import Difference, differences, ulps_between


def one(reference: np.ndarray, found: np.ndarray) -> Difference:
    [result] = differences("x", 0, "device", reference, found)
    return result


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16])
def test_ulps_count_the_numbers_between(dtype: type) -> None:
    numbers = np.arange(1 << 16, dtype=np.uint16).view(dtype)
    with np.errstate(invalid="ignore"):
        numbers = numbers[~np.isnan(numbers)]
    values = np.unique(numbers.astype(np.float64))  # both zeros are one number
    position = np.searchsorted(values, numbers.astype(np.float64))
    order = np.random.default_rng(1).permutation(len(numbers))
    np.testing.assert_array_equal(ulps_between(numbers, numbers[order]), np.abs(position - position[order]))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_ulps_count_steps_to_the_next_number(dtype: type) -> None:
    start = np.array([1, -1, 0, -0.0, 5e-324, np.finfo(dtype).max, 1.9999999, -np.finfo(dtype).tiny], dtype)
    end = start
    for steps in range(1, 5):
        with np.errstate(over="ignore"):
            end = np.nextafter(end, dtype(np.inf))
            last = np.isinf(np.nextafter(start, dtype(np.inf)))  # infinity is the last step
        np.testing.assert_array_equal(ulps_between(start, end), np.where(last, 1, steps))


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32, np.uint32, np.int64, np.uint64])
def test_integers_are_apart_by_their_difference(dtype: type) -> None:
    info = np.iinfo(dtype)
    pairs = [(info.min, info.max), (info.max, info.min), (0, info.max), (info.min, 0), (3, 5), (7, 7)]
    left, right = (np.array(side, dtype) for side in zip(*pairs, strict=True))
    assert ulps_between(left, right).tolist() == [abs(int(x) - int(y)) for x, y in pairs]
    assert one(left, right).most_ulps == int(info.max) - int(info.min)


def test_the_largest_distance_of_float64() -> None:
    assert one(np.array([-math.inf]), np.array([math.inf])).most_ulps == 2 * 0x7FF0000000000000


def test_nan_equals_nan_and_zeros_are_equal_but_have_other_bits() -> None:
    reference = np.array([0x7FC00000, 0x80000000, 0x3F800000, 0x7FC00000], np.uint32).view(np.float32)
    found = np.array([0xFFC00001, 0x00000000, 0x3F800000, 0x7FC00000], np.uint32).view(np.float32)
    result = one(reference, found)
    assert (result.differing, result.other_bits, result.most_ulps, result.first) == (0, 2, 0, None)
    assert result.is_within(0)
    assert str(result) == "equal; other bits in 2 elements"


def test_a_nan_beside_a_number_is_beyond_every_limit() -> None:
    result = one(np.array([1, 1, 2], np.float32), np.array([1.5, math.nan, 2], np.float32))
    assert (result.differing, result.not_numbers, result.most_ulps) == (2, 1, 1 << 22)
    assert not result.is_within(1 << 40)
    assert result.first is not None
    assert result.largest is not None
    assert (result.first.index, result.largest.index) == ((0,), (1,))
    assert result.as_dict()["largest"]["values"] == ["1.0", "nan"]


def test_places_are_those_of_the_shape() -> None:
    reference = np.ones((3, 4, 5), ml_dtypes.bfloat16)
    found = reference.copy()
    found[1, 2, 3] = 1.0078125
    found[2, 0, 1] = 0.5
    result = one(reference, found)
    assert result.first is not None
    assert result.largest is not None
    assert result.first.index == (1, 2, 3)
    assert result.largest.index == (2, 0, 1)
    assert result.first.bits == ("0x3F80", "0x3F81")
    assert (result.differing, result.elements, result.share, result.most_ulps) == (2, 60, 2 / 60, 128)


def test_structures_are_compared_field_by_field() -> None:
    reference = np.zeros(4, np.dtype([("x", np.float32), ("n", np.int16, (2,)), ("pad", "V2")]))
    found = reference.copy()
    found["n"][3, 1] = -7
    results = list(differences("s", 0, "device", reference, found))
    assert [(row.array, row.differing) for row in results] == [("s.x", 0), ("s.n", 1), ("s.pad", 0)]
    assert results[1].first is not None
    assert results[1].first.index == (3, 1)


def test_an_empty_array_and_one_without_dimensions() -> None:
    assert one(np.zeros(0, np.float32), np.zeros(0, np.float32)).share == 0
    assert one(np.array(1.0), np.array(2.0)).differing == 1


def test_copies_share_memory_where_arrays_do() -> None:
    memory = np.arange(100, dtype=np.int32)
    other = np.arange(100, dtype=np.int32)
    whole, part, apart, number, nothing, empty = copied([memory, memory[10:30], other, 3, None, memory[:0]])
    assert (number, nothing, empty.size) == (3, None, 0)
    assert np.shares_memory(whole, part)
    assert not np.shares_memory(whole, apart)
    part[0] = -1
    assert (whole[10], memory[10], other[10]) == (-1, 10, 10)
    assert part.ctypes.data % 64 == memory[10:].ctypes.data % 64
