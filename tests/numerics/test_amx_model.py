"""The model of AMX against the processor's own fused multiply-adds, in the order that TDPBF16PS is known to have."""

from __future__ import annotations

import ctypes
import platform
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from inputs import KINDS, operands

from coopmat.formats import FORMATS
from coopmat.numerics.hardware import multiply_accumulate

HERE = Path(__file__).parent

COUNT = 4_000


def _has_fma() -> bool:
    info = Path("/proc/cpuinfo")
    return platform.machine() == "x86_64" and info.exists() and " fma " in info.read_text()


@pytest.fixture(scope="module")
def tiles(tmp_path_factory: pytest.TempPathFactory) -> ctypes._FuncPointer:
    if not _has_fma():
        pytest.skip("needs an x86 processor with fused multiply-add, and Linux")
    library = tmp_path_factory.mktemp("tiles") / "tiles.so"
    subprocess.run([sys.executable, "-m", "ziglang", "cc", "-O1", "-mfma", "-shared", "-fPIC", str(HERE / "tiles.c"),
                    "-o", str(library)], check=True, timeout=120)
    return ctypes.CDLL(str(library)).tiles


def widened(bits: np.ndarray, name: str) -> np.ndarray:
    """The bits of the same numbers in float32, with NaNs as they are."""
    if name == "bf16":
        return bits.astype(np.uint32) << np.uint32(16)
    values = bits.view(np.float16)
    with np.errstate(invalid="ignore"):
        wide = values.astype(np.float32).view(np.uint32)
    payload = (bits.astype(np.uint32) & 0x3FF) << np.uint32(13)
    sign = (bits.astype(np.uint32) >> np.uint32(15)) << np.uint32(31)
    return np.where(np.isnan(values), sign | 0x7F800000 | payload, wide)


@pytest.mark.oracle("clang")
@pytest.mark.parametrize("k", [2, 16, 32, 64])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["bf16", "fp16"])
def test_a_tile_product(tiles: ctypes._FuncPointer, name: str, kind: str, k: int) -> None:
    shapes = ((COUNT, 1, k), (COUNT, k, 1), (COUNT, 1, 1))
    a, b, c = operands((7, k, KINDS.index(kind)), kind, (name, name, "fp32"), shapes)
    found = multiply_accumulate(
        "intel_cpu_gnr", a.view(FORMATS[name].dtype), b.view(FORMATS[name].dtype), c.view(np.float32), a_format=name,
        b_format=name, c_format="fp32", d_format="fp32").view(np.uint32).reshape(-1)
    left, right = (np.ascontiguousarray(widened(bits, name).reshape(COUNT, k)) for bits in (a, b))
    expected = np.ascontiguousarray(c.reshape(-1))
    tiles(*(ctypes.c_void_p(x.ctypes.data) for x in (left, right, expected)), COUNT, k)
    np.testing.assert_array_equal(found, expected)
