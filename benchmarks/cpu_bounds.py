"""What bounds checks cost on the CPU: a GEMM with cooperative matrices, one with scalars, and a vector kernel, with and
without CpuOptions(bounds=True)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
from figures import Figure, seconds

import coopmat as cm
from coopmat.support.terminal import console, table

HERE = Path(__file__).parent
SIZE = 512  # of the matrices
COUNT = 1 << 22  # numbers of the vector kernel
VECTOR = """
kernel void triad(global float *a, global const float *b, global const float *c, float s)
{
    size_t i = get_global_id(0);
    a[i] = b[i] + s * c[i];
}
"""
TILE = (8, 16)  # rows and columns of C that a sub-group of 16 of examples/gemm.cl computes


def run(repeat: int) -> list[Figure]:
    """Measure, and print a table."""
    rows = table("milliseconds", "without", "with bounds checks", "x")
    figures = []
    for name, prepare in CASES.items():
        pair = []
        for bounds in (False, True):
            launch = prepare(cm.device("cpu", options=cm.CpuOptions(bounds=bounds)))
            launch()
            times = [time * 1e3 for time in seconds(launch, repeat)]
            pair.append(Figure.of(f"{name}{', bounds checked' if bounds else ''}", "ms", times))
        rows.add_row(name, *(f"{one.median:.2f}" for one in pair), f"{pair[1].median / pair[0].median:.2f}")
        figures += pair
    console().print(rows)
    return figures


def _vector(device: cm.Device) -> Callable[[], object]:
    kernel = cm.build(VECTOR, device=device).kernel("triad")
    a, b, c = (np.ones(COUNT, np.float32) for _ in range(3))
    queue = cm.Queue(device)
    return lambda: queue.enqueue(kernel, COUNT, 256, a, b, c, 2.0).wait()


def _gemm(device: cm.Device, path: Path, global_size: tuple[int, int], local_size: tuple[int, int]) -> \
        Callable[[], object]:
    kernel = cm.build(path, device=device).kernel("gemm")
    a, b = (np.ones((SIZE, SIZE), np.int8) for _ in range(2))
    c = np.zeros((SIZE, SIZE), np.int32)
    queue = cm.Queue(device)
    return lambda: queue.enqueue(kernel, global_size, local_size, a, b, c, SIZE, SIZE).wait()


def _scalars(device: cm.Device) -> Callable[[], object]:
    return _gemm(device, HERE / "scalar_gemm.cl", (SIZE, SIZE), (64, 1))


def _matrices(device: cm.Device) -> Callable[[], object]:
    rows, columns = TILE
    return _gemm(device, HERE.parent / "examples" / "gemm.cl", (SIZE // columns * 16, SIZE // rows), (16, 1))


CASES = {f"vectors of {COUNT:,} floats": _vector, f"GEMM of {SIZE} with scalars": _scalars,
         f"GEMM of {SIZE} with matrices": _matrices}
