"""Data that nobody has written, where it decides something."""

from __future__ import annotations

import numpy as np

import coopmat as cm
from coopmat.sycl import int32, malloc_device
from tests.kit.checks.pairs import Pair
from tests.targets.simulator.checks.pairs.races import TILE, floats, ints

OPERANDS = """
#define MATRIX(type, rows, columns, use) type __attribute__((coop_mat( \\
    CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, rows, columns, CLK_COOPERATIVE_MATRIX_##use)))
#define ROW CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR
#define COLUMN CLK_COOPERATIVE_MATRIX_LAYOUT_COLUMN_MAJOR
#define PACKED CLK_COOPERATIVE_MATRIX_LAYOUT_PACKED_INTEL
"""
LOCAL = "tile = group_local_memory_for_overwrite[{}](item.get_group()).get_multi_ptr()"


def products():
    """Operands of an int8 product of 8x64 and 64x16, and the result."""
    return [np.ones(512, np.int8), np.ones(1024, np.int8), np.zeros(128, np.int32)]


def on_the_device(queue: cm.Queue):
    """Memory of a device that holds nothing yet."""
    return malloc_device[int32](64, queue)


UNINITIALIZED = [
    Pair("private memory", "the largest of a row", """
kernel void k(global const float *a, global float *out, int columns) {
    float largest;  // BUG
    float largest = -INFINITY;  // FIX
    for (int i = 0; i < columns; ++i)
        largest = fmax(largest, a[get_global_id(0) * columns + i]);
    out[get_global_id(0)] = largest;  // HERE UninitializedRead
}""", """
@kernel
def k(item: nd_item[1], a: ptr[float32], out: ptr[float32], columns: int32):
    largest = a[0]  # FIX
    for i in range(columns):
        x = a[item.get_global_id(0) * columns + i]
        if x > 2:  # BUG
        if x > 0:  # FIX
            largest = x
    out[item.get_global_id(0)] = largest  # HERE UninitializedRead
""", lambda: [*floats(256, 64)(), 4], words=("'largest'",)),
    Pair("private memory", "a histogram of each work-item", """
kernel void k(global const int *a, global int *out) {
    int bins[4];  // BUG
    int bins[4] = {0};  // FIX
    for (int i = 0; i < 8; ++i)
        bins[a[8 * get_global_id(0) + i] & 3]++;
    for (int i = 0; i < 4; ++i)
        out[4 * get_global_id(0) + i] = bins[i];  // HERE UninitializedRead
}""", "", ints(512, 256), words=("'bins'",)),
    Pair("private memory", "the last component of a point", """
kernel void k(global const float *a, global float *out) {
    int i = get_global_id(0);
    float4 p;  // BUG
    float4 p = 0;  // FIX
    p.xyz = vload3(i, a);
    out[i] = dot(p, p);  // HERE UninitializedRead
}""", "", floats(192, 64), words=("'p'",)),
    Pair("local memory", "a halo that is not loaded", """
kernel void k(global const float *in, global float *out) {
    local float tile[34];
    int l = get_local_id(0), i = get_global_id(0);
    tile[l + 1] = in[i + 1];
    if (l == 0)
        tile[0] = in[i];
    if (l == 31)  // FIX
        tile[33] = in[i + 2];  // FIX
    barrier(CLK_LOCAL_MEM_FENCE);
    out[i] = tile[l] + tile[l + 1] + tile[l + 2];  // HERE UninitializedRead
}""", f"""
@kernel
def k(item: nd_item[1], src: ptr[float32], out: ptr[float32]):
    {LOCAL.format("float32, 34")}
    l, i = item.get_local_id(0), item.get_global_id(0)
    tile[l + 1] = src[i + 1]
    if l == 0:
        tile[0] = src[i]
    if l == 31:  # FIX
        tile[33] = src[i + 2]  # FIX
    group_barrier(item.get_group())
    out[i] = tile[l] + tile[l + 1] + tile[l + 2]  # HERE UninitializedRead
""", floats(66, 64), words=("lane 15",)),
    Pair("local memory", "the count of a work-group", """
kernel void k(global const int *a, global int *out) {
    local int count;
    if (get_local_id(0) == 0)  // FIX
        count = 0;  // FIX
    barrier(CLK_LOCAL_MEM_FENCE);
    if (a[get_global_id(0)] > 0)
        atomic_inc(&count);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) == 0)
        out[get_group_id(0)] = count;  // HERE UninitializedRead
}""", f"""
@kernel
def k(item: nd_item[1], a: ptr[int32], out: ptr[int32]):
    {LOCAL.format("int32, 1")}
    if item.get_local_id(0) == 0:  # FIX
        tile[0] = 0  # FIX
    group_barrier(item.get_group())
    if a[item.get_global_id(0)] > 0:
        atomic_ref[int32, memory_order.relaxed, memory_scope.work_group](tile[0]).fetch_add(1)
    group_barrier(item.get_group())
    if item.get_local_id(0) == 0:
        out[item.get_group(0)] = tile[0]  # HERE UninitializedRead
""", ints(64, 2)),
    Pair("device memory", "a sum that begins nowhere", """
kernel void k(global const int *a, global int *sums, global int *out) {
    int i = get_global_id(0);
    sums[i] = a[i];  // FIX
    sums[i] += a[i];  // BUG HERE UninitializedRead
    out[i] = sums[i];
}""", """
@kernel
def k(item: nd_item[1], a: ptr[int32], sums: ptr[int32], out: ptr[int32]):
    i = item.get_global_id(0)
    sums[i] = a[i]  # FIX
    sums[i] += a[i]  # BUG HERE UninitializedRead
    out[i] = sums[i]
""", lambda: [*ints(64)(), on_the_device, *ints(64)()], words=("'sums'",)),
    Pair("a matrix", "an accumulator of a loop over K", OPERANDS + """
__attribute__((intel_reqd_sub_group_size(16)))
kernel void k(global const char *A, global const char *B, global int *C) {
    MATRIX(int, 8, 16, ACCUMULATOR) c;  // BUG
    MATRIX(int, 8, 16, ACCUMULATOR) c = coop_mat_init(0);  // FIX
    for (int i = 0; i < 64; i += 32) {
        MATRIX(char, 8, 32, A) a = coop_mat_load(A + i, ROW, 64);
        MATRIX(char, 32, 16, B) b = coop_mat_load(B + i * 16, ROW, 16);
        c = coop_matmul_add(a, b, c, 15);
    }
    coop_mat_store(C, c, ROW, 16);  // HERE UninitializedRead
}""", """
@kernel(sub_group_size=16)
def k(item: nd_item[1], A: ptr[int8], B: ptr[int8], C: ptr[int32]):
    sg = item.get_sub_group()
    a = joint_matrix(sub_group, int8, use.a, 8, 32, layout.row_major)
    b = joint_matrix(sub_group, int8, use.b, 32, 16, layout.row_major)
    c = joint_matrix(sub_group, int32, use.accumulator, 8, 16)
    joint_matrix_fill(sg, c, 0)  # FIX
    for i in range(0, 64, 32):
        joint_matrix_load(sg, a, A + i, 64)
        joint_matrix_load(sg, b, B + i * 16, 16)
        joint_matrix_mad(sg, c, a, b, c)
    joint_matrix_store(sg, c, C, 16, layout.row_major)  # HERE UninitializedRead
""", products, (16,), (16,), ("'c'",)),
    Pair("components of a matrix", "half of them are set", TILE + """
__attribute__((intel_reqd_sub_group_size(16)))
kernel void k(global const float *a, global float *out) {
    TILE(8, 16) m;
    for (int i = 0; i < coop_mat_length(m) - 1; ++i)  // BUG
    for (int i = 0; i < coop_mat_length(m); ++i)  // FIX
        m[i] = a[get_local_id(0)];
    coop_mat_store(out, m, ROW, 16);  // HERE UninitializedRead
}""", """
@kernel(sub_group_size=16)
def k(item: nd_item[1], a: ptr[float32], out: ptr[float32]):
    sg = item.get_sub_group()
    m = joint_matrix(sub_group, float32, use.accumulator, 8, 16)
    n = joint_matrix(sub_group, float32, use.accumulator, 8, 16)
    joint_matrix_load(sg, n, a, 16, layout.row_major)
    joint_matrix_apply(sg, m, lambda x, row, col: x if row == 7 else 1.0)  # BUG
    joint_matrix_apply(sg, m, lambda x, row, col: 1.0 * row)  # FIX
    joint_matrix_store(sg, m + n, out, 16, layout.row_major)  # HERE UninitializedRead
""", floats(128, 128), (16,), (16,), ("'m'",)),
    Pair("one element of a product's operand", "K is a little short", OPERANDS + """
__attribute__((intel_reqd_sub_group_size(16)))
kernel void k(global const char *A, global const char *B, global int *C) {
    local char tile[512];
    int n = 511;  // BUG
    int n = 512;  // FIX
    for (int i = get_local_id(0); i < n; i += 16)
        tile[i] = B[i];
    sub_group_barrier(CLK_LOCAL_MEM_FENCE);
    MATRIX(char, 8, 32, A) a = coop_mat_load(A, ROW, 32);
    MATRIX(char, 32, 16, B) b = coop_mat_load(tile, ROW, 16);
    MATRIX(int, 8, 16, ACCUMULATOR) c = coop_mat_init(0);
    c = coop_matmul_add(a, b, c, 15);
    coop_mat_store(C, c, ROW, 16);  // HERE UninitializedRead
}""", f"""
@kernel(sub_group_size=16)
def k(item: nd_item[1], A: ptr[int8], B: ptr[int8], C: ptr[int32]):
    sg = item.get_sub_group()
    a = joint_matrix(sub_group, int8, use.a, 8, 32, layout.row_major)
    b = joint_matrix(sub_group, int8, use.b, 32, 16, layout.row_major)
    c = joint_matrix(sub_group, int32, use.accumulator, 8, 16)
    {LOCAL.format("int8, 512")}
    n = 511  # BUG
    n = 512  # FIX
    for i in range(item.get_local_id(0), n, 16):
        tile[i] = B[i]
    group_barrier(sg)
    joint_matrix_fill(sg, c, 0)
    joint_matrix_load(sg, a, A, 32)
    joint_matrix_load(sg, b, tile, 16)
    joint_matrix_mad(sg, c, a, b, c)
    joint_matrix_store(sg, c, C, 16, layout.row_major)  # HERE UninitializedRead
""", products, (16,), (16,), (r"element \(31, 15\) of B", "column 15, by k = 31")),
    Pair("through a copy", "a ring of local memory", """
kernel void k(global const int *a, global int *out) {
    local int tile[64];
    int l = get_local_id(0);
    tile[2 * l] = a[l];
    tile[2 * l + 1] = a[l];  // FIX
    barrier(CLK_LOCAL_MEM_FENCE);
    int2 pair = vload2(l, tile);
    int own[2] = {pair.y, pair.x};
    out[get_global_id(0)] = own[0] + own[1];  // HERE UninitializedRead
}""", f"""
@kernel
def k(item: nd_item[1], a: ptr[int32], out: ptr[int32]):
    {LOCAL.format("int32, 64")}
    l = item.get_local_id(0)
    tile[2 * l] = a[l]
    tile[2 * l + 1] = a[l]  # FIX
    group_barrier(item.get_group())
    own = [tile[2 * l + 1], tile[2 * l]]
    first, second = own
    out[item.get_global_id(0)] = first + second  # HERE UninitializedRead
""", ints(64, 64), words=("of which a part has not been written",)),
    Pair("through a choice", "the neighbour or nothing", """
kernel void k(global const float *a, global float *out) {
    local float tile[32];
    int l = get_local_id(0);
    if (l < 31)  // BUG
        tile[l] = a[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    float next = l < 31 ? tile[l + 1] : 0;
    out[get_global_id(0)] = next;  // HERE UninitializedRead
}""", f"""
@kernel
def k(item: nd_item[1], a: ptr[float32], out: ptr[float32]):
    {LOCAL.format("float32, 32")}
    l = item.get_local_id(0)
    if l < 31:  # BUG
    if l < 32:  # FIX
        tile[l] = a[item.get_global_id(0)]
    group_barrier(item.get_group())
    following = tile[l + 1] if l < 31 else 0
    out[item.get_global_id(0)] = following  # HERE UninitializedRead
""", floats(64, 64), words=("lane 14",)),
    Pair("through a conversion", "a mean of bytes", """
kernel void k(global const uchar *a, global float *out) {
    local uchar tile[33];
    int l = get_local_id(0);
    tile[l] = a[l];
    if (l == 0)  // FIX
        tile[32] = a[32];  // FIX
    barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] = convert_float(tile[l] + tile[l + 1]) / 2;  // HERE UninitializedRead
}""", f"""
@kernel
def k(item: nd_item[1], a: ptr[uint8], out: ptr[float32]):
    {LOCAL.format("uint8, 33")}
    l = item.get_local_id(0)
    tile[l] = a[l]
    if l == 0:  # FIX
        tile[32] = a[32]  # FIX
    group_barrier(item.get_group())
    out[item.get_global_id(0)] = float32(tile[l] + tile[l + 1]) / 2  # HERE UninitializedRead
""", lambda: [np.ones(64, np.uint8), np.zeros(64, np.float32)], words=("lane 15",)),
    Pair("through a shuffle", "a value that one work-item has loaded", """
__attribute__((intel_reqd_sub_group_size(16)))
kernel void k(global const float *a, global float *out) {
    float scale;
    if (get_sub_group_local_id() == 0)
        scale = a[get_sub_group_id()];
    out[get_global_id(0)] = sub_group_shuffle(scale, 1);  // BUG HERE UninitializedRead
    out[get_global_id(0)] = sub_group_shuffle(scale, 0);  // FIX
}""", """
@kernel(sub_group_size=16)
def k(item: nd_item[1], a: ptr[float32], out: ptr[float32]):
    sg = item.get_sub_group()
    if sg.leader():
        scale = a[sg.get_group_id()]
    out[item.get_global_id(0)] = select_from_group(sg, scale, 1)  # BUG HERE UninitializedRead
    out[item.get_global_id(0)] = select_from_group(sg, scale, 0)  # FIX
""", floats(64, 64), words=("'scale'",)),
    Pair("an address", "indices of a gather", """
kernel void k(global const int *index, global const float *a, global float *out) {
    local int at[32];
    int l = get_local_id(0);
    if (index[l] > 0)  // BUG
        at[l] = index[l];
    barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] = a[at[31 - l]];  // HERE UninitializedRead
}""", f"""
@kernel
def k(item: nd_item[1], index: ptr[int32], a: ptr[float32], out: ptr[float32]):
    {LOCAL.format("int32, 32")}
    l = item.get_local_id(0)
    if index[l] > 0:  # BUG
    if index[l] >= 0:  # FIX
        tile[l] = index[l]
    group_barrier(item.get_group())
    out[item.get_global_id(0)] = a[tile[31 - l]]  # HERE UninitializedRead
""", lambda: [*ints(32)(), *floats(64, 64)()], words=("the address of an access",)),
    Pair("a branch", "a flag of the work-group", """
kernel void k(global const int *a, global int *out) {
    local int any;
    if (get_local_id(0) == 0)  // FIX
        any = 0;  // FIX
    barrier(CLK_LOCAL_MEM_FENCE);
    if (a[get_global_id(0)] == 31)
        any = 1;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (any)  // HERE UninitializedRead
        out[get_global_id(0)] = 1;
}""", f"""
@kernel
def k(item: nd_item[1], a: ptr[int32], out: ptr[int32]):
    {LOCAL.format("int32, 1")}
    if item.get_local_id(0) == 0:  # FIX
        tile[0] = 0  # FIX
    group_barrier(item.get_group())
    if a[item.get_global_id(0)] == 31:
        tile[0] = 1
    group_barrier(item.get_group())
    if tile[0]:  # HERE UninitializedRead
        out[item.get_global_id(0)] = 1
""", lambda: [np.arange(64, dtype=np.int32), *ints(64)()], words=("condition of a branch",)),
    Pair("an operand of a group operation", "a sum over a partly filled tile", """
__attribute__((intel_reqd_sub_group_size(16)))
kernel void k(global const int *a, global int *out, int n) {
    int x;  // BUG
    int x = 0;  // FIX
    if (get_global_id(0) < n)
        x = a[get_global_id(0)];
    out[get_global_id(0)] = sub_group_reduce_add(x);  // HERE UninitializedRead
}""", """
@kernel(sub_group_size=16)
def k(item: nd_item[1], a: ptr[int32], out: ptr[int32], n: int32):
    i = item.get_global_id(0)
    x = 0  # FIX
    if i < n:
        x = a[i]
    out[i] = reduce_over_group(item.get_sub_group(), x, plus())  # HERE UninitializedRead
""", lambda: [*ints(64, 64)(), 50], words=("an operand of", "'x'")),
]
