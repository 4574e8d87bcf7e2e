"""Rules about access chains and pointers (SPIR-V 3.3.8)."""

from __future__ import annotations

import numpy as np

from coopmat.spirv.grammar import AddressingModel, Capability, Op, StorageClass
from coopmat.spirv.validate.families.declarations import contains
from coopmat.spirv.validate.rules import Findings, rule
from coopmat.spirv.validate.types import TYPES, Booleans, Types
from coopmat.spirv.validate.view import Group, ModuleView

SECTION = "SPIR-V 3.3.8 Memory Instructions"
UNTYPED = "SPV_KHR_untyped_pointers"

_CHAINS = (Op.AccessChain, Op.InBoundsAccessChain)
_POINTER_CHAINS = (Op.PtrAccessChain, Op.InBoundsPtrAccessChain)
_UNTYPED_CHAINS = (Op.UntypedAccessChainKHR, Op.UntypedInBoundsAccessChainKHR)
_UNTYPED_POINTER_CHAINS = (Op.UntypedPtrAccessChainKHR, Op.UntypedInBoundsPtrAccessChainKHR)
_ABSTRACT = tuple(TYPES - {Op.TypeInt, Op.TypeFloat, Op.TypeVector, Op.TypeMatrix, Op.TypeArray, Op.TypeStruct,
                           Op.TypePointer, Op.TypeBool})
"""Types without a bit pattern (2.2.2), booleans apart: producers ask for their size."""
_MOST_INDICES = 255
"""The number of indices that the specification's universal limits ask for (2.17)."""


def _chain(group: Group, base: Types, first: int) -> Findings:
    """What all typed access chains have in common; ``first`` is the place of the first index into the pointee."""
    result = group.result
    good = base.is_kind(Op.TypePointer) & result.is_kind(Op.TypePointer)
    yield ~base.is_kind(Op.TypePointer), "the base of {op} is a pointer, not {type0}"
    yield ~result.is_kind(Op.TypePointer), "the result of {op} is a pointer, not {type}"
    yield good & (base.storage != result.storage), "{op} cannot change the storage class: {type0} to {type}"
    yield from _indices(group, 1)
    reached, wrong = _follow(group, base.element, first)
    yield good & wrong, "an index of {op} leads beyond the parts of {pointee0}, or into a structure by a variable"
    for chosen, found in group.by_type(reached, good & ~wrong & (reached != result.element)):
        yield chosen, f"the indices of {{op}} lead to {found}; the result, {{type}}, points to another type"


def _indices(group: Group, first: int) -> Findings:
    for place in group.places(first):
        index = group.value(place)
        yield group.has(place) & ~index.is_kind(Op.TypeInt), f"the indices of {{op}} are integers, not {{type{place}}}"
        if group.view.memory_model[0] in (AddressingModel.Logical, AddressingModel.PhysicalStorageBuffer64):
            logical = ~group.result.in_storage(StorageClass.PhysicalStorageBuffer)
            yield logical & (index.signed == 1) & (group.constant(place) >> np.maximum(index.width - 1, 0) == 1), \
                f"{{op}} into logical memory has a negative index, {{def{place}}}"
    yield group.size - first > _MOST_INDICES, f"{{op}} has more than {_MOST_INDICES} indices"


def _follow(group: Group, start: Types, first: int) -> tuple[Types, np.ndarray]:
    """The types reached from ``start``, and whether an index leads nowhere.

    Indices into structures must be constants; those into arrays and vectors are not counted.
    """
    places, wrong = start.places.copy(), np.zeros(len(group), bool)
    for place in group.places(first):
        step = group.has(place) & ~wrong
        whole = Types(start.table, places)
        structure = step & whole.is_kind(Op.TypeStruct)
        plain = step & ~structure
        parts = whole.is_kind(Op.TypeVector, Op.TypeMatrix, Op.TypeArray, Op.TypeRuntimeArray,
                              Op.TypeCooperativeMatrixKHR)
        wrong |= plain & ~parts
        places = np.where(plain & parts, whole.element.places, places)
        if structure.any():
            sub = group.take(structure)
            member, bad = _member(sub, Types(start.table, whole.places[structure]), place)
            wrong[structure] = bad
            places[structure] = member
    return Types(start.table, places), wrong


def _member(group: Group, structures: Types, place: int) -> tuple[np.ndarray, np.ndarray]:
    table = group.view.type_table
    index = group.constant(place)
    found = np.zeros(len(group), np.int64)
    for i, (structure, member) in enumerate(zip(structures.places.tolist(), index.tolist(), strict=True)):
        declaration = table.instructions[structure]
        assert declaration is not None
        if 0 <= member < len(declaration.words):
            found[i] = table.position.get(declaration.words[member], 0)
    return found, found == 0


@rule("access-chain", "An access chain leads from a pointer to a part of what it points to.",
      f"{SECTION}; SPV_KHR_cooperative_matrix", *_CHAINS)
def access_chain(group: Group) -> Findings:
    yield from _chain(group, group.value(0), 1)


@rule("pointer-access-chain", "A pointer access chain steps over elements, then leads to a part of one.", SECTION,
      *_POINTER_CHAINS)
