"""Rules for pointers of the addressing models of shaders, which are no values like others (SPIR-V 2.16.1)."""

from __future__ import annotations

import numpy as np

from coopmat.spirv.grammar import AddressingModel, Capability, Op, StorageClass
from coopmat.spirv.validate.declarations import parts
from coopmat.spirv.validate.group import Group
from coopmat.spirv.validate.rules import Findings, rule
from coopmat.spirv.validate.types import POINTERS, Booleans, Types
from coopmat.spirv.validate.view import ModuleView

UNIVERSAL = "SPIR-V 2.16.1 Universal Validation Rules"

_LOGICAL = (int(AddressingModel.Logical), int(AddressingModel.PhysicalStorageBuffer64))
_VARIABLE_RESULTS = (Op.Select, Op.Phi, Op.FunctionCall, Op.Load, Op.PtrAccessChain, Op.UntypedPtrAccessChainKHR,
                     Op.ConstantNull)
"""Instructions that make pointers with the capabilities for variable pointers only."""
_NEVER_RESULTS = (Op.CompositeExtract, Op.Bitcast, Op.ConvertUToPtr)
_NEVER_OPERANDS = (Op.CompositeConstruct, Op.CompositeInsert, Op.ConvertPtrToU, Op.Bitcast)
_NEEDED = "without VariablePointers (for Workgroup) or VariablePointersStorageBuffer (for StorageBuffer)"


def _has_logical_pointers(view: ModuleView) -> bool:
    return view.memory_model[0] in _LOGICAL


def _is_logical(kind: Types) -> Booleans:
    return kind.is_pointer & ~kind.in_storage(StorageClass.PhysicalStorageBuffer)


def _is_fixed(view: ModuleView, kind: Types) -> Booleans:
    """Logical pointers that the module's capabilities do not make variable pointers."""
    variable = [storage for storage, capability in (
        (StorageClass.StorageBuffer, Capability.VariablePointersStorageBuffer),
        (StorageClass.Workgroup, Capability.VariablePointers)) if view.has(capability)]
    return _is_logical(kind) & ~kind.in_storage(*variable)


@rule("logical-pointer-result", "In shader modules, pointers come from variables, parameters and access chains; others "
      "make them with the capabilities for variable pointers.", UNIVERSAL, *_VARIABLE_RESULTS, *_NEVER_RESULTS)
def logical_pointer_result(group: Group) -> Findings:
    if not _has_logical_pointers(group.view):
        return
    if group.opcode in _NEVER_RESULTS:
        yield _is_logical(group.result), "{op} cannot give a pointer, {type}, in this addressing model"
    else:
        yield _is_fixed(group.view, group.result), f"{{op}} cannot give a pointer, {{type}}, {_NEEDED}"


@rule("logical-pointer-operand", "In shader modules, pointers are no parts of composites and are not converted; they "
      "are stored with the capabilities for variable pointers.", UNIVERSAL, *_NEVER_OPERANDS, Op.Store)
def logical_pointer_operand(group: Group) -> Findings:
    if not _has_logical_pointers(group.view):
        return
    if group.opcode == Op.Store:
        yield _is_fixed(group.view, group.value(1)), f"{{op}} cannot store a pointer, {{type1}}, {_NEEDED}"
        return
    for place in (0,) if group.opcode == Op.CompositeInsert else group.places():
        yield _is_logical(group.value(place)) & group.has(place), \
            f"{{op}} cannot take a pointer, {{type{place}}}, in this addressing model"


@rule("logical-pointer-variable", "In shader modules, variables hold pointers with the capabilities for variable "
      "pointers only.", UNIVERSAL, Op.Variable)
def logical_pointer_variable(group: Group) -> Findings:
    if _has_logical_pointers(group.view):
        holds = group.view.derived(_holds_fixed_pointer)[group.result.element.places]
        yield holds, f"a variable cannot hold a pointer, {{result_pointee}}, {_NEEDED}"


def _holds_fixed_pointer(view: ModuleView) -> Booleans:
    """For each type of the table, whether it is or contains a pointer that is no variable pointer."""
    table = view.type_table
    found = np.zeros(len(table.rows), bool)
    fixed = _is_fixed(view, view.types(np.array([row.identifier for row in table.rows], np.int64)))
    for place, item in enumerate(table.instructions):
        if item is not None:
            found[place] = fixed[place] or (item.opcode not in POINTERS and any(
                found[table.position.get(part, 0)] for part in parts(item)))
    return found
