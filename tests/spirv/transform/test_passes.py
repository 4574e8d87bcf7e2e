"""Every test kernel, example and many random programs compute the same after each pass, bit for bit; what a pass gives
is valid for our validator and SPIRV-Tools'."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from functools import cache

import numpy as np
import pytest

import coopmat as cm
from coopmat.spirv import Module
from coopmat.spirv.grammar import Capability
from coopmat.spirv.transform import passes
from coopmat.spirv.transform.goal import Goal
from tests.kit.cases import CASES, Case, copies
from tests.kit.fuzz import generator, kernels_for_targets, modelled_matrices, random_graphs, targets
from tests.kit.fuzz.executions import Result, attempt, same, simulate
from tests.kit.lenient import lenient
from tests.kit.spirv.corpus import CASES as CORPUS

SEED = 20
VALID_CASES = [case for case in CORPUS if not case.rules and not case.words and not case.cut][::8]
"""A part of them: a validation before and after each pass takes its time."""
USUAL = tuple(one.name for one in passes.usual())
EACH = [(one.name,) for one in passes.PASSES]
ALIKE = [(one.name,) for one in passes.PASSES if one.is_launched_alike]


def transformed(module: Module, names: tuple[str, ...]) -> Module:
    """The module after some passes: a valid one."""
    changed, _ = passes.transform(module, passes.chosen(names))
    assert [found for found in changed.validate() if found.severity == "error"] == []
    return changed


def refused_by_spirv_val(module: Module) -> str:
    """What SPIRV-Tools' validator says of a module; empty where it accepts it, or does not know its extensions."""
    if "SPV_INTEL_joint_matrix" in module.extensions:
        return ""
    found = subprocess.run(["spirv-val", "-"], input=module.to_bytes(), capture_output=True, check=False)
    return (found.stdout + found.stderr).decode() if found.returncode else ""


# --- test kernels and examples ---------------------------------------------------------


@cache
def built(case: Case) -> cm.Program:
    return cm.build(case.source, case.options)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_kernels(case: Case, long_form: bool, capsys: pytest.CaptureFixture[str]) -> None:
    """After all passes; in the long form after each one by itself, too."""
    for names in (USUAL, *(ALIKE if long_form else ())):
        arguments = case.arguments(np.random.default_rng(SEED))
        expected, printed = case.expected(copies(arguments)), case.printed(arguments)
        case.run(cm.build(transformed(built(case).module, names)), cm.device("sim:generic"), arguments)
        for index, result in expected.items():
            np.testing.assert_array_equal(arguments[index], result, err_msg=f"argument {index} after {names}")
        assert sorted(capsys.readouterr().out.splitlines()) == sorted(printed)


@pytest.mark.oracle("spirv-val")
def test_spirv_val_accepts_what_passes_give(long_form: bool) -> None:
    """In the short form each pass takes one in twelve cases."""
    for number, case in enumerate(CASES):
        module = built(case).module
        if not refused_by_spirv_val(module):
            for names in (USUAL, *(EACH if long_form else EACH[number % 12::12])):
                assert not refused_by_spirv_val(transformed(module, names)), (case.name, names)


# --- random programs -------------------------------------------------------------------


def of_source(seed: int) -> tuple[bytes, Callable[[bytes], Result]]:
    kernel = generator.generate(seed)
    return cm.build(kernel.source).spirv, lambda spirv: attempt(lambda: simulate(cm.build(spirv), kernel))


def of_groups(seed: int) -> tuple[bytes, Callable[[bytes], Result]]:
    kernel = kernels_for_targets.generate(seed)
    return cm.build(kernel.source).spirv, lambda spirv: targets.on_device(spirv, kernel, "sim:generic")


def of_graph(seed: int) -> tuple[bytes, Callable[[bytes], Result]]:
    graph = random_graphs.generate(seed)
    return graph.spirv, lambda spirv: targets.on_device(spirv, graph, "sim:generic")


def of_matrices(seed: int) -> tuple[bytes, Callable[[bytes], Result]]:
    kernel = modelled_matrices.generate(seed)

    def launched(spirv: bytes) -> Result:
        def launch() -> list[np.ndarray]:
            arguments = kernel.arguments()
            size = kernel.sub_group_size
            cm.Queue(lenient("sim:generic")).enqueue(cm.build(spirv).kernel("k"), size, size, *arguments).wait()
            return arguments[:1]

        return attempt(launch)

    return cm.build(kernel.source).spirv, launched


def of_optimised(seed: int) -> tuple[bytes, Callable[[bytes], Result]]:
    """What LLVM's optimiser makes of a kernel: phis and other graphs."""
    kernel = kernels_for_targets.generate(seed)
    spirv = cm.build(kernel.source).optimized(1 + seed % 3).spirv
    return spirv, lambda changed: targets.on_device(changed, kernel, "sim:generic")


SHORT = {of_source: range(6), of_groups: range(6), of_graph: range(20), of_matrices: range(4),
         of_optimised: range(40, 43)}
LONG = {of_source: range(3000, 3200), of_groups: range(3000, 3200), of_graph: range(3000, 3400),
        of_matrices: range(3000, 3150), of_optimised: range(3000, 3100)}


def check_random(make: Callable[[int], tuple[bytes, Callable[[bytes], Result]]], seed: int,
                 chains: list[tuple[str, ...]]) -> None:
    spirv, run = make(seed)
    expected, module = run(spirv), Module.from_bytes(spirv)
    assert not isinstance(expected, str), expected
    judged = shutil.which("spirv-val") is not None and not refused_by_spirv_val(module)
    for names in chains:
        changed = transformed(module, names)
        assert not judged or not refused_by_spirv_val(changed), (seed, names)
        found = run(changed.to_bytes())
        assert same(found, expected), f"seed {seed} after {names}: {found if isinstance(found, str) else 'differs'}"


@pytest.mark.parametrize("make", SHORT, ids=lambda make: make.__name__)
def test_random_programs(make: Callable[[int], tuple[bytes, Callable[[bytes], Result]]]) -> None:
    for seed in SHORT[make]:
        check_random(make, seed, [USUAL, ALIKE[seed % len(ALIKE)]])


@pytest.mark.slow
@pytest.mark.parametrize("make", LONG, ids=lambda make: make.__name__)
def test_random_programs_long(make: Callable[[int], tuple[bytes, Callable[[bytes], Result]]]) -> None:
    for seed in LONG[make]:
        check_random(make, seed, [USUAL, *ALIKE])


# --- whatever is valid -----------------------------------------------------------------


def test_every_valid_module_of_the_corpus(long_form: bool) -> None:
    """What is valid before is valid after; modules of shaders are refused in words. In the short form each pass takes
    one in three cases."""
    goal = Goal(None, (4, 4, 4))
    for number, case in enumerate(VALID_CASES):
        module = Module.from_text(case.text)
        if Capability.Shader in module.capabilities:
            with pytest.raises(cm.Error, match="the passes take modules of kernels"):
                passes.transform(module, passes.usual(), goal)
            continue
        for names in (USUAL, *(EACH if long_form else EACH[number % 3::3])):
            changed, _ = passes.transform(module, passes.chosen(names), goal)
            assert not [found for found in changed.validate() if found.severity == "error"], (case.name, names)
