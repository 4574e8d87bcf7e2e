"""Products of one tile a sub-group that are more than that, beside the simplest ones of the same size: in two sums,
with alpha and beta, of weights of 8 bits, with sums of integers that become floats."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from kernel_jobs import BF16, FP16, HERE, INT8, SUB_GROUP, Elements, Job, Jobs, Making, error_of_product, torch_product

import coopmat as cm

TILE = 16
FLOOR = 0.8


@dataclass(frozen=True)
class Kernel:
    """A kernel of products.cl. more: its arguments behind the sizes, for so many columns; factor: of the product, which
    C is then; weights: whether B is one of bytes; floats: whether C is one of floats."""

    name: str
    says: str
    more: Callable[[int, Any], tuple[Any, ...]] = lambda columns, dtype: ()
    factor: int = 1
    weights: bool = False
    floats: bool = False


KERNELS = (
    (Kernel("two_sums", "in two sums"), (BF16, FP16)),
    (Kernel("alpha_beta", "alpha and beta", lambda columns, dtype: (dtype(3), dtype(0)), 3), (INT8, BF16)),
    (Kernel("weights", "weights of 8 bits", lambda columns, dtype: (np.full(columns, 2, dtype),), 2, weights=True),
     (BF16, FP16)),
    (Kernel("scaled_weights", "weights scaled by groups of K", lambda columns, dtype: (
        np.full((columns // 64, columns), 2, dtype),), 2, weights=True), (BF16, FP16)),
    (Kernel("scaled_sums", "a bias and scales", lambda columns, dtype: (
        np.zeros(columns, np.int32), np.full(columns, 2, np.float32)), 2, floats=True), (INT8,)),
)


def product_jobs(jobs: Jobs, size: int) -> Iterator[Making]:
    """Square products."""
    for kernel, types in KERNELS:
        for elements in types:
            yield partial(_product, jobs, kernel, elements, size)


def _product(jobs: Jobs, kernel: Kernel, elements: Elements, size: int) -> Job:
    a, b = (elements.random(jobs.rng, size, size) for _ in range(2))
    c, plain = (np.zeros((size, size), dtype) for dtype in (
        np.float32 if kernel.floats else elements.sums_dtype, elements.sums_dtype))
    if kernel.weights:
        b = np.rint(20 * b.astype(np.float32)).clip(-128, 127).astype(elements.dtype)
    given = b.astype(np.int8) if kernel.weights else b
    sizes, options = [np.int32(size)] * 3, elements.options(TILE, TILE, elements.depth)
    grid = (size // TILE * SUB_GROUP, size // TILE), (SUB_GROUP, 1)
    own = cm.build(HERE / "products.cl", options, jobs.queue.device).kernel(kernel.name)
    simplest = cm.build(HERE / "gemm.cl", [*options, "-DRM=1", "-DRN=1"], jobs.queue.device).kernel("gemm")
    run = jobs.launch(own, *grid, a, given, c, *sizes, *kernel.more(size, elements.sums_dtype))
    peers = {"simplest": jobs.launch(simplest, *grid, a, b, plain, *sizes)} | torch_product(elements, a, b)
    return Job(f"{elements.name} {size}³, {kernel.says}", run, peers,
               lambda: error_of_product(c / c.dtype.type(kernel.factor), a, b),
               0.0 if c.dtype == np.int32 else 1e-4, FLOOR, 2.0 * size**3)
