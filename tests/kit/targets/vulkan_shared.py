"""The simulator's tests of what instructions do, on ``vulkan:0``: pytest runs this file in a process that sees it
(tests/targets/vulkan/test_shared.py). Their expectations come from Python and numpy.

Drivers may take subnormal numbers for zeros: operands of fp32, bf16 and fp64 are none.
"""

from __future__ import annotations

import importlib
import os
import zlib
from collections.abc import Iterator

import ml_dtypes
import numpy as np
import pytest

import coopmat as cm
from tests.kit.targets import short_kernels
from tests.kit.targets.shared_tests import marks_of, shared_tests
from tests.kit.targets.values import floats

SHARED = ("test_arithmetic", "test_conversions", "test_foreign_modules", "test_overflow", "test_quads",
          "test_relational")
"""The modules whose tests hold for any size of sub-groups, and any driver but for what is left out."""
EVERY = "COOPMAT_TEST_EVERY"
"""A variable: one in how many tests is run."""
SUBNORMAL = "results may be subnormal"
REFUSED = "the words with which it is refused are others"
LEFT_OUT = {
    "arithmetic__float_binary[FDiv-divide-f16]": "Vulkan lets quotients be wrong by 2.5 ulp",
    "arithmetic__float_binary[FDiv-divide-f32]": "Vulkan lets quotients be wrong by 2.5 ulp",
    "arithmetic__float_binary[FDiv-divide-f64]": SUBNORMAL,
    "arithmetic__float_binary[FMul-multiply-f32]": SUBNORMAL,
    "arithmetic__float_binary[FMul-multiply-f64]": SUBNORMAL,
    "arithmetic__float_binary[FMod-remainder-f32]": SUBNORMAL,
    "arithmetic__shifts_by_any_amount": "such amounts are undefined",
    "arithmetic__vector_times_scalar_and_dot": "sums of products may be contracted",
    "conversions__float_to_float[f64-bf16-RTE]": SUBNORMAL,
    "conversions__cast_to_explicit_storage_gives_null_elsewhere": "pointers to local memory have no numbers there",
    "foreign_modules__constants_that_are_not_simulated": REFUSED,
    "quads__of_an_inactive_work_item_there_is_zero": "drivers have what they have",
    "quads__votes[OpGroupNonUniformQuadAllKHR-4-all]": "QuadControlKHR is for shaders of pictures",
    "quads__votes[OpGroupNonUniformQuadAnyKHR-4-any]": "QuadControlKHR is for shaders of pictures",
}
"""Tests, or single cases, that do not apply, and why not."""

globals().update({name: test for name, test in shared_tests().items()
                  if f"test_{name.partition('__')[0].removeprefix('test_')}" in SHARED})


def _without_subnormals(rng: np.random.Generator, kind: str, count: int = 256) -> np.ndarray:
    """Zeros in their place, of formats for which drivers may do so."""
    found = floats(rng, kind, count)
    is_subnormal = (found != 0) & (np.abs(found) < ml_dtypes.finfo(found.dtype).tiny)
    return found if kind == "f16" else np.where(is_subnormal, found * 0, found)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Each test once, with what its own module says of it."""
    for mark in marks_of(importlib.import_module(metafunc.function.__module__)):
        metafunc.definition.add_marker(mark)


@pytest.fixture(scope="module", autouse=True)
def _target() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(short_kernels, "TARGET", "vulkan")
        patch.setattr(short_kernels, "VALIDATES", True)
        for name in SHARED:
            module = importlib.import_module(f"tests.targets.simulator.{name}")
            if hasattr(module, "LANES"):
                patch.setattr(module, "LANES", cm.device("vulkan:0").sub_group_sizes[0])
            if hasattr(module, "floats"):
                patch.setattr(module, "floats", _without_subnormals)
        yield


@pytest.fixture(autouse=True)
def _applies(request: pytest.FixtureRequest) -> None:
    name = request.node.name.removeprefix("test_")
    for one in (name, name.partition("[")[0]):
        if one in LEFT_OUT:
            pytest.skip(LEFT_OUT[one])
    if zlib.crc32(name.encode()) % int(os.environ.get(EVERY, "1")):
        pytest.skip("of the long form")
