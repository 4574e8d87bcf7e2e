"""CpuOptions(races=True): what depends on the order of sub-groups and work-groups is found, and nothing else is."""

from __future__ import annotations

import re

import numpy as np
import pytest

import coopmat as cm
from coopmat.targets.cpu.program import CpuProgram
from tests.kit.fuzz import kernels_for_targets
from tests.kit.fuzz.executions import same
from tests.kit.fuzz.targets import on_device
from tests.kit.fuzz.work_group_kernels import disagreement
from tests.kit.paths import ROOT

GROUPS, LOCAL = 4, 64
SEEDS = range(6)
REVERSE = """
kernel void k(global int *data) {
    local int tile[64];
    int i = get_local_id(0);
    tile[i] = data[get_global_id(0)];
    BARRIER
    data[get_global_id(0)] = tile[63 - i];
}
"""
RACES = {
    "a missing barrier": REVERSE.replace("BARRIER", ""),
    "work-groups write one place": "kernel void k(global int *data) { data[0] = get_group_id(0) + 1; }",
    "an update that is lost": "kernel void k(global int *data) { if (get_sub_group_local_id() == 0) data[7] += 3; }",
    "a work-group reads what another one writes": """
kernel void k(global int *data) {
    int next = data[(get_global_id(0) + 64) % get_global_size(0)];
    data[get_global_id(0)] = next;
}""",
    "a variable of the module": """
global int total;
kernel void k(global int *data) { total = get_group_id(0); }""",
    "local memory of another sub-group": """
kernel void k(global int *data) {
    local int value;
    if (get_local_id(0) == 0) { value = 5; }
    if (get_local_id(0) == 32) { data[get_group_id(0)] = value; }
}""",
}
CORRECT = {
    "a barrier": REVERSE.replace("BARRIER", "barrier(CLK_LOCAL_MEM_FENCE);"),
    "a split barrier": REVERSE.replace("BARRIER", "intel_work_group_barrier_arrive(CLK_LOCAL_MEM_FENCE); "
                                       "intel_work_group_barrier_wait(CLK_LOCAL_MEM_FENCE);"),
    "sums of the work-group": """
kernel void k(global int *data) {
    int i = get_global_id(0), x = data[i];
    x = work_group_scan_inclusive_add(x) ^ work_group_scan_exclusive_max(x);
    x += work_group_broadcast(x, 37);
    data[i] = x + work_group_reduce_min(x);
}""",
    "a copy": """
kernel void k(global int *data) {
    local int tile[64];
    wait_group_events(1, (event_t[]){async_work_group_copy(tile, data + get_group_id(0) * 64, 64, 0)});
    int found = tile[63 - get_local_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    data[get_global_id(0)] = found;
}""",
    "atomics": "kernel void k(global int *data) { atomic_add(data + get_local_id(0) % 3, get_global_id(0)); }",
    "sub-groups that leave early": """
kernel void k(global int *data) {
    if (get_sub_group_id() == 1) return;
    data[get_global_id(0)] = sub_group_reduce_add(1) + get_sub_group_id();
}""",
    "work-groups that wait for earlier ones": """
kernel void k(volatile global int *data) {
    int group = get_group_id(0);
    if (get_local_id(0) == 0) {
        data[group] = 0;
        if (group > 0) {
            while (atomic_load_explicit((global atomic_int *)data + 100 + group - 1, memory_order_acquire,
                                        memory_scope_device) != 1000);
            data[group] = data[group - 1] + group;
        }
        atomic_store_explicit((global atomic_int *)data + 100 + group, 1000, memory_order_release, memory_scope_device);
    }
}""",
}


def device(seed: int = 0, **options: object) -> cm.Device:
    return cm.device("cpu", options=cm.CpuOptions(races=True, seed=seed, **options))  # type: ignore[arg-type]


def launch(source: str, chosen: cm.Device) -> np.ndarray:
    data = np.arange(GROUPS * LOCAL, dtype=np.int32)
    cm.Queue(chosen).enqueue(cm.build(source, device=chosen).kernel("k"), GROUPS * LOCAL, LOCAL, data).wait()
    return data


def message(source: str, seed: int) -> str:
    """What is reported; empty if nothing is."""
    try:
        launch(source, device(seed))
    except cm.DataRace as error:
        return str(error)
    return ""


@pytest.mark.parametrize("name", RACES)
def test_races_are_found(name: str) -> None:
    """By half of the seeds or more; the same one says the same again."""
    found = [message(RACES[name], seed) for seed in SEEDS]
    assert sum(map(bool, found)) >= 3, found
    seed = next(seed for seed in SEEDS if found[seed])
    assert message(RACES[name], seed) == found[seed]
    where = "variable 'total'" if "variable" in name else "argument 0 'data'"
    for part in (rf"element \d+ of {where} is \d+ if they run one after the other, and \d+ in the random order of seed "
                 f"{seed}", rf"races=True, seed={seed}\) gives that order", "sim:generic", r"\(kernel k, buffer "):
        assert re.search(part, found[seed]), found[seed]


