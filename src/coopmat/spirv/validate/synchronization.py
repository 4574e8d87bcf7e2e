"""Rules for scopes, memory semantics, barriers and atomics (SPIR-V 3.2.27, 3.2.28, 3.3.18, 3.3.20)."""

from __future__ import annotations

import numpy as np

from coopmat.spirv.grammar import Capability, MemorySemantics, Op, Scope, StorageClass, instruction
from coopmat.spirv.validate.group import Group
from coopmat.spirv.validate.rules import Findings, rule
from coopmat.spirv.validate.types import Types
from coopmat.spirv.validate.view import ModuleView

SCOPES = "SPIR-V 3.2.28 Scope"
SEMANTICS = "SPIR-V 3.2.26 Memory Semantics"
ATOMICS = "SPIR-V 3.3.18 Atomic Instructions"

_INTEGER = (Op.AtomicCompareExchange, Op.AtomicCompareExchangeWeak, Op.AtomicIIncrement, Op.AtomicIDecrement,
            Op.AtomicIAdd, Op.AtomicISub, Op.AtomicSMin, Op.AtomicUMin, Op.AtomicSMax, Op.AtomicUMax, Op.AtomicAnd,
            Op.AtomicOr, Op.AtomicXor)
_ANY_NUMBER = (Op.AtomicLoad, Op.AtomicExchange)
_FLOAT = (Op.AtomicFAddEXT, Op.AtomicFMinEXT, Op.AtomicFMaxEXT)
# Instruction → place of the value that is combined with memory.
_VALUE = {op: 3 for op in (*_INTEGER, *_ANY_NUMBER, *_FLOAT)
          if op not in (Op.AtomicLoad, Op.AtomicIIncrement, Op.AtomicIDecrement)}
_VALUE |= {Op.AtomicCompareExchange: 4, Op.AtomicCompareExchangeWeak: 4}
_ORDERS = (MemorySemantics.Acquire, MemorySemantics.Release, MemorySemantics.AcquireRelease,
           MemorySemantics.SequentiallyConsistent)
_ORDER_BITS = int(sum(_ORDERS))
_NOT_ATOMIC = (StorageClass.Input, StorageClass.UniformConstant, StorageClass.Private)

_WITH_SCOPE = tuple(op for op in Op if "IdScope" in op.signature and op != Op.TypeCooperativeMatrixKHR)


def _places(opcode: int, kind: str) -> list[int]:
    """The places of the operands of this kind."""
    row = instruction(opcode)
    assert row is not None
    return [place for place, spec in enumerate(row.operands) if spec.kind == kind]


@rule("scope-value", "A scope is a 32-bit integer, and a constant one of the known scopes.", SCOPES, *_WITH_SCOPE)
def scope_value(group: Group) -> Findings:
    shader = Capability.Shader in group.view.declared.all
    for place in _places(group.opcode, "IdScope"):
        kind = group.value(place)
        yield ~(kind.is_kind(Op.TypeInt) & (kind.width == 32)), \
            f"the scope of {{op}} is a 32-bit integer, not {{type{place}}}"
        value = group.constant(place)
        yield (value >= 0) & ~np.isin(value, list(Scope)), f"the scope of {{op}}, {{def{place}}}, is none that exists"
        if shader:
            yield value < 0, f"in a shader module the scope of {{op}} is a constant, not {{def{place}}}"


_WITH_SEMANTICS = tuple(op for op in Op if "IdMemorySemantics" in op.signature)


@rule("memory-semantics", "Memory semantics are a 32-bit integer with at most one order.", SEMANTICS, *_WITH_SEMANTICS)
def memory_semantics(group: Group) -> Findings:
    for place in _places(group.opcode, "IdMemorySemantics"):
        kind = group.value(place)
        yield ~(kind.is_kind(Op.TypeInt) & (kind.width == 32)), \
            f"the memory semantics of {{op}} are a 32-bit integer, not {{type{place}}}"
        value = group.constant(place)
        order = np.maximum(value, 0) & _ORDER_BITS
        yield order & (order - 1) != 0, "the memory semantics of {op} name more than one of Acquire, Release, " \
                                        "AcquireRelease and SequentiallyConsistent"


@rule("atomic-order", "A load releases nothing, a store acquires nothing, a failed exchange releases nothing.",
      f"{SEMANTICS}; {ATOMICS}", Op.AtomicLoad, Op.AtomicStore, Op.AtomicCompareExchange,
      Op.AtomicCompareExchangeWeak, Op.AtomicFlagClear)