def pointer_access_chain(group: Group) -> Findings:
    yield from _chain(group, group.value(0), 2)


@rule("untyped-access-chain",
      "An untyped access chain leads through a type that it names, and gives an untyped pointer.",
      UNTYPED, *_UNTYPED_CHAINS, *_UNTYPED_POINTER_CHAINS)
def untyped_access_chain(group: Group) -> Findings:
    result, base = group.result, group.value(1)
    yield ~result.is_kind(Op.TypeUntypedPointerKHR), "the result of {op} is an untyped pointer, not {type}"
    yield ~base.is_pointer, "the base of {op} is a pointer, not {type1}"
    yield base.is_pointer & result.is_pointer & (base.storage != result.storage), \
        "{op} cannot change the storage class: {type1} to {type}"
    yield group.type(0).is_pointer, "{op} leads through {def0}, which must not be a pointer"
    yield from _indices(group, 2)
    _, wrong = _follow(group, group.type(0), 3 if group.opcode in _UNTYPED_POINTER_CHAINS else 2)
    yield wrong, "an index of {op} leads beyond the parts of {def0}, or into a structure by a variable"


@rule("untyped-variable", "A variable without type has an untyped pointer of its storage class; within a module's own "
      "memory it names the type that it holds.", UNTYPED, Op.UntypedVariableKHR)
def untyped_variable(group: Group) -> Findings:
    untyped = group.result.is_kind(Op.TypeUntypedPointerKHR)
    yield ~untyped, "{op} has an untyped pointer type, not {type}"
    yield untyped & (group.word(0) != group.result.storage), "the storage class of {op}, {word0}, is not that of {type}"
    yield group.word(0) == int(StorageClass.Generic), "a variable cannot be in Generic storage"
    own = np.isin(group.word(0), (StorageClass.Function, StorageClass.Private, StorageClass.Workgroup))
    yield own & ~group.has(1), "{op} in this storage class needs the type that it holds"


@rule("pointer-comparison", "Pointers of one type are compared, giving a boolean, or subtracted, giving an integer.",
      SECTION, Op.PtrEqual, Op.PtrNotEqual, Op.PtrDiff)
def pointer_comparison(group: Group) -> Findings:
    view, result = group.view, group.result
    if group.opcode == Op.PtrDiff:
        yield ~result.is_kind(Op.TypeInt), "{op} gives an integer, not {type}"
    else:
        yield ~result.is_kind(Op.TypeBool), "{op} gives a boolean, not {type}"
    pointer = group.value(0)
    yield ~pointer.is_pointer, "{op} takes pointers, not {type0}"
    untyped = pointer.is_kind(Op.TypeUntypedPointerKHR) | group.value(1).is_kind(Op.TypeUntypedPointerKHR)
    differ = np.where(untyped, pointer.storage != group.value(1).storage, pointer != group.value(1))
    yield differ, "the operands of {op} differ: {type0} and {type1}"
    yield pointer.in_storage(StorageClass.PhysicalStorageBuffer), \
        "{op} cannot take pointers to PhysicalStorageBuffer memory"
    if view.memory_model[0] == AddressingModel.Logical:
        if not view.has(Capability.VariablePointers, Capability.VariablePointersStorageBuffer):
            yield group.all, "{op} needs variable pointers in the addressing model Logical"
        classes = [StorageClass.StorageBuffer]
        if view.has(Capability.VariablePointers):
            classes.append(StorageClass.Workgroup)
        yield pointer.is_pointer & ~pointer.in_storage(*classes), \
            "{op} takes pointers to StorageBuffer memory, with the capability VariablePointers also to Workgroup " \
            "memory, in the addressing model Logical, not {type0}"


@rule("generic-semantics", "The semantics of a generic pointer are a 32-bit integer.",
      SECTION, Op.GenericPtrMemSemantics)
def generic_semantics(group: Group) -> Findings:
    yield ~group.result.is_int(32) | (group.result.signed == 1), \
        "{op} gives a 32-bit integer of signedness 0, not {type}"
    yield ~(group.value(0).is_pointer & group.value(0).in_storage(StorageClass.Generic)), \
        "{op} takes a pointer of storage class Generic, not {type0}"


def _abstract(view: ModuleView) -> Booleans:
    """For each type, whether it is or contains one without a bit pattern."""
    return contains(view, _ABSTRACT)


@rule("size-of", "OpSizeOf gives the size of what a pointer points to as a 32-bit integer.",
      "SPIR-V 3.3.1 Miscellaneous Instructions", Op.SizeOf)
def size_of(group: Group) -> Findings:
    yield ~group.result.is_int(32), "{op} gives a 32-bit integer, not {type}"
    pointer = Types(group.type(0).table, np.maximum(group.type(0).places, group.value(0).places))
    yield ~pointer.is_kind(Op.TypePointer), "{op} takes a typed pointer, not {def0}"
    abstract = group.view.derived(_abstract)[pointer.element.places]
    yield pointer.is_kind(Op.TypePointer) & abstract, \
        "what the operand of {op}, {def0}, points to is no concrete type: numbers, pointers, and what is made of them"
