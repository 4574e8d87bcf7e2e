"""Accesses outside of memory or at odd addresses, group operations that not all of a group reach, layouts, limits."""

from __future__ import annotations

import numpy as np

from tests.kit.checks.pairs import Pair
from tests.targets.simulator.checks.pairs.races import TILE, floats, ints
from tests.targets.simulator.checks.pairs.uninitialized import OPERANDS


def halves(*sizes: int):
    """Arrays of ones."""
    return lambda: [np.ones(size, np.float16) for size in sizes]


OUTSIDE = [
    Pair("outside of global memory", "the last neighbour", """
kernel void k(global const float *a, global float *out, int n) {
    int i = get_global_id(0);
    if (i < n)  // BUG
    if (i < n - 1)  // FIX
        out[i] = a[i + 1] - a[i];  // HERE OutOfBounds
}""", """
@kernel
def k(item: nd_item[1], a: ptr[float32], out: ptr[float32], n: int32):
    i = item.get_global_id(0)
    if i < n:  # BUG
    if i < n - 1:  # FIX
        out[i] = a[i + 1] - a[i]  # HERE OutOfBounds
""", lambda: [*floats(60, 60)(), 60], words=("argument 0 'a', element 60",)),
    Pair("outside of global memory", "a launch that is rounded up", """
kernel void k(global float *a, int n) {
    int i = get_global_id(0);
    if (i < n)  // FIX
        a[i] *= 2;  // HERE OutOfBounds
}""", """
@kernel
def k(item: nd_item[1], a: ptr[float32], n: int32):
    i = item.get_global_id(0)
    if i < n + 4:  # BUG
    if i < n:  # FIX
        a[i] *= 2  # HERE OutOfBounds
""", lambda: [*floats(50)(), 50], words=("argument 0 'a', element 50",)),
    Pair("outside of global memory", "a number below zero is a large unsigned one", """
kernel void k(global const int *a, global int *out) {
    uint i = get_global_id(0);
    if (i - 1 >= 0)  // BUG
    if (i >= 1)  // FIX
        out[i] = a[i - 1];  // HERE OutOfBounds
}""", """
@kernel
def k(item: nd_item[1], a: ptr[int32], out: ptr[int32]):
    i = uint32(item.get_global_id(0))
    if i - uint32(1) >= 0:  # BUG
    if i >= 1:  # FIX
        out[i] = a[i - uint32(1)]  # HERE OutOfBounds
""", ints(64, 64), words=("argument 0 'a'",)),
    Pair("outside of local memory", "a tile without its padding", """
kernel void k(global const float *in, global float *out) {
    local float tile[8 * 8];  // BUG
    local float tile[8 * 9];  // FIX
    int x = get_local_id(0), y = get_local_id(1);
    tile[y * 9 + x] = in[8 * y + x];  // HERE OutOfBounds
    barrier(CLK_LOCAL_MEM_FENCE);
    out[8 * y + x] = tile[x * 9 + y];
}""", """
@kernel
def k(item: nd_item[2], src: ptr[float32], out: ptr[float32]):
    tile = group_local_memory_for_overwrite[float32, 64](item.get_group()).get_multi_ptr()  # BUG
    tile = group_local_memory_for_overwrite[float32, 72](item.get_group()).get_multi_ptr()  # FIX
    y, x = item.get_local_id()
    tile[y * 9 + x] = src[8 * y + x]  # HERE OutOfBounds
    group_barrier(item.get_group())
    out[8 * y + x] = tile[x * 9 + y]
""", floats(64, 64), (8, 8), (8, 8), ("element 64",)),
    Pair("outside of a private array", "the best four by insertion", """
kernel void k(global const int *a, global int *out) {
    int best[4] = {0, 0, 0, 0};
    for (int i = 0; i < 16; ++i) {
        int at = 4;
        while (at > 0 && best[at - 1] < a[i])
            --at;
        for (int j = 3; j > at; --j)
            best[j] = best[j - 1];
        if (at < 4)  // FIX
            best[at] = a[i];  // HERE OutOfBounds
    }
    out[get_global_id(0)] = best[0];
}""", """
@kernel
def k(item: nd_item[1], a: ptr[int32], out: ptr[int32]):
    best = [0, 0, 0, 0]
    for i in range(16):
        at = 4
        while at > 0 and best[at - 1] < a[i]:
            at -= 1
        for j in range(3, at, -1):
            best[j] = best[j - 1]
        if at < 5:  # BUG
        if at < 4:  # FIX
            best[at] = a[i]  # HERE OutOfBounds
    out[item.get_global_id(0)] = best[0]
""", lambda: [np.array([5, 9, 7, 8, 6, 1, 2, 3] * 2, np.int32), *ints(64)()], words=("'best'",)),
    Pair("outside of a vector", "the component of an axis", """
kernel void k(global const float *a, global float *out, int axes) {
    float4 p = vload4(get_global_id(0), a);
    float sum = 0;
    for (int axis = 0; axis <= axes; ++axis)  // BUG
    for (int axis = 0; axis < axes; ++axis)  // FIX
        sum += ((float *)&p)[axis];  // HERE OutOfBounds
    out[get_global_id(0)] = sum;
}""", """
@kernel
def k(item: nd_item[1], a: ptr[float32], out: ptr[float32], axes: int32):
    i = item.get_global_id(0)
    p = float4(a[4 * i], a[4 * i + 1], a[4 * i + 2], a[4 * i + 3])
    total = float32(0)
    for axis in range(axes + 1):  # BUG
    for axis in range(axes):  # FIX
        total += p[axis]  # HERE OutOfBounds
    out[i] = total
""", lambda: [*floats(256, 64)(), 4], words=("4",)),
    Pair("outside by an element of a matrix", "the last tile of a matrix of 20 rows", TILE + """
__attribute__((intel_reqd_sub_group_size(16)))
kernel void k(global const float *a, global float *out) {
    size_t tile = get_group_id(0);
    TILE(8, 16) m = coop_mat_load(a + tile * 128, ROW, 16);  // BUG HERE OutOfBounds
    TILE(8, 16) m = coop_mat_load(a + min(tile * 8, 12ul) * 16, ROW, 16);  // FIX
    coop_mat_store(out + tile * 128, m, ROW, 16);
}""", """
@kernel(sub_group_size=16)
def k(item: nd_item[1], a: ptr[float32], out: ptr[float32]):
    sg, tile = item.get_sub_group(), item.get_group(0)
    m = joint_matrix(sub_group, float32, use.accumulator, 8, 16)
    joint_matrix_load(sg, m, a + tile * 128, 16, layout.row_major)  # BUG HERE OutOfBounds
    joint_matrix_load_checked(sg, m, a, 16, layout.row_major, 20, 16, tile * 8, 0)  # FIX
    joint_matrix_store(sg, m, out + tile * 128, 16, layout.row_major)
""", floats(320, 384), (48,), (16,), (r"element \(4, 0\)", "argument 0 'a'")),
    Pair("outside by an element of a matrix", "rows and columns of an operand exchanged", OPERANDS + """
__attribute__((intel_reqd_sub_group_size(16)))
kernel void k(global const half *A, global half *out) {
    MATRIX(half, 8, 16, A) a = coop_mat_load(A, COLUMN, 16);  // BUG HERE OutOfBounds
    MATRIX(half, 8, 16, A) a = coop_mat_load(A, COLUMN, 8);  // FIX
    coop_mat_store(out, a, ROW, 16);
}""", """
@kernel(sub_group_size=16)
def k(item: nd_item[1], A: ptr[half], out: ptr[half]):
    sg = item.get_sub_group()
    a = joint_matrix(sub_group, half, use.a, 8, 16, layout.col_major)
    joint_matrix_load(sg, a, A, 16)  # BUG HERE OutOfBounds
    joint_matrix_load(sg, a, A, 8)  # FIX
    joint_matrix_store(sg, a, out, 16)
""", halves(128, 256), (16,), (16,), ("argument 0 'A'",)),
]

