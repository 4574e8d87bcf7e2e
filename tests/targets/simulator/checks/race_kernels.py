"""Data races, one in each kernel."""

from __future__ import annotations

import numpy as np

import coopmat as cm
from tests.kit.checks.planted import Planted


def ints(*sizes: int):
    """Arrays of zeros, 256 elements each where nothing is said."""
    return lambda: [np.zeros(size, np.int32) for size in sizes or (256,)]


LOCAL, GLOBAL = "CLK_LOCAL_MEM_FENCE", "CLK_GLOBAL_MEM_FENCE"
BOTH = f"barrier({LOCAL} | {GLOBAL});"
MATRIX = """
#define MATRIX(r, c, use) \\
    float __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, r, c, CLK_COOPERATIVE_MATRIX_##use)))
#define ROW CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR
"""
LAST = """
kernel void k(global int *part, volatile global atomic_int *count, global int *out) {
    local int is_last;
    int l = get_local_id(0);
    part[get_global_id(0)] = l;
    {}
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    if (is_last) {
        int sum = 0;
        for (int i = l; i < 128; i += 32)
            sum += part[i];  // HERE
        out[l] = sum;
    }
}"""
COUNT = """if (l == 0)
        is_last = atomic_fetch_add_explicit(count, 1, {}, memory_scope_device) == 3;"""
PYTHON = """
@kernel(work_group_size=32, sub_group_size=16)
def k(item: nd_item[1], out: ptr[int32]):
    tile = group_local_memory_for_overwrite[int32, 32](item.get_group()).get_multi_ptr()
    i = item.get_local_id(0)
    tile[i] = i
    {}
    out[item.get_global_id(0)] = tile[31 - i]  # HERE
"""

