"""How loops end: ``else``, and ``break`` and ``continue`` out of loops that are unrolled, as in Python."""

from __future__ import annotations

import numpy as np
import pytest

import coopmat as cm
from coopmat.sycl import int32, kernel, nd_item, ptr
from tests.kit.sycl.language import COUNT, error_of, results

ITEMS = range(COUNT)


def test_for_else_over_a_range() -> None:
    @kernel
    def k(item: nd_item[1], n: int, y: ptr[int32]):
        key = int(item.get_global_id(0))
        for i in range(n):
            if i * i == key:
                found = i
                break
        else:
            found = -1
        y[key] = found

    def expected(key: int, n: int) -> int:
        return next((i for i in range(n) if i * i == key), -1)

    for n in (0, 3, 10):
        assert results(k, n) == [expected(key, n) for key in ITEMS]
    assert cm.build(k).warnings == []


def test_while_else() -> None:
    @kernel
    def k(item: nd_item[1], y: ptr[int32]):
        i = int(item.get_global_id(0))
        left = i
        steps = 0
        while left > 1:
            if left % 7 == 0:
                steps += 100
                break
            if left % 2:
                left -= 1
                continue
            left //= 2
            steps += 1
        else:
            steps = -steps
        y[i] = steps

    def expected(left: int) -> int:
        steps = 0
        while left > 1:
            if left % 7 == 0:
                steps += 100
                break
            if left % 2:
                left -= 1
                continue
            left //= 2
            steps += 1
        else:
            steps = -steps
        return steps

    assert results(k) == [expected(i) for i in ITEMS]


def test_else_without_break_and_of_conditions_that_are_known() -> None:
    @kernel
    def k(item: nd_item[1], n: int, y: ptr[int32]):
        i = item.get_global_id(0)
        total = 0
        for j in range(n):
            total += j
        else:
            total *= 2
        while False:
            total = 0
        else:
            total += 1
        while True:
            total += 10
            if total > 30:
                break
        else:
            total = undefined_name  # noqa: F821 (never compiled)
        y[i] = total

    assert results(k, 4) == [33] * COUNT


def test_a_break_in_an_else_leaves_the_loop_around() -> None:
    @kernel
    def k(item: nd_item[1], y: ptr[int32]):
        i = int(item.get_global_id(0))
        number = 2
        while True:
            for divisor in range(2, number):
                if number % divisor == 0:
                    break
            else:
                if number >= i:
                    break
            number += 1
        y[i] = number

    def next_prime(i: int) -> int:
        return next(n for n in range(max(i, 2), 100) if all(n % d for d in range(2, n)))

    assert results(k) == [next_prime(i) for i in ITEMS]


@pytest.mark.parametrize("device", ["sim:generic", "cpu"])
def test_jumps_out_of_copies_of_an_unrolled_loop(device: str) -> None:
    """Every way through a loop over a list: continue, break, both, and else."""
    @kernel
    def k(item: nd_item[1], y: ptr[int32]):
        i = int(item.get_global_id(0))
        values = [i, i % 3, i % 5, 7]
        total = 0
        for place, value in enumerate(values):
            if value == 2:
                continue
            if value > 10:
                total += 1000
                break
            for other in values[place:]:
                if other == 1:
                    break
                total += other
            else:
                total += 100
            total += 10 * value
        else:
            total = -total
        y[i] = total * 10 + place

    def expected(i: int) -> int:
        values, total = [i, i % 3, i % 5, 7], 0
        for place, value in enumerate(values):
            if value == 2:
                continue
            if value > 10:
                total += 1000
                break
            for other in values[place:]:
                if other == 1:
                    break
                total += other
            else:
                total += 100
            total += 10 * value
        else:
            total = -total
        return total * 10 + place

    found = np.zeros(COUNT, np.int32)
    cm.Queue(device).parallel_for(cm.sycl.nd_range(COUNT, COUNT), k, found).wait()
    assert found.tolist() == [expected(i) for i in ITEMS]


def test_a_search_in_a_list_of_known_length() -> None:
    @kernel
    def k(item: nd_item[1], y: ptr[int32]):
        i = int(item.get_global_id(0))
        for limit in (3, 5, 9):
            if i < limit:
                break
        else:
            limit = 100
        y[i] = limit

    assert results(k) == [next((limit for limit in (3, 5, 9) if i < limit), 100) for i in ITEMS]


def test_a_matrix_list_is_walked_with_jumps() -> None:
    from coopmat.sycl import (
        joint_matrix,
        joint_matrix_fill,
        joint_matrix_store,
        layout,
        nd_range,
        queue,
        sub_group,
        use,
    )

    @kernel(sub_group_size=16)
    def k(item: nd_item[1], n: int, y: ptr[int32]):
        sg = item.get_sub_group()
        tiles = [joint_matrix(sub_group, int32, use.accumulator, 8, 16) for _ in range(4)]
        for i, tile in enumerate(tiles):
            if i == 2 and n > 5:
                continue
            if i >= n:
                break
            joint_matrix_fill(sg, tile, i + 1)
            joint_matrix_store(sg, tile, y + 128 * i, 16, layout.row_major)

    for n, expected in ((1, [1, 0, 0, 0]), (3, [1, 2, 3, 0]), (6, [1, 2, 0, 4])):
        found = np.zeros((4, 128), np.int32)
        queue("sim:intel_gpu_pvc").parallel_for(nd_range(16, 16), k, n, found).wait()
        assert found[:, 0].tolist() == expected
        assert (found == found[:, :1]).all()


def test_what_a_copy_names_is_not_known_behind_a_loop_that_is_left() -> None:
    @kernel
    def k(item: nd_item[1], y: ptr[int32]):
        for value in (y[0], y[1]):
            kind = int32
            if value:
                break
        y[2] = kind(3.5)

    assert error_of(k)[0] == "CM6068"


def test_the_values_of_a_loop_are_those_when_the_step_began() -> None:
    @kernel
    def k(item: nd_item[1], y: ptr[int32]):
        i = int(item.get_global_id(0))
        values = [i, i + 1, i + 2]
        total = 0
        for value in values:
            values[0] += 10
            values[2] += 1
            total = total * 100 + value
        y[i] = total

    def expected(i: int) -> int:
        values, total = [i, i + 1, i + 2], 0
        for value in values:
            values[0] += 10
            values[2] += 1
            total = total * 100 + value
        return total

    assert results(k) == [expected(i) for i in ITEMS]
