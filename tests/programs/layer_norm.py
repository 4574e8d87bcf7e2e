"""A layer norm and the product that follows it, in one kernel."""

from pathlib import Path

import numpy as np

import coopmat as cm

TYPES = ("fp16", "fp16", "fp32", "fp32")
SOURCE = Path(__file__).with_suffix(".cl")
SUB_GROUPS = 2


def reference(X, gamma, beta, epsilon, W, bias):
    """The same in float64."""
    X = X.astype(np.float64)
    apart = X - X.mean(axis=1, keepdims=True)
    rows = apart / np.sqrt((apart**2).mean(axis=1, keepdims=True) + epsilon) * gamma + beta
    return rows @ W.astype(np.float64) + (0 if bias is None else bias)


def check(device: cm.Device, m: int, n: int, k: int) -> None:
    """Run on a device, in tiles of a shape, and compare with numpy."""
    M, N, K = 2 * m, 3 * n, 2 * int(np.lcm(n, k))
    rng = np.random.default_rng(0)
    X = (3 + rng.standard_normal((M, K))).astype(np.float32)
    W = rng.uniform(-1, 1, (K, N)).astype(np.float16)
    gamma, beta = (rng.uniform(0.5, 1.5, K).astype(np.float32) for _ in range(2))
    some_bias, epsilon = rng.standard_normal(N).astype(np.float32), 1e-5
    size, queue = device.sub_group_sizes[0], cm.Queue(device)
    options = f"-DTM={m} -DTN={n} -DTK={k} -DK={K} -DSUB_GROUP_SIZE={size}"
    kernel = cm.build(SOURCE, options, device).kernel("layer_norm")
    for bias in (None, some_bias):
        Y = np.full((M, N), np.nan, np.float32)
        sizes = (SUB_GROUPS * size, M // m), (SUB_GROUPS * size, 1)
        queue.enqueue(kernel, *sizes, X, gamma, beta, epsilon, W, bias, Y, N).wait()
        np.testing.assert_allclose(Y, reference(X, gamma, beta, epsilon, W, bias), atol=2e-3 * np.sqrt(K))
