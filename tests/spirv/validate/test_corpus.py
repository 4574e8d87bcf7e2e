"""Every case of the corpus: the rules that it breaks, and the verdict of SPIRV-Tools beside ours."""

from __future__ import annotations

import subprocess

import pytest

from coopmat.diagnostics import ValidationError
from coopmat.spirv import Module
from coopmat.spirv.validate import RULES, Violation, validate
from tests.kit.spirv.case import Case
from tests.kit.spirv.corpus import CASES

LONG_FOR_SPIRV_VAL = "selections nested 1023 deep"
"""It takes ten seconds for this."""


def ids(case: Case) -> str:
    return f"{'+'.join(case.rules) or 'valid'}: {case.name}"


def violations(case: Case) -> list[Violation]:
    """What is found, whether in reading the module or in validating it."""
    try:
        return validate(Module.from_bytes(case.binary))
    except ValidationError as error:
        return [Violation(error.rule, "error", error.message, error.offset)]


def is_accepted(case: Case) -> bool:
    """Whether a case breaks no rule but such as warn."""
    return all(name in RULES and RULES[name].severity == "warning" for name in case.rules)


@pytest.mark.parametrize("case", CASES, ids=ids)
def test_breaks_just_these_rules(case: Case) -> None:
    found = violations(case)
    wanted = set(case.rules)
    if is_accepted(case) and not wanted:  # a valid module may be warned about
        found = [v for v in found if v.severity == "error"]
    assert {v.rule for v in found if v.severity == "error" or v.rule in wanted} == wanted, "\n".join(map(str, found))
    assert any(case.says in v.message for v in found) or not case.says, "\n".join(map(str, found))


def test_rules_that_are_shown_exist() -> None:
    assert {name for case in CASES for name in case.rules} <= RULES.keys()


@pytest.mark.oracle("spirv-val")
@pytest.mark.parametrize("case", [
    pytest.param(case, marks=pytest.mark.slow) if case.name == LONG_FOR_SPIRV_VAL else case for case in CASES], ids=ids)
def test_verdict_of_spirv_tools(case: Case) -> None:
    environment = ["--target-env", case.environment] if case.environment else []
    run = subprocess.run(["spirv-val", *environment, "-"], input=case.binary, capture_output=True, check=False)
    agrees = (run.returncode == 0) == is_accepted(case)
    assert agrees == (case.spirv_val is None), run.stderr.decode() or "spirv-val finds it valid"
