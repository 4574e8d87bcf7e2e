"""The simulator's speed: an int8 GEMM, in multiply-adds a second, on random data.

The peers are a triple loop in plain Python, and Oclgrind (where installed) on the equivalent scalar kernel. A launch
is measured as a user sees it: from ``enqueue`` to the end of ``wait()``.
"""

from __future__ import annotations

import random
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
from figures import Figure, seconds

import coopmat as cm
from coopmat.support.terminal import console, table

HERE = Path(__file__).parent
SIZE = 256
TILES = {"sim:generic": (16, 16, 32), "sim:intel_gpu_pvc": (8, 16, 32), "sim:intel_cpu_spr": (16, 16, 64)}
PYTHON_SIZE = 96  # the plain loop is timed on a smaller product: its rate does not depend on the size
OCLGRIND_SIZE = 64


def rate(name: str, multiply_adds: int, action: Callable[[], object], repeat: int) -> Figure:
    """The rate at which ``action`` does its work."""
    return Figure.of(name, "multiply-adds/s", [multiply_adds / time for time in seconds(action, repeat)])


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

    def launch() -> None:
        queue.enqueue(kernel, (SIZE // tn * lanes, SIZE // tm), (lanes, 1), a, b, c, SIZE, SIZE).wait()

    figure = rate(f"coopmat, {device_name}, tile {tm}×{tn}×{tk}", SIZE**3, launch, repeat)
    if not np.array_equal(c, a.astype(np.int32) @ b.astype(np.int32)):
        raise SystemExit(f"{device_name}: the product is wrong")
    return figure


def plain_python(repeat: int) -> Figure:
    """The same product as a triple loop over lists."""
    size = PYTHON_SIZE
    a, b = ([[random.randrange(-128, 128) for _ in range(size)] for _ in range(size)] for _ in range(2))

    def multiply() -> None:
        c = [[0] * size for _ in range(size)]
        for i in range(size):
            for j in range(size):
                total = 0
                for k in range(size):
                    total += a[i][k] * b[k][j]
                c[i][j] = total

    return rate("plain Python, triple loop", size**3, multiply, repeat)


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

        def launch() -> None:
            subprocess.run([command, str(description)], check=True, capture_output=True)

        return rate("Oclgrind, scalar kernel, start-up included", size**3, launch, repeat)


def run(repeat: int) -> list[Figure]:
    """Measure, and print a table."""
    figures = [simulator(name, repeat) for name in TILES]
    base = plain_python(max(3, repeat // 3))
    peer = oclgrind(max(3, repeat // 3))
    figures += [base] if peer is None else [base, peer]
    rows = table("int8 GEMM, million multiply-adds/s", "median", "least", "most", "× plain Python")
    for figure in figures:
        rows.add_row(figure.name, *(f"{value / 1e6:.1f}" for value in (figure.median, figure.least, figure.most)),
                     f"{figure.median / base.median:.1f}")
    console().print(rows)
    if peer is None:
        print("Oclgrind is not installed: left out")
    return figures