@pytest.mark.parametrize("name", CORRECT)
def test_correct_kernels_are_not_accused(name: str) -> None:
    expected = launch(CORRECT[name], cm.device("cpu"))
    for seed in SEEDS:
        assert (launch(CORRECT[name], device(seed)) == expected).all()


def test_what_a_race_leaves_is_the_usual_order() -> None:
    chosen, data = device(1), np.zeros(64, np.int32)
    kernel = cm.build(RACES["work-groups write one place"], device=chosen).kernel("k")
    with pytest.raises(cm.DataRace, match=r"element 0 of argument 0 'data' is 8 .*; 1 of 64 elements differ") as error:
        cm.Queue(chosen).enqueue(kernel, 8 * LOCAL, LOCAL, data).wait()
    assert data[0] == 8
    assert (error.value.where.kernel, error.value.where.element) == ("k", 0)


def test_variables_of_the_module_and_printf_are_those_of_one_launch(capfd: pytest.CaptureFixture[str]) -> None:
    chosen, data = device(), np.zeros(1, np.int32)
    kernel = cm.build("""
global int count;
kernel void k(global int *data) {
    atomic_add(&count, 1);
    if (get_global_id(0) == 0) printf("once\\n");
}
kernel void get(global int *data) { *data = count; }
""", device=chosen)
    cm.Queue(chosen).enqueue(kernel.kernel("k"), 256, 64, data).wait()
    cm.Queue(chosen).enqueue(kernel.kernel("get"), 1, 1, data).wait()
    assert data[0] == 256
    assert capfd.readouterr().out == "once\n"


def test_bounds_are_checked_too() -> None:
    source = "kernel void k(global int *data) { data[get_global_id(0) + 1] = 1; }"
    with pytest.raises(cm.OutOfBounds, match="element 256"):
        launch(source, device(bounds=True))


def test_arguments_of_every_kind() -> None:
    chosen, out, constant = device(), np.zeros(64, np.int32), np.arange(64, dtype=np.int32)
    constant.flags.writeable = False
    kernel = cm.build("""
kernel void k(global int *out, global const int *in, global int *none, local int *tile, int number, global int *empty) {
    int i = get_local_id(0);
    tile[i] = in[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    out[i] = none ? 0 : tile[63 - i] + number;
}
""", device=chosen).kernel("k")
    cm.Queue(chosen).enqueue(kernel, 64, 64, out, constant, None, cm.local(4 * 64), 3, np.zeros(0, np.int32)).wait()
    assert (out == constant[::-1] + 3).all()


@pytest.mark.parametrize(("formats", "kinds"), [("-DIN=char -DOUT=int -DTK=32 -DFLAGS=0xf", (np.int8, np.int32)),
                                                ("-DIN=half -DOUT=float -DTK=16 -DFLAGS=0", (np.float16, np.float32))])
def test_matrices_are_not_merged_and_not_accused(formats: str, kinds: tuple[type, type]) -> None:
    chosen, (number, total) = device(5), kinds
    program = cm.build(ROOT / "examples" / "gemm.cl", f"{formats} -DTM=16 -DTN=16", chosen)
    a, b = np.random.default_rng(0).integers(-3, 4, (2, 96, 96)).astype(number)
    c = np.zeros((96, 96), total)
    loaded = chosen.load(program.module)
    assert isinstance(loaded, CpuProgram)
    arguments = [a, b, c, np.int32(96), np.int32(96)]
    loaded.launch("gemm", (6 * 16, 6, 1), (16, 1, 1), arguments)
    assert "  not merged: races between sub-groups are looked for" in loaded.explanation()
    assert (c == a.astype(np.int64) @ b.astype(np.int64)).all()


@pytest.mark.parametrize("seed", range(3))
def test_matrices_of_work_groups_are_not_accused(seed: int) -> None:
    found = disagreement(seed, device(seed))  # type: ignore[arg-type]
    assert found is None, found


def check_random_kernels(seeds: range) -> None:
    """Random kernels whose atomics give the same in every order."""
    for seed in seeds:
        kernel = kernels_for_targets.generate(seed)
        expected, found = (on_device(kernel.source, kernel, chosen) for chosen in (cm.device("cpu"), device(seed)))
        assert same(expected, found), f"seed {seed}: {found if isinstance(found, str) else 'differs'}"


def test_random_kernels_are_not_accused() -> None:
    check_random_kernels(range(50, 54))


@pytest.mark.slow
@pytest.mark.parametrize("first", range(1000, 1300, 50))
def test_random_kernels_are_not_accused_long(first: int) -> None:
    check_random_kernels(range(first, first + 50))
