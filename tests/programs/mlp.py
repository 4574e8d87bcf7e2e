"""Two layers of a perceptron, the second without bias and activation: relu(X W1 + b) W2."""

import numpy as np

import coopmat as cm
from coopmat.sycl import *

TYPES = ("fp16", "fp16", "fp32", "fp32")


def layer_kernel(m: int, n: int, k: int, sub_group_size: int):
    """A layer, in tiles of a shape: its matrix is stored in the columns' order."""

    @kernel(sub_group_size=sub_group_size)
    def layer(item: nd_item[2], X: ptr[const[half]], W: ptr[const[half]], Y: ptr[half], N: int, K: int,
              bias: ptr[const[float32]] = None, *, relu: bool = False):
        sg = item.get_sub_group()
        row, column = item.get_group(0) * m, item.get_group(1) * n
        tX = joint_matrix(sub_group, half, use.a, m, k, layout.row_major)
        tW = joint_matrix(sub_group, half, use.b, k, n, layout.col_major)
        total = joint_matrix(sub_group, float32, use.accumulator, m, n)
        joint_matrix_fill(sg, total, 0)
        for start in range(0, K, k):
            joint_matrix_load(sg, tX, X + row * K + start, K)
            joint_matrix_load(sg, tW, W + column * K + start, K)
            joint_matrix_mad(sg, total, tX, tW, total)

        def finish(x, r, c):
            if bias:
                x += bias[column + c]
            Y[(row + r) * N + column + c] = half(max(x, 0) if relu else x)

        joint_matrix_apply(sg, total, finish)

    return layer


def check(device: cm.Device, m: int, n: int, k: int) -> None:
    """Run on a device, in tiles of a shape, and compare with numpy."""
    unit = np.lcm.reduce([m, n, k])
    batch, inputs, hidden, outputs = 2 * m, 2 * k, unit, 2 * n
    rng = np.random.default_rng(0)
    X, W1, W2 = (rng.uniform(-1, 1, shape).astype(np.float16)
                 for shape in ((batch, inputs), (hidden, inputs), (outputs, hidden)))
    bias = rng.uniform(-1, 1, hidden).astype(np.float32)
    H, Y = np.zeros((batch, hidden), np.float16), np.zeros((batch, outputs), np.float16)
    size = device.sub_group_sizes[0]
    layer, queue = layer_kernel(m, n, k, size), cm.Queue(device)
    queue.parallel_for(nd_range((batch // m, hidden // n * size), (1, size)), layer, X, W1, H, hidden, inputs, bias,
                       relu=True)
    queue.parallel_for(nd_range((batch // m, outputs // n * size), (1, size)), layer, H, W2, Y, outputs, hidden)
    queue.wait()
    first = np.maximum(X.astype(np.float64) @ W1.T.astype(np.float64) + bias, 0)
    np.testing.assert_allclose(H, first, rtol=1e-3, atol=1e-3)
    np.testing.assert_allclose(Y, first @ W2.T.astype(np.float64), rtol=4e-3, atol=2e-3 * np.sqrt(hidden))
