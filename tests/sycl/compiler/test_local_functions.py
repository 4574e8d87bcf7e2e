"""What functions inside of a kernel read and change: memory that the kernel captures, lists of the kernel."""

from __future__ import annotations

import numpy as np

import coopmat as cm
from coopmat.sycl import (
    float32,
    group_barrier,
    joint_matrix,
    joint_matrix_apply,
    joint_matrix_fill,
    joint_matrix_load,
    joint_matrix_store,
    kernel,
    layout,
    local_accessor,
    malloc_shared,
    nd_item,
    nd_range,
    plus,
    ptr,
    reduce_over_group,
    sub_group,
    use,
)
from tests.kit.lenient import lenient

q = cm.Queue(lenient("sim:intel_gpu_pvc"))
BIAS = np.arange(16, dtype=np.float32)


def test_a_lambda_reads_an_array_that_the_kernel_captures() -> None:
    shared = malloc_shared[float32](16, q)
    shared[:] = 2

    @kernel(sub_group_size=16)
    def add_bias(item: nd_item[1], C: ptr[float32]):
        sg = item.get_sub_group()
        tile = joint_matrix(sub_group, float32, use.accumulator, 8, 16)
        joint_matrix_fill(sg, tile, 1)
        joint_matrix_apply(sg, tile, lambda x, row, column: x + BIAS[column] * shared[column])
        joint_matrix_store(sg, tile, C, 16, layout.row_major)

    C = np.zeros((8, 16), np.float32)
    q.parallel_for(nd_range(16, 16), add_bias, C).wait()
    assert (C == 1 + 2 * BIAS).all()


def test_functions_in_functions_read_and_write_captured_memory() -> None:
    local = local_accessor[float32](16)

    @kernel(sub_group_size=16)
    def add_twice(item: nd_item[1], C: ptr[float32]):
        sg = item.get_sub_group()
        tile = joint_matrix(sub_group, float32, use.accumulator, 8, 16)
        joint_matrix_fill(sg, tile, 1)

        def keep(i):
            local[i] = BIAS[i]

        def add(x, column):
            inner = lambda y: y + BIAS[column] + local[column]  # noqa: E731
            return inner(x)

        keep(item.get_local_id(0))
        group_barrier(item.get_group())
        joint_matrix_apply(sg, tile, lambda x, row, column: add(x, column))
        joint_matrix_store(sg, tile, C, 16, layout.row_major)

    C = np.zeros((8, 16), np.float32)
    q.parallel_for(nd_range(16, 16), add_twice, C).wait()
    assert (C == 1 + 2 * BIAS).all()


def test_a_list_of_constants_that_only_a_local_function_changes() -> None:
    @kernel(sub_group_size=16)
    def total(item: nd_item[1], C: ptr[float32], result: ptr[float32]):
        sg = item.get_sub_group()
        tile = joint_matrix(sub_group, float32, use.accumulator, 8, 16)
        joint_matrix_load(sg, tile, C, 16, layout.row_major)
        mine = [0.0]

        def add(x):
            mine[0] += x

        joint_matrix_apply(sg, tile, add)
        result[0] = reduce_over_group(sg, mine[0], plus())

    C, result = np.arange(128, dtype=np.float32), np.zeros(1, np.float32)
    q.parallel_for(nd_range(16, 16), total, C, result).wait()
    assert result[0] == C.sum()
