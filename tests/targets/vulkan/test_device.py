"""``vulkan:0`` on lavapipe: kernels, arguments, memory, events and errors; Khronos's validation layer is silent."""

from __future__ import annotations

import pytest

from tests.kit.targets import on_vulkan
from tests.kit.targets.vulkan_cases import DISCRETE

MODULE = "tests.kit.targets.vulkan_cases"
CASES = tuple(on_vulkan.cases_of(MODULE))
pytestmark = pytest.mark.oracle("lavapipe")


@pytest.mark.parametrize("case", CASES)
def test_case(case: str) -> None:
    found = on_vulkan.outcomes(MODULE, *CASES, validation=True)[case]
    assert not found, found


WITH_COPIES = ("products", "local_arguments", "arrays_that_overlap", "null_pointers_and_const_ones", "large_arguments",
               "large_grids", "variables_of_the_program", "printing", "memory_of_the_device", "memory_that_both_reach",
               "too_much_memory")


@pytest.mark.parametrize("case", WITH_COPIES)
def test_case_with_memory_of_its_own(case: str) -> None:
    """As on a graphics card: arrays are copied there and back."""
    found = on_vulkan.outcomes(MODULE, *WITH_COPIES, validation=True, switch=DISCRETE)[case]
    assert not found, found