MISALIGNED = [
    Pair("misaligned access", "a header of six bytes", """
kernel void k(global const uchar *packet, global int *out, int header) {
    global const int *body = (global const int *)(packet + header);  // BUG
    global const int *body = (global const int *)(packet + (header + 3 & ~3));  // FIX
    out[get_global_id(0)] = body[get_global_id(0)];  // HERE Misaligned
}""", """
@kernel
def k(item: nd_item[1], packet: ptr[uint8], out: ptr[int32], header: int32):
    body = reinterpret_cast[ptr[int32]](packet + header)  # BUG
    body = reinterpret_cast[ptr[int32]](packet + (header + 3 & ~3))  # FIX
    out[item.get_global_id(0)] = body[item.get_global_id(0)]  # HERE Misaligned
""", lambda: [np.ones(264, np.uint8), *ints(64)(), 6], words=("multiple of 4 bytes", "byte 6")),
    Pair("misaligned access", "vectors of a row of odd length", """
kernel void k(global float *a, int stride) {
    global float4 *row = (global float4 *)(a + get_global_id(0) * stride);  // BUG
    global float4 *row = (global float4 *)(a + get_global_id(0) * (stride + 3 & ~3));  // FIX
    row[0] *= 2.0f;  // HERE Misaligned
}""", """
@kernel
def k(item: nd_item[1], a: ptr[float32], stride: int32):
    row = reinterpret_cast[ptr[float4]](a + item.get_global_id(0) * stride)  # BUG
    row = reinterpret_cast[ptr[float4]](a + item.get_global_id(0) * (stride + 3 & ~3))  # FIX
    row[0] *= 2.0  # HERE Misaligned
""", lambda: [*floats(512)(), 7], words=("multiple of 16 bytes",)),
    Pair("stride of a matrix", "a stride that a device does not take", """
#define MATRIX half __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, 16, 16, CLK_COOPERATIVE_MATRIX_A)))
kernel void k(global const half *a, global half *out) {
    MATRIX m = coop_mat_load(a, CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, 18);  // BUG HERE Misaligned
    MATRIX m = coop_mat_load(a, CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, 24);  // FIX
    coop_mat_store(out, m, CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, 16);
}""", """
@kernel
def k(item: nd_item[1], a: ptr[half], out: ptr[half]):
    sg = item.get_sub_group()
    m = joint_matrix(sub_group, half, use.a, 16, 16, layout.row_major)
    joint_matrix_load(sg, m, a, 18)  # BUG HERE Misaligned
    joint_matrix_load(sg, m, a, 24)  # FIX
    joint_matrix_store(sg, m, out, 16)
""", halves(512, 512), (32,), (32,), ("multiple of 8 elements",), "sim:nvidia_gpu_sm_80"),
    Pair("stride of a matrix", "a matrix between two floats", TILE + """
__attribute__((intel_reqd_sub_group_size(16)))
kernel void k(global const char *a, global float *out, int header) {
    global const float *from = (global const float *)(a + header);  // BUG
    global const float *from = (global const float *)(a + header / 4 * 4);  // FIX
    TILE(8, 16) m = coop_mat_load(from, ROW, 16);  // HERE Misaligned
    coop_mat_store(out, m, ROW, 16);
}""", """
@kernel(sub_group_size=16)
def k(item: nd_item[1], a: ptr[int8], out: ptr[float32], header: int32):
    src = reinterpret_cast[ptr[float32]](a + header)  # BUG
    src = reinterpret_cast[ptr[float32]](a + header // 4 * 4)  # FIX
    m = joint_matrix(sub_group, float32, use.accumulator, 8, 16)
    joint_matrix_load(item.get_sub_group(), m, src, 16, layout.row_major)  # HERE Misaligned
    joint_matrix_store(item.get_sub_group(), m, out, 16, layout.row_major)
""", lambda: [np.ones(1024, np.int8), *floats(128)(), 6], (16,), (16,), ("argument 0 'a'",)),
]

