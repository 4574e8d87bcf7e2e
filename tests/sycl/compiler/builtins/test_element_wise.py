"""joint_matrix_apply: operators, comparisons and conversions on elements of every type, against numpy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import coopmat as cm
from coopmat.devices import ARCHITECTURES
from coopmat.runtime.element_types import BY_FORMAT
from coopmat.sycl import bfloat16, float32, float64, half, int8, int32, nd_range, precision, uint8, use
from tests.kit.sycl.element_kernels import OPERATIONS, element_wise
from tests.kit.sycl.row_operands import assert_same

CASES = [("generic", type_, use.accumulator, 4, 16) for type_ in BY_FORMAT.values()] + [
    ("intel_gpu_pvc", int32, use.accumulator, 7, 16), ("intel_gpu_pvc", float32, use.accumulator, 8, 16),
    ("intel_gpu_pvc", bfloat16, use.a, 8, 16), ("intel_gpu_pvc", int8, use.b, 32, 16),
    ("intel_gpu_pvc", precision.tf32, use.b, 8, 16), ("intel_cpu_spr", uint8, use.a, 3, 5),
    ("nvidia_gpu_sm_80", half, use.accumulator, 16, 16), ("amd_gpu_gfx90a", float64, use.accumulator, 16, 16)]


def wide(dtype: np.dtype) -> np.dtype:
    """The type in which C++ computes: int for smaller integers, float for bfloat16."""
    if dtype.kind in "iu":
        return np.promote_types(dtype, np.int32) if dtype.itemsize < 4 else dtype
    return np.dtype(np.float32) if dtype.kind == "V" else dtype


def values(dtype: np.dtype, shape: tuple[int, int], seed: int) -> np.ndarray:
    """Small numbers of both signs, among them 0 and numbers that occur in both matrices."""
    rng = np.random.default_rng(seed)
    if dtype.kind == "u":
        return rng.integers(0, 120, shape).astype(dtype)
    if dtype.kind == "i":
        return rng.integers(-120, 120, shape).astype(dtype)
    return np.where(rng.random(shape) < 0.2, 0, 8 * rng.normal(size=shape)).astype(dtype)


def expected_results(x: np.ndarray, y: np.ndarray, v: Any) -> list[np.ndarray]:
    """What C++ gives, in the order of OPERATIONS; x and y are in the type in which it computes."""
    is_float = x.dtype.kind == "f"
    quotient = x / v if is_float else (np.abs(x) // abs(v) * np.sign(x) * np.sign(v)).astype(x.dtype)
    return [x + v, x - v, x * v, quotient, x - v if is_float else x - quotient * v, -x, x < v, x <= v, x > v, x >= v,
            x == v, x != v, x.astype(np.int32), x.astype(np.float32), x.astype(np.float64), x != 0,
            np.where(x > v, x, v), y, x + y]


@pytest.mark.parametrize("case", CASES, ids=lambda case: " ".join(map(str, case)))
def test_operations_on_elements(case: tuple) -> None:
    architecture, T, role, m, n = case
    dtype = T.storage.dtype
    a, b = values(dtype, (m, n), 0), values(dtype, (m, n), 1)
    v = dtype.type(3 if dtype.kind in "iu" else a.flat[5])
    if v == 0:
        v = dtype.type(1.25)
    a.flat[9] = v
    with np.errstate(all="ignore"):
        expected = [one.astype(dtype) for one in
                    expected_results(*(x.astype(wide(dtype)) for x in (a, b)), wide(dtype).type(v))]
    found = np.zeros((len(expected), m, n), dtype)
    size = ARCHITECTURES[architecture].sub_group_sizes[0]
    cm.Queue(f"sim:{architecture}").parallel_for(nd_range(size, size), element_wise(T, role, m, n), a, b, found,
                                                 v).wait()
    for name, one, other in zip(OPERATIONS, found, expected, strict=True):
        assert_same(one, other, name)
