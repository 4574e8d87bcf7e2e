"""The import graph: rooms from the top down, no circles, and an ``import coopmat`` that loads no more than it must.

All imports count: those at the top of a file, those for types only, and those inside functions.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.kit.paths import ROOT

SOURCE = ROOT / "src"

ROOMS = """
__main__
command_line
probing             experiments on arithmetic, which run kernels in Python as users do
coopmat             the public names
sycl
torch               kernels as operators of PyTorch
tuning
machines            farms of machines, and sweeps
comparison          one launch on several devices
runtime
report              what a launch does and why it is slow, counted on a simulated device
debugger            what stops, shows and replays kernels on simulated devices
targets.simulator
targets.cpu
targets.cuda
targets.amdgpu
targets.opencl
targets.vulkan
targets.llvm
targets.base
targets.analysis
targets
opencl
lowering
llvm
spirv
tree
layout
numerics
devices
formats
support
diagnostics
"""
"""The rooms from the top down: each imports those below it only.  The first word of a line is the name."""

NAMES = [line.split()[0] for line in ROOMS.split("\n") if line]
FRONT_ENDS = ("opencl", "sycl")
TARGETS = ("targets.simulator", "targets.cpu", "targets.cuda", "targets.amdgpu", "targets.opencl", "targets.vulkan")
IMPORT_SYCL = ("coopmat", "probing")
LARGEST_CIRCLE = 2

NOT_AT_START = (
    "llvmlite", "typer", "rich", "click", "jinja2", "torch", "cuda", "pyopencl",
    "coopmat.command_line", "coopmat.comparison", "coopmat.debugger", "coopmat.probing", "coopmat.report",
    "coopmat.sycl", "coopmat.opencl", "coopmat.lowering", "coopmat.tree", "coopmat.llvm", "coopmat.spirv.edit.editor",
    "coopmat.spirv.edit.linker", "coopmat.spirv.text.assembler",
    "coopmat.spirv.transform", "coopmat.spirv.validate", "coopmat.targets.cpu.program",
    "coopmat.targets.simulator.kernel", "coopmat.targets.simulator.launch", "coopmat.torch", "coopmat.tuning",
)
"""What ``import coopmat`` does not load: libraries and modules that most processes never need, or that are slow to
load."""


def name_of(file: Path) -> str:
    parts = file.relative_to(SOURCE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def graph() -> dict[str, frozenset[str]]:
    """Module → the modules of the package that it imports."""
    files = {name_of(file): file for file in SOURCE.rglob("*.py")}
    return {name: frozenset(_imported(ast.parse(file.read_text()), files)) - {name} for name, file in files.items()}


def _imported(tree: ast.Module, files: dict[str, Path]) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in files)
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, "imports in this package are absolute"
            for alias in node.names:
                full = f"{node.module}.{alias.name}"
                if full in files or node.module in files:
                    yield full if full in files else str(node.module)


def reached_from(start: str) -> set[str]:
    """All modules that a module imports, directly or not."""
    found: set[str] = set()
    waiting = [start]
    while waiting:
        new = graph()[waiting.pop()] - found
        found |= new
        waiting += new
    return found


def circles() -> set[frozenset[str]]:
    """The sets of modules in which each imports each, directly or not."""
    reached = {name: reached_from(name) for name in graph()}
    return {frozenset(other for other in reached[name] if name in reached[other])
            for name in graph() if name in reached[name]}


def room_of(module: str) -> str:
    """The room that a module belongs to: the longest name in the table that its own begins with."""
    inside = module.removeprefix("coopmat.")
    found = [name for name in NAMES if inside == name or inside.startswith(f"{name}.")]
    return max(found, key=len, default="")


@cache
def arrows() -> dict[tuple[str, str], list[str]]:
    """Two rooms → the imports that lead from the first to the second."""
    found: dict[tuple[str, str], list[str]] = {}
    for module, imported in graph().items():
        for other in imported:
            if room_of(module) != room_of(other):
                found.setdefault((room_of(module), room_of(other)), []).append(f"{module} imports {other}")
    return found


def forbidden(pairs: set[tuple[str, str]]) -> list[str]:
    """The imports from the first to the second of each of these pairs of rooms."""
    return sorted(text for pair in pairs for text in arrows().get(pair, ()))


def test_no_circle_is_larger_than_two_files() -> None:
    large = [sorted(circle) for circle in circles() if len(circle) > LARGEST_CIRCLE]
    assert not large


def test_every_module_has_a_room() -> None:
    assert not [module for module in graph() if not room_of(module)]


def test_no_arrow_runs_back_up() -> None:
    assert not forbidden({(lower, upper) for index, upper in enumerate(NAMES) for lower in NAMES[index + 1:]})


def test_targets_know_nothing_of_each_other() -> None:
    assert not forbidden({(one, other) for one in TARGETS for other in TARGETS})


def test_front_ends_and_targets_know_nothing_of_each_other() -> None:
    rooms = [name for name in NAMES if name.startswith("targets")]
    assert not forbidden({pair for end in FRONT_ENDS for room in rooms for pair in ((end, room), (room, end))})
    assert not forbidden({(one, other) for one in FRONT_ENDS for other in FRONT_ENDS})


def test_nothing_but_the_public_package_imports_sycl() -> None:
    assert not forbidden({(room, "sycl") for room in NAMES if room not in IMPORT_SYCL})


@pytest.fixture(scope="module")
def at_start() -> list[str]:
    """The modules that ``import coopmat`` loads."""
    code = "import sys, coopmat; print(*sys.modules)"
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()


@pytest.mark.parametrize("name", NOT_AT_START)
def test_importing_the_package_stays_light(at_start: list[str], name: str) -> None:
    assert not [module for module in at_start if module == name or module.startswith(f"{name}.")]
