"""``coopmat bench``: the matrix products of examples/ on a device, beside numpy and PyTorch, in the same run.

Every product is computed by each kernel and each peer in turn, several times over, on the same random matrices; what
counts is the median. So all of them meet the same clock frequencies and neighbours.
"""

from __future__ import annotations

import gc
import json
import math
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from importlib import resources
from typing import Any

import ml_dtypes
import numpy as np

from coopmat.diagnostics import Error
from coopmat.runtime import Device, Kernel, Queue, build, device
from coopmat.targets.cpu.options import CpuOptions

REPETITIONS = 11
AT_A_TIME = 4  # repetitions of one kernel or peer, before the next one's turn
SPINNING_SECONDS = 0.3  # so long, at most, the threads of numpy and PyTorch wait for more work without sleeping
WORK_GROUP = 16  # work-items: one sub-group
SIZE_STEP = 64  # every kernel takes multiples of it
BLAS_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")


@dataclass(frozen=True)
class Elements:
    """The elements of a product, and their names in C."""

    name: str
    dtype: np.dtype[Any]
    sums: np.dtype[Any]
    c_type: str
    c_sums: str
    tile_depth: int  # a row of a tile of A fills 64 bytes
    formats: tuple[str, str]  # of elements and of sums, as device tables have them

    @property
    def flags(self) -> str:
        """Which operands of a multiply-add are signed integers."""
        return "15" if self.sums.kind == "i" else "0"

    def random(self, rng: np.random.Generator, *shape: int) -> np.ndarray:
        """Integers of the whole range, or normally distributed numbers."""
        if self.sums.kind == "i":
            return rng.integers(-128, 128, shape, np.int8)
        return rng.standard_normal(shape, np.float32).astype(self.dtype)


BF16 = Elements("bf16", np.dtype(ml_dtypes.bfloat16), np.dtype(np.float32), "__bf16", "float", 32, ("bf16", "fp32"))
FP16 = Elements("fp16", np.dtype(np.float16), np.dtype(np.float32), "half", "float", 32, ("fp16", "fp32"))
S8 = Elements("s8", np.dtype(np.int8), np.dtype(np.int32), "char", "int", 64, ("sint8", "sint32"))
FP32 = Elements("fp32", np.dtype(np.float32), np.dtype(np.float32), "float", "float", 16, ("fp32", "fp32"))
ELEMENTS = {elements.name: elements for elements in (BF16, S8, FP32, FP16)}
USUAL = ("bf16", "s8", "fp32")
"""What is measured on devices that have no table of their own."""


