"""What launching costs: an empty kernel of one work-group and of 1,000 on the CPU, through ``Queue.enqueue``; one of
seven arguments, on a queue that is kept and on a new one each time; kernels in Python; a kernel that is compiled, and
one that is found in the cache, in a new program; where PyTorch is installed, an operator of it, beside one in Python
that does nothing.

The peer of launches is Intel's CPU runtime, through pyopencl in a process of its own, where both are installed.
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
from figures import Figure, seconds

import coopmat as cm
from coopmat.support.terminal import console, table
from coopmat.sycl import float32, kernel, nd_item, nd_range, ptr

SOURCE = "kernel void nothing(global float *p) { }"
SEVEN = "kernel void seven(global float *a, global const float *b, global float *c, int m, int n, int k, float x) { }"
LOCAL_SIZE = 16
GROUPS = (1, 1000)
AT_ONCE = 2000  # launches that one measurement takes
PEER = f"""
import time, numpy as np, pyopencl as cl
context = cl.Context(cl.get_platforms()[0].get_devices())
queue = cl.CommandQueue(context)
kernel = cl.Program(context, {SOURCE!r}).build().nothing
memory = cl.Buffer(context, cl.mem_flags.READ_WRITE, 256)
kernel.set_args(memory)
for groups in {GROUPS}:
    times = []
    for _ in range(11):
        start = time.perf_counter()
        for _ in range(200):
            cl.enqueue_nd_range_kernel(queue, kernel, (groups * {LOCAL_SIZE},), ({LOCAL_SIZE},)).wait()
        times.append((time.perf_counter() - start) / 200)
    print(*times[1:])
"""


def run(repeat: int) -> list[Figure]:
    """Measure, and print a table."""
    peers = _peer_times()
    with tempfile.TemporaryDirectory() as folder:
        times = {**_launches(repeat), **_other_launches(repeat), **_operators(repeat),
                 "compiled": _loading("off", repeat), "from the cache": _loading(folder, repeat)}
    figures = [Figure.of(f"empty kernel on cpu, {name}", "us", [value * 1e6 for value in found])
               for name, found in times.items()]
    rows = table("microseconds", "median", "least", "most", "Intel's CPU runtime")
    for name, figure in zip(times, figures, strict=True):
        peer = f"{np.median(peers[name]) * 1e6:.1f}" if name in peers else ""
        rows.add_row(name, f"{figure.median:.1f}", f"{figure.least:.1f}", f"{figure.most:.1f}", peer)
    console().print(rows)
    return figures


def _name(groups: int) -> str:
    return f"work-groups: {groups:,}"


def _launches(repeat: int) -> dict[str, list[float]]:
    """Seconds of one launch."""
    queue, data = cm.Queue("cpu"), np.zeros(64, np.float32)
    kernel = cm.build(SOURCE, device=queue.device).kernel("nothing")

    def launch(size: int) -> None:
        for _ in range(AT_ONCE):
            queue.enqueue(kernel, size, LOCAL_SIZE, data).wait()

    return {_name(groups): [time / AT_ONCE for time in seconds(lambda size=groups * LOCAL_SIZE: launch(size), repeat)]
            for groups in GROUPS}


def _other_launches(repeat: int) -> dict[str, list[float]]:
    """Seconds of one launch with seven arguments, on queues that are kept or new, and of kernels in Python."""
    queue, data, ranges = cm.Queue("cpu"), np.zeros(64, np.float32), nd_range(LOCAL_SIZE, LOCAL_SIZE)
    seven = cm.build(SEVEN, device=queue.device).kernel("seven")
    arguments = (data, data, data, 1, 2, 3, 0.1)
    actions = {
        "seven arguments": lambda: queue.enqueue(seven, LOCAL_SIZE, LOCAL_SIZE, *arguments).wait(),
        "seven arguments, a new queue": lambda: cm.Queue("cpu").enqueue(seven, LOCAL_SIZE, None, *arguments).wait(),
        "in Python": lambda: queue.parallel_for(ranges, in_python, data).wait(),
        "in Python, seven arguments": lambda: queue.parallel_for(ranges, seven_in_python, *arguments).wait(),
    }
    return _seconds_of(actions, repeat)


def _operators(repeat: int) -> dict[str, list[float]]:
    """Seconds of one call of an operator of PyTorch; nothing if PyTorch is not here."""
    if importlib.util.find_spec("torch") is None:
        return {}
    import torch

    operator = cm.torch.custom_op(cm.build(SOURCE).kernel("nothing"), "coopmat_benchmarks::nothing", mutates=["p"],
                                  global_size=LOCAL_SIZE, local_size=LOCAL_SIZE)
    peer = torch.library.custom_op("coopmat_benchmarks::peer", lambda p: None, mutates_args=("p",),
                                   schema="(Tensor(a!) p) -> ()")
    data = torch.zeros(64)
    return _seconds_of({"operator of PyTorch": lambda: operator(data), "the same in Python, empty": lambda: peer(data)},
                       repeat)


def _seconds_of(actions: dict[str, Callable[[], object]], repeat: int) -> dict[str, list[float]]:
    return {name: [time / AT_ONCE for time in seconds(lambda action=action: _often(action), repeat)]
            for name, action in actions.items()}


def _often(action: Callable[[], object]) -> None:
    for _ in range(AT_ONCE):
        action()


@kernel(sub_group_size=LOCAL_SIZE)
def in_python(item: nd_item[1], p: ptr[float32]):
    pass


@kernel(sub_group_size=LOCAL_SIZE)
def seven_in_python(item: nd_item[1], a: ptr[float32], b: ptr[float32], c: ptr[float32], m: int, n: int, k: int,
                    x: float = 0.1):
    pass


def _loading(folder: str, repeat: int) -> list[float]:
    """Seconds of the first launch of a program."""
    queue, data = cm.Queue("cpu"), np.zeros(64, np.float32)

    def first_launch() -> None:
        program = cm.build(SOURCE, device=queue.device, cache_dir=folder)
        queue.enqueue(program.kernel("nothing"), LOCAL_SIZE, LOCAL_SIZE, data).wait()

    return seconds(first_launch, repeat)


def _peer_times() -> dict[str, list[float]]:
    """Seconds of one launch by Intel's runtime; nothing if it is not here."""
    library = Path(sys.prefix) / "lib" / "libintelocl.so"
    if not library.exists():
        return {}
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "intel.icd").write_text(f"{library}\n")
        environment = os.environ | {"OCL_ICD_VENDORS": folder, "LD_LIBRARY_PATH": str(library.parent)}
        found = subprocess.run([sys.executable, "-c", PEER], env=environment, capture_output=True, text=True,
                               check=False)
    lines = found.stdout.splitlines() if found.returncode == 0 else []
    return {_name(groups): list(map(float, line.split())) for groups, line in zip(GROUPS, lines, strict=False)}
