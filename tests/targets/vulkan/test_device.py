"""``vulkan:0`` on lavapipe: kernels, arguments, memory, events and errors; Khronos's validation layer is silent."""

from __future__ import annotations

import pytest

from tests.kit.targets import on_vulkan

MODULE = "tests.kit.targets.vulkan_cases"
CASES = tuple(on_vulkan.cases_of(MODULE))
pytestmark = pytest.mark.oracle("lavapipe")


@pytest.mark.parametrize("case", CASES)
def test_case(case: str) -> None:
    found = on_vulkan.outcomes(MODULE, *CASES, validation=True)[case]
    assert not found, found
