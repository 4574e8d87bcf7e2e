"""autotune: the fastest configuration is chosen, others have their reasons, arrays are as one launch leaves them."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import coopmat as cm
from coopmat.sycl import kernel, nd_item, nd_range, ptr
from coopmat.tuning import Config, Report, Tuned
from tests.kit.paths import EXAMPLES

QUICK = {"flush": False, "warmup": 0, "rep": 5, "progress": False}
LOOP = """
#ifndef LOOPS
#error LOOPS is not defined
#endif
kernel void count(global int *p, int n)
{
    int i = get_global_id(0), sum = p[i];
    for (int j = 0; j < LOOPS * n; j++)
        sum ^= sum * 3 + j;
    p[i] += sum == 0x7654321 ? 2 : 1;
}
"""
SHORT, LONG = 20, 20000
ITEMS = 1024


def data() -> np.ndarray:
    return np.arange(ITEMS, dtype=np.int32)


def launched(tuned: Tuned, *arguments: Any, size: Any = ITEMS, local: Any = None, device: str = "cpu") -> np.ndarray:
    """The array after a launch that tunes."""
    found = data()
    cm.Queue(device).enqueue(tuned, size, local, found, *arguments).wait()
    return found


def statuses(report: Report) -> dict[str, str]:
    return {str(trial.config): trial.status for trial in report.trials}


# ------------------------------------------------------------------------- what is chosen


def test_the_fastest_macro_is_chosen_and_the_array_is_as_after_one_launch() -> None:
    tuned = cm.autotune({"LOOPS": [LONG, SHORT]}, key=["n"], source=LOOP, **QUICK)
    np.testing.assert_array_equal(launched(tuned, 1), data() + 1)
    assert tuned.best()["LOOPS"] == SHORT
    assert tuned.report.best.repetitions > 1
    np.testing.assert_array_equal(launched(tuned, 1), data() + 1)
    assert len(tuned.reports()) == 1
    launched(tuned, 0)  # another value of the key
    assert [report.key for report in tuned.reports()] == [{"n": "1"}, {"n": "0"}]
    assert tuned.best(1) == tuned.best((1,)) == tuned.best({"n": 1}) == Config({"LOOPS": SHORT})
    with pytest.raises(cm.Error, match=r"not tuned for 7 yet: launch it \(it was for: cpu 1; cpu 0\)"):
        tuned.best(7)


LOOPS = 3


def loops() -> int:
    return LOOPS


def test_variables_that_a_kernel_in_python_and_its_helpers_read() -> None:
    step = 1

    def stepped(value):
        return value + step

    @cm.autotune({"LOOPS": [LONG, SHORT], "step": [1]}, **QUICK)
    @kernel
    def count(item: nd_item[1], p: ptr[int], n: int = 1):
        total = p[item.get_global_id(0)]
        for j in range(loops() * n):
            total ^= total * 3 + j
        p[item.get_global_id(0)] = stepped(p[item.get_global_id(0)]) + (1 if total == 0x7654321 else 0)

    for _ in range(2):
        found = data()
        cm.Queue("cpu").parallel_for(nd_range(ITEMS), count, found).wait()
        np.testing.assert_array_equal(found, data() + 1)
    assert count.best()["LOOPS"] == SHORT
    assert LOOPS == 3
    assert count.report.kernel == "count"


def test_a_function_that_makes_a_kernel_and_sizes_that_depend_on_the_configuration() -> None:
    configs = Config({"loops": LONG, "width": 1}), Config({"loops": SHORT, "width": 4}, local_size=(1, 32))

    @cm.autotune(configs, **QUICK)
    def make(loops: int, width: int):
        @kernel
        def count(item: nd_item[2], p: ptr[int]):
            first = item.get_global_id(1) * width
            for i in range(width):
                total = p[first + i]
                for j in range(loops):
                    total ^= total * 3 + j
                p[first + i] += 2 if total == 0x7654321 else 1
        return count

    found = data()
    cm.Queue("cpu").parallel_for(lambda config, arguments: nd_range((1, arguments["p"].size // config["width"])), make,
                                 found).wait()
    np.testing.assert_array_equal(found, data() + 1)
    assert make.best()["width"] == 4
    assert (make.report.best.global_size, make.report.best.local_size) == ((1, ITEMS // 4), (1, 32))


def test_specialisation_constants_and_matrices_that_a_device_does_not_have() -> None:
    a, b, c = np.ones((8, 32), np.int8), np.ones((32, 16), np.int8), np.zeros((8, 16), np.int32)
    tuned = cm.autotune({"M": [8, 16], 2: [32, 64]}, source=EXAMPLES / "spec_gemm.spvasm", kernel="product", **QUICK)
    cm.Queue("sim:intel_gpu_pvc").enqueue(tuned, 16, 16, a, b, c).wait()
    assert (c == 32).all()
    assert tuned.best() == Config({"M": 8, 2: 32})
    found = {str(trial.config): (trial.status, trial.reason) for trial in tuned.report.trials}
    assert found["M=8 2=32"][0] == "timed"
    for name in ("M=16 2=32", "M=16 2=64"):
        status, reason = found[name]
        assert status == "pruned"
        assert "nearest supported" in reason
    assert "simulated" in tuned.report.note
    program = cm.build(EXAMPLES / "spec_gemm.spvasm")
    again = cm.autotune([Config({"M": 8, "K": 32})], source=program, **QUICK)
    cm.Queue("sim:intel_gpu_pvc").enqueue(again, 16, 16, a, b, c).wait()
    assert (c == 32).all()


# -------------------------------------------------------------------------------- reasons

SCRATCH = """
kernel void fill(global int *p, local int *scratch)
{
    scratch[get_local_id(0)] = VALUE;
    barrier(CLK_LOCAL_MEM_FENCE);
    p[get_global_id(0)] = sub_group_broadcast(scratch[get_local_id(0)], 0);
    if (VALUE > 90) p[get_global_id(0) + (VALUE << 8)] = 0;
    if (VALUE == 55) p[get_global_id(0)] = 54;
}
"""


def test_every_configuration_has_its_status_and_reason(tmp_path: Path) -> None:
    configs = [Config({"VALUE": value}, **fields) for value, fields in (
        (7, {}), ("7 7", {}), (55, {}), (99, {}), (8, {}), (7, {"local_size": 24}), (7, {"local_size": 8}),
        (7, {"global_size": 2048, "local_size": 2048}), (7, {"local_size": 64}), (7, {"options": "-DVALUE"}))]
    tuned = cm.autotune(
        configs, source=SCRATCH, check={"p": np.full(1024, 7, np.int32)},
        prune=lambda config, arguments: config["VALUE"] == 8 and f"{arguments['p'].size} is even", **QUICK)
    p = np.zeros(1024, np.int32)
    queue = cm.Queue("sim:intel_gpu_pvc")
    queue.enqueue(tuned, 1024, 16, p, lambda config, _: cm.local(200_000 if config.local_size == 64 else 16384)).wait()
    assert (p == 7).all()
    reasons = {f"{trial.config}": f"{trial.status}: {trial.reason}" for trial in tuned.report.trials}
    for name, status in {
        "VALUE=7": "timed: ",
        "VALUE=7 7": "failed: <source>:",
        "VALUE=55": "wrong: p: 1024 of 1024 elements are wrong: element 0 is 54, expected 7",
        "VALUE=99": "failed: write of 4 bytes at byte 101376",
        "VALUE=8": "pruned: 1024 is even",
        "VALUE=7, local 24": "pruned: global size 1024 in dimension 0 is not a multiple of the local",
        "VALUE=7, local 8": "pruned: a work-group of 8 work-items is not made of whole sub-groups of 16",
        "VALUE=7, global 2048, local 2048": "pruned: a work-group of 2048 has 2048 work-items; the device takes at",
        "VALUE=7, local 64": "pruned: the arguments take 200000 bytes of local memory; sim:intel_gpu_pvc has 131072",
        "VALUE=7, -DVALUE": "wrong: ",
    }.items():
        assert reasons[name].startswith(status), reasons[name]
    _check_forms(tuned.report, tmp_path)


def _check_forms(report: Report, folder: Path) -> None:
    """The report as a table, as JSON and as comma-separated values."""
    shown = str(report)
    assert "fill on sim:intel_gpu_pvc" in shown
    assert "VALUE=8: pruned: 1024 is even" in shown
    report.save(folder / "report.json")
    report.save(folder / "report.csv")
    saved = json.loads((folder / "report.json").read_text())
    assert saved == report.to_json()
    assert saved["configurations"][saved["best"]]["values"] == {"VALUE": 7}
    assert Report.from_json(saved, [trial.config for trial in report.trials]) == report
    rows = list(csv.DictReader((folder / "report.csv").read_text().splitlines()))
    assert [row["status"] for row in rows] == [trial.status for trial in report.trials]
    assert float(rows[0]["median"]) == report.best.median


def test_one_that_is_far_slower_is_not_repeated_and_others_are() -> None:
    for limit, status in ((3, "slow"), (None, "timed")):
        tuned = cm.autotune({"LOOPS": [SHORT, 20 * LONG]}, source=LOOP, early_stop=limit, **QUICK)
        launched(tuned, 1, size=64)
        assert statuses(tuned.report) == {f"LOOPS={SHORT}": "timed", f"LOOPS={20 * LONG}": status}
        assert status == "timed" or tuned.report.trials[1].repetitions <= 3


def test_what_the_first_launch_compiles_is_not_the_kernels_time() -> None:
    """The CPU merges work-groups when it knows whether arrays overlap: at the first launch."""
    source = (EXAMPLES / "gemm.cl").read_text()
    tuned = cm.autotune({"TM": [8, 16], "TN": [16], "TK": [64]}, source=source, early_stop=50, **QUICK)
    a, c = np.zeros((64, 64), np.int8), np.zeros((64, 64), np.int32)
    cm.Queue("cpu").enqueue(tuned, lambda config, _: (64, 64 // config["TM"]), (16, 1), a, a, c, 64, 64).wait()
    assert set(statuses(tuned.report).values()) == {"timed"}


def test_accesses_outside_of_buffers_are_found_before_anything_is_timed() -> None:
    source = "kernel void set(global int *p) { p[get_global_id(0) + OFFSET] = 1; }"
    tuned = cm.autotune({"OFFSET": [1 << 12, 0]}, source=source, bounds=True, **QUICK)
    assert (launched(tuned) == 1).all()
    assert statuses(tuned.report) == {"OFFSET=4096": "failed", "OFFSET=0": "timed"}


def test_an_error_lists_the_reasons_if_nothing_is_left_and_the_array_is_untouched() -> None:
    tuned = cm.autotune({"LOOPS": [SHORT, "x"], "local_size": [16, 48]}, source=LOOP, check=lambda _: False, **QUICK)
    found = data()
    with pytest.raises(cm.Error) as caught:
        cm.Queue("cpu").enqueue(tuned, ITEMS, None, found, 1)
    message = str(caught.value)
    for part in ("kernel 'count' on cpu: none of 4 configurations can be used", "wrong: check= says so",
                 "undeclared identifier 'x'", "and 1 more: failed", "not a multiple of the local size 48"):
        assert part in message
    np.testing.assert_array_equal(found, data())
    with pytest.raises(cm.Error, match="was not tuned yet: launch it"):
        _ = tuned.report


def test_what_is_restored_can_be_chosen() -> None:
    for restore, expected in (((0,), 1), (("p",), 1), ((), 1 + 10)):
        tuned = cm.autotune({"LOOPS": [SHORT]}, source=LOOP, restore=restore, **QUICK)
        found = launched(tuned, 0) - data()
        assert (found == expected).all() if restore else (found >= 3).all()
    with pytest.raises(cm.Error, match="restore: the kernel has no argument 'q'; it has p, n"):
        launched(cm.autotune({"LOOPS": [SHORT]}, source=LOOP, restore=["q"], **QUICK), 0)


@pytest.mark.parametrize(("make", "message"), [
    (lambda: cm.autotune([]), "configs is empty"),
    (lambda: cm.autotune(5), "a list of coopmat.Config, or a dict"),
    (lambda: cm.autotune([5]), "configs consists of coopmat.Config"),
    (lambda: cm.autotune({"A": 5}), "the range of A is a list of values"),
    (lambda: cm.autotune({name: range(100) for name in "ABC"}), "make more configurations than can be tried, "),
    (lambda: cm.autotune({"A": [1]}, "n"), "a list of names"),
    (lambda: cm.autotune({"A": [1]}, early_stop=0.5), "early_stop"),
    (lambda: cm.autotune({"A": [1]}, kernel="k"), "belong to a source"),
    (lambda: cm.autotune({"A": [1]}, source=5), "source takes OpenCL C text"),
    (lambda: cm.autotune({"A": [1]})(5), "decorates a kernel in Python"),
    (lambda: cm.autotune({"LOPS": [1]})(python_kernel), "reads no variable 'LOPS'.*did you mean 'LOOPS'"),
    (lambda: cm.autotune({"a": [1]})(lambda b: b), "makes no kernel of the configuration 'a=1'"),
    (lambda: Config(5), "Config takes a dict"),
    (lambda: Config({"A": 1})["B"], "no value 'B'; it has A"),
    (lambda: launched(cm.autotune({"LOOPS": [1]}, ["m"], source=LOOP), 1), "has no argument 'm'; it has p, n"),
    (lambda: launched(cm.autotune({"A": [1]}, source="kernel void a() {} kernel void b() {}")),
     "choose a kernel of <source> by its name: a, b"),
    (lambda: launched(cm.autotune({"a": [1]})(lambda a: a)), "must return a kernel"),
    (lambda: cm.Queue("cpu").parallel_for(nd_range(8), cm.autotune({"LOOPS": [1]}, source=LOOP, **QUICK), data(), 1),
     "parallel_for takes kernels in Python"),
])
def test_mistakes_have_messages(make: Callable[[], object], message: str) -> None:
    with pytest.raises(cm.Error, match=message):
        make()


@kernel
def python_kernel(item: nd_item[1], p: ptr[int]):
    p[item.get_global_id(0)] = LOOPS


# ------------------------------------------------------------------------------ the cache

SCRIPT = """
import sys
import numpy as np
import coopmat as cm
from coopmat.sycl import kernel, nd_item, nd_range, ptr

