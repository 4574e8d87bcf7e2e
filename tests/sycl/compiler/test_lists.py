"""Lists and tuples of kernels: made, indexed, unrolled, passed, and the functions of Python for them."""

from __future__ import annotations

import numpy as np
import pytest

from coopmat.sycl import float32, int32, kernel, nd_item, ptr
from tests.kit.sycl.language import COUNT, error_of, results

SHAPE = (2, 3)


def add_to(values, i):
    values[0] += i
    values[1] = values[0] * 2


def total_of(rows):
    total = 0
    for row in rows:
        for value in row:
            total += value
    return total


def test_a_list_holds_variables() -> None:
    @kernel
    def k(item: nd_item[1], y: ptr[float32]):
        i = int(item.get_global_id(0))
        acc = [0.0] * 4
        for j in range(4):
            acc[j] += i * j
        acc[-1] -= 1
        total = 0.0
        for value in acc:
            total += value
        a, b = acc[1], acc[2]
        a, b = b, a
        y[i] = total + a * 100 + len(acc) + b

    assert results(k, dtype=np.float32) == [6 * i - 1 + 200 * i + 4 + i for i in range(COUNT)]


def test_nested_lists_and_comprehensions() -> None:
    @kernel
    def k(item: nd_item[1], y: ptr[int32]):
        i = int(item.get_global_id(0))
        grid = [[i * row + column for column in range(SHAPE[1])] for row in range(SHAPE[0])]
        grid[1][2] += 1000
        odd = [value * value for value in range(10) if value % 2 if value > 2]
        flat = [value for row in grid for value in row]
        y[i] = total_of(grid) + 10_000 * sum(odd) + flat[5] + len(flat)

    def expected(i: int) -> int:
        grid = [[i * row + column for column in range(3)] for row in range(2)]
        grid[1][2] += 1000
        return sum(map(sum, grid)) + 10_000 * (9 + 25 + 49 + 81) + grid[1][2] + 6

    assert results(k) == [expected(i) for i in range(COUNT)]


def test_zip_enumerate_reversed_and_slices() -> None:
    @kernel
    def k(item: nd_item[1], y: ptr[int32]):
        i = int(item.get_global_id(0))
        values = [i, i + 1, i + 2, i + 3]
        total = 0
        for index, (value, weight) in enumerate(zip(values, (1, 10, 100), strict=False), start=2):
            total += value * weight * index
        for value in reversed(values[1:]):
            total = total * 3 + value
        for index in reversed(range(0, 4, 2)):
            total = total * 3 + values[index]
        y[i] = total + sum(values[::-2]) + values[:-1][-1]

    def expected(i: int) -> int:
        values = [i, i + 1, i + 2, i + 3]
        total = 2 * values[0] + 30 * values[1] + 400 * values[2]
        for value in (*reversed(values[1:]), values[2], values[0]):
            total = total * 3 + value
        return total + values[3] + values[1] + values[2]

    assert results(k) == [expected(i) for i in range(COUNT)]


def test_sum_min_max_abs_len_list_tuple() -> None:
    @kernel
    def k(item: nd_item[1], x: ptr[float32], y: ptr[float32]):
        i = int(item.get_global_id(0))
        three = [x[i], 0.5, abs(x[i])]
        both = list((1, 2)) + [i]  # noqa: C410, RUF005
        pair = tuple(both)[1:]
        y[i] = max(three) + 10 * min(three) + sum(three, 100) + len(pair) + max(*pair) + min(3, i, 7) + sum(range(5))

    x = np.linspace(-2, 2, COUNT, dtype=np.float32).round(1)

    def expected(i: int) -> float:
        three = [x[i], np.float32(0.5), abs(x[i])]
        total = np.float32(100) + three[0] + three[1] + three[2]
        return max(three) + np.float32(10) * min(three) + total + np.float32(2 + max(2, i) + min(3, i) + 10)

    np.testing.assert_allclose(results(k, x, dtype=np.float32), [expected(i) for i in range(COUNT)], rtol=1e-6)


def test_helpers_change_the_lists_that_they_get() -> None:
    @kernel
    def k(item: nd_item[1], y: ptr[int32]):
        values = [0, 0]
        add_to(values, int(item.get_global_id(0)))
        add_to(values, 5)
        y[item.get_global_id(0)] = values[1]

    assert results(k) == [(i + 5) * 2 for i in range(COUNT)]


