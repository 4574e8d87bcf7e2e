"""The simulator's tests of what instructions do, on the CPU: their expectations come from plain Python and numpy."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from coopmat.targets.cpu.features import LEVELS, VARIABLE
from tests.kit.targets import short_kernels
from tests.targets import simulator

SIMULATORS = frozenset({
    "DataRace", "DivergentGroupOperation", "Misaligned", "OutOfBounds", "SimulationError", "UndefinedBehavior",
    "UninitializedRead", "SimulatorOptions", "simulator"})
"""What a test names that is about the simulator: its errors, its options, its own interface."""
NOT_SHARED = {
    "test_matrix_layouts": "the simulated devices' layouts",
    "test_options": "the simulator's options",
    **{f"test_launch.{name}": "arguments are checked before the CPU gets them: runtime/test_cpu_device.py" for name in (
        "test_arguments_that_do_not_fit", "test_local_memory_has_a_limit", "test_local_pointers_need_local_memory",
        "test_masked_arrays_are_refused")},
    **{f"test_launch.{name}": "the simulated devices' sizes of sub-groups" for name in (
        "test_a_sub_group_size_that_the_device_does_not_have", "test_the_first_sub_group_size_is_the_default")},
    "test_control.test_post_dominators_of_random_graphs": "runs no kernel",
    "test_matrix.test_tf32_and_bf16_interpretations": "sums rounded once: matrix/test_rows.py has the CPU's bound",
}
"""Modules and tests that do not apply, and why not."""
SLOW = ("test_groups_on_intel",)
"""Modules that only the long form has."""
VALIDATED = "test_foreign_modules"
"""The module whose kernels are also validated: the CPU takes what producers write."""
SAMPLE = ("test_composites", "test_dot_product", "test_matrix")
"""Modules whose tests also run in the short form with fewer features than the processor has."""


def _modules() -> Iterator[ModuleType]:
    for path in sorted(Path(simulator.__path__[0]).glob("test_*.py")):
        if path.stem not in NOT_SHARED:
            yield importlib.import_module(f"tests.targets.simulator.{path.stem}")


def _is_about_the_simulator(test: Callable[..., Any]) -> bool:
    """Whether a test names what only the simulator has; what ``refuses`` is given counts on the simulator alone."""
    inner = inspect.unwrap(getattr(getattr(test, "hypothesis", None), "inner_test", test))
    return bool(SIMULATORS & set(inner.__code__.co_names)) and "refuses" not in inner.__code__.co_names


def _shared() -> dict[str, Callable[..., Any]]:
    """The tests by the names that they have here."""
    found = {}
    for module in _modules():
        stem = module.__name__.rpartition(".")[2]
        for name, test in inspect.getmembers(module, inspect.isfunction):
            if (name.startswith("test_") and test.__module__ == module.__name__ and not _is_about_the_simulator(test)
                    and f"{stem}.{name}" not in NOT_SHARED):
                found[f"{stem}__{name.removeprefix('test_')}"] = test
    return found


globals().update(_shared())


def _marks(module: ModuleType) -> list[pytest.MarkDecorator]:
    """What a module says of all of its tests, the oracle that they need for instance."""
    marks = getattr(module, "pytestmark", [])
    return marks if isinstance(marks, list) else [marks]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Each test with all the features of the processor; with fewer in the long form, and those of the sample."""
    home = importlib.import_module(metafunc.function.__module__)
    module = home.__name__.rpartition(".")[2]
    is_long = metafunc.config.getoption("--long")
    marks = [*([pytest.mark.slow] if module in SLOW else []), *_marks(home)]
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
