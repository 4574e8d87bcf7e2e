"""Oclgrind's own tests: what it finds is found here, or docs/checking.md says why not."""

from __future__ import annotations

import re

import numpy as np
import pytest

import coopmat as cm
from tests.kit.oracles.oclgrind_tests import OclgrindTest, every
from tests.kit.paths import ROOT

ROW = re.compile(r"^\| `([\w-]+/\w+)` \| (.*?) \| (.*?) \| .+ \|$", re.MULTILINE)
DIFFERENCES = {name: found.strip("`") for name, _, found in ROW.findall((ROOT / "docs" / "checking.md").read_text())}
BENIGN = ("data-race/uniform_write_race", "misc/vector_argument")
CASES = [pytest.param(test, id=test.name) for test in every()] or [pytest.param(None, id="absent")]


@pytest.mark.oracle("oclgrind-tests")
@pytest.mark.parametrize("test", CASES)
def test_what_oclgrind_finds(test: OclgrindTest) -> None:
    found, results = _outcome(test)
    expected = {DIFFERENCES[test.name]} if test.name in DIFFERENCES else test.expected or {"nothing"}
    assert found in expected
    if found == "nothing":
        _check_values(test, results)


def _outcome(test: OclgrindTest) -> tuple[str, dict[str, np.ndarray]]:
    """The class of the error that a test raises, or nothing; and what it computes."""
    try:
        return "nothing", test.run(cm.device("sim:generic"))
    except cm.Error as error:
        return type(error).__name__, {}


@pytest.mark.oracle("oclgrind-tests")
def test_stores_of_equal_values_may_pass() -> None:
    device = cm.device("sim:generic", options=cm.SimulatorOptions(races="benign-equal"))
    for test in every():
        if test.name in BENIGN:
            _check_values(test, test.run(device))


@pytest.mark.oracle("oclgrind-tests")
def test_the_page_counts_them() -> None:
    page = (ROOT / "docs" / "checking.md").read_text()
    found = every()
    wrong = [test.name for test in found if test.expected]
    assert {test.name for test in found} >= set(DIFFERENCES)
    assert f"{len(found)} tests" in page
    assert f"{len(wrong)} have a mistake" in page


def _check_values(test: OclgrindTest, results: dict[str, np.ndarray]) -> None:
    for place, value in test.values.items():
        name, _, index = place.rstrip("]").partition("[")
        np.testing.assert_allclose(results[name].reshape(-1)[int(index)], value, rtol=1e-4, err_msg=place)
