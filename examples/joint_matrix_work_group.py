"""C = A * B in bfloat16, of any sizes: matrices that a whole work-group shares, loads and stores checked.

    python examples/joint_matrix_work_group.py [DEVICE]

A work-group of 256 work-items computes a tile of 128 x 256; what lies outside of A, B and C is 0, and is not stored.
"""

import sys

import ml_dtypes
import numpy as np

from coopmat.sycl import *

tM, tN, tK, ITEMS = 128, 256, 64, 256


@kernel(work_group_size=(1, ITEMS))
def gemm(item: nd_item[2], A: ptr[const[bfloat16]], B: ptr[const[bfloat16]], C: ptr[float32], M: int, N: int, K: int):
    g = item.get_group()
    m, n = g.get_group_id(0) * tM, g.get_group_id(1) * tN
    tA = joint_matrix(work_group, bfloat16, use.a, tM, tK, layout.row_major)
    tB = joint_matrix(work_group, bfloat16, use.b, tK, tN, layout.row_major)
    tC = joint_matrix(work_group, float32, use.accumulator, tM, tN)
    joint_matrix_fill(g, tC, 0)
    for k in range(0, K, tK):
        joint_matrix_load_checked(g, tA, A, K, M, K, m, k)
        joint_matrix_load_checked(g, tB, B, N, K, N, k, n)
        joint_matrix_mad(g, tC, tA, tB, tC)
    joint_matrix_store_checked(g, tC, C, N, layout.row_major, M, N, m, n)


def main(arguments: list[str]) -> int:
    """Run on the device that is named, compare with numpy; 0 if all is well."""
    q = queue(device(arguments[0] if arguments else "cpu"))
    M, N, K = 200, 300, 100
    rng = np.random.default_rng(0)
    A = rng.normal(size=(M, K)).astype(ml_dtypes.bfloat16)
    B = rng.normal(size=(K, N)).astype(ml_dtypes.bfloat16)
    C = np.zeros((M, N), np.float32)
    G, L = (-(-M // tM), -(-N // tN) * ITEMS), (1, ITEMS)
    q.parallel_for(nd_range(G, L), gemm, A, B, C, M, N, K).wait()

    exact = A.astype(np.float64) @ B.astype(np.float64)
    is_right = np.allclose(C, exact, rtol=1e-4, atol=1e-4)
    print(f"{q.device.name}: {M}x{N}x{K} in tiles of {tM}x{tN}x{tK}: {'right' if is_right else 'WRONG'}")
    return 0 if is_right else 1


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except exception as error:
        sys.exit(str(error))
