"""Operations that are undefined for their operands, and loops and waits without an end."""

from __future__ import annotations

import numpy as np

import coopmat as cm
from tests.kit.checks.pairs import Pair
from tests.targets.simulator.checks.pairs.races import floats, ints

SIGNED = "-fsanitize=signed-integer-overflow"
SHORT = cm.SimulatorOptions(step_limit=2000)


def counting():
    """The numbers from 0 on, and zeros."""
    return [np.arange(64, dtype=np.int32), np.zeros(64, np.int32)]


UNDEFINED = [
    Pair("integer division by zero", "the mean of an empty bin", """
kernel void k(global const int *count, global int *sum) {
    int i = get_global_id(0);
    if (count[i])  // FIX
        sum[i] /= count[i];  // HERE UndefinedBehavior
}""", """
@kernel
def k(item: nd_item[1], count: ptr[int32], total: ptr[int32]):
    i = item.get_global_id(0)
    if count[i] >= 0:  # BUG
    if count[i]:  # FIX
        total[i] //= count[i]  # HERE UndefinedBehavior
""", counting, words=("divided by zero", "lane 0")),
    Pair("integer division by zero", "a hash modulo the table's size", """
kernel void k(global const int *size, global int *hash) {
    uint i = get_global_id(0), n = size[i];
    hash[i] = i * 2654435761u % n;  // BUG HERE UndefinedBehavior
    hash[i] = i * 2654435761u % max(n, 1u);  // FIX
}""", """
@kernel
def k(item: nd_item[1], size: ptr[int32], hashed: ptr[int32]):
    i = uint32(item.get_global_id(0))
    n = uint32(size[i])
    hashed[i] = i * uint32(2654435761) % n  # BUG HERE UndefinedBehavior
    hashed[i] = i * uint32(2654435761) % max(n, uint32(1))  # FIX
""", counting, words=("divided by zero",)),
    Pair("the smallest integer by -1", "fixed-point numbers by their sign", """
kernel void k(global const int *a, global int *out) {
    int i = get_global_id(0), sign = a[i] < 0 ? -1 : 1;
    out[i] = a[i] / sign;  // BUG HERE UndefinedBehavior
    out[i] = abs_diff(a[i], 0);  // FIX
}""", """
@kernel
def k(item: nd_item[1], a: ptr[int32], out: ptr[int32]):
    i = item.get_global_id(0)
    s = -1 if a[i] < 0 else 1
    out[i] = a[i] // s  # BUG HERE UndefinedBehavior
    out[i] = a[i] if a[i] > 0 else 0 - a[i]  # FIX
""", lambda: [np.array([5, -7, -2**31, 1] * 16, np.int32), *ints(64)()], words=("overflows", "lane 2")),
    Pair("a shift by the width or more", "a mask of as many bits as there are lanes", "", """
@kernel
def k(item: nd_item[1], bits: ptr[int32], out: ptr[int32]):
    i = item.get_global_id(0)
    out[i] = (1 << bits[i]) - 1  # BUG HERE UndefinedBehavior
    out[i] = (1 << bits[i]) - 1 if bits[i] < 32 else -1  # FIX
""", lambda: [np.arange(64, dtype=np.int32) % 33, *ints(64)()], words=("from 0 to 31", "lane 0")),
    Pair("a shift by the width or more", "bits before the first", "", """
@kernel
def k(item: nd_item[1], first: ptr[int32], words: ptr[uint32]):
    i = item.get_global_id(0)
    words[i] = words[i] >> (first[i] - 1)  # BUG HERE UndefinedBehavior
    words[i] = words[i] >> (first[i] - 1) if first[i] > 0 else words[i] << 1  # FIX
""", lambda: [np.arange(64, dtype=np.int32) % 32, np.ones(64, np.uint32)], words=("from 0 to 31",)),
    Pair("a floating-point number that no integer holds", "quantisation without clamping", """
kernel void k(global const float *x, global char *q, float scale) {
    int i = get_global_id(0);
    q[i] = convert_char(x[i] / scale);  // BUG HERE UndefinedBehavior
    q[i] = convert_char_sat(x[i] / scale);  // FIX
}""", """
@kernel
def k(item: nd_item[1], x: ptr[float32], q: ptr[int8], scale: float32):
    i = item.get_global_id(0)
    q[i] = int8(x[i] / scale)  # BUG HERE UndefinedBehavior
    q[i] = int8(clamp(x[i] / scale, -128, 127))  # FIX
""", lambda: [np.arange(-200, -8, 3, dtype=np.float32), np.zeros(64, np.int8), 1.0], words=("8 bits",)),
    Pair("a floating-point number that no integer holds", "an index of a NaN", """
kernel void k(global const float *x, global int *bins) {
    float v = x[get_global_id(0)];
    if (!(v < 0))  // BUG
    if (v >= 0)  // FIX
        atomic_inc(&bins[(int)v]);  // HERE UndefinedBehavior
}""", """
@kernel
def k(item: nd_item[1], x: ptr[float32], bins: ptr[int32]):
    v = x[item.get_global_id(0)]
    if not v < 0:  # BUG
    if v >= 0:  # FIX
        to = int32(v)  # HERE UndefinedBehavior
        atomic_ref[int32, memory_order.relaxed, memory_scope.device](bins[to]).fetch_add(1)
""", lambda: [np.where(np.arange(64) == 7, np.nan, 3).astype(np.float32), *ints(4)()], words=("NaN", "lane 7")),
    Pair("a shuffle from an absent work-item", "differences of neighbours", """
__attribute__((intel_reqd_sub_group_size(16)))
kernel void k(global const int *a, global int *out) {
    int i = get_global_id(0), lane = get_sub_group_local_id();
    int next = sub_group_shuffle_down(a[i], 1u);
    out[i] = next - a[i];  // BUG HERE UndefinedBehavior
    out[i] = lane < 15 ? next - a[i] : 0;  // FIX
}""", """
@kernel(sub_group_size=16)
def k(item: nd_item[1], a: ptr[int32], out: ptr[int32]):
    i, sg = item.get_global_id(0), item.get_sub_group()
    following = shift_group_left(sg, a[i], 1)
    out[i] = following - a[i]  # BUG HERE UndefinedBehavior
    out[i] = following - a[i] if sg.get_local_id() < 15 else 0  # FIX
""", counting, words=("from lane 16",)),
    Pair("a shuffle from an absent work-item", "a maximum among those who are in a branch", """
__attribute__((intel_reqd_sub_group_size(16)))
kernel void k(global const int *a, global int *out) {
    int i = get_global_id(0), x = a[i];
    if (get_sub_group_local_id() < 8)
        x = max(x, sub_group_shuffle_xor(x, 8u));  // BUG
        x = max(x, sub_group_shuffle_xor(x, 4u));  // FIX
    out[i] = x;  // HERE UndefinedBehavior
}""", """
@kernel(sub_group_size=16)
def k(item: nd_item[1], a: ptr[int32], out: ptr[int32]):
    i, sg = item.get_global_id(0), item.get_sub_group()
    x = a[i]
    if sg.get_local_id() < 8:
        x = max(x, permute_group_by_xor(sg, x, 8))  # BUG
        x = max(x, permute_group_by_xor(sg, x, 4))  # FIX
    out[i] = x  # HERE UndefinedBehavior
""", counting, words=("takes no part",)),
    Pair("overflow before saturation", "a dot product of bytes", """
kernel void k(global const uint *a, global int *out) {
    int i = get_global_id(0);
    out[i] = dot_acc_sat(as_short2(a[i]), as_short2(a[i]), 1);  // BUG HERE UndefinedBehavior
    out[i] = dot_acc_sat(convert_short2(as_short2(a[i]) / (short)2), as_short2(a[i]), 1);  // FIX
}""", "", lambda: [np.full(64, 0x80008000, np.uint32), *ints(64)()], words=("overflow",)),
    Pair("a false assumption", "a multiple of four", """
kernel void k(global const int *a, global int *out, int n) {
    __builtin_assume(n % 4 == 0);  // BUG HERE UndefinedBehavior
    __builtin_assume(n % 2 == 0);  // FIX
    for (int i = 0; i < n; ++i)
        out[get_global_id(0)] += a[i];
}""", "", lambda: [*ints(64, 64)(), 6], words=("assumption",)),
    Pair("a false assumption", "an alignment", """
kernel void k(global const float *a, global float *out, int first) {
    global const float *from = __builtin_assume_aligned(a + first, 16);  // BUG HERE UndefinedBehavior
    global const float *from = __builtin_assume_aligned(a + first, 4);  // FIX
    out[get_global_id(0)] = from[get_global_id(0)];
}""", "", lambda: [*floats(128, 64)(), 2]),
    Pair("signed overflow", "a linear index of a large matrix", """
kernel void k(global int *out, int rows, int columns) {
    int i = get_global_id(0);
    out[i] = (int)((rows - 1) * columns > i);  // BUG HERE SignedOverflowWarning
    out[i] = (int)((long)(rows - 1) * columns > i);  // FIX
}""", """
@kernel
def k(item: nd_item[1], out: ptr[int32], rows: int32, columns: int32):
    i = item.get_global_id(0)
    out[i] = int32((rows - 1) * columns > i)  # BUG HERE SignedOverflowWarning
    out[i] = int32(int64(rows - 1) * int64(columns) > i)  # FIX
""", lambda: [*ints(64)(), 65537, 65536], build=SIGNED, words=("does not fit a signed integer of 32 bits",)),
]

