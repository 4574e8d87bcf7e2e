"""What a module declares, and what its instructions need."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from coopmat.spirv.analysis.requirements import DECIDED_BY_LATER_OPERANDS, Needs, implied
from coopmat.spirv.grammar import OPENCL_STD, Capability, Op
from coopmat.spirv.validate.arrays import ModuleArrays
from coopmat.spirv.validate.forms import enumerants
from coopmat.spirv.validate.types import TYPES

_BY_EXTENSION = {"SPV_AMD_gpu_shader_half_float": Capability.Float16,
                 "SPV_AMD_gpu_shader_half_float_fetch": Capability.Float16,
                 "SPV_AMD_gpu_shader_int16": Capability.Int16, "SPV_AMD_shader_ballot": Capability.Groups}
"""Extensions that allow types without a capability."""


class Declared:
    """What a module declares, and what its instructions need that it does not declare."""

    def __init__(self, view: ModuleArrays) -> None:
        module = view.module
        self.capabilities = dict(_capabilities(view))
        self.unknown = any(item.words[0] not in Capability._value2member_map_
                           for _, item in view.of_opcode(Op.Capability))
        self.extensions = set(module.extensions)
        self.all = implied(self.capabilities)
        self.all.update(capability for name, capability in _BY_EXTENSION.items() if name in self.extensions)
        self.version = (module.version >> 16, module.version >> 8 & 0xFF)
        self.needs = Needs(self.version, module._definitions)
        self.missing: list[tuple[int, tuple[Capability, ...]]] = []
        self.missing_extensions: list[tuple[int, tuple[str, ...]]] = []
        self.too_new: list[tuple[int, str, tuple[int, int]]] = []
        for index in sorted(i for i in _representatives(view) if not view.broken[i]):
            added = self.needs.added(view.items[index])
            self.missing += [(index, options) for options in added.capabilities
                             if not self.all.intersection(options)]
            self.missing_extensions += [(index, names) for names in added.extensions
                                        if not self.extensions.intersection(names) and not self.unknown]
            self.too_new += [(index, member.spelling, self.needs.first_version(member)) for member in added.too_new
                             if not isinstance(member, Op)]


def _capabilities(view: ModuleArrays) -> Iterator[tuple[Capability, int]]:
    """The declared capabilities that the tables know, each with its instruction."""
    for index, item in view.of_opcode(Op.Capability):
        if item.words[0] in Capability._value2member_map_:
            yield Capability(item.words[0]), index


def _representatives(view: ModuleArrays) -> Iterator[int]:
    """Instructions that need together what all need: every type, and one of each form, result type, type of the first
    operand and enumerants."""
    for indices, columns in view.forms:
        opcode = int(view.opcode[indices[0]])
        if len(indices) == 1 or opcode in TYPES or opcode in DECIDED_BY_LATER_OPERANDS \
                or _is_printf(view, int(indices[0])):
            yield from indices.tolist()
            continue
        first = view.word_start[indices]
        key = view.type_id[indices]
        if columns:
            at = view.definition_of(view.words[first + columns[0]])
            key = key << 32 | np.where(at >= 0, view.type_id[at], 0)
        count = int(view.word_count[indices[0]])
        keys = [key, *(view.words[first + place] for place, _ in enumerants(opcode) if place < count)]
        found = np.unique(key, return_index=True)[1] if len(keys) == 1 else \
            np.unique(np.stack(keys, 1), axis=0, return_index=True)[1]
        yield from indices[found].tolist()


def _is_printf(view: ModuleArrays, index: int) -> bool:
    """Whether an instruction may be a printf, whose needs depend on where its format lies."""
    return view.opcode[index] == Op.ExtInst and view.words[view.word_start[index] + 1] == OPENCL_STD["printf"]
