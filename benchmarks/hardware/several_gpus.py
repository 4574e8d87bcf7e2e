"""One launch on all NVIDIA GPUs of a machine beside the same on one: ``python benchmarks/hardware/several_gpus.py``.

Each line is a kernel: TFLOP/s on one GPU and on all, the median of the ratios of launches that take turns, and whether
the results are the same bits. A launch is timed by the host's clock from the call to its end.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "src"), str(ROOT)]
import torch
from matrices_cuda import ATTENTION, TORCH, Gemm, random

import coopmat as cm
from coopmat.sycl import bfloat16, float32, half
from examples.joint_matrix_work_group_attention import attention_kernel

ROUNDS = 15
Launch = Callable[[cm.Queue], Any]


def gemm(size: int, result: Any = float32) -> tuple[str, Launch, torch.Tensor, float]:
    """bf16, square, C of a type."""
    case = Gemm(bfloat16, float32, result)
    a, b = random((size, size), bfloat16), random((size, size), bfloat16)
    c = torch.zeros((size, size), device="cuda:0", dtype=TORCH[str(result)])
    programs = {}

    def launch(queue: cm.Queue) -> Any:
        if queue not in programs:
            programs[queue] = cm.build(case.kernel(), device=queue.device).kernel("gemm")
        size_of = (size // case.tile[1] * case.items, size // case.tile[0])
        return queue.enqueue(programs[queue], size_of, (case.items, 1), a, b, c, size, size, size)

    return f"bf16 GEMM {size}³, {result} out", launch, c, 2.0 * size**3


def attention(depth: int) -> tuple[str, Launch, torch.Tensor, float]:
    """Flash attention of fp16 over a batch: 4 times 16 heads, length 4096."""
    heads, length, (rows, keys, items) = 64, 4096, ATTENTION
    q, k, v = (random((4, 16, length, depth), half) for _ in range(3))
    out = torch.zeros_like(q)
    scale = float(depth**-0.5 * 1.4426950408889634)
    programs = {}

    def launch(queue: cm.Queue) -> Any:
        if queue not in programs:
            built = cm.build(attention_kernel(half, half, rows, keys, depth, items, False), device=queue.device)
            programs[queue] = built.kernel("attention")
        return queue.enqueue(programs[queue], (length // rows * items, heads), (items, 1), q, k, v, out, heads, length,
                             scale)

    return f"attention {depth}", launch, out, 4.0 * heads * length * length * depth


def seconds(launch: Launch, queue: cm.Queue) -> float:
    """One launch, until it has ended."""
    start = time.perf_counter()
    launch(queue).wait()
    return time.perf_counter() - start


def main() -> None:
    """Measure."""
    queues = [cm.Queue(cm.device("cuda:0")), cm.Queue(cm.device("cuda:*"))]
    print(f"{torch.cuda.device_count()} x {torch.cuda.get_device_name(0)}")
    cases = (gemm(4096), gemm(8192), gemm(16384), gemm(16384, bfloat16), attention(64), attention(128))
    for name, launch, result, operations in cases:
        found = []
        for queue in queues:
            result.zero_()
            torch.cuda.synchronize()
            for _ in range(3):
                seconds(launch, queue)
            found.append(result.clone())
        times = [[seconds(launch, queue) for queue in queues] for _ in range(ROUNDS)]
        one, several = (statistics.median(column) for column in zip(*times, strict=True))
        ratio = statistics.median(first / second for first, second in times)
        bits = "same bits" if torch.equal(*found) else "other results"
        print(f"{name:<34} one {operations / one / 1e12:7.1f}  all {operations / several / 1e12:7.1f}  "
              f"ratio {ratio:.2f}  {bits}", flush=True)


if __name__ == "__main__":
    main()
