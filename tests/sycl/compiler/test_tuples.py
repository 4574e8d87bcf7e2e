"""Tuples: what helpers return, unpacking, assigning and comparing them."""

from __future__ import annotations

import numpy as np
import pytest

import coopmat as cm
from coopmat.sycl import (
    float32,
    half,
    int32,
    int64,
    joint_matrix,
    joint_matrix_fill,
    joint_matrix_store,
    kernel,
    layout,
    nd_item,
    nd_range,
    ptr,
    queue,
    sub_group,
    uint8,
    use,
)
from tests.kit.sycl.language import COUNT, results

ITEMS = range(COUNT)


def quotient_and_rest(a, b):
    return a // b, a % b


@pytest.mark.parametrize("device", ["sim:generic", "cpu"])
def test_a_helper_returns_a_tuple(device: str) -> None:
    @kernel
    def k(item: nd_item[1], y: ptr[int32], z: ptr[float32]):
        i = int(item.get_global_id(0))
        quotient, rest = quotient_and_rest(i, 5)
        both = quotient_and_rest(100 + i, 7)
        y[i] = quotient + 10 * rest + 100 * both[0] + 10000 * both[1]
        z[i] = quotient_and_rest(0.5 * i, 1.0)[0] if False else sum(quotient_and_rest(i, 3)) / 2.0

    found, real = np.zeros(COUNT, np.int32), np.zeros(COUNT, np.float32)
    cm.Queue(device).parallel_for(nd_range(COUNT, COUNT), k, found, real).wait()
    assert found.tolist() == [i // 5 + 10 * (i % 5) + 100 * ((100 + i) // 7) + 10000 * ((100 + i) % 7) for i in ITEMS]
    assert real.tolist() == [(i // 3 + i % 3) / 2 for i in ITEMS]


def test_the_parts_have_their_own_types_and_may_be_nested() -> None:
    def parts(x, p):
        if x > 3:
            return (x, 0.5), p + 1, (uint8(200), x > 5)
        return (x + 1, half(2)), p, (uint8(3), False)

    @kernel
    def k(item: nd_item[1], p: ptr[int32], y: ptr[int32], z: ptr[float32]):
        i = int(item.get_global_id(0))
        (whole, real), pointer, (narrow, flag) = parts(i, p)
        y[i] = whole + 100 * pointer[0] + 1000 * uint8(narrow + 100) + 1000000 * flag
        z[i] = real

    p, found, real = np.array([5, 6], np.int32), np.zeros(COUNT, np.int32), np.zeros(COUNT, np.float32)
    queue("sim:generic").parallel_for(nd_range(COUNT, COUNT), k, p, found, real).wait()
    assert found.tolist() == [(i + 600 + 44000 + 1000000 * (i > 5)) if i > 3 else i + 1 + 500 + 103000 for i in ITEMS]
    assert real.tolist() == [0.5 if i > 3 else 2 for i in ITEMS]


def test_declared_results_convert() -> None:
    def widened(x) -> tuple[int64, float]:
        return x, x

    @kernel
    def k(item: nd_item[1], y: ptr[int32]):
        i = int(item.get_global_id(0))
        wide, real = widened(i + 2**30)
        y[i] = (wide * 16) >> 30 if real > 1.5 else 0

    assert results(k) == [16] * COUNT


def test_what_is_known_is_returned_too() -> None:
    def how(x):
        if x > 3:
            return x, layout.row_major, "text", None
        return 2 * x, layout.row_major, "text", None

    def size_of(wide):
        return int64 if wide else int32

    @kernel
    def k(item: nd_item[1], y: ptr[int32]):
        i = int(item.get_global_id(0))
        value, order, text, nothing = how(i)
        y[i] = value + 100 * (order == layout.row_major) + 1000 * len(text) + 10000 * (nothing is None)
        y[i] += (size_of(True)(2**31) >> 31) * 100000

    assert results(k) == [(i if i > 3 else 2 * i) + 114100 for i in ITEMS]


def test_a_list_that_a_helper_makes_is_the_callers() -> None:
    def powers(x):
        found = [1, x, x * x]
        found[0] += 1
        return found

    @kernel
    def k(item: nd_item[1], y: ptr[int32]):
        i = int(item.get_global_id(0))
        values = powers(i)
        values[1] *= 10
        y[i] = sum(values) + len(powers(1))

    assert results(k) == [2 + 10 * i + i * i + 3 for i in ITEMS]


def test_unpacking_names_the_matrices_of_a_list() -> None:
    @kernel(sub_group_size=16)
    def k(item: nd_item[1], y: ptr[int32]):
        sg = item.get_sub_group()
        gates = [joint_matrix(sub_group, int32, use.accumulator, 8, 16) for _ in range(4)]
        i, f, g, o = gates
        first, *rest = gates
        last = rest[-1]
        for number, gate in enumerate((i, f, g, o)):
            joint_matrix_fill(sg, gate, number)
        joint_matrix_fill(sg, first, 10)
        joint_matrix_fill(sg, last, 40)
        for number, gate in enumerate(gates):
            joint_matrix_store(sg, gate, y + 128 * number, 16, layout.row_major)

    found = np.zeros((4, 128), np.int32)
    queue("sim:intel_gpu_pvc").parallel_for(nd_range(16, 16), k, found).wait()
    assert (found == [[10], [1], [2], [40]]).all()


def test_stars() -> None:
    @kernel
    def k(item: nd_item[1], y: ptr[int32]):
        i = int(item.get_global_id(0))
        a, *b, (c, *d) = i, 2, 3, (4, 5, 6)
        *e, last = [i, i + 1]
        only, *nothing = (7,)
        b[0] += 100
        y[i] = a + b[0] + 1000 * b[1] + 10000 * c + d[0] + d[1] + e[0] + last + only + len(nothing)

    assert results(k) == [3 * i + 1 + 102 + 3000 + 40000 + 11 + 7 for i in ITEMS]


def test_values_are_read_before_any_is_assigned() -> None:
    @kernel
    def k(item: nd_item[1], y: ptr[int32]):
        i = int(item.get_global_id(0))
        a, b, c = i, 1, [5, 6]
        a, b = b, a + b
        c[0], c[1] = c[1], c[0]
        pair = (a, b)
        a, b = 0, 0
        y[i] = pair[0] + 100 * pair[1] + 10000 * c[0] + a + b

    assert results(k) == [1 + 100 * (i + 1) + 60000 for i in ITEMS]


def test_a_tuple_is_assigned_again() -> None:
    def step(state):
        a, b = state
        return b, a + b

    @kernel
    def k(item: nd_item[1], y: ptr[int32]):
        i = int(item.get_global_id(0))
        state = (0, 1)
        before = state
        for _ in range(i):
            before = state
            state = step(state)
        y[i] = 1000 * before[0] + state[0]

    def fibonacci(n: int) -> int:
        a, b = 0, 1
        for _ in range(n):
            a, b = b, a + b
        return a

    assert results(k) == [1000 * fibonacci(max(i - 1, 0)) + fibonacci(i) for i in ITEMS]


def test_comparisons_of_tuples() -> None:
    @kernel
    def k(item: nd_item[1], y: ptr[int32]):
        i = int(item.get_global_id(0))
        pair = (i % 2, i % 3)
        y[i] = (pair == (1, 2)) + 10 * (pair != (0, 0)) + 100 * (pair == (1, 2, 3)) + 1000 * ([i] == [5])
        y[i] += 10000 * (pair in ((0, 1), (1, 1)))

    assert results(k) == [((i % 2, i % 3) == (1, 2)) + 10 * ((i % 2, i % 3) != (0, 0)) + 1000 * (i == 5)
                          + 10000 * ((i % 2, i % 3) in ((0, 1), (1, 1))) for i in ITEMS]


def test_a_slice_is_a_copy() -> None:
    @kernel
    def k(item: nd_item[1], y: ptr[int32]):
        i = int(item.get_global_id(0))
        values = [i, 2, 3]
        part = values[:2]
        part[0] += 100
        y[i] = values[0] + part[0]

    assert results(k) == [2 * i + 100 for i in ITEMS]
