"""Loop variables of loops that are unrolled and that are not, under conditions and in each other: each kernel stores
what the same function stores when Python runs it."""

from __future__ import annotations

import numpy as np
import pytest

from coopmat.sycl import int32, kernel, nd_item, nd_range, ptr, queue


@kernel
def under_a_condition(item: nd_item[1], out: ptr[int32], n: int32):
    squares = [0] * 4
    i = 7
    if n > 2:
        for i in range(4):
            squares[i] = i * i
    out[0] = i
    out[1] = squares[3]


@kernel
def inside_of_a_loop(item: nd_item[1], out: ptr[int32], n: int32):
    squares = [0] * 4
    i = 9
    k = 0
    while k < n:
        out[k] = i
        for i in range(4):
            squares[i] += i
        k += 1
    out[5] = squares[2]


@kernel
def one_name_for_all_loops(item: nd_item[1], out: ptr[int32], n: int32):
    squares = [0] * 3
    for i in range(3):
        squares[i] = i * i
    for i in range(n):
        out[i] = i + squares[2]
    for i in range(3):
        out[i + 5] = squares[i] + 1
    for i in range(2, n):
        out[8] = i


@kernel
def read_after_the_loop(item: nd_item[1], out: ptr[int32], n: int32):
    squares = [0] * 3
    for i in range(3):
        squares[i] = i * i
    out[0] = i
    for i in range(n + 1):
        out[1] = i + squares[1]
    out[2] = i


@kernel
def captured(item: nd_item[1], out: ptr[int32], n: int32):
    sums = [0] * 3
    i = 5

    def plus(x):
        return x + i

    out[0] = plus(n)
    for i in range(3):
        sums[i] = plus(10)
    for i in range(3):
        out[i + 1] = sums[i]
    out[4] = plus(n)
    for i in range(2):
        f = lambda x: x * 2 + i  # noqa: E731, B023
        out[i + 5] = f(n)


@kernel
def left_by_break(item: nd_item[1], out: ptr[int32], n: int32):
    values = [4, 5, 6]
    for i in range(3):
        if i == 2:
            break
        out[i] = values[i] + n
    out[3] = i
    for i, value in enumerate(values):
        out[i + 4] = value
    out[7] = value


@kernel
def nested_with_one_name(item: nd_item[1], out: ptr[int32], n: int32):
    values = [4, 5, 6]
    for i in range(n):
        for i in range(3):
            values[i] += 1
        out[0] = i
    for i in range(3):
        out[i + 1] = values[i]


KERNELS = [under_a_condition, inside_of_a_loop, one_name_for_all_loops, read_after_the_loop, captured, left_by_break,
           nested_with_one_name]


@pytest.mark.parametrize("n", [1, 4])
@pytest.mark.parametrize("program", KERNELS, ids=lambda program: program.name)
def test_like_python(program, n: int) -> None:
    found, expected = np.full(10, -1, np.int32), np.full(10, -1, np.int32)
    queue("sim:generic").parallel_for(nd_range(1, 1), program, found, n).wait()
    program.function(None, expected, n)
    assert found.tolist() == expected.tolist()
