"""A GEMM of fp16 with sums in fp32 through Vulkan, beside CUDA: ``python benchmarks/hardware/vulkan_gemm.py [SIZE]``.

Each line is a kernel: TFLOP/s, the median of several launches by the device's clock, the same beside cuBLAS, beside the
best shader of NVIDIA's own benchmark where COOPMAT_MATRIX_PERF names a checkout of
github.com/jeffbolznv/vk_cooperative_matrix_perf, and the largest error beside the largest element.
"""

from __future__ import annotations

import itertools
import statistics
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "src"), str(ROOT)]
import numpy as np
import torch

import coopmat as cm
from coopmat.sycl import (
    const,
    float32,
    half,
    joint_matrix,
    joint_matrix_fill,
    joint_matrix_load,
    joint_matrix_load_checked,
    joint_matrix_mad,
    joint_matrix_store,
    joint_matrix_store_checked,
    kernel,
    layout,
    nd_item,
    ptr,
    uint32,
    use,
    work_group,
)
from tests.kit.oracles import matrix_perf

ROUNDS = 20
EXAMPLES = ROOT / "examples"
TILE = ("-DIN=half", "-DOUT=float", "-DTM=16", "-DTN=16", "-DTK=16", "-DFLAGS=0")


@dataclass(frozen=True)
class Row:
    """A kernel: its program, tile and work-items, and what it takes behind A, B and C. words: A and B are bound as
    words of 32 bits, and C a second time."""

    name: str
    device: str
    build: Callable[[Any], Any]
    tile: tuple[int, int]
    items: int
    behind: tuple[int, ...]
    words: bool = False


def opencl(name: str, device: str, options: tuple[str, ...], tile: tuple[int, int], items: int, size: int) -> Row:
    """An example in OpenCL C."""
    return Row(f"{name}.cl, {tile[0]}x{tile[1]}", device,
               lambda of: cm.build(EXAMPLES / f"{name}.cl", options, device=of).kernel("gemm"), tile, items,
               (size, size))


def tuned(size: int, tm: int, tn: int, tk: int) -> Row:
    """The example with blocks in local memory, as few of them as Vulkan has memory for."""
    items = tm // 64 * (tn // 64) * 32
    options = (f"-DTM={tm}", f"-DTN={tn}", f"-DTK={tk}", f"-DITEMS={items}", "-DBUFFERS=1")
    return opencl("gemm_tuned_gpu", "vulkan:0", options, (tm, tn), items, size)


def work_groups(device: str, size: int, tile: tuple[int, int, int], items: int, *, checked: bool) -> Row:
    """Matrices of a work-group, in Python."""
    tm, tn, tk = tile

    @kernel(work_group_size=(1, items))
    def windows(item: nd_item[2], A: ptr[const[half]], B: ptr[const[half]], C: ptr[float32], M: int, N: int, K: int):
        g = item.get_group()
        m, n = g.get_group_id(0) * tm, g.get_group_id(1) * tn
        a = joint_matrix(work_group, half, use.a, tm, tk, layout.row_major)
        b = joint_matrix(work_group, half, use.b, tk, tn, layout.row_major)
        c = joint_matrix(work_group, float32, use.accumulator, tm, tn)
        joint_matrix_fill(g, c, 0)
        for k in range(0, K, tk):
            joint_matrix_load_checked(g, a, A, K, M, K, m, k)
            joint_matrix_load_checked(g, b, B, N, K, N, k, n)
            joint_matrix_mad(g, c, a, b, c)
        joint_matrix_store_checked(g, c, C, N, layout.row_major, M, N, m, n)

    @kernel(work_group_size=(1, items))
    def plain(item: nd_item[2], A: ptr[const[half]], B: ptr[const[half]], C: ptr[float32], M: int, N: int, K: int):
        g = item.get_group()
        m, n = g.get_group_id(0) * tm, g.get_group_id(1) * tn
        a = joint_matrix(work_group, half, use.a, tm, tk, layout.row_major)
        b = joint_matrix(work_group, half, use.b, tk, tn, layout.row_major)
        c = joint_matrix(work_group, float32, use.accumulator, tm, tn)
        joint_matrix_fill(g, c, 0)
        for k in range(0, K, tk):
            joint_matrix_load(g, a, A + m * K + k, K)
            joint_matrix_load(g, b, B + k * N + n, N)
            joint_matrix_mad(g, c, a, b, c)
        joint_matrix_store(g, c, C + m * N + n, N, layout.row_major)

    chosen = windows if checked else plain
    return Row(f"work-group, {'checked' if checked else 'plain'}, {tm}x{tn}x{tk}", device,
               lambda of: cm.build(chosen, device=of).kernel(chosen.__name__), (tm, tn), items, (size, size, size))


