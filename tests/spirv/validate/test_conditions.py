"""Every rule, and every condition of a rule, is broken by a case of the corpus: each ``yield`` finds something."""

from __future__ import annotations

import ast
import importlib
import inspect
from collections.abc import Iterator
from contextlib import suppress
from types import GeneratorType
from typing import Any

import numpy as np
import pytest

from coopmat.diagnostics import ValidationError
from coopmat.spirv import Module, validate
from tests.kit.spirv.corpus import CASES

OTHER_FAMILIES = {"descriptions", "device_support", "glsl_instructions", "image_queries", "image_types", "images",
                  "pipes"}
"""Those of debug information, images and pipes have a case of each rule; test_devices.py breaks those of devices."""
FAMILIES = sorted({entry.check.__module__.rpartition(".")[2] for entry in validate.RULES.values()} - OTHER_FAMILIES)
Line = tuple[str, int]


def conditions(family: str) -> Iterator[tuple[set[Line], str]]:
    """Each yield in the functions of a family that are annotated as Findings: its lines, and its text."""
    source = inspect.getsource(importlib.import_module(f"{validate.__name__}.families.{family}"))
    for function in ast.walk(ast.parse(source)):
        if isinstance(function, ast.FunctionDef) and function.returns is not None \
                and ast.unparse(function.returns) == "Findings":
            for node in ast.walk(function):
                if isinstance(node, ast.Yield):
                    lines = range(node.lineno, (node.end_lineno or node.lineno) + 1)
                    yield {(family, line) for line in lines}, ast.unparse(node)


def place(findings: GeneratorType[Any, Any, Any]) -> Line:
    """Where a rule's generator, or the one that it goes through, stands."""
    while isinstance(findings.gi_yieldfrom, GeneratorType):
        findings = findings.gi_yieldfrom
    assert findings.gi_frame is not None
    return inspect.getmodulename(findings.gi_code.co_filename) or "", findings.gi_frame.f_lineno


def broken() -> set[Line]:
    """The lines that find something in a case of the corpus."""
    found: set[Line] = set()
    report = validate._each

    def record(entry: Any, view: Any, findings: Any, indices: Any) -> Iterator[Any]:
        for where, message in findings:
            is_found = np.any(where) if indices is not None else where is None or np.size(where) > 0
            if is_found:
                found.add(place(findings))
            yield from report(entry, view, iter([(where, message)]), indices)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(validate, "_each", record)
        for case in CASES:
            if case.rules:
                with suppress(ValidationError):
                    Module.from_bytes(case.binary).validate()
    return found


def test_every_condition_is_broken_by_a_case() -> None:
    known = broken()
    assert [f"{family}: {text}" for family in FAMILIES for lines, text in conditions(family) if not lines & known] == []


def test_every_rule_is_broken_by_a_case() -> None:
    shown = {name for case in CASES for name in case.rules}
    assert [name for name, entry in validate.RULES.items()
            if name not in shown and not entry.check.__module__.endswith(".device_support")] == []
