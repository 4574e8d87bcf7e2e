"""C = A * B with blocks of A and B in local memory, for processors with matrix instructions: gemm_tuned.cl in Python.

    python examples/joint_matrix_tuned.py [DEVICE]

Any device that has 16 x 16 tiles of C runs it; how it works, and which sizes it takes, is in gemm_tuned.cl.
"""

import sys

import numpy as np

from coopmat.sycl import *


def gemm_kernel(T, Tc, tK: int, KC: int = 2048, NB: int = 512):
    """The kernel for elements T (8 or 16 bits; tK of them are 64 bytes) and sums Tc.

    M and N are multiples of 32, K of tK. A work-group of one sub-group computes ``rows`` rows, a multiple of 32,
    and NB columns; the sums stay in registers for KC steps. KC x NB elements should take half of the second-level
    cache.
    """
    together = 4 // np.dtype(T).itemsize  # rows of B whose elements lie side by side
    stride_b = 16 * together

    @kernel(sub_group_size=16, work_group_size=(1, 16))
    def gemm(item: nd_item[2], A: ptr[const[T]], B: ptr[const[T]], C: ptr[Tc], M: int, N: int, K: int, rows: int):
        sg = item.get_sub_group()
        lane = item.get_local_id(1)
        a_tiles = group_local_memory_for_overwrite[T, 32 * KC](item.get_group())
        b_tiles = group_local_memory_for_overwrite[T, KC * NB](item.get_group())
        tA = joint_matrix(sub_group, T, use.a, 16, tK, layout.row_major)
        tB = [joint_matrix(sub_group, T, use.b, tK, 16, layout.ext_intel_packed) for _ in range(2)]
        tC = [[joint_matrix(sub_group, Tc, use.accumulator, 16, 16) for _ in range(2)] for _ in range(2)]
        rowsB = joint_matrix(sub_group, T, use.b, tK, 16, layout.row_major)
        packedB = joint_matrix(sub_group, T, use.b, tK, 16, layout.ext_intel_packed)
        first_row = item.get_group(0) * rows
        last_row = min(first_row + rows, M)
        column = item.get_group(1) * NB
        width = min(NB, N - column)

        for start in range(0, K, KC):
            depth = min(KC, K - start)
            group_barrier(sg)
            for k in range(0, depth, tK):  # pack B
                for n in range(0, width, 16):
                    joint_matrix_load(sg, rowsB, B + (start + k) * N + column + n, N)
                    joint_matrix_copy(sg, rowsB, packedB)
                    joint_matrix_store(sg, packedB, b_tiles.get_multi_ptr() + n * KC + k * 16, stride_b)
            for row in range(first_row, last_row, 32):
                group_barrier(sg)
                for r in range(32):  # copy A
                    for k in range(0, depth, 16):
                        a_tiles[r // 16 * 16 * tK + r % 16 * tK + k // tK * 32 * tK + k % tK + lane] = \
                            A[(row + r) * K + start + k + lane]
                group_barrier(sg)
                for n in range(0, width, 32):
                    for i in range(2):
                        for j in range(2):
                            if start == 0:
                                joint_matrix_fill(sg, tC[i][j], 0)
                            else:
                                joint_matrix_load(sg, tC[i][j], C + (row + 16 * i) * N + column + n + 16 * j, N,
                                                  layout.row_major)
                    for k in range(0, depth, tK):
                        for j in range(2):
                            joint_matrix_load(sg, tB[j], b_tiles.get_multi_ptr() + (n + 16 * j) * KC + k * 16, stride_b)
                        for i in range(2):
                            joint_matrix_load(sg, tA, a_tiles.get_multi_ptr() + k * 32 + i * 16 * tK, tK)
                            for j in range(2):
                                joint_matrix_mad(sg, tC[i][j], tA, tB[j], tC[i][j])
                    for i in range(2):
                        for j in range(2):
                            joint_matrix_store(sg, tC[i][j], C + (row + 16 * i) * N + column + n + 16 * j, N,
                                               layout.row_major)

    return gemm


def main(arguments: list[str]) -> int:
    """Run on the device that is named, compare with numpy; 0 if all is well."""
    q = queue(device(arguments[0] if arguments else "cpu"))
    M, N, K, rows, KC, NB = 96, 160, 448, 64, 256, 64
    rng = np.random.default_rng(0)
    A = rng.integers(-128, 128, (M, K), dtype=np.int8)
    B = rng.integers(-128, 128, (K, N), dtype=np.int8)
    C = np.zeros((M, N), np.int32)
    G, L = (-(-M // rows), -(-N // NB) * 16), (1, 16)
    q.parallel_for(nd_range(G, L), gemm_kernel(int8, int32, 64, KC, NB), A, B, C, M, N, K, rows).wait()
    is_right = np.array_equal(C, A.astype(np.int64) @ B.astype(np.int64))
    print(f"{q.device.name}: {M}x{N}x{K} in blocks of {KC}x{NB}: {'right' if is_right else 'WRONG'}")
    return 0 if is_right else 1


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except exception as error:
        sys.exit(str(error))
