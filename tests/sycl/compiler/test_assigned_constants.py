"""A constant is one where it is assigned on every way; elsewhere it is a variable of the kernel, or refused."""

from __future__ import annotations

import numpy as np
import pytest

import coopmat as cm
from coopmat.sycl import float32, half, int32, kernel, layout, nd_item, ptr
from tests.kit.sycl.language import COUNT, error_of, results


def warnings_of(k) -> list[str]:
    return [warning.message for warning in cm.build(k).warnings]


MISSING = "may have no value here: not every way to this place assigns it; give it one before"


def test_a_constant_of_a_branch_is_a_variable_behind_it() -> None:
    @kernel
    def k(item: nd_item[1], n: int, y: ptr[int32]):
        i = item.get_global_id(0)
        if n > 3:
            w = 4
        else:
            y[i] = 7
            return
        y[i] = w

    assert results(k, 5) == [4] * COUNT
    assert results(k, 1) == [7] * COUNT
    assert warnings_of(k) == []


def test_a_constant_that_only_some_ways_assign_is_warned_about() -> None:
    @kernel
    def in_branch(item: nd_item[1], n: int, y: ptr[int32]):
        if n > 3:
            w = 4
        y[item.get_global_id(0)] = w

    @kernel
    def in_loop(item: nd_item[1], n: int, y: ptr[int32]):
        for _ in range(n):
            w = 4
        y[item.get_global_id(0)] = w

    @kernel
    def in_list(item: nd_item[1], n: int, y: ptr[int32]):
        while n > 3:
            w = [4, 5]
            n -= 1
        y[item.get_global_id(0)] = w[1]

    for k in (in_branch, in_loop, in_list):
        assert warnings_of(k) == [f"'w' {MISSING}"]
    with pytest.warns(cm.CompileWarning, match="'w' may have no value"):
        assert results(in_branch, 9) == [4] * COUNT
    with pytest.warns(cm.CompileWarning, match="'w' may have no value"):
        assert results(in_list, 9) == [5] * COUNT


def test_what_cannot_be_a_variable_must_be_assigned_on_every_way() -> None:
    @kernel
    def k(item: nd_item[1], n: int, y: ptr[int32]):
        if n > 3:
            order = layout.row_major
        y[0] = order == layout.col_major

    code, message, _ = error_of(k)
    assert (code, message.split(":")[0]) == ("CM6068", "'order' may have no value here")

    @kernel
    def every(item: nd_item[1], n: int, y: ptr[int32]):
        i = item.get_global_id(0)
        if n > 3:
            order = layout.row_major
        elif n < 1:
            return
        else:
            order = layout.row_major
        y[i] = order == layout.row_major

    assert results(every, 2) == [1] * COUNT


def test_what_a_known_condition_chooses_stays_a_constant() -> None:
    is_wide = True

    @kernel
    def k(item: nd_item[1], y: ptr[int32]):
        if is_wide:
            size = 3
        else:
            size = 1
        values = [0] * size
        for j in range(size):
            values[j] = j * j
        y[item.get_global_id(0)] = values[size - 1] + len(values)

    assert results(k) == [7] * COUNT


def test_a_constant_that_is_not_reached_is_not_assigned() -> None:
    unused = False

    @kernel
    def k(item: nd_item[1], y: ptr[int32]):
        if unused:
            w = 1
        y[0] = w

    assert error_of(k)[0] == "CM6021"

    @kernel
    def no_round(item: nd_item[1], y: ptr[int32]):
        for value in ():
            w = value
        y[0] = w

    assert error_of(no_round)[0] == "CM6021"


def test_a_constant_inside_of_its_branch_keeps_what_constants_have() -> None:
    """Its type is that of what it meets, and it can be a size."""
    @kernel
    def k(item: nd_item[1], n: int, x: half, y: ptr[float32]):
        i = item.get_global_id(0)
        if n > 3:
            tenth, size = 0.1, 2
            values = [x * tenth] * size
            y[i] = values[size - 1]

    expected = float(np.float16(3) * np.float16(0.1))
    assert results(k, 5, 3.0, dtype=np.float32) == [expected] * COUNT


def test_an_annotated_variable_has_no_value_before_it_is_assigned() -> None:
    @kernel
    def k(item: nd_item[1], n: int, y: ptr[int32]):
        x: int32
        if n > 3:
            x = 1
        y[0] = x

    assert warnings_of(k) == [f"'x' {MISSING}"]


def test_a_constant_assigned_in_a_loop_that_is_unrolled_holds_behind_it() -> None:
    @kernel
    def k(item: nd_item[1], y: ptr[int32]):
        for step in (2, 4):
            width = step * 2
        y[item.get_global_id(0)] = [1, 2, 3, 4, 5, 6, 7, 8, 9][width]

    assert results(k) == [9] * COUNT
    assert warnings_of(k) == []
