"""Data races: parallel algorithms with a barrier, a fence or an order too little."""

from __future__ import annotations

import numpy as np

from tests.kit.checks.pairs import Pair


def floats(*sizes: int):
    """Arrays of ones."""
    return lambda: [np.ones(size, np.float32) for size in sizes]


def ints(*sizes: int):
    """Arrays of zeros."""
    return lambda: [np.zeros(size, np.int32) for size in sizes]


TILE = """
#define TILE(rows, columns) float __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, rows, columns, \\
                                                          CLK_COOPERATIVE_MATRIX_ACCUMULATOR)))
#define ROW CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR
"""

RACES = [
    Pair("race in a sub-group", "a tree of a sub-group, in lock-step", """
__attribute__((intel_reqd_sub_group_size(16)))
kernel void k(global const float *in, global float *out) {
    local float part[32];
    int i = get_local_id(0), lane = get_sub_group_local_id();
    part[i] = in[get_global_id(0)];
    for (int d = 8; d > 0; d /= 2) {
        sub_group_barrier(CLK_LOCAL_MEM_FENCE);  // FIX
        if (lane < d)
            part[i] += part[i + d];  // HERE DataRace
    }
    if (lane == 0)
        out[get_global_id(0) / 16] = part[i];
}""", """
@kernel(sub_group_size=16)
def k(item: nd_item[1], src: ptr[float32], out: ptr[float32]):
    part = group_local_memory_for_overwrite[float32, 32](item.get_group()).get_multi_ptr()
    sg = item.get_sub_group()
    i, lane = item.get_local_id(0), sg.get_local_id()
    part[i] = src[item.get_global_id(0)]
    d = 8
    while d > 0:
        group_barrier(sg)  # FIX
        if lane < d:
            part[i] += part[i + d]  # HERE DataRace
        d = d // 2
    if lane == 0:
        out[item.get_global_id(0) // 16] = part[i]
""", floats(64, 4), words=("sub-group",)),
    Pair("race in local memory", "a transposed tile", """
kernel void k(global const float *in, global float *out) {
    local float tile[8][9];
    int x = get_local_id(0), y = get_local_id(1);
    tile[y][x] = in[get_global_id(1) * get_global_size(0) + get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);  // FIX
    int column = get_group_id(1) * 8 + x, row = get_group_id(0) * 8 + y;
    out[row * get_global_size(1) + column] = tile[x][y];  // HERE DataRace
}""", """
@kernel
def k(item: nd_item[2], src: ptr[float32], out: ptr[float32]):
    tile = group_local_memory_for_overwrite[float32, 8, 9](item.get_group())
    y, x = item.get_local_id()
    tile[y, x] = src[item.get_global_linear_id()]
    group_barrier(item.get_group())  # FIX
    row, column = item.get_group(1) * 8 + y, item.get_group(0) * 8 + x
    out[row * item.get_global_range(0) + column] = tile[x, y]  # HERE DataRace
""", floats(256, 256), (16, 16), (8, 8), words=("barrier",)),
    Pair("race in local memory", "a tile loaded over one that is still read", """
kernel void k(global const float *in, global float *out) {
    local float tile[32];
    int l = get_local_id(0);
    float sum = 0;
    for (int step = 0; step < 2; ++step) {
        tile[l] = in[step * 32 + l];  // HERE DataRace
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int i = 0; i < 32; ++i)
            sum += tile[i];
        barrier(CLK_LOCAL_MEM_FENCE);  // FIX
    }
    out[get_global_id(0)] = sum;
}""", """
@kernel
def k(item: nd_item[1], src: ptr[float32], out: ptr[float32]):
    tile = group_local_memory_for_overwrite[float32, 32](item.get_group()).get_multi_ptr()
    l = item.get_local_id(0)
    total = float32(0)
    for step in range(2):
        tile[l] = src[step * 32 + l]  # HERE DataRace
        group_barrier(item.get_group())
        for i in range(32):
            total += tile[i]
        group_barrier(item.get_group())  # FIX
    out[item.get_global_id(0)] = total
""", floats(64, 64), words=("written here, and read",)),
    Pair("race in global memory", "odd-even transposition sort", """
kernel void k(global int *keys) {
    int l = get_local_id(0);
    global int *own = keys + get_group_id(0) * 32;
    for (int round = 0; round < 32; ++round) {
        int i = 2 * l + round % 2;
        if (i + 1 < 32 && own[i] > own[i + 1]) {  // HERE DataRace
            int larger = own[i];
            own[i] = own[i + 1];
            own[i + 1] = larger;
        }
        barrier(CLK_GLOBAL_MEM_FENCE);  // FIX
    }
}""", """
@kernel
def k(item: nd_item[1], keys: ptr[int32]):
    l = item.get_local_id(0)
    own = keys + item.get_group(0) * 32
    for turn in range(32):
        i = 2 * l + turn % 2
        if i + 1 < 32 and own[i] > own[i + 1]:  # HERE DataRace
            own[i], own[i + 1] = own[i + 1], own[i]
        group_barrier(item.get_group())  # FIX
""", lambda: [np.arange(64, 0, -1).astype(np.int32)], (32,), (16,), ("argument 0 'keys'",)),
    Pair("race between work-groups", "a step of the heat equation in its own array", """
kernel void k(global float *now, global float *then) {
    int i = get_global_id(0) + 1;
    float change = now[i - 1] - 2 * now[i] + now[i + 1];
    barrier(CLK_GLOBAL_MEM_FENCE);  // BUG
    now[i] += 0.25f * change;  // BUG HERE DataRace
    then[i] = now[i] + 0.25f * change;  // FIX
}""", """
@kernel
def k(item: nd_item[1], now: ptr[float32], then: ptr[float32]):
    i = item.get_global_id(0) + 1
    change = now[i - 1] - 2 * now[i] + now[i + 1]
    group_barrier(item.get_group())  # BUG
    now[i] += 0.25 * change  # BUG HERE DataRace
    then[i] = now[i] + 0.25 * change  # FIX
""", floats(66, 66), words=("no barrier orders work-groups",)),
    Pair("race between work-groups", "a scan that adds the block before", """
kernel void k(global int *values, global int *sums, global const int *before) {
    int i = get_global_id(0), l = get_local_id(0);
    int sum = work_group_scan_inclusive_add(values[i]);
    if (l == 31)
        sums[get_group_id(0)] = sum;
    barrier(CLK_GLOBAL_MEM_FENCE);
    if (get_group_id(0) > 0)
        sum += sums[get_group_id(0) - 1];  // BUG HERE DataRace
        sum += before[get_group_id(0) - 1];  // FIX
    values[i] = sum;
}""", """
@kernel
def k(item: nd_item[1], values: ptr[int32], sums: ptr[int32], before: ptr[const[int32]]):
    i, block = item.get_global_id(0), item.get_group(0)
    total = inclusive_scan_over_group(item.get_group(), values[i], plus())
    if item.get_local_id(0) == 31:
        sums[block] = total
    group_barrier(item.get_group())
    if block > 0:
        total += sums[block - 1]  # BUG HERE DataRace
        total += before[block - 1]  # FIX
    values[i] = total
""", ints(64, 2, 2), words=("argument 1 'sums'", "no barrier orders work-groups")),
    Pair("fence of other memory", "a stencil's halo", """
kernel void k(global const float *in, global float *out) {
    local float tile[34];
    int l = get_local_id(0), i = get_global_id(0);
    tile[l + 1] = in[i + 1];
    if (l == 0)
        tile[0] = in[i];
    if (l == 31)
        tile[33] = in[i + 2];
    barrier(CLK_GLOBAL_MEM_FENCE);  // BUG
    barrier(CLK_LOCAL_MEM_FENCE);  // FIX
    out[i] = tile[l] + tile[l + 1] + tile[l + 2];  // HERE DataRace
}""", """
@kernel
def k(item: nd_item[1], src: ptr[float32], out: ptr[float32]):
    tile = group_local_memory_for_overwrite[float32, 34](item.get_group()).get_multi_ptr()
    l, i = item.get_local_id(0), item.get_global_id(0)
    tile[l + 1] = src[i + 1]
    if l == 0:
        tile[0] = src[i]
    if l == 31:
        tile[33] = src[i + 2]
    item.barrier(fence_space.global_space)  # BUG
    item.barrier(fence_space.local_space)  # FIX
    out[i] = tile[l] + tile[l + 1] + tile[l + 2]  # HERE DataRace
""", floats(66, 64), words=("does not order local memory",)),
    Pair("fence of other memory", "neighbours in global memory", """
kernel void k(global float *a, global float *out) {
    int i = get_global_id(0);
    a[i] = i;
    barrier(CLK_LOCAL_MEM_FENCE);  // BUG
    barrier(CLK_GLOBAL_MEM_FENCE);  // FIX
    out[i] = a[i ^ 1];  // HERE DataRace
}""", """
@kernel
def k(item: nd_item[1], a: ptr[float32], out: ptr[float32]):
    i = item.get_global_id(0)
    a[i] = i
    item.barrier(fence_space.local_space)  # BUG
    item.barrier(fence_space.global_space)  # FIX
    out[i] = a[i ^ 1]  # HERE DataRace
""", floats(64, 64), words=("does not order global memory",)),
    Pair("race of matrices", "two sub-groups add to one tile", TILE + """
__attribute__((intel_reqd_sub_group_size(16)))
kernel void k(global const float *a, global float *c) {
    size_t tile = get_sub_group_id();  // FIX
    size_t tile = 0;  // BUG
    TILE(8, 16) part = coop_mat_load(a + get_sub_group_id() * 128, ROW, 16);
    TILE(8, 16) sum = coop_mat_load(c + tile * 128, ROW, 16);
    sum = sum + part;
    coop_mat_store(c + tile * 128, sum, ROW, 16);  // HERE DataRace
}""", """
@kernel(sub_group_size=16)
def k(item: nd_item[1], a: ptr[float32], c: ptr[float32]):
    sg = item.get_sub_group()
    tile = sg.get_group_id()  # FIX
    tile = 0  # BUG
    part = joint_matrix(sub_group, float32, use.accumulator, 8, 16)
    total = joint_matrix(sub_group, float32, use.accumulator, 8, 16)
    joint_matrix_load(sg, part, a + sg.get_group_id() * 128, 16, layout.row_major)
    joint_matrix_load(sg, total, c + tile * 128, 16, layout.row_major)
    total += part
    joint_matrix_store(sg, total, c + tile * 128, 16, layout.row_major)  # HERE DataRace
""", floats(256, 256), (32,), words=("argument 1 'c'",)),
    Pair("race of matrices", "an epilogue by work-items", TILE + """
__attribute__((intel_reqd_sub_group_size(16)))
kernel void k(global const float *a, global float *c) {
    local float tile[128];
    TILE(8, 16) m = coop_mat_load(a, ROW, 16);
    coop_mat_store(tile, m, ROW, 16);
    sub_group_barrier(CLK_LOCAL_MEM_FENCE);  // FIX
    for (int i = get_local_id(0); i < 128; i += 16)
        c[i] = fmax(tile[i], 0.0f);  // HERE DataRace
}""", """
@kernel(sub_group_size=16)
def k(item: nd_item[1], a: ptr[float32], c: ptr[float32]):
    sg = item.get_sub_group()
    tile = group_local_memory_for_overwrite[float32, 128](item.get_group()).get_multi_ptr()
    m = joint_matrix(sub_group, float32, use.accumulator, 8, 16)
    joint_matrix_load(sg, m, a, 16, layout.row_major)
    joint_matrix_store(sg, m, tile, 16, layout.row_major)
    group_barrier(sg)  # FIX
    for i in range(item.get_local_id(0), 128, 16):
        c[i] = max(tile[i], 0)  # HERE DataRace
""", floats(128, 128), (16,), (16,)),
    Pair("race of equal values", "whether a key is there", """
kernel void k(global const int *keys, global int *found, int key) {
    if (keys[get_global_id(0)] == key)
        found[0] = 1;  // BUG HERE DataRace
        atomic_xchg(found, 1);  // FIX
}""", """
@kernel
def k(item: nd_item[1], keys: ptr[int32], found: ptr[int32], key: int32):
    if keys[item.get_global_id(0)] == key:
        found[0] = 1  # BUG HERE DataRace
        atomic_ref[int32, memory_order.relaxed, memory_scope.device](found[0]).store(1)  # FIX
""", lambda: [*ints(64, 1)(), 0], words=("element 0 of argument 1 'found'",)),
    Pair("race of bytes", "two numbers of four bits in a byte", """
kernel void k(global const uchar *in, global uchar *out) {
    int i = get_global_id(0);
    out[i / 2] |= in[i] << 4 * (i % 2);  // BUG HERE DataRace
    if (i % 2 == 0)  // FIX
    out[i / 2] = in[i] | in[i + 1] << 4;  // FIX
}""", """
@kernel
def k(item: nd_item[1], src: ptr[uint8], out: ptr[uint8]):
    i = item.get_global_id(0)
    out[i // 2] |= src[i] << 4 * (i % 2)  # BUG HERE DataRace
    if i % 2 == 0:  # FIX
        out[i // 2] = src[i] | src[i + 1] << 4  # FIX
""",
         lambda: [np.ones(64, np.uint8), np.zeros(32, np.uint8)], words=("argument 1 'out'",)),
    Pair("race of bytes", "a pixel of three bytes as a word", """
kernel void k(global uchar *pixels, uint colour) {
    int i = get_global_id(0);
    vstore4(as_uchar4(colour), 0, pixels + 3 * i);  // BUG HERE DataRace
    vstore3(as_uchar4(colour).xyz, i, pixels);  // FIX
}""", """
@kernel
def k(item: nd_item[1], pixels: ptr[uint8], colour: uint32):
    i = item.get_global_id(0)
    for part in range(4):  # BUG
    for part in range(3):  # FIX
        pixels[3 * i + part] = colour >> (8 * part)  # HERE DataRace
""", lambda: [np.zeros(196, np.uint8), 0xff8000], words=("argument 0 'pixels'",)),
    Pair("race of atomics by their scope", "a histogram of all work-groups", """
kernel void k(global const int *in, global atomic_int *bins) {
    int bin = in[get_global_id(0)] & 7;
    atomic_fetch_add_explicit(&bins[bin], 1, memory_order_relaxed, memory_scope_work_group);  // BUG HERE DataRace
    atomic_fetch_add_explicit(&bins[bin], 1, memory_order_relaxed, memory_scope_device);  // FIX
}""", """
@kernel
def k(item: nd_item[1], src: ptr[int32], bins: ptr[int32]):
    to = src[item.get_global_id(0)] & 7
    atomic_ref[int32, memory_order.relaxed, memory_scope.work_group](bins[to]).fetch_add(1)  # BUG HERE DataRace
    atomic_ref[int32, memory_order.relaxed, memory_scope.device](bins[to]).fetch_add(1)  # FIX
""", ints(64, 8), words=("does not include both",)),
    Pair("race of an atomic and another access", "a queue's length is set back", """
kernel void k(global const int *in, global int *out) {
    local int length, items[32];
    if (get_local_id(0) == 0)
        length = 0;
    barrier(CLK_LOCAL_MEM_FENCE);  // FIX
    if (in[get_global_id(0)] >= 0)
        items[atomic_inc(&length)] = get_local_id(0);  // HERE DataRace
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) < length)
        out[get_global_id(0)] = items[get_local_id(0)];
}""", """
@kernel
def k(item: nd_item[1], src: ptr[int32], out: ptr[int32]):
    length = group_local_memory_for_overwrite[int32, 1](item.get_group()).get_multi_ptr()
    items = group_local_memory_for_overwrite[int32, 32](item.get_group()).get_multi_ptr()
    l = item.get_local_id(0)
    if l == 0:
        length[0] = 0
    group_barrier(item.get_group())  # FIX
    if src[item.get_global_id(0)] >= 0:
        end = atomic_ref[int32, memory_order.relaxed, memory_scope.work_group](length[0])
        items[end.fetch_add(1)] = l  # HERE DataRace
    group_barrier(item.get_group())
    if l < length[0]:
        out[item.get_global_id(0)] = items[l]
""", ints(64, 64), words=("atomic",)),
    Pair("race with an asynchronous copy", "the next tile over one that is read", """
kernel void k(global const float *in, global float *out) {
    local float tile[2][32];
    int l = get_local_id(0);
    event_t next = async_work_group_copy(tile[0], in, 32, 0);
    float sum = 0;
    for (int step = 0; step < 4; ++step) {
        wait_group_events(1, &next);
        if (step < 3)
            next = async_work_group_copy(tile[step & 1], in + 32 * (step + 1), 32, 0);  // BUG
            next = async_work_group_copy(tile[step + 1 & 1], in + 32 * (step + 1), 32, 0);  // FIX
        sum += tile[step & 1][31 - l];  // HERE DataRace
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    out[get_global_id(0)] = sum;
}""", "", floats(128, 64), words=("copy",)),
]

