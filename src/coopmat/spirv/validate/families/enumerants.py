"""Rules for the values of enumerants and masks (SPIR-V 3.2)."""

from __future__ import annotations

import numpy as np

from coopmat.spirv.grammar import ENUMERATIONS, Mask, Op, instruction, requirements
from coopmat.spirv.validate.forms import enumerants
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
        for place, kind in enumerants(opcode):
            if kind in _APART:
                continue
            bad = group.has(place) & _is_unknown(kind, group.word(place))
            yield group.indices[bad], f"{{op}} has the {kind} {{word{place}}}, which has no meaning"


def _extensions_are_known(view: ModuleView) -> bool:
    """Whether something in the tables needs each extension that the module declares."""
    known = {name for enumeration in (Op, *ENUMERATIONS.values()) for member in enumeration
             for name in requirements(member).extensions}
    return view.declared.extensions <= known


def _is_unknown(kind: str, values: Integers) -> Booleans:
    enumeration = ENUMERATIONS[kind]
    if issubclass(enumeration, Mask):
        return values & ~int(sum(enumeration)) != 0
    return ~np.isin(values, [int(member) for member in enumeration])