DIVERGENT = [
    Pair("barrier in a branch", "work-items behind the end of the data", """
kernel void k(global const float *a, global float *out, int n) {
    local float tile[32];
    int l = get_local_id(0), i = get_global_id(0);
    if (i < n) {  // BUG
    {  // FIX
        tile[l] = i < n ? a[i] : 0;
        barrier(CLK_LOCAL_MEM_FENCE);  // HERE DivergentGroupOperation
        out[i] = tile[31 - l];
    }
}""", """
@kernel
def k(item: nd_item[1], a: ptr[float32], out: ptr[float32], n: int32):
    tile = group_local_memory_for_overwrite[float32, 32](item.get_group()).get_multi_ptr()
    l, i = item.get_local_id(0), item.get_global_id(0)
    if i < n:  # BUG
    if n > 0:  # FIX
        tile[l] = a[i] if i < n else 0
        group_barrier(item.get_group())  # HERE DivergentGroupOperation
        out[i] = tile[31 - l]
""", lambda: [*floats(64, 64)(), 50], words=("whole work-group",)),
    Pair("barrier in a branch", "those who have nothing to do leave", """
kernel void k(global float *a, int n) {
    int i = get_global_id(0);
    if (i >= n)  // BUG
    if (get_group_id(0) * 32 >= n)  // FIX
        return;
    for (int step = 1; step < 4; ++step) {
        float next = i + step < n ? a[i + step] : 0;
        barrier(CLK_GLOBAL_MEM_FENCE);  // HERE DivergentGroupOperation
        if (i < n)
            a[i] += next;
        barrier(CLK_GLOBAL_MEM_FENCE);
    }
}""", """
@kernel
def k(item: nd_item[1], a: ptr[float32], n: int32):
    i = item.get_global_id(0)
    if i >= n:  # BUG
    if item.get_group(0) * 32 >= n:  # FIX
        return
    for step in range(1, 4):
        following = a[i + step] if i + step < n else 0
        group_barrier(item.get_group())  # HERE DivergentGroupOperation
        if i < n:
            a[i] += following
        group_barrier(item.get_group())
""", lambda: [*floats(30)(), 30], words=("30 of its 32 work-items",)),
    Pair("barrier in a branch", "a loop with as many rounds as there are elements", """
kernel void k(global const float *a, global float *out, int n) {
    local float tile[32];
    float sum = 0;
    for (int i = get_local_id(0); i < n; i += 32) {  // BUG
    for (int i = get_local_id(0); i < 64; i += 32) {  // FIX
        tile[get_local_id(0)] = i < n ? a[i] : 0;
        barrier(CLK_LOCAL_MEM_FENCE);  // HERE DivergentGroupOperation
        sum += tile[31 - get_local_id(0)];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    out[get_global_id(0)] = sum;
}""", """
@kernel
def k(item: nd_item[1], a: ptr[float32], out: ptr[float32], n: int32):
    tile = group_local_memory_for_overwrite[float32, 32](item.get_group()).get_multi_ptr()
    l, total = item.get_local_id(0), float32(0)
    for i in range(l, n, 32):  # BUG
    for i in range(l, 64, 32):  # FIX
        tile[l] = a[i] if i < n else 0
        group_barrier(item.get_group())  # HERE DivergentGroupOperation
        total += tile[31 - l]
        group_barrier(item.get_group())
    out[item.get_global_id(0)] = total
""", lambda: [*floats(40, 64)(), 40], words=("whole work-group",)),
    Pair("different barriers", "producers and consumers", """
kernel void k(global const float *a, global float *out) {
    local float tile[16];
    int l = get_local_id(0);
    if (l < 16) {
        tile[l] = a[l];
        barrier(CLK_LOCAL_MEM_FENCE);  // BUG
    } else {
        barrier(CLK_LOCAL_MEM_FENCE);  // BUG HERE DivergentGroupOperation
    }
    barrier(CLK_LOCAL_MEM_FENCE);  // FIX
    out[get_global_id(0)] = tile[l % 16];
}""", """
@kernel
def k(item: nd_item[1], a: ptr[float32], out: ptr[float32]):
    tile = group_local_memory_for_overwrite[float32, 16](item.get_group()).get_multi_ptr()
    l = item.get_local_id(0)
    if l < 16:
        tile[l] = a[l]
        group_barrier(item.get_group())  # BUG
    else:
        pass
        group_barrier(item.get_group())  # BUG HERE DivergentGroupOperation
    group_barrier(item.get_group())  # FIX
    out[item.get_global_id(0)] = tile[l % 16]
""", floats(16, 64), words=("whole work-group",)),
    Pair("group operation in a branch", "a sum of those who have data", """
__attribute__((intel_reqd_sub_group_size(16)))
kernel void k(global const int *a, global int *out, int n) {
    int i = get_global_id(0), sum = 0;
    if (i < n)  // BUG
        sum = sub_group_reduce_add(a[i]);  // BUG HERE DivergentGroupOperation
    sum = sub_group_reduce_add(i < n ? a[i] : 0);  // FIX
    out[i] = sum;
}""", """
@kernel(sub_group_size=16)
def k(item: nd_item[1], a: ptr[int32], out: ptr[int32], n: int32):
    i, total = item.get_global_id(0), 0
    if i < n:  # BUG
        total = reduce_over_group(item.get_sub_group(), a[i], plus())  # BUG HERE DivergentGroupOperation
    total = reduce_over_group(item.get_sub_group(), a[i] if i < n else 0, plus())  # FIX
    out[i] = total
""", lambda: [*ints(64, 64)(), 50], words=("whole sub-group",)),
    Pair("group operation in a branch", "a sum of the work-group in a loop that breaks", """
kernel void k(global const int *a, global int *out) {
    int i = get_global_id(0), total = 0;
    for (int round = 0; round < 4; ++round) {
        if (a[i] < round)  // BUG
            break;  // BUG
        total += work_group_reduce_add(a[i] >= round);  // HERE DivergentGroupOperation
    }
    out[i] = total;
}""", """
@kernel
def k(item: nd_item[1], a: ptr[int32], out: ptr[int32]):
    i, total = item.get_global_id(0), 0
    for turn in range(4):
        if a[i] < turn:  # BUG
            break  # BUG
        total += reduce_over_group(item.get_group(), int32(a[i] >= turn), plus())  # HERE DivergentGroupOperation
    out[i] = total
""", lambda: [np.arange(64, dtype=np.int32), *ints(64)()], words=("whole work-group",)),
    Pair("matrix operation in a branch", "one work-item stores", TILE + """
__attribute__((intel_reqd_sub_group_size(16)))
kernel void k(global const float *a, global float *out) {
    TILE(8, 16) m = coop_mat_load(a, ROW, 16);
    if (get_local_id(0) == 0)  // BUG
    if (get_group_id(0) == 0)  // FIX
        coop_mat_store(out, m, ROW, 16);  // HERE DivergentGroupOperation
}""", """
@kernel(sub_group_size=16)
def k(item: nd_item[1], a: ptr[float32], out: ptr[float32]):
    sg = item.get_sub_group()
    m = joint_matrix(sub_group, float32, use.accumulator, 8, 16)
    joint_matrix_load(sg, m, a, 16, layout.row_major)
    if sg.leader():  # BUG
    if item.get_group(0) == 0:  # FIX
        joint_matrix_store(sg, m, out, 16, layout.row_major)  # HERE DivergentGroupOperation
""", floats(128, 128), (16,), (16,), ("1 of its 16 work-items",)),
    Pair("different pointers of a sub-group", "each work-item has its own tile", TILE + """
__attribute__((intel_reqd_sub_group_size(16)))
kernel void k(global const float *a, global float *out) {
    TILE(8, 16) m = coop_mat_load(a + get_global_id(0) * 16, ROW, 16);  // BUG HERE UndefinedBehavior
    TILE(8, 16) m = coop_mat_load(a + get_group_id(0) * 128, ROW, 16);  // FIX
    coop_mat_store(out + get_group_id(0) * 128, m, ROW, 16);
}""", """
@kernel(sub_group_size=16)
def k(item: nd_item[1], a: ptr[float32], out: ptr[float32]):
    sg = item.get_sub_group()
    m = joint_matrix(sub_group, float32, use.accumulator, 8, 16)
    joint_matrix_load(sg, m, a + item.get_global_id(0) * 16, 16, layout.row_major)  # BUG HERE UndefinedBehavior
    joint_matrix_load(sg, m, a + item.get_group(0) * 128, 16, layout.row_major)  # FIX
    joint_matrix_store(sg, m, out + item.get_group(0) * 128, 16, layout.row_major)
""", floats(1024, 1024), (64,), (16,), ("pointer",)),
]

