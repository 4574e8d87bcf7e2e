"""Local memory: local accessors as captured variables and as parameters, and arrays that a kernel declares."""

from __future__ import annotations

import numpy as np
import pytest

import coopmat as cm
from coopmat.runtime.element_types import VALUE_TYPES, boolean
from coopmat.sycl import (
    atomic_ref,
    bfloat16,
    float32,
    group_barrier,
    group_local_memory_for_overwrite,
    int32,
    joint_matrix,
    joint_matrix_fill,
    joint_matrix_load,
    joint_matrix_mad,
    joint_matrix_store,
    kernel,
    layout,
    local_accessor,
    local_ptr,
    memory_order,
    memory_scope,
    nd_item,
    ptr,
    reduce_over_group,
    use,
)
from tests.kit.sycl.launches import DEVICES, launch, validate
from tests.kit.sycl.refused import Case, check, read_cases

ITEMS = 64
local = group_local_memory_for_overwrite

# ------------------------------------------------------------------ local accessors


@pytest.mark.parametrize("shape", [(64,), (8, 8), (2, 4, 8)], ids=str)
@pytest.mark.parametrize("device", DEVICES)
def test_captured_accessors_of_every_dimension(device: str, shape: tuple[int, ...]) -> None:
    """Each work-group reverses its elements; the last index is the fastest."""
    x = np.arange(2 * ITEMS, dtype=np.int32)
    out = np.zeros(2 * ITEMS, np.int32)
    tile = local_accessor[int32, len(shape)](shape)
    dimensions = len(shape)
    last, middle = shape[-1], shape[-2] if dimensions > 1 else 1

    @kernel
    def reverse(item: nd_item[1]):
        lane = item.get_local_linear_id()
        i = item.get_global_id(0)
        back = ITEMS - 1 - lane
        if dimensions == 1:
            tile[lane] = x[i]
        elif dimensions == 2:
            tile[lane // last, lane % last] = x[i]
        else:
            tile[lane // (middle * last), lane // last % middle, lane % last] = x[i]
        group_barrier(item.get_group())
        if dimensions == 1:
            out[i] = tile[back]
        elif dimensions == 2:
            out[i] = tile[back // last, back % last]
        else:
            out[i] = tile[back // (middle * last)][back // last % middle][back % last]

    launch(reverse, 2 * ITEMS, ITEMS, device=device)
    assert out.tolist() == x.reshape(2, ITEMS)[:, ::-1].reshape(-1).tolist()


def test_local_memory_as_arguments() -> None:
    """A local_accessor parameter, a local_ptr parameter, and what can be passed for each."""
    @kernel
    def rotate(item: nd_item[1], x: ptr[float32], a: local_accessor[float32, 1], b: local_ptr[float32]):
        lane = item.get_local_id(0)
        a[lane] = x[item.get_global_id(0)]
        group_barrier(item.get_group())
        b[(lane + 1) % ITEMS] = a[lane] * 2
        group_barrier(item.get_group())
        x[item.get_global_id(0)] = b[lane]

    for first, second in ((local_accessor[float32, 1](ITEMS), cm.local(4 * ITEMS)),
                          (cm.local(4 * ITEMS), local_accessor[float32, 1](ITEMS))):
        x = np.arange(2 * ITEMS, dtype=np.float32)
        launch(rotate, 2 * ITEMS, ITEMS, x, first, second)
        assert x.tolist() == (2 * np.roll(np.arange(2 * ITEMS).reshape(2, ITEMS), 1, axis=1)).reshape(-1).tolist()


def test_pointers_of_accessors() -> None:
    tile = local_accessor[int32, 2]((4, 16))
    out = np.zeros(ITEMS, np.int32)

    @kernel
    def k(item: nd_item[1]):
        lane = item.get_local_linear_id()
        tile[lane // 16, lane % 16] = int32(lane)
        group_barrier(item.get_group())
        flat = tile.get_multi_ptr()
        row = tile[2]
        other = row.get_pointer() + 1
        out[lane] = flat[lane] + 100 * row[lane % 16] + 10000 * other[lane % 15]

    launch(k, ITEMS, ITEMS)
    lanes = np.arange(ITEMS)
    assert out.tolist() == (lanes + 100 * (32 + lanes % 16) + 10000 * (33 + lanes % 15)).tolist()


def test_a_row_stays_where_it_was_taken() -> None:
    tile = local_accessor[int32, 2]((4, 4))
    out = np.zeros(2, np.int32)

    @kernel
    def k(item: nd_item[1]):
        for n in range(16):
            tile[n // 4, n % 4] = n
        i = 1
        row = tile[i]
        i = 3
        out[0] = row[0]
        out[1] = tile[i, 0]

    launch(k, 1, 1)
    assert out.tolist() == [4, 12]


# ------------------------------------------------------------------ arrays that a kernel declares


@pytest.mark.parametrize("element", [type_ for type_ in VALUE_TYPES if type_ is not boolean], ids=str)
def test_declared_arrays_of_every_type(element) -> None:
    x = np.arange(ITEMS).astype(element.dtype)
    out = np.zeros(ITEMS, element.dtype)

    @kernel
    def k(item: nd_item[1]):
        i = item.get_local_id(0)
        tile = local[element, ITEMS](item.get_group())
        tile[i] = x[i]
        group_barrier(item.get_group())
        out[i] = tile[ITEMS - 1 - i]

    launch(k, ITEMS, ITEMS)
    assert out.tolist() == x[::-1].tolist()


@pytest.mark.parametrize("device", DEVICES)
def test_declared_arrays_are_those_of_the_work_group(device: str) -> None:
    """Each work-group has its own; two declarations do not overlap; helpers have theirs and take the kernel's."""
    out = np.zeros((2, 4 * ITEMS), np.int32)

    def reversed_in_group(item, tile, value):
        lane = item.get_local_linear_id()
        own = local[int32, 2, 32](item.get_group())
        own[lane // 32, lane % 32] = value
        tile[lane] = value + 1000
        group_barrier(item.get_group())
        return own[1 - lane // 32, 31 - lane % 32]

    @kernel
    def k(item: nd_item[1]):
        i = item.get_global_id(0)
        lane = item.get_local_linear_id()
        tile = local[int32, ITEMS](item.get_group())
        out[i] = reversed_in_group(item, tile, int32(i))
        out[4 * ITEMS + i] = tile[lane ^ 1]

    launch(k, 4 * ITEMS, ITEMS, device=device)
    i = np.arange(4 * ITEMS)
    assert out[0].tolist() == (i // ITEMS * ITEMS + ITEMS - 1 - i % ITEMS).tolist()
    assert out[1].tolist() == ((i ^ 1) + 1000).tolist()


def test_one_element_and_atomics() -> None:
    out = np.zeros(4, np.int32)

    @kernel
    def k(item: nd_item[1]):
        count = local[int32](item.get_group())
        if item.get_group().leader():
            count[0] = 0
        group_barrier(item.get_group())
        total = atomic_ref[int32, memory_order.relaxed, memory_scope.work_group](count[0])
        total += int32(item.get_local_id(0))
        group_barrier(item.get_group())
        if item.get_group().leader():
            out[item.get_group(0)] = count[0]

    launch(k, 4 * ITEMS, ITEMS)
    assert out.tolist() == [ITEMS * (ITEMS - 1) // 2] * 4


def test_arrays_declared_in_loops_and_branches() -> None:
    out = np.zeros((3, ITEMS), np.int32)

    @kernel
    def k(item: nd_item[1], which: int32):
        lane = item.get_local_id(0)
        g = item.get_group()
        for n in range(2):
            tile = local[int32, ITEMS](g)
            tile[lane] = int32(lane) + 100 * n
            group_barrier(g)
            out[n * ITEMS + lane] = tile[lane ^ 3]
            group_barrier(g)
        if which == 1:
            other = local[int32, 4, 16](g)
            other[lane // 16, lane % 16] = int32(lane)
            group_barrier(g)
            out[2 * ITEMS + lane] = other[3 - lane // 16, lane % 16]

    launch(k, ITEMS, ITEMS, 1)
    lanes = np.arange(ITEMS)
    assert out.tolist() == [(lanes ^ 3).tolist(), ((lanes ^ 3) + 100).tolist(), (lanes ^ 48).tolist()]


def test_matrices_through_local_memory() -> None:
    """A tile of A is brought to local memory by all work-items and loaded from there."""
    random = np.random.default_rng(1)
    a, b = (random.integers(-3, 4, shape).astype(bfloat16) for shape in ((8, 16), (16, 16)))
    c = np.zeros((8, 16), np.float32)

    @kernel(sub_group_size=16)
    def product(item: nd_item[1], A: ptr[bfloat16], B: ptr[bfloat16], C: ptr[float32]):
        sg, lane = item.get_sub_group(), item.get_local_id(0)
        tile = local[bfloat16, 8, 16](item.get_group())
        sums = local[float32, 8, 16](item.get_group())
        for row in range(8):
            tile[row, lane] = A[row * 16 + lane]
        group_barrier(item.get_group())
        mA = joint_matrix(sg, bfloat16, use.a, 8, 16, layout.row_major)
        mB = joint_matrix(sg, bfloat16, use.b, 16, 16, layout.row_major)
        mC = joint_matrix(sg, float32, use.accumulator, 8, 16)
        joint_matrix_fill(sg, mC, 0)
        joint_matrix_load(sg, mA, tile, 16)
        joint_matrix_load(sg, mB, B, 16)
        joint_matrix_mad(sg, mC, mA, mB, mC)
        joint_matrix_store(sg, mC, sums, 16, layout.row_major)
        group_barrier(item.get_group())
        for row in range(8):
            C[row * 16 + lane] = sums[row, lane] + reduce_over_group(sg, sums[row, lane], cm.sycl.plus())

    launch(product, 16, 16, a, b, c, device="intel_gpu_pvc")
    exact = a.astype(np.float32) @ b.astype(np.float32)
    assert c.tolist() == (exact + exact.sum(1, keepdims=True)).tolist()


@pytest.mark.oracle("spirv-val")
def test_spirv_val_accepts_them(tmp_path) -> None:
    @kernel
    def k(item: nd_item[1], x: ptr[int32]):
        tile = local[int32, 4, 16](item.get_group())
        lane = item.get_local_id(0)
        tile[lane // 16, lane % 16] = x[lane]
        group_barrier(item.get_group())
        x[lane] = tile[3 - lane // 16][lane % 16]

    text = validate(k, tmp_path)
    assert "Workgroup" in text


# ------------------------------------------------------------------ errors


@pytest.mark.parametrize("case", read_cases("local_memory.txt"), ids=lambda case: case.text)
def test_a_message(case: Case) -> None:
    check(case)


def test_it_is_for_kernels_only() -> None:
    with pytest.raises(cm.Error, match="group_local_memory_for_overwrite is a device function"):
        local[int32, 4](None)