def public(folder: Path, kind: str, size: int, tile: tuple[int, int, int], native: tuple[int, int, int]) -> Row:
    """A shader of NVIDIA's benchmark. native: its matrices, if they are those of sub-groups."""
    tm, tn, tk = tile
    m, n, k = native if kind == "shmem" else tile
    numbers = {0: m, 1: n, 2: k, 3: tm, 4: tn, 5: tk, 6: size, 7: size, 8: size, 9: size, 10: size, 11: 1.0, 12: 0.0,
               14: tk, 15: tm, 16: tn, 17: tk, 18: 256, **({21: 32} if kind == "shmem" else {19: size, 20: size})}
    file = folder / f"{kind}fp16_fp32.spv"
    own = f" of {m}x{n}x{k}" if kind == "shmem" else ""
    return Row(f"NVIDIA's {kind}, {tm}x{tn}x{tk}{own}", "vulkan:0",
               lambda of: cm.build(file, spec_constants=numbers, device=of).kernel("main"), (tm, tn), 256, (), True)


def rows(size: int) -> Iterator[Row]:
    """All of them, the public ones first."""
    folder = matrix_perf.folder()
    if folder is not None:
        for native in ((16, 16, 16), (16, 8, 16)):
            yield public(folder, "shmem", size, (128, 256, 32), native)
        for tile in ((128, 256, 32), (128, 256, 64)):
            yield public(folder, "workgroup", size, tile, (0, 0, 0))
    yield opencl("gemm", "vulkan:0", TILE, (16, 16), 32, size)
    yield opencl("gemm_blocked", "vulkan:0", TILE, (32, 32), 32, size)
    yield tuned(size, 128, 256, 32)
    yield tuned(size, 128, 128, 32)
    for tile in ((128, 256, 32), (128, 256, 64)):
        for checked in (False, True):
            yield work_groups("vulkan:0", size, tile, 256, checked=checked)
    yield work_groups("cuda:0", size, (128, 256, 64), 256, checked=True)


class Operands:
    """A, B and the product of one size, and memory of a device for them."""

    def __init__(self, size: int) -> None:
        random = np.random.default_rng(0)
        self.size = size
        self.a, self.b = (random.standard_normal((size, size), np.float32).astype(np.float16) for _ in range(2))
        a, b = (torch.from_numpy(one).cuda() for one in (self.a, self.b))
        self.exact = (a.float() @ b.float()).cpu().numpy()
        self.cublas = 2 * size**3 / statistics.median(self._seconds(a, b)) / 1e12

    @staticmethod
    def _seconds(a: torch.Tensor, b: torch.Tensor) -> list[float]:
        torch.mm(a, b)
        marks = [torch.cuda.Event(enable_timing=True) for _ in range(ROUNDS + 1)]
        for mark in marks:
            mark.record()
            torch.mm(a, b)
        torch.cuda.synchronize()
        return [one.elapsed_time(other) / 1e3 for one, other in itertools.pairwise(marks)]

    def measured(self, row: Row) -> tuple[float, float]:
        """TFLOP/s and the largest error."""
        device = cm.device(row.device)
        queue = cm.Queue(device)
        kind, count = (uint32, self.size**2 // 2) if row.words else (half, self.size**2)
        memory = [cm.malloc_device[kind](count, queue) for _ in range(2)]
        for place, matrix in zip(memory, (self.a, self.b), strict=True):
            queue.memcpy(place, matrix.view(np.uint32) if row.words else matrix, matrix.nbytes).wait()
        result = cm.malloc_device[float32](self.size**2, queue)
        arguments = [*memory, *([result] if row.words else []), result, *row.behind]
        built = row.build(device)
        grid = (self.size // row.tile[1] * row.items, self.size // row.tile[0])
        queue.enqueue(built, grid, (row.items, 1), *arguments).wait()
        found = np.zeros((self.size, self.size), np.float32)
        queue.memcpy(found, result, found.nbytes).wait()
        events = [queue.enqueue(built, grid, (row.items, 1), *arguments).wait() for _ in range(ROUNDS)]
        speed = 2 * self.size**3 / statistics.median(event.elapsed for event in events) / 1e12
        return speed, float(np.abs(found - self.exact).max() / np.abs(self.exact).max())


def main() -> None:
    """Measure."""
    size = int(sys.argv[1]) if len(sys.argv) > 1 else 4096
    operands = Operands(size)
    best = 0.0
    print(f"{torch.cuda.get_device_name(0)}, {size}³\n{'cuBLAS':47} {operands.cublas:6.0f}")
    for row in rows(size):
        try:
            speed, error = operands.measured(row)
        except cm.Error as reason:
            print(f"{row.device:8} {row.name:38} {reason}")
            continue
        best = max(best, speed) if row.words else best
        beside = f"{speed / best:6.2f}" if best else ""
        print(f"{row.device:8} {row.name:38} {speed:6.0f} {speed / operands.cublas:6.2f} {beside:6}  error {error:.1e}",
              flush=True)


if __name__ == "__main__":
    main()
