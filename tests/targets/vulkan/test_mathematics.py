"""OpenCL.std and conversions on lavapipe: as on the CPU, and within OpenCL's bounds."""

from __future__ import annotations

import pytest

from tests.kit.targets import on_vulkan

MODULE = "tests.kit.targets.vulkan_mathematics"
CASES = tuple(on_vulkan.cases_of(MODULE))
pytestmark = pytest.mark.oracle("lavapipe")


@pytest.mark.parametrize("case", CASES)
def test_case(case: str) -> None:
    found = on_vulkan.outcomes(MODULE, *CASES)[case]
    assert not found, found