LAYOUTS = [
    Pair("another layout", "an attention's scores, transposed by mistake", TILE + """
__attribute__((intel_reqd_sub_group_size(16)))
kernel void k(global const float *a, global float *out) {
    local float tile[256];
    TILE(16, 16) m = coop_mat_load(a, ROW, 16);
    coop_mat_store(tile, m, CLK_COOPERATIVE_MATRIX_LAYOUT_COLUMN_MAJOR, 16);  // BUG
    coop_mat_store(tile, m, ROW, 16);  // FIX
    sub_group_barrier(CLK_LOCAL_MEM_FENCE);
    m = coop_mat_load(tile, ROW, 16);  // HERE LayoutWarning
    coop_mat_store(out, m, ROW, 16);
}""", """
@kernel(sub_group_size=16)
def k(item: nd_item[1], a: ptr[float32], out: ptr[float32]):
    sg = item.get_sub_group()
    tile = group_local_memory_for_overwrite[float32, 256](item.get_group()).get_multi_ptr()
    m = joint_matrix(sub_group, float32, use.accumulator, 16, 16)
    joint_matrix_load(sg, m, a, 16, layout.row_major)
    joint_matrix_store(sg, m, tile, 16, layout.col_major)  # BUG
    joint_matrix_store(sg, m, tile, 16, layout.row_major)  # FIX
    group_barrier(sg)
    joint_matrix_load(sg, m, tile, 16, layout.row_major)  # HERE LayoutWarning
    joint_matrix_store(sg, m, out, 16, layout.row_major)
""", floats(256, 256), (16,), (16,), ("loads row-major what was stored column-major",), "sim:generic"),
    Pair("packed from unpacked memory", "a product's result as the next one's B", OPERANDS + """
__attribute__((intel_reqd_sub_group_size(16)))
kernel void k(global const half *A, global half *between, global half *out) {
    MATRIX(half, 16, 16, ACCUMULATOR) c = coop_mat_load(A, ROW, 16);
    coop_mat_store(between, c, ROW, 16);
    sub_group_barrier(CLK_GLOBAL_MEM_FENCE);
    MATRIX(half, 16, 16, B) b = coop_mat_load(between, PACKED, 32);  // BUG HERE LayoutWarning
    MATRIX(half, 16, 16, B) b = coop_mat_load(between, ROW, 16);  // FIX
    coop_mat_store(out, b, ROW, 16);
}""", """
@kernel(sub_group_size=16)
def k(item: nd_item[1], A: ptr[half], between: ptr[half], out: ptr[half]):
    sg = item.get_sub_group()
    c = joint_matrix(sub_group, half, use.accumulator, 16, 16)
    joint_matrix_load(sg, c, A, 16, layout.row_major)
    joint_matrix_store(sg, c, between, 16, layout.row_major)
    group_barrier(sg)
    b = joint_matrix(sub_group, half, use.b, 16, 16, layout.ext_intel_packed)  # BUG
    b = joint_matrix(sub_group, half, use.b, 16, 16, layout.row_major)  # FIX
    joint_matrix_load(sg, b, between, 32)  # BUG HERE LayoutWarning
    joint_matrix_load(sg, b, between, 16)  # FIX
    joint_matrix_store(sg, b, out, 16)
""", halves(256, 256, 256), (16,), (16,), ("loads packed what was stored row-major",), "sim:generic"),
]

