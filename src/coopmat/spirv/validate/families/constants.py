"""Rules about constants and OpUndef (SPIR-V 3.3.7)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from coopmat.spirv.grammar import Capability, Op, StorageClass, instruction
from coopmat.spirv.module.instruction import Instruction
from coopmat.spirv.validate.families.declarations import parts
from coopmat.spirv.validate.rules import Findings, rule
from coopmat.spirv.validate.types import Booleans
from coopmat.spirv.validate.view import Group, ModuleView

SECTION = "SPIR-V 3.3.7 Constant-Creation Instructions"

_SPECIALISATION = (Op.SpecConstantTrue, Op.SpecConstantFalse, Op.SpecConstant, Op.SpecConstantComposite,
                   Op.SpecConstantOp, Op.SpecConstantCompositeReplicateEXT)
_REPLICATED = (Op.ConstantCompositeReplicateEXT, Op.SpecConstantCompositeReplicateEXT,
               Op.CompositeConstructReplicateEXT)


@rule("boolean-constant", "OpConstantTrue and OpConstantFalse are booleans.", SECTION,
      Op.ConstantTrue, Op.ConstantFalse, Op.SpecConstantTrue, Op.SpecConstantFalse)
def boolean_constant(group: Group) -> Findings:
    yield ~group.result.is_kind(Op.TypeBool), "{op} is a boolean, not {type}"


@rule("number-constant", "A constant is an integer or a float, with as many words as its type needs; bits above its "
      "width repeat the sign or are 0.", f"{SECTION}; 2.2.1 Instructions, Literal", Op.Constant, Op.SpecConstant)
def number_constant(group: Group) -> Findings:
    result = group.result
    fits = result.is_kind(Op.TypeInt, Op.TypeFloat)
    yield ~fits, "{op} is an integer or a float, not {type}"
    words = np.maximum(1, (result.width + 31) // 32)
    counted = group.size == words
    yield fits & ~counted, "the value of {op} has another number of words than {type} needs"
    narrow = fits & counted & (result.width < 32)
    value = group.word(0)
    unused = np.where(narrow, 0xFFFFFFFF << result.width & 0xFFFFFFFF, 0)
    negative = (result.signed == 1) & (value >> np.maximum(result.width - 1, 0) & 1 == 1)
    yield (value & unused) != np.where(negative, unused, 0), \
        "the value of {op}, {word0}, has bits beyond the width of {type}"


@rule("composite-constant", "The constituents of a constant fit its type; those of one that is not specialised are "
      "not, either.", f"{SECTION}; SPV_KHR_cooperative_matrix", Op.ConstantComposite, Op.SpecConstantComposite)
def composite_constant(group: Group) -> Findings:
    view = group.view
    for offset, index, _ in group.each():
        item = view.items[index]
        if _is_continued(view, index):
            continue
        for message in constituents(view, item, item.words):
            yield group.only(offset), message
    yield from _specialised(group)


def _is_continued(view: ModuleView, index: int) -> bool:
    """Whether an instruction of SPV_INTEL_long_composites goes on with the constituents."""
    return index + 1 < len(view) and view.name_of(index + 1).endswith("ContinuedINTEL")


def _specialised(group: Group) -> Findings:
    if group.opcode in (Op.ConstantComposite, Op.ConstantCompositeReplicateEXT):
        for place in group.places():
            yield group.has(place) & np.isin(group.definition(place), _SPECIALISATION), \
                f"constituent {place} of {{op}} is the specialisation constant {{id{place}}}: " \
                "OpSpecConstantComposite is needed"


def constituents(view: ModuleView, item: Instruction, given: tuple[int, ...]) -> Iterator[str]:
    """What is wrong with the constituents from which a composite is made, one for each member."""
    declaration = view.definition(item.type_id or 0)
    members = member_types(view, declaration)
    if members is None:
        if declaration.opcode != Op.TypeArray:
            yield "{op} makes a vector, matrix, array, structure or cooperative matrix, not {type}"
            return
        members = [declaration.words[0]] * len(given)  # a specialisation constant says how many
    if len(given) != len(members):
        yield f"{{op}} has {len(given)} constituents; {{type}} is made of {len(members)}"
        return
    for place, (identifier, wanted) in enumerate(zip(given, members, strict=True)):
        if int(view.type_id[view.defined_by[identifier]]) != wanted:
            yield f"constituent {place} of {{op}} has type {{type{place}}}; %{wanted} is needed"


def member_types(view: ModuleView, declaration: Instruction) -> list[int] | None:
    """The type ids of a composite's constituents; None for what is no composite of known length.

    A cooperative matrix is made of one: the value of all its components.
    """
    match declaration.opcode:
        case Op.TypeVector | Op.TypeMatrix:
            return [declaration.words[0]] * min(declaration.words[1], MAX_CONSTITUENTS)
        case Op.TypeArray:
            length = view.constant(declaration.words[1])
            return [declaration.words[0]] * min(length, MAX_CONSTITUENTS) if length is not None else None
        case Op.TypeStruct:
            return list(declaration.words)
        case Op.TypeCooperativeMatrixKHR:
            return [declaration.words[0]]
    return None


MAX_CONSTITUENTS = 0x10000
"""More than an instruction has words; keeps a declared length of 2**32 from becoming a list."""


@rule("replicated-composite", "A value that fills a composite has the type of each of its parts.",
      "SPV_EXT_replicated_composites", *_REPLICATED)
def replicated_composite(group: Group) -> Findings:
    view = group.view
    composites = group.result.is_kind(Op.TypeVector, Op.TypeMatrix, Op.TypeArray, Op.TypeStruct,
                                      Op.TypeCooperativeMatrixKHR)
    yield ~composites, "{op} makes a composite, not {type}"
    yield composites & ~group.result.is_kind(Op.TypeStruct) & (group.value(0) != group.result.element), \
        "{op} fills {type} with values of another type: {type0}"
    for offset in np.flatnonzero(group.result.is_kind(Op.TypeStruct)).tolist():
        item = view.items[int(group.indices[offset])]
        given = int(view.type_id[view.defined_by[item.words[0]]])
        if any(member != given for member in view.definition(item.type_id or 0).words):
            yield group.only(offset), "{op} fills {type}, not all of whose members have type {type0}"
    yield from _specialised(group)


@rule("null-constant", "OpConstantNull has a type that has a null value.",
      f"{SECTION}; SPV_KHR_cooperative_matrix", Op.ConstantNull)
def null_constant(group: Group) -> Findings:
    yield ~_nullable(group.view)[group.result.places], "{type} has no null value"


_WITH_NULL = (Op.TypeBool, Op.TypeInt, Op.TypeFloat, Op.TypeEvent, Op.TypeDeviceEvent, Op.TypeReserveId, Op.TypeQueue,
              Op.TypePointer, Op.TypeUntypedPointerKHR)
_MADE_OF_NULLS = (Op.TypeVector, Op.TypeMatrix, Op.TypeArray, Op.TypeStruct, Op.TypeCooperativeMatrixKHR)


def _nullable(view: ModuleView) -> Booleans:
    """For each type of the table, whether it has a null value."""
    table = view.type_table
    found = np.zeros(len(table.rows), bool)
    for place, item in enumerate(table.instructions):
        if item is None:
            continue
        if item.opcode in _MADE_OF_NULLS:
            found[place] = all(found[table.position.get(part, 0)] for part in parts(item))
        else:
            found[place] = item.opcode in _WITH_NULL and table.rows[place].storage != StorageClass.PhysicalStorageBuffer
    return found


@rule("sampler-constant", "OpConstantSampler is a sampler.", SECTION, Op.ConstantSampler)
def sampler_constant(group: Group) -> Findings:
    yield ~group.result.is_kind(Op.TypeSampler), "{op} is a sampler, not {type}"
    yield group.word(1) > 1, "the coordinates of {op} are normalised (1) or not (0), not {word1}"


@rule("undef-type", "OpUndef has a type that has values.", "SPIR-V 3.3.1 Miscellaneous Instructions", Op.Undef)
def undef_type(group: Group) -> Findings:
    yield group.result.is_kind(Op.TypeVoid, Op.TypeFunction), "{op} cannot have type {type}"


# --------------------------------------------------------------------------------------
# OpSpecConstantOp
# --------------------------------------------------------------------------------------

_ANY_MODULE = frozenset({
    Op.SConvert, Op.UConvert, Op.FConvert, Op.SNegate, Op.Not, Op.IAdd, Op.ISub, Op.IMul, Op.UDiv, Op.SDiv, Op.UMod,
    Op.SRem, Op.SMod, Op.ShiftRightLogical, Op.ShiftRightArithmetic, Op.ShiftLeftLogical, Op.BitwiseOr,
    Op.BitwiseXor, Op.BitwiseAnd, Op.VectorShuffle, Op.CompositeExtract, Op.CompositeInsert, Op.LogicalOr,
    Op.LogicalAnd, Op.LogicalNot, Op.LogicalEqual, Op.LogicalNotEqual, Op.Select, Op.IEqual, Op.INotEqual,
    Op.ULessThan, Op.SLessThan, Op.UGreaterThan, Op.SGreaterThan, Op.ULessThanEqual, Op.SLessThanEqual,
    Op.UGreaterThanEqual, Op.SGreaterThanEqual, Op.QuantizeToF16, Op.CooperativeMatrixLengthKHR,
    Op.CooperativeMatrixLengthNV, Op.UntypedAccessChainKHR, Op.UntypedInBoundsAccessChainKHR,
    Op.UntypedPtrAccessChainKHR, Op.UntypedInBoundsPtrAccessChainKHR,
})
_KERNEL_MODULE = frozenset({
    Op.ConvertFToS, Op.ConvertSToF, Op.ConvertFToU, Op.ConvertUToF, Op.ConvertPtrToU, Op.ConvertUToPtr,
    Op.GenericCastToPtr, Op.PtrCastToGeneric, Op.Bitcast, Op.FNegate, Op.FAdd, Op.FSub, Op.FMul, Op.FDiv, Op.FRem,
    Op.FMod, Op.AccessChain, Op.InBoundsAccessChain, Op.PtrAccessChain, Op.InBoundsPtrAccessChain,
})


@rule("constant-operation", "OpSpecConstantOp carries out an instruction that constants may have; some only in kernel "
      "modules.", f"{SECTION}, OpSpecConstantOp")
def constant_operation(view: ModuleView) -> Findings:
    kernel = view.has(Capability.Kernel)
    for index in np.flatnonzero((view.opcode == Op.SpecConstantOp) & ~view.broken).tolist():
        row = instruction(int(view.operation[index]))
        if row is None:
            continue
        if row.opcode not in _ANY_MODULE | _KERNEL_MODULE:
            yield index, f"OpSpecConstantOp cannot carry out {row.name}"
        elif row.opcode in _KERNEL_MODULE and not kernel:
            yield index, f"OpSpecConstantOp carries out {row.name} only in modules with the capability Kernel"
        elif row.opcode == Op.UConvert and not kernel and view.module.version < 0x10400 \
                and "SPV_AMD_gpu_shader_int16" not in view.declared.extensions:
            yield index, "before SPIR-V 1.4, OpSpecConstantOp carries out OpUConvert only in modules with the " \
                         "capability Kernel"
