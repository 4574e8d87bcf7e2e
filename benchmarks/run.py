"""The performance figures of the README: ``python benchmarks/run.py [--repeat N] [--json FILE]``.

Each figure is a rate in multiply-adds a second, on random data, the median of several runs, measured in
the same run as its peers: a triple loop in plain Python, and Oclgrind (where installed) on the equivalent
scalar kernel. The launch is measured as a user sees it: from ``enqueue`` to the end of ``wait()``.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

import coopmat as cm
from coopmat.terminal import console, table

HERE = Path(__file__).parent
SIZE = 256
TILES = {"sim:generic": (16, 16, 32), "sim:intel_gpu_pvc": (8, 16, 32), "sim:intel_cpu_spr": (16, 16, 64)}
PYTHON_SIZE = 96  # the plain loop is timed on a smaller product: its rate does not depend on the size
OCLGRIND_SIZE = 64


@dataclass(frozen=True)
class Figure:
    """One measured rate: median and extremes of the runs, in multiply-adds a second."""

    name: str
    median: float
    least: float
    most: float


def measure(name: str, multiply_adds: int, action: Callable[[], float], repeat: int) -> Figure:
    """Call ``action``, which returns seconds, ``repeat`` times after one unmeasured call."""
    action()
    rates = [multiply_adds / action() for _ in range(repeat)]
    return Figure(name, statistics.median(rates), min(rates), max(rates))


def simulator(device_name: str, repeat: int) -> Figure:
    """An int8 GEMM of 256³ by examples/gemm.cl on a simulated device, with every check on."""
    tm, tn, tk = TILES[device_name]
    device = cm.device(device_name)
    kernel = cm.build(HERE.parent / "examples" / "gemm.cl", (f"-DTM={tm}", f"-DTN={tn}", f"-DTK={tk}"),
                      device).kernel("gemm")
    queue = cm.Queue(device)
    rng = np.random.default_rng(1)
    a, b = (rng.integers(-128, 128, (SIZE, SIZE), np.int8) for _ in range(2))
    c = np.zeros((SIZE, SIZE), np.int32)
    lanes = device.sub_group_sizes[0]

    def launch() -> float:
        start = time.perf_counter()
        queue.enqueue(kernel, (SIZE // tn * lanes, SIZE // tm), (lanes, 1), a, b, c, SIZE, SIZE).wait()
        return time.perf_counter() - start

    figure = measure(f"coopmat, {device_name}, tile {tm}×{tn}×{tk}", SIZE**3, launch, repeat)
    if not np.array_equal(c, a.astype(np.int32) @ b.astype(np.int32)):
        raise SystemExit(f"{device_name}: the product is wrong")
    return figure


def plain_python(repeat: int) -> Figure:
    """The same product as a triple loop over lists."""
    size = PYTHON_SIZE
    a, b = ([[random.randrange(-128, 128) for _ in range(size)] for _ in range(size)] for _ in range(2))

    def multiply() -> float:
        start = time.perf_counter()
        c = [[0] * size for _ in range(size)]
        for i in range(size):
            for j in range(size):
                total = 0
                for k in range(size):
                    total += a[i][k] * b[k][j]
                c[i][j] = total
        return time.perf_counter() - start

    return measure("plain Python, triple loop", size**3, multiply, repeat)


def oclgrind(repeat: int) -> Figure | None:
    """Oclgrind on benchmarks/scalar_gemm.cl; None where it is not installed."""
    command = shutil.which("oclgrind-kernel")
    if command is None:
        return None
    size = OCLGRIND_SIZE
    with tempfile.TemporaryDirectory() as folder:
        description = Path(folder) / "scalar_gemm.sim"
        description.write_text("\n".join([
            str(HERE / "scalar_gemm.cl"), "gemm", f"{size} {size} 1", "16 1 1",
            f"<size={size * size} fill=3 char>", f"<size={size * size} fill=5 char>",
            f"<size={4 * size * size} fill=0 int>", f"<size=4> {size}", f"<size=4> {size}", ""]))

        def launch() -> float:
            start = time.perf_counter()
            subprocess.run([command, str(description)], check=True, capture_output=True)
            return time.perf_counter() - start

        return measure("Oclgrind, scalar kernel, start-up included", size**3, launch, repeat)


def main() -> None:
    """Measure, print a table, and write JSON if asked to."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeat", type=int, default=11, help="runs per figure (default: 11)")
    parser.add_argument("--json", type=Path, help="write the figures to this file as well")
    options = parser.parse_args()
    figures = [simulator(name, options.repeat) for name in TILES]
    figures.append(plain_python(max(3, options.repeat // 3)))
    peer = oclgrind(max(3, options.repeat // 3))
    figures += [peer] if peer is not None else []
    rows = table("int8 GEMM, million multiply-adds/s", "median", "least", "most", "× plain Python")
    base = next(figure for figure in figures if figure.name.startswith("plain"))
    for figure in figures:
        rows.add_row(figure.name, *(f"{rate / 1e6:.1f}" for rate in (figure.median, figure.least, figure.most)),
                     f"{figure.median / base.median:.1f}")
    console().print(rows)
    if peer is None:
        print("Oclgrind is not installed: left out")
    if options.json:
        options.json.write_text(json.dumps([asdict(figure) for figure in figures], indent=1))


if __name__ == "__main__":
    main()