LAST_GROUP = """
kernel void k(global float *part, global const float *in, global atomic_int *done, global float *out) {
    local int is_last;
    float sum = work_group_reduce_add(in[get_global_id(0)]);
    if (get_local_id(0) == 0) {
        part[get_group_id(0)] = sum;
        is_last = atomic_fetch_add_explicit(done, 1, ORDER, memory_scope_device) == 1;  // BUG
        is_last = atomic_fetch_add_explicit(done, 1, memory_order_acq_rel, memory_scope_device) == 1;  // FIX
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    if (is_last && get_local_id(0) == 0)
        out[0] = part[0] + part[1];  // HERE DataRace
}"""
PYTHON_LAST_GROUP = """
@kernel
def k(item: nd_item[1], part: ptr[float32], src: ptr[float32], done: ptr[int32], out: ptr[float32]):
    last = group_local_memory_for_overwrite[int32, 1](item.get_group()).get_multi_ptr()
    total = reduce_over_group(item.get_group(), src[item.get_global_id(0)], plus())
    if item.get_local_id(0) == 0:
        part[item.get_group(0)] = total
        count = atomic_ref[int32, memory_order.relaxed, memory_scope.device](done[0])
        last[0] = count.fetch_add(1, ORDER) == 1  # BUG
        last[0] = count.fetch_add(1, memory_order.acq_rel) == 1  # FIX
    group_barrier(item.get_group())
    if last[0] and item.get_local_id(0) == 0:
        out[0] = part[0] + part[1]  # HERE DataRace
"""
PRODUCER = """
#define STORE memory_order_release  // FIX
#define LOAD memory_order_acquire  // FIX
#define STORE memory_order_{}  // BUG
#define LOAD memory_order_{}  // BUG
kernel void k(global atomic_int *flag, global float *data, global float *out) {{
    int l = get_local_id(0);
    if (get_group_id(0) == 0) {{
        data[l] = l;
        barrier(CLK_GLOBAL_MEM_FENCE);
        if (l == 0)
            atomic_store_explicit(flag, 1, STORE, memory_scope_device);
    }} else {{
        if (l == 0)
            while (atomic_load_explicit(flag, LOAD, memory_scope_device) == 0)
                ;
        barrier(CLK_GLOBAL_MEM_FENCE);
        out[l] = data[l];  // HERE DataRace
    }}
}}"""
PYTHON_PRODUCER = """
@kernel
def k(item: nd_item[1], flag: ptr[int32], data: ptr[float32], out: ptr[float32]):
    stores, loads = memory_order.release, memory_order.acquire  # FIX
    stores, loads = memory_order.{}, memory_order.{}  # BUG
    l = item.get_local_id(0)
    ready = atomic_ref[int32, memory_order.relaxed, memory_scope.device](flag[0])
    if item.get_group(0) == 0:
        data[l] = l
        group_barrier(item.get_group())
        if l == 0:
            ready.store(1, stores)
    else:
        if l == 0:
            while ready.load(loads) == 0:
                pass
        group_barrier(item.get_group())
        out[l] = data[l]  # HERE DataRace
"""


