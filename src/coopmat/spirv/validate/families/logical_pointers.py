"""Rules for pointers without addresses: what shaders may do with them (SPIR-V 2.16.1, Logical addressing)."""

from __future__ import annotations

import numpy as np

from coopmat.spirv.grammar import AddressingModel, Capability, Op, StorageClass
from coopmat.spirv.validate.rules import Findings, rule
from coopmat.spirv.validate.types import Booleans, Integers, Types
from coopmat.spirv.validate.view import ModuleView

SECTION = "SPIR-V 2.16.1 Universal Validation Rules, Logical addressing model"

_VARIABLE_USES = (Op.ReturnValue, Op.PtrAccessChain, Op.Select, Op.Phi, Op.Variable, Op.UntypedPtrAccessChainKHR)
_VARIABLE_RESULTS = (Op.Select, Op.Phi, Op.FunctionCall, Op.PtrAccessChain, Op.Load, Op.ConstantNull, Op.Function,
                     Op.UntypedPtrAccessChainKHR)
"""Instructions that take and give pointers only where pointers can vary."""
_ATOMICS = tuple(op for op in Op if op.spelling.startswith("Atomic"))
_USES = (*_ATOMICS, Op.Load, Op.Store, Op.AccessChain, Op.InBoundsAccessChain, Op.FunctionCall, Op.ImageTexelPointer,
         Op.CopyMemory, Op.CopyMemorySized, Op.CopyObject, Op.ArrayLength, Op.ExtInst, Op.Decorate, Op.DecorateId,
         Op.DecorateString, Op.GroupDecorate, Op.EntryPoint, Op.Name, Op.Bitcast,
         Op.PtrEqual, Op.PtrNotEqual, Op.PtrDiff, Op.ConvertPtrToU, Op.LifetimeStart, Op.LifetimeStop)
"""Those that have rules of their own included."""
_RESULTS = (Op.Variable, Op.AccessChain, Op.InBoundsAccessChain, Op.FunctionParameter, Op.ImageTexelPointer,
            Op.CopyObject, Op.Undef, Op.Bitcast, Op.SpecConstantOp)
_CORE = 4096
"""Above are the instructions of extensions, which say themselves what they take."""
_DECLARING = (Op.Variable, Op.UntypedVariableKHR, Op.FunctionParameter)
_PASSED = (StorageClass.UniformConstant, StorageClass.Function, StorageClass.Private, StorageClass.Workgroup,
           StorageClass.AtomicCounter)
"""Storage classes of pointers that functions take."""


def _is_logical(view: ModuleView) -> bool:
    return view.memory_model[0] in (AddressingModel.Logical, AddressingModel.PhysicalStorageBuffer64)


def _logical(types: Types) -> Booleans:
    return types.is_pointer & ~types.in_storage(StorageClass.PhysicalStorageBuffer)


def _can_vary(view: ModuleView, storage: Integers) -> Booleans:
    """Whether pointers to these storage classes can be chosen at run time."""
    buffers = (storage == int(StorageClass.StorageBuffer)) & view.has(Capability.VariablePointersStorageBuffer)
    return buffers | (storage == int(StorageClass.Workgroup)) & view.has(Capability.VariablePointers)


@rule("logical-pointer-use", "Without addresses, pointers are loaded and stored through and followed; other "
      "instructions take and give them only with variable pointers.", SECTION)
def logical_pointer_use(view: ModuleView) -> Findings:
    if not _is_logical(view) or not view.has(Capability.Shader):
        return
    at, _, ids, _ = view.uses
    given = view.value_types(ids)
    taken = _logical(given) & ~view.broken[at]
    user = view.opcode[at]
    varies = np.isin(user, _VARIABLE_USES)
    yield np.unique(at[taken & varies & ~_can_vary(view, given.storage)]), \
        "{op} takes a pointer only to StorageBuffer memory with the capability VariablePointersStorageBuffer, or to " \
        "Workgroup memory with VariablePointers"
    other = taken & ~varies & ~np.isin(user, _USES) & (user < _CORE)
    yield np.unique(at[other]), "{op} cannot take a pointer in the addressing model Logical"
    result = view.types(np.minimum(view.type_id, len(view.defined_by) - 1))
    made = _logical(result) & ~view.broken
    varies = np.isin(view.opcode, _VARIABLE_RESULTS)
    yield np.flatnonzero(made & varies & ~_can_vary(view, result.storage)), \
        "{op} gives a pointer only to StorageBuffer memory with the capability VariablePointersStorageBuffer, or to " \
        "Workgroup memory with VariablePointers"
    other = made & ~varies & ~np.isin(view.opcode, _RESULTS) & (view.opcode < _CORE)
    yield np.flatnonzero(other), "{op} cannot give a pointer in the addressing model Logical"


@rule("logical-pointer-argument", "Without addresses, functions take pointers to whole variables in storage classes "
      "that belong to an invocation or a work-group.", SECTION)
def logical_pointer_argument(view: ModuleView) -> Findings:
    if view.memory_model[0] != AddressingModel.Logical:
        return
    at, place, ids, _ = view.uses
    given = view.value_types(ids)
    passed = (view.opcode[at] == Op.FunctionCall) & (place > 0) & given.is_pointer & ~view.broken[at]
    at, ids, given = at[passed], ids[passed], Types(given.table, given.places[passed])
    buffers = given.storage == int(StorageClass.StorageBuffer)
    yield np.unique(at[buffers & (not view.has(Capability.VariablePointersStorageBuffer))]), \
        "{op} passes a pointer to StorageBuffer memory, which needs the capability VariablePointersStorageBuffer"
    other = ~buffers & ~np.isin(given.storage, _PASSED)
    yield np.unique(at[other]), "{op} passes a pointer to memory of a storage class that functions cannot take"
    part = ~np.isin(view.definition_opcode(ids), _DECLARING) & ~given.in_storage(StorageClass.UniformConstant)
    yield np.unique(at[part & ~other & ~_can_vary(view, given.storage)]), \
        "{op} passes a pointer to a part of a variable: functions take pointers to whole variables"
