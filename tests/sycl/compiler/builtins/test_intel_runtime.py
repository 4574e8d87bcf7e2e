"""Kernels in Python on Intel's CPU runtime, which nobody here wrote, against the simulator."""

from __future__ import annotations

import numpy as np
import pytest

import coopmat as cm
from coopmat.sycl import (
    atomic_ref,
    group_barrier,
    group_broadcast,
    group_local_memory_for_overwrite,
    int32,
    kernel,
    local_accessor,
    logical_and,
    logical_or,
    memory_order,
    memory_scope,
    nd_item,
    permute_group_by_xor,
    ptr,
    select_from_group,
    shift_group_left,
)
from coopmat.sycl.math_functions import FUNCTIONS
from tests.kit.sycl.launches import launch, launch_on_intel
from tests.kit.sycl.mathematics import FLOATING_NAMES, INTEGERS, REFERENCES, assert_near, table_kernel
from tests.sycl.compiler.builtins.test_atomics import updating_kernel
from tests.sycl.compiler.builtins.test_groups import COMBINE, combining_kernel

pytestmark = pytest.mark.oracle("intel-opencl")
ITEMS = 64


def test_a_module_declares_a_language_that_the_runtime_knows() -> None:
    """It crashes on modules whose source language is SYCL."""
    @kernel
    def five(item: nd_item[1], x: ptr[int32]):
        x[item.get_global_id(0)] = 5

    assert launch_on_intel(five, 16, 16, np.zeros(16, np.int32))["x"].tolist() == [5] * 16
    assert "OpSource OpenCL_CPP 100000" in cm.build(five).spirv_asm


@pytest.mark.parametrize("element", [np.float32, np.float64])
def test_floating_point_functions(element) -> None:
    names = [name for name in FLOATING_NAMES if REFERENCES[name][1] == (-4.0, 4.0)]
    columns = [np.random.default_rng(5).uniform(-4, 4, ITEMS).astype(element) for _ in range(3)]
    out = np.zeros((len(names), ITEMS), element)
    found = launch_on_intel(table_kernel([FUNCTIONS[name] for name in names], columns, out), ITEMS, 16)
    for name, row in zip(names, found["out"], strict=True):
        count = len(FUNCTIONS[name].signature.parameters)
        assert_near(name, row, REFERENCES[name][0](*(column.astype(np.float64) for column in columns[:count])))


@pytest.mark.parametrize("element", ["int8", "uint16", "int32", "uint64"])
def test_integer_functions(element: str) -> None:
    info = np.iinfo(element)
    columns = [np.random.default_rng(6).integers(info.min, info.max, ITEMS, element, endpoint=True) for _ in range(3)]
    out = np.zeros((len(INTEGERS), ITEMS), element)
    found = launch_on_intel(table_kernel([FUNCTIONS[name] for name in INTEGERS], columns, out), ITEMS, 16)
    rows = [tuple(map(int, row)) for row in zip(*columns, strict=True)]
    for (name, reference), values in zip(INTEGERS.items(), found["out"], strict=True):
        assert values.tolist() == [reference(*row, info.bits, info.min < 0) for row in rows], name


@pytest.mark.parametrize("of_work_group", [False, True], ids=["sub_group", "group"])
@pytest.mark.parametrize("element", ["int8", "uint32", "int64"])
def test_reductions_and_scans(element: str, of_work_group: bool) -> None:
    x = np.random.default_rng(1).integers(0, 100, ITEMS).astype(element)
    out = np.zeros((len(COMBINE), 6, ITEMS), element)
    combine = combining_kernel(x, out, list(COMBINE), [x.dtype.type(3)] * len(COMBINE), of_work_group, 16)
    found = launch_on_intel(combine, ITEMS, ITEMS)["out"]
    launch(combine, ITEMS, ITEMS)
    np.testing.assert_array_equal(found, out)


@pytest.mark.parametrize("of_work_group", [False, True], ids=["sub_group", "group"])
def test_logical_operators(of_work_group: bool) -> None:
    x = np.ones(ITEMS, np.int32)
    x[[3, 40]] = 0
    out = np.zeros((2, 6, ITEMS), np.int32)
    combine = combining_kernel(x, out, [logical_and, logical_or], [True, False], of_work_group, 16)
    found = launch_on_intel(combine, ITEMS, ITEMS)["out"]
    launch(combine, ITEMS, ITEMS)
    np.testing.assert_array_equal(found, out)


@pytest.mark.parametrize("element", ["int32", "uint64", "float32"])
def test_atomics(element: str) -> None:
    x = np.arange(ITEMS).astype(element)
    cells = np.ones(6, element)
    update = updating_kernel(element, x, cells)
    found = launch_on_intel(update, ITEMS, 16)["cells"]
    launch(update, ITEMS, 16)
    np.testing.assert_array_equal(found, cells)


def test_moves_and_local_memory() -> None:
    x, out = np.arange(100, 100 + ITEMS).astype(np.int16), np.zeros((7, ITEMS), np.int32)
    tile = local_accessor[int32, 2]((4, 16))

    @kernel(sub_group_size=16)
    def moves(item: nd_item[1]):
        i = item.get_global_id(0)
        sg, g = item.get_sub_group(), item.get_group()
        own = group_local_memory_for_overwrite[int32, ITEMS](g)
        tile[i // 16, i % 16] = x[i]
        own[i] = x[i] * 2
        group_barrier(g)
        out[i] = tile[3 - i // 16, i % 16] + 1000 * own[i ^ 1]
        out[ITEMS + i] = permute_group_by_xor(sg, x[i], 3)
        out[2 * ITEMS + i] = select_from_group(sg, x[i], (i * 5) % 16)
        out[3 * ITEMS + i] = group_broadcast(sg, x[i], 7)
        out[4 * ITEMS + i] = group_broadcast(g, x[i], 40)
        left = shift_group_left(sg, x[i])
        out[5 * ITEMS + i] = left if sg.get_local_id() < 15 else 0
        group_barrier(g)
        ref = atomic_ref[int32, memory_order.relaxed, memory_scope.work_group](own[0])
        old = ref.load()
        while not ref.compare_exchange_strong(old, old + 1):
            old = ref.load()
        group_barrier(g)
        out[6 * ITEMS + i] = own[0]

    found = launch_on_intel(moves, ITEMS, ITEMS)["out"]
    launch(moves, ITEMS, ITEMS)
    np.testing.assert_array_equal(found, out)
    assert out[6].tolist() == [264] * ITEMS
