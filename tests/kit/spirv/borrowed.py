"""The simulator's tests of matrix functions and of windows, for those who ask the same of other forms of matrices."""

from __future__ import annotations

import inspect
from collections.abc import Collection, Iterator
from itertools import product

import pytest

from tests.targets.simulator import test_matrix_functions, test_matrix_windows

OF_WHOLE_MATRICES = {
    "test_a_layout_that_the_matrix_cannot_have", "test_a_window_larger_than_the_buffer",
    "test_components_of_four_bits_have_no_windows", "test_memory_that_cannot_be_written",
    "test_pointers_and_strides_of_whole_components", "test_sizes_have_no_sign"}
"""What they ask is how an error speaks of a matrix; of its parts the simulator says something else."""
_IN_SHORT = 5


def borrowed_tests(without: Collection[str] = ()) -> list[object]:
    """Parameters (function, arguments by name) for each case of each test but those with some names; of those of one
    test the most part is for long runs."""
    return [pytest.param(function, values, id=f"{name}-{'-'.join(map(str, values.values()))}"[:70],
                         marks=[pytest.mark.slow] if number % _IN_SHORT and number > _IN_SHORT else [])
            for module in (test_matrix_functions, test_matrix_windows)
            for name, function in inspect.getmembers(module, inspect.isfunction)
            if name.startswith("test_") and function.__module__ == module.__name__ and name not in without
            for number, values in enumerate(_cases(function))]


def _cases(function: object) -> Iterator[dict[str, object]]:
    """The arguments of a test: of each mark of parameters one choice."""
    marks = [mark for mark in getattr(function, "pytestmark", ()) if mark.name == "parametrize"]
    choices = [list(_choices(*mark.args)) for mark in marks]
    wanted = set(inspect.signature(function).parameters)  # type: ignore[arg-type]
    for chosen in product(*choices):
        values = {name: value for one in chosen for name, value in one.items()}
        if wanted == set(values):
            yield values


def _choices(names: object, values: object) -> Iterator[dict[str, object]]:
    keys = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)  # type: ignore[call-overload]
    for value in values:  # type: ignore[attr-defined]
        value = value.values if hasattr(value, "marks") else value
        is_one = len(keys) == 1 and not isinstance(value, tuple)
        yield dict(zip(keys, [value] if is_one or len(keys) == 1 else value, strict=True))
