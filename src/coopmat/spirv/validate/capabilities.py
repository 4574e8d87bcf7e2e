"""Rules about capabilities and extensions: what is missing, what is superfluous, what is unknown."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from coopmat.spirv.grammar import Capability, Op, instruction, requirements
from coopmat.spirv.requirements import Needs, implied
from coopmat.spirv.validate.rules import Findings, rule
from coopmat.spirv.validate.types import TYPES
from coopmat.spirv.validate.view import ModuleView

SECTION = "SPIR-V 3.2.30 Capability; 2.16.1 Universal Validation Rules"


def representatives(view: ModuleView) -> Iterator[int]:
    """Instructions that need together what all need: every type, and one of each form, result type and
    type of the first operand."""
    for indices, columns in view.forms:
        if view.opcode[indices[0]] in TYPES:
            yield from indices.tolist()
            continue
        key = view.type_id[indices]
        if columns:
            operand = view.words[view.start[indices] + columns[0]]
            at = view.definition_of(operand)
            key = key << 32 | np.where(at >= 0, view.type_id[at], 0)
        _, first = np.unique(key, return_index=True)
        yield from indices[first].tolist()


class Declared:
    """What a module declares, and what its instructions need that it does not declare."""

    def __init__(self, view: ModuleView) -> None:
        module = view.module
        self.capabilities = dict(_capabilities(view))
        self.all = implied(self.capabilities)
        self.extensions = set(module.extensions)
        self.version = (module.version >> 16, module.version >> 8 & 0xFF)
        self.needs = Needs(self.version, module._definitions)
        self.missing: list[tuple[int, tuple[Capability, ...]]] = []
        self.missing_extensions: list[tuple[int, tuple[str, ...]]] = []
        for index in sorted(i for i in representatives(view) if not view.broken[i]):
            alternatives, extensions = self.needs.added(view.items[index])
            self.missing += [(index, options) for options in alternatives if not self.all.intersection(options)]
            self.missing_extensions += [(index, names) for names in extensions
                                        if not self.extensions.intersection(names)]


def _capabilities(view: ModuleView) -> Iterator[tuple[Capability, int]]:
    """The declared capabilities that the tables know, each with its instruction."""
    for index, item in view.of_opcode(Op.Capability):
        if item.words[0] in Capability._value2member_map_:
            yield Capability(item.words[0]), index


@rule("capability-missing", "Every capability that an instruction needs is declared.", SECTION)
def capability_missing(view: ModuleView) -> Findings:
    for index, options in view.declared.missing:
        names = " or ".join(option.spelling for option in options)
        yield index, f"{{op}} needs the capability {names}, which the module does not declare"


@rule("capability-superfluous", "No capability is declared that nothing needs.", SECTION, severity="warning")
def capability_superfluous(view: ModuleView) -> Findings:
    declared = view.declared
    alternatives = list(declared.needs.alternatives)
    for capability, index in declared.capabilities.items():
        others = implied(c for c in declared.capabilities if c != capability)
        if capability in _ALWAYS_USEFUL or capability in others:
            continue
        mine = implied([capability]) - others
        if not any(mine.intersection(options) and not others.intersection(options) for options in alternatives):
            yield index, f"no instruction needs the capability {capability.spelling}"


_ALWAYS_USEFUL = frozenset({Capability.Kernel, Capability.Shader, Capability.Addresses, Capability.Linkage,
                            Capability.Matrix})
"""Capabilities that say what kind of module it is."""


@rule("capability-unknown", "Capabilities are ones that the tables know; what needs others is not checked.", SECTION,
      severity="warning")
def capability_unknown(view: ModuleView) -> Findings:
    for index, item in view.of_opcode(Op.Capability):
        if item.words[0] not in Capability._value2member_map_:
            yield index, f"capability {item.words[0]} is not known: what it allows is not checked"


@rule("instruction-unknown", "Instructions are ones that the tables know; others are not checked.", SECTION,
      severity="warning")
def instruction_unknown(view: ModuleView) -> Findings:
    for opcode in np.unique(view.opcode).tolist():
        if instruction(opcode) is None:
            first = int(np.flatnonzero(view.opcode == opcode)[0])
            yield first, f"opcode {opcode} is not known: instructions with it are not checked"


@rule("extension-missing", "Every extension that an instruction or a capability needs is declared.", SECTION)
def extension_missing(view: ModuleView) -> Findings:
    declared = view.declared
    wanted = list(declared.missing_extensions)
    for capability, index in declared.capabilities.items():
        needs = requirements(capability)
        later = needs.version is None or needs.version > declared.version
        if needs.extensions and later and not declared.extensions.intersection(needs.extensions):
            wanted.append((index, needs.extensions))
    for index, names in wanted:
        yield index, f"{{op}} needs the extension {' or '.join(names)}, which the module does not declare"


@rule("version-range", "Instructions and enumerants exist in the module's version of SPIR-V.", SECTION)
def version_range(view: ModuleView) -> Findings:
    version = view.declared.version
    for opcode in np.unique(view.opcode).tolist():
        row = instruction(opcode)
        if row is not None and row.last_version is not None and row.last_version < version:
            last = "{}.{}".format(*row.last_version)
            yield np.flatnonzero(view.opcode == opcode), f"{{op}} exists up to SPIR-V {last} only"
