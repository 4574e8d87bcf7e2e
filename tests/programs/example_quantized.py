"""examples/gemm_quantized.cl in tiles of each shape: with and without bias."""

import numpy as np

import coopmat as cm
from tests.kit.paths import EXAMPLES

TYPES = ("sint8", "sint8", "sint32", "sint32")


def check(device: cm.Device, m: int, n: int, k: int) -> None:
    """Run on a device, in tiles of a shape, and compare with numpy."""
    rows, columns, depth, size = 2 * m, 2 * n, 2 * k, device.sub_group_sizes[0]
    rng = np.random.default_rng(1)
    A, B = (rng.integers(-128, 128, shape, np.int8) for shape in ((rows, depth), (depth, columns)))
    bias, scale = rng.integers(-5000, 5000, columns, np.int32), rng.random(columns, np.float32) / 1000
    kernel = cm.build(EXAMPLES / "gemm_quantized.cl", [f"-DTM={m}", f"-DTN={n}", f"-DTK={k}"], device).kernel("gemm")
    for given, zero, relu in ((None, 0, False), (bias, 3, True)):
        C = np.zeros((rows, columns), np.int8)
        cm.Queue(device).enqueue(kernel, (2 * size, 2), (size, 1), A, B, given, scale, C, zero, relu, columns,
                                 depth).wait()
        sums = A.astype(np.int64) @ B.astype(np.int64) + (0 if given is None else given)
        expected = np.rint(sums.astype(np.float32) * scale).astype(np.int64) + zero
        np.testing.assert_array_equal(C, np.clip(expected, zero if relu else -128, 127))