LIMITS = [
    Pair("a launch beyond the device's limits", "more local memory than there is", """
kernel void k(global float *out) {
    local float tile[40000];  // BUG HERE LaunchError
    local float tile[400];  // FIX
    tile[get_local_id(0)] = 1;
    out[get_global_id(0)] = tile[get_local_id(0)];
}""", """
@kernel
def k(item: nd_item[1], out: ptr[float32]):
    tile = group_local_memory_for_overwrite[float32, 40000](item.get_group()).get_multi_ptr()  # BUG HERE LaunchError
    tile = group_local_memory_for_overwrite[float32, 400](item.get_group()).get_multi_ptr()  # FIX
    tile[item.get_local_id(0)] = 1
    out[item.get_global_id(0)] = tile[item.get_local_id(0)]
""", floats(64), words=("160000", "131072 bytes")),
    Pair("a launch beyond the device's limits", "a work-group of another size", """
__attribute__((reqd_work_group_size(16, 1, 1)))  // BUG HERE LaunchError
__attribute__((reqd_work_group_size(32, 1, 1)))  // FIX
kernel void k(global float *out) {
    out[get_global_id(0)] = 1;
}""", """
@kernel(work_group_size=16)  # BUG HERE LaunchError
@kernel(work_group_size=32)  # FIX
def k(item: nd_item[1], out: ptr[float32]):
    out[item.get_global_id(0)] = 1
""", floats(64), words=("requires work-groups of",)),
]
