"""Rules for decorations and debug names (SPIR-V 3.2.20, 3.2.21, 3.3.2, 3.3.3)."""

from __future__ import annotations

from collections.abc import Callable

from coopmat.spirv.grammar import BuiltIn, Capability, Decoration, Op, StorageClass
from coopmat.spirv.instruction import Instruction
from coopmat.spirv.validate.rules import Findings, rule
from coopmat.spirv.validate.view import ModuleView

SECTION = "SPIR-V 3.2.20 Decoration"
BUILTINS = "SPIR-V 3.2.21 BuiltIn; OpenCL SPIR-V environment"

_SPEC_CONSTANTS = (Op.SpecConstantTrue, Op.SpecConstantFalse, Op.SpecConstant)
_WRAPPING = (Op.IAdd, Op.ISub, Op.IMul, Op.ShiftLeftLogical, Op.SNegate)
_ROUNDED = (Op.FConvert, Op.ConvertFToU, Op.ConvertFToS, Op.ConvertSToF, Op.ConvertUToF)
_SATURATED = (Op.ConvertFToU, Op.ConvertFToS, Op.UConvert, Op.SConvert, Op.SatConvertSToU, Op.SatConvertUToS)
_MEMORY_OBJECTS = (Op.Variable, Op.UntypedVariableKHR, Op.FunctionParameter)

# Decoration → what it may stand on, and how a message calls that.
_TARGETS: dict[int, tuple[tuple[Op, ...], str]] = {
    Decoration.SpecId: (_SPEC_CONSTANTS, "scalar specialisation constants"),
    Decoration.FuncParamAttr: ((Op.FunctionParameter,), "function parameters"),
    Decoration.NoSignedWrap: ((*_WRAPPING, Op.ExtInst), "integer arithmetic"),
    Decoration.NoUnsignedWrap: ((*_WRAPPING, Op.ExtInst), "integer arithmetic"),
    Decoration.Restrict: ((*_MEMORY_OBJECTS, Op.TypeStruct), "variables and parameters"),
    Decoration.Aliased: ((*_MEMORY_OBJECTS, Op.TypeStruct), "variables and parameters"),
    Decoration.CPacked: ((Op.TypeStruct,), "structure types"),
    Decoration.SaturatedConversion: (_SATURATED, "conversions to integers"),
}

# Built-in → number of components (1: a scalar) and whether they are as wide as a pointer.
_KERNEL_BUILTINS: dict[int, tuple[int, bool]] = {
    **dict.fromkeys((BuiltIn.NumWorkgroups, BuiltIn.WorkgroupSize, BuiltIn.WorkgroupId, BuiltIn.LocalInvocationId,
                     BuiltIn.GlobalInvocationId, BuiltIn.GlobalSize, BuiltIn.EnqueuedWorkgroupSize,
                     BuiltIn.GlobalOffset), (3, True)),
    **dict.fromkeys((BuiltIn.GlobalLinearId, BuiltIn.LocalInvocationIndex), (1, True)),
    **dict.fromkeys((BuiltIn.WorkDim, BuiltIn.SubgroupSize, BuiltIn.SubgroupMaxSize, BuiltIn.NumSubgroups,
                     BuiltIn.NumEnqueuedSubgroups, BuiltIn.SubgroupId, BuiltIn.SubgroupLocalInvocationId), (1, False)),
}


def _decorations(view: ModuleView) -> list[tuple[int, Instruction, int, Instruction]]:
    """Index and instruction of each OpDecorate, the decoration, and what it stands on."""
    found = []
    for index, item in view.of_opcode(Op.Decorate, Op.DecorateId, Op.DecorateString):
        target = int(view.defined_by[item.words[0]])
        if view.opcode[target] != Op.DecorationGroup:
            found.append((index, item, item.words[1], view.items[target]))
    return found


@rule("decoration-target", "A decoration stands on what it is for.", SECTION)
def decoration_target(view: ModuleView) -> Findings:
    for index, _, decoration, target in _decorations(view):
        allowed, what = _TARGETS.get(decoration, ((), ""))
        if allowed and target.opcode not in allowed:
            yield index, f"{Decoration(decoration).spelling} is for {what}; {{id0}} is {target.name}"