@dataclass(frozen=True)
class Example:
    """A kernel of examples/, and how it is launched."""

    name: str
    file: str
    options: tuple[str, ...] = ()
    tile: tuple[int, int, int] | None = None  # None: 16 x 16, as deep as the elements' tile
    block: tuple[int, int] = (16, 16)  # rows and columns of C of a work-group; at most so many rows if it is tuned
    is_tuned: bool = False
    has_packed_b: bool = False
    work_items: int = WORK_GROUP

    def kernel(self, elements: Elements, device: Device, cache_dir: str | None = None) -> Kernel:
        """The kernel, built for elements and a device."""
        with resources.as_file(resources.files("coopmat") / "examples" / self.file) as path:
            return build(path, self.build_options(elements), device, cache_dir=cache_dir).kernel("gemm")

    def build_options(self, elements: Elements) -> tuple[str, ...]:
        """The definitions that the kernel needs."""
        tm, tn, tk = self.tile or (16, 16, elements.tile_depth)
        return (f"-DIN={elements.c_type}", f"-DOUT={elements.c_sums}", f"-DFLAGS={elements.flags}",
                f"-DTM={tm}", f"-DTN={tn}", f"-DTK={tk}", *self.options)

    def launch(self, kernel: Kernel, queue: Queue, threads: int, a: np.ndarray, b: np.ndarray, c: np.ndarray) -> None:
        """``c = a @ b``; ``b`` as the kernel wants it."""
        (m, k), n = a.shape, c.shape[1]
        rows, columns = self.block
        sizes: tuple[int, ...] = (n, k)
        if self.is_tuned:
            rows = min(rows, -(-m // threads // 32) * 32)
            sizes = (m, n, k, rows)
        grid = (-(-n // columns) * self.work_items, -(-m // rows))
        queue.enqueue(kernel, grid, (self.work_items, 1), a, b, c, *sizes).wait()


SPEC = Example("spec", "gemm.cl")
BLOCKED = Example("blocked", "gemm_blocked.cl", ("-DPACKED_B",), block=(32, 32), has_packed_b=True)
BLOCKED_ROW_MAJOR = Example("blocked", "gemm_blocked.cl", block=(32, 32))
TUNED = Example("tuned", "gemm_tuned.cl", ("-DNB=512",), block=(4096, 512), is_tuned=True)
TUNED_LOCAL_MEMORY = 4 << 20
"""Bytes that a device must have for the tuned kernels, which are for CPUs and their caches."""
TUNED_FP32 = Example("tuned", "gemm_tuned_fp32.cl", ("-DNB=256",), (8, 32, 4), (4096, 256), is_tuned=True)


def own_tile(elements: Elements, device: Device) -> tuple[int, int, int] | None:
    """The largest tile of a driver's table for elements."""
    types = (elements.formats[0],) * 2 + (elements.formats[1],) * 2
    tiles = [row.largest for row in device.own_matrices if row.types == types]
    return max(tiles, key=math.prod, default=None)


def measurable(device: Device) -> list[str]:
    """The elements that are measured on a device if nothing else is asked for."""
    if not device.own_matrices:
        return list(USUAL)
    return [name for name, elements in ELEMENTS.items() if own_tile(elements, device) is not None]


def examples(elements: Elements, device: Device) -> tuple[Example, ...]:
    """The kernels for elements, from the simplest to the fastest. Error if a device with a table of its driver's has
    none for them."""
    if device.own_matrices:
        tile = own_tile(elements, device)
        if tile is None:
            raise Error(f"the driver of {device.name} has no matrices of {elements.name}; it has those of "
                        f"{', '.join(measurable(device)) or 'no type that is measured'}")
        (m, n, _), size = tile, device.sub_group_sizes[0]
        return (Example("spec", "gemm.cl", tile=tile, block=(m, n), work_items=size),
                Example("blocked", "gemm_blocked.cl", tile=tile, block=(2 * m, 2 * n), work_items=size))
    usual = (SPEC, BLOCKED_ROW_MAJOR, TUNED_FP32) if elements is FP32 else (SPEC, BLOCKED, TUNED)
    size = device.sub_group_sizes[0]
    if SPEC.work_items not in device.sub_group_sizes:
        return tuple(replace(one, work_items=size) for one in usual if not one.is_tuned)
    if device.description.limits.local_memory < TUNED_LOCAL_MEMORY:
        return tuple(one for one in usual if not one.is_tuned)
    return usual


def packed(b: np.ndarray) -> np.ndarray:
    """``b`` with the elements of one column of each 4 bytes' worth of rows side by side."""
    k, n = b.shape
    together = 4 // b.itemsize
    return b.reshape(k // together, together, n).swapaxes(1, 2).copy()


# ------------------------------------------------------------------------------- peers

Action = Callable[[], object]


def peers(elements: Elements, threads: int, a: np.ndarray, b: np.ndarray) -> dict[str, Action]:
    """The same product by others, as far as they have it: numpy's BLAS (floats only), PyTorch (oneDNN). Memory for
    results is there before, as for ours."""
    found: dict[str, Action] = {}
    if elements is FP32:
        product = np.empty((a.shape[0], b.shape[1]), np.float32)
        found["numpy"] = lambda: np.matmul(a, b, out=product)
    try:
        import torch
    except ImportError:
        return found
    torch.set_num_threads(threads)

    def tensor(array: np.ndarray) -> Any:
        if elements is BF16:
            return torch.from_numpy(array.view(np.int16)).view(torch.bfloat16)
        return torch.from_numpy(array)

    x, y = tensor(a), tensor(b)
    multiply = torch._int_mm if elements is S8 else torch.matmul
    result = multiply(x, y)
    return {**found, "torch": lambda: multiply(x, y, out=result)}


# --------------------------------------------------------------------------- measuring


@dataclass(frozen=True)
class Measurement:
    """The median of one product by one kernel or peer. ``error`` is the largest one, relative to the largest sum of
    absolute products; None for peers."""

    elements: str
    size: int
    threads: int
    name: str
    seconds: float
    error: float | None

    @property
    def gflops(self) -> float:
        """Billions of multiplications and additions in a second."""
        return 2e-9 * self.size**3 / self.seconds


def measure(device: Device, elements: Elements, size: int, threads: int, repetitions: int = REPETITIONS,
            cache_dir: str | None = None) -> list[Measurement]:
    """All kernels and peers on one product of ``size`` x ``size`` matrices."""
    rng = np.random.default_rng(size)
    a, b = (elements.random(rng, size, size) for _ in range(2))
    queue = Queue(device)
    kernels = examples(elements, device)
    c = {one.name: np.zeros((size, size), elements.sums) for one in kernels}
    actions: dict[str, Action] = {}
    for one in kernels:
        kernel = one.kernel(elements, device, cache_dir)
        mine = packed(b) if one.has_packed_b else b
        actions[one.name] = lambda one=one, kernel=kernel, mine=mine: one.launch(  # type: ignore[misc]
            kernel, queue, threads, a, mine, c[one.name])
    actions |= peers(elements, threads, a, b)
    times = in_turn(list(actions.values()), repetitions)
    expected, magnitude = _expected(elements, a, b)
    errors = {name: float(np.abs(found - expected).max()) / magnitude for name, found in c.items()}
    return [Measurement(elements.name, size, threads, name, statistics.median(found), errors.get(name))
            for name, found in zip(actions, times, strict=True)]


def in_turn(actions: Sequence[Action], repetitions: int) -> list[list[float]]:
    """Seconds of each action, ``repetitions`` times: some at a time, after an unmeasured one, then the next action's.
    Before each turn the threads of others, which go on spinning for a while, get the time to stop."""
    times: list[list[float]] = [[] for _ in actions]
    gc.collect()
    for first in range(0, repetitions, AT_A_TIME):
        for action, found in zip(actions, times, strict=True):
            time.sleep(SPINNING_SECONDS)
            action()
            for _ in range(min(AT_A_TIME, repetitions - first)):
                start = time.perf_counter()
                action()
                found.append(time.perf_counter() - start)
    return times


def _expected(elements: Elements, a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, float]:
    """The product in float64, exact for integers, and how large sums of absolute products are."""
    wide_a, wide_b = a.astype(np.float64), b.astype(np.float64)
    magnitude = float(np.abs(wide_a).sum(1).max() * np.abs(wide_b).max())
    return wide_a @ wide_b, magnitude


def tolerance(elements: Elements) -> float:
    """The largest error that a :class:`Measurement` may have."""
    return 0.0 if elements.sums.kind == "i" else 1e-5


# --------------------------------------------------------------- a process per thread count


def measure_apart(device_name: str, elements: Elements, size: int, threads: int,
                  repetitions: int = REPETITIONS) -> list[Measurement]:
    """:func:`measure` in a process of its own: numpy's BLAS takes its number of threads when it is loaded.

    Raises Error with what the process said if it fails.
    """
    request = json.dumps([device_name, elements.name, size, threads, repetitions])
    environment = os.environ | dict.fromkeys(BLAS_VARIABLES, str(threads))
    done = subprocess.run([sys.executable, "-m", "coopmat.command_line.gemm_bench", request], env=environment,
                          capture_output=True, text=True, check=False)
    if done.returncode:
        raise Error(f"{elements.name}, {size}: {done.stderr.strip() or f'exit code {done.returncode}'}")
    return [Measurement(**one) for one in json.loads(done.stdout)]


def _child(request: str) -> None:
    name, elements, size, threads, repetitions = json.loads(request)
    options = CpuOptions(threads=threads) if name == "cpu" else None
    try:
        found = measure(device(name, options=options), ELEMENTS[elements], size, threads, repetitions)
    except Error as error:
        sys.exit(str(error))
    print(json.dumps([asdict(one) for one in found]))


if __name__ == "__main__":
    _child(sys.argv[1])
