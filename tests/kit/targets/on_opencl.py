"""What children do that see a driver of OpenCL: each function takes a job and returns what is wrong, or nothing."""

from __future__ import annotations

import importlib
import traceback
from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np

import coopmat as cm
from tests.kit.cases import CASES, copies

SEED = 20


def _caught(function: Callable[[Any], str | None]) -> Callable[[Any], str]:
    """A function that returns the traceback of an exception."""
    @wraps(function)
    def caught(job: Any) -> str:
        try:
            return function(job) or ""
        except BaseException:
            return traceback.format_exc()[-3000:]
    return caught


@_caught
def case(name: str) -> None:
    """A function of tests/kit/targets/opencl_cases.py."""
    getattr(importlib.import_module("tests.kit.targets.opencl_cases"), name)()


@_caught
def program(name: str) -> None:
    """A program of tests/programs, in tiles of the first shape that it takes."""
    from tests.programs.test_programs import shape_on

    found, device = importlib.import_module(f"tests.programs.{name}"), cm.device("opencl:0")
    shape = shape_on(device, found)
    assert shape is not None
    found.check(device, *shape)


@_caught
def random_kernel(seed: int) -> str:
    """A random kernel, beside the simulator."""
    from tests.kit.fuzz.targets import of_source

    return of_source(seed, "opencl:0")


@_caught
def random_graph(seed: int) -> str:
    """A kernel of a random control flow graph, beside the simulator."""
    from tests.kit.fuzz.targets import of_graph

    return of_graph(seed, "opencl:0")


@_caught
def example(name: str) -> None:
    """A kernel of tests/kit/cases.py, with the results that it should have."""
    device = cm.device("opencl:0")
    one = next(found for found in CASES if found.name == name).for_sub_groups_of(device.sub_group_sizes[0])
    arguments = one.arguments(np.random.default_rng(SEED))
    expected = one.expected(copies(arguments))
    one.run(cm.build(one.source, one.options, device), device, arguments)
    for index, result in expected.items():
        np.testing.assert_array_equal(arguments[index], result, err_msg=f"argument {index}")
