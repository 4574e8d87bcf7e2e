"""Rules for variables, loads, stores and copies (SPIR-V 3.3.8)."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from coopmat.spirv.grammar import (
    AddressingModel,
    Capability,
    Decoration,
    MemoryAccess,
    Op,
    Scope,
    StorageClass,
    parameters,
)
from coopmat.spirv.validate.families.declarations import contains, parts
from coopmat.spirv.validate.rules import Findings, rule
from coopmat.spirv.validate.types import POINTERS, Booleans, Integers, Types
from coopmat.spirv.validate.view import Group, ModuleView

SECTION = "SPIR-V 3.3.8 Memory Instructions"
OPERANDS = "SPIR-V 3.2.25 Memory Operands"

_VARIABLES = (Op.Variable, Op.UntypedVariableKHR)
_READ_ONLY = (StorageClass.UniformConstant, StorageClass.Input, StorageClass.PushConstant)
_WITHOUT_SIZE = (Op.TypeVoid, Op.TypeFunction)
_HIDDEN = (StorageClass.UniformConstant, StorageClass.Workgroup, StorageClass.CrossWorkgroup, StorageClass.Private,
           StorageClass.Function, StorageClass.Input, StorageClass.Output)
"""Storage classes that hosts do not see; booleans have no layout in others."""
_OTHER_CLASS = 31
_SHARED = (StorageClass.Uniform, StorageClass.Workgroup, StorageClass.CrossWorkgroup, StorageClass.Generic,
           StorageClass.Image, StorageClass.StorageBuffer, StorageClass.PhysicalStorageBuffer)


@rule("variable-type", "A variable's type is a pointer of its storage class.", SECTION, Op.Variable)
def variable_type(group: Group) -> Findings:
    typed = group.result.is_kind(Op.TypePointer)
    yield ~typed, "{op} has a pointer type, not {type}"
    yield typed & (group.word(0) != group.result.storage), "the storage class of {op}, {word0}, is not that of {type}"
    yield group.result.element.is_kind(*_WITHOUT_SIZE), "a variable cannot hold {result_pointee}"
    for storage in (StorageClass.Generic, StorageClass.PhysicalStorageBuffer):
        yield group.word(0) == int(storage), f"a variable cannot be in {storage.spelling} storage"


@rule("variable-scope", "Variables in functions are in Function storage, and only they are.", SECTION)
def variable_scope(view: ModuleView) -> Findings:
    for index in view.indices(*_VARIABLES):
        inside = view.flow.function_of[index] >= 0
        function = view.items[index].words[0] == StorageClass.Function
        if inside and not function:
            yield index, "{op} within a function must be in Function storage"
        elif function and not inside:
            yield index, "{op} in Function storage must stand within a function"


@rule("variable-initializer", "An initialiser is a constant or a global variable, of the type of what is initialised.",
      SECTION, *_VARIABLES)
def variable_initializer(group: Group) -> Findings:
    view = group.view
    untyped = group.opcode == Op.UntypedVariableKHR
    place = 2 if untyped else 1
    has = group.has(place)
    definition = group.definition(place)
    is_variable = np.isin(definition, _VARIABLES)
    local = is_variable & (view.flow.function_of[np.maximum(view.definition_of(group.word(place)), 0)] >= 0)
    yield has & (local | ~is_variable & ~group.is_constant(place)), \
        f"the initialiser of {{op}} is a constant or a global variable, not {{def{place}}}"
    pointee = group.type(1) if untyped else group.result.element
    shown = "{def1}" if untyped else "{result_pointee}"
    yield has & (group.value(place) != pointee), \
        f"the initialiser of {{op}} has type {{type{place}}}; {shown} is needed"
    yield has & np.isin(group.word(0), (StorageClass.Input, StorageClass.PushConstant)), \
        "a variable in Input or PushConstant memory cannot have an initialiser"
    if view.runs_kernels:
        empty = np.isin(definition, (Op.ConstantNull, Op.Undef))  # older producers write these
        yield has & (group.word(0) == int(StorageClass.Workgroup)) & ~empty, \
            "a variable in Workgroup memory cannot have an initialiser in OpenCL"


@rule("logical-pointer-variable", "In the addressing model Logical, variables hold only variable pointers, and only in "
      "Function or Private storage.", "SPIR-V 2.16.1 Universal Validation Rules, logical pointer types", *_VARIABLES)
def logical_pointer_variable(group: Group) -> Findings:
    view = group.view
    if view.memory_model[0] not in (AddressingModel.Logical, AddressingModel.PhysicalStorageBuffer64):
        return
    pointee = group.type(1) if group.opcode == Op.UntypedVariableKHR else group.result.element
    targets = view.derived(_pointer_targets)[pointee.places]
    allowed = [StorageClass.StorageBuffer] if view.has(Capability.VariablePointersStorageBuffer) else []
    if view.has(Capability.VariablePointers):
        allowed.append(StorageClass.Workgroup)
    holds = targets != 0
    shown = " or ".join(storage.spelling for storage in allowed)
    text = f"hold pointers to {shown} memory only" if allowed else "hold no pointers without the capability " \
        "VariablePointers or VariablePointersStorageBuffer"
    yield holds & (targets & ~_bits(allowed) != 0), \
        f"in this addressing model variables {text}: {{result_pointee}}"
    yield holds & ~np.isin(group.word(0), (StorageClass.Function, StorageClass.Private)), \
        "in this addressing model variables that hold pointers are in Function or Private storage: {type}"


def _bits(classes: Iterable[StorageClass]) -> int:
    """A set of storage classes as bits; those that an extension adds share one."""
    return sum({1 << min(int(storage), _OTHER_CLASS) for storage in classes})


def _pointer_targets(view: ModuleView) -> Integers:
    """For each type of the table, the storage classes that the logical pointers in it point to."""
    table = view.type_table
    found = np.zeros(len(table.rows), np.int64)
    for place, item in enumerate(table.instructions):
        if item is not None and item.opcode in POINTERS:
            storage = item.words[0]
            found[place] = 0 if storage == StorageClass.PhysicalStorageBuffer else 1 << min(storage, _OTHER_CLASS)
        elif item is not None:
            for part in parts(item):
                found[place] |= found[table.position.get(part, 0)]
    return found


@rule("boolean-storage", "Variables that hosts see hold no booleans; built-in ones of shaders may.",
      SECTION, Op.Variable)
def boolean_storage(group: Group) -> Findings:
    view = group.view
    holds = view.derived(_with_booleans)[group.result.element.places]
    yield holds & ~np.isin(group.word(0), _HIDDEN) & (group.word(0) <= int(StorageClass.StorageBuffer)), \
        "a variable in this storage class cannot hold booleans: {result_pointee}"
    shared = holds & np.isin(group.word(0), (StorageClass.Input, StorageClass.Output)) & view.is_shader
    if shared.any():
        of_members = {entry.target for entry in view.annotations.all if entry.decoration == Decoration.BuiltIn}
        built_in = np.isin(view.result_id[group.indices], list(of_members))
        built_in |= np.isin(view._type_columns.identifier[group.result.element.places], list(of_members))
        built_in |= np.isin(view._type_columns.identifier[group.result.element.element.places], list(of_members))
        yield shared & ~built_in, "a variable in Input or Output storage holds booleans only if it is built in"


def _with_booleans(view: ModuleView) -> Booleans:
    return contains(view, (Op.TypeBool,))


def _without_length(view: ModuleView) -> Booleans:
    return contains(view, (Op.TypeRuntimeArray,))


@rule("load-types", "A load gives what the pointer points to.", SECTION, Op.Load)
def load_types(group: Group) -> Findings:
    address = group.value(0)
    yield ~address.is_pointer, "{op} reads through a pointer, not {type0}"
    typed = address.is_kind(Op.TypePointer)
    yield typed & (address.element != group.result), "{op} through {type0} gives {pointee0}, not {type}"
    unsized = group.view.derived(_without_length)[group.result.places]
    yield unsized | group.result.is_kind(*_WITHOUT_SIZE), "{op} cannot give {type}, which has no known size"


@rule("store-types", "A store writes a value of the type that the pointer points to.", SECTION, Op.Store)
def store_types(group: Group) -> Findings:
    address, value = group.value(0), group.value(1)
    yield ~address.is_pointer, "{op} writes through a pointer, not {type0}"
    typed = address.is_kind(Op.TypePointer)
    yield typed & (address.element != value), "{op} of {type1} through {type0}: {pointee0} is needed"
    yield value.is_kind(*_WITHOUT_SIZE), "{op} cannot write {type1}"
    yield address.in_storage(*_READ_ONLY), "{op} writes to read-only memory: {type0}"


# --------------------------------------------------------------------------------------
# Memory operands
# --------------------------------------------------------------------------------------

# Instruction → place of the first memory operands, and of the pointers that they speak about.
_ACCESSES = {Op.Load: (1, (0,)), Op.Store: (2, (0,)), Op.CopyMemory: (2, (0, 1)), Op.CopyMemorySized: (3, (0, 1)),
             Op.CooperativeMatrixLoadKHR: (3, (0,)), Op.CooperativeMatrixStoreKHR: (4, (0,))}
_READING = (Op.Load, Op.CooperativeMatrixLoadKHR)
_WRITING = (Op.Store, Op.CooperativeMatrixStoreKHR)
_AVAILABLE, _VISIBLE = int(MemoryAccess.MakePointerAvailable), int(MemoryAccess.MakePointerVisible)
_ALIGNED, _NON_PRIVATE = int(MemoryAccess.Aligned), int(MemoryAccess.NonPrivatePointer)
_NUMBERED = [(int(bit), len(parameters(bit))) for bit in MemoryAccess if parameters(bit)]
"""Bits that bring words along, and how many."""


def _words_of(mask: Integers) -> Integers:
    """The number of words that follow the mask."""
    return sum(((mask & bit != 0) * count for bit, count in _NUMBERED), np.zeros(len(mask), np.int64))


def _second(group: Group, first: int) -> tuple[Booleans, Integers]:
    """Whether there is a second set of memory operands (of a copy's source), and its mask."""
    places = first + 1 + _words_of(group.word(first))
    has = group.has(first) & (group.size > places)
    at = np.minimum(group.first + np.minimum(places, np.maximum(group.size - 1, 0)), len(group.view.words) - 1)
    return has, np.where(has, group.view.words[at], 0)


@rule("alignment", "An alignment is a power of two.", OPERANDS, *_ACCESSES)
def alignment(group: Group) -> Findings:
    place, _ = _ACCESSES[group.opcode]
    aligned = group.word(place) & _ALIGNED != 0
    given = group.word(place + 1)
    yield aligned & ((given == 0) | (given & (given - 1) != 0)), \
        f"the alignment {{word{place + 1}}} of {{op}} is no power of two"


@rule("memory-operands", "What is read can be made visible, what is written available; both need memory that others "
      "share.", f"{OPERANDS}; SPV_KHR_cooperative_matrix", *_ACCESSES)
def memory_operands(group: Group) -> Findings:
    place, pointers = _ACCESSES[group.opcode]
    mask = group.word(place)
    if not mask.any() and len(pointers) == 1:
        return
    target = source = mask
    if len(pointers) > 1:
        has, other = _second(group, place)
        if group.view.module.version < 0x10400:
            yield has, "{op} has two sets of memory operands, which is possible from SPIR-V 1.4 on"
        source = np.where(has, other, mask)
        yield has & (target & _VISIBLE != 0), "MakePointerVisible is for what {op} reads, not for what it writes"
        yield has & (source & _AVAILABLE != 0), "MakePointerAvailable is for what {op} writes, not for what it reads"
    if group.opcode in _READING:
        yield mask & _AVAILABLE != 0, "MakePointerAvailable is for stores, not loads"
    if group.opcode in _WRITING:
        yield mask & _VISIBLE != 0, "MakePointerVisible is for loads, not stores"
    for bits, pointer in zip((target, source), pointers, strict=False):
        yield (bits & (_AVAILABLE | _VISIBLE) != 0) & (bits & _NON_PRIVATE == 0), \
            "MakePointerAvailable and MakePointerVisible need NonPrivatePointer, too"
        address = group.value(pointer)
        yield (bits & _NON_PRIVATE != 0) & address.is_pointer & ~address.in_storage(*_SHARED), \
            f"NonPrivatePointer needs memory that others share, not {{type{pointer}}}"


@rule("memory-operand-scope", "The scope in memory operands is a 32-bit integer, a constant one a known scope; "
      "that of a device needs a capability.", f"{OPERANDS}; SPIR-V 3.2.26 Scope", *_ACCESSES)
def memory_operand_scope(group: Group) -> Findings:
    view = group.view
    place, pointers = _ACCESSES[group.opcode]
    mask = group.word(place)
    sets = [(mask, np.full(len(group), place))]
    if len(pointers) > 1:
        sets.append((_second(group, place)[1], place + 1 + _words_of(mask)))
    for bits, start in sets:
        for bit in (_AVAILABLE, _VISIBLE):
            at = start + 1 + _words_of(bits & (bit - 1))
            chosen = (bits & bit != 0) & (at < group.size)
            if not chosen.any():
                continue
            scope = view.words[np.where(chosen, group.first + at, 0)]
            value = view.constants(scope)
            what = "MakePointerAvailable" if bit == _AVAILABLE else "MakePointerVisible"
            yield chosen & ~view.value_types(scope).is_int(32), f"the scope of {what} in {{op}} is a 32-bit integer"
            yield chosen & (value > max(Scope)), f"the scope of {what} in {{op}} is none that exists"
            if not view.has(Capability.VulkanMemoryModelDeviceScope):
                yield chosen & (value == int(Scope.Device)), \
                    f"the scope Device of {what} in {{op}} needs the capability VulkanMemoryModelDeviceScope"


@rule("physical-alignment", "An access to PhysicalStorageBuffer memory names an alignment.",
      "SPV_KHR_physical_storage_buffer, Memory Operands", Op.Load, Op.Store, Op.CopyMemory)
def physical_alignment(group: Group) -> Findings:
    place, pointers = _ACCESSES[group.opcode]
    aligned = group.word(place) & _ALIGNED != 0
    for pointer in pointers:
        address = group.value(pointer)
        physical = address.in_storage(StorageClass.PhysicalStorageBuffer)
        yield ~aligned & physical, f"{{op}} through {{type{pointer}}} must be Aligned"
        needed = group.view.derived(_largest_scalar)[address.element.places] // 8
        yield aligned & physical & (group.word(place + 1) < needed), \
            f"the alignment {{word{place + 1}}} of {{op}} is less than the size of a number in {{pointee{pointer}}}"


def _largest_scalar(view: ModuleView) -> Integers:
    """For each type of the table, the bits of the widest number in it."""
    table = view.type_table
    found = np.zeros(len(table.rows), np.int64)
    for place, (row, item) in enumerate(zip(table.rows, table.instructions, strict=True)):
        if row.kind in (Op.TypeInt, Op.TypeFloat):
            found[place] = row.width
        elif row.kind == Op.TypePointer:
            found[place] = 64
        elif item is not None:
            found[place] = max((int(found[table.position.get(part, 0)]) for part in parts(item)), default=0)
    return found


@rule("copy-memory", "Copies are between pointers to the same type, or of a size that is known not to be 0.", SECTION,
      Op.CopyMemory, Op.CopyMemorySized)
def copy_memory(group: Group) -> Findings:
    target, source = group.value(0), group.value(1)
    yield ~target.is_pointer, "{op} writes through a pointer, not {type0}"
    yield ~source.is_pointer, "{op} reads through a pointer, not {type1}"
    yield target.in_storage(*_READ_ONLY), "{op} writes to read-only memory: {type0}"
    typed = target.is_kind(Op.TypePointer) & source.is_kind(Op.TypePointer)
    if group.opcode == Op.CopyMemory:
        yield typed & (target.element != source.element), \
            "{op} from {type1} to {type0}: both must point to one type"
        without_length = group.view.derived(_without_length)
        for place, pointer in ((0, target), (1, source)):
            unsized = pointer.element.is_kind(*_WITHOUT_SIZE) | without_length[pointer.element.places]
            yield pointer.is_kind(Op.TypePointer) & unsized, \
                f"{{op}} through {{type{place}}}: what that points to has no known size"
        yield target.is_kind(Op.TypeUntypedPointerKHR) & source.is_kind(Op.TypeUntypedPointerKHR), \
            "{op} between untyped pointers has no type: OpCopyMemorySized is needed"
        return
    size = group.value(2)
    yield ~size.is_kind(Op.TypeInt), "the size of {op} is an integer, not {type2}"
    constant = group.constant(2)
    yield (constant == 0) | (group.definition(2) == int(Op.ConstantNull)), "the size of {op} is 0; at least 1 is needed"
    yield (size.signed == 1) & (constant >= 0) & (constant >> np.maximum(size.width - 1, 0) & 1 == 1), \
        "the size of {op}, {def2}, is negative"


@rule("array-length", "The length of a structure's last member, an array of unknown length, is a 32-bit integer.",
      SECTION, Op.ArrayLength, Op.UntypedArrayLengthKHR)
def array_length(group: Group) -> Findings:
    view = group.view
    untyped = group.opcode == Op.UntypedArrayLengthKHR
    yield ~(group.result.is_int(32) & (group.result.signed == 0)), \
        "{op} gives a 32-bit integer of signedness 0, not {type}"
    pointer = group.value(1 if untyped else 0)
    yield ~pointer.is_pointer, f"{{op}} takes a pointer, not {{type{int(untyped)}}}"
    structure: Types = group.type(0) if untyped else pointer.element
    yield pointer.is_pointer & ~structure.is_kind(Op.TypeStruct), "{op} takes a pointer to a structure, not {type0}"
    member = group.word(2 if untyped else 1)
    for offset in np.flatnonzero(structure.is_kind(Op.TypeStruct)).tolist():
        item = view.type_table.instructions[int(structure.places[offset])]
        assert item is not None
        last = len(item.words) - 1
        if int(member[offset]) != last or view.definition(item.words[last]).opcode != Op.TypeRuntimeArray:
            yield group.only(offset), "{op} takes the last member of a structure, which must be an OpTypeRuntimeArray"


LIFETIMES = "SPIR-V 3.3.17 Control-Flow Instructions, OpLifetimeStart"


@rule("lifetime", "A lifetime is that of a function's variable; a size needs the capability Addresses.",
      LIFETIMES, Op.LifetimeStart, Op.LifetimeStop)
def lifetime(group: Group) -> Findings:
    address = group.value(0)
    yield ~address.is_pointer, "{op} takes a pointer, not {type0}"
    yield address.is_pointer & ~address.in_storage(StorageClass.Function), \
        "{op} takes a pointer to Function memory, not {type0}"
    if not group.view.has(Capability.Addresses):
        yield group.word(1) != 0, "the size of {op} is {word1}; without the capability Addresses it must be 0"


@rule("lifetime-size", "The size of a lifetime is 0 where the type of the variable tells it.", LIFETIMES,
      Op.LifetimeStart, Op.LifetimeStop, severity="warning")
def lifetime_size(group: Group) -> Findings:
    address = group.value(0)
    wrong = address.is_kind(Op.TypePointer) & ~address.element.is_kind(Op.TypeVoid) & (group.word(1) != 0)
    yield wrong & (np.cumsum(wrong) == 1), \
        "the size of {op} is {word1}; for {type0}, whose type tells the size, it must be 0 (of several, the first)"
