"""A convolution with 3x3 filters by Winograd's F(2x2, 3x3): 16 products of matrices instead of 36."""

import numpy as np

import coopmat as cm
from coopmat.sycl import *

TYPES = ("fp16", "fp16", "fp32", "fp32")
ACROSS = 8  # tiles of the image, each with 2 x 2 pixels of the result

FILTER = [[1, 0, 0], [0.5, 0.5, 0.5], [0.5, -0.5, 0.5], [0, 0, 1]]
INPUT = [[1, 0, -1, 0], [0, 1, 1, 0], [0, -1, 1, 0], [0, 1, 0, -1]]
OUTPUT = [[1, 1, 1, 0], [0, 1, -1, -1]]


def between(L, X):
    """L X transpose(L), where X is a list of rows of numbers or of matrices."""
    rows = [[sum(factor * X[k][j] for k, factor in enumerate(row) if factor) for j in range(len(X[0]))] for row in L]
    return [[sum(factor * row[k] for k, factor in enumerate(column) if factor) for column in L] for row in rows]


def convolution_kernels(m: int, n: int, k: int, sub_group_size: int):
    """Kernels that transform filters and inputs, and the one that multiplies and transforms back."""

    @kernel
    def transform_filters(item: nd_item[1], filters: ptr[const[float32]], U: ptr[half]):
        """A work-item for each filter; U is 4 x 4 x filters."""
        i = item.get_global_id(0)
        found = between(FILTER, [[filters[9 * i + 3 * r + c] for c in range(3)] for r in range(3)])
        for position, value in enumerate(value for row in found for value in row):
            U[position * item.get_global_range(0) + i] = value

    @kernel
    def transform_inputs(item: nd_item[2], images: ptr[const[float32]], width: int, V: ptr[half]):
        """A work-item for each channel and tile; V is 4 x 4 x channels x tiles."""
        channel, tile = item.get_global_id(0), item.get_global_id(1)
        across = (width - 2) // 2
        first = images + channel * width * width + tile // across * 2 * width + tile % across * 2
        found = between(INPUT, [[first[r * width + c] for c in range(4)] for r in range(4)])
        for position, value in enumerate(value for row in found for value in row):
            V[(position * item.get_global_range(0) + channel) * item.get_global_range(1) + tile] = value

    @kernel(sub_group_size=sub_group_size)
    def multiply(item: nd_item[2], U: ptr[const[half]], V: ptr[const[half]], out: ptr[float32], outputs: int,
                 channels: int, tiles: int):
        """A sub-group for m outputs of n tiles; out is 2 x 2 x outputs x tiles."""
        sg, row, column = item.get_sub_group(), item.get_group(0) * m, item.get_group(1) * n
        u = joint_matrix(sub_group, half, use.a, m, k, layout.row_major)
        v = joint_matrix(sub_group, half, use.b, k, n, layout.row_major)
        products = [[joint_matrix(sub_group, float32, use.accumulator, m, n) for _ in range(4)] for _ in range(4)]
        for position, product in enumerate(product for row in products for product in row):
            joint_matrix_fill(sg, product, 0)
            for inner in range(0, channels, k):
                joint_matrix_load(sg, u, U + (position * outputs + row) * channels + inner, channels)
                joint_matrix_load(sg, v, V + (position * channels + inner) * tiles + column, tiles)
                joint_matrix_mad(sg, product, u, v, product)
        for r, results in enumerate(between(OUTPUT, products)):
            for c, result in enumerate(results):
                joint_matrix_store(sg, result, out + ((2 * r + c) * outputs + row) * tiles + column, tiles,
                                   layout.row_major)

    return transform_filters, transform_inputs, multiply


def check(device: cm.Device, m: int, n: int, k: int) -> None:
    """Run on a device, in tiles of a shape, and compare with numpy."""
    outputs, channels, tiles, width, size = m, 2 * k, ACROSS**2, 2 * ACROSS + 2, device.sub_group_sizes[0]
    rng = np.random.default_rng(0)
    images = rng.uniform(-1, 1, (channels, width, width)).astype(np.float32)
    filters = rng.uniform(-1, 1, (outputs, channels, 3, 3)).astype(np.float32)
    U, V = np.zeros((16, outputs, channels), np.float16), np.zeros((16, channels, tiles), np.float16)
    out = np.zeros((2, 2, outputs, tiles), np.float32)
    transform_filters, transform_inputs, multiply = convolution_kernels(m, n, k, size)
    queue = cm.Queue(device)
    queue.parallel_for(nd_range(outputs * channels, channels), transform_filters, filters, U)
    queue.parallel_for(nd_range((channels, tiles), (1, tiles)), transform_inputs, images, width, V)
    queue.parallel_for(nd_range((outputs // m, tiles // n * size), (1, size)), multiply, U, V, out, outputs, channels,
                       tiles).wait()
    found = out.reshape(2, 2, outputs, ACROSS, ACROSS).transpose(2, 3, 0, 4, 1).reshape(outputs, width - 2, width - 2)
    windows = np.lib.stride_tricks.sliding_window_view(images.astype(np.float64), (3, 3), axis=(1, 2))
    expected = np.einsum("chwij,ocij->ohw", windows, filters)
    np.testing.assert_allclose(found, expected, atol=2e-3 * np.sqrt(9 * channels))
