"""C = requantize(A * B + bias): a product of 8-bit integers whose results are 8-bit integers again, as in a layer of a
quantised network.

    python examples/joint_matrix_quantized.py [DEVICE]

joint_matrix_apply finishes the sums where they are, in registers: a scale for each column, rounding, a zero point,
saturation. The kernel has defaults for what a layer may lack. It is gemm_quantized.cl in Python.
"""

import sys

import numpy as np

from coopmat.sycl import *


def layer_kernel(tM: int, tN: int, tK: int, SG_SIZE: int):
    """The kernel for tiles of a shape. M, N and K are multiples of the tile."""

    @kernel(sub_group_size=SG_SIZE)
    def layer(item: nd_item[2], A: ptr[const[int8]], B: ptr[const[int8]], scale: ptr[const[float32]], C: ptr[int8],
              N: int, K: int, bias: ptr[const[int32]] = None, zero: int = 0, relu: bool = False):
        sg = item.get_sub_group()
        row, column = item.get_group(0) * tM, item.get_group(1) * tN
        tA = joint_matrix(sub_group, int8, use.a, tM, tK, layout.row_major)
        tB = joint_matrix(sub_group, int8, use.b, tK, tN, layout.row_major)
        tC = joint_matrix(sub_group, int32, use.accumulator, tM, tN)
        joint_matrix_fill(sg, tC, 0)
        for k in range(0, K, tK):
            joint_matrix_load(sg, tA, A + row * K + k, K)
            joint_matrix_load(sg, tB, B + k * N + column, N)
            joint_matrix_mad(sg, tC, tA, tB, tC)

        def finish(total, r, c):
            j = column + c
            if bias:
                total += bias[j]
            result = int32(rint(total * scale[j])) + zero
            C[(row + r) * N + j] = int8(min(max(result, zero if relu else -128), 127))

        joint_matrix_apply(sg, tC, finish)

    return layer


def tile_of(dev: Device) -> tuple[int, int, int]:
    """M, N and K of a tile."""
    if dev.name == "sim:generic":  # it takes every shape
        return 16, 16, 32
    params = matrix_params(dev, int8, int8, int32)
    return params.M, params.N, params.K


def main(arguments: list[str]) -> int:
    """Run on the device that is named, compare with numpy; 0 if all is well."""
    q = queue(device(arguments[0] if arguments else "cpu"))
    tM, tN, tK = tile_of(q.device)
    SG_SIZE = q.device.sub_group_sizes[0]
    M, N, K = 2 * tM, 3 * tN, 4 * tK

    rng = np.random.default_rng(0)
    A = rng.integers(-128, 128, (M, K), np.int8)
    B = rng.integers(-128, 128, (K, N), np.int8)
    bias = rng.integers(-5000, 5000, N, np.int32)
    scale = np.float32(1e-3) * rng.random(N, np.float32)
    layer = layer_kernel(tM, tN, tK, SG_SIZE)
    ranges = nd_range((M // tM, N // tN * SG_SIZE), (1, SG_SIZE))
    all_right = True
    for options in ({}, {"bias": bias, "zero": 3, "relu": True}):
        C = np.zeros((M, N), np.int8)
        q.parallel_for(ranges, layer, A, B, scale, C, N, K, **options).wait()

        sums = A.astype(np.int64) @ B.astype(np.int64) + options.get("bias", 0)
        zero = options.get("zero", 0)
        expected = np.clip(np.rint(sums * scale.astype(np.float64)) + zero, zero if options else -128, 127)
        different = np.count_nonzero(expected != C)  # where float32 rounds to another integer than float64
        is_right = bool(np.abs(C - expected).max() <= 1 and different <= C.size // 1000)
        print(f"{q.device.name}: {M}x{N}x{K} in tiles of {tM}x{tN}x{tK}, {', '.join(options) or 'scale only'}: "
              f"{'right' if is_right else 'WRONG'}, {different} elements rounded otherwise")
        all_right &= is_right
    return 0 if all_right else 1


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except exception as error:
        sys.exit(str(error))
