"""Blocked LU decomposition without pivoting, in place: a block at a time, with a product that updates the rest."""

from typing import NamedTuple

import numpy as np

import coopmat as cm
from coopmat.sycl import *

TYPES = ("tf32", "tf32", "fp32", "fp32")
BLOCKS = 3


class View(NamedTuple):
    """A matrix in memory whose rows are so many elements apart."""

    data: ptr[float32]
    stride: int

    def at(self, row, column):
        return self.data + row * self.stride + column

    def block(self, row, column):
        return View(self.at(row, column), self.stride)


def lu_kernels(m: int, n: int, k: int, block: int, sub_group_size: int):
    """Kernels of a step: the diagonal block, the panels beside and below it, the rest."""

    @kernel
    def factor(item: nd_item[1], A: ptr[float32], N: int, start: int):
        """One work-group: a work-item for each row of the block."""
        own = View(A, N).block(start, start)
        tile = group_local_memory_for_overwrite[float32, block, block](item.get_group())
        row = int(item.get_local_id(0))
        for column in range(block):
            tile[row, column] = own.at(row, column)[0]
        group_barrier(item.get_group())
        for pivot in range(block):
            if row > pivot:
                tile[row, pivot] /= tile[pivot, pivot]
                for column in range(pivot + 1, block):
                    tile[row, column] -= tile[row, pivot] * tile[pivot, column]
            group_barrier(item.get_group())
        for column in range(block):
            own.at(row, column)[0] = tile[row, column]

    @kernel
    def solve_panels(item: nd_item[1], A: ptr[float32], N: int, start: int):
        """A work-item for each column right of the block, then one for each row below it."""
        whole = View(A, N)
        diagonal = whole.block(start, start)
        columns = N - start - block
        mine = int(item.get_global_id(0))
        is_lower = mine < columns
        x = whole.at(start, start + block + mine) if is_lower else whole.at(start + block + mine - columns, start)
        step = N if is_lower else 1
        for i in range(block):
            for j in range(i):
                x[i * step] -= x[j * step] * (diagonal.at(i, j) if is_lower else diagonal.at(j, i))[0]
            if not is_lower:
                x[i * step] /= diagonal.at(i, i)[0]

    @kernel(sub_group_size=sub_group_size)
    def update(item: nd_item[2], A: ptr[float32], N: int, start: int):
        """A sub-group for each tile of the rest."""
        sg, whole = item.get_sub_group(), View(A, N)
        row, column = (start + block + int(item.get_group(d)) * size for d, size in enumerate((m, n)))
        left = joint_matrix(sub_group, precision.tf32, use.a, m, k, layout.row_major)
        upper = joint_matrix(sub_group, precision.tf32, use.b, k, n, layout.row_major)
        rest = joint_matrix(sub_group, float32, use.accumulator, m, n)
        joint_matrix_load(sg, rest, whole.at(row, column), N, layout.row_major)
        for inner in range(start, start + block, k):
            joint_matrix_load(sg, left, whole.at(row, inner), N)
            joint_matrix_load(sg, upper, whole.at(inner, column), N)
            joint_matrix_mad(sg, rest, -left, upper, rest)
        joint_matrix_store(sg, rest, whole.at(row, column), N, layout.row_major)

    return factor, solve_panels, update


def check(device: cm.Device, m: int, n: int, k: int) -> None:
    """Run on a device, in tiles of a shape, and compare with numpy."""
    block = int(np.lcm.reduce([m, n, k]))
    N = BLOCKS * block
    rng = np.random.default_rng(0)
    A = (rng.uniform(-1, 1, (N, N)) + N * np.eye(N)).astype(np.float32)
    LU, queue, size = A.copy(), cm.Queue(device), device.sub_group_sizes[0]
    factor, solve_panels, update = lu_kernels(m, n, k, block, size)
    for start in range(0, N, block):
        rest = N - start - block
        queue.parallel_for(nd_range(block, block), factor, LU, N, start)
        if rest:
            queue.parallel_for(nd_range(2 * rest, block), solve_panels, LU, N, start)
            queue.parallel_for(nd_range((rest // m, rest // n * size), (1, size)), update, LU, N, start)
    queue.wait()
    L, U = np.tril(LU.astype(np.float64), -1) + np.eye(N), np.triu(LU.astype(np.float64))
    np.testing.assert_allclose(L @ U, A, rtol=1e-5, atol=2e-3)
