"""Every rule has a case that breaks it, and every message of every rule is one that some case is given."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from types import GeneratorType
from typing import Any

import numpy as np
import pytest

import coopmat.spirv.validate as validation
from coopmat.spirv.validate import RULES
from tests.spirv.validation.test_corpus import CASES, violations

OF_DEVICES = {"device_support.py"}
"""Rules that ask for a device: test_devices.py breaks them."""
BY_RULE_ONLY = {"descriptions.py", "glsl_instructions.py", "image_queries.py", "image_types.py", "images.py",
                "pipes.py"}
"""Rules for what kernels of matrices have little of: each has a case, not each of its messages."""
FILES = sorted({path for entry in RULES.values() if (path := Path(entry.check.__code__.co_filename)).name
                not in OF_DEVICES | BY_RULE_ONLY})
Place = tuple[str, int]


@pytest.fixture(scope="module")
def given() -> set[Place]:
    """File and line of every yield that had something to say about some case."""
    places: set[Place] = set()
    each = validation._each

    def recorded(findings: Any) -> Iterator[tuple[Any, str]]:
        for where, message in findings:
            if where is None or isinstance(where, int) or _any(np.asarray(where)):
                frame = _innermost(findings).gi_frame
                places.add((Path(frame.f_code.co_filename).name, frame.f_lineno))
            yield where, message

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(validation, "_each", lambda entry, view, findings, indices: each(entry, view, recorded(findings),
                                                                                     indices))
        for case in CASES:
            violations(case)
    return places


def _any(where: np.ndarray) -> bool:
    return bool(where.any()) if where.dtype == bool else len(where) > 0


def _innermost(findings: Any) -> Any:
    while isinstance(findings.gi_yieldfrom, GeneratorType):
        findings = findings.gi_yieldfrom
    return findings


def _messages(path: Path) -> Iterator[ast.Yield]:
    """The yields of pairs that end with a text."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Yield) and isinstance(node.value, ast.Tuple) and len(node.value.elts) == 2 \
                and not isinstance(node.value.elts[1], (ast.Name, ast.Attribute)):
            yield node


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_message_is_given(path: Path, given: set[Place]) -> None:
    missing = [node.lineno for node in _messages(path)
               if not any((path.name, line) in given for line in range(node.lineno, (node.end_lineno or 0) + 1))]
    assert not missing, f"no case is given the messages of lines {missing} of {path.name}"


def test_every_rule_is_broken() -> None:
    shown = {name for case in CASES for name in case.rules}
    assert not [entry.name for entry in RULES.values() if entry.name not in shown
                and Path(entry.check.__code__.co_filename).name not in OF_DEVICES]
