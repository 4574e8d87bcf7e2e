"""What runs on devices of drivers, OpenCL's and Vulkan's alike. ``run`` launches the kernel ``k`` of a source."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import coopmat as cm

Run = Callable[..., Any]
"""Of a source, a global and a local size, and arguments."""


def scalars_of_every_type(run: Run) -> None:
    source = """kernel void k(global double *o, char a, uchar b, short c, ushort d, int e, uint f, long g, ulong h,
                              float i, double j, float3 l) {
        o[0] = a; o[1] = b; o[2] = c; o[3] = d; o[4] = e; o[5] = f; o[6] = g; o[7] = h; o[8] = i; o[9] = j;
        o[10] = l.x; o[11] = l.y; o[12] = l.z; }"""
    found = np.zeros(13)
    run(source, 1, 1, found, -3, 200, -30000, 60000, -2**31, 2**32 - 1, -2**52, 2**52, 0.5, 1e300,
         np.array([1, 2, 3], np.float32))
    assert found.tolist() == [-3, 200, -30000, 60000, -2**31, 2**32 - 1, -2**52, 2**52, 0.5, 1e300, 1, 2, 3]


def local_arguments(run: Run) -> None:
    source = """kernel void k(global const int *x, global int *y, local int *s, local char *t) {
        size_t l = get_local_id(0), n = get_local_size(0);
        s[l] = x[get_global_id(0)]; t[l] = (char)l;
        barrier(CLK_LOCAL_MEM_FENCE);
        y[get_global_id(0)] = s[n - 1 - l] + t[n - 1 - l]; }"""
    x = np.arange(128, dtype=np.int32)
    for size in (8, 32, 64):
        y = np.zeros_like(x)
        run(source, 128, size, x, y, cm.local(4 * size), cm.local(size))
        expected = x.reshape(-1, size)[:, ::-1] + np.arange(size)[::-1]
        assert (y.reshape(-1, size) == expected).all()


def null_pointers_and_const_ones(run: Run) -> None:
    source = "kernel void k(global const int *x, global int *y) { y[get_global_id(0)] = x ? x[get_global_id(0)] : -1; }"
    x, y = np.arange(16, dtype=np.int32), np.zeros(16, np.int32)
    x.flags.writeable = False
    run(source, 16, 8, x, y)
    assert (y == x).all()
    run(source, 16, 8, None, y)
    assert (y == -1).all()


def three_dimensions(run: Run) -> None:
    source = """kernel void k(global int *o) {
        size_t x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);
        o[(z * get_global_size(1) + y) * get_global_size(0) + x] = get_group_id(0) + 10 * get_group_id(1)
            + 100 * get_group_id(2); }"""
    found = np.zeros((4, 6, 16), np.int32)
    run(source, (16, 6, 4), (8, 3, 2), found)
    z, y, x = np.indices(found.shape)
    assert (found == x // 8 + 10 * (y // 3) + 100 * (z // 2)).all()


def sub_groups_meet_other_numbers_of_barriers(run: Run, size: int) -> None:
    """In sub-groups of a size."""
    source = """kernel void k(global int *o, int n) {
        for (int c = get_sub_group_id(); c < 3; c += get_num_sub_groups()) {
            for (int i = 0; i < n; i++) sub_group_barrier(CLK_GLOBAL_MEM_FENCE);
            o[c * get_sub_group_size() + get_sub_group_local_id()] = c;
        } }"""
    for barriers in (1, 5):
        found = np.full((3, size), -1, np.int32)
        run(source, 2 * size, 2 * size, found, barriers)
        assert (found == [[0], [1], [2]]).all()
