"""The simulator's tests of what instructions do, on lavapipe: tests/kit/targets/vulkan_shared.py says which."""

from __future__ import annotations

import re

import pytest

from tests.kit.targets import on_vulkan
from tests.kit.targets.vulkan_shared import EVERY

FILE = "tests/kit/targets/vulkan_shared.py"
pytestmark = pytest.mark.oracle("lavapipe")


def check(every: int) -> None:
    """One in how many."""
    child = on_vulkan.run("-m", "pytest", "-n0", "-q", "-p", "no:cacheprovider", "--tb=short", FILE,
                          seconds=600, **{EVERY: str(every)})
    passed = re.search(r"(\d+) passed", child.stdout)
    assert child.returncode == 0, child.stdout[-6000:] + child.stderr[-2000:]
    assert passed is not None
    assert int(passed[1]) > 400 // every


def test_a_sample() -> None:
    check(8)


@pytest.mark.slow
def test_all_of_them() -> None:
    check(1)
