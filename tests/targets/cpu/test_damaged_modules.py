"""Damaged and hostile modules on the CPU: each kernel is compiled or refused with an Error, and never the interpreter
dies or another exception comes. What is compiled is valid, tolerated rules apart."""

from __future__ import annotations

import itertools

import pytest

import coopmat as cm
from coopmat.spirv import Module
from coopmat.spirv.validate import validate
from coopmat.targets.base.validity import TOLERATED
from coopmat.targets.cpu.features import VARIABLE
from coopmat.targets.cpu.program import CpuProgram
from tests.kit.fuzz.targets import SLOW
from tests.kit.spirv.hostile import HOSTILE
from tests.kit.spirv.mutations import mutants

LEVELS = ("avx512", "avx2", "baseline")
SHORT, LONG, PART = 120, 6000, 60
MOST_KERNELS = 16  # of a module
WITH_KERNELS = ("recursion", "many kernels one function")
LLVM_SECONDS = "20"  # more than any kernel here needs


def compiled(data: bytes) -> tuple[int, list[str]]:
    """How many kernels of a module could be compiled, and why the others, or all of it, were refused."""
    device = cm.device("cpu")
    found, refusals = 0, []
    try:
        program = cm.build(data, device=device).load(device)
    except cm.Error as error:
        return 0, [str(error)]
    assert isinstance(program, CpuProgram)
    for name, signature in itertools.islice(program.signatures.items(), MOST_KERNELS):
        try:
            program.compile(name, program.variant(signature, signature.work_group_size or (32, 1, 1)))
            found += 1
        except cm.Error as error:
            refusals.append(str(error))
    return found, refusals


def check(first: int, count: int, level: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, level)
    monkeypatch.setenv("COOPMAT_LLVM_TIME_LIMIT", LLVM_SECONDS)
    total = 0
    for mutant in mutants(first, count):
        try:
            found, refusals = compiled(mutant.data)
        except Exception as error:
            pytest.fail(f"mutant {mutant.seed} ({mutant.what}): {type(error).__name__}: {error}")
        assert not any(SLOW in text for text in refusals), f"mutant {mutant.seed} ({mutant.what}): {refusals}"
        if found:
            broken = [one for one in validate(Module.from_bytes(mutant.data)) if one.severity == "error"]
            assert {one.rule for one in broken} <= TOLERATED, f"mutant {mutant.seed} ({mutant.what}): {broken[0]}"
        total += found
    assert total > 0, "not one kernel was compiled"


@pytest.mark.parametrize("part", range(SHORT // PART))
def test_mutants(part: int, monkeypatch: pytest.MonkeyPatch) -> None:
    check(1 + part * PART, PART, LEVELS[part % len(LEVELS)], monkeypatch)


@pytest.mark.slow
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("first", range(1001, 1001 + LONG, 500))
def test_mutants_long(first: int, level: str, monkeypatch: pytest.MonkeyPatch) -> None:
    check(first, 500, level, monkeypatch)


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_modules(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COOPMAT_LLVM_TIME_LIMIT", LLVM_SECONDS)
    found, refusals = compiled(HOSTILE[name]())
    assert not any(SLOW in text for text in refusals)
    assert found or refusals or name not in WITH_KERNELS
