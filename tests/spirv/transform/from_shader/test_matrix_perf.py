"""The public benchmark's shaders, products of blocks by way of local memory, compute what numpy does."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import coopmat as cm
from tests.kit.oracles import matrix_perf

TYPES = {"fp16_fp16": (np.float16, np.float16), "fp16_fp32": (np.float16, np.float32), "s8_s32": (np.int8, np.int32),
         "u8_u32": (np.uint8, np.uint32), "bf16_fp32": (ml_dtypes.bfloat16, np.float32)}
M, N, K = 128, 64, 64
TILE_K = 64  # so that every work-item has something to fetch


@pytest.mark.oracle("matrix-perf")
@pytest.mark.parametrize("device", ["sim:generic", "sim:nvidia_gpu_sm_90", "cpu"])
@pytest.mark.parametrize("types", TYPES)
def test_a_product(types: str, device: str) -> None:
    folder = matrix_perf.folder()
    assert folder is not None
    lanes = cm.device(device).sub_group_sizes[0]
    sizes = {0: 16, 1: 16, 2: 16, 3: 64, 4: 64, 5: TILE_K, 6: K, 7: K, 8: N, 9: N, 10: N, 14: TILE_K, 15: 64, 16: 64,
             17: TILE_K}
    left, right = TYPES[types]
    spec = {**sizes, 11: 2.0, 12: 3.0, 18: 8 * lanes, 21: lanes}
    kernel = cm.build(folder / f"shmem{types}.spv", spec_constants=spec, device=device).kernel("main")
    random = np.random.default_rng(3)
    a, b, c = (random.integers(0, 4, shape) for shape in ((M, K), (K, N), (M, N)))
    d = np.zeros((M, N), right)
    cm.Queue(device).enqueue(kernel, (N // 64 * 8 * lanes, M // 64), (8 * lanes, 1), a.astype(left).view(np.uint32),
                             b.astype(left).view(np.uint32), c.astype(right), d).wait()
    np.testing.assert_array_equal(d.astype(np.int64), 2 * (a @ b) + 3 * c)
