"""Every example and test kernel, and the Python kernels of tests/sycl, on the CPU: results as on the simulator."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
import pytest

import coopmat as cm
from coopmat.targets.cpu.features import LEVELS, VARIABLE
from tests.kit.cases import CASES, Case, copies
from tests.kit.oracles import intel_runtime
from tests.kit.sycl import launches
from tests.kit.sycl.launching_tests import launching

SEED = 20
WITHOUT_MATRICES = ("control", "memory", "vectors", "extensions", "dot_products", "async_copies", "printing")
"""Files whose kernels Intel's runtime runs on every processor."""


@cache
def built(case: Case) -> cm.Program:
    return cm.build(case.source, case.options)


def given(case: Case) -> list[Any]:
    """The same random arguments each time."""
    return case.arguments(np.random.default_rng(SEED))


@pytest.mark.parametrize("level", [level if level == "amx" else pytest.param(level, marks=pytest.mark.slow)
                                   for level in LEVELS])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_examples_and_kernels(case: Case, level: str, monkeypatch: pytest.MonkeyPatch,
                              capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv(VARIABLE, level)
    arguments = given(case)
    expected, printed = case.expected(copies(arguments)), case.printed(arguments)
    case.run(built(case), cm.device("cpu"), arguments)
    for index, result in expected.items():
        np.testing.assert_array_equal(arguments[index], result, err_msg=f"argument {index}")
    assert sorted(capsys.readouterr().out.splitlines()) == sorted(printed)


@pytest.mark.oracle("intel-opencl")
@pytest.mark.slow
@pytest.mark.parametrize("case", [case for case in CASES if case.source.stem in WITHOUT_MATRICES and
                                  not case.printed(given(case))], ids=lambda case: case.name)
def test_intels_runtime_computes_the_same(case: Case) -> None:
    """The same numbers in every array that a kernel writes."""
    program, arguments = built(case), given(case)
    bound = program.kernel(case.kernel).bound(copies(arguments))
    theirs = intel_runtime.run(program.spirv, case.kernel, case.global_size, case.local_size, [
        ("local", value.nbytes) if isinstance(value, cm.LocalMemory) else value for value in bound])
    case.run(program, cm.device("cpu"), arguments)
    for index in case.expected(given(case)):
        np.testing.assert_array_equal(arguments[index], theirs[index], err_msg=f"argument {index}")


# ------------------------------------------------------------------ Python kernels

@pytest.fixture(scope="module", autouse=True)
def _on_the_cpu() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(launches, "DEVICE", "cpu")
        yield


globals().update(launching())
