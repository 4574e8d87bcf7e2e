"""Rules for decorations and debug names (SPIR-V 3.2.19, 3.2.20, 3.3.2, 3.3.3)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from coopmat.spirv.grammar import (
    CONVERSIONS,
    OPENCL_STD,
    AddressingModel,
    BuiltIn,
    Capability,
    Decoration,
    FPEncoding,
    FPFastMathMode,
    Op,
    StorageClass,
)
from coopmat.spirv.module.content import BUILT_IN_STORAGE
from coopmat.spirv.module.instruction import Instruction
from coopmat.spirv.validate.rules import Findings, rule
from coopmat.spirv.validate.types import POINTERS
from coopmat.spirv.validate.view import ModuleView

SECTION = "SPIR-V 3.2.19 Decoration"
BUILTINS = "SPIR-V 3.2.20 BuiltIn; OpenCL SPIR-V environment"
ANNOTATIONS = "SPIR-V 3.3.3 Annotation Instructions"

_SPEC_CONSTANTS = (Op.SpecConstantTrue, Op.SpecConstantFalse, Op.SpecConstant, Op.SpecConstantDataKHR)
_WRAPPING = (Op.IAdd, Op.ISub, Op.IMul, Op.ShiftLeftLogical, Op.SNegate, Op.ExtInst)
_ROUNDED = (Op.FConvert, Op.ConvertFToU, Op.ConvertFToS, Op.ConvertSToF, Op.ConvertUToF)
_TO_FLOATS = (Op.FConvert, Op.ConvertSToF, Op.ConvertUToF)
_FLOATS8 = (int(FPEncoding.Float8E4M3EXT), int(FPEncoding.Float8E5M2EXT))
_SATURATED = (Op.ConvertFToU, Op.ConvertFToS, Op.UConvert, Op.SConvert, Op.SatConvertSToU, Op.SatConvertUToS)
_TRANSPOSING = (*CONVERSIONS, Op.CooperativeMatrixConvertUseEXT)
_VARIABLES = (Op.Variable, Op.UntypedVariableKHR)
_MEMORY_OBJECTS = (*_VARIABLES, Op.FunctionParameter, Op.BufferPointerEXT)
_ARRAYS = (Op.TypeArray, Op.TypeRuntimeArray, *POINTERS)

_D = Decoration
_OF_STRUCTURES = (_D.Block, _D.BufferBlock, _D.GLSLShared, _D.GLSLPacked, _D.CPacked)
_OF_MEMORY = (_D.NoPerspective, _D.Flat, _D.Patch, _D.Centroid, _D.Sample, _D.Restrict, _D.Aliased, _D.Volatile,
              _D.Coherent, _D.NonWritable, _D.NonReadable, _D.XfbBuffer, _D.XfbStride, _D.Component, _D.Stream,
              _D.RestrictPointer, _D.AliasedPointer)
_OF_VARIABLES = (_D.Invariant, _D.Location, _D.Index, _D.Binding, _D.DescriptorSet,
                 _D.InputAttachmentIndex)

# Decoration → what it may stand on, and how a message calls that.
_TARGETS: dict[int, tuple[tuple[Op, ...], str]] = {
    _D.SpecId: (_SPEC_CONSTANTS, "scalar specialisation constants"),
    **dict.fromkeys(_OF_STRUCTURES, ((Op.TypeStruct,), "structure types")),
    **dict.fromkeys(_OF_MEMORY, (_MEMORY_OBJECTS, "variables and parameters that are pointers")),
    **dict.fromkeys(_OF_VARIABLES, (_VARIABLES, "variables")),
    _D.ArrayStride: (_ARRAYS, "array and pointer types"),
    _D.FuncParamAttr: ((Op.FunctionParameter, Op.Function), "functions and their parameters"),
    _D.Constant: (_VARIABLES, "variables"),
    _D.NoSignedWrap: (_WRAPPING, "integer arithmetic"),
    _D.NoUnsignedWrap: (_WRAPPING, "integer arithmetic"),
    _D.CooperativeMatrixTransposeEXT: (_TRANSPOSING, "conversions of cooperative matrices"),
    _D.SaturatedConversion: ((*_SATURATED, *_TO_FLOATS), "conversions to integers"),
}
_MEMBERS_ONLY = (_D.RowMajor, _D.ColMajor, _D.MatrixStride)
_NO_MEMBERS = (_D.SpecId, *_OF_STRUCTURES, _D.ArrayStride, _D.Aliased, _D.Constant, _D.Uniform, _D.UniformId,
               _D.SaturatedConversion, _D.Index, _D.Binding, _D.DescriptorSet, _D.FuncParamAttr, _D.FPRoundingMode,
               _D.FPFastMathMode, _D.LinkageAttributes, _D.NoContraction, _D.InputAttachmentIndex, _D.Alignment,
               _D.MaxByteOffset, _D.AlignmentId, _D.MaxByteOffsetId, _D.NoSignedWrap, _D.NoUnsignedWrap, _D.NonUniform,
               _D.RestrictPointer, _D.AliasedPointer, _D.CounterBuffer)
_WITH_IDS = frozenset(decoration for decoration in Decoration if "Id" in decoration.signature)
_OF_IDS = (Op.DecorateId, Op.MemberDecorateIdEXT)


def _name(decoration: int) -> str:
    return Decoration(decoration).spelling if decoration in Decoration._value2member_map_ else str(decoration)


@rule("decoration-target", "A decoration stands on what it is for.", SECTION)
def decoration_target(view: ModuleView) -> Findings:
    for index, decoration, _, identifier, member in view.annotations.all:
        target = view.definition(identifier)
        name = _name(decoration)
        if member is not None:
            if decoration in _NO_MEMBERS:
                yield index, f"{name} cannot stand on a member of a structure"
            continue
        if decoration in _MEMBERS_ONLY:
            yield index, f"{name} stands on members of structures only; {{named{identifier}}} is {target.name}"
        allowed, what = _TARGETS.get(decoration, ((), ""))
        if decoration == Decoration.Constant and view.opcode[index] == Op.GroupDecorate:
            allowed = (*allowed, Op.FunctionParameter)  # conformance modules do so
        if allowed and target.opcode not in allowed:
            yield index, f"{name} is for {what}; {{named{identifier}}} is {target.name}"
        elif decoration in _OF_MEMORY and view.definition(target.type_id or 0).opcode not in POINTERS:
            yield index, f"{name} is for {what}; {{named{identifier}}} is of type {{declared{target.type_id}}}"


@rule("decoration-rounding", "A rounding mode is for conversions to or from floating-point numbers.",
      f"{SECTION}, FPRoundingMode")
def decoration_rounding(view: ModuleView) -> Findings:
    if view.declared.unknown:  # which may allow it on more
        return
    for index, decoration, _, identifier, _ in view.annotations.all:
        target = view.definition(identifier)
        if decoration != Decoration.FPRoundingMode or target.type_id is None:
            continue
        extended = target.opcode == Op.ExtInst and _is_rounding_store(view, target)
        divided = target.opcode == Op.FDiv and view.has(Capability.RoundedDivideSqrtINTEL)
        if target.opcode not in _ROUNDED and not extended and not divided:
            yield index, "FPRoundingMode is for conversions to or from floating-point numbers; " \
                         f"{{named{identifier}}} is {target.name}"


def _is_rounding_store(view: ModuleView, target: Instruction) -> bool:
    """Whether an extended instruction is of a set that has rounding stores and conversions of its own."""
    if view.module.instruction_sets.get(target.words[0]) != "OpenCL.std":
        return False
    return target.words[1] != OPENCL_STD["sqrt"] or view.has(Capability.RoundedDivideSqrtINTEL)


@rule("decoration-saturated", "Conversions to floating-point numbers saturate without SaturatedConversion.",
      f"{SECTION}, SaturatedConversion", severity="warning")
def decoration_saturated(view: ModuleView) -> Findings:
    for index, decoration, _, identifier, _ in view.annotations.all:
        if decoration == Decoration.SaturatedConversion and view.definition(identifier).opcode in _TO_FLOATS:
            yield index, "SaturatedConversion is for conversions to integers: it changes nothing of " \
                         f"{{named{identifier}}}, which is {view.definition(identifier).name}"


@rule("decoration-float8", "A conversion that saturates to the largest 8-bit float gives 8-bit floats.",
      "SPV_EXT_float8, SaturatedToLargestFloat8NormalConversionEXT")
def decoration_float8(view: ModuleView) -> Findings:
    decoration = Decoration.SaturatedToLargestFloat8NormalConversionEXT
    for index, found, _, identifier, _ in view.annotations.all:
        if found == decoration:
            target = view.definition(identifier)
            component = view.value_types(np.array([identifier])).scalar
            if target.opcode not in _TO_FLOATS or int(component.encoding[0]) not in _FLOATS8:
                yield index, f"{decoration.spelling} is for conversions to 8-bit floats; {{named{identifier}}} is " \
                             f"{target.name}, which gives something else"


@rule("decoration-repeated", "A decoration is not given twice to one thing.", SECTION)
def decoration_repeated(view: ModuleView) -> Findings:
    seen: set[tuple[object, ...]] = set()
    several = {int(_D.UserSemantic), int(_D.CacheControlLoadINTEL),
               int(_D.CacheControlStoreINTEL)}
    for index, decoration, parameters, identifier, member in view.annotations.all:
        known = decoration in Decoration._value2member_map_
        if decoration == Decoration.FuncParamAttr:  # says no more the second time
            continue
        if decoration in several or not known:
            key: tuple[object, ...] = (identifier, member, decoration, parameters)
        else:
            key = (identifier, member, decoration)
        if key in seen:
            yield index, f"{{op}} gives {{named{identifier}}} the decoration {_name(decoration)}, which it has already"
        seen.add(key)


@rule("decoration-conflict", "Decorations of one thing do not contradict each other.", SECTION)
def decoration_conflict(view: ModuleView) -> Findings:
    needed = int(FPFastMathMode.AllowContract | FPFastMathMode.AllowReassoc)
    for identifier, entries in view.annotations.of_id.items():
        own = {entry.decoration: entry for entry in entries if entry.member is None}
        for one, other in ((_D.FPFastMathMode, _D.NoContraction), (_D.Aliased, _D.Restrict),
                           (_D.AliasedPointer, _D.RestrictPointer), (_D.Block, _D.BufferBlock)):
            if one in own and other in own:
                yield max(own[one].at, own[other].at), \
                    f"{{named{identifier}}} is both {one.spelling} and {other.spelling}"
        fast = own.get(_D.FPFastMathMode)
        if fast is not None and fast.parameters[0] & int(FPFastMathMode.AllowTransform) \
                and fast.parameters[0] & needed != needed:
            yield fast.at, "AllowTransform needs AllowContract and AllowReassoc"


@rule("decoration-alignment", "An alignment is a power of two.", f"{SECTION}, Alignment", severity="warning")
def decoration_alignment(view: ModuleView) -> Findings:
    for index, decoration, parameters, identifier, _ in view.annotations.all:
        if decoration == Decoration.Alignment and parameters:
            alignment = parameters[0]
            if alignment == 0 or alignment & alignment - 1:
                yield index, f"the alignment {alignment} of {{named{identifier}}} is no power of two: nothing " \
                             "follows from it"


@rule("decoration-by-id", "Decorations with ids are set by OpDecorateId, all others are not.", ANNOTATIONS)
def decoration_by_id(view: ModuleView) -> Findings:
    for index, item in view.of_opcode(Op.Decorate, Op.DecorateId, Op.MemberDecorate, Op.MemberDecorateIdEXT):
        decoration = item.words[2 if item.opcode in (Op.MemberDecorate, Op.MemberDecorateIdEXT) else 1]
        if decoration not in Decoration._value2member_map_:
            continue
        with_ids = decoration in _WITH_IDS
        if with_ids != (item.opcode in _OF_IDS):
            yield index, f"{_name(decoration)} {'takes ids' if with_ids else 'takes no ids'}: " \
                         f"{'OpDecorateId' if with_ids else 'OpDecorate'} sets it"


@rule("spec-id-unique", "No two specialisation constants have one SpecId.", f"{SECTION}, SpecId", severity="warning")
def spec_id_unique(view: ModuleView) -> Findings:
    owner: dict[int, int] = {}
    for index, decoration, parameters, identifier, _ in view.annotations.all:
        if decoration == Decoration.SpecId and owner.setdefault(parameters[0], identifier) != identifier:
            yield index, f"{{named{owner[parameters[0]]}}} has the SpecId {parameters[0]}, too: one value sets both"


@rule("member-decoration", "A member decoration is for a structure that has this member.", ANNOTATIONS)
def member_decoration(view: ModuleView) -> Findings:
    for index, item in view.of_opcode(Op.MemberDecorate, Op.MemberDecorateString, Op.MemberDecorateIdEXT,
                                      Op.MemberName):
        target = view.definition(item.words[0])
        if target.opcode != Op.TypeStruct:
            yield index, "{op} is for structure types; {id0} is " + target.name
        elif item.words[1] >= len(target.words) and not _is_long(view, item.words[0]):
            yield index, f"{{op}} names member {{word1}} of {{id0}}, which has {len(target.words)}"


def _is_long(view: ModuleView, structure: int) -> bool:
    """Whether an instruction of SPV_INTEL_long_composites adds members to a structure."""
    after = int(view.defined_by[structure]) + 1
    return after < len(view) and view.opcode[after] == Op.TypeStructContinuedINTEL


@rule("group-decoration", "A decoration group is used by decorations only; it does not decorate another.", ANNOTATIONS)
def group_decoration(view: ModuleView) -> Findings:
    for index, item in view.of_opcode(Op.GroupDecorate):
        for target in item.words[1:]:
            if view.definition(target).opcode == Op.DecorationGroup:
                yield index, f"{{op}} decorates {{named{target}}}, which is a decoration group itself"
    for index, item in view.of_opcode(Op.GroupMemberDecorate):
        for structure, member in zip(item.words[1::2], item.words[2::2], strict=False):
            target_item = view.definition(structure)
            if target_item.opcode != Op.TypeStruct or member >= len(target_item.words):
                yield index, f"{{op}} names member {member} of {{named{structure}}}, which does not exist"
    groups = view.result_id[view.indices(Op.DecorationGroup)]
    if len(groups):
        yield from _used_otherwise(view, set(groups.tolist()))


def _used_otherwise(view: ModuleView, groups: set[int]) -> Findings:
    allowed = {Op.Name, Op.Decorate, Op.DecorateId, Op.DecorateString, Op.GroupDecorate, Op.GroupMemberDecorate,
               Op.ExtInst}
    for at, _, identifier, _ in zip(*(column.tolist() for column in view.uses), strict=True):
        if identifier in groups and view.items[at].opcode not in allowed:
            yield at, f"{{op}} uses {{named{identifier}}}, which is a decoration group"


# --------------------------------------------------------------------------------------
# Built-in variables
# --------------------------------------------------------------------------------------

# Built-in → number of components (1: a scalar) and whether they are as wide as a pointer.
_KERNEL_BUILTINS: dict[int, tuple[int, bool]] = {
    **dict.fromkeys((BuiltIn.NumWorkgroups, BuiltIn.WorkgroupSize, BuiltIn.WorkgroupId, BuiltIn.LocalInvocationId,
                     BuiltIn.GlobalInvocationId, BuiltIn.GlobalSize, BuiltIn.EnqueuedWorkgroupSize,
                     BuiltIn.GlobalOffset), (3, True)),
    **dict.fromkeys((BuiltIn.GlobalLinearId, BuiltIn.LocalInvocationIndex), (1, True)),
    **dict.fromkeys((BuiltIn.WorkDim, BuiltIn.SubgroupSize, BuiltIn.SubgroupMaxSize, BuiltIn.NumSubgroups,
                     BuiltIn.NumEnqueuedSubgroups, BuiltIn.SubgroupId, BuiltIn.SubgroupLocalInvocationId), (1, False)),
}


@rule("builtin-target", "BuiltIn stands on a variable or member, the WorkgroupSize of shaders on a constant.", BUILTINS)
def builtin_target(view: ModuleView) -> Findings:
    for index, decoration, parameters, identifier, member in view.annotations.all:
        if decoration != Decoration.BuiltIn or member is not None or not parameters:
            continue
        target = view.definition(identifier)
        constant = "Constant" in target.name and target.type_id is not None
        if parameters[0] == BuiltIn.WorkgroupSize and view.is_shader:
            if not constant:
                yield index, f"WorkgroupSize of a shader module is a constant; {{named{identifier}}} is {target.name}"
        elif target.opcode not in _VARIABLES:
            yield index, f"a built-in is a variable or a member of a structure; {{named{identifier}}} is {target.name}"


def _kernel_builtins(view: ModuleView) -> Iterator[tuple[int, int, Instruction]]:
    """The built-in variables of a module with kernels: index of the decoration, built-in, and variable."""
    if view.runs_kernels:
        for index, decoration, parameters, identifier, _ in view.annotations.all:
            target = view.definition(identifier)
            if decoration == Decoration.BuiltIn and parameters and target.opcode == Op.Variable:
                yield index, parameters[0], target


@rule("builtin-variable", "A kernel's built-in is a variable of the type that OpenCL gives it.", BUILTINS)
def builtin_variable(view: ModuleView) -> Findings:
    pointer_width = {int(AddressingModel.Physical32): 32, int(AddressingModel.Physical64): 64}.get(
        view.memory_model[0], 0)
    for index, builtin, target in _kernel_builtins(view):
        if target.words[0] not in BUILT_IN_STORAGE:
            yield index, f"a built-in of a kernel is a variable in Input storage; {{named{target.result_id}}} is of " \
                         f"type {{declared{target.type_id}}}"
        elif builtin in _KERNEL_BUILTINS:
            components, wide = _KERNEL_BUILTINS[builtin]
            width = pointer_width if wide else 32
            if width and not _is_integers(view, target, components, width):
                shape = f"a vector of {components} {width}-bit integers" if components > 1 else f"a {width}-bit integer"
                yield index, f"the built-in {BuiltIn(builtin).spelling} is {shape}; {{named{target.result_id}}} is " \
                             f"of type {{declared{target.type_id}}}"


@rule("builtin-storage", "A kernel's built-in is in Input storage.", BUILTINS, severity="warning")
def builtin_storage(view: ModuleView) -> Findings:
    for index, _, target in _kernel_builtins(view):
        if target.words[0] in BUILT_IN_STORAGE and target.words[0] != StorageClass.Input:
            yield index, f"{{named{target.result_id}}} is built in, but not in Input storage: not every driver knows it"


def _is_integers(view: ModuleView, variable: Instruction, components: int, width: int) -> bool:
    pointer = view.definition(variable.type_id or 0)
    if pointer.opcode != Op.TypePointer:
        return True  # another rule says so
    pointee = view.definition(pointer.words[1])
    if pointee.opcode == Op.TypeVector:
        return pointee.words[1] == components and _is_integer(view.definition(pointee.words[0]), width)
    return components == 1 and _is_integer(pointee, width)


def _is_integer(kind: Instruction, width: int) -> bool:
    return kind.opcode == Op.TypeInt and kind.words[0] == width


@rule("builtin-members", "In a structure, either all members are built in or none; it is no member of another.",
      "SPIR-V 2.16.1 Universal Validation Rules")
def builtin_members(view: ModuleView) -> Findings:
    members: dict[int, set[int]] = {}
    for entry in view.annotations.all:
        if entry.decoration == Decoration.BuiltIn and entry.member is not None:
            members.setdefault(entry.target, set()).add(entry.member)
    for structure, built_in in members.items():
        declaration = view.definition(structure)
        index = int(view.defined_by[structure])
        if declaration.opcode == Op.TypeStruct and not view.broken[index] and len(built_in) < len(declaration.words):
            yield index, "{id} has built-in members beside others"
    if not members:
        return
    for index, item in view.of_opcode(Op.TypeStruct):
        for word in item.words:
            if word in members:
                yield index, f"{{id}} has the member type {{named{word}}}, a structure of built-in members"


@rule("block-nesting", "A block holds no block, and lies in no array with a stride.",
      "SPIR-V 2.16.2 Validation Rules for Shader Capabilities")
def block_nesting(view: ModuleView) -> Findings:
    if not view.has(Capability.Shader):
        return
    annotations = view.annotations
    blocks = annotations.targets(Decoration.Block) | annotations.targets(Decoration.BufferBlock)
    if not blocks:
        return
    inside: dict[int, bool] = {}
    for index, item in view.of_opcode(Op.TypeStruct, Op.TypeArray, Op.TypeRuntimeArray):
        held = item.words if item.opcode == Op.TypeStruct else item.words[:1]
        identifier = item.result_id or 0
        inside[identifier] = any(word in blocks or inside.get(word, False) for word in held)
        if item.opcode == Op.TypeStruct and identifier in blocks and inside[identifier]:
            yield index, "{id} is a block and holds a block"
        elif item.opcode != Op.TypeStruct and held[0] in blocks and annotations.has(identifier, Decoration.ArrayStride):
            yield index, "{id} is an array of blocks with an ArrayStride"
