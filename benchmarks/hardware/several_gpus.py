"""One launch on all NVIDIA GPUs of a machine beside the same on one: ``python benchmarks/hardware/several_gpus.py``.

Each line is a kernel: what one GPU and all of them do in a second, the median of the ratios of rounds in which both
take turns, whether the results are the same bits, and the host's time for submitting a launch to all. In a round a
launch is submitted as often as fills some milliseconds, and waited for; times are by the host's clock. Arrays are
tensors of torch on one GPU, or memory of malloc_device, of which each GPU has a piece.
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
SHORTEST = 0.02  # seconds of a round
STENCIL = """
kernel void relax(global const float *in, global float *out)
{
    size_t x = get_global_id(0), y = get_global_id(1), width = get_global_size(0), height = get_global_size(1);
    size_t i = y * width + x;
    float sum = in[i];
    sum += x > 0 ? in[i - 1] : 0.0f;
    sum += x + 1 < width ? in[i + 1] : 0.0f;
    sum += y > 0 ? in[i - width] : 0.0f;
    sum += y + 1 < height ? in[i + width] : 0.0f;
    out[i] = sum * 0.2f;
}
"""
Launch = Callable[[], Any]
Case = Callable[[cm.Queue, bool], tuple[Launch, Callable[[], torch.Tensor]]]
"""Makes what launches on a queue, with spread memory or tensors, and what gives the results."""


def memory(queue: cm.Queue, tensor: torch.Tensor, is_spread: bool) -> Any:
    """What a tensor holds, in memory of malloc_device of the queue's device, if wanted."""
    if not is_spread:
        return tensor
    element = next(one for one in (bfloat16, half, float32) if TORCH[str(one)] == tensor.dtype)
    found = cm.malloc_device[element](tensor.numel(), queue)
    torch.cuda.synchronize()
    queue.memcpy(found, tensor, found.nbytes).wait()
    return found


def shown(result: Any, like: torch.Tensor) -> torch.Tensor:
    """Results as a tensor of the host."""
    if isinstance(result, torch.Tensor):
        return result.cpu()
    return torch.from_numpy(result.to_host().view("u1")).view(like.dtype).view(like.shape)


def gemm(size: int, result: Any = float32) -> tuple[str, Case, float]:
    """bf16, square, C of a type."""
    case = Gemm(bfloat16, float32, result)
    a, b = random((size, size), bfloat16), random((size, size), bfloat16)
    zeros = torch.zeros((size, size), device="cuda:0", dtype=TORCH[str(result)])

    def made(queue: cm.Queue, is_spread: bool) -> tuple[Launch, Callable[[], torch.Tensor]]:
        kernel = cm.build(case.kernel(), device=queue.device).kernel("gemm")
        sizes = (size // case.tile[1] * case.items, size // case.tile[0]), (case.items, 1)
        arrays = [memory(queue, one, is_spread) for one in (a, b, zeros.clone())]
        return queue.prepare(kernel, *sizes, *arrays, size, size, size), lambda: shown(arrays[2], zeros)

    return f"bf16 GEMM {size}³, {result} out, TFLOP/s", made, 2e-12 * size**3


def attention(depth: int) -> tuple[str, Case, float]:
    """Flash attention of fp16 over a batch: 4 times 16 heads, length 4096."""
    heads, length, (rows, keys, items) = 64, 4096, ATTENTION
    given = [random((4, 16, length, depth), half) for _ in range(3)]
    scale = float(depth**-0.5 * 1.4426950408889634)

    def made(queue: cm.Queue, is_spread: bool) -> tuple[Launch, Callable[[], torch.Tensor]]:
        source = attention_kernel(half, half, rows, keys, depth, items, False)
        kernel = cm.build(source, device=queue.device).kernel("attention")
        arrays = [memory(queue, one, is_spread) for one in (*given, torch.zeros_like(given[0]))]
        launch = queue.prepare(kernel, (length // rows * items, heads), (items, 1), *arrays, heads, length, scale)
        return launch, lambda: shown(arrays[3], given[0])

    return f"attention {depth}, TFLOP/s", made, 4e-12 * heads * length * length * depth


def stencil(size: int) -> tuple[str, Case, float]:
    """The mean of each element and its four neighbours, of floats, twice: there and back."""
    start = torch.rand((size, size), device="cuda:0")

    def made(queue: cm.Queue, is_spread: bool) -> tuple[Launch, Callable[[], torch.Tensor]]:
        kernel = cm.build(STENCIL, device=queue.device).kernel("relax")
        one, other = (memory(queue, tensor, is_spread) for tensor in (start.clone(), torch.zeros_like(start)))
        steps = [queue.prepare(kernel, (size, size), (256, 1), *pair) for pair in ((one, other), (other, one))]
        return lambda: (steps[0](), steps[1]()), lambda: shown(one, start)

    return f"stencil {size}², two steps, GB/s", made, 4 * 4e-9 * size**2


def seconds(launch: Launch, queue: cm.Queue, count: int) -> float:
    """Of one launch among several, until they have ended."""
    start = time.perf_counter()
    for _ in range(count):
        launch()
    queue.wait()
    return (time.perf_counter() - start) / count


def submission(launch: Launch, queue: cm.Queue) -> float:
    """The host's seconds for a launch that the GPUs wait for."""
    start = time.perf_counter()
    launch()
    found = time.perf_counter() - start
    queue.wait()
    return found


def measure(name: str, case: Case, amount: float, queues: list[cm.Queue], is_spread: bool) -> None:
    """Print a line."""
    torch.cuda.synchronize()
    made = [case(queue, is_spread and queue is queues[1]) for queue in queues]
    launches = [launch for launch, _ in made]
    found = []
    for (launch, results), queue in zip(made, queues, strict=True):
        for _ in range(8):
            seconds(launch, queue, 1)
        found.append(results())
    count = max(1, round(SHORTEST / seconds(launches[0], queues[0], 2)))
    times = [[seconds(*one, count) for one in zip(launches, queues, strict=True)] for _ in range(ROUNDS)]
    one, several = (statistics.median(column) for column in zip(*times, strict=True))
    ratio = statistics.median(first / second for first, second in times)
    submitting = statistics.median(submission(launches[1], queues[1]) for _ in range(3 * ROUNDS))
    bits = "same bits" if torch.equal(*found) else "other results"
    where = "spread" if is_spread else "tensors"
    print(f"{name:<38} {where:<8} one {amount / one:7.1f}  all {amount / several:7.1f}  ratio {ratio:.2f}  {bits}  "
          f"{submitting * 1e6:.0f} µs", flush=True)


def main() -> None:
    """Measure."""
    queues = [cm.Queue(cm.device("cuda:0")), cm.Queue(cm.device("cuda:*"))]
    print(f"{torch.cuda.device_count()} x {torch.cuda.get_device_name(0)}")
    cases = (lambda: gemm(8192), lambda: gemm(16384), lambda: gemm(16384, bfloat16), lambda: attention(64),
             lambda: attention(128), lambda: stencil(16384), lambda: stencil(24576))
    for make in cases:
        case = make()
        for is_spread in (False, True):
            measure(*case, queues, is_spread)
        del case
        torch.cuda.empty_cache()


if __name__ == "__main__":
    main()
