"""Rules for variables, loads, stores and access chains (SPIR-V 3.3.8)."""

from __future__ import annotations

import numpy as np

from coopmat.spirv.grammar import Capability, MemoryAccess, Op, StorageClass
from coopmat.spirv.validate.group import Group
from coopmat.spirv.validate.rules import Findings, rule
from coopmat.spirv.validate.types import Types
from coopmat.spirv.validate.view import ModuleView

SECTION = "SPIR-V 3.3.8 Memory Instructions"

_CHAINS = (Op.AccessChain, Op.InBoundsAccessChain)
_POINTER_CHAINS = (Op.PtrAccessChain, Op.InBoundsPtrAccessChain)
_KERNEL_CLASSES = (StorageClass.UniformConstant, StorageClass.Input, StorageClass.Workgroup,
                   StorageClass.CrossWorkgroup, StorageClass.Function, StorageClass.Generic)
_READ_ONLY = (StorageClass.UniformConstant, StorageClass.Input)
_WITHOUT_SIZE = (Op.TypeVoid, Op.TypeFunction)


@rule("variable-type", "A variable's type is a pointer of its storage class.", SECTION, Op.Variable)
def variable_type(group: Group) -> Findings:
    yield ~group.result.is_kind(Op.TypePointer), "{op} has a pointer type, not {type}"
    yield group.result.is_kind(Op.TypePointer) & (group.word(0) != group.result.storage), \
        "the storage class of {op} differs from that of {type}"
    yield group.result.element.is_kind(*_WITHOUT_SIZE), "a variable cannot hold {result_pointee}"
    yield group.word(0) == int(StorageClass.Generic), "a variable cannot be in Generic storage"


@rule("variable-scope", "Variables in functions are in Function storage, and only they are.", SECTION)
def variable_scope(view: ModuleView) -> Findings:
    for index in view.indices(Op.Variable):
        inside = view.flow.function_of[index] >= 0
        function = view.items[index].words[0] == StorageClass.Function
        if inside and not function:
            yield index, "{op} within a function must be in Function storage"
        elif function and not inside:
            yield index, "{op} in Function storage must stand within a function"


@rule("variable-initializer", "An initialiser is a constant or a global variable, of the type of what is initialised.",
      SECTION, Op.Variable)
def variable_initializer(group: Group) -> Findings:
    has = group.has(1)
    definition = group.definition(1)
    is_variable = definition == int(Op.Variable)
    constants = [int(op) for op in Op if "Constant" in op.spelling]
    yield has & ~is_variable & ~np.isin(definition, constants), \
        "the initialiser of {op} is a constant or a global variable, not {def1}"
    yield has & (group.value(1) != group.result.element) & ~is_variable, \
        "the initialiser of {op} has type {type1}; {result_pointee} is needed"
    yield has & np.isin(group.word(0), (StorageClass.Workgroup, StorageClass.Input)), \
        "a variable of this storage class cannot have an initialiser"


@rule("kernel-storage", "A kernel module uses the storage classes of OpenCL.", "OpenCL SPIR-V environment",
      Op.TypePointer)
def kernel_storage(group: Group) -> Findings:
    declared = group.view.declared.all
    if Capability.Kernel in declared and Capability.Shader not in declared:
        yield ~np.isin(group.word(0), _KERNEL_CLASSES) & (group.word(0) <= int(StorageClass.StorageBuffer)) \
            & (group.word(0) != int(StorageClass.AtomicCounter)), \
            "a kernel module has no pointers of this storage class"


@rule("load-types", "A load gives what the pointer points to.", SECTION, Op.Load)
def load_types(group: Group) -> Findings:
    address = group.value(0)
    yield ~address.is_pointer, "{op} reads through a pointer, not {type0}"
    typed = address.is_kind(Op.TypePointer)
    yield typed & (address.element != group.result), "{op} through {type0} cannot give {type}"
    yield group.result.is_kind(*_WITHOUT_SIZE), "{op} cannot give {type}"
    yield group.word(1) & int(MemoryAccess.MakePointerAvailable) != 0, "MakePointerAvailable is for stores, not loads"


