"""What launching costs on an NVIDIA GPU: ``python benchmarks/hardware/launches_cuda.py [--device cuda:0]``.

Microseconds of the launching thread for each submission of an empty kernel, many at once, and the time from a launch to
the end of its wait. The peer is a bare launch through cuda-bindings. Then what the first launch of a work-group's GEMM
in Python takes, in processes of its own: all of it, and with what the cache has.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "src"))
import coopmat as cm
from coopmat.targets.cuda.host.driver import bindings

SOURCE = "kernel void seven(global float *a, global const float *b, global float *c, int m, int n, int k, float x) { }"
AT_ONCE, RUNS = 500, 21


def microseconds(submit: Callable[[], object], wait: Callable[[], object], at_once: int) -> list[float]:
    """The time of a submission, of several runs after one that is not counted."""
    times = []
    for _ in range(RUNS + 1):
        wait()
        start = time.perf_counter()
        for _ in range(at_once):
            submit()
        times.append((time.perf_counter() - start) / at_once * 1e6)
        wait()
    return times[1:]


FIRST = """
import time
import numpy as np
import coopmat as cm
from examples.joint_matrix_work_group import ITEMS, gemm
from coopmat.sycl import bfloat16
queue = cm.Queue({device!r})
A, B = (cm.malloc_device[bfloat16](256 * 256, queue) for _ in range(2))
C = cm.malloc_device[np.float32](256 * 256, queue)
queue.fill(C, 0, 256 * 256).wait()
start = time.perf_counter()
built = cm.build(gemm, device=queue.device, cache_dir={folder!r}).kernel("gemm")
middle = time.perf_counter()
queue.enqueue(built, (ITEMS, 2), (ITEMS, 1), A, B, C, 256, 256, 256).wait()
print(middle - start, time.perf_counter() - middle)
"""
PROCESSES = 5


def first_launches(device: str) -> None:
    """Print the milliseconds of building a kernel, and of its first launch, without and with caches."""
    found: dict[str, list[list[float]]] = {"cold": [], "from the cache": []}
    for _ in range(PROCESSES):
        with tempfile.TemporaryDirectory() as folder:
            for times in found.values():
                done = subprocess.run([sys.executable, "-c", FIRST.format(device=device, folder=folder)],
                                      env={**os.environ, "CUDA_CACHE_PATH": folder,
                                           "PYTHONPATH": os.pathsep.join(sys.path)},
                                      capture_output=True, text=True, check=True)
                times.append([1e3 * float(word) for word in done.stdout.split()])
    for name, times in found.items():
        build, launch = np.median(times, axis=0)
        print(f"GEMM of a work-group, {name}: build {build:.1f} ms, first launch {launch:.1f} ms")


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="cuda:0")
    device = cm.device(parser.parse_args().device)
    queue, kernel = cm.Queue(device), cm.build(SOURCE, device=device).kernel("seven")
    memory = [cm.malloc_device[np.float32](1024, queue) for _ in range(3)]
    numbers = (1, 2, 3, 0.5)
    prepared = queue.prepare(kernel, 128, 128, *memory, *numbers)
    with queue.graph() as graph:
        for _ in range(10):
            prepared()
    host = [np.zeros(1024, np.float32) for _ in range(3)]
    plan = kernel.program.load(device).plan("seven", (128,), (128,), kernel.bound([*memory, *numbers], device))
    bare = plan.prepared(kernel.bound([*memory, *numbers], device), queue._stream.stream)
    cases: list[tuple[str, Callable[[], object], int]] = [
        ("bare launch", bare, AT_ONCE),
        ("prepared launch", prepared, AT_ONCE),
        ("enqueue, memory of malloc_device", lambda: queue.enqueue(kernel, 128, 128, *memory, *numbers), AT_ONCE),
        ("enqueue and wait", lambda: queue.enqueue(kernel, 128, 128, *memory, *numbers).wait(), AT_ONCE),
        ("prepared launch and wait", lambda: prepared().wait(), AT_ONCE),
        ("graph of ten launches", graph.launch, AT_ONCE // 10),
        ("enqueue, three arrays of the host of 4 KiB", lambda: queue.enqueue(kernel, 128, 128, *host, *numbers),
         AT_ONCE // 10),
    ]
    try:
        import torch
    except ImportError:
        pass
    else:
        tensors = [torch.zeros(1024, device=device.name) for _ in range(3)]
        cases.append(("enqueue, tensors of torch",
                      lambda: queue.enqueue(kernel, 128, 128, *tensors, *numbers), AT_ONCE))
        same = cm.Queue(device, stream=torch.cuda.current_stream().cuda_stream)
        cases.append(("enqueue, tensors of torch, on torch's stream",
                      lambda: same.enqueue(kernel, 128, 128, *tensors, *numbers), AT_ONCE))
    print(f"{device.name}: {device.timer().hardware}; cuda-bindings {bindings().__name__}")
    print(f"{'microseconds':<46} median   least    most")
    for name, submit, at_once in cases:
        found = microseconds(submit, queue.wait, at_once)
        print(f"{name:<46} {np.median(found):6.2f}  {min(found):6.2f}  {max(found):6.2f}")
    first_launches(device.name)


if __name__ == "__main__":
    main()
