"""Pipelines of chips without wgmma on the emulated GPU: a warp copies tiles ahead, the others multiply by mma.sync."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import coopmat as cm
from tests.kit.paths import EXAMPLES
from tests.kit.targets import gpu
from tests.kit.targets.emulated_gpu.driver import emulated
from tests.kit.targets.work_group_gemm import Gemm
from tests.targets.cuda.test_work_group_products import Product

HALF = ("-DIN=half", "-DOUT=float", "-DTM=16", "-DTN=16", "-DTK=16", "-DFLAGS=0")
COPIED = "mma.sync, of tiles that are fetched ahead by 32 threads with cp.async"


@pytest.fixture(autouse=True)
def _emulated() -> Iterator[None]:
    with emulated(80):
        yield


@pytest.mark.parametrize(("name", "tile", "sizes", "said"), [
    ("gemm_blocked", 32, (64, 160, 80), "4 x 2 neighbouring"),
    pytest.param("gemm", 16, (80, 144, 48), "8 x 4 neighbouring", marks=pytest.mark.slow)])
def test_kernels_of_sub_groups(name: str, tile: int, sizes: tuple[int, int, int], said: str) -> None:
    """As the documents have them, merged; small integers, so that sums are exact."""
    m, n, k = sizes
    rng = np.random.default_rng(6)
    a, b = (rng.integers(-8, 8, shape).astype(np.float16) for shape in ((m, k), (k, n)))
    c = np.full((m, n), -1, np.float32)
    device = cm.device(gpu.GPU)
    program = cm.build((EXAMPLES / f"{name}.cl").read_text(), list(HALF), device=device)
    cm.Queue(device).enqueue(program.kernel("gemm"), (n // tile * 32, m // tile), (32, 1), a, b, c, n, k).wait()
    np.testing.assert_array_equal(c, a.astype(np.float64) @ b.astype(np.float64))
    explanation = "\n".join(device.explanation(program.load(device)))
    assert COPIED in explanation
    assert said in explanation


@pytest.mark.parametrize(("formats", "tile", "items", "rows_of"), [
    (("bf16", "bf16", "fp32"), (64, 32, 48), 32, "BC"),
    (("uint8", "sint8", "sint32"), (32, 48, 32), 64, "AC"),
    *(pytest.param(*one, marks=pytest.mark.slow) for one in (
        (("bf16", "bf16", "fp32"), (64, 48, 32), 128, "AC"),
        (("bf16", "bf16", "fp32"), (32, 48, 64), 64, "ABC"),
        (("fp16", "fp16", "fp16"), (32, 64, 80), 64, "C"),
        (("fp16", "fp16", "fp32"), (64, 32, 16), 64, "AC"),
        (("tf32", "tf32", "fp32"), (32, 32, 16), 64, "AC")))])
def test_work_groups(formats: tuple[str, str, str], tile: tuple[int, int, int], items: int, rows_of: str) -> None:
    """Types, layouts and ragged sizes, lines that are any number of elements apart; bit for bit what the model
    computes."""
    gemm, device = Gemm(formats, tile, items, rows_of), cm.device(gpu.GPU)
    for sizes, gap in (((72, 56, 88), 0), ((33, 49, 40), 1), ((40, 40, 24), 2)):
        Product(gemm, sizes, gap).compare("ordinary", 1)
        Product(gemm, sizes, gap).compare_exactly()
        assert COPIED in "\n".join(device.explanation(gemm.program(device).load(device)))