STEP = 0

@cm.autotune({"STEP": [1, 1.0]}, flush=False, rep=1, warmup=0)
@kernel
def add(item: nd_item[1], p: ptr[float]):
    p[item.get_global_id(0)] += STEP

queue, p = cm.Queue("cpu"), np.zeros(64, np.float32)
source = '#include "add.h"\\n'
tuned = cm.autotune({"STEP": [1, 1.0]}, ["n"], source=source, flush=False, rep=1, warmup=0, options="-I.")
queue.enqueue(tuned, 64, None, p, int(sys.argv[1])).wait()
queue.parallel_for(nd_range(64), add, p).wait()
assert (p == 2).all()
print(tuned.report.is_from_cache, add.report.is_from_cache)
"""


def test_a_second_process_uses_the_results_of_the_first(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(SCRIPT)
    header = tmp_path / "add.h"
    header.write_text("kernel void add(global float *p, int n) { p[get_global_id(0)] += STEP; }")

    def run(key: int) -> str:
        environment = {**os.environ, "COOPMAT_CACHE_DIR": str(tmp_path / "cache")}
        return subprocess.run([sys.executable, "script.py", str(key)], cwd=tmp_path, env=environment,
                              capture_output=True, text=True, check=True).stdout.strip()

    assert run(1) == "False False"
    assert run(1) == "True True"
    assert run(2) == "False True"
    header.write_text("kernel void add(global float *p, int n) { p[get_global_id(0)] += STEP + n - n; }")
    assert run(1) == "False True"  # what it includes has changed
