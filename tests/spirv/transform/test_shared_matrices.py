"""The simulator's tests of matrices and of Intel's built-ins hold for matrices in tiles, and for sub-group code."""

from __future__ import annotations

import importlib
import zlib

import pytest

from coopmat.diagnostics import Error
from coopmat.spirv import Module
from coopmat.spirv.edit.editor import Editor
from coopmat.spirv.edit.linker import link
from coopmat.spirv.transform import passes
from coopmat.spirv.transform.goal import Goal, MatrixSupport
from coopmat.targets import simulator
from tests.kit.targets.shared_tests import marks_of, shared_tests

FORMS = {  # passes and goal
    "tiles": (("cut", "fold"), Goal(tile=(2, 4, 4))),
    "plain": (("matrices", "fold"), Goal(driver=MatrixSupport("a driver without matrices"))),
    "intel": (("matrices", "fold"), Goal(driver=MatrixSupport("a driver of Intel's without matrices", moves="intel"))),
}
HOMES = {"tiles": ("matrix_functions", "matrix_windows"),
         "plain": ("matrix", "matrix_functions", "matrix_windows", "sub_group_matrix", "block_2d", "intel_subgroups"),
         "intel": ("matrix_functions", "sub_group_matrix")}
ONE_OF = 14  # cases of the short form
OTHERS = {
    **{f"plain matrix.test_components_by_{way}": "which work-item has which component is not as in the simulator"
       for way in ("value", "pointer")},
    **{f"{form} sub_group_matrix.test_float_rows": "asks for one rounding: test_matrices has the bound"
       for form in ("plain", "intel")},
    **{f"{form} sub_group_matrix.test_the_whole_sub_group_must_take_part": "each work-item computes by itself"
       for form in ("plain", "intel")},
    "tiles matrix_windows.test_components_of_four_bits_have_no_windows": "nobody uses what is loaded: it is removed",
}
"""Tests that do not apply to a form, and why not."""

globals().update({name: test for name, test in shared_tests().items()
                  if name.partition("__")[0].removeprefix("test_") in HOMES["plain"]})


def completed(module: Module) -> Module:
    """A short kernel with all capabilities and interfaces, of which those of the tests declare few."""
    try:
        return Editor(link([module], ["kernel"])).finish()
    except Error:
        return module


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Each test in each form that it is for; in the short form one of some, always the same."""
    home = importlib.import_module(metafunc.function.__module__)
    stem = home.__name__.rpartition("test_")[2]
    forms = [form for form, homes in HOMES.items() if stem in homes
             and f"{form} {stem}.{metafunc.function.__name__}" not in OTHERS]
    metafunc.parametrize("_form", [pytest.param(form, marks=marks_of(home)) for form in forms], indirect=True)


@pytest.fixture(autouse=True)
def _form(request: pytest.FixtureRequest, long_form: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if not long_form and zlib.crc32(request.node.name.encode()) % ONE_OF:
        pytest.skip("the long form of a sweep: run with --long")
    compile_, (names, goal) = simulator.compile, FORMS[request.param]

    def changed(module: Module, *more: object) -> object:
        module = completed(module)
        if not any(found.severity == "error" for found in module.validate()):
            module, _ = passes.transform(module, passes.chosen(names), goal)
            assert [found for found in module.validate() if found.severity == "error"] == []
        return compile_(module, *more)  # type: ignore[arg-type]

    monkeypatch.setattr(simulator, "compile", changed)