RACES = [
    Planted("local memory without a barrier", """
kernel void k(global int *a) {
    local int t[32];
    t[get_local_id(0)] = get_local_id(0);
    {}
    a[get_global_id(0)] = t[31 - get_local_id(0)];  // HERE
}""", "", f"barrier({LOCAL});", cm.DataRace, ("'t'", "read", "written", r":4:", f"barrier\\({LOCAL}\\)")),
    Planted("a fence for other memory", """
kernel void k(global int *a) {
    local int t[32];
    t[get_local_id(0)] = get_local_id(0);
    barrier({});
    a[get_global_id(0)] = t[31 - get_local_id(0)];  // HERE
}""", GLOBAL, LOCAL, cm.DataRace, ("does not order local memory", LOCAL)),
    Planted("a barrier without a fence", """
kernel void k(global int *a) {
    local int t[32];
    t[get_local_id(0)] = get_local_id(0);
    barrier({});
    a[get_global_id(0)] = t[31 - get_local_id(0)];  // HERE
}""", "0", LOCAL, cm.DataRace, ("does not order local memory",)),
    Planted("no barrier at the end of a round", """
kernel void k(global int *a) {
    local int t[32];
    int l = get_local_id(0), sum = 0;
    for (int i = 0; i < 4; ++i) {
        t[l] = i + l;  // HERE
        barrier(CLK_LOCAL_MEM_FENCE);
        sum += t[31 - l];
        {}
    }
    a[get_global_id(0)] = sum;
}""", "", f"barrier({LOCAL});", cm.DataRace, ("'t'", "written here, and read")),
    Planted("a sub-group without its barrier", """
__attribute__((intel_reqd_sub_group_size(16))) kernel void k(global int *a) {
    local int t[32];
    t[get_local_id(0)] = get_local_id(0);
    {}
    a[get_global_id(0)] = t[get_local_id(0) ^ 1];  // HERE
}""", "", f"sub_group_barrier({LOCAL});", cm.DataRace, ("sub_group_barrier",)),
    Planted("a sub-group's barrier for another sub-group", """
__attribute__((intel_reqd_sub_group_size(16))) kernel void k(global int *a) {
    local int t[32];
    t[get_local_id(0)] = get_local_id(0);
    {}
    a[get_global_id(0)] = t[get_local_id(0) ^ 16];  // HERE
}""", f"sub_group_barrier({LOCAL});", f"barrier({LOCAL});", cm.DataRace, (f"put barrier\\({LOCAL}\\)",)),
    Planted("a neighbour's element", """
kernel void k(global int *a, global int *b) {
    int i = get_global_id(0);
    {} = a[i + 1];  // HERE
}""", "a[i]", "b[i]", cm.DataRace, ("'a'",), ints(256, 256)),
    Planted("global memory between work-groups", """
kernel void k(global int *a, global int *b) {
    int i = get_global_id(0);
    a[i] = i;
    barrier(CLK_GLOBAL_MEM_FENCE);
    b[i] = a[{}];  // HERE
}""", "63 - i", "i ^ 31", cm.DataRace, ("no barrier orders work-groups",), ints(256, 256)),
    Planted("all store one value", """
kernel void k(global int *a) {
    {}
        a[0] = 7;  // HERE
}""", "", "if (get_global_id(0) == 0)", cm.DataRace, ("in the same instruction", "element 0 of argument 0 'a'")),
    Planted("histogram without atomics", """
kernel void k(global int *a) {
    local int t[8];
    if (get_local_id(0) < 8) t[get_local_id(0)] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    {}  // HERE
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) < 8) a[get_group_id(0) * 8 + get_local_id(0)] = t[get_local_id(0)];
}""", "t[get_local_id(0) % 8] += 1;", "atomic_inc(&t[get_local_id(0) % 8]);", cm.DataRace, ("'t'",)),
    Planted("an atomic beside a plain load", """
kernel void k(global int *a) {
    local int n;
    if (get_local_id(0) == 0) n = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_inc(&n);
    {}
    a[get_global_id(0)] = n;  // HERE
}""", "", f"barrier({LOCAL});", cm.DataRace, ("written by an atomic",)),
    Planted("the last work-group, released without a barrier", LAST, COUNT.replace("{}", "memory_order_acq_rel"),
            BOTH + COUNT.replace("{}", "memory_order_acq_rel"), cm.DataRace, ("'part'",), ints(128, 1, 32), (128,)),
    Planted("the last work-group, relaxed", LAST, BOTH + COUNT.replace("{}", "memory_order_relaxed"),
            BOTH + COUNT.replace("{}", "memory_order_acq_rel"), cm.DataRace, ("an acquire before",), ints(128, 1, 32),
            (128,)),
    Planted("the last work-group, only released", LAST, BOTH + COUNT.replace("{}", "memory_order_release"),
            BOTH + COUNT.replace("{}", "memory_order_seq_cst"), cm.DataRace, ("'part'",), ints(128, 1, 32), (128,)),
    Planted("a matrix and its neighbour", MATRIX + """
__attribute__((intel_reqd_sub_group_size(16))) kernel void k(global const float *a, global float *c) {
    MATRIX(16, 16, ACCUMULATOR) m = coop_mat_load(a, ROW, 16);
    size_t at = get_group_id(0) * {};
    coop_mat_store(c + at, m, ROW, 16);  // HERE
}""", "128", "256", cm.DataRace, ("sub-group 0 of work-group",),
            lambda: [np.zeros(256, np.float32), np.zeros(1024, np.float32)], (64,), (16,), "sim:generic"),
    Planted("a matrix loaded from what work-items store", MATRIX + """
__attribute__((intel_reqd_sub_group_size(16))) kernel void k(global const float *a, global float *c) {
    local float t[256];
    for (int i = get_local_id(0); i < 256; i += 16)
        t[i] = a[i];
    {}
    MATRIX(16, 16, ACCUMULATOR) m = coop_mat_load(t, ROW, 16);  // HERE
    coop_mat_store(c + get_group_id(0) * 256, m, ROW, 16);
}""", "", f"sub_group_barrier({LOCAL});", cm.DataRace, ("'t'",),
            lambda: [np.zeros(256, np.float32), np.zeros(1024, np.float32)], (64,), (16,), "sim:generic"),
    Planted("an asynchronous copy, read before it is waited for", """
kernel void k(global int *a, global const int *b) {
    local int t[32];
    event_t e = async_work_group_copy(t, b, 32, 0);
    {}
    int v = t[31 - get_local_id(0)];  // HERE
    wait_group_events(1, &e);
    a[get_global_id(0)] = v;
}""", f"barrier({LOCAL});", "wait_group_events(1, &e);", cm.DataRace, ("wait for the copy's event",), ints(256, 32)),
    Planted("an asynchronous copy of what is being written", """
kernel void k(global int *a) {
    local int t[32];
    t[get_local_id(0)] = 1;
    {}
    event_t e = async_work_group_copy(a + get_group_id(0) * 32, t, 32, 0);  // HERE
    wait_group_events(1, &e);
}""", "", f"barrier({LOCAL});", cm.DataRace, ("'t'",)),
    Planted("bytes of one word", """
kernel void k(global uchar *a) {
    int i = get_global_id(0);
    {}  // HERE
}""", "vstore4((uchar4)(i), 0, a + 2 * i);", "vstore4((uchar4)(i), i, a);", cm.DataRace, ("'a'",),
            lambda: [np.zeros(512, np.uint8)]),
    Planted("Python: local memory without a barrier", PYTHON, "pass", "group_barrier(item.get_group())", cm.DataRace,
            ("'tile'", "group_barrier")),
    Planted("Python: a sub-group's barrier", PYTHON, "group_barrier(item.get_sub_group())",
            "group_barrier(item.get_group())", cm.DataRace, ("'tile'",)),
    Planted("Python: all work-items sum into one place", """
@kernel
def k(item: nd_item[1], out: ptr[int32]):
    {}  # HERE
""", "out[0] += 1", "atomic_ref[int32, memory_order.relaxed, memory_scope.device](out[0]).fetch_add(1)", cm.DataRace,
            ("'out'",)),
    Planted("atomics of a scope too small", """
kernel void k(global atomic_int *count, global int *out) {
    out[get_global_id(0)] = atomic_fetch_add_explicit(count, 1, memory_order_relaxed, {});  // HERE
}""", "memory_scope_work_group", "memory_scope_device", cm.DataRace,
            ("the scope of one, memory_scope_work_group, does not include both",), ints(1, 64)),
    Planted("an atomic of a sub-group for its work-group", """
kernel void k(global int *out) {
    local atomic_int count;
    if (get_local_id(0) == 0)
        atomic_init(&count, 0);
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_fetch_add_explicit(&count, 1, memory_order_relaxed, {});  // HERE
    barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] = atomic_load_explicit(&count, memory_order_relaxed, memory_scope_work_group);
}""", "memory_scope_sub_group", "memory_scope_work_group", cm.DataRace,
            ("the scope of one, memory_scope_sub_group", "variable 'count'"), ints(64)),
]
