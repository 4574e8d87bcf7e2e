"""Sub-groups and work-groups that wait for each other: all come to an end, in whatever order they wait."""

from __future__ import annotations

import numpy as np
import pytest

import coopmat as cm
from coopmat.spirv.analysis.types import TypeTable
from coopmat.targets.analysis.flatten import flatten
from coopmat.targets.simulator import launch
from coopmat.targets.simulator.turns.loops import waiting_loops

LOOK_BACK = """
enum { EMPTY, PART, DONE };
int state_of(global atomic_int *state) __attribute__((noinline)) {
    int found;
    do {
        found = atomic_load_explicit(state, memory_order_acquire, memory_scope_device);
    } while (found == EMPTY);
    return found;
}
void set(global atomic_int *state, int value) {
    atomic_store_explicit(state, value, memory_order_release, memory_scope_device);
}
__attribute__((reqd_work_group_size(32, 1, 1), intel_reqd_sub_group_size(16)))
kernel void k(global const int *in, global int *out, global atomic_int *state, global int *part, global int *total) {
    local int before;
    int group = GROUP, item = get_local_id(0), own = in[32 * group + item];
    int scan = work_group_scan_inclusive_add(own), all = work_group_reduce_add(own);
    if (item == 0) {
        int sum = 0;
        part[group] = all;
        if (group > 0)
            set(&state[group], PART);
        for (int other = group - 1; other >= 0; --other) {
            if (state_of(&state[other]) == DONE) {
                sum += total[other];
                break;
            }
            sum += part[other];
        }
        before = sum;
        total[group] = sum + all;
        set(&state[group], DONE);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    out[32 * group + item] = before + scan;
}"""
MEET = """
void meet(global atomic_int *count, int round) {
    barrier(CLK_GLOBAL_MEM_FENCE);
    if (get_local_id(0) == 0) {
        atomic_fetch_add_explicit(count, 1, memory_order_acq_rel, memory_scope_device);
        while (atomic_load_explicit(count, memory_order_acquire, memory_scope_device) < round * get_num_groups(0))
            ;
    }
    barrier(CLK_GLOBAL_MEM_FENCE);
}
kernel void k(global int *data, global atomic_int *count, global int *out) {
    int group = get_group_id(0), groups = get_num_groups(0);
    for (int turn = 0; turn < 5; ++turn) {
        if (get_local_id(0) == 0)
            data[group] = 100 * turn + group;
        meet(count, 2 * turn + 1);
        out[get_global_id(0)] += data[(group + turn) % groups];
        meet(count, 2 * turn + 2);
    }
}"""
SHARE = """
kernel void k(global atomic_int *next, global int *out, int total) {
    local int mine;
    for (;;) {
        if (get_local_id(0) == 0)
            mine = atomic_fetch_add_explicit(next, 1, memory_order_relaxed, memory_scope_device);
        barrier(CLK_LOCAL_MEM_FENCE);
        int found = mine;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (found >= total)
            break;
        out[found * get_local_size(0) + get_local_id(0)] = found + 1;
    }
}"""


def run(source: str, groups: int, *arguments: object, device: str = "sim:generic") -> None:
    cm.Queue(device).enqueue(cm.build(source, device=device).kernel("k"), 32 * groups, 32, *arguments).wait()


@pytest.mark.filterwarnings("ignore::coopmat.CompileWarning")
@pytest.mark.parametrize("group", ["get_group_id(0)", "get_num_groups(0) - 1 - get_group_id(0)"])
def test_decoupled_look_back(group: str) -> None:
    """The groups wait for those before them; and for those behind them, if they take their parts from the end."""
    data = np.random.default_rng(7).integers(-99, 99, 32 * 40).astype(np.int32)
    out = np.zeros_like(data)
    run(LOOK_BACK.replace("GROUP", group), 40, data, out, *(np.zeros(40, np.int32) for _ in range(3)))
    np.testing.assert_array_equal(out, np.cumsum(data, dtype=np.int32))


@pytest.mark.filterwarnings("ignore::coopmat.CompileWarning")
def test_a_barrier_of_all_work_groups() -> None:
    groups = 6
    out = np.zeros(32 * groups, np.int32)
    run(MEET, groups, np.zeros(groups, np.int32), np.zeros(1, np.int32), out)
    expected = [sum(100 * turn + (group + turn) % groups for turn in range(5)) for group in range(groups)]
    assert out.tolist() == np.repeat(expected, 32).tolist()


@pytest.mark.filterwarnings("ignore::coopmat.CompileWarning")
def test_a_part_of_such_a_barrier_is_a_race() -> None:
    with pytest.raises(cm.DataRace, match="argument 0 'data'"):
        run(MEET.replace("    barrier(CLK_GLOBAL_MEM_FENCE);\n}", "}"), 4, np.zeros(4, np.int32), np.zeros(1, np.int32),
            np.zeros(128, np.int32))


def test_work_groups_that_take_from_one_queue() -> None:
    out = np.zeros(32 * 21, np.int32)
    run(SHARE, 4, np.zeros(1, np.int32), out, 21)
    assert out.tolist() == np.repeat(np.arange(1, 22), 32).tolist()


@pytest.mark.filterwarnings("ignore::coopmat.CompileWarning")
def test_who_waits_for_a_later_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launch, "MOST_SUB_GROUPS", 8)
    arrays = [np.zeros(32 * 40, np.int32), np.zeros(32 * 40, np.int32), *(np.zeros(40, np.int32) for _ in range(3))]
    run(LOOK_BACK.replace("GROUP", "get_group_id(0)"), 40, *arrays)
    with pytest.raises(cm.Deadlock, match=r"lane 0 of sub-group 0 of work-group \(0, 0, 0\) waits for element 35 of "
                                          r"argument 2 'state' to be other than 0 .*the work-groups behind the first 4 "
                                          r"have not begun"):
        run(LOOK_BACK.replace("GROUP", "39 - get_group_id(0)"), 40, *(np.zeros_like(array) for array in arrays))


WAITS = {
    "while (atomic_load(a) == 0) { }": 1,
    "while (v[0] == 0) { }": 1,
    "while (p[0] == 0) { }": 1,
    "global int *q = p + n; while (*q == 0) { }": 1,
    "while (p[n] == 0) { ++n; }": 0,
    "for (int i = 0; p[i] == 0; ++i) { }": 0,
    "for (int i = 0; i < p[0]; ++i) { p[i] = i; }": 1,
    "int sum = 0; for (int i = 0; i < n; ++i) sum += p[0]; p[1] = sum;": 0,
    "int done = 0; while (!done) { if (atomic_xchg(p, 1) == 0) { done = 1; } }": 1,
    "for (int i = 0; i < n; ++i) atomic_inc(p + i);": 0,
    "for (int i = 0; i < n; ++i) p[i] = atomic_inc(p);": 0,
    "for (int i = 0; i < n; ++i) { while (atomic_load(a + i) == i) { } }": 2,
    "int old = atomic_load(a); while (old == 0) { }": 0,
}


@pytest.mark.filterwarnings("ignore::coopmat.CompileWarning")
@pytest.mark.parametrize("body", WAITS)
def test_loops_in_which_work_items_wait(body: str) -> None:
    module = cm.build(f"kernel void k(global atomic_int *a, volatile global int *v, global int *p, int n) {{ {body} }}"
                      ).module
    flat = flatten(module, module.entry_points[0].function_id, TypeTable(module, 16))
    assert len(waiting_loops(flat.blocks, flat.flow.loops, flat.type_of)) == WAITS[body]
