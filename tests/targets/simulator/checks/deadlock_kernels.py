"""Work-items that wait for ever, or loop for ever: one in each kernel."""

from __future__ import annotations

import coopmat as cm
from tests.kit.checks.planted import Planted
from tests.targets.simulator.checks.race_kernels import ints

DEVICE = "memory_scope_device"
HAND_OVER = """
kernel void k(global atomic_int *flag, global int *data, global int *out) {
    size_t group = get_group_id(0);
    if (get_local_id(0) != 0)
        return;
    if (group == 1) {
        data[0] = 42;
        {}
    } else {
        while (atomic_load_explicit(flag, memory_order_acquire, memory_scope_device) == 0)  // HERE
            ;
        out[0] = data[0];
    }
}"""
LOCK = """
void lock(global atomic_int *l) {
    while (atomic_exchange_explicit(l, 1, memory_order_acquire, memory_scope_device) == 1)  // HERE
        ;
}
void unlock(global atomic_int *l) { atomic_store_explicit(l, 0, memory_order_release, memory_scope_device); }
kernel void k(global atomic_int *l, global int *sum) {
    {}
}"""
BARRIER = """
kernel void k(global int *out) {
    local atomic_int ready;
    local int value;
    if (get_local_id(0) == 0)
        atomic_init(&ready, 0);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_sub_group_id() == 1)
        while (atomic_load_explicit(&ready, memory_order_acquire, memory_scope_work_group) == 0)  // HERE
            ;
    else {
        {}
        if (get_local_id(0) == 0) {
            value = 7;
            atomic_store_explicit(&ready, 1, memory_order_release, memory_scope_work_group);
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] = value;
}"""
NEIGHBOUR = """
kernel void k(global atomic_int *state, global int *out) {
    size_t group = get_group_id(0), last = get_num_groups(0) - 1;
    if (get_local_id(0) == 0) {
        if ({})
            while (atomic_load_explicit(&state[group + 1], memory_order_acquire, memory_scope_device) == 0)  // HERE
                ;
        out[group] = 1;
        atomic_store_explicit(&state[group], 1, memory_order_release, memory_scope_device);
    }
}"""
PYTHON = """
@kernel(work_group_size=32, sub_group_size=16)
def k(item: nd_item[1], flag: ptr[int32], out: ptr[int32]):
    ready = atomic_ref[int32, memory_order.acq_rel, memory_scope.device](flag[0])
    if item.get_global_id(0) == 32:
        ready.store({}, memory_order.release)
    if item.get_global_id(0) == 0:
        while ready.load(memory_order.acquire) < 5:  # HERE
            pass
        out[0] = 1
"""

DEADLOCKS = [
    Planted("a flag that nobody sets", HAND_OVER, "",
            f"atomic_store_explicit(flag, 1, memory_order_release, {DEVICE});", cm.Deadlock,
            ("element 0 of argument 0 'flag' to be other than 0", "has ended"), ints(1, 1, 1)),
    Planted("a flag with the wrong value", HAND_OVER,
            f"atomic_store_explicit(flag, 0, memory_order_release, {DEVICE});",
            f"atomic_store_explicit(flag, 2, memory_order_release, {DEVICE});", cm.Deadlock, ("waits for",),
            ints(1, 1, 1)),
    Planted("a lock for each work-item of a sub-group", LOCK, "lock(l); sum[0] += 1; unlock(l);",
            "if (get_sub_group_local_id() == 0) { lock(l); sum[0] += 1; unlock(l); }", cm.Deadlock,
            ("element 0 of argument 0 'l' to be other than 1", "lane 0 of sub-group 0", "let one work-item"),
            ints(1, 1)),
    Planted("a lock that is never given back", LOCK, "if (get_local_id(0) == 0) { lock(l); sum[0] += 1; }",
            "if (get_local_id(0) == 0) { lock(l); sum[0] += 1; unlock(l); }", cm.Deadlock, ("to be other than 1",),
            ints(1, 1)),
    Planted("a barrier between the flag and who waits for it", BARRIER, "barrier(CLK_LOCAL_MEM_FENCE);",
            "sub_group_barrier(CLK_LOCAL_MEM_FENCE);", cm.Deadlock,
            ("variable 'ready'", r"sub-group 0 of work-group .* waits for the rest of its work-group at the barrier",
             r":12:\d+")),
    Planted("neighbours that wait in a ring", NEIGHBOUR, "group <= last", "group < last", cm.Deadlock,
            ("argument 0 'state'",), ints(3, 2)),
    Planted("a flag in Python", PYTHON, "4", "5", cm.Deadlock, ("element 0 of argument 0 'flag' to be other than 4",),
            ints(1, 1)),
    Planted("a loop without an end", """
kernel void k(global int *out, int n) {
    int i = n, j = n;
    while (i != 0)  // HERE
        {} -= 1;
    out[get_global_id(0)] = j;
}""", "j", "i", cm.SimulationError, ("endless loop",), lambda: [*ints(64)(), 3],
            options=cm.SimulatorOptions(step_limit=1000)),
]
