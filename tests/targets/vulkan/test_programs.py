"""The programs of tests/programs, and the examples in Python, on lavapipe: against numpy."""

from __future__ import annotations

import pytest

from tests.kit.targets import on_vulkan
from tests.kit.targets.vulkan_programs import CASES

MODULE = "tests.kit.targets.vulkan_programs"
SHORT = ("lora", "cholesky", "mlp", "example_attention", "joint_matrix_gemm", "joint_matrix_quantized")
"""What runs in the short form, one after the other in one process. Lavapipe compiles the others for long."""
pytestmark = pytest.mark.oracle("lavapipe")


@pytest.mark.parametrize("case", SHORT)
def test_program(case: str) -> None:
    found = on_vulkan.outcomes(MODULE, *SHORT)[case]
    assert not found, found


@pytest.mark.slow
@pytest.mark.parametrize("case", sorted(CASES.keys() - set(SHORT)))
def test_program_that_takes_long(case: str) -> None:
    found = on_vulkan.outcomes(MODULE, case)[case]
    assert not found, found
