"""k-means: distances by products of matrices, the nearest centroid by reductions of rows."""

from pathlib import Path

import ml_dtypes
import numpy as np

import coopmat as cm

TYPES = ("bf16", "bf16", "fp32", "fp32")
ITERATIONS = 3


def check(device: cm.Device, m: int, n: int, k: int) -> None:
    """Run on a device, in tiles of a shape, and compare each iteration with numpy."""
    points, count, dimensions, size = 8 * m, 2 * n, 2 * k, device.sub_group_sizes[0]
    rng = np.random.default_rng(0)
    x = rng.uniform(-1, 1, (points, dimensions)).astype(ml_dtypes.bfloat16)
    centroids = x[:count].copy()
    norms = (centroids.astype(np.float32) ** 2).sum(axis=1)
    nearest = np.zeros(points, np.int32)
    options = f"-DTM={m} -DTN={n} -DTK={k} -DCENTROIDS={count} -DDIMENSIONS={dimensions}"
    program, queue = cm.build(Path(__file__).with_suffix(".cl"), options, device), cm.Queue(device)
    for _ in range(ITERATIONS):
        before = centroids.astype(np.float64)
        queue.enqueue(program.kernel("assign"), points // m * size, size, x, centroids, norms, nearest)
        queue.enqueue(program.kernel("update"), count * dimensions, dimensions, x, nearest, points, centroids, norms)
        queue.wait()
        distances = ((x.astype(np.float64)[:, None] - before) ** 2).sum(axis=2)
        chosen = distances[np.arange(points), nearest]
        np.testing.assert_allclose(chosen, distances.min(axis=1), rtol=1e-4)
        means = [x[nearest == c].astype(np.float64).mean(axis=0) if c in nearest else before[c] for c in range(count)]
        np.testing.assert_allclose(centroids.astype(np.float64), means, rtol=2**-8, atol=1e-6)
