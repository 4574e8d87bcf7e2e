"""Rules for the values of enumerants and masks (SPIR-V 3.2)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from coopmat.spirv.grammar import ENUMERATIONS, Mask, Op, instruction, parameters, requirements
from coopmat.spirv.instruction import is_one_word
from coopmat.spirv.validate.rules import Findings, rule
from coopmat.spirv.validate.types import Booleans, Integers
from coopmat.spirv.validate.view import ModuleView

_APART = frozenset({"Capability", "PackedVectorFormat", "MatrixMultiplyAccumulateOperands"})
"""Kinds whose unknown values another rule reports."""


@rule("enumerant-unknown", "Enumerants are values, and masks are made of bits, that SPIR-V or a declared extension "
      "gives a meaning.", "SPIR-V 3.2 Binary Form")
def enumerant_unknown(view: ModuleView) -> Findings:
    if view.declared.unknown or not _extensions_are_known(view):  # which may bring more
        return
    for opcode in view.by_opcode:
        group = view.group(opcode) if instruction(opcode) is not None else None
        if group is None:
            continue
        for place, kind in _enumerants(opcode):
            bad = group.has(place) & _is_unknown(kind, group.word(place))
            yield group.indices[bad], f"{{op}} has the {kind} {{word{place}}}, which has no meaning"


def _extensions_are_known(view: ModuleView) -> bool:
    """Whether something in the tables needs each extension that the module declares."""
    known = {name for enumeration in (Op, *ENUMERATIONS.values()) for member in enumeration
             for name in requirements(member).extensions}
    return view.declared.extensions <= known


def _enumerants(opcode: int) -> Iterator[tuple[int, str]]:
    """Place and kind of the enumerants among an instruction's operands, up to the first of unknown length."""
    row = instruction(opcode)
    for place, (kind, quantifier) in enumerate(row.operands if row is not None else ()):
        if kind in ENUMERATIONS and kind not in _APART:
            yield place, kind
        if quantifier == "*" or not (is_one_word(kind) or _is_one_word_each(kind)):
            return


def _is_one_word_each(kind: str) -> bool:
    """Whether a kind is an enumeration of which no member has operands of its own."""
    return kind in ENUMERATIONS and not any(map(parameters, ENUMERATIONS[kind]))


def _is_unknown(kind: str, values: Integers) -> Booleans:
    enumeration = ENUMERATIONS[kind]
    if issubclass(enumeration, Mask):
        return values & ~int(sum(enumeration)) != 0
    return ~np.isin(values, [int(member) for member in enumeration])
