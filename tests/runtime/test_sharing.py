"""Equal devices are one, and launches leave nothing behind: no memory, no work done again."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import coopmat as cm
from coopmat.runtime import python_launches
from coopmat.sycl import float32, kernel, nd_item, nd_range, ptr
from tests.kit.clock import assert_takes_at_most

NOTHING = "kernel void nothing(global float *p) { }"


@pytest.mark.parametrize(("name", "options"), [
    ("cpu", lambda: None), ("cpu", lambda: cm.CpuOptions(bounds=True, threads=2)), ("sim:generic", lambda: None),
    ("sim:intel_gpu_pvc", lambda: cm.SimulatorOptions(xmx=cm.XmxArithmetic(rounding="toward_zero")))])
def test_equal_devices_are_one(name: str, options: Callable[[], object]) -> None:
    first, second = (cm.device(name, options=options()) for _ in range(2))
    assert first is second is cm.Queue(first).device
    assert first in cm.devices() or options() is not None


def test_devices_with_other_options_are_others(monkeypatch: pytest.MonkeyPatch) -> None:
    devices = [cm.device("cpu"), cm.device("cpu", options=cm.CpuOptions(bounds=True)), cm.device("sim:generic"),
               cm.device("sim:intel_gpu_pvc"), cm.device("sim:generic", options=cm.SimulatorOptions(step_limit=7))]
    monkeypatch.setenv("COOPMAT_NUM_THREADS", "1")
    devices.append(cm.device("cpu"))
    monkeypatch.setenv("COOPMAT_CPU_FEATURES", "baseline")
    devices.append(cm.device("cpu"))
    assert len(set(devices)) == len(devices)


def test_what_is_compiled_is_shared_between_queues() -> None:
    program, data = cm.build(NOTHING), np.zeros(16, np.float32)
    cm.Queue("cpu").enqueue(program.kernel("nothing"), 16, 16, data)
    loaded = program.load(cm.device("cpu"))
    cm.Queue("cpu").enqueue(program.kernel("nothing"), 16, 16, data)
    assert program.load(cm.Queue("cpu").device) is loaded


def test_kernels_of_equal_text_are_compiled_once() -> None:
    """A function that is defined in a loop, as SYCL programs write them."""
    data, queue = np.zeros(16, np.float32), cm.Queue("sim:generic")
    python_launches._PROGRAMS.clear()
    for _ in range(5):
        def add(item: nd_item[1], p: ptr[float32]):
            p[item.get_global_id(0)] += 1

        queue.parallel_for(nd_range(16, 16), add, data)
        queue.parallel_for(nd_range(16, 16), kernel(add), data)
    assert (data == 10).all()
    assert len(python_launches._PROGRAMS) == 1


def test_what_a_kernel_captures_is_not_kept_with_its_program() -> None:
    def launch() -> None:
        captured = np.zeros(16, np.float32).view(Watched)

        @kernel
        def read(item: nd_item[1], p: ptr[float32]):
            p[0] = captured[0]

        cm.Queue("sim:generic").parallel_for(nd_range(1, 1), read, np.zeros(1, np.float32)).wait()

    launch()
    gc.collect()
    assert Watched.alive == 0


class Watched(np.ndarray):
    alive = 0

    def __array_finalize__(self, _: object) -> None:
        Watched.alive += 1

    def __del__(self) -> None:
        Watched.alive -= 1


MANY = """
import resource, sys
import numpy as np
import coopmat as cm
from coopmat.sycl import *
{source}
for _ in range(500):
    launch()
def used():
    return int(open("/proc/self/statm").read().split()[1]) * resource.getpagesize()
before = used()
for _ in range(10_000):
    launch()
print(used() - before)
"""
IN_OPENCL = """
k = cm.build("kernel void k(global float *p, float x) { p[get_global_id(0)] += x; }").kernel("k")
data = np.zeros(64, np.float32)
def launch(): cm.Queue("cpu").enqueue(k, 64, None, data, 0.1).wait()
"""
IN_PYTHON = """
data, n = np.zeros(64, np.float32), 3
@kernel
def k(item: nd_item[1], p: ptr[float32], x: float32 = 0.5):
    p[item.get_global_id(0)] += x * n
