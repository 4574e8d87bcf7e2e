"""Objects that can be called, as the functions of joint_matrix_apply and as helpers; values that may be missing."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

import coopmat as cm
from coopmat.sycl import (
    float32,
    joint_matrix,
    joint_matrix_apply,
    joint_matrix_load,
    joint_matrix_store,
    kernel,
    layout,
    nd_item,
    nd_range,
    ptr,
    queue,
    sub_group,
    use,
)


@dataclass
class Scale:
    """A function object: C++'s class with operator()."""

    factor: float

    def __call__(self, x):
        return x * self.factor + self.offset()

    def offset(self):
        return self.factor / 2

    def add_to(self, x):
        return x + self.factor


class Plain:
    """Not a dataclass: its state is an attribute."""

    def __init__(self, step: int) -> None:
        self.step = step

    def __call__(self, x, row, col):
        return x + row * self.step + col


def applied(function):
    @kernel(sub_group_size=16)
    def apply(item: nd_item[1], A: ptr[float32]):
        sg = item.get_sub_group()
        m = joint_matrix(sub_group, float32, use.accumulator, 8, 16)
        joint_matrix_load(sg, m, A, 16, layout.row_major)
        joint_matrix_apply(sg, m, function)
        joint_matrix_store(sg, m, A, 16, layout.row_major)

    values = np.arange(128, dtype=np.float32).reshape(8, 16)
    queue("sim:intel_gpu_pvc").parallel_for(nd_range(16, 16), apply, values).wait()
    return values


X = np.arange(128, dtype=np.float32).reshape(8, 16)


def test_an_object_with_a_call_operator() -> None:
    np.testing.assert_array_equal(applied(Scale(2.0)), X * 2 + 1)
    np.testing.assert_array_equal(applied(Scale(3.0)), X * 3 + 1.5)


def test_a_bound_method() -> None:
    np.testing.assert_array_equal(applied(Scale(2.0).add_to), X + 2)
    np.testing.assert_array_equal(applied(Scale(5.0).add_to), X + 5)


def test_an_object_that_takes_coordinates() -> None:
    np.testing.assert_array_equal(applied(Plain(10)), X + 10 * np.arange(8)[:, None] + np.arange(16))


def test_an_object_as_a_helper() -> None:
    scale = Scale(4.0)

    @kernel
    def called(item: nd_item[1], A: ptr[float32]):
        i = item.get_global_id(0)
        A[i] = scale(A[i]) + scale.add_to(1.0)

    values = np.arange(16, dtype=np.float32)
    queue("sim:generic").parallel_for(nd_range(16, 16), called, values).wait()
    np.testing.assert_array_equal(values, np.arange(16) * 4 + 2 + 5)


def test_a_class_is_no_function_of_elements() -> None:
    with pytest.raises(cm.CompileError, match="'Plain' cannot be called in a kernel; pass numbers to the kernel"):
        applied(Plain)


@kernel
def may_be_missing(item: nd_item[1], A: ptr[float32], n: int):
    if n > 3:
        v = A[1]
    A[0] = v


def test_a_launch_passes_warnings_on() -> None:
    with pytest.warns(cm.CompileWarning, match="'v' may have no value here") as caught:
        queue("sim:generic").parallel_for(nd_range(1, 1), may_be_missing, np.ones(4, np.float32), 5).wait()
    assert caught[0].filename == __file__


def warnings_of(function) -> list[str]:
    return [warning.message for warning in cm.build(kernel(function)).warnings]


def test_values_that_are_always_there() -> None:
    def both_sides(item: nd_item[1], A: ptr[float32], n: int):
        if n > 3:
            v = A[1]
        elif n == 0:
            return
        else:
            v = A[2]
        A[0] = v

    def loop_that_runs(item: nd_item[1], A: ptr[float32]):
        for i in range(3):
            v = A[i]
        A[0] = v

    def endless_loop(item: nd_item[1], A: ptr[float32]):
        while True:
            v = A[1]
            if v > 3:
                break
        A[0] = v

    def skipped(item: nd_item[1], A: ptr[float32], n: int):
        for i in range(n):
            if A[i] > 2:
                continue
            v = A[i]
            A[i + n] = v

    for function in (both_sides, loop_that_runs, endless_loop, skipped):
        assert warnings_of(function) == [], function.__name__


def test_values_that_may_be_missing() -> None:
    def short_loop(item: nd_item[1], A: ptr[float32], n: int):
        for i in range(n):
            v = A[i]
        A[0] = v

    def left_early(item: nd_item[1], A: ptr[float32]):
        for i in range(3):
            if A[i] > 2:
                break
            v = A[i]
        A[0] = v

    for function in (short_loop, left_early):
        assert warnings_of(function) == [
            "'v' may have no value here: not every way to this place assigns it; give it one before"], function.__name__
