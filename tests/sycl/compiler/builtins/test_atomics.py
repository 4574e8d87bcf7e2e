"""atomic_ref and atomic_fence: values on simulated devices, instructions, and what is refused."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import coopmat as cm
from coopmat.sycl import (
    access,
    atomic_fence,
    atomic_ref,
    float32,
    group_barrier,
    int32,
    kernel,
    local_accessor,
    memory_order,
    memory_scope,
    nd_item,
    ptr,
    uint32,
)
from tests.kit.sycl.launches import DEVICES, launch, validate
from tests.kit.sycl.refused import Case, check, read_cases

ITEMS = 64
INTEGERS = ("int32", "uint32", "int64", "uint64")
FLOATS = ("float32", "float64")
relaxed, device = memory_order.relaxed, memory_scope.device
global_space = access.address_space.global_space


def updating_kernel(element: str, x, cells):
    """Every work-item updates each cell with its element."""
    T = getattr(cm.sycl, element)

    @kernel
    def update(item: nd_item[1]):
        i = item.get_global_id(0)
        v = x[i]
        atomic_ref[T, relaxed, device](cells[0]).fetch_add(v)
        atomic_ref[T, relaxed, device, global_space](cells[1]).fetch_sub(v)
        atomic_ref[T, memory_order.acq_rel, memory_scope.system](cells[2]).fetch_min(v)
        atomic_ref[T, memory_order.seq_cst, memory_scope.work_group](cells[3]).fetch_max(v)
        plus = atomic_ref[T, relaxed, device](cells[4])
        plus += v
        minus = atomic_ref[T, relaxed, device](cells[5])
        minus -= v
    return update


@pytest.mark.parametrize("element", INTEGERS)
@settings(max_examples=5, deadline=None)
@given(data=st.data())
def test_updates_of_integers(element: str, data: st.DataObject) -> None:
    info = np.iinfo(element)
    number = st.integers(int(info.min), int(info.max))
    x = np.array(data.draw(st.lists(number, min_size=ITEMS, max_size=ITEMS)), element)
    start = data.draw(number)
    cells = np.full(9, start, element)
    T = getattr(cm.sycl, element)

    @kernel
    def bits(item: nd_item[1]):
        i = item.get_global_id(0)
        both = atomic_ref[T, relaxed, device](cells[6])
        either = atomic_ref[T, relaxed, device](cells[7])
        odd = atomic_ref[T, relaxed, device](cells[8])
        if i % 2 == 0:
            both.fetch_and(x[i])
            either.fetch_or(x[i])
            odd.fetch_xor(x[i])
        else:
            both &= x[i]
            either |= x[i]
            odd ^= x[i]

    launch(updating_kernel(element, x, cells), ITEMS, 16)
    launch(bits, ITEMS, 16)
    numbers = [int(v) for v in x]
    whole = sum(numbers)
    expected = [start + whole, start - whole, min(start, *numbers), max(start, *numbers), start + whole,
                start - whole, int(np.bitwise_and.reduce(x)) & start, int(np.bitwise_or.reduce(x)) | start,
                int(np.bitwise_xor.reduce(x)) ^ start]
    modulus = 1 << info.bits
    assert [int(v) % modulus for v in cells] == [v % modulus for v in expected]


@pytest.mark.parametrize("element", FLOATS)
@pytest.mark.parametrize("name", DEVICES)
def test_updates_of_floating_point_numbers(element: str, name: str) -> None:
    """Multiples of 1/8, whose sums are exact in every order."""
    x = (np.random.default_rng(1).integers(-80, 80, ITEMS) / 8).astype(element)
    cells = np.full(6, 0.25, element)
    launch(updating_kernel(element, x, cells), ITEMS, 64, device=name)
    whole = float(x.sum())
    assert cells.tolist() == [0.25 + whole, 0.25 - whole, min(0.25, x.min()), max(0.25, x.max()), 0.25 + whole,
                              0.25 - whole]


@pytest.mark.parametrize("name", DEVICES)
def test_former_values_are_all_different(name: str) -> None:
    counter, seen = np.zeros(1, np.uint32), np.zeros(4 * ITEMS, np.uint32)

    @kernel
    def tickets(item: nd_item[1], c: ptr[uint32]):
        counter_ref = atomic_ref[uint32, relaxed, device](c[0])
        seen[item.get_global_id(0)] = counter_ref.fetch_add(1)

    launch(tickets, 4 * ITEMS, ITEMS, counter, device=name)
    assert sorted(seen.tolist()) == list(range(4 * ITEMS))
    assert counter[0] == 4 * ITEMS


def test_load_store_and_exchange() -> None:
    cells, out = np.array([5, 6, 7], np.int64), np.zeros(3, np.int64)

    @kernel
    def k(item: nd_item[1]):
        first = atomic_ref[cm.sycl.int64, memory_order.acq_rel, device](cells[0])
        out[0] = first.load()
        first.store(50)
        out[1] = atomic_ref[cm.sycl.int64, relaxed, device](cells[1]).exchange(60, memory_order.acquire)
        out[2] = atomic_ref[cm.sycl.int64, relaxed, device](cells[2]).load(memory_order.seq_cst, memory_scope.system)

    launch(k, 1, 1)
    assert out.tolist() == [5, 6, 7]
    assert cells.tolist() == [50, 60, 7]


@pytest.mark.parametrize("element", [*INTEGERS, *FLOATS])
def test_loops_of_compare_exchange(element: str) -> None:
    T = getattr(cm.sycl, element)
    cell, made = np.ones(1, element), np.zeros(2, np.int32)

    @kernel
    def triple(item: nd_item[1]):
        ref = atomic_ref[T, relaxed, device](cell[0])
        old = ref.load()
        while not ref.compare_exchange_weak(old, old * 3):
            old = ref.load()
        if ref.compare_exchange_strong(0, 1, memory_order.acq_rel, memory_order.acquire, memory_scope.device):
            made[0] = 1
        ref.compare_exchange_strong(0, 1, memory_order.seq_cst)
        if old == 1:
            made[1] = 1

    launch(triple, 16, 16)
    assert cell[0] == 3**16
    assert made.tolist() == [0, 1]


def test_compare_exchange_compares_bits() -> None:
    cells = np.array([0.0, np.nan], np.float32)
    done = np.zeros(3, np.int32)

    @kernel
    def k(item: nd_item[1]):
        zero = atomic_ref[float32, relaxed, device](cells[0])
        done[0] = zero.compare_exchange_strong(-0.0, 1.0)
        done[1] = zero.compare_exchange_strong(0.0, 1.0)
        nan = atomic_ref[float32, relaxed, device](cells[1])
        done[2] = nan.compare_exchange_strong(cells[1], 2.0)

    launch(k, 1, 1)
    assert done.tolist() == [0, 1, 1]
    assert cells.tolist() == [1.0, 2.0]


# ------------------------------------------------------------------ local memory, helpers, variables


def test_local_memory() -> None:
    histogram = local_accessor[uint32, 1](8)
    x, out = np.random.default_rng(2).integers(0, 8, 4 * ITEMS).astype(np.int32), np.zeros((4, 8), np.uint32)

    def count(bins, k):
        ref = atomic_ref[uint32, relaxed, memory_scope.work_group, access.address_space.local_space](bins[k])
        ref += 1

    @kernel
    def histograms(item: nd_item[1]):
        lane = item.get_local_id(0)
        if lane < 8:
            histogram[lane] = 0
        group_barrier(item.get_group())
        count(histogram, x[item.get_global_id(0)])
        group_barrier(item.get_group())
        if lane < 8:
            out[item.get_group(0) * 8 + lane] = histogram[lane]

    launch(histograms, 4 * ITEMS, ITEMS)
    assert out.tolist() == [np.bincount(part, minlength=8).tolist() for part in x.reshape(4, ITEMS)]


def test_a_reference_keeps_its_element() -> None:
    cells = np.zeros(4, np.int32)

    def add(ref, x):
        ref += x
        return ref.fetch_add(x)

    @kernel
    def k(item: nd_item[1]):
        i = 1
        ref = atomic_ref[int32, relaxed, device](cells[i])
        i = 3
        add(ref, 10)
        other = atomic_ref[int32, relaxed, device](cells[i])
        add(other, 100)
        ref += i

    launch(k, 1, 1)
    assert cells.tolist() == [0, 23, 0, 200]


# ------------------------------------------------------------------ instructions


ORDERS = {"load": {"relaxed": 0, "acquire": 0x202, "seq_cst": 0x210}, "store": {"relaxed": 0, "release": 0x204},
          "fetch_add": {"relaxed": 0, "acquire": 0x202, "release": 0x204, "acq_rel": 0x208, "seq_cst": 0x210}}
SCOPES = {"work_item": 4, "sub_group": 3, "work_group": 2, "device": 1, "system": 0}


def constants_of(text: str, instruction: str) -> list[int]:
    """The constant operands of an instruction, in order."""
    values = {name: int(value) for name, value in re.findall(r"(%\S+) = OpConstant %\S+ (\d+)", text)}
    (line,) = [line for line in text.split("\n") if re.search(rf"\b{instruction}\b", line)]
    return [values[word] for word in line.split() if word in values]


@pytest.mark.parametrize(("method", "order"), [(method, order) for method in ORDERS for order in ORDERS[method]])
def test_orders_become_memory_semantics(method: str, order: str) -> None:
    @kernel
    def k(item: nd_item[1], x: ptr[int32]):
        ref = atomic_ref[int32, relaxed, memory_scope.work_group](x[0])
        if method == "load":
            x[1] = ref.load(getattr_of)
        elif method == "store":
            ref.store(7, getattr_of)
        else:
            ref.fetch_add(7, getattr_of)

    getattr_of = memory_order[order]
    text = cm.build(k).spirv_asm
    instruction = {"load": "OpAtomicLoad", "store": "OpAtomicStore", "fetch_add": "OpAtomicIAdd"}[method]
    assert constants_of(text, instruction)[:2] == [SCOPES["work_group"], ORDERS[method][order]]


@pytest.mark.parametrize("scope", SCOPES)
def test_scopes_and_fences(scope: str) -> None:
    chosen = memory_scope[scope]

    @kernel
    def k(item: nd_item[1], x: ptr[int32]):
        atomic_fence(memory_order.relaxed, chosen)
        atomic_fence(memory_order.acq_rel, chosen)
        atomic_ref[int32, memory_order.acq_rel, chosen](x[0]).fetch_add(1)

    text = cm.build(k).spirv_asm
    assert constants_of(text, "OpMemoryBarrier") == [SCOPES[scope], 0x308]
    assert constants_of(text, "OpAtomicIAdd")[:2] == [SCOPES[scope], 0x208]


def test_the_default_order_of_reads_and_writes() -> None:
    @kernel
    def k(item: nd_item[1], x: ptr[int32]):
        ref = atomic_ref[int32, memory_order.acq_rel, device](x[0])
        ref.store(ref.load())

    text = cm.build(k).spirv_asm
    assert constants_of(text, "OpAtomicLoad") == [1, 0x202]
    assert constants_of(text, "OpAtomicStore") == [1, 0x204]


def test_the_order_of_a_failed_exchange() -> None:
    @kernel
    def k(item: nd_item[1], x: ptr[int32]):
        ref = atomic_ref[int32, memory_order.acq_rel, device](x[0])
        ref.compare_exchange_strong(x[1], x[2])

    @kernel
    def strengthened(item: nd_item[1], x: ptr[int32]):
        ref = atomic_ref[int32, relaxed, device](x[0])
        ref.compare_exchange_strong(x[1], x[2], relaxed, memory_order.acquire)

    assert constants_of(cm.build(k).spirv_asm, "OpAtomicCompareExchange") == [1, 0x208, 0x202]
    assert constants_of(cm.build(strengthened).spirv_asm, "OpAtomicCompareExchange") == [1, 0x202, 0x202]


@pytest.mark.oracle("spirv-val")
@pytest.mark.parametrize("element", [*INTEGERS, *FLOATS])
def test_spirv_val_accepts_them(element: str, tmp_path) -> None:
    x = np.zeros(ITEMS, element)
    text = validate(updating_kernel(element, x, np.zeros(6, element)), tmp_path)
    assert len(re.findall(r"OpAtomic\w+", text)) == 6


# ------------------------------------------------------------------ errors


@pytest.mark.parametrize("case", read_cases("atomics.txt"), ids=lambda case: case.text)
def test_a_message(case: Case) -> None:
    check(case)
