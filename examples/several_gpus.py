"""A product of large bf16 matrices on all GPUs, beside the first one alone.

    python examples/several_gpus.py [--size 32768] [--devices cuda:*]

Each GPU computes rows of C, and has them in its memory; A and B are copied to each. Other devices share the work, too,
such as ``--devices cpu,cpu --size 512``: a size is a multiple of 256. Some rows of C are compared with numpy's.
"""

import argparse
import time

import ml_dtypes
import numpy as np

import coopmat as cm
from coopmat.sycl import *

M, N, K, ITEMS = 128, 256, 64, 256


@kernel(work_group_size=(1, ITEMS))
def gemm(item: nd_item[2], A: ptr[const[bfloat16]], B: ptr[const[bfloat16]], C: ptr[float32], n: int):
    group = item.get_group()
    row, column = group.get_group_id(0) * M, group.get_group_id(1) * N
    a = joint_matrix(work_group, bfloat16, use.a, M, K, layout.row_major)
    b = joint_matrix(work_group, bfloat16, use.b, K, N, layout.row_major)
    c = joint_matrix(work_group, float32, use.accumulator, M, N)
    joint_matrix_fill(group, c, 0)
    for k in range(0, n, K):
        joint_matrix_load_checked(group, a, A, n, n, n, row, k)
        joint_matrix_load_checked(group, b, B, n, n, n, k, column)
        joint_matrix_mad(group, c, a, b, c)
    joint_matrix_store_checked(group, c, C, n, layout.row_major, n, n, row, column)


def random_bits(count):
    """Random bf16 numbers between 1 and 2, or -1 and -2, made fast."""
    bits = np.random.default_rng(0).integers(0, 1 << 16, count, np.uint16)
    return ((bits & 0x807F) | 0x3F80).view(ml_dtypes.bfloat16)


def run(name, size, a, b, rounds=10):
    """Seconds of the fastest launch on a device, and C."""
    queue = cm.Queue(cm.device(name))
    count = size * size
    arrays = [cm.malloc_device[bfloat16](count, queue), cm.malloc_device[bfloat16](count, queue),
              cm.malloc_device[float32](count, queue)]
    for memory, content in zip(arrays, (a, b), strict=False):
        queue.memcpy(memory, content, content.nbytes)
    built = cm.build(gemm, device=queue.device).kernel("gemm")
    launch = queue.prepare(built, (size // N * ITEMS, size // M), (ITEMS, 1), *arrays, size)
    times = []
    for _ in range(rounds):
        queue.wait()
        start = time.perf_counter()
        launch().wait()
        times.append(time.perf_counter() - start)
    return min(times), arrays[2].to_host().reshape(size, size)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, default=32768)
    parser.add_argument("--devices", default="cuda:*")
    given = parser.parse_args()
    size, device = given.size, cm.device(given.devices)
    print(f"{size} x {size} x {size} on {device.name}, which has {len(device.devices)} devices")
    a, b = random_bits(size * size), random_bits(size * size)[::-1].copy()
    alone, expected = run(device.devices[0].name, size, a, b)
    together, found = run(device.name, size, a, b)
    assert np.array_equal(found, expected), "the results differ"
    rows = [0, size // 2 - 1, size // 2, size - 1]
    exact = a.reshape(size, size)[rows].astype(np.float32) @ b.reshape(size, size).astype(np.float32)
    error = np.abs(found[rows] - exact).max() / np.abs(exact).max()
    assert error < 1e-3, error
    operations = 2e-12 * size**3
    print(f"one: {alone * 1e3:.1f} ms, {operations / alone:.1f} TFLOP/s; all: {together * 1e3:.1f} ms, "
          f"{operations / together:.1f} TFLOP/s, {alone / together:.2f} times as fast; the same bits")


if __name__ == "__main__":
    main()
