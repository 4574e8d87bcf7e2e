"""The simulator's tests of what instructions do, on an NVIDIA GPU: their expectations come from plain Python and numpy.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator

import pytest

from tests.kit.targets import short_kernels
from tests.kit.targets.shared_tests import VALIDATED, marks_of, shared_tests

LEFT_OUT: dict[str, str] = {}
"""Modules and tests that do not apply to GPUs, and why not."""

globals().update(shared_tests(LEFT_OUT))


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Each test once, where there is a GPU."""
    home = importlib.import_module(metafunc.function.__module__)
    marks = [pytest.mark.oracle("cuda"), *marks_of(home)]
    metafunc.parametrize("_target", [pytest.param("cuda", marks=marks)], indirect=True, scope="module")


@pytest.fixture(scope="module", autouse=True)
def _target(request: pytest.FixtureRequest) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(short_kernels, "TARGET", request.param)
        yield


@pytest.fixture(autouse=True)
def _validated(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(short_kernels, "VALIDATES", request.function.__module__.endswith(VALIDATED))
