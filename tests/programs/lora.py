"""A layer with a low-rank addition: activation(X W + s (X U) V + bias) + residual, where the last two are optional."""

from dataclasses import dataclass
from enum import Enum
from math import erf as host_erf

import numpy as np

import coopmat as cm
from coopmat.sycl import *

TYPES = ("fp16", "fp16", "fp32", "fp32")


class Activation(Enum):
    """What becomes of a layer's sums."""

    NONE = "none"
    RELU = "relu"
    GELU = "gelu"
    SILU = "silu"


@dataclass(frozen=True)
class Layer:
    """The shapes of tiles, and what is done."""

    m: int
    n: int
    k: int
    rank: int
    activation: Activation
    clip: float | None = None

    def activated(self, x):
        """The activation of a number."""
        match self.activation:
            case Activation.NONE:
                y = x
            case Activation.RELU:
                y = max(x, 0)
            case Activation.GELU:
                y = 0.5 * x * (1 + erf(x * 0.5**0.5))
            case Activation.SILU:
                y = x / (1 + exp(-x))
            case other:
                raise ValueError(other)
        return y if self.clip is None else clamp(y, -self.clip, self.clip)

    def kernel(self, sub_group_size: int):
        """The kernel of this layer: a work-group computes m rows and n columns."""
        m, n, k, rank = self.m, self.n, self.k, self.rank
        tile_a = joint_matrix[sub_group, half, use.a, m, k, layout.row_major]
        tile_b = joint_matrix[sub_group, half, use.b, k, n, layout.row_major]
        tile_c = joint_matrix[sub_group, float32, use.accumulator, m, n]

        def add_product(sg, total, left, left_stride, right, right_stride, length):
            a, b = tile_a(), tile_b()
            for inner in range(0, length, k):
                joint_matrix_load(sg, a, left + inner, left_stride)
                joint_matrix_load(sg, b, right + inner * right_stride, right_stride)
                joint_matrix_mad(sg, total, a, b, total)

        @kernel(sub_group_size=sub_group_size)
        def layer(item: nd_item[2], X: ptr[const[half]], W: ptr[const[half]], U: ptr[const[half]],
                  V: ptr[const[half]], out: ptr[float32], N: int, K: int, strength: float = 1,
                  bias: ptr[const[float32]] = None, residual: ptr[const[float32]] = None):
            sg = item.get_sub_group()
            first, column = item.get_group(0) * m, item.get_group(1) * n
            low = group_local_memory_for_overwrite[half, m, rank](item.get_group())
            for j in range(0, rank, n):
                part = tile_c()
                joint_matrix_fill(sg, part, 0)
                add_product(sg, part, X + first * K, K, U + j, rank, K)

                def keep(x, r, c, left=j):
                    low[r, left + c] = half(x * strength)

                joint_matrix_apply(sg, part, keep)
            group_barrier(item.get_group())

            total = tile_c()
            joint_matrix_fill(sg, total, 0)
            add_product(sg, total, X + first * K, K, W + column, N, K)
            add_product(sg, total, low.get_multi_ptr(), rank, V + column, N, rank)

            def finish(x, r, c):
                if bias:
                    x += bias[column + c]
                x = self.activated(x)
                if residual:
                    x += residual[(first + r) * N + column + c]
                return x

            joint_matrix_apply(sg, total, finish)
            joint_matrix_store(sg, total, out + first * N + column, N, layout.row_major)

        return layer


def reference(X, W, U, V, strength, bias, residual, layer):
    """The same in float64."""
    X, W, U, V = (array.astype(np.float64) for array in (X, W, U, V))
    x = X @ W + (X @ U * strength) @ V + (0 if bias is None else bias)
    y = {Activation.NONE: x, Activation.RELU: np.maximum(x, 0), Activation.SILU: x / (1 + np.exp(-x)),
         Activation.GELU: 0.5 * x * (1 + np.vectorize(host_erf)(x / 2**0.5))}[layer.activation]
    if layer.clip is not None:
        y = y.clip(-layer.clip, layer.clip)
    return y + (0 if residual is None else residual)


def check(device: cm.Device, m: int, n: int, k: int) -> None:
    """Run on a device, in tiles of a shape, and compare with numpy."""
    rank = int(np.lcm(n, k))
    batch, N, K = 2 * m, 2 * n, 2 * k
    rng = np.random.default_rng(0)
    X, W, U, V = (rng.uniform(-0.5, 0.5, shape).astype(np.float16)
                  for shape in ((batch, K), (K, N), (K, rank), (rank, N)))
    bias, residual = rng.uniform(-1, 1, N).astype(np.float32), rng.uniform(-1, 1, (batch, N)).astype(np.float32)
    size, queue = device.sub_group_sizes[0], cm.Queue(device)
    for activation, clip, optional in ((Activation.NONE, None, (None, None)), (Activation.RELU, 0.75, (bias, None)),
                                       (Activation.GELU, None, (None, residual)),
                                       (Activation.SILU, 1.5, (bias, residual))):
        layer = Layer(m, n, k, rank, activation, clip)
        out = np.full((batch, N), np.nan, np.float32)
        queue.parallel_for(nd_range((batch // m, N // n * size), (1, size)), layer.kernel(size), X, W, U, V, out, N, K,
                           0.5, *optional).wait()
        np.testing.assert_allclose(out, reference(X, W, U, V, 0.5, *optional, layer), atol=2e-3 * np.sqrt(K))
