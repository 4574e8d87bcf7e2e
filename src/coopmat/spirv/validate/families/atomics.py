"""Rules for atomics (SPIR-V 3.3.18)."""

from __future__ import annotations

import numpy as np

from coopmat.spirv.grammar import Capability, MemorySemantics, Op, StorageClass
from coopmat.spirv.validate.families.synchronization import COMPARING, SEMANTICS
from coopmat.spirv.validate.rules import Findings, rule
from coopmat.spirv.validate.types import Booleans, Types
from coopmat.spirv.validate.view import Group

SECTION = "SPIR-V 3.3.18 Atomic Instructions"

_INTEGER = (*COMPARING, Op.AtomicIIncrement, Op.AtomicIDecrement, Op.AtomicIAdd, Op.AtomicISub, Op.AtomicSMin,
            Op.AtomicUMin, Op.AtomicSMax, Op.AtomicUMax, Op.AtomicAnd, Op.AtomicOr, Op.AtomicXor)
_ANY_NUMBER = (Op.AtomicLoad, Op.AtomicExchange)
_FLOAT = (Op.AtomicFAddEXT, Op.AtomicFMinEXT, Op.AtomicFMaxEXT)
# Instruction → place of the value that is combined with memory.
_VALUE: dict[int, int] = {op: 3 for op in (*_INTEGER, *_ANY_NUMBER, *_FLOAT)
          if op not in (Op.AtomicLoad, Op.AtomicIIncrement, Op.AtomicIDecrement)}
_VALUE |= dict.fromkeys(COMPARING, 4)
_NOT_SHARED = (StorageClass.Input, StorageClass.Output, StorageClass.UniformConstant, StorageClass.Private,
               StorageClass.PushConstant)
_RELEASING = int(MemorySemantics.Release | MemorySemantics.AcquireRelease)
_ACQUIRING = int(MemorySemantics.Acquire | MemorySemantics.AcquireRelease)
_ANY_ORDER = int(MemorySemantics.SequentiallyConsistent) | _RELEASING | _ACQUIRING


@rule("atomic-order", "A load releases nothing, a store acquires nothing, a failed exchange releases nothing and is no "
      "stronger than a successful one.", f"{SEMANTICS}; {SECTION}", Op.AtomicLoad, Op.AtomicStore, *COMPARING,
      Op.AtomicFlagClear)
def atomic_order(group: Group) -> Findings:
    if group.opcode == Op.AtomicLoad:
        yield np.maximum(group.constant(2), 0) & _RELEASING != 0, "{op} cannot release"
        return
    if group.opcode not in COMPARING:
        yield np.maximum(group.constant(2), 0) & _ACQUIRING != 0, "{op} cannot acquire"
        return
    equal, unequal = np.maximum(group.constant(2), 0), np.maximum(group.constant(3), 0)
    yield unequal & _RELEASING != 0, "{op} cannot release where the values differ"
    known = group.constant(2) >= 0
    sequential = int(MemorySemantics.SequentiallyConsistent)
    stronger = (unequal & ~equal & sequential != 0) \
        | ((unequal & int(MemorySemantics.Acquire) != 0) & (equal & _ANY_ORDER == 0))
    yield known & stronger, "{op} has a stronger order where the values differ than where they are equal"


@rule("atomic-types", "An atomic works on a number in memory that others can change.", SECTION,
      *_INTEGER, *_ANY_NUMBER, *_FLOAT)
def atomic_types(group: Group) -> Findings:
    opcode, result = group.opcode, group.result
    if opcode in _INTEGER:
        yield ~result.is_kind(Op.TypeInt), "{op} works on integers, not {type}"
    elif opcode in _FLOAT:
        yield ~(result.is_kind(Op.TypeFloat) | _half_vectors(group)), "{op} works on floating-point numbers, not {type}"
    else:
        yield ~(result.is_kind(Op.TypeInt, Op.TypeFloat) | _half_vectors(group)), "{op} works on numbers, not {type}"
    yield from _pointer(group, result, "{type}")
    if opcode in _VALUE:
        place = _VALUE[opcode]
        yield group.value(place) != result, f"the value of {{op}} has type {{type{place}}}; {{type}} is needed"
    if opcode in COMPARING:
        yield group.value(5) != result, "the comparator of {op} has type {type5}; {type} is needed"


def _half_vectors(group: Group) -> Booleans:
    """Vectors of two or four halves, where a capability allows them."""
    if not group.view.has(Capability.AtomicFloat16VectorNV):
        return group.none
    return group.result.is_vector(Op.TypeFloat) & (group.result.scalar.width == 16) \
        & np.isin(group.result.length, (2, 4))


def _pointer(group: Group, value: Types, shown: str) -> Findings:
    address = group.value(0)
    yield ~address.is_pointer, "{op} works through a pointer, not {type0}"
    yield address.is_kind(Op.TypePointer) & (address.element != value), f"{{op}} of {shown} works through {{type0}}"
    private = (*_NOT_SHARED, StorageClass.Function) if group.view.has(Capability.Shader) else _NOT_SHARED
    yield address.is_pointer & address.in_storage(*private), \
        "{op} cannot work on memory of this storage class: {type0}"


@rule("atomic-width", "In OpenCL, the integers of atomics have 32 or 64 bits.",
      "OpenCL SPIR-V environment, Validation Rules", *_INTEGER, *_ANY_NUMBER, Op.AtomicStore)
def atomic_width(group: Group) -> Findings:
    view = group.view
    if view.runs_kernels and not view.declared.unknown and "SPV_INTEL_16bit_atomics" not in view.declared.extensions:
        stores = group.opcode == Op.AtomicStore
        number = group.value(3) if stores else group.result
        yield number.is_int() & ~number.is_int(32, 64), \
            f"{{op}} works on integers of 32 or 64 bits, not {'{type3}' if stores else '{type}'}"


@rule("atomic-store", "An atomic store writes a number of the type that the pointer points to.",
      SECTION, Op.AtomicStore)
def atomic_store(group: Group) -> Findings:
    yield ~group.value(3).is_kind(Op.TypeInt, Op.TypeFloat), "{op} writes a number, not {type3}"
    yield from _pointer(group, group.value(3), "{type3}")


@rule("atomic-flag", "An atomic flag is a 32-bit integer.", SECTION, Op.AtomicFlagTestAndSet, Op.AtomicFlagClear)
def atomic_flag(group: Group) -> Findings:
    address = group.value(0)
    good = address.is_kind(Op.TypePointer) & address.element.is_int(32)
    yield ~good, "{op} works through a typed pointer to a 32-bit integer, not {type0}"
    yield good & address.in_storage(*_NOT_SHARED), "{op} cannot work on memory of this storage class: {type0}"
    if group.opcode == Op.AtomicFlagTestAndSet:
        yield ~group.result.is_kind(Op.TypeBool), "{op} gives a boolean, not {type}"
