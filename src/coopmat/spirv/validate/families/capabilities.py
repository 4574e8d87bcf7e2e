"""Rules about capabilities and extensions: what is missing, what is superfluous, what is unknown."""

from __future__ import annotations

from functools import cache

import numpy as np

from coopmat.spirv.analysis.requirements import implied
from coopmat.spirv.grammar import ENUMERATIONS, Capability, Op, instruction, requirements
from coopmat.spirv.validate.rules import Findings, rule
from coopmat.spirv.validate.view import ModuleView

SECTION = "SPIR-V 3.2.30 Capability; 2.16.1 Universal Validation Rules"


@rule("capability-missing", "Every capability that an instruction needs is declared.",
      f"{SECTION}; SPV_KHR_integer_dot_product, SPV_KHR_bfloat16, SPV_INTEL_int4 "
      ", SPV_INTEL_joint_matrix, SPV_KHR_cooperative_matrix")
def capability_missing(view: ModuleView) -> Findings:
    if view.declared.unknown:  # which may imply any other
        return
    for index, options in view.declared.missing:
        names = " or ".join(option.spelling for option in options)
        yield index, f"{{op}} needs the capability {names}, which the module does not declare"


@rule("capability-superfluous", "No capability is declared that nothing needs.", SECTION, severity="warning")
def capability_superfluous(view: ModuleView) -> Findings:
    declared = view.declared
    if view.has_unknown:  # which may need anything
        return
    alternatives = list(declared.needs.alternatives)
    kept = set(declared.capabilities)  # of two that allow the same, one stays: arithmetic rather than storage
    for capability, index in sorted(declared.capabilities.items(), key=lambda pair: (pair[0] in _ARITHMETIC, -pair[1])):
        others = implied(c for c in kept if c != capability)
        if capability in _ALWAYS_USEFUL or capability in others:
            continue
        if capability in _ARITHMETIC and any(capability in options for options in alternatives):
            continue  # what allows such numbers in buffers does not allow arithmetic on them
        mine = implied([capability]) - others
        if not any(mine.intersection(options) and not others.intersection(options) for options in alternatives):
            kept.remove(capability)
            yield index, f"no instruction needs the capability {capability.spelling}"


_ARITHMETIC = frozenset({Capability.Int8, Capability.Int16, Capability.Float16})
_ALWAYS_USEFUL = frozenset({Capability.Kernel, Capability.Shader, Capability.Addresses, Capability.Linkage,
                            Capability.Matrix, Capability.VulkanMemoryModelDeviceScope})
"""Capabilities that say what kind of module it is, and one whose uses the rule scope-vulkan looks at."""


@rule("capability-unknown", "Capabilities are ones that the tables know; what needs others is not checked.", SECTION,
      severity="warning")
def capability_unknown(view: ModuleView) -> Findings:
    for index, item in view.of_opcode(Op.Capability):
        if item.words[0] not in Capability._value2member_map_:
            yield index, f"capability {item.words[0]} is not known: what it allows is not checked"


@rule("instruction-unknown", "Instructions are ones that the tables know; others are not checked.", SECTION,
      severity="warning")
def instruction_unknown(view: ModuleView) -> Findings:
    for opcode in view.unknown_opcodes:
        if instruction(opcode) is None:
            yield int(view.by_opcode[opcode][0]), f"opcode {opcode} is not known: instructions with it are not checked"


@rule("instruction-announced", "An instruction that the tables do not know comes with a capability or an extension "
      "that they do not know, either.", SECTION)
def instruction_announced(view: ModuleView) -> Findings:
    foreign = [opcode for opcode in view.unknown_opcodes if instruction(opcode) is None]
    if not foreign or view.declared.unknown or view.declared.extensions - _known_extensions():
        return
    yield np.flatnonzero(np.isin(view.opcode, foreign)), \
        "{op} is no instruction of SPIR-V, nor of an extension that the module declares"


@cache
def _known_extensions() -> frozenset[str]:
    return frozenset(name for enumeration in (Op, *ENUMERATIONS.values()) for member in enumeration
                     for name in requirements(member).extensions)


@rule("extension-missing", "Every extension that an instruction or a capability needs is declared.",
      f"{SECTION}; SPV_KHR_integer_dot_product")
def extension_missing(view: ModuleView) -> Findings:
    declared = view.declared
    for capability, index in declared.capabilities.items():
        needs = requirements(capability)
        later = needs.version is None or needs.version > declared.version
        if needs.extensions and later and not declared.extensions.intersection(needs.extensions):
            yield index, _lacks(f"the capability {capability.spelling}", needs.extensions)
    for index, names in declared.missing_extensions:
        yield index, _lacks("{op}", names)


def _lacks(what: str, names: tuple[str, ...]) -> str:
    return f"{what} needs the extension {' or '.join(names)}, which the module does not declare"


@rule("version-range", "Instructions, enumerants and capabilities exist in the module's version of SPIR-V.", SECTION)
def version_range(view: ModuleView) -> Findings:
    declared = view.declared
    version = declared.version
    for opcode, indices in view.by_opcode.items():
        row = instruction(opcode)
        if row is None:
            continue
        if row.last_version is not None and row.last_version < version:
            yield indices, f"{{op}} exists up to SPIR-V {_text(row.last_version)} only"
        elif not row.extensions and not row.capabilities and row.version is not None and row.version > version:
            yield indices, f"{{op}} exists from SPIR-V {_text(row.version)} on"
    for capability, index in declared.capabilities.items():
        needs = requirements(capability)
        if not needs.extensions and needs.version is not None and needs.version > version:
            yield index, f"the capability {capability.spelling} exists from SPIR-V {_text(needs.version)} on"
    for index, member, first in declared.too_new:
        yield index, f"{member} in {{op}} exists from SPIR-V {_text(first)} on"


def _text(version: tuple[int, int]) -> str:
    return "{}.{}".format(*version)


_EXTENSION_VERSIONS = {"SPV_KHR_vulkan_memory_model": (1, 3), "SPV_KHR_workgroup_memory_explicit_layout": (1, 4),
                       "SPV_EXT_mesh_shader": (1, 4), "SPV_NV_cluster_acceleration_structure": (1, 4)}


_ADVISED_VERSIONS = {"SPV_KHR_cooperative_matrix": (1, 3), "SPV_EXT_cooperative_matrix_maintenance1": (1, 3)}
"""What documents ask for, although translators write and drivers read these extensions in earlier versions."""


@rule("extension-version", "An extension goes with a version of SPIR-V that it builds on.",
      "the extension, Dependencies")
def extension_version(view: ModuleView) -> Findings:
    for index, item in view.of_opcode(Op.Extension):
        name = str(item.operands[0].value)
        first = _EXTENSION_VERSIONS.get(name)
        if first is not None and view.declared.version < first:
            yield index, f"the extension {name} needs SPIR-V {_text(first)}"


@rule("extension-version-advised", "An extension is used in a version of SPIR-V that its document asks for.",
      "the extension, Dependencies", severity="warning")
def extension_version_advised(view: ModuleView) -> Findings:
    for index, item in view.of_opcode(Op.Extension):
        name = str(item.operands[0].value)
        first = _ADVISED_VERSIONS.get(name)
        if first is not None and view.declared.version < first:
            yield index, f"the extension {name} asks for SPIR-V {_text(first)}; some drivers may refuse this module"
