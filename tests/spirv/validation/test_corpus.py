"""Every case of the corpus: the rules that it breaks, and the verdict of SPIRV-Tools beside ours."""

from __future__ import annotations

import importlib
import pkgutil
import subprocess
from pathlib import Path

import pytest

import tests.spirv.validation as here
from coopmat.spirv import Module
from coopmat.spirv.validate import RULES, validate
from tests.spirv.validation.cases import Case

CASES = [case for found in pkgutil.iter_modules(here.__path__) if found.name.startswith("cases_")
         for case in importlib.import_module(f"{here.__name__}.{found.name}").CASES]


def ids(case: Case) -> str:
    return f"{'+'.join(case.rules) or 'valid'}: {case.name}"


@pytest.mark.parametrize("case", CASES, ids=ids)
def test_breaks_just_these_rules(case: Case) -> None:
    violations = validate(Module.from_bytes(Module.from_text(case.text).to_bytes()))
    assert {v.rule for v in violations if v.severity == "error"} == set(case.rules), "\n".join(map(str, violations))


def test_rules_that_are_shown_exist() -> None:
    assert {name for case in CASES for name in case.rules} <= RULES.keys()


@pytest.mark.oracle("spirv-val")
@pytest.mark.parametrize("case", CASES, ids=ids)
def test_verdict_of_spirv_tools(case: Case, tmp_path: Path) -> None:
    path = tmp_path / "case.spv"
    path.write_bytes(Module.from_text(case.text).to_bytes())
    run = subprocess.run(["spirv-val", str(path)], capture_output=True, text=True, check=False)
    agrees = (run.returncode == 0) == (not case.rules)
    assert agrees == (case.spirv_val is None), run.stderr or "spirv-val finds it valid"
