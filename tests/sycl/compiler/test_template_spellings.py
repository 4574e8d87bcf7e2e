"""C++ writes template arguments, and moves pointers, in places where Python need not: both are taken."""

from __future__ import annotations

import re

import numpy as np
import pytest

import coopmat as cm
from coopmat.sycl import (
    access,
    address_space_cast,
    annotated_ptr,
    cache_control,
    cache_level,
    cache_mode,
    float32,
    group_barrier,
    kernel,
    local_accessor,
    malloc_device,
    nd_item,
    nd_range,
    ptr,
    read_hint,
)
from coopmat.sycl import properties as properties_of

q = cm.Queue("sim:intel_gpu_pvc")
GLOBAL = address_space_cast[access.address_space.global_space, access.decorated.no]


def test_the_dimensions_of_an_nd_range() -> None:
    assert nd_range[2]((4, 16), (1, 16)) == nd_range((4, 16), (1, 16))
    with pytest.raises(cm.LaunchError, match=re.escape("nd_range[2]: the ranges have 1 dimensions: (16,) and (16,)")):
        nd_range[2](16, 16)
    with pytest.raises(cm.Error, match="nd_range has 1, 2 or 3 dimensions"):
        nd_range[4]


def test_a_pointer_of_local_memory_with_its_decoration() -> None:
    tile = local_accessor[float32](16)

    @kernel
    def reverse(item: nd_item[1], A: ptr[float32]):
        i = item.get_local_id(0)
        tile.get_multi_ptr[access.decorated.no]()[i] = A[i]
        group_barrier(item.get_group())
        A[i] = tile.get_multi_ptr[access.decorated.yes]()[15 - i]

    array = np.arange(16, dtype=np.float32)
    q.parallel_for(nd_range(16, 16), reverse, array).wait()
    assert array.tolist() == list(range(15, -1, -1))


@kernel
def negate(item: nd_item[1], A: ptr[float32]):
    A[item.get_global_id(0)] = -A[item.get_global_id(0)]


@pytest.mark.parametrize("pointer_to", [
    GLOBAL, lambda memory: annotated_ptr(memory, properties_of(read_hint[cache_control[cache_mode.cached,
                                                                                       cache_level.L2]]))])
def test_pointers_of_the_host_move(pointer_to) -> None:
    array = np.arange(32, dtype=np.float32).reshape(4, 8)
    moved = pointer_to(array) + 16
    q.parallel_for(nd_range(16, 16), negate, moved).wait()
    assert (array.reshape(-1) == np.where(np.arange(32) < 16, 1, -1) * np.arange(32)).all()
    with pytest.raises(cm.OutOfBounds):
        q.parallel_for(nd_range(16, 16), negate, moved + 1).wait()
    for wrong in (33, -1, 1.5, True):
        with pytest.raises(cm.Error, match="n must be an int from 0 to 32"):
            pointer_to(array) + wrong
    with pytest.raises(cm.Error, match="not contiguous"):
        pointer_to(array[:, ::2]) + 1


def test_pointers_to_memory_of_the_device_move() -> None:
    memory = malloc_device[float32](32, q)
    q.memcpy(memory, np.ones(32, np.float32), 128)
    q.parallel_for(nd_range(16, 16), negate, GLOBAL(memory) + 8).wait()
    array = np.zeros(32, np.float32)
    q.memcpy(array, memory, 128).wait()
    assert array.tolist() == [1] * 8 + [-1] * 16 + [1] * 8
