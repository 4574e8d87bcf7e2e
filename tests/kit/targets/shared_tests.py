"""The simulator's tests of what instructions do, for other targets.

Their expectations come from plain Python and numpy.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tests.targets import simulator

SIMULATORS = frozenset({
    "DataRace", "DivergentGroupOperation", "Misaligned", "OutOfBounds", "SimulationError", "UndefinedBehavior",
    "UninitializedRead", "SimulatorOptions", "simulator"})
"""What a test names that is about the simulator: its errors, its options, its own interface."""
NOT_SHARED = {
    "test_matrix_layouts": "the simulated devices' layouts",
    "test_options": "the simulator's options",
    **{f"test_launch.{name}": "arguments are checked before targets get them: runtime/test_cpu_device.py" for name in (
        "test_arguments_that_do_not_fit", "test_local_memory_has_a_limit", "test_local_pointers_need_local_memory",
        "test_masked_arrays_are_refused")},
    **{f"test_launch.{name}": "the simulated devices' sizes of sub-groups" for name in (
        "test_a_sub_group_size_that_the_device_does_not_have", "test_the_first_sub_group_size_is_the_default")},
    "test_control.test_post_dominators_of_random_graphs": "runs no kernel",
    "test_matrix.test_tf32_and_bf16_interpretations": "sums rounded once: matrix/test_rows.py has the CPU's bound",
}
"""Modules and tests that do not apply, and why not."""
VALIDATED = "test_foreign_modules"
"""The module whose kernels are also validated: compiled targets take what producers write."""


def modules(left_out: Collection[str]) -> Iterator[ModuleType]:
    """The modules of the simulator's tests."""
    for path in sorted(Path(simulator.__path__[0]).glob("test_*.py")):
        if path.stem not in NOT_SHARED and path.stem not in left_out:
            yield importlib.import_module(f"tests.targets.simulator.{path.stem}")


def _is_about_the_simulator(test: Callable[..., Any]) -> bool:
    """Whether a test names what only the simulator has; what ``refuses`` is given counts on the simulator alone."""
    inner = inspect.unwrap(getattr(getattr(test, "hypothesis", None), "inner_test", test))
    return bool(SIMULATORS & set(inner.__code__.co_names)) and "refuses" not in inner.__code__.co_names


def shared_tests(left_out: Collection[str] = ()) -> dict[str, Callable[..., Any]]:
    """The tests by the names that they have elsewhere. ``left_out``: modules and tests that a target does not have."""
    found = {}
    for module in modules(left_out):
        stem = module.__name__.rpartition(".")[2]
        for name, test in inspect.getmembers(module, inspect.isfunction):
            if (name.startswith("test_") and test.__module__ == module.__name__ and not _is_about_the_simulator(test)
                    and f"{stem}.{name}" not in NOT_SHARED and f"{stem}.{name}" not in left_out):
                found[f"{stem}__{name.removeprefix('test_')}"] = test
    return found


def marks_of(module: ModuleType) -> list[pytest.MarkDecorator]:
    """What a module says of all of its tests, the oracle that they need for instance."""
    marks = getattr(module, "pytestmark", [])
    return marks if isinstance(marks, list) else [marks]
