"""examples/gemm_w4a16.cl in tiles of each shape."""

import numpy as np

import coopmat as cm
from examples.joint_matrix_w4a16 import GROUP, packed
from tests.kit.paths import EXAMPLES

TYPES = ("fp16", "fp16", "fp32", "fp32")


def check(device: cm.Device, m: int, n: int, k: int) -> None:
    """Run on a device, in tiles of a shape, and compare with numpy."""
    rows, columns, depth, size = 2 * m, 2 * n, 2 * GROUP, device.sub_group_sizes[0]
    rng = np.random.default_rng(1)
    A, numbers = rng.standard_normal((rows, depth)).astype(np.float16), rng.integers(0, 16, (depth, columns))
    scale, C = (rng.random((2, columns)) / 8).astype(np.float16), np.zeros((rows, columns), np.float32)
    kernel = cm.build(EXAMPLES / "gemm_w4a16.cl", [f"-DTM={m}", f"-DTN={n}", f"-DTK={k}"], device).kernel("gemm")
    cm.Queue(device).enqueue(kernel, (2 * size, 1), (size, 1), A, packed(numbers), scale, C, columns, depth).wait()
    B = (numbers - 8).astype(np.float16) * np.repeat(scale, GROUP, axis=0)
    np.testing.assert_allclose(C, A.astype(np.float64) @ B.astype(np.float64), atol=1e-3)
