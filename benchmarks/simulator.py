"""The simulator's speed: products of matrices, in multiply-adds a second, on random data, with its checks and without.

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
TILES = {"sim:generic": (16, 16, 32), "sim:intel_gpu_pvc": (8, 16, 32), "sim:intel_cpu_spr": (16, 16, 64)}
SIZE, LARGE_SIZE = 256, 512
SCALAR_SIZE = 256
PYTHON_SIZE = 96  # the plain loop is timed on a smaller product: its rate does not depend on the size
OCLGRIND_SIZE = 64
OCLGRIND_CHECKS = ("--data-races", "--uninitialized")
UNCHECKED = cm.SimulatorOptions(races=False, bounds=False, uninitialized=False, convergence=False, layouts=False,
                                overflow=False, undefined=False)
SAYING = {True: "checks on", False: "checks off"}


def rate(name: str, multiply_adds: int, action: Callable[[], object], repeat: int) -> Figure:
    """The rate at which ``action`` does its work."""
    return Figure.of(name, "multiply-adds/s", [multiply_adds / time for time in seconds(action, repeat)])


def matrices(device_name: str, size: int, repeat: int, *, checked: bool = True) -> Figure:
    """An int8 GEMM by examples/gemm.cl on a simulated device."""
    tm, tn, tk = TILES[device_name]
    name = f"{device_name}, {tm}×{tn}×{tk}, {size}³, {SAYING[checked]}"
    lanes = cm.device(device_name).sub_group_sizes[0]
    sizes = ((size // tn * lanes, size // tm), (lanes, 1))
    return _simulated(name, HERE.parent / "examples" / "gemm.cl", (f"-DTM={tm}", f"-DTN={tn}", f"-DTK={tk}"),
                      device_name, sizes, size, repeat, checked)


def scalars(source: str, element: type, repeat: int, *, checked: bool = True) -> Figure:
    """A GEMM with one element per work-item, on the device that simulates most of them at once."""
    name = f"{source}, {SCALAR_SIZE}³, {SAYING[checked]}"
    sizes = ((SCALAR_SIZE, SCALAR_SIZE), (16, 16 if "local" in source else 1))
    return _simulated(name, HERE / source, (), "sim:intel_gpu_pvc", sizes, SCALAR_SIZE, repeat, checked, element)


def _simulated(name: str, source: Path, options: tuple[str, ...], device_name: str,
               sizes: tuple[tuple[int, int], tuple[int, int]], size: int, repeat: int, checked: bool,
               element: type = np.int8) -> Figure:
    device = cm.device(device_name, options=None if checked else UNCHECKED)
    queue, kernel = cm.Queue(device), cm.build(source, options, device).kernel("gemm")
    rng = np.random.default_rng(1)
    a, b = (rng.integers(-128, 128, (size, size), np.int8).astype(element) for _ in range(2))
    c = np.zeros((size, size), np.int32 if element is np.int8 else element)
    figure = rate(name, size**3, lambda: queue.enqueue(kernel, *sizes, a, b, c, size, size).wait(), repeat)
    if not np.array_equal(c, a.astype(np.float64) @ b.astype(np.float64)):
        raise SystemExit(f"{name}: the product is wrong")
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


def oclgrind(repeat: int, *checks: str) -> Figure | None:
    """Oclgrind on benchmarks/scalar_gemm.cl, its start included; None where it is not installed."""
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
            subprocess.run([command, *checks, str(description)], check=True, capture_output=True)

        return rate(f"Oclgrind, scalar_gemm.cl, {size}³, {SAYING[bool(checks)]}", size**3, launch, repeat)


def run(repeat: int) -> list[Figure]:
    """Measure, and print a table."""
    few = max(3, repeat // 3)
    base = plain_python(few)
    peers = [found for found in (oclgrind(few), oclgrind(few, *OCLGRIND_CHECKS)) if found is not None]
    figures = [*(matrices(name, SIZE, repeat) for name in TILES),
               *(matrices("sim:intel_gpu_pvc", LARGE_SIZE, repeat, checked=checked) for checked in SAYING),
               *(scalars(source, element, few, checked=checked) for checked in SAYING
                 for source, element in (("scalar_gemm.cl", np.int8), ("local_gemm.cl", np.float32))), base, *peers]
    rows = table("GEMM, million multiply-adds/s", "median", "least", "most", "× plain Python")
    for figure in figures:
        rows.add_row(figure.name, *(f"{value / 1e6:.2f}" for value in (figure.median, figure.least, figure.most)),
                     f"{figure.median / base.median:.1f}")
    console().print(rows)
    if not peers:
        print("Oclgrind is not installed: left out")
    return figures
