"""What the processor can do at most, measured: the roofs of the picture that roofline.py draws."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from kernel_jobs import BF16, FP32, HERE, INT8, SUB_GROUP

import coopmat as cm

ROUNDS = 40_000
CHAINS = 16  # as in roofs.cl
GROUPS = 4  # work-groups a thread
FLOATS = 1 << 26  # of an array that no cache holds
TURNS = 5


def roofs(queue: cm.Queue, threads: int, clock: Callable[[], float]) -> dict[str, float]:
    """Operations a second of products of tiles that stay in registers, by the name of the type; "fp32": of
    multiply-adds of floats; "memory": bytes a second of a copy, read and written."""
    groups = GROUPS * threads
    found = {}
    for elements in (BF16, INT8):
        kernel = cm.build(HERE / "roofs.cl", elements.options(16, 16, elements.depth), queue.device).kernel("products")
        given = elements.random(np.random.default_rng(0), 32 * elements.depth)
        sums = np.zeros(groups * 4 * 256, elements.sums_dtype)
        seconds = _least(queue, clock, kernel, groups * SUB_GROUP, SUB_GROUP, sums, given, np.int32(ROUNDS))
        found[elements.name] = groups * 4 * ROUNDS * 2 * 256 * elements.depth / seconds
    program = cm.build(HERE / "roofs.cl", FP32.options(16, 16, 16), queue.device)
    sums = np.zeros(groups * SUB_GROUP, np.float32)
    seconds = _least(queue, clock, program.kernel("multiply_adds"), sums.size, SUB_GROUP, sums, np.float32(0.5),
                     np.int32(10 * ROUNDS))
    found["fp32"] = sums.size * CHAINS * 2 * 10 * ROUNDS / seconds
    arrays = [np.ones(FLOATS, np.float32) for _ in range(2)]
    found["memory"] = 8 * FLOATS / _least(queue, clock, program.kernel("copy"), FLOATS, 1024, *arrays)
    return found


def _least(queue: cm.Queue, clock: Callable[[], float], kernel: cm.Kernel, items: int, local: int,
           *arguments: object) -> float:
    """Seconds of the fastest of some launches."""
    times = []
    for _ in range(TURNS):
        start = clock()
        queue.enqueue(kernel, items, local, *arguments).wait()
        times.append(clock() - start)
    return min(times)