def hand_over(name: str, store: str, load: str) -> Pair:
    """A producer and a consumer, with the orders of the flag's store and load."""
    return Pair("memory order", name, PRODUCER.format(store, load), PYTHON_PRODUCER.format(store, load),
                lambda: [np.zeros(1, np.int32), *floats(32, 32)()], words=("argument 1 'data'",))


ORDERS = [
    *(Pair("memory order", f"the last work-group adds up, {order}",
           LAST_GROUP.replace("ORDER", f"memory_order_{order}"),
           PYTHON_LAST_GROUP.replace("ORDER", f"memory_order.{order}"),
           lambda: [*floats(2, 64)(), np.zeros(1, np.int32), *floats(1)()], words=("argument 0 'part'",))
      for order in ("relaxed", "release", "acquire")),
    hand_over("a flag that releases nothing", "relaxed", "acquire"),
    hand_over("a flag that acquires nothing", "release", "relaxed"),
    hand_over("a flag without an order", "relaxed", "relaxed"),
    Pair("memory order", "a fence that is missing", """
kernel void k(global atomic_int *flag, global float *data, global float *out) {
    if (get_local_id(0) != 0)
        return;
    if (get_group_id(0) == 0) {
        data[0] = 3;
        atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_release, memory_scope_device);
        atomic_store_explicit(flag, 1, memory_order_relaxed, memory_scope_device);
    } else {
        while (atomic_load_explicit(flag, memory_order_relaxed, memory_scope_device) == 0)
            ;
        atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_acquire, memory_scope_device);  // FIX
        out[0] = data[0];  // HERE DataRace
    }
}""", """
@kernel
def k(item: nd_item[1], flag: ptr[int32], data: ptr[float32], out: ptr[float32]):
    ready = atomic_ref[int32, memory_order.relaxed, memory_scope.device](flag[0])
    if item.get_global_id(0) == 0:
        data[0] = 3
        atomic_fence(memory_order.release, memory_scope.device)
        ready.store(1)
    elif item.get_global_id(0) == 32:
        while ready.load() == 0:
            pass
        atomic_fence(memory_order.acquire, memory_scope.device)  # FIX
        out[0] = data[0]  # HERE DataRace
""", lambda: [np.zeros(1, np.int32), *floats(1, 1)()], words=("acquire",)),
]
