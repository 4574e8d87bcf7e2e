"""C = gelu(A * B + bias) on bfloat16: the end of a layer of a neural network, without a second pass over memory.

    python examples/joint_matrix_epilogue.py [DEVICE]

joint_matrix_apply with the coordinates of the elements (sycl_ext_intel_matrix) adds the bias of each column and
applies the activation function while the tile is in registers.
"""

import sys

import ml_dtypes
import numpy as np

from coopmat.sycl import *


def gelu(x):
    """The Gaussian error linear unit, on the device and on the host."""
    return 0.5 * x * (1 + erf(x * 0.5**0.5))


def layer_kernel(tM: int, tN: int, tK: int, SG_SIZE: int):
    """The kernel for tiles of a shape. N and K are multiples of the tile."""

    @kernel(sub_group_size=SG_SIZE)
    def layer(item: nd_item[2], A: ptr[const[bfloat16]], B: ptr[const[bfloat16]], bias: ptr[const[float32]],
              C: ptr[float32], N: int, K: int):
        sg = item.get_sub_group()
        row, column = item.get_group(0) * tM, item.get_group(1) * tN
        tA = joint_matrix(sub_group, bfloat16, use.a, tM, tK, layout.row_major)
        tB = joint_matrix(sub_group, bfloat16, use.b, tK, tN, layout.row_major)
        tC = joint_matrix(sub_group, float32, use.accumulator, tM, tN)
        joint_matrix_fill(sg, tC, 0)
        for k in range(0, K, tK):
            joint_matrix_load(sg, tA, A + row * K + k, K)
            joint_matrix_load(sg, tB, B + k * N + column, N)
            joint_matrix_mad(sg, tC, tA, tB, tC)
        joint_matrix_apply(sg, tC, lambda x, r, c: gelu(x + bias[column + c]))
        joint_matrix_store(sg, tC, C + row * N + column, N, layout.row_major)

    return layer


def tile_of(dev: Device) -> tuple[int, int, int]:
    """M, N and K of a tile."""
    if dev.name == "sim:generic":  # it takes every shape
        return 8, 16, 16
    params = matrix_params(dev, bfloat16, bfloat16, float32)
    return params.M, params.N, params.K


def main(arguments: list[str]) -> int:
    """Run on the device that is named, compare with numpy; 0 if all is well."""
    q = queue(device(arguments[0] if arguments else "sim:intel_gpu_pvc"))
    tM, tN, tK = tile_of(q.device)
    SG_SIZE = q.device.sub_group_sizes[0]
    M, N, K = 2 * tM, 3 * tN, 4 * tK

    rng = np.random.default_rng(0)
    A = rng.standard_normal((M, K)).astype(ml_dtypes.bfloat16)
    B = (rng.standard_normal((K, N)) / np.sqrt(K)).astype(ml_dtypes.bfloat16)
    bias = rng.standard_normal(N, np.float32)
    C = np.zeros((M, N), np.float32)
    G, L = (M // tM, N // tN * SG_SIZE), (1, SG_SIZE)
    q.parallel_for(nd_range(G, L), layer_kernel(tM, tN, tK, SG_SIZE), A, B, bias, C, N, K).wait()

    expected = gelu(A.astype(np.float64) @ B.astype(np.float64) + bias)
    error = np.abs(C - expected).max()
    is_right = bool(error < 1e-5)
    print(f"{q.device.name}: {M}x{N}x{K} in tiles of {tM}x{tN}x{tK}: "
          f"{'right' if is_right else 'WRONG'}, largest error {error:.1e}")
    return 0 if is_right else 1


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except exception as error:
        sys.exit(str(error))
