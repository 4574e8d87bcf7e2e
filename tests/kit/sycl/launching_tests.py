"""The tests of kernels in Python, for other devices than simulated ones: what they compute is compared with numpy."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Iterator
from typing import Any

from tests.kit.paths import ROOT

SYCL = ROOT / "tests" / "sycl"


def launching() -> Iterator[tuple[str, Callable[..., Any]]]:
    """The tests of tests/sycl that launch a kernel and compare what it computes, oracles apart."""
    for path in sorted(SYCL.rglob("test_*.py")):
        module = importlib.import_module(".".join(path.relative_to(ROOT).with_suffix("").parts))
        if hasattr(module, "pytestmark"):
            continue  # on Intel's runtime, or compiled with its compiler, whatever our device is
        for name, test in inspect.getmembers(module, inspect.isfunction):
            names = inspect.unwrap(test).__code__.co_names
            if (name.startswith("test_") and test.__module__ == module.__name__ and "launch" in names
                    and "raises" not in names):
                yield f"{path.stem}__{name.removeprefix('test_')}", test
