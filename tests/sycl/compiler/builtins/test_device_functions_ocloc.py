"""Functions of kernels in Python in Intel's graphics compiler, which nobody here wrote: what they become."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import coopmat as cm
from coopmat.sycl import (
    atomic_ref,
    exp,
    float32,
    group_barrier,
    group_local_memory_for_overwrite,
    int8,
    int32,
    kernel,
    logical_and,
    maximum,
    memory_order,
    memory_scope,
    multiplies,
    native,
    nd_item,
    plus,
    popcount,
    ptr,
    reduce_over_group,
    sqrt,
)
from tests.kit.oracles.ocloc import DEVICES, assembly

pytestmark = [pytest.mark.oracle("ocloc"), pytest.mark.parametrize("device", DEVICES)]


def instructions(kernel_, device: str, folder: Path) -> str:
    program = cm.build(kernel_, device=cm.device(f"sim:{DEVICES[device]}"))
    (text,) = assembly(program.spirv, device, folder).values()
    return text


def test_math_atomics_and_local_memory(device: str, tmp_path: Path) -> None:
    @kernel(sub_group_size=16)
    def k(item: nd_item[1], x: ptr[float32], n: ptr[int32]):
        i = item.get_local_id(0)
        tile = group_local_memory_for_overwrite[float32, 64](item.get_group())
        tile[i] = sqrt(x[i])
        group_barrier(item.get_group())
        x[i] = exp(tile[63 - i]) + native.sin(tile[i])
        count = atomic_ref[int32, memory_order.relaxed, memory_scope.device](n[0])
        count += popcount(n[i + 1])
        largest = atomic_ref[float32, memory_order.relaxed, memory_scope.device](x[64])
        largest.fetch_max(x[i])
        n[65] = count.compare_exchange_strong(7, 8)

    text = instructions(k, device, tmp_path)
    for found in (r"math\.(sqt|rsqt)", r"math\.exp", r"math\.sin", r"\bcbit\b", r"signal barrier", r"sync\.bar"):
        assert re.search(found, text), found
    assert len(re.findall(r"atomic", text)) >= 3


@pytest.mark.parametrize("of_work_group", [False, True], ids=["sub_group", "group"])
def test_reductions(device: str, of_work_group: bool, tmp_path: Path) -> None:
    """No call is left: the compiler has all of these functions."""
    @kernel(sub_group_size=16)
    def k(item: nd_item[1], x: ptr[int8], out: ptr[int32]):
        i = item.get_global_id(0)
        if of_work_group:
            g = item.get_group()
            out[i] = reduce_over_group(g, x[i], multiplies()) + reduce_over_group(g, x[i] > 0, logical_and())
        else:
            sg = item.get_sub_group()
            out[i] = reduce_over_group(sg, x[i], plus()) + reduce_over_group(sg, x[i], multiplies())
            out[i] += reduce_over_group(sg, x[i], maximum()) + reduce_over_group(sg, x[i] > 0, logical_and())

    text = instructions(k, device, tmp_path)
    assert re.search(r"\bmul\b", text)
    assert not re.search(r"\bcalla?\b", text)
