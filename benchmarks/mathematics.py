"""Functions of floats and doubles on the CPU, one thread, beside numpy's on the same array, or PyTorch's.

Both fill an array that is there already, many times a turn: launches are prepared, and the second-level cache holds the
arrays. The times are those that the process computes. Each figure is the median of the ratios of turns that follow each
other.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from figures import Figure

import coopmat as cm
from coopmat.support.terminal import console, table

COUNT = 1 << 17
LAUNCHES = 64  # a turn
LOCAL_SIZE = 1024
RANGES = {"asin": (-1.0, 1.0), "acos": (-1.0, 1.0), "atanh": (-0.99, 0.99), "acosh": (1.0, 100.0), "pow": (0.1, 10.0),
          "erfc": (-5.0, 5.0), "lgamma": (0.1, 30.0)}
POSITIVE = ("log", "log2", "log10", "log1p", "sqrt", "rsqrt", "cbrt")
NAMES = ("exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "asin", "acos", "atan", "sinh",
         "cosh", "tanh", "asinh", "acosh", "atanh", "cbrt", "sqrt", "rsqrt", "pow", "atan2", "hypot", "fmod", "erf",
         "erfc", "lgamma")
OF_TORCH = ("erf", "erfc", "lgamma")  # numpy has none
KINDS = {"float": np.float32, "double": np.float64}
SHORT = ("exp", "exp2", "log", "log2", "log10", "sin", "cos", "tan")  # of which there are native_ ones that are faster
OPTION = "-cl-fast-relaxed-math"
FASTER = ("expm1", "log1p", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh",
          "atanh", "cbrt", "pow")  # with that option
BINARY = ("pow", "atan2", "hypot", "fmod")


def run(repeat: int) -> list[Figure]:
    """Measure, and print a table."""
    rows = table(f"nanoseconds a float, {COUNT:,} floats", "coopmat", "peer", "x peer", "native_ x peer",
                 "relaxed x full", "doubles x peer")
    figures = []
    queue = cm.Queue(cm.device("cpu", options=cm.CpuOptions(threads=1)))
    for name in NAMES:
        found = _measured(queue, name, repeat)
        if found is None:
            continue
        ours, theirs, ratios = found
        rows.add_row(name, f"{ours:.3f}", f"{theirs:.3f}", *(
            f"{ratios[one]:.2f}" if one in ratios else "" for one in ("float", "native", "relaxed", "double")))
        peer = "PyTorch" if name in OF_TORCH else "numpy"
        texts = {"float": f"{name}, x {peer}", "native": f"native_{name}, x {peer}",
                 "relaxed": f"{name} {OPTION}, x {name}", "double": f"{name} of doubles, x {peer}"}
        figures += [Figure.of(texts[one], "x", [ratio]) for one, ratio in ratios.items()]
    console().print(rows)
    return figures


def _measured(queue: cm.Queue, name: str, repeat: int) -> tuple[float, float, dict[str, float]] | None:
    """Nanoseconds a float of both, and the ratios; None without a peer."""
    ratios, times = {}, (0.0, 0.0)
    for kind, dtype in KINDS.items():
        given, out = _operands(name, dtype), np.empty(COUNT, dtype)
        peer = _peer(name, given, out)
        if peer is None:
            return None
        full = _kernel(queue, name, given, out)
        ours, theirs, ratios[kind] = _compared(full, peer, repeat)
        if kind == "float":
            times = ours, theirs
            if name in SHORT:
                ratios["native"] = _compared(_kernel(queue, f"native_{name}", given, out), peer, repeat)[2]
            if name in FASTER:
                ratios["relaxed"] = _compared(_kernel(queue, name, given, out, OPTION), full, repeat)[2]
    return *times, ratios


def _operands(name: str, dtype: type) -> list[np.ndarray]:
    low, high = RANGES.get(name, (0.01, 10.0) if name in POSITIVE else (-10.0, 10.0))
    rng = np.random.default_rng(0)
    return [rng.uniform(low, high, COUNT).astype(dtype) for _ in range(1 + (name in BINARY))]


def _kernel(queue: cm.Queue, name: str, given: list[np.ndarray], out: np.ndarray, options: str = ""
            ) -> Callable[[], object]:
    kind = next(kind for kind, dtype in KINDS.items() if out.dtype == dtype)
    parameters = ", ".join(f"global const {kind} *x{place}" for place in range(len(given)))
    arguments = ", ".join(f"x{place}[i]" for place in range(len(given)))
    source = (f"kernel void k(global {kind} *y, {parameters}) "
              f"{{ size_t i = get_global_id(0); y[i] = {name}({arguments}); }}")
    kernel = cm.build(source, options, device=queue.device).kernel("k")
    launch = queue.prepare(kernel, COUNT, LOCAL_SIZE, out, *given)
    return lambda: launch().wait()


def _peer(name: str, given: list[np.ndarray], out: np.ndarray) -> Callable[[], object] | None:
    """numpy's function, or PyTorch's, if it is there."""
    if name == "rsqrt":
        return lambda: np.divide(out.dtype.type(1), np.sqrt(given[0], out=out), out=out)
    if name in OF_TORCH:
        return _of_torch(name, given, out)
    of_numpy = {"asin": "arcsin", "acos": "arccos", "atan": "arctan", "asinh": "arcsinh", "acosh": "arccosh",
                "atanh": "arctanh", "pow": "power", "atan2": "arctan2"}.get(name, name)
    return lambda: getattr(np, of_numpy)(*given, out=out)


def _of_torch(name: str, given: list[np.ndarray], out: np.ndarray) -> Callable[[], object] | None:
    try:
        import torch
    except ImportError:
        return None
    torch.set_num_threads(1)
    inputs, output = [torch.from_numpy(one) for one in given], torch.from_numpy(out)
    return lambda: getattr(torch, name)(*inputs, out=output)


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
