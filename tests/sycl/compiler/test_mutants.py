"""Kernels that were changed at random are compiled, into a valid module, or refused at a place in their file."""

from __future__ import annotations

import signal
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import coopmat as cm
from coopmat.sycl.kernel import SyclKernel
from tests.kit.sycl.mutations import SEEDS, Mutator

SECONDS = 10  # of the processor's time, for one mutant
MANY = 5000


class TooSlow(Exception):
    """A mutant took longer than SECONDS."""


@contextmanager
def time_limit() -> Iterator[None]:
    def stop(*_: Any) -> None:
        raise TooSlow

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def defined_by(path: Path) -> list[SyclKernel]:
    """The kernels of a file; none if Python itself refuses it."""
    names: dict[str, Any] = {"__name__": "mutant", "__file__": str(path)}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            exec(compile(path.read_text(), path, "exec"), names)
    except Exception:
        return []
    return [found for found in names.values() if isinstance(found, SyclKernel)]


def built(kernel: SyclKernel, path: Path) -> str:
    """What became of a kernel: "built", or "refused". Anything else fails."""
    try:
        program = cm.build(kernel, device="sim:generic")
    except cm.CompileError as error:
        places = [diagnostic.header for diagnostic in error.diagnostics]
        return "refused" if places and all(place.startswith(f"{path}:") for place in places) else f"{places}"
    assert program.module.validate() == []
    return "built"


def check(seed: int, folder: Path) -> list[str]:
    path = folder / f"mutant_{seed}.py"
    mutator = Mutator(seed, SEEDS.read_text())
    path.write_text(mutator.mutate())
    try:
        with time_limit():
            found = [built(kernel, path) for kernel in defined_by(path) if kernel.name in mutator.kernels]
    except Exception as error:
        error.add_note(f"seed {seed}: {path}")
        raise
    assert set(found) <= {"built", "refused"}, f"seed {seed}: {path}"
    return found


def test_the_seeds_are_valid(tmp_path: Path) -> None:
    path = tmp_path / "seeds.py"
    path.write_text(SEEDS.read_text())
    assert [built(kernel, path) for kernel in defined_by(path)] == ["built"] * 6


def test_mutants(tmp_path: Path) -> None:
    found = [what for seed in range(100) for what in check(seed, tmp_path)]
    assert min(map(found.count, ("built", "refused"))) > 15


@pytest.mark.slow
def test_many_mutants(tmp_path: Path) -> None:
    for seed in range(1000, 1000 + MANY):
        check(seed, tmp_path)
