"""Damaged and hostile modules: each is refused, or read, written and validated, in bounded time and memory."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import pytest

from coopmat.devices import describe
from coopmat.diagnostics import Error, ValidationError
from coopmat.runtime.program import Program
from coopmat.spirv import Module
from coopmat.targets.base.modules import check
from tests.kit.clock import is_within
from tests.kit.paths import ROOT
from tests.kit.spirv.hostile import HOSTILE
from tests.kit.spirv.mutations import mutants

SHORT, LONG = 1500, 100_000
SECONDS = 10
MEMORY = 2 << 30
VALID = {"nested arrays", "doubling structures", "pointer cycle", "chained constants", "chained calls",
         "chained blocks", "ladder of branches", "nested loops", "wide phi", "many names", "equal names",
         "long string", "huge array"}


@contextmanager
def time_limit(what: str) -> Iterator[None]:
    """Fail if the body takes longer than :data:`SECONDS`."""
    def stop(*_: object) -> None:
        raise AssertionError(f"{what} takes longer than {SECONDS} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def examine(data: bytes) -> bool:
    """Do with a module all that a user may do with it, short of running it.  Whether it is valid."""
    module = None
    with suppress(ValidationError):
        module = Module.from_bytes(data)
    if module is None:
        return False
    assert Module.from_bytes(module.to_bytes()).to_bytes() == module.to_bytes()
    violations = module.validate("sim:intel_gpu_pvc")
    Module.from_text(module.to_text(friendly_names=True))
    assert Module.from_text(module.to_text()).to_bytes() == module.to_bytes()
    with suppress(Error):
        check(Program(module).module, describe("generic"))
    return not any(violation.severity == "error" for violation in violations)


def test_mutants(long_form: bool) -> None:
    for mutant in mutants(1, LONG if long_form else SHORT):
        what = f"mutant {mutant.seed} ({mutant.what})"
        with time_limit(what):
            try:
                is_valid = examine(mutant.data)
            except Exception as error:
                pytest.fail(f"{what}: {type(error).__name__}: {error}")
        assert not (is_valid and mutant.is_broken), f"{what} is found valid"


IN_LITTLE_MEMORY = f"""
import json, resource, time
from tests.kit.spirv.hostile import HOSTILE
from tests.spirv.test_fuzz import examine
resource.setrlimit(resource.RLIMIT_AS, ({MEMORY}, {MEMORY}))
for name, make in HOSTILE.items():
    data, start = make(), time.process_time()
    print(json.dumps([name, examine(data), time.process_time() - start]), flush=True)
"""


def verdicts() -> dict[str, tuple[bool, float]]:
    """For each hostile module, whether it is valid and the seconds that this took, found in little memory."""
    run = subprocess.run([sys.executable, "-c", IN_LITTLE_MEMORY], capture_output=True, text=True, cwd=ROOT,
                         timeout=600, check=False)
    assert run.returncode == 0, run.stdout.splitlines()[-1:] + run.stderr.splitlines()[-5:]
    return {name: (is_valid, seconds) for name, is_valid, seconds in map(json.loads, run.stdout.splitlines())}


def test_hostile_modules() -> None:
    found = verdicts()
    assert found.keys() == HOSTILE.keys()
    assert {name for name, (is_valid, _) in found.items() if is_valid} == VALID
    assert {name: seconds for name, (_, seconds) in found.items() if not is_within(SECONDS, seconds)} == {}
