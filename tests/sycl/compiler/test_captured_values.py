"""What kernels and helpers capture: every closure its own values, types in annotations, layouts as arguments."""

from __future__ import annotations

import re

import numpy as np
import pytest

import coopmat as cm
from coopmat.sycl import (
    int32,
    int64,
    joint_matrix,
    joint_matrix_load,
    joint_matrix_store,
    kernel,
    layout,
    nd_item,
    nd_range,
    ptr,
    sub_group,
    uint32,
    use,
)
from tests.kit.sycl.annotated import incremented

q = cm.Queue("sim:intel_gpu_pvc")


def scaled_by(factor: int):
    def scaled(x):
        return x * factor
    return scaled


def sum_of(first, second, third):
    @kernel(sub_group_size=16)
    def kernel_of_sum(item: nd_item[1], A: ptr[int32]):
        i = item.get_global_id(0)
        A[i] = first(A[i]) + second(A[i]) * 100 + third(A[i]) * 10000
    return kernel_of_sum


def test_helpers_of_one_definition_keep_their_own_values() -> None:
    array = np.ones(16, np.int32)
    q.parallel_for(nd_range(16, 16), sum_of(scaled_by(2), scaled_by(3), scaled_by(4)), array).wait()
    assert array.tolist() == [40302] * 16


def test_functions_that_matrices_are_given_to_keep_their_own_values() -> None:
    from coopmat.sycl import joint_matrix_apply, joint_matrix_fill

    double, triple = scaled_by(2), scaled_by(3)

    @kernel(sub_group_size=16)
    def apply_both(item: nd_item[1], A: ptr[int32]):
        sg = item.get_sub_group()
        m = joint_matrix(sub_group, int32, use.accumulator, 8, 16)
        joint_matrix_fill(sg, m, 1)
        joint_matrix_apply(sg, m, double)
        joint_matrix_apply(sg, m, triple)
        joint_matrix_store(sg, m, A, 16, layout.row_major)

    array = np.zeros(128, np.int32)
    q.parallel_for(nd_range(16, 16), apply_both, array).wait()
    assert array.tolist() == [6] * 128


def test_the_key_tells_helpers_of_one_definition_apart() -> None:
    two, three, other_three = scaled_by(2), scaled_by(3), scaled_by(3)
    assert sum_of(two, three, two).key() != sum_of(two, three, three).key()
    assert sum_of(two, three, two).key() != sum_of(two, scaled_by(4), two).key()
    assert sum_of(two, three, two).key() == sum_of(two, other_three, two).key()


@pytest.mark.parametrize("dtype", [np.int8, np.uint16, np.float32])
def test_a_type_that_only_annotations_name(dtype: type) -> None:
    array = np.arange(16, dtype=dtype)
    q.parallel_for(nd_range(16, 16), incremented(dtype), array, 2).wait()
    assert array.tolist() == list(range(2, 18))


@kernel(sub_group_size=16)
def transposed(item: nd_item[1], A: ptr[int32], B: ptr[int32], order: layout):
    def stored(given):
        joint_matrix_store(item.get_sub_group(), m, B, 8 if given == layout.col_major else 16, given)

    m = joint_matrix(sub_group, int32, use.accumulator, 8, 16)
    joint_matrix_load(item.get_sub_group(), m, A, 16 if order != layout.col_major else 8, order)
    stored(layout.col_major if order == layout.row_major else layout.row_major)


@pytest.mark.parametrize("order", [layout.dynamic, 0, 99, "row_major", use.a, None])
def test_what_is_no_layout_of_memory(order: object) -> None:
    array = np.zeros(128, np.int32)
    expected = r"'order: layout' of kernel 'transposed': expected layout\.row_major or layout\.col_major; found"
    with pytest.raises(cm.LaunchError, match=expected):
        q.parallel_for(nd_range(16, 16), transposed, array, array, order)


