"""How long compiling a kernel in Python takes: benchmarks/hello_gemm.py, ready for a device, cold and from the cache.

The first compilation of a process imports the compiler; it is measured in processes of its own, in which coopmat.sycl
has been imported. The peer is the same product in OpenCL C (examples/gemm.cl), compiled in the same way.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from figures import Figure, seconds
from hello_gemm import gemm

import coopmat as cm
from coopmat.support.terminal import console, table

HERE = Path(__file__).parent
PEER = HERE.parent / "examples" / "gemm.cl"
DEVICE = "sim:intel_gpu_pvc"
_FIRST = """
import sys, time
from pathlib import Path
import coopmat as cm
import coopmat.sycl
sys.path.insert(0, sys.argv[1])
from hello_gemm import gemm
source = gemm if sys.argv[3] == "python" else Path(sys.argv[3])
start = time.perf_counter()
cm.build(source, (), "sim:intel_gpu_pvc", cache_dir=sys.argv[2])
print(time.perf_counter() - start)
"""


def run(repeat: int) -> list[Figure]:
    """Measure, and print a table."""
    with tempfile.TemporaryDirectory() as folder:
        figures = []
        for language, source in (("Python", gemm), ("OpenCL C", PEER)):
            argument = "python" if source is gemm else str(source)
            figures += [
                Figure.of(f"{language}: first of a process, cold", "s", first("off", argument, max(3, repeat // 2))),
                Figure.of(f"{language}: first of a process, from the cache", "s",
                          first(folder, argument, max(3, repeat // 2) + 1)[1:]),
                Figure.of(f"{language}: cold", "s", seconds(lambda s=source: build(s, "off"), repeat)),
                Figure.of(f"{language}: from the cache", "s", seconds(lambda s=source: build(s, folder), repeat))]
    rows = table("cm.build of a GEMM, milliseconds", "median", "least", "most", "× OpenCL C")
    half = len(figures) // 2
    for figure, peer in zip(figures, figures[half:] * 2, strict=False):
        rows.add_row(figure.name, *(f"{value * 1e3:.1f}" for value in (figure.median, figure.least, figure.most)),
                     f"{figure.median / peer.median:.2f}")
    console().print(rows)
    return figures


def first(cache_dir: str, source: str, repeat: int) -> list[float]:
    """Seconds of the first compilation, each in a new process."""
    command = [sys.executable, "-c", _FIRST, str(HERE), cache_dir, source]
    return [float(subprocess.run(command, capture_output=True, text=True, check=True).stdout) for _ in range(repeat)]


def build(source: object, cache_dir: str) -> cm.Program:
    """In this process."""
    return cm.build(source, (), DEVICE, cache_dir=cache_dir)  # type: ignore[arg-type]
