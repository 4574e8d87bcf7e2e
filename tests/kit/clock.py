"""Bars for times that hold on machines of any speed, whatever else runs there.

A bar is for a machine on which :func:`_work` takes ``REFERENCE`` seconds. Where it takes longer, because the machine is
slower or busy, whatever is measured may take as many times as long.
"""

from __future__ import annotations

import argparse
import ast
import inspect
import time
from collections.abc import Callable

REFERENCE = 0.03  # seconds
TRIES = 5


def slowness() -> float:
    """How many times as long as on the reference machine everything takes here and now; at least 1."""
    return max(1.0, _work() / REFERENCE)


def _work() -> float:
    """The processor time of some work in Python: objects, attributes, calls and text, as a compiler has them."""
    start = time.process_time()
    ast.unparse(ast.parse(inspect.getsource(argparse)))
    return time.process_time() - start


def is_within(bar: float, seconds: float) -> bool:
    """Whether something that took so long has kept a bar."""
    return seconds < bar or seconds / slowness() < bar


def assert_takes_at_most(bar: float, measure: Callable[[], float]) -> None:
    """Measure something several times; once it has to keep the bar, as what only disturbs it now and then allows."""
    found = []
    for _ in range(TRIES):
        found.append((measure(), slowness()))
        if found[-1][0] / found[-1][1] < bar:
            return
    shown = ", ".join(f"{seconds:.3g} s where the machine takes {slow:.2f} times as long as it should"
                      for seconds, slow in found)
    raise AssertionError(f"expected at most {bar:g} s, found {shown}")
