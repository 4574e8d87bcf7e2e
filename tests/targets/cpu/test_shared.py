"""The simulator's tests of what instructions do, on the CPU: their expectations come from plain Python and numpy."""

from __future__ import annotations

import importlib
from collections.abc import Iterator

import pytest

from coopmat.targets.cpu.features import LEVELS, VARIABLE
from tests.kit.targets import short_kernels
from tests.kit.targets.shared_tests import VALIDATED, marks_of, shared_tests

SLOW = ("test_groups_on_intel",)
"""Modules that only the long form has."""
SAMPLE = ("test_composites", "test_dot_product", "test_matrix")
"""Modules whose tests also run in the short form with fewer features than the processor has."""

globals().update(shared_tests())


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Each test with all the features of the processor; with fewer in the long form, and those of the sample."""
    home = importlib.import_module(metafunc.function.__module__)
    module = home.__name__.rpartition(".")[2]
    is_long = metafunc.config.getoption("--long")
    marks = [*([pytest.mark.slow] if module in SLOW else []), *marks_of(home)]
    levels = [pytest.param(name, marks=marks) for name in LEVELS if name == "amx" or module in SAMPLE or is_long]
    metafunc.parametrize("_features", levels, indirect=True, scope="module")


@pytest.fixture(scope="module", autouse=True)
def _features(request: pytest.FixtureRequest) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(short_kernels, "TARGET", "cpu")
        patch.setenv(VARIABLE, request.param)
        yield


@pytest.fixture(autouse=True)
def _validated(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(short_kernels, "VALIDATES", request.function.__module__.endswith(VALIDATED))
