"""C = A * B on floats that are multiplied as tf32, with rounding to nearest even.

    python examples/joint_matrix_tf32.py [DEVICE]

Memory and the function of joint_matrix_apply see float32; only the product sees tf32, of which ten fraction bits
remain. Without round_to_tf32 the device rounds or truncates as it likes.
"""

import sys

import numpy as np

from coopmat.sycl import *


def gemm_kernel(tM: int, tN: int, tK: int, SG_SIZE: int):
    """The kernel for tiles of a shape; a sub-group computes two tiles of C side by side."""

    @kernel(sub_group_size=SG_SIZE)
    def gemm(item: nd_item[2], A: ptr[const[float32]], B: ptr[const[float32]], C: ptr[float32], N: int, K: int):
        sg = item.get_sub_group()
        row, column = item.get_group(0) * tM, item.get_group(1) * 2 * tN
        tA = joint_matrix(sub_group, precision.tf32, use.a, tM, tK, layout.row_major)
        tB = joint_matrix(sub_group, precision.tf32, use.b, tK, tN, layout.row_major)
        tC = [joint_matrix(sub_group, float32, use.accumulator, tM, tN) for _ in range(2)]
        for c in tC:
            joint_matrix_fill(sg, c, 0)
        for k in range(0, K, tK):
            joint_matrix_load(sg, tA, A + row * K + k, K)
            joint_matrix_apply(sg, tA, round_to_tf32)
            for j in range(2):
                joint_matrix_load(sg, tB, B + k * N + column + j * tN, N)
                joint_matrix_apply(sg, tB, round_to_tf32)
                joint_matrix_mad(sg, tC[j], tA, tB, tC[j])
        for j in range(2):
            joint_matrix_store(sg, tC[j], C + row * N + column + j * tN, N, layout.row_major)

    return gemm


def tile_of(dev: Device) -> tuple[int, int, int]:
    """M, N and K of a tile."""
    if dev.name == "sim:generic":  # it takes every shape
        return 8, 16, 8
    params = matrix_params(dev, precision.tf32, precision.tf32, float32)
    return params.M, params.N, params.K


def main(arguments: list[str]) -> int:
    """Run on the device that is named, compare with numpy; 0 if all is well."""
    q = queue(device(arguments[0] if arguments else "sim:intel_gpu_pvc"))
    tM, tN, tK = tile_of(q.device)
    SG_SIZE = q.device.sub_group_sizes[0]
    M, N, K = 4 * tM, 4 * tN, 6 * tK

    rng = np.random.default_rng(0)
    A = rng.standard_normal((M, K), np.float32)
    B = rng.standard_normal((K, N), np.float32)
    C = np.zeros((M, N), np.float32)
    G, L = (M // tM, N // (2 * tN) * SG_SIZE), (1, SG_SIZE)
    q.parallel_for(nd_range(G, L), gemm_kernel(tM, tN, tK, SG_SIZE), A, B, C, N, K).wait()

    a, b = (round_to_tf32(x).astype(np.float64) for x in (A, B))
    error = np.abs(C - a @ b).max()
    is_right = bool((np.abs(C - a @ b) <= K * 2.0**-23 * (np.abs(a) @ np.abs(b))).all())
    print(f"{q.device.name}: {M}x{N}x{K} in tiles of {tM}x{tN}x{tK}: "
          f"{'right' if is_right else 'WRONG'}, largest error {error:.1e}")
    return 0 if is_right else 1


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except exception as error:
        sys.exit(str(error))
