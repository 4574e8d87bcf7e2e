"""Spellings of the porting table in docs/joint-matrix.md that no other test writes as the table does."""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np

from coopmat.sycl import (
    access,
    any_of_group,
    atomic_fence,
    atomic_ref,
    clamp,
    exp,
    float32,
    group_barrier,
    group_broadcast,
    group_local_memory_for_overwrite,
    half_precision,
    inclusive_scan_over_group,
    int32,
    joint_matrix,
    joint_matrix_apply,
    joint_matrix_fill_checked,
    joint_matrix_load,
    joint_matrix_load_checked,
    joint_matrix_store,
    joint_matrix_store_checked,
    kernel,
    layout,
    local_accessor,
    memory_order,
    memory_scope,
    multi_ptr,
    native,
    nd_item,
    nd_range,
    plus,
    ptr,
    queue,
    sub_group,
    use,
)
from tests.kit.lenient import lenient

q = queue(lenient("sim:intel_gpu_pvc"))
config = SimpleNamespace(rows=3, scale=2.5)
accumulator = joint_matrix[sub_group, float32, use.accumulator, 8, 16]


def square(i):
    return i * i


@kernel
def numbers_and_pointers(it: nd_item[1], out: ptr[int32], p: multi_ptr[
        float32, access.address_space.global_space, access.decorated.no]):
    squares = [square(i) for i in range(4)]
    p.get()[0], p.get_raw()[1], p.get_decorated()[2] = 1.5, config.scale, native.exp(1.0)
    p[3], p[4] = half_precision.exp(1.0), math.exp(1.0)
    p[5], p[6], p[7] = np.exp(p[0]), exp(p[0]), pow(p[0], 2)
    for i, value in enumerate([squares[3], (p + 5) - p, config.rows, clamp(7, 1, 5), round(p[1]), max(1, 4, abs(-3))]):
        out[i] = value


def test_numbers_and_pointers() -> None:
    out, p = np.zeros(6, np.int32), np.zeros(8, np.float32)
    q.parallel_for(nd_range(1, 1), numbers_and_pointers, out, p).wait()
    assert out.tolist() == [9, 5, 3, 5, 2, 4]
    np.testing.assert_allclose(p, [1.5, 2.5, math.e, math.e, math.e, math.exp(1.5), math.exp(1.5), 2.25], rtol=1e-3)


tile = local_accessor[float32, 2]((8, 16))


@kernel(work_group_size=(1, 16))
def local_memory(it: nd_item[2], out: ptr[float32]):
    i, sg = it.get_local_id(1), it.get_sub_group()
    for row in range(8):
        tile[row, i] = 16 * row + i
    copy = group_local_memory_for_overwrite[float32, 8, 16](it.get_group())
    group_barrier(it.get_group())
    group_barrier(sg, memory_scope.device)
    c = accumulator()
    joint_matrix_load(sg, c, tile.get_multi_ptr(), 16, layout.row_major)
    joint_matrix_store(sg, c, copy, 16, layout.row_major)
    group_barrier(it.get_group())
    out[i] = copy[1, i]
    out[i + 16] = copy[7][i]


def test_local_memory() -> None:
    out = np.zeros(32, np.float32)
    q.parallel_for(nd_range((1, 16), (1, 16)), local_memory, out).wait()
    assert out.tolist() == [*range(16, 32), *range(112, 128)]


@kernel(sub_group_size=16)
def checked(it: nd_item[1], source: ptr[float32], target: ptr[float32]):
    sg = it.get_sub_group()
    c, d = accumulator(), accumulator()
    joint_matrix_load_checked(sg, c, source, 12, layout.row_major, 5, 12, 0, 0)
    joint_matrix_fill_checked(sg, d, 100, 8, 4, 0, 0)

    def move(x, y):
        y += x
        x = 0

    joint_matrix_apply(sg, c, d, move)
    joint_matrix_apply(sg, d, lambda x, row, col: x + 1000 * (row == col))
    joint_matrix_store_checked(sg, d, target, 12, layout.row_major, 6, 12, 0, 0)


def test_checked_operations_and_both_forms_of_apply() -> None:
    source, target = np.arange(60, dtype=np.float32), np.full(96, -1, np.float32)
    q.parallel_for(nd_range(16, 16), checked, source, target).wait()
    expected = np.zeros((6, 12))
    expected[:5] = source.reshape(5, 12)
    expected[:, :4] += 100
    expected[range(6), range(6)] += 1000
    assert target.tolist() == [*expected.ravel(), *[-1] * 24]


@kernel(sub_group_size=16)
def groups(it: nd_item[1], out: ptr[int32]):
    i, sg = it.get_local_id(0), it.get_sub_group()
    counter = atomic_ref[int32, memory_order.relaxed, memory_scope.device](out[0])
    counter += 2
    counter.fetch_max(0)
    old = counter.load()
    while not counter.compare_exchange_weak(old, old + 5):
        old = counter.load()
    atomic_fence(memory_order.acq_rel, memory_scope.work_group)
    out[1 + i] = inclusive_scan_over_group(sg, 1, plus())
    if sg.leader():
        out[17] = sg.get_local_range()[0]
    out[18] = any_of_group(it.get_group(), i == 3)
    out[19] = group_broadcast(sg, int32(i), 5)


def test_groups() -> None:
    out = np.zeros(20, np.int32)
    q.parallel_for(nd_range(16, 16), groups, out).wait()
    assert out.tolist() == [16 * (2 + 5), *range(1, 17), 16, 1, 5]
