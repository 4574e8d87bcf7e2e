"""Matrices of work-groups compute the same on lavapipe as numpy, by way of matrices of sub-groups."""

from __future__ import annotations

import pytest

from tests.kit.targets import on_vulkan

MODULE = "tests.kit.targets.vulkan_work_groups"
NAMES = tuple(on_vulkan.cases_of(MODULE))


@pytest.mark.oracle("lavapipe")
@pytest.mark.parametrize("name", NAMES)
def test_products(name: str) -> None:
    found = on_vulkan.outcomes(MODULE, *NAMES)[name]
    assert not found, found
