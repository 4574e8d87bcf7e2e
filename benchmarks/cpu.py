"""Kernels on the CPU: the matrix products of the examples, what compiling them costs, and Intel's runtime beside ours.

The products run beside numpy's BLAS and PyTorch's oneDNN, as in ``coopmat bench``. The compile time of a tuned product
is that of ``cm.build`` and of its first launch in a new process, without imports: with an empty cache ("cold")
and with a full one. Intel's runtime runs the same SPIR-V through pyopencl, where both are installed, in its own
process. What an empty kernel costs is in launches.py.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from figures import Figure, seconds

import coopmat as cm
from coopmat.command_line import gemm_bench as bench
from coopmat.support.terminal import console, table
from coopmat.targets.cpu.options import available_cores

HERE = Path(__file__).parent
SIZES = (1024, 2048, 4096)
THREADS = (1, 2)
SCALAR_SIZE = 512  # of the matrices of the kernel without matrix instructions
VECTOR_SIZE = 1 << 22
VECTOR_SOURCE = """
kernel void roots(global float *y, global const float *x, float a)
{
    size_t i = get_global_id(0);
    y[i] = fma(a, sqrt(fabs(x[i])), y[i]);
}
"""
COMPILING = """
import gc, sys, time
import numpy as np
import coopmat as cm
import coopmat.targets.cpu.program
import llvmlite.binding
from coopmat import bench
elements = bench.ELEMENTS[sys.argv[1]]
example, queue = bench.examples(elements, cm.device("cpu"))[-1], cm.Queue("cpu")
a, b, c = (np.zeros((64, 64), dtype) for dtype in (elements.dtype, elements.dtype, elements.sums))
gc.collect()
start = time.perf_counter()
kernel = example.kernel(elements, queue.device, sys.argv[2])
built = time.perf_counter()
example.launch(kernel, queue, 1, a, b, c)
print(built - start, time.perf_counter() - built)
"""
INTEL = """
import pickle, sys, time
import numpy as np, pyopencl as cl
spirv, name, global_size, local_size, arguments, repeat = pickle.load(sys.stdin.buffer)
context = cl.Context(cl.get_platforms()[0].get_devices())
queue = cl.CommandQueue(context)
program = cl.Program(context, spirv).build()
flags = cl.mem_flags.READ_WRITE | cl.mem_flags.USE_HOST_PTR
bound = [cl.Buffer(context, flags, hostbuf=value) if value.ndim else value[()] for value in arguments]
kernel = getattr(program, name)
kernel.set_args(*bound)
for _ in range(repeat + 1):
    start = time.perf_counter()
    cl.enqueue_nd_range_kernel(queue, kernel, global_size, local_size).wait()
    print(time.perf_counter() - start)
"""


def run(repeat: int) -> list[Figure]:
    """Measure, and print tables."""
    return [*_products(repeat), *_compile_times(repeat), *_beside_intel(repeat)]


# ---------------------------------------------------------------------------- products


def _products(repeat: int) -> list[Figure]:
    rows = table("GFLOP/s (the ratio to each peer)", "threads", "kernel", "median", "/ numpy", "/ torch")
    figures = []
    for elements in bench.ELEMENTS.values():
        for size in SIZES:
            for threads in (count for count in THREADS if count <= available_cores()):
                found = bench.measure_apart("cpu", elements, size, threads, repeat)
                times = {one.name: one.seconds for one in found}
                for one in found:
                    ratios = [f"{times[peer] / one.seconds:.2f}" if peer in times else ""
                              for peer in ("numpy", "torch")]
                    rows.add_row(f"{elements.name} {size}³", str(threads), one.name, f"{one.gflops:,.0f}", *ratios)
                    name = f"{elements.name} {size}³, {one.name}, threads: {threads}"
                    figures.append(Figure.of(name, "GFLOP/s", [one.gflops]))
    console().print(rows)
    return figures


# ----------------------------------------------------------------------- compile times


def _compile_times(repeat: int) -> list[Figure]:
    rows = table("the tuned products, milliseconds", "cm.build", "first launch", "together")
    figures = []
    for name in bench.ELEMENTS:
        with tempfile.TemporaryDirectory() as folder:
            _compiled(name, folder)
            runs = {"cold": [_compiled(name, "off") for _ in range(max(3, repeat // 3))],
                    "from the cache": [_compiled(name, folder) for _ in range(max(3, repeat // 3))]}
        for state, times in runs.items():
            figure = Figure.of(f"tuned product, {name}, {state}", "s", [sum(one) for one in times])
            middle = np.median(times, axis=0)
            rows.add_row(f"{name}, {state}", *(f"{1e3 * value:.0f}" for value in (*middle, figure.median)))
            figures.append(figure)
    console().print(rows)
    return figures


def _compiled(name: str, cache_dir: str) -> list[float]:
    """Seconds of building and of the first launch."""
    command = [sys.executable, "-c", COMPILING, name, cache_dir]
    found = subprocess.run(command, capture_output=True, text=True, check=True)
    return [float(part) for part in found.stdout.split()]


# --------------------------------------------------------------------- Intel's runtime


def _beside_intel(repeat: int) -> list[Figure]:
    rng = np.random.default_rng(0)
    a, b = (rng.integers(-128, 128, (SCALAR_SIZE, SCALAR_SIZE), np.int8) for _ in range(2))
    scalar = [a, b, np.zeros((SCALAR_SIZE, SCALAR_SIZE), np.int32), np.int32(SCALAR_SIZE), np.int32(SCALAR_SIZE)]
    vector = [rng.standard_normal(VECTOR_SIZE, np.float32) for _ in range(2)]
    jobs = ((f"roots of {VECTOR_SIZE:,} floats", VECTOR_SOURCE, "roots", (VECTOR_SIZE,), (256,),
             [*vector, np.float32(0.5)]),
            (f"scalar GEMM, int8, {SCALAR_SIZE}³", HERE / "scalar_gemm.cl", "gemm", (SCALAR_SIZE, SCALAR_SIZE), (64, 1),
             scalar))
    rows = table("milliseconds", "coopmat", "Intel's CPU runtime")
    figures = []
    for name, source, kernel, *sizes, arguments in jobs:
        queue = cm.Queue("cpu")
        program = cm.build(source, device=queue.device)
        made = program.kernel(kernel)
        ours = seconds(partial(_launch, queue, made, *sizes, *arguments), repeat)
        theirs = _intel_times(program.spirv, kernel, *sizes, arguments, repeat)
        found = [Figure.of(f"{name}, coopmat", "s", ours)]
        found += [Figure.of(f"{name}, Intel's CPU runtime", "s", theirs)] if theirs else []
        rows.add_row(name, *(f"{figure.median * 1e3:.2f}" for figure in found))
        figures += found
    console().print(rows)
    return figures


def _launch(queue: cm.Queue, kernel: cm.Kernel, *sizes_and_arguments: Any) -> None:
    queue.enqueue(kernel, *sizes_and_arguments).wait()


def _intel_times(*job: object) -> list[float]:
    """Seconds of each launch by Intel's runtime; nothing if it is not here."""
    library = Path(sys.prefix) / "lib" / "libintelocl.so"
    if not library.exists():
        return []
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "intel.icd").write_text(f"{library}\n")
        environment = os.environ | {"OCL_ICD_VENDORS": folder, "LD_LIBRARY_PATH": str(library.parent)}
        found = subprocess.run([sys.executable, "-c", INTEL], input=pickle.dumps(job), env=environment,
                               capture_output=True, check=False)
    return [float(line) for line in found.stdout.split()][1:] if found.returncode == 0 else []
