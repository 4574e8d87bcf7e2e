"""Products with Intel's sub-group functions on the CPU, beside the simplest ones with matrices, and beside the same
kernels as they are written, without neighbouring work-groups merged."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from kernel_jobs import BF16, FORMS, FP16, INT8, Elements, Job, Jobs, Making

import coopmat as cm
from coopmat.spirv.edit.processing import scheduled

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
INTEL = "sim:intel_gpu_pvc"  # whose functions the kernels are compiled for
LANES = 16


@dataclass(frozen=True)
class Kernel:
    """A kernel of the examples. tile: rows and columns of C that a sub-group has; packs: whether B is packed;
    takes_rows: whether it is told how many rows there are."""

    name: str
    tile: tuple[int, int] = (8, LANES)
    packs: bool = False
    takes_rows: bool = False


KERNELS = (Kernel("rowmajor_m8_n16"), Kernel("packed_m8_n16", packs=True), Kernel("blocks_rowmajor_m8_n16"),
           Kernel("blocks_packed_m8_n16", packs=True), Kernel("blocks_2d_m8_n16", takes_rows=True),
           Kernel("tiled_4x2_m8_n16", (32, 32), packs=True))
TYPES: tuple[tuple[Elements, Elements], ...] = ((INT8, INT8), (BF16, FP16))
"""Elements of A and B, and those of the peer: both are multiplied by the same instructions."""


def intel_jobs(jobs: Jobs, size: int) -> Iterator[Making]:
    """Square products."""
    for elements, others in TYPES:
        for kernel in KERNELS:
            yield partial(_product, jobs, elements, others, kernel, size)


def _product(jobs: Jobs, elements: Elements, others: Elements, kernel: Kernel, size: int) -> Job:
    source = EXAMPLES / f"matrix_{elements.name}.cl"
    module = cm.build(source, device=cm.device(INTEL)).module
    a, b = (elements.random(jobs.rng, size, size) for _ in range(2))
    c, plain = (np.zeros((size, size), elements.sums_dtype) for _ in range(2))
    together = 4 // np.dtype(elements.dtype).itemsize
    words = np.ascontiguousarray(b.reshape(size // together, together, size).transpose(0, 2, 1)).view(np.uint32)
    sizes = [np.int32(size)] * (3 if kernel.takes_rows else 2)
    down, across = kernel.tile
    grid = (size // across * LANES, size // down), (LANES, 1)

    def launch(schedule: str | None, out: np.ndarray) -> Callable[[], None]:
        built = cm.build(scheduled(module, schedule).to_bytes(), device=jobs.queue.device).kernel(kernel.name)
        return jobs.launch(built, *grid, a, words if kernel.packs else b, out, *sizes)

    peer = jobs.product(others, FORMS[0], size)
    peers = {"matrices": peer.run, "as written": launch("block:none", plain)}
    exact = np.float64 if elements is INT8 else np.float32  # sums of int8 are below 2^53
    expected = a.astype(exact) @ b.astype(exact)

    def error() -> float:
        return float(np.abs(c.astype(np.float64) - expected).max() / np.abs(expected).max())

    return Job(f"{elements.name} {size}³, Intel's functions, {kernel.name}", launch(None, c), peers, error,
               0.0 if elements is INT8 else 1e-5, 0.9, 2.0 * size**3, a.nbytes + b.nbytes + c.nbytes)