def atomic_order(group: Group) -> Findings:
    opcode = group.opcode
    loads = opcode == Op.AtomicLoad
    stores = opcode in (Op.AtomicStore, Op.AtomicFlagClear)
    place = 2 if loads or stores else 3
    value = np.maximum(group.constant(place), 0)
    refused = MemorySemantics.Acquire if stores else MemorySemantics.Release
    what = "acquire" if stores else "release"
    yield value & int(refused | MemorySemantics.AcquireRelease) != 0, \
        f"{{op}} cannot {what}" + ("" if loads or stores else " where the values differ")


@rule("atomic-types", "An atomic works on a number in memory that others can change.", ATOMICS,
      *_INTEGER, *_ANY_NUMBER, *_FLOAT)
def atomic_types(group: Group) -> Findings:
    opcode = group.opcode
    result = group.result
    if opcode in _INTEGER:
        yield ~result.is_kind(Op.TypeInt), "{op} works on integers, not {type}"
    elif opcode in _FLOAT:
        yield ~result.is_kind(Op.TypeFloat), "{op} works on floating-point numbers, not {type}"
    else:
        yield ~result.is_kind(Op.TypeInt, Op.TypeFloat), "{op} works on numbers, not {type}"
    yield from _pointer(group, result, "{type}")
    if opcode in _VALUE:
        place = _VALUE[opcode]
        yield group.value(place) != result, f"the value of {{op}} has type {{type{place}}}; {{type}} is needed"
    if opcode in (Op.AtomicCompareExchange, Op.AtomicCompareExchangeWeak):
        yield group.value(5) != result, "the comparator of {op} has type {type5}; {type} is needed"


def _pointer(group: Group, value: Types, shown: str) -> Findings:
    address = group.value(0)
    yield ~address.is_pointer, "{op} works through a pointer, not {type0}"
    yield address.is_kind(Op.TypePointer) & (address.element != value), f"{{op}} of {shown} works through {{type0}}"
    yield address.is_pointer & np.isin(address.storage, _NOT_ATOMIC), \
        "{op} cannot work on memory of this storage class: {type0}"


@rule("atomic-store", "An atomic store writes a number of the type that the pointer points to.", ATOMICS,
      Op.AtomicStore)
def atomic_store(group: Group) -> Findings:
    yield ~group.value(3).is_kind(Op.TypeInt, Op.TypeFloat), "{op} writes a number, not {type3}"
    yield from _pointer(group, group.value(3), "{type3}")


@rule("atomic-flag", "An atomic flag is a 32-bit integer.", ATOMICS, Op.AtomicFlagTestAndSet, Op.AtomicFlagClear)
def atomic_flag(group: Group) -> Findings:
    address = group.value(0)
    pointee = address.element
    yield ~(address.is_pointer & pointee.is_kind(Op.TypeInt) & (pointee.width == 32)), \
        "{op} works through a pointer to a 32-bit integer, not {type0}"
    if group.opcode == Op.AtomicFlagTestAndSet:
        yield ~group.result.is_kind(Op.TypeBool), "{op} gives a boolean, not {type}"


@rule("barrier-scope", "A control barrier is for a work-group or a sub-group.",
      "OpenCL SPIR-V environment; SPIR-V 3.3.20 Barrier Instructions", Op.ControlBarrier)
def barrier_scope(group: Group) -> Findings:
    scope = group.constant(0)
    yield (scope >= 0) & ~np.isin(scope, (Scope.Workgroup, Scope.Subgroup)), \
        "the execution scope of {op} is Workgroup (2) or Subgroup (3)"


@rule("split-barrier-scope", "A split barrier is for a work-group.", "SPV_INTEL_split_barrier",
      Op.ControlBarrierArriveEXT, Op.ControlBarrierWaitEXT)
def split_barrier_scope(group: Group) -> Findings:
    scope = group.constant(0)
    yield (scope >= 0) & ~np.isin(scope, (Scope.Workgroup,)), "the execution scope of {op} is Workgroup (2)"


@rule("split-barrier-pair", "A function that arrives at a split barrier waits for it, too.", "SPV_INTEL_split_barrier",
      severity="warning")
def split_barrier_pair(view: ModuleView) -> Findings:
    arrive = {int(view.flow.function_of[i]): i for i in view.indices(Op.ControlBarrierArriveEXT)}
    wait = {int(view.flow.function_of[i]): i for i in view.indices(Op.ControlBarrierWaitEXT)}
    for function in sorted(arrive.keys() ^ wait.keys()):
        missing = "OpControlBarrierWaitINTEL" if function in arrive else "OpControlBarrierArriveINTEL"
        yield (arrive | wait)[function], f"{{op}} has no {missing} in the same function"