@rule("decoration-repeated", "A decoration is not given twice to one thing.", SECTION)
def decoration_repeated(view: ModuleView) -> Findings:
    seen: set[tuple[int, ...]] = set()
    several = {int(Decoration.FuncParamAttr), int(Decoration.UserSemantic)}
    for index, item, decoration, _ in _decorations(view):
        if decoration in several:
            continue
        if item.words in seen:
            yield index, "{op} gives {id0} a decoration that it has already"
        seen.add(item.words)


@rule("decoration-alignment", "An alignment is a power of two.", f"{SECTION}, Alignment")
def decoration_alignment(view: ModuleView) -> Findings:
    for index, item, decoration, _ in _decorations(view):
        if decoration == Decoration.Alignment and len(item.words) > 2:
            alignment = item.words[2]
            if alignment == 0 or alignment & alignment - 1:
                yield index, "the alignment {word2} of {id0} is no power of two"


@rule("spec-id-unique", "No two specialisation constants have one SpecId.", f"{SECTION}, SpecId")
def spec_id_unique(view: ModuleView) -> Findings:
    owner: dict[int, int] = {}
    for index, item, decoration, _ in _decorations(view):
        if decoration == Decoration.SpecId and owner.setdefault(item.words[2], item.words[0]) != item.words[0]:
            yield index, f"%{owner[item.words[2]]} has the SpecId {{word2}}, too"


@rule("member-decoration", "A member decoration is for a structure that has this member.", "SPIR-V 3.3.3 Annotation "
      "Instructions")
def member_decoration(view: ModuleView) -> Findings:
    for index, item in view.of_opcode(Op.MemberDecorate, Op.MemberDecorateString, Op.MemberName):
        target = view.items[int(view.defined_by[item.words[0]])]
        if target.opcode != Op.TypeStruct:
            yield index, "{op} is for structure types; {id0} is " + target.name
        elif item.words[1] >= len(target.words):
            yield index, f"{{op}} names member {{word1}} of {{id0}}, which has {len(target.words)}"


@rule("group-decoration", "A decoration group is used by decorations only, and is decorated before.",
      "SPIR-V 3.3.3 Annotation Instructions")
def group_decoration(view: ModuleView) -> Findings:
    for index, item in view.of_opcode(Op.GroupMemberDecorate):
        for structure, member in zip(item.words[1::2], item.words[2::2], strict=False):
            target = view.items[int(view.defined_by[structure])]
            if target.opcode != Op.TypeStruct or member >= len(target.words):
                yield index, f"{{op}} names member {member} of %{structure}, which does not exist"


@rule("builtin-variable", "A kernel's built-in is an Input variable of the type that OpenCL gives it.", BUILTINS)
def builtin_variable(view: ModuleView) -> Findings:
    declared = view.declared.all
    if Capability.Kernel not in declared or Capability.Shader in declared:
        return
    pointer_width = {1: 32, 2: 64}.get(_addressing(view), 0)
    for index, item, decoration, target in _decorations(view):
        if decoration != Decoration.BuiltIn or len(item.words) < 3:
            continue
        if target.opcode != Op.Variable or target.words[0] != StorageClass.Input:
            yield index, "a built-in of a kernel is a variable in Input storage; {id0} is none"
        elif item.words[2] in _KERNEL_BUILTINS:
            components, wide = _KERNEL_BUILTINS[item.words[2]]
            width = pointer_width if wide else 32
            if width and not _is_integers(view, target, components, width):
                shape = f"a vector of {components} {width}-bit integers" if components > 1 else f"a {width}-bit integer"
                yield index, f"the built-in {BuiltIn(item.words[2]).spelling} is {shape}; {{id0}} is not"


def _addressing(view: ModuleView) -> int:
    models = [item.words[0] for _, item in view.of_opcode(Op.MemoryModel)]
    return models[0] if models else 0


def _is_integers(view: ModuleView, variable: Instruction, components: int, width: int) -> bool:
    definition: Callable[[int], Instruction] = view.module.definition
    pointee = definition(definition(variable.type_id or 0).words[1])
    if pointee.opcode == Op.TypeVector:
        return pointee.words[1] == components and _is_integer(definition(pointee.words[0]), width)
    return components == 1 and _is_integer(pointee, width)


def _is_integer(kind: Instruction, width: int) -> bool:
    return kind.opcode == Op.TypeInt and kind.words[0] == width
