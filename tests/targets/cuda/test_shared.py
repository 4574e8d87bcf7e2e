"""The simulator's tests of what instructions do, on an NVIDIA GPU: their expectations come from plain Python and numpy.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator

import pytest

from tests.kit.targets import short_kernels
from tests.kit.targets.shared_tests import VALIDATED, marks_of, shared_tests

ORDER = "the order of work-items and work-groups, which a GPU does not keep"
LEFT_OUT = {
    **dict.fromkeys((
        "test_atomics.test_integer_atomics", "test_atomics.test_float_atomics",
        "test_atomics.test_loads_stores_and_flags",
        "test_launch.test_built_ins", "test_launch.test_components_of_a_built_in_by_run_time_index",
        "test_matrix_windows.test_each_sub_group_has_its_own_window_and_the_last_one_wins",
        "test_memory.test_the_last_lane_wins", "test_reconvergence"), ORDER),
}
"""Modules and tests that do not apply to GPUs, and why not."""
OTHERS = {
    "matrix__matrix_types_that_are_refused[cuda-%bad = OpTypeCooperativeMatrixKHR %f32 %i32_c2 %i32_c16 %i32_c16 "
    "%i32_c2-must require a work-group size]": "a value that is not used is gone before its type is looked at",
    "group_operations__ballots_of_other_sub_group_sizes[cuda-64]": "there are no sub-groups of 64",
    "opencl_std__real_function[cuda-lgamma-f64]": "OpenCL leaves its error open; libdevice's is up to 10 ulp",
}
"""Single cases that do not apply, and why not."""

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
    name = request.node.name.removeprefix("test_")
    if name in OTHERS:
        pytest.skip(OTHERS[name])
    monkeypatch.setattr(short_kernels, "VALIDATES", request.function.__module__.endswith(VALIDATED))
