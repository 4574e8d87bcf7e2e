"""Accesses outside of memory or at odd addresses, and group operations that not all of a group reach."""

from __future__ import annotations

import numpy as np

import coopmat as cm
from tests.kit.checks.planted import Planted
from tests.targets.simulator.checks.race_kernels import MATRIX, ints

PYTHON = """
@kernel(work_group_size=32, sub_group_size=16)
def k(item: nd_item[1], a: ptr[float32], out: ptr[float32]):
    i = item.get_global_id(0)
    {}
"""


def floats(*sizes: int):
    """Arrays of ones."""
    return lambda: [np.ones(size, np.float32) for size in sizes]


OUTSIDE = [
    Planted("one element too far", "kernel void k(global const int *a, global int *out) {\n"
            "    out[get_global_id(0)] = a[get_global_id(0) + {}];  // HERE\n}", "1", "0", cm.OutOfBounds,
            ("argument 0 'a', element 64",), ints(64, 64)),
    Planted("before the first element", "kernel void k(global int *out) {\n"
            "    out[(int)get_global_id(0) - {}] = 1;  // HERE\n}", "1", "0", cm.OutOfBounds, ("element -1",),
            ints(64)),
    Planted("a transposed index", """
kernel void k(global const float *a, global float *out, int rows, int columns) {
    size_t i = get_global_id(0);
    out[i] = a[i % columns * {} + i / columns];  // HERE
}""", "columns", "rows", cm.OutOfBounds, ("argument 0 'a'",), lambda: [*floats(64, 64)(), 4, 16]),
    Planted("the end of local memory", """
kernel void k(global int *out) {
    local int t[{}];
    t[get_local_id(0)] = 1;  // HERE
    out[get_global_id(0)] = t[get_local_id(0)];
}""", "31", "32", cm.OutOfBounds, ("variable 't', element 31",), ints(64)),
    Planted("the end of a private array", """
kernel void k(global int *out, int n) {
    int own[4] = {0};
    for (int i = 0; i {} n; ++i)
        own[i] = i;  // HERE
    out[get_global_id(0)] = own[n / 2];
}""", "<=", "<", cm.OutOfBounds, ("variable 'own'",), lambda: [*ints(64)(), 4]),
    Planted("an array inside of a structure", """
typedef struct { int first[4]; int second[4]; } pair;
kernel void k(global int *out, int n) {
    pair p = {{0, 1, 2, 3}, {4, 5, 6, 7}};
    out[get_global_id(0)] = p.first[n {}];  // HERE
}""", "+ 1", "", cm.OutOfBounds, ("index 4 is outside of the 4 elements",), lambda: [*ints(64)(), 3]),
    Planted("the last tile of a matrix", MATRIX + """
kernel void k(global float *a, global float *out, int tile) {
    MATRIX(8, 16, ACCUMULATOR) m = coop_mat_load(a + 128 * tile + {}, ROW, 16);  // HERE
    if (get_global_id(0) < 16)
        coop_mat_store(out, m, ROW, 16);
}""", "1", "0", cm.OutOfBounds, (r"element \(7, 15\)|argument 0 'a'",), lambda: [*floats(256, 128)(), 1],
            global_size=(16,), local_size=(16,)),
    Planted("a matrix by columns with the stride of rows", MATRIX + """
kernel void k(global float *a, global float *out) {
    MATRIX(8, 16, ACCUMULATOR) m = coop_mat_load(a, CLK_COOPERATIVE_MATRIX_LAYOUT_COLUMN_MAJOR, {});  // HERE
    coop_mat_store(out, m, ROW, 16);
}""", "16", "8", cm.OutOfBounds, ("argument 0 'a'", "col_major with stride 16"), floats(128, 128), global_size=(16,),
            local_size=(16,)),
    Planted("a component of a vector", """
kernel void k(global int *out, int n) {
    int4 v = (int4)(1, 2, 3, 4);
    out[get_global_id(0)] = ((int *)&v)[n {}];  // HERE
}""", "+ 1", "", cm.OutOfBounds, ("variable 'v'",), lambda: [*ints(64)(), 3]),
    Planted("a null pointer", """
kernel void k(global const int *a, global int *out) {
    out[get_global_id(0)] = {} ? a[0] : 0;  // HERE
}""", "1", "a", cm.OutOfBounds, ("null pointer",), lambda: [None, *ints(64)()]),
    Planted("read-only memory", """
kernel void k(global const int *a, global int *out) {
    global int *to = {} ? (global int *)a : out;
    to[get_global_id(0)] = 1;  // HERE
}""", "1", "0", cm.SimulationError, ("read-only",), lambda: [_fixed(), *ints(64)()]),
    Planted("a Python kernel", PYTHON, "out[i] = a[i + 1]  # HERE", "out[i] = a[i]  # HERE", cm.OutOfBounds,
            ("argument 0 'a', element 64",), floats(64, 64)),
    Planted("a Python list", PYTHON, "own = [1.0, 2.0, 3.0]\n    out[i] = own[i % 4]  # HERE",
            "own = [1.0, 2.0, 3.0]\n    out[i] = own[i % 3]  # HERE", cm.OutOfBounds, ("variable 'own'",),
            floats(64, 64)),
    Planted("a copy of more than there is", """
kernel void k(global const int *a, global int *out, local int *t) {
    event_t e = async_work_group_copy(t, a + 32 * get_group_id(0), {}, 0);  // HERE
    wait_group_events(1, &e);
    out[get_global_id(0)] = t[get_local_id(0)];
}""", "33", "32", cm.OutOfBounds, ("asynchronous copy",), lambda: [*ints(64, 64)(), cm.local(256)]),
]


