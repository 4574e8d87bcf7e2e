"""Loops whose rounds work-items share out, and 2D blocks, beside the same work written plainly: jobs of
cpu_kernels.py."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
from kernel_jobs import HERE, Job, Making

import coopmat as cm

NUMBERS, GROUPS, ROUNDS = 4096, 16, 32  # numbers of a work-group, how many of these, and how often each does its work
ROWS = (
    ("copy", "counted", 64, np.float32, "a copy to local memory and back"),
    ("total", "counted", 64, np.float32, "a sum"),
    ("update", "counted", 64, np.float32, "a grid-stride loop"),
    ("pairs", "counted", 64, np.float32, "pairs swapped"),
    ("rows", "counted", 64, np.float32, "x and y of an index"),
    ("blocks", "plain", 16, np.uint16, "2D blocks"),
)
"""The kernels of loops.cl: name, what its peer's name ends in, local size, type, and what a table says."""
FLOOR = 0.9


def loop_jobs(queue: cm.Queue) -> Iterator[Making]:
    """The rows of the table. Kernels that swap pairs differ from their peers in what they swap; their results are
    compared with numpy's."""
    for row in ROWS:
        yield partial(_job, queue, *row)


def _job(queue: cm.Queue, name: str, end: str, local: int, dtype: type, text: str) -> Job:
    program = cm.build(HERE / "loops.cl", "", queue.device)
    given = np.random.default_rng(0).integers(0, 1000, NUMBERS * GROUPS).astype(dtype)
    outs = [np.zeros_like(given) for _ in range(2)]
    own, peer = (_launch(queue, program.kernel(kernel), local, out, given)
                 for kernel, out in zip((name, f"{name}_{end}"), outs, strict=True))
    return Job(f"loops: {text}", own, {end: peer}, lambda: _error(name, outs[0], given), 0.0, FLOOR)


def _launch(queue: cm.Queue, kernel: cm.Kernel, local: int, out: np.ndarray, given: np.ndarray
            ) -> Callable[[], object]:
    return lambda: queue.enqueue(kernel, GROUPS * local, local, out, given, np.int32(NUMBERS), np.int32(ROUNDS)).wait()


def _error(name: str, out: np.ndarray, given: np.ndarray) -> float:
    """How far a result is off after the first launch; all numbers are small integers."""
    sums = np.zeros((GROUPS, NUMBERS))
    sums[:, :64] = ROUNDS * given.reshape(GROUPS, -1, 64).sum(1)
    wanted = {
        "copy": given + 1, "update": given, "rows": given * 2, "blocks": given + 1,
        "pairs": given.reshape(-1, 2)[:, ::-1].reshape(-1), "total": sums.reshape(-1)}[name]
    return float(np.abs(out.astype(np.float64) - wanted).max())
