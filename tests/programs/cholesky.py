"""Blocked Cholesky decomposition in place, in double precision."""

from pathlib import Path

import numpy as np

import coopmat as cm

TYPES = ("fp64", "fp64", "fp64", "fp64")
BLOCKS = 3


def check(device: cm.Device, m: int, n: int, k: int) -> None:
    """Run on a device, in tiles of a shape, and compare with numpy."""
    block = int(np.lcm.reduce([m, n, k]))
    N = BLOCKS * block
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (N, N))
    A = X @ X.T + np.eye(N)
    program = cm.build(Path(__file__).with_suffix(".cl"), f"-DTM={m} -DTN={n} -DTK={k} -DBLOCK={block}", device)
    factor, solve, update = (program.kernel(name) for name in ("factor", "solve", "update"))
    L, queue, size = A.copy(), cm.Queue(device), device.sub_group_sizes[0]
    for start in range(0, N, block):
        rest = N - start - block
        queue.enqueue(factor, block, block, L, N, start)
        if rest:
            queue.enqueue(solve, rest, block, L, N, start)
            queue.enqueue(update, (rest // n * size, rest // m), (size, 1), L, N, start)
    queue.wait()
    np.testing.assert_allclose(np.tril(L), np.linalg.cholesky(A), rtol=1e-9, atol=1e-10)
