"""Asynchronous copies on the CPU: each sub-group copies its share."""

from __future__ import annotations

import numpy as np
import pytest

import coopmat as cm
from coopmat.targets.base.local_memory import LocalMemory
from coopmat.targets.cpu.program import CpuProgram


@pytest.mark.parametrize("local", [1, 16, 40, 128])
@pytest.mark.parametrize(("kind", "dtype", "width"), [("char", np.int8, 1), ("int", np.int32, 1),
                                                      ("float4", np.float32, 4), ("double2", np.float64, 2)])
def test_there_and_back(kind: str, dtype: type, width: int, local: int) -> None:
    """Every work-group copies its elements to local memory, and from there to another place."""
    program = CpuProgram(cm.build(f"""
    kernel void k(global {kind} *out, global const {kind} *in, local {kind} *t, ulong n) {{
        size_t first = get_group_id(0) * n;
        event_t e = async_work_group_copy(t, in + first, n, 0);
        wait_group_events(1, &e);
        e = async_work_group_copy(out + first, t, n, 0);
        wait_group_events(1, &e);
    }}""")._executable)
    for count in (0, 1, 7, 100):
        data = np.random.default_rng(3).integers(-100, 100, (3 * count + 1) * width).astype(dtype)
        out = np.full_like(data, 99)
        program.launch("k", (3 * local,), (local,), (out, data, LocalMemory(max(count, 1) * width * 8), count))
        expected = data.copy()
        expected[3 * count * width:] = 99
        np.testing.assert_array_equal(out, expected, str(count))


@pytest.mark.parametrize("local", [8, 64, 100])
@pytest.mark.parametrize("stride", [1, 2, 5])
def test_strides(stride: int, local: int) -> None:
    """The stride is that of global memory; one event may stand for several copies."""
    program = CpuProgram(cm.build(f"""
    kernel void k(global int *out, global const int *in, local int *t) {{
        event_t e = async_work_group_strided_copy(t, in, 50, {stride}, 0);
        e = async_work_group_strided_copy(t + 50, in + 1, 25, {stride}, e);
        wait_group_events(1, &e);
        for (size_t i = get_local_id(0); i < 75; i += get_local_size(0)) t[i] = t[i] + (int)get_group_id(0);
        event_t none = 0;
        wait_group_events(1, &none);
        e = async_work_group_strided_copy(out + get_group_id(0) * 75 * {stride}, t, 75, {stride}, 0);
        wait_group_events(1, &e);
    }}""")._executable)
    data = np.arange(stride * 50 + 2, dtype=np.int32) * 3
    out = np.zeros(3 * 75 * stride, np.int32)
    program.launch("k", (3 * local,), (local,), (out, data, LocalMemory(75 * 4)))
    taken = np.concatenate([data[:50 * stride:stride], data[1:1 + 25 * stride:stride]])
    for group in range(3):
        part = out[group * 75 * stride:(group + 1) * 75 * stride]
        np.testing.assert_array_equal(part[::stride], taken + group)
        assert np.count_nonzero(part) <= 75
