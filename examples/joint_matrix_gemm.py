"""C = alpha * A * B on 8-bit integers: the int8_t example of sycl_ext_oneapi_matrix, in Python.

    python examples/joint_matrix_gemm.py [DEVICE]

Every sub-group computes one tile of C. Tiles have the shape that matrix_params suggests for the device.
"""

import sys

import numpy as np

from coopmat.sycl import *


def gemm_kernel(tM: int, tN: int, tK: int, SG_SIZE: int):
    """The kernel for tiles of a shape; a work-group is one sub-group. N and K are multiples of the tile."""

    @kernel(sub_group_size=SG_SIZE)
    def gemm(item: nd_item[2], A: ptr[const[int8]], B: ptr[const[int8]], C: ptr[int32], N: int, K: int, alpha: int):
        sg = item.get_sub_group()
        sg_startx = item.get_global_id(0) - item.get_local_id(0)
        sg_starty = item.get_global_id(1) - item.get_local_id(1)
        tA = joint_matrix(sub_group, int8, use.a, tM, tK, layout.row_major)
        tB = joint_matrix(sub_group, int8, use.b, tK, tN, layout.row_major)
        tC = joint_matrix(sub_group, int32, use.accumulator, tM, tN)
        joint_matrix_fill(sg, tC, 0)
        for k in range(0, K, tK):
            joint_matrix_load(sg, tA, A + sg_startx * tM * K + k, K)
            joint_matrix_load(sg, tB, B + k * N + sg_starty // SG_SIZE * tN, N)
            joint_matrix_mad(sg, tC, tA, tB, tC)
        joint_matrix_apply(sg, tC, lambda x: x * alpha)
        joint_matrix_store(sg, tC, C + sg_startx * tM * N + sg_starty // SG_SIZE * tN, N, layout.row_major)

    return gemm


def tile_of(dev: Device) -> tuple[int, int, int]:
    """M, N and K of a tile."""
    if dev.name == "sim:generic":  # it takes every shape
        return 8, 16, 32
    params = matrix_params(dev, int8, int8, int32)
    return params.M, params.N, params.K


def main(arguments: list[str]) -> int:
    """Run on the device that is named, compare with numpy; 0 if all is well."""
    q = queue(device(arguments[0] if arguments else "sim:intel_gpu_pvc"))
    tM, tN, tK = tile_of(q.device)
    SG_SIZE = q.device.sub_group_sizes[0]
    M, N, K, alpha = 4 * tM, 3 * tN, 2 * tK, 3

    rng = np.random.default_rng(0)
    A = rng.integers(-128, 128, (M, K), dtype=np.int8)
    B = rng.integers(-128, 128, (K, N), dtype=np.int8)
    C = np.zeros((M, N), np.int32)
    G, L = (M // tM, N // tN * SG_SIZE), (1, SG_SIZE)
    q.parallel_for(nd_range(G, L), gemm_kernel(tM, tN, tK, SG_SIZE), A, B, C, N, K, alpha).wait()

    is_right = np.array_equal(C, alpha * (A.astype(np.int64) @ B.astype(np.int64)))
    print(f"{q.device.name}: {M}x{N}x{K} in tiles of {tM}x{tN}x{tK}: {'right' if is_right else 'WRONG'}")
    return 0 if is_right else 1


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except exception as error:
        sys.exit(str(error))
