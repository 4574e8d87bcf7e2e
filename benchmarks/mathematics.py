"""Functions of floats on the CPU, one thread, beside numpy's on the same array.

Both fill an array that is there already, many times a turn: launches are prepared, and the second-level cache holds the
arrays. The times are those that the process computes. Each figure is the median of the ratios of turns that follow each
other.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable

import numpy as np
from figures import Figure

import coopmat as cm
from coopmat.support.terminal import console, table

COUNT = 1 << 17
LAUNCHES = 64  # a turn
LOCAL_SIZE = 1024
RANGES = {"asin": (-1.0, 1.0), "acos": (-1.0, 1.0), "atanh": (-0.99, 0.99), "acosh": (1.0, 100.0), "pow": (0.1, 10.0)}
POSITIVE = ("log", "log2", "log10", "log1p", "sqrt", "rsqrt", "cbrt")
NAMES = ("exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "asin", "acos", "atan", "sinh",
         "cosh", "tanh", "asinh", "acosh", "atanh", "cbrt", "sqrt", "rsqrt", "pow", "erf")
SHORT = ("exp", "exp2", "log", "log2", "log10", "sin", "cos", "tan")  # of which there are native_ ones that are faster
OPTION = "-cl-fast-relaxed-math"
FASTER = ("expm1", "log1p", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh",
          "atanh", "cbrt", "pow")  # with that option
BINARY = ("pow",)


def run(repeat: int) -> list[Figure]:
    """Measure, and print a table."""
    rows = table(f"nanoseconds a float, {COUNT:,} floats", "coopmat", "numpy", "x numpy", "native_ x numpy",
                 "relaxed x full")
    figures = []
    queue = cm.Queue(cm.device("cpu", options=cm.CpuOptions(threads=1)))
    for name in NAMES:
        given = _operands(name)
        out = np.empty(COUNT, np.float32)
        full, peer = _kernel(queue, name, given, out), _numpy(name, given, out)
        ours, theirs, ratio = _compared(full, peer, repeat)
        others = {}
        if name in SHORT:
            others["native"] = _compared(_kernel(queue, f"native_{name}", given, out), peer, repeat)[2]
        if name in FASTER:
            others["relaxed"] = _compared(_kernel(queue, name, given, out, OPTION), full, repeat)[2]
        shown = [f"{others[one]:.2f}" if one in others else "" for one in ("native", "relaxed")]
        rows.add_row(name, f"{ours:.3f}", f"{theirs:.3f}", f"{ratio:.2f}", *shown)
        figures += [Figure.of(f"{name}, x numpy", "x", [ratio])]
        figures += [Figure.of(f"native_{name}, x numpy", "x", [others["native"]])] if name in SHORT else []
        figures += [Figure.of(f"{name} {OPTION}, x {name}", "x", [others["relaxed"]])] if name in FASTER else []
    console().print(rows)
    return figures


def _operands(name: str) -> list[np.ndarray]:
    low, high = RANGES.get(name, (0.01, 10.0) if name in POSITIVE else (-10.0, 10.0))
    rng = np.random.default_rng(0)
    return [rng.uniform(low, high, COUNT).astype(np.float32) for _ in range(1 + (name in BINARY))]


def _kernel(queue: cm.Queue, name: str, given: list[np.ndarray], out: np.ndarray, options: str = ""
            ) -> Callable[[], object]:
    parameters = ", ".join(f"global const float *x{place}" for place in range(len(given)))
    arguments = ", ".join(f"x{place}[i]" for place in range(len(given)))
    source = (f"kernel void k(global float *y, {parameters}) "
              f"{{ size_t i = get_global_id(0); y[i] = {name}({arguments}); }}")
    kernel = cm.build(source, options, device=queue.device).kernel("k")
    launch = queue.prepare(kernel, COUNT, LOCAL_SIZE, out, *given)
    return lambda: launch().wait()


def _numpy(name: str, given: list[np.ndarray], out: np.ndarray) -> Callable[[], object]:
    """numpy's function; its error function is Python's for each number."""
    if name == "rsqrt":
        return lambda: np.divide(np.float32(1), np.sqrt(given[0], out=out), out=out)
    if name == "erf":
        function = np.vectorize(math.erf, otypes=[np.float32])
        return lambda: function(given[0])
    of_numpy = {"asin": "arcsin", "acos": "arccos", "atan": "arctan", "asinh": "arcsinh", "acosh": "arccosh",
                "atanh": "arctanh", "pow": "power"}.get(name, name)
    return lambda: getattr(np, of_numpy)(*given, out=out)


def _compared(ours: Callable[[], object], theirs: Callable[[], object], repeat: int) -> tuple[float, float, float]:
    """Nanoseconds a number of both, and the ratio."""
    ours()
    turns = [(_turn(ours), _turn(theirs)) for _ in range(repeat)]
    first, second = np.median(np.array(turns), axis=0)
    return float(first), float(second), float(np.median([two / one for one, two in turns]))


def _turn(launch: Callable[[], object]) -> float:
    start = time.process_time()
    count = 0
    while count < LAUNCHES and (count == 0 or time.process_time() - start < 0.1):
        launch()
        count += 1
    return (time.process_time() - start) / count / COUNT * 1e9
