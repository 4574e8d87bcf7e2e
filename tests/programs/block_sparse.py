"""D = alpha A B + beta C, where A is sparse: its blocks that are not zero, row by row (BSR)."""

from typing import NamedTuple

import numpy as np

import coopmat as cm
from coopmat.sycl import *

TYPES = ("bf16", "bf16", "fp32", "fp32")
COLUMNS = 2  # tiles of the result that a sub-group computes side by side


class BlockSparse(NamedTuple):
    """Blocks of r x c elements; those of row i are starts[i] to starts[i + 1], in these columns."""

    starts: ptr[const[int32]]
    columns: ptr[const[int32]]
    blocks: ptr[const[bfloat16]]

    @classmethod
    def of(cls, dense, r, c):
        """The blocks of a matrix that are not zero."""
        tiled = dense.reshape(dense.shape[0] // r, r, -1, c).swapaxes(1, 2)
        used = (tiled != 0).any((2, 3))
        return cls(np.append(0, used.sum(1).cumsum()).astype(np.int32), used.nonzero()[1].astype(np.int32),
                   np.ascontiguousarray(tiled[used]))

    def row(self, i):
        """The first of a row's blocks, and the one behind its last."""
        return self.starts[i], self.starts[i + 1]


def product_kernel(r: int, c: int, m: int, n: int, k: int, sub_group_size: int):
    """The product with a matrix of r x c blocks, in tiles of a shape."""
    tile_a = joint_matrix[sub_group, bfloat16, use.a, m, k, layout.row_major]
    tile_b = joint_matrix[sub_group, bfloat16, use.b, k, n, layout.row_major]
    tile_c = joint_matrix[sub_group, float32, use.accumulator, m, n]

    @kernel(sub_group_size=sub_group_size)
    def product(item: nd_item[2], starts: ptr[const[int32]], columns: ptr[const[int32]], blocks: ptr[const[bfloat16]],
                B: ptr[const[bfloat16]], D: ptr[float32], N: int, C: ptr[const[float32]] = None, *,
                alpha: float = 1, beta: float = 0):
        sg, A = item.get_sub_group(), BlockSparse(starts, columns, blocks)
        block_row, column = int(item.get_group(0)), int(item.get_group(1)) * COLUMNS * n
        a, bs = [tile_a() for _ in range(r // m)], [tile_b() for _ in range(COLUMNS)]
        sums = [[tile_c() for _ in bs] for _ in a]
        for row in sums:
            for total in row:
                joint_matrix_fill(sg, total, 0)

        first, last = A.row(block_row)
        for i in range(first, last):
            for inner in range(0, c, k):
                for j, tile in enumerate(a):
                    joint_matrix_load(sg, tile, A.blocks + i * r * c + j * m * c + inner, c)
                for j, tile in enumerate(bs):
                    joint_matrix_load(sg, tile, B + (A.columns[i] * c + inner) * N + column + j * n, N)
                for row, left in zip(sums, a, strict=True):
                    for total, right in zip(row, bs, strict=True):
                        joint_matrix_mad(sg, total, left, right, total)

        c_tile = tile_c()
        for i, row in enumerate(sums):
            for j, total in enumerate(row):
                place = (block_row * r + i * m) * N + column + j * n
                total *= alpha
                if C and beta != 0:
                    joint_matrix_load(sg, c_tile, C + place, N, layout.row_major)
                    total += beta * c_tile
                joint_matrix_store(sg, total, D + place, N, layout.row_major)

    return product


def check(device: cm.Device, m: int, n: int, k: int) -> None:
    """Run on a device, in tiles of a shape, and compare with numpy."""
    r, c = 2 * m, 2 * k
    rows, inner, N = 4 * r, 5 * c, 2 * COLUMNS * n
    rng = np.random.default_rng(0)
    used = rng.random((rows // r, inner // c)) < 0.4
    used[1] = False  # a row without blocks
    dense = (rng.uniform(-1, 1, (rows, inner)) * np.kron(used, np.ones((r, c)))).astype(bfloat16.dtype)
    B = rng.uniform(-1, 1, (inner, N)).astype(bfloat16.dtype)
    C = rng.uniform(-1, 1, (rows, N)).astype(np.float32)
    expected = dense.astype(np.float64) @ B.astype(np.float64)
    size, queue = device.sub_group_sizes[0], cm.Queue(device)
    product, A = product_kernel(r, c, m, n, k, size), BlockSparse.of(dense, r, c)
    sizes = nd_range((rows // r, N // (COLUMNS * n) * size), (1, size))
    D = np.full((rows, N), np.nan, np.float32)
    queue.parallel_for(sizes, product, *A, B, D, N).wait()
    np.testing.assert_allclose(D, expected, atol=1e-5 * inner)
    queue.parallel_for(sizes, product, *A, B, D, N, C, alpha=0.5, beta=-2).wait()
    np.testing.assert_allclose(D, 0.5 * expected - 2 * C, atol=1e-5 * inner)
