"""What runs on devices of drivers, OpenCL's and Vulkan's alike. ``run`` launches the kernel ``k`` of a source."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import coopmat as cm
from tests.kit.targets.short_kernels import module

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


def invalid_modules(device: cm.Device) -> None:
    """They are refused before a driver sees them."""
    def add(right: str) -> None:
        made = module("g_f32 out", f"""
            %f = OpFAdd %f32 %f32_c1 {right}
            OpStore %out %f""")
        cm.Queue(device).enqueue(cm.build(made.to_bytes(), device=device).kernel("kernel"), 1, 1, found).wait()

    found = np.zeros(1, np.float32)
    with pytest.raises(cm.ValidationError, match="operand 2 of OpFAdd has type"):
        add("%i32_c2")
    add("%f32_c2")
    assert found == [3]


def three_dimensions(run: Run) -> None:
    source = """kernel void k(global int *o) {
        size_t x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);
        o[(z * get_global_size(1) + y) * get_global_size(0) + x] = get_group_id(0) + 10 * get_group_id(1)
            + 100 * get_group_id(2); }"""
    found = np.zeros((4, 6, 16), np.int32)
    run(source, (16, 6, 4), (8, 3, 2), found)
    z, y, x = np.indices(found.shape)
    assert (found == x // 8 + 10 * (y // 3) + 100 * (z // 2)).all()


def functions_of_work_groups(run: Run) -> None:
    """Of work-groups of several sub-groups and a part, in two dimensions."""
    source = """kernel void k(global const int *x, global long *o, global float *f) {
        size_t i = get_group_id(1) * 100 + get_local_linear_id();
        o[i] = work_group_reduce_max((long)x[i] << 32) + work_group_scan_exclusive_add((long)x[i])
            + 1000 * work_group_broadcast(x[i], 3, 2) + 100000 * work_group_any(x[i] == 7) * work_group_all(x[i] > -9);
        f[i] = work_group_scan_inclusive_min((float)x[i]) + 10 * work_group_scan_exclusive_max((float)x[i]); }"""
    x = np.random.default_rng(6).integers(-8, 8, 300).astype(np.int32)
    found, floats = np.zeros((3, 100), np.int64), np.zeros((3, 100), np.float32)
    run(source, (20, 15), (20, 5), x, found, floats)
    rows = x.reshape(3, 100).astype(np.int64)
    expected = (rows.max(1, keepdims=True) << 32) + rows.cumsum(1) - rows + 1000 * rows[:, 43:44]
    assert (found == expected + 100000 * (rows == 7).any(1, keepdims=True)).all()
    highest = np.maximum.accumulate(rows, 1)[:, :-1]
    assert np.isneginf(floats[:, 0]).all()
    assert (floats[:, 1:] == np.minimum.accumulate(rows, 1)[:, 1:] + 10 * highest).all()


def generic_pointers(run: Run, *, tells: bool) -> None:
    """Passed to functions, chosen at run time and, if the driver ``tells`` it then, asked where they lead."""
    source = """int sum(const uchar *p, int n) { int s = 0; for (int i = 0; i < n; i++) s = 3 * s + p[i]; return s; }
    kernel void k(global uchar *x, global int *o) {
        local uchar staged[32 * 4]; uchar own[4];
        size_t i = get_global_id(0);
        for (int j = 0; j < 4; j++) { staged[i * 4 + j] = x[i * 4 + j] + 1; own[j] = x[i * 4 + j] + 2; }
        barrier(CLK_LOCAL_MEM_FENCE);
        uchar *p = i % 3 == 0 ? x + i * 4 : i % 3 == 1 ? (uchar *)(staged + i * 4) : (uchar *)own;
        p[3]++;
        o[i] = sum(p, 4) + 10000 * (to_local((uchar *)staged) != 0) + 100000 * (to_private((uchar *)x) != 0) ASK; }"""
    x, found = np.random.default_rng(7).integers(0, 50, (32, 4)).astype(np.uint8), np.zeros(32, np.int32)
    where = np.arange(32) % 3
    for question, answer in (("", 0), ("+ 1000000 * (to_private(p) != 0)", 1000000 * (where == 2))):
        if question and not tells:
            with pytest.raises(cm.KernelNotSupported, match="where generic pointers lead is only known at run time"):
                run(source.replace("ASK", question), 32, 32, x, found)
            continue
        expected = (x + where[:, None]).astype(np.int32) @ [27, 9, 3, 1] + 1 + 10000 + answer
        run(source.replace("ASK", question), 32, 32, x, found)
        assert (found == expected).all()


def values_across_barriers(run: Run) -> None:
    source = """kernel void k(global const int *x, global int *o, local int *t) {
        size_t n = get_local_size(0), l = get_local_id(0), first = get_group_id(0) * n;
        event_t copied = async_work_group_copy(t, x + first, n, 0);
        wait_group_events(1, &copied);
        int v = t[n - 1 - l];
        barrier(CLK_LOCAL_MEM_FENCE);
        t[l] = v * 2;
        barrier(CLK_LOCAL_MEM_FENCE);
        copied = async_work_group_copy(o + first, t, n, 0);
        wait_group_events(1, &copied); }"""
    x, found = np.arange(128, dtype=np.int32), np.zeros(128, np.int32)
    run(source, 128, 64, x, found, cm.local(256))
    assert (found.reshape(2, 64) == 2 * x.reshape(2, 64)[:, ::-1]).all()


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
