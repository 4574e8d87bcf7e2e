"""A product whose iterations are shared out evenly, so that tiles have to be put together (stream-K)."""

from pathlib import Path

import ml_dtypes
import numpy as np

import coopmat as cm

TYPES = ("bf16", "bf16", "fp32", "fp32")
SOURCE = Path(__file__).with_suffix(".cl")


def check(device: cm.Device, m: int, n: int, k: int) -> None:
    """Run on a device, in tiles of a shape, and compare with numpy."""
    M, N, K = 2 * m, 3 * n, 5 * k
    rng = np.random.default_rng(0)
    A, B = (rng.uniform(-1, 1, shape).astype(ml_dtypes.bfloat16) for shape in ((M, K), (K, N)))
    expected = A.astype(np.float64) @ B.astype(np.float64)
    size, queue = device.sub_group_sizes[0], cm.Queue(device)
    for options in ([], ["-DATOMIC"]):
        options += [f"-DTM={m}", f"-DTN={n}", f"-DTK={k}", "-DIN=__bf16", f"-DSUB_GROUP_SIZE={size}"]
        kernel = cm.build(SOURCE, options, device).kernel("stream_k")
        for groups in (1, 4, 7, 17):
            C = np.zeros((M, N), np.float32)
            workspace, done = np.full(2 * groups * m * n, np.nan, np.float32), np.zeros(M // m * N // n, np.int32)
            queue.enqueue(kernel, groups * size, size, A, B, C, M, N, K, workspace, done).wait()
            np.testing.assert_allclose(C, expected, atol=1e-5 * K)
