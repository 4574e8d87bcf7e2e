"""examples/convolution.cl in tiles of each shape: with and without bias."""

import numpy as np

import coopmat as cm
from examples.joint_matrix_convolution import reference
from tests.kit.paths import EXAMPLES

TYPES = ("fp16", "fp16", "fp32", "fp32")


def check(device: cm.Device, m: int, n: int, k: int) -> None:
    """Run on a device, in tiles of a shape, and compare with numpy."""
    height, width, inputs, outputs, size = 2, m, k, 2 * n, device.sub_group_sizes[0]
    rng = np.random.default_rng(1)
    image = np.pad(rng.standard_normal((height, width, inputs)), ((1, 1), (1, 1), (0, 0))).astype(np.float16)
    filters = rng.uniform(-0.1, 0.1, (3, 3, inputs, outputs)).astype(np.float16)
    bias = rng.standard_normal(outputs, np.float32)
    program = cm.build(EXAMPLES / "convolution.cl", [f"-DTM={m}", f"-DTN={n}", f"-DTK={k}"], device)
    for given in (None, bias):
        result = np.zeros((height, width, outputs), np.float32)
        cm.Queue(device).enqueue(program.kernel("convolution"), (2 * size, 1, height), (size, 1, 1), image, filters,
                                 given, result, width, inputs, outputs).wait()
        np.testing.assert_allclose(result, reference(image, filters, 0 if given is None else given), atol=1e-3)