def launch(): cm.Queue("cpu").parallel_for(nd_range(64, 64), k, data).wait()
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the memory in use is read from /proc")
@pytest.mark.parametrize("source", [IN_OPENCL, IN_PYTHON], ids=["opencl", "python"])
def test_ten_thousand_launches_with_fresh_queues_leave_no_memory_behind(tmp_path: Path, source: str) -> None:
    path = tmp_path / "launches.py"
    path.write_text(MANY.format(source=source))
    run = subprocess.run([sys.executable, path], capture_output=True, text=True, check=True,
                         env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)})
    assert int(run.stdout) < 2**20


def seconds(action: Callable[[], object]) -> float:
    """The least processor time of a few hundred calls, for one."""
    found = []
    for _ in range(7):
        start = time.thread_time()
        for _ in range(300):
            action()
        found.append((time.thread_time() - start) / 300)
    return min(found)


def test_launches_cost_little() -> None:
    """Bars that a busy machine keeps; benchmarks/launches.py has the figures."""
    queue, data, ranges = cm.Queue("cpu"), np.zeros(64, np.float32), nd_range(16, 16)
    program = cm.build("kernel void six(global float *a, global float *b, int m, int n, float x, float y) {}")
    scale = np.float32(2)

    @kernel
    def python_kernel(item: nd_item[1], a: ptr[float32], b: ptr[float32], m: int, n: int, x: float = 0.1):
        if m > 100:
            a[item.get_global_id(0)] = b[0] * scale + x * n

    six = program.kernel("six")
    for bar, action in (
            (60e-6, lambda: queue.enqueue(six, 16, 16, data, data, 1, 2, 0.1, 0.2)),
            (120e-6, lambda: queue.parallel_for(ranges, python_kernel, data, data, 1, 2)),
            (90e-6, lambda: cm.Queue("cpu").enqueue(six, 16, 16, data, data, 1, 2, 0.1, 0.2))):
        assert_takes_at_most(bar, lambda action=action: seconds(action))


# ------------------------------------------------------------------ warnings

WARNS = """
#define MATRIX(use, rows, columns) __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, rows, columns, use)))
typedef char ta MATRIX(CLK_COOPERATIVE_MATRIX_A, 8, 32);
typedef char tb MATRIX(CLK_COOPERATIVE_MATRIX_B, 32, 8);
typedef int tc MATRIX(CLK_COOPERATIVE_MATRIX_ACCUMULATOR, 8, 8);
kernel void k(global int *out)
{
    ta a = coop_mat_init(-1);
    tb b = coop_mat_init(1);
    tc c = coop_mat_init(0);
    c = coop_matmul_add(a, b, c, CLK_COOPERATIVE_MATRIX_OPERAND_NONE);
    coop_mat_store(out, c, CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, 8);
}
"""


def test_what_the_front_end_warns_of_is_shown_once_for_each_place(tmp_path: Path) -> None:
    """Matrices of char that are multiplied as unsigned numbers: what the kernel computes is no surprise any more."""
    path = tmp_path / "unsigned.cl"
    path.write_text(WARNS)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        programs = [cm.build(path, cache_dir=folder) for folder in ("off", tmp_path / "cache", tmp_path / "cache")]
    assert all(program.warnings for program in programs)
    (one,) = caught
    assert one.category is cm.CompileWarning
    assert (one.filename, one.lineno) == (str(path), 11)
    assert "unsigned" in str(one.message)
    assert "^" in str(one.message)


def test_filters_decide_about_warnings() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", cm.CompileWarning)
        with pytest.raises(cm.CompileWarning, match="unsigned"):
            cm.build(WARNS)
        cm.build(WARNS, "-w")
        warnings.simplefilter("ignore")
        assert cm.build(WARNS).warnings
    for _ in range(2):
        with pytest.warns(cm.CompileWarning, match="unsigned"):
            cm.build(WARNS)


@pytest.mark.parametrize("device", ["sim:generic", "cpu", "checked"])
def test_memory_is_free_after_an_error(device: str) -> None:
    """Nothing waits for the collector: what showed its memory can be changed in its size at once."""
    queue = cm.Queue(cm.device("cpu", options=cm.CpuOptions(bounds=True)) if device == "checked" else device)
    kernel = cm.build("kernel void k(global int *p, global int *q, int n) { (q ? p : q)[n] = 1; }").kernel("k")
    gc.collect()
    gc.disable()
    try:
        for second, n in ((None, 0), (np.zeros(1, np.int32), 10**6))[:1 if device == "cpu" else 2]:
            memory = bytearray(16)
            with pytest.raises(cm.OutOfBounds):
                queue.enqueue(kernel, 1, 1, memory, second, n).wait()
            memory.append(1)
    finally:
        gc.enable()
