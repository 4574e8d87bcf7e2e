"""C = A * B on bfloat16 with 2 x 2 tiles of C per sub-group: each tile that is loaded is multiplied twice.

    python examples/joint_matrix_blocked.py [DEVICE]

Run with row-major B, and with B packed by the host as matrix instructions take it, which saves the kernel from doing
that at every load. It is gemm_blocked.cl in Python.
"""

import sys

import numpy as np

from coopmat.sycl import *


def gemm_kernel(T, Tc, tM: int, tN: int, tK: int, SG_SIZE: int, packed: bool = False):
    """The kernel for elements T, sums Tc and tiles of a shape; with ``packed``, B is what pack_b makes of it.

    A work-group is one sub-group. M, N and K are multiples of 2 tM, 2 tN and tK.
    """
    together = 4 // np.dtype(T).itemsize if packed else 1  # rows of B whose elements lie side by side
    layout_b = layout.ext_intel_packed if packed else layout.row_major

    @kernel(sub_group_size=SG_SIZE)
    def gemm(item: nd_item[2], A: ptr[const[T]], B: ptr[const[T]], C: ptr[Tc], N: int, K: int):
        sg = item.get_sub_group()
        row = item.get_group().get_group_id(0) * (2 * tM)
        column = item.get_group().get_group_id(1) * (2 * tN)
        tA = joint_matrix(sub_group, T, use.a, tM, tK, layout.row_major)
        tB = [joint_matrix(sub_group, T, use.b, tK, tN, layout_b) for _ in range(2)]
        tC = [[joint_matrix(sub_group, Tc, use.accumulator, tM, tN) for _ in range(2)] for _ in range(2)]
        for i in range(2):
            for j in range(2):
                joint_matrix_fill(sg, tC[i][j], 0)
        for k in range(0, K, tK):
            for j in range(2):
                joint_matrix_load(sg, tB[j], B + k * N + (column + j * tN) * together, N * together)
            for i in range(2):
                joint_matrix_load(sg, tA, A + (row + i * tM) * K + k, K)
                for j in range(2):
                    joint_matrix_mad(sg, tC[i][j], tA, tB[j], tC[i][j])
        for i in range(2):
            for j in range(2):
                joint_matrix_store(sg, tC[i][j], C + (row + i * tM) * N + column + j * tN, N, layout.row_major)

    return gemm


def pack_b(B: np.ndarray) -> np.ndarray:
    """B with the elements of one column of each 4 bytes' worth of rows side by side."""
    K, N = B.shape
    together = 4 // B.itemsize
    return B.reshape(K // together, together, N).swapaxes(1, 2).copy()


def tile_of(dev: Device) -> tuple[int, int, int]:
    """M, N and K of a tile."""
    if dev.name == "sim:generic":  # it takes every shape
        return 16, 16, 32
    params = matrix_params(dev, bfloat16, bfloat16, float32)
    return params.M, params.N, params.K


def main(arguments: list[str]) -> int:
    """Run on the device that is named, compare with numpy; 0 if all is well."""
    q = queue(device(arguments[0] if arguments else "cpu"))
    tM, tN, tK = tile_of(q.device)
    SG_SIZE = q.device.sub_group_sizes[0]
    M, N, K = 4 * tM, 6 * tN, 3 * tK

    rng = np.random.default_rng(0)
    A = rng.integers(-99, 100, (M, K)).astype(bfloat16)
    B = rng.integers(-99, 100, (K, N)).astype(bfloat16)
    expected = A.astype(np.float32) @ B.astype(np.float32)  # exact: whole numbers below 2**24
    G, L = (M // (2 * tM), N // (2 * tN) * SG_SIZE), (1, SG_SIZE)
    all_right = True
    for packed in (False, True):
        C = np.zeros((M, N), np.float32)
        gemm = gemm_kernel(bfloat16, float32, tM, tN, tK, SG_SIZE, packed)
        q.parallel_for(nd_range(G, L), gemm, A, pack_b(B) if packed else B, C, N, K).wait()
        is_right = np.array_equal(C, expected)
        all_right &= is_right
        print(f"{q.device.name}: {M}x{N}x{K}, B {'packed' if packed else 'row-major'}: "
              f"{'right' if is_right else 'WRONG'}")
    return 0 if all_right else 1


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except exception as error:
        sys.exit(str(error))
