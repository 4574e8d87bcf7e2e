"""The simulator's tests of what instructions do: their kernels as PTX for every kind of chip, assembled by ptxas.

The simulator runs them, so that every kernel of a test is reached.
"""

from __future__ import annotations

import importlib
import zlib
from collections.abc import Iterator

import pytest

from tests.kit.targets import short_kernels
from tests.kit.targets.ptx import NAMES
from tests.kit.targets.shared_tests import VALIDATED, marks_of, shared_tests

SHORT = ("sm_90a",)
ONE_OF = 40  # tests of the short form

OTHERS = {"group_operations__ballots_of_other_sub_group_sizes[ptx-64]": "there are no sub-groups of 64"}
"""Single cases that do not apply, and why not."""

globals().update(shared_tests())


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Each test once; in the short form one of some dozens, always the same."""
    home = importlib.import_module(metafunc.function.__module__)
    is_short = zlib.crc32(f"{home.__name__}.{metafunc.function.__name__}".encode()) % ONE_OF == 0
    marks = [*marks_of(home), *([] if is_short else [pytest.mark.slow])]
    metafunc.parametrize("_target", [pytest.param("ptx", marks=marks)], indirect=True, scope="module")


@pytest.fixture(scope="module", autouse=True)
def _target(request: pytest.FixtureRequest, long_form: bool) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(short_kernels, "TARGET", request.param)
        patch.setattr(short_kernels, "PTX_CHIPS", NAMES if long_form else SHORT)
        yield


@pytest.fixture(autouse=True)
def _validated(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    name = request.node.name.removeprefix("test_")
    if name in OTHERS:
        pytest.skip(OTHERS[name])
    monkeypatch.setattr(short_kernels, "VALIDATES", request.function.__module__.endswith(VALIDATED))
