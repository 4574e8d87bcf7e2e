"""The tests of places and control flow once more, with Intel's CPU runtime in the simulator's place."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from coopmat.lowering import to_spirv
from coopmat.tree import nodes as n
from tests.kit.oracles import intel_runtime
from tests.lowering import test_control_flow, test_places


def run_on_driver(program: n.Program, name: str, items: int, *arguments: Any, local: int | None = None) -> None:
    """:func:`tests.kit.lowering.trees.run`, on the driver."""
    arrays = [np.asarray(argument) for argument in arguments]
    results = intel_runtime.run(to_spirv(program).to_bytes(), name, (items,), (local or items,), arrays)
    for array, result in zip(arrays, results, strict=True):
        if array.ndim:
            array[...] = result


def plain_tests() -> list[Callable[[], None]]:
    """The tests without parameters and fixtures."""
    return [test for module in (test_places, test_control_flow) for name, test in sorted(vars(module).items())
            if name.startswith("test_") and not inspect.signature(test).parameters and not hasattr(test, "hypothesis")]


@pytest.mark.oracle("intel-opencl")
@pytest.mark.parametrize("test", plain_tests(), ids=lambda test: test.__name__)
def test_the_driver_agrees(test: Callable[[], None], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules[test.__module__], "run", run_on_driver)
    test()
