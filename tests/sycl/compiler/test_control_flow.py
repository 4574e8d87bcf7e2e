"""if, while, for, break and continue in kernels compute what Python computes."""

from __future__ import annotations

import numpy as np
import pytest

import coopmat as cm
from coopmat.sycl import float32, int32, int64, kernel, nd_item, ptr, uint8, uint32
from tests.kit.sycl.language import COUNT, results


def test_if_elif_else_assign_one_variable() -> None:
    @kernel
    def k(item: nd_item[1], y: ptr[int32]):
        i = int(item.get_global_id(0))
        if i < 3:
            v = 1
        elif i == 3:
            v = 2
        else:
            v = i * 10
        y[i] = v

    assert results(k) == [1, 1, 1, 2, *(10 * i for i in range(4, COUNT))]


def test_while_with_break() -> None:
    @kernel
    def k(item: nd_item[1], limit: int, y: ptr[int32]):
        n = int(item.get_global_id(0))
        steps = 0
        while n > 1:
            if n % 2 == 0:
                n //= 2
            else:
                n = 3 * n + 1
            steps += 1
            if steps > limit:
                break
        y[item.get_global_id(0)] = steps

    def collatz(n: int, limit: int) -> int:
        steps = 0
        while n > 1 and steps <= limit:
            n, steps = (n // 2 if n % 2 == 0 else 3 * n + 1), steps + 1
        return steps

    for limit in (1000, 7):
        assert results(k, limit) == [collatz(i, limit) for i in range(COUNT)]


def test_while_true_ends_by_break_only() -> None:
    @kernel
    def k(item: nd_item[1], y: ptr[int32]):
        n = 0
        while True:
            n += 1
            if n > item.get_global_id(0):
                break
        y[item.get_global_id(0)] = n

    assert results(k) == list(range(1, COUNT + 1))


def test_the_condition_of_while_is_evaluated_in_every_step() -> None:
    @kernel
    def k(item: nd_item[1], y: ptr[int32]):
        i = item.get_global_id(0)
        while (y[i] + 1) ** 2 < 50 and not y[i] >= i:
            y[i] += 1

    assert results(k) == [min(i, 7) for i in range(COUNT)]


@pytest.mark.parametrize(("start", "stop", "step"), [
    (10, 0, -3), (0, 10, 3), (5, 5, 1), (0, 10, -1), (10, 0, 1), (-5, 6, 5), (0, -7, -7), (2, 3, 100), (3, 2, -100)])
def test_ranges_with_bounds_and_steps_of_the_run_time(start: int, stop: int, step: int) -> None:
    @kernel
    def computed(item: nd_item[1], a: int, b: int, c: int, y: ptr[int32]):
        total = 7
        for i in range(a, b, c):
            total = total * 3 + i
        y[item.get_global_id(0)] = total

    @kernel
    def known(item: nd_item[1], y: ptr[int32]):
        total = 7
        for i in range(start, stop, step):
            total = total * 3 + i
        y[item.get_global_id(0)] = total

    expected = 7
    for i in range(start, stop, step):
        expected = expected * 3 + i
    assert results(computed, start, stop, step) == results(known) == [expected] * COUNT


def test_a_range_down_to_zero_of_a_signed_type() -> None:
    @kernel
    def k(item: nd_item[1], n: int64, y: ptr[int32]):
        for i in range(n, -1, -1):
            y[item.get_global_id(0)] += i

    assert results(k, 100) == [5050] * COUNT


def test_a_range_of_narrow_types_counts_in_int() -> None:
    @kernel
    def k(item: nd_item[1], n: uint8, y: ptr[int32]):
        for _ in range(n + 1):
            y[item.get_global_id(0)] += 1

    assert results(k, 255) == [256] * COUNT


def test_bounds_are_computed_once() -> None:
    @kernel
    def k(item: nd_item[1], n: int, y: ptr[int32]):
        m, s, steps = n, 2, 0
        for i in range(m, 3 * m, s):
            m += 1
            s += i
            steps += 1
        y[item.get_global_id(0)] = 1000 * steps + m

    assert results(k, 10) == [10_020] * COUNT


def test_the_loop_variable_may_be_assigned_and_keeps_its_last_value() -> None:
    @kernel
    def k(item: nd_item[1], n: int, y: ptr[int32]):
        total = 0
        for i in range(n):
            i *= 2
            total += i
        y[item.get_global_id(0)] = 1000 * total + i

    assert results(k, 10) == [90_018] * COUNT


def test_continue_and_break_in_nested_loops() -> None:
    @kernel
    def k(item: nd_item[1], n: int, y: ptr[int32]):
        total = 0
        for i in range(n):
            if i % 3 == 1:
                continue
            j = 0
            while j < n:
                j += 1
                if j == 2:
                    continue
                if j > i:
                    break
                total += 10 * i + j
            if i == 7:
                break
        y[item.get_global_id(0)] = total

    total = sum(10 * i + j for i in (0, 2, 3, 5, 6) for j in range(1, i + 1) if j != 2)
    assert results(k, 7) == [total] * COUNT


def test_break_and_continue_in_an_unrolled_loop_with_known_conditions() -> None:
    @kernel
    def k(item: nd_item[1], y: ptr[int32]):
        found = [0] * 6
        for i in range(6):
            if i == 1:
                continue
            if i == 4:
                break
            found[i] = i + 1
        y[item.get_global_id(0)] = sum([10**j * found[j] for j in range(6)])

    assert results(k) == [4301] * COUNT


def test_returning_early() -> None:
    @kernel
    def k(item: nd_item[1], y: ptr[int32]):
        i = item.get_global_id(0)
        if i > 10:
            return
        for j in range(i):
            if j == 5:
                y[i] = -1
                return
        y[i] = 1

    assert results(k) == [1] * 6 + [-1] * 5 + [0] * 5


def test_a_known_condition_decides_what_is_compiled() -> None:
    is_fast = False

    @kernel
    def k(item: nd_item[1], y: ptr[int32]):
        if is_fast:
            y[0] = undefined_in_this_file()  # noqa: F821
        else:
            y[item.get_global_id(0)] = 2 if not is_fast else also_undefined  # noqa: F821

    assert results(k) == [2] * COUNT


def test_chained_comparisons_evaluate_each_operand_once_and_only_as_needed() -> None:
    @kernel
    def k(item: nd_item[1], x: ptr[int32], n: int, y: ptr[int32]):
        i = int(item.get_global_id(0))
        y[i] = (3 <= i < n) + 10 * (n > i >= 0 != i) + 100 * (i < 4 and 0 <= i < 4 < x[i] < 8)

    x = np.arange(3, 7, dtype=np.int32)  # the others have no element of it
    assert results(k, x, 10) == [(3 <= i < 10) + 10 * (10 > i >= 0 != i) + 100 * (i < 4 and 4 < i + 3 < 8)
                                 for i in range(COUNT)]


def test_and_or_and_ternaries_do_not_evaluate_what_is_not_needed() -> None:
    @kernel
    def k(item: nd_item[1], x: ptr[int32], n: int, y: ptr[int32]):
        i = int(item.get_global_id(0))
        first = i < n and x[i] > 1
        second = i >= n or x[i] > 1
        third = x[i] if i < n else -1
        y[i] = first + 10 * second + 100 * third

    x = np.array([0, 1, 2, 3], np.int32)
    assert results(k, x, 4) == [0, 100, 211, 311, *[-90] * 12]


@pytest.mark.parametrize("text", ["x[i] > 1 and i < n", "i < n or x[i]"])
def test_the_other_side_is_evaluated_where_it_is_needed(text: str, tmp_path) -> None:
    path = tmp_path / "k.py"
    path.write_text("from coopmat.sycl import *\n@kernel\n"
                    "def k(item: nd_item[1], x: ptr[int32], n: int, y: ptr[int32]):\n"
                    f"    i = int(item.get_global_id(0))\n    y[i] = 1 if {text} else 0\n")
    names: dict = {}
    exec(compile(path.read_text(), path, "exec"), names)
    with pytest.raises(cm.OutOfBounds):
        results(names["k"], np.zeros(4, np.int32), 4)


def test_boolean_variables_and_numbers_as_conditions() -> None:
    @kernel
    def k(item: nd_item[1], f: float32, u: uint32, y: ptr[int32]):
        i = item.get_global_id(0)
        flag = True
        flag = flag and i > 2
        flag = not flag or i == 5
        y[i] = (10 if flag else 20) + (1 if f else 2) + (100 if u and not i else 200)

    for f, u in ((0.0, 0), (-0.5, 1), (0.25, 2**31)):
        expected = [(10 if i <= 2 or i == 5 else 20) + (1 if f else 2) + (100 if u and not i else 200)
                    for i in range(COUNT)]
        assert results(k, f, u) == expected


def test_membership() -> None:
    primes = (2, 3, 5, 7, 11, 13)

    @kernel
    def k(item: nd_item[1], n: int, y: ptr[int32]):
        i = int(item.get_global_id(0))
        y[i] = (i in primes) + 10 * (i not in [n, n + 1]) + 100 * (3 in primes) + 1000 * (i in range(1, 9, 3))

    assert results(k, 4) == [(i in primes) + 10 * (i not in (4, 5)) + 100 + 1000 * (i in (1, 4, 7))
                             for i in range(COUNT)]