def test_a_layout_is_no_number() -> None:
    @kernel
    def number(item: nd_item[1], A: ptr[int32], n: int32):
        A[0] = n

    with pytest.raises(cm.LaunchError, match=r"expected a number, found layout\.row_major"):
        q.parallel_for(nd_range(1, 1), number, np.zeros(1, np.int32), layout.row_major)


@pytest.mark.parametrize("order", [layout.row_major, layout.col_major])
def test_a_layout_as_an_argument(order: layout) -> None:
    given, found = np.arange(128, dtype=np.int32), np.zeros(128, np.int32)
    q.parallel_for(nd_range(16, 16), transposed, given, found, order).wait()
    shape = (8, 16) if order is layout.row_major else (16, 8)
    assert (found.reshape(shape[::-1]) == given.reshape(shape).T).all()


@kernel(sub_group_size=16)
def chosen_before(item: nd_item[1], A: ptr[int32], B: ptr[int32], n: int32):
    m = joint_matrix(sub_group, int32, use.accumulator, 8, 16)
    order = layout.row_major if n > 0 else layout.col_major
    n = -n
    joint_matrix_load(item.get_sub_group(), m, A, 16 if order == layout.row_major else 8, order)
    joint_matrix_store(item.get_sub_group(), m, B, 16, layout.row_major)


@pytest.mark.parametrize("n", [1, -1])
def test_a_layout_stays_what_it_was_when_it_was_assigned(n: int) -> None:
    given, found = np.arange(128, dtype=np.int32), np.zeros((8, 16), np.int32)
    q.parallel_for(nd_range(16, 16), chosen_before, given, found, n).wait()
    assert (found == (given.reshape(8, 16) if n > 0 else given.reshape(16, 8).T)).all()


@kernel
def with_default(item: nd_item[1], A: ptr[int32], n: int32 = 7, m: int = 3):
    A[0] = n * 10 + m


@pytest.mark.parametrize(("given", "expected"), [((), 73), ((1,), 13), ((1, 2), 12)])
def test_parameters_with_defaults_may_be_left_out(given: tuple[int, ...], expected: int) -> None:
    array = np.zeros(1, np.int32)
    q.parallel_for(nd_range(1, 1), with_default, array, *given).wait()
    assert array[0] == expected


@pytest.mark.parametrize("given", [(), (np.zeros(1, np.int32), 1, 2, 7)])
def test_the_number_of_arguments(given: tuple[object, ...]) -> None:
    wrong = "7 is too much" if given else "'A' has no value"
    expected = (f"kernel 'with_default' takes 3 arguments after its nd_item, found {len(given)}: {wrong}: "
                "with_default(A: ptr[int32], n: int32 = 7, m: int = 3)")
    with pytest.raises(cm.LaunchError, match=f"^{re.escape(expected)}$"):
        q.parallel_for(nd_range(1, 1), with_default, *given)


def test_arguments_are_named_as_in_python() -> None:
    expected = "argument 0 of kernel 'with_default' (A: ptr[int32]): expected an array of int32 or uint32"
    with pytest.raises(cm.LaunchError, match=re.escape(expected)):
        q.parallel_for(nd_range(1, 1), with_default, np.zeros(1))


@pytest.mark.parametrize("T", [int32, int64])
def test_a_variable_that_is_assigned_one_constant_is_a_matrix_size(T: object) -> None:
    @kernel(sub_group_size=16)
    def sized(item: nd_item[1], A: ptr[int32]):
        rows, columns = 8, 16 if T in (int32, uint32) else 32
        height = rows
        doubled = height * 2 // 2
        tile = joint_matrix(sub_group, int32, use.accumulator, doubled, columns)
        joint_matrix_load(item.get_sub_group(), tile, A, columns, layout.row_major)
        joint_matrix_store(item.get_sub_group(), tile, A, max(height, 4), layout.col_major)

    size = 16 if T is int32 else 32
    array = np.arange(8 * size, dtype=np.int32)
    cm.Queue("sim:generic").parallel_for(nd_range(16, 16), sized, array).wait()
    assert (array.reshape(size, 8) == np.arange(8 * size).reshape(8, size).T).all()
