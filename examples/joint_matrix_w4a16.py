"""C = A * B with weights of four bits (w4a16), as large language models have them, and half-precision A.

    python examples/joint_matrix_w4a16.py [DEVICE]

B is stored as numbers from 0 to 15 with a scale for every GROUP of them in a column; the sub-group unpacks a tile of it
to local memory and multiplies it several times. It is gemm_w4a16.cl in Python; that file describes the packing.
"""

import sys

import numpy as np

from coopmat.sycl import *

GROUP = 32


def gemm_kernel(tM: int, tN: int, tK: int, SG_SIZE: int, MM: int = 2):
    """The kernel for tiles of a shape, MM of them below each other. M, N and K are multiples of MM tM, tN and tK, and
    GROUP of tK."""

    @kernel(sub_group_size=SG_SIZE)
    def gemm(item: nd_item[2], A: ptr[const[half]], B: ptr[const[uint32]], scale: ptr[const[half]], C: ptr[float32],
             N: int, K: int):
        sg = item.get_sub_group()
        row, column = item.get_group(0) * (tM * MM), item.get_group(1) * tN
        weights = group_local_memory_for_overwrite[half, tK * tN](item.get_group())
        tA = joint_matrix(sub_group, half, use.a, tM, tK, layout.row_major)
        tB = joint_matrix(sub_group, half, use.b, tK, tN, layout.row_major)
        tC = [joint_matrix(sub_group, float32, use.accumulator, tM, tN) for _ in range(MM)]
        for i in range(MM):
            joint_matrix_fill(sg, tC[i], 0)
        for k in range(0, K, tK):
            group_barrier(sg)  # what the last round reads has been read
            for at in range(sg.get_local_linear_id(), tK // 8 * tN, SG_SIZE):
                n, eight = at % tN, at // tN
                word = B[(k // 8 + eight) * N + column + n]
                factor = scale[k // GROUP * N + column + n]
                for i in range(8):
                    weights[(eight * 8 + i) * tN + n] = half(int32(word >> 4 * i & 15) - 8) * factor
            group_barrier(sg)
            joint_matrix_load(sg, tB, weights, tN)
            for i in range(MM):
                joint_matrix_load(sg, tA, A + (row + i * tM) * K + k, K)
                joint_matrix_mad(sg, tC[i], tA, tB, tC[i])
        for i in range(MM):
            joint_matrix_store(sg, tC[i], C + (row + i * tM) * N + column, N, layout.row_major)

    return gemm


def packed(numbers: np.ndarray) -> np.ndarray:
    """Numbers from 0 to 15, K x N, as words of eight rows."""
    K, N = numbers.shape
    eights = numbers.astype(np.uint32).reshape(K // 8, 8, N) << np.arange(0, 32, 4, dtype=np.uint32)[:, None]
    return np.bitwise_or.reduce(eights, axis=1)


def tile_of(dev: Device) -> tuple[int, int, int]:
    """M, N and K of a tile."""
    if dev.name == "sim:generic":  # it takes every shape
        return 8, 16, 16
    params = matrix_params(dev, half, half, float32)
    return params.M, params.N, params.K


def main(arguments: list[str]) -> int:
    """Run on the device that is named, compare with numpy; 0 if all is well."""
    q = queue(device(arguments[0] if arguments else "cpu"))
    tM, tN, tK = tile_of(q.device)
    SG_SIZE = q.device.sub_group_sizes[0]
    M, N, K = 4 * tM, 3 * tN, 4 * GROUP

    rng = np.random.default_rng(0)
    A = rng.standard_normal((M, K)).astype(np.float16)
    numbers = rng.integers(0, 16, (K, N))
    scale = (rng.random((K // GROUP, N)) / 8).astype(np.float16)
    C = np.zeros((M, N), np.float32)
    ranges = nd_range((M // (2 * tM), N // tN * SG_SIZE), (1, SG_SIZE))
    q.parallel_for(ranges, gemm_kernel(tM, tN, tK, SG_SIZE), A, packed(numbers), scale, C, N, K).wait()

    B = (numbers - 8).astype(np.float16) * np.repeat(scale, GROUP, axis=0)  # in half precision, as the kernel has them
    error = np.abs(C - A.astype(np.float64) @ B.astype(np.float64)).max()
    is_right = bool(error < 1e-3)  # gfx90a takes no subnormal numbers
    print(f"{q.device.name}: {M}x{N}x{K} in tiles of {tM}x{tN}x{tK}: "
          f"{'right' if is_right else 'WRONG'}, largest error {error:.1e}")
    return 0 if is_right else 1


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except exception as error:
        sys.exit(str(error))