WAITING = [
    Pair("an endless loop", "a binary search that does not come closer", """
kernel void k(global const int *sorted, global int *out, int n) {
    int key = get_global_id(0), low = 0, high = n;
    while (low < high) {  // HERE SimulationError
        int middle = (low + high) / 2;
        if (sorted[middle] < key)
            low = middle;  // BUG
            low = middle + 1;  // FIX
        else
            high = middle;
    }
    out[key] = low;
}""", """
@kernel
def k(item: nd_item[1], values: ptr[int32], out: ptr[int32], n: int32):
    key, low, high = item.get_global_id(0), 0, n
    while low < high:  # HERE SimulationError
        middle = (low + high) // 2
        if values[middle] < key:
            low = middle  # BUG
            low = middle + 1  # FIX
        else:
            high = middle
    out[key] = low
""", lambda: [*counting(), 64], options=SHORT, words=("endless loop",)),
    Pair("an endless loop", "a stride of zero", """
kernel void k(global int *out, int n) {
    int sum = 0;
    for (uint d = n; d >= 0; d /= 2)  // BUG HERE SimulationError
    for (uint d = n; d > 0; d /= 2)  // FIX
        sum += d;
    out[get_global_id(0)] = sum;
}""", """
@kernel
def k(item: nd_item[1], out: ptr[int32], n: int32):
    total, d = 0, n
    while d >= 0:  # BUG HERE SimulationError
    while d > 0:  # FIX
        total += d
        d //= 2
    out[item.get_global_id(0)] = total
""", lambda: [*ints(64)(), 64], options=SHORT, words=("endless loop",)),
    Pair("a wait for what nobody stores", "decoupled look-back with a flag too few", """
#define DEVICE memory_scope_device
kernel void k(global atomic_int *flags, global int *sums) {
    int group = get_group_id(0);
    if (get_local_id(0) == 0) {
        if (group > 0)
            while (!atomic_load_explicit(flags + group - 1, memory_order_acquire, DEVICE))  // HERE Deadlock
                ;
        sums[group] = group + (group > 0 ? sums[group - 1] : 0);
        if (group % 2 == 0)  // BUG
            atomic_store_explicit(flags + group, 1, memory_order_release, memory_scope_device);
    }
}""", """
@kernel
def k(item: nd_item[1], flags: ptr[int32], sums: ptr[int32]):
    group = item.get_group(0)
    if item.get_local_id(0) == 0:
        if group > 0:
            before = atomic_ref[int32, memory_order.acq_rel, memory_scope.device](flags[group - 1])
            while before.load(memory_order.acquire) == 0:  # HERE Deadlock
                pass
        sums[group] = group + (sums[group - 1] if group > 0 else 0)
        if group % 2 == 0:  # BUG
        if group >= 0:  # FIX
            own = atomic_ref[int32, memory_order.acq_rel, memory_scope.device](flags[group])
            own.store(1, memory_order.release)
""", ints(4, 4), (128,), words=("argument 0 'flags'",)),
    Pair("a wait for what nobody stores", "a barrier of all work-groups that counts wrongly", """
kernel void k(global atomic_int *arrived, global int *data, global int *out) {
    int group = get_group_id(0), groups = get_num_groups(0);
    if (get_local_id(0) == 0) {
        data[group] = group;
        atomic_fetch_add_explicit(arrived, 1, memory_order_acq_rel, memory_scope_device);
        while (atomic_load_explicit(arrived, memory_order_acquire, memory_scope_device) <= groups)  // BUG HERE Deadlock
        while (atomic_load_explicit(arrived, memory_order_acquire, memory_scope_device) < groups)  // FIX
            ;
        out[group] = data[groups - 1 - group];
    }
}""", """
@kernel
def k(item: nd_item[1], arrived: ptr[int32], data: ptr[int32], out: ptr[int32]):
    group, groups = item.get_group(0), item.get_group_range(0)
    if item.get_local_id(0) == 0:
        data[group] = group
        count = atomic_ref[int32, memory_order.acq_rel, memory_scope.device](arrived[0])
        count.fetch_add(1)
        while count.load(memory_order.acquire) <= groups:  # BUG HERE Deadlock
        while count.load(memory_order.acquire) < groups:  # FIX
            pass
        out[group] = data[groups - 1 - group]
""", ints(1, 4, 4), (128,), words=("argument 0 'arrived'",)),
    Pair("a lock of each work-item", "a spin lock in a sub-group", """
kernel void k(global atomic_int *lock, global int *sum) {
    if (get_local_id(0) < 2)  // BUG
    if (get_local_id(0) < 1) {  // FIX
    {  // BUG
        while (atomic_exchange_explicit(lock, 1, memory_order_acquire, memory_scope_device))  // HERE Deadlock
            ;
        sum[0] += 1;
        atomic_store_explicit(lock, 0, memory_order_release, memory_scope_device);
    }
}""", """
@kernel
def k(item: nd_item[1], lock: ptr[int32], total: ptr[int32]):
    own = atomic_ref[int32, memory_order.acq_rel, memory_scope.device](lock[0])
    if item.get_local_id(0) < 2:  # BUG
    if item.get_local_id(0) < 1:  # FIX
        while own.exchange(1, memory_order.acquire):  # HERE Deadlock
            pass
        total[0] += 1
        own.store(0, memory_order.release)
""", ints(1, 1), words=("let one work-item",)),
    Pair("a barrier and a wait for each other", "a consumer waits for who waits at the barrier", """
__attribute__((intel_reqd_sub_group_size(16)))
kernel void k(global atomic_int *ready, global int *out) {
    if (get_sub_group_id() == 0) {
        barrier(CLK_GLOBAL_MEM_FENCE);  // BUG
        if (get_local_id(0) == 0)
            atomic_store_explicit(ready, 1, memory_order_release, memory_scope_work_group);
    } else {
        while (atomic_load_explicit(ready, memory_order_acquire, memory_scope_work_group) == 0)  // HERE Deadlock
            ;
    }
    barrier(CLK_GLOBAL_MEM_FENCE);
    out[get_global_id(0)] = 1;
}""", """
@kernel(sub_group_size=16)
def k(item: nd_item[1], ready: ptr[int32], out: ptr[int32]):
    flag = atomic_ref[int32, memory_order.acq_rel, memory_scope.work_group](ready[0])
    if item.get_sub_group().get_group_id() == 0:
        group_barrier(item.get_group())  # BUG
        if item.get_local_id(0) == 0:
            flag.store(1, memory_order.release)
    else:
        while flag.load(memory_order.acquire) == 0:  # HERE Deadlock
            pass
    group_barrier(item.get_group())
    out[item.get_global_id(0)] = 1
""", ints(1, 32), (32,), words=("waits for the rest of its work-group at the barrier",)),
]
