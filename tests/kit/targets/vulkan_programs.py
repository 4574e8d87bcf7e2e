"""The programs of tests/programs and the examples in Python on ``vulkan:0``, as cases of on_vulkan.py: each is a
function without parameters that fails if a result is wrong."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from functools import partial

import coopmat as cm
from tests.kit.paths import ROOT
from tests.programs.test_programs import SHAPE, shape_on

PROGRAMS = tuple(f"tests.programs.{file.stem}" for file in sorted((ROOT / "tests" / "programs").glob("*.py"))
                 if not file.stem.startswith("test_"))
EXAMPLES = tuple(f"examples.{file.stem}" for file in sorted((ROOT / "examples").glob("joint_matrix_*.py"))
                 if file.stem != "joint_matrix_tuned")  # it requires sub-groups of 16


def _program(module: str) -> None:
    program, device = importlib.import_module(module), cm.device("vulkan:0")
    program.check(device, *(shape_on(device, program) or SHAPE))


def _example(module: str) -> None:
    assert importlib.import_module(module).main(["vulkan:0"]) == 0


CASES: dict[str, Callable[[], None]] = {
    **{module.rpartition(".")[2]: partial(_program, module) for module in PROGRAMS},
    **{module.rpartition(".")[2]: partial(_example, module) for module in EXAMPLES}}


def __getattr__(name: str) -> Callable[[], None]:
    if name not in CASES:
        raise AttributeError(name)
    return CASES[name]