def _fixed() -> np.ndarray:
    array = np.zeros(64, np.int32)
    array.flags.writeable = False
    return array


MISALIGNED = [
    Planted("a pointer to bytes cast to one to words", """
kernel void k(global const char *a, global int *out) {
    global const int *words = (global const int *)(a + {});
    out[get_global_id(0)] = words[0];  // HERE
}""", "2", "4", cm.Misaligned, ("multiple of 4 bytes", "byte 2"),
            lambda: [np.zeros(64, np.int8), *ints(64)()]),
    Planted("a vector between vectors", """
kernel void k(global const float *a, global float *out) {
    float4 v = *(global const float4 *)(a + {} * get_global_id(0));  // HERE
    out[get_global_id(0)] = v.x;
}""", "3", "4", cm.Misaligned, ("multiple of 16 bytes",), floats(256, 64)),
    Planted("vectors of half", """
kernel void k(global float *a, global half *out) {
    vstorea_half4((float4)(1.0f), get_global_id(0), out + {});  // HERE
}""", "2", "4", cm.Misaligned, ("multiple of 8 bytes",), lambda: [*floats(64)(), np.zeros(264, np.float16)]),
]

DIVERGENT = [
    Planted("a barrier in one branch", """
kernel void k(global int *out) {
    if (get_local_id(0) < {})
        barrier(CLK_LOCAL_MEM_FENCE);  // HERE
    out[get_global_id(0)] = 1;
}""", "16", "32", cm.DivergentGroupOperation, ("whole work-group",), ints(64)),
    Planted("two barriers for one", """
kernel void k(global int *out) {
    int first = get_local_id(0) < {};
    if (first)
        barrier(CLK_LOCAL_MEM_FENCE);
    else
        barrier(CLK_LOCAL_MEM_FENCE);  // HERE
    out[get_global_id(0)] = first;
}""", "16", "32", cm.DivergentGroupOperation, ("whole work-group",), ints(64)),
    Planted("work-items that have left", """
kernel void k(global int *out) {
    if (get_local_id(0) >= {})
        return;
    barrier(CLK_LOCAL_MEM_FENCE);  // HERE
    out[get_global_id(0)] = 1;
}""", "30", "32", cm.DivergentGroupOperation, ("30 of its 32 work-items",), ints(64)),
    Planted("a loop with as many rounds as each likes", """
kernel void k(global int *out) {
    for (int i = 0; i < 1 + {}; ++i)
        barrier(CLK_LOCAL_MEM_FENCE);  // HERE
    out[get_global_id(0)] = 1;
}""", "get_local_id(0) / 16", "get_group_id(0)", cm.DivergentGroupOperation, ("whole work-group",), ints(64)),
    Planted("a reduction in one branch", """
kernel void k(global int *out) {
    int i = get_sub_group_local_id(), sum = 0;
    if (i < {})
        sum = sub_group_reduce_add(i);  // HERE
    out[get_global_id(0)] = sum;
}""", "8", "16", cm.DivergentGroupOperation, ("whole sub-group",), ints(64)),
    Planted("a product in one branch", MATRIX + """
kernel void k(global float *out) {
    MATRIX(8, 16, ACCUMULATOR) m = coop_mat_init(0.0f);
    if (get_sub_group_local_id() != {})
        coop_mat_store(out + get_sub_group_id() * 128, m, ROW, 16);  // HERE
}""", "3", "16", cm.DivergentGroupOperation, ("15 of its 16 work-items",), floats(256), global_size=(32,)),
    Planted("a barrier of some work-items in Python", PYTHON, """if i % 32 < 16:
        group_barrier(item.get_group())  # HERE
    out[i] = 1""", """if i % 32 < 32:
        group_barrier(item.get_group())  # HERE
    out[i] = 1""", cm.DivergentGroupOperation, ("whole work-group",), floats(64, 64)),
    Planted("pointers that differ in a sub-group", MATRIX + """
kernel void k(global float *a, global float *out) {
    MATRIX(8, 16, ACCUMULATOR) m = coop_mat_load(a + {}, ROW, 16);  // HERE
    coop_mat_store(out, m, ROW, 16);
}""", "get_local_id(0)", "0", cm.UndefinedBehavior, ("pointer", "lane 0 .* lane 1"), floats(256, 128),
            global_size=(16,), local_size=(16,)),
    Planted("a split barrier that nobody has waited for before the next", """
kernel void k(global int *out) {
    for (int i = 0; i < 2; ++i) {
        intel_work_group_barrier_arrive(CLK_LOCAL_MEM_FENCE);  // HERE
        out[get_global_id(0)] = i;
        {}
    }
}""", "", "intel_work_group_barrier_wait(CLK_LOCAL_MEM_FENCE);", cm.UndefinedBehavior, ("has not waited for the last",),
            ints(64)),
    Planted("a wait for a split barrier without an arrival", """
kernel void k(global int *out) {
    {}
    out[get_global_id(0)] = 1;
    intel_work_group_barrier_wait(CLK_LOCAL_MEM_FENCE);  // HERE
}""", "", "intel_work_group_barrier_arrive(CLK_LOCAL_MEM_FENCE);", cm.UndefinedBehavior, ("it has not arrived",),
            ints(64)),
    Planted("a split barrier at the end", """
kernel void k(global int *out) {
    out[get_global_id(0)] = 1;
    intel_work_group_barrier_arrive(CLK_LOCAL_MEM_FENCE);  // HERE
    {}
}""", "", "intel_work_group_barrier_wait(CLK_LOCAL_MEM_FENCE);", cm.UndefinedBehavior, ("has never waited",), ints(64)),
]
