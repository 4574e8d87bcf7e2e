"""examples/flash_attention.cl in tiles of each shape with N = K: of all keys, and of earlier ones."""

import numpy as np

import coopmat as cm
from examples.joint_matrix_flash_attention import reference
from tests.kit.paths import EXAMPLES

TYPES = ("fp16", "fp16", "fp32", "fp32")


def fits(m: int, n: int, k: int) -> bool:
    """The scores of one product are the other's A."""
    return n == k


def check(device: cm.Device, m: int, n: int, k: int) -> None:
    """Run on a device, in tiles of a shape, and compare with numpy."""
    heads, length, depth, size = 2, 2 * max(m, n), 2 * n, device.sub_group_sizes[0]
    rng = np.random.default_rng(1)
    Q, K, V = (rng.standard_normal((heads, length, depth)).astype(np.float16) for _ in range(3))
    for is_causal in (False, True):
        options = [f"-DTM={m}", f"-DTN={n}", f"-DD={depth}", "-DIN=half", *["-DCAUSAL"] * is_causal]
        kernel = cm.build(EXAMPLES / "flash_attention.cl", options, device).kernel("flash_attention")
        result = np.zeros((heads, length, depth), np.float32)
        cm.Queue(device).enqueue(kernel, (length // m * size, heads), (size, 1), Q, K, V, result, length,
                                 depth**-0.5).wait()
        np.testing.assert_allclose(result, reference(Q, K, V, depth**-0.5, is_causal), atol=1e-3)
