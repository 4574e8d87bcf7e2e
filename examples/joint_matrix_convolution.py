"""A convolution as a product of matrices that are nowhere in memory (implicit GEMM), with bias and ReLU.

    python examples/joint_matrix_convolution.py [DEVICE]

Half-precision images and filters, sums in float32. For each place in a filter, a row of A is a pixel's channels, and
neighbouring pixels lie IC elements apart: so A is loaded from the image itself, with the stride IC. It is
convolution.cl in Python; that file describes the order of the elements.
"""

import sys

import numpy as np

from coopmat.sycl import *


def convolution_kernel(tM: int, tN: int, tK: int, SG_SIZE: int, R: int = 3, S: int = 3):
    """The kernel for tiles of a shape and filters of R x S. W, OC and IC are multiples of tM, tN and tK."""

    @kernel(sub_group_size=SG_SIZE)
    def convolution(item: nd_item[3], image: ptr[const[half]], filters: ptr[const[half]], result: ptr[float32],
                    W: int, IC: int, OC: int, bias: ptr[const[float32]] = None):
        sg = item.get_sub_group()
        y, x, channel = item.get_group(0), item.get_group(1) * tM, item.get_group(2) * tN
        pitch = (W + S - 1) * IC  # of a row of the image
        tA = joint_matrix(sub_group, half, use.a, tM, tK, layout.row_major)
        tB = joint_matrix(sub_group, half, use.b, tK, tN, layout.row_major)
        tC = joint_matrix(sub_group, float32, use.accumulator, tM, tN)
        joint_matrix_fill(sg, tC, 0)
        for r in range(R):
            for s in range(S):
                pixels = image + (y + r) * pitch + (x + s) * IC
                weights = filters + (r * S + s) * IC * OC + channel
                for k in range(0, IC, tK):
                    joint_matrix_load(sg, tA, pixels + k, IC)
                    joint_matrix_load(sg, tB, weights + k * OC, OC)
                    joint_matrix_mad(sg, tC, tA, tB, tC)
        if bias:
            joint_matrix_apply(sg, tC, lambda v, row, column: v + bias[channel + column])
        joint_matrix_apply(sg, tC, lambda v: fmax(v, 0.0))
        joint_matrix_store(sg, tC, result + (y * W + x) * OC + channel, OC, layout.row_major)

    return convolution


def reference(image: np.ndarray, filters: np.ndarray, bias: np.ndarray | float = 0.0) -> np.ndarray:
    """The same in float64; the image has its border of zeros."""
    R, S, _, OC = filters.shape
    H, W = image.shape[0] - R + 1, image.shape[1] - S + 1
    sums = np.zeros((H, W, OC)) + bias
    for r in range(R):
        for s in range(S):
            sums += image[r:r + H, s:s + W].astype(np.float64) @ filters[r, s].astype(np.float64)
    return np.maximum(sums, 0)


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
    H, W, IC, OC = 5, 2 * tM, 2 * tK, 2 * tN

    rng = np.random.default_rng(0)
    image = np.pad(rng.standard_normal((H, W, IC)), ((1, 1), (1, 1), (0, 0))).astype(np.float16)
    filters = (rng.standard_normal((3, 3, IC, OC)) / np.sqrt(9 * IC)).astype(np.float16)
    bias = rng.standard_normal(OC, np.float32)
    convolution = convolution_kernel(tM, tN, tK, SG_SIZE)
    ranges = nd_range((H, W // tM, OC // tN * SG_SIZE), (1, 1, SG_SIZE))
    all_right = True
    for given in (None, bias):
        result = np.zeros((H, W, OC), np.float32)
        q.parallel_for(ranges, convolution, image, filters, result, W, IC, OC, bias=given).wait()
        error = np.abs(result - reference(image, filters, 0 if given is None else given)).max()
        is_right = bool(error < 1e-4)  # gfx90a takes no subnormal numbers
        print(f"{q.device.name}: {H}x{W} pixels, {IC} channels to {OC}, tiles of {tM}x{tN}x{tK}: "
              f"{'right' if is_right else 'WRONG'}, largest error {error:.1e}")
        all_right &= is_right
    return 0 if all_right else 1


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except exception as error:
        sys.exit(str(error))