@rule("store-types", "A store writes a value of the type that the pointer points to.", SECTION, Op.Store)
def store_types(group: Group) -> Findings:
    address, value = group.value(0), group.value(1)
    yield ~address.is_pointer, "{op} writes through a pointer, not {type0}"
    typed = address.is_kind(Op.TypePointer)
    yield typed & (address.element != value), "{op} of {type1} through {type0}: {pointee0} is needed"
    yield value.is_kind(*_WITHOUT_SIZE), "{op} cannot write {type1}"
    yield group.word(2) & int(MemoryAccess.MakePointerVisible) != 0, "MakePointerVisible is for loads, not stores"
    yield address.is_pointer & np.isin(address.storage, _READ_ONLY), "{op} writes to read-only memory: {type0}"


@rule("alignment", "An alignment is a power of two.", "SPIR-V 3.2.26 Memory Operands", Op.Load, Op.Store)
def alignment(group: Group) -> Findings:
    place = 1 if group.opcode == Op.Load else 2
    aligned = group.word(place) & int(MemoryAccess.Aligned) != 0
    given = group.word(place + 1)
    yield aligned & ((given == 0) | (given & (given - 1) != 0)), \
        f"the alignment {{word{place + 1}}} of {{op}} is no power of two"


@rule("copy-memory", "Copies are between pointers to the same type.", SECTION, Op.CopyMemory, Op.CopyMemorySized)
def copy_memory(group: Group) -> Findings:
    target, source = group.value(0), group.value(1)
    yield ~target.is_pointer, "{op} writes through a pointer, not {type0}"
    yield ~source.is_pointer, "{op} reads through a pointer, not {type1}"
    if group.opcode == Op.CopyMemory:
        typed = target.is_kind(Op.TypePointer) & source.is_kind(Op.TypePointer)
        yield typed & (target.element != source.element), "{op} copies between {type1} and {type0}"
    else:
        size = group.value(2)
        yield ~size.is_kind(Op.TypeInt), "the size of {op} is an integer, not {type2}"
        yield group.constant(2) == 0, "the size of {op} is 0"


def _chain(group: Group, base: Types, first: int) -> Findings:
    """What all access chains have in common; ``first`` is the place of the first index into the pointee."""
    result = group.result
    good = base.is_kind(Op.TypePointer) & result.is_kind(Op.TypePointer)
    yield ~base.is_kind(Op.TypePointer), "the base of {op} is a pointer, not {type0}"
    yield ~result.is_kind(Op.TypePointer), "the result of {op} is a pointer, not {type}"
    yield good & (base.storage != result.storage), "{op} cannot change the storage class: {type0} to {type}"
    for place in group.places(1):
        yield group.has(place) & ~group.value(place).is_kind(Op.TypeInt), \
            f"the indices of {{op}} are integers, not {{type{place}}}"
    reached, wrong = _follow(group, base.element, first)
    yield good & wrong, "an index of {op} leads beyond the parts of {pointee0}, or into a structure by a variable"
    yield good & ~wrong & (reached != result.element), \
        "the indices of {op} lead to another type than {result_pointee}"


def _follow(group: Group, start: Types, first: int) -> tuple[Types, np.ndarray]:
    """Like :func:`descend`, but only indices into structures must be constants, and arrays are not counted."""
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


@rule("access-chain", "An access chain leads from a pointer to a part of what it points to.", SECTION, *_CHAINS)
def access_chain(group: Group) -> Findings:
    yield from _chain(group, group.value(0), 1)


@rule("pointer-access-chain", "A pointer access chain steps over elements, then leads to a part of one.", SECTION,
      *_POINTER_CHAINS)
def pointer_access_chain(group: Group) -> Findings:
    yield from _chain(group, group.value(0), 2)
