"""The simulator's options: what they may be, and the limits that end a kernel."""

from __future__ import annotations

import time

import numpy as np
import pytest

from coopmat.diagnostics import Error, SimulationError
from coopmat.targets.simulator import SimulatorOptions
from tests.kit.targets.short_kernels import module, run

COUNT_FOREVER = """
    OpBranch %head
    %head = OpLabel
    %v = OpLoad %i32 %out
    %w = OpIAdd %i32 %v %i32_c1
    OpStore %out %w
    OpBranch %head"""


@pytest.mark.parametrize(("name", "value", "expected"), [
    *(("step_limit", value, "an integer of at least 1") for value in ("a", None, 1.5, 0, -1, True)),
    *(("time_limit", value, "a positive number of seconds, or None") for value in (
        "a", 0, -1.0, float("nan"), float("inf"), True)),
    *(("printf_limit", value, "an integer of at least 0") for value in ("a", None, -1, 2.0, True)),
    ("races", "equal", "True, False or 'benign-equal'"),
    *((name, value, "True or False") for name in ("bounds", "convergence", "layouts", "undefined")
      for value in ("no", 2, None))])
def test_options_of_the_wrong_kind(name: str, value: object, expected: str) -> None:
    with pytest.raises(Error) as error:
        SimulatorOptions(**{name: value})
    assert str(error.value) == (f"the simulator's option {name} must be {expected}; found {value!r} of type "
                                f"{type(value).__name__}")


@pytest.mark.parametrize("options", [
    {"step_limit": np.int64(7)}, {"time_limit": 3}, {"time_limit": np.float32(0.5)}, {"bounds": np.bool_(False)},
    {"printf_limit": np.int32(0)}])
def test_options_may_be_numpy_values(options: dict[str, object]) -> None:
    for name, value in options.items():
        assert getattr(SimulatorOptions(**options), name) == value


@pytest.mark.parametrize(("options", "message"), [
    ({"step_limit": 500}, r"executed 500 basic blocks .*step_limit allows more"),
    ({"time_limit": 0.1}, r"run for 0.1 seconds .*time_limit allows more")])
def test_limits(options: dict[str, float], message: str) -> None:
    out = np.zeros(1, np.int32)
    start = time.monotonic()
    with pytest.raises(SimulationError, match=message):
        run(module("g_i32 out", COUNT_FOREVER), [out], 64, options=SimulatorOptions(races=False, **options))
    assert out[0] > 10
    assert time.monotonic() - start < 5


def test_every_check_is_on_by_default() -> None:
    checks = ("races", "bounds", "uninitialized", "convergence", "layouts", "overflow", "undefined")
    assert all(getattr(SimulatorOptions(), name) is True for name in checks)


def test_no_limit_stops_a_kernel_that_ends() -> None:
    """Thousands of iterations are far below the default step limit."""
    out = np.zeros(1, np.int32)
    run(module("g_i32 out", """
        OpBranch %head
        %head = OpLabel
        %i = OpPhi %i32 %i32_c0 %entry %i1 %head
        %i1 = OpIAdd %i32 %i %i32_c1
        OpStore %out %i1
        %on = OpSLessThan %bool %i1 %i32_c5000
        OpBranchConditional %on %head %end
        %end = OpLabel"""), [out], 16, options=SimulatorOptions(races=False, time_limit=100))
    assert out[0] == 5000
    assert SimulatorOptions().step_limit > 100 * out[0]
