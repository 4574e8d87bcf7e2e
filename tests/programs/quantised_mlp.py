"""Two layers on 8-bit weights, whose inputs are quantised row by row on the device."""

from math import erf
from pathlib import Path

import numpy as np

import coopmat as cm

TYPES = ("sint8", "sint8", "sint32", "sint32")
SOURCE = Path(__file__).with_suffix(".cl")


def gelu(x):
    """The activation, in float64."""
    return 0.5 * x * (1 + np.vectorize(erf)(x / 2**0.5))


def quantised(x, axis):
    """8-bit integers, and what they are to be multiplied with along an axis."""
    scales = np.maximum(np.abs(x).max(axis, keepdims=True), 1e-30) / 127
    return np.rint(x / scales).astype(np.int8), scales


def product(x, W, scales):
    """x times quantised weights, where x is quantised, too."""
    values, factors = quantised(x, axis=1)
    return values.astype(np.int64) @ W.astype(np.int64) * factors * scales


def check(device: cm.Device, m: int, n: int, k: int) -> None:
    """Run on a device, in tiles of a shape, and compare with numpy."""
    inputs = hidden = int(np.lcm(n, k))
    rows, outputs = 2 * m, 2 * n
    rng = np.random.default_rng(0)
    X = rng.standard_normal((rows, inputs)).astype(np.float32)
    X[1] = 0
    (W1, scales1), (W2, scales2) = (quantised(rng.standard_normal(shape), axis=0)
                                    for shape in ((inputs, hidden), (hidden, outputs)))
    scales1, scales2 = scales1.astype(np.float32), scales2.astype(np.float32)
    some_bias = rng.standard_normal(hidden).astype(np.float32)
    size, queue = device.sub_group_sizes[0], cm.Queue(device)
    options = (f"-DTM={m} -DTN={n} -DTK={k} -DINPUTS={inputs} -DHIDDEN={hidden} -DOUTPUTS={outputs} "
               f"-DSUB_GROUP_SIZE={size}")
    kernel = cm.build(SOURCE, options, device).kernel("mlp")
    for bias in (None, some_bias):
        Y = np.full((rows, outputs), np.nan, np.float32)
        queue.enqueue(kernel, rows // m * size, size, X, W1, scales1, bias, W2, scales2, Y).wait()
        sums = product(X.astype(np.float64), W1, scales1) + (0 if bias is None else bias)
        # A number of the second layer may be rounded the other way.
        np.testing.assert_allclose(Y, product(gelu(sums), W2, scales2), atol=0.1)