def test_unpacking() -> None:
    @kernel
    def k(item: nd_item[1], y: ptr[int32]):
        i = int(item.get_global_id(0))
        (a, b), c = (i, 2), 3
        [d, e] = SHAPE
        a, b, c = c, a, b
        first = second = i
        first += 1
        y[i] = a + 10 * b + 100 * c + 1000 * (d + e) + 10_000 * (first - second)

    assert results(k) == [3 + 10 * i + 200 + 5000 + 10_000 for i in range(COUNT)]


def test_elements_by_constants_and_starred_arguments() -> None:
    def weighted(a, b, c):
        return a + 10 * b + 100 * c

    @kernel
    def k(item: nd_item[1], y: ptr[int32]):
        i = int(item.get_global_id(0))
        values = (i, 2)
        y[i] = weighted(*values, 3) + [1000, 2000][1] + (4, 5)[-1] * 10_000

    assert results(k) == [i + 320 + 2000 + 50_000 for i in range(COUNT)]


def test_a_loop_that_indexes_through_arithmetic_is_unrolled() -> None:
    @kernel
    def k(item: nd_item[1], y: ptr[int32]):
        values = [1, 2, 3, 4, 5, 6]
        total = 0
        for row in range(SHAPE[0]):
            for column in range(SHAPE[1]):
                place = row * SHAPE[1] + column
                total = 10 * total + values[place]
        y[item.get_global_id(0)] = total

    assert results(k) == [123_456] * COUNT


@pytest.mark.parametrize(("use", "code", "text"), [
    (lambda y: [1, 2][2], "CM6042", "index 2 is outside of a list of 2"),
    (lambda y: [1, 2][-3], "CM6042", "index -3 is outside of a list of 2"),
    (lambda y: (int32, ptr)[y[0] / 2], "CM6041", "the index must be known when the kernel is compiled"),
    (lambda y: [i + 1 for i in range(y[0])], "CM6034", "the range must be known"),
    (lambda y: [i for i in range(3) if y[i]], "CM6034", "the condition of a list comprehension must be known"),
    (lambda y: [i + 1 for i in range(5000)], "CM6047", "at most 4096 are possible"),
    (lambda y: ([0] * 70 * 70)[0], "CM6063", "a list of 4900 elements is too long"),
    (lambda y: [[0] * 70] * 70, "CM6063", "a list of 4900 elements is too long"),
    (lambda y: [1] + (2,), "CM6030", "'+' cannot be applied to a list of 1 and a tuple of 1"),
    (lambda y: [1, 2].append(3), "CM6023", "a list in a kernel has a constant length"),
    (lambda y: {1: 2}[1], "CM6002", "a dictionary cannot be compiled"),
    (lambda y: max(y[0]), "CM6051", "it takes two or more numbers, or a list of them, found a value of type int32"),
    (lambda y: max([]), "CM6051", "it takes two or more numbers, or a list of at least one, found a list of 0"),
    (lambda y: min(y[0], (1, 2)), "CM6032", "expected a number, found a tuple of 2"),
    (lambda y: max(y[0], 1, key=abs), "CM6051", "it takes no argument called 'key' in a kernel"),
    (lambda y: sum(y[0]), "CM6055", "a list, a tuple, a vector or a range of constants; found a value of type int32"),
    (lambda y: sum([1], y[0], 3), "CM6051", "it takes a list, and perhaps a start, found 3 arguments"),
    (lambda y: len(y), "CM6055", "must be a list, a tuple or a range of constants"),
    (lambda y: zip([1], [1, 2], strict=True), "CM6051", "the lists differ in length"),
    (lambda y: sum(y), "CM6055", "a list, a tuple, a vector or a range of constants; found a value of type ptr"),
])
def test_what_is_refused(use, code: str, text: str) -> None:
    @kernel
    def k(item: nd_item[1], y: ptr[int32]):
        y[0] = use(y)

    found, message, _ = error_of(k)
    assert (found, text in message) == (code, True), message


def test_tuples_are_not_assigned() -> None:
    @kernel
    def element(item: nd_item[1], y: ptr[int32]):
        values = (1, y[0])
        values[1] = 3

    @kernel
    def too_many(item: nd_item[1], y: ptr[int32]):
        y[0], y[1] = 1, 2, 3

    assert [error_of(k)[0] for k in (element, too_many)] == ["CM6029", "CM6044"]
