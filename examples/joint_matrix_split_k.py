"""C = A * B in bfloat16 where C is small and K is long: K in parts, so that there is work for all of a GPU.

    python examples/joint_matrix_split_k.py [DEVICE]

A work-group computes the sum of one part of K for a tile of C; a second kernel adds the parts.
"""

import sys

import ml_dtypes
import numpy as np

from coopmat.sycl import *

tM, tN, tK, ITEMS = 128, 128, 64, 256


@kernel(work_group_size=(1, 1, ITEMS))
def gemm(item: nd_item[3], A: ptr[const[bfloat16]], B: ptr[const[bfloat16]], sums: ptr[float32], M: int, N: int, K: int,
         steps: int, rows: int, parts: int):
    g = item.get_group()
    part, m, n = g.get_group_id(0), g.get_group_id(1) * tM, g.get_group_id(2) * tN
    tA = joint_matrix(work_group, bfloat16, use.a, tM, tK, layout.row_major)
    tB = joint_matrix(work_group, bfloat16, use.b, tK, tN, layout.row_major)
    tC = joint_matrix(work_group, float32, use.accumulator, tM, tN)
    joint_matrix_fill(g, tC, 0)
    for step in range(steps):
        k = (part * steps + step) * tK
        joint_matrix_load_checked(g, tA, A, K, M, K, m, k)
        joint_matrix_load_checked(g, tB, B, N, K, N, k, n)
        joint_matrix_mad(g, tC, tA, tB, tC)
    joint_matrix_store_checked(g, tC, sums, N, layout.row_major, parts * rows, N, part * rows + m, n)


@kernel
def add(item: nd_item[1], sums: ptr[const[float32]], C: ptr[float32], count: int, size: int, parts: int):
    i = item.get_global_id(0)
    if i < count:
        total = 0.0
        for part in range(parts):
            total += sums[part * size + i]
        C[i] = total


def main(arguments: list[str]) -> int:
    """Run on the device that is named, compare with numpy; 0 if all is well."""
    q = queue(device(arguments[0] if arguments else "cpu"))
    M, N, K, parts = 100, 136, 504, 3
    rng = np.random.default_rng(0)
    A = rng.normal(size=(M, K)).astype(ml_dtypes.bfloat16)
    B = rng.normal(size=(K, N)).astype(ml_dtypes.bfloat16)
    down, beside, steps = -(-M // tM), -(-N // tN), -(-K // (parts * tK))
    rows = down * tM  # of C in each part: whole tiles
    sums, C = np.zeros((parts, rows, N), np.float32), np.zeros((M, N), np.float32)
    G, L = (parts, down, beside * ITEMS), (1, 1, ITEMS)
    q.parallel_for(nd_range(G, L), gemm, A, B, sums, M, N, K, steps, rows, parts)
    q.parallel_for(nd_range(M * N), add, sums, C, M * N, rows * N, parts).wait()

    exact = A.astype(np.float64) @ B.astype(np.float64)
    is_right = np.allclose(C, exact, rtol=1e-4, atol=1e-4)
    print(f"{q.device.name}: {M}x{N}x{K} in {parts} parts of {steps * tK}: {'right' if is_right else 'WRONG'}")
    return 0 if is_right else 1


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except exception as error:
        sys.exit(str(error))
