"""Rules of Vulkan's environment for compute shaders: modules with the capability Shader and no entry points of kernels.

Where a rule is from is told by Vulkan's own names of its valid usage (VUID).
"""

from __future__ import annotations

from collections.abc import Iterator

from coopmat.spirv.grammar import (
    AddressingModel,
    BuiltIn,
    Capability,
    Decoration,
    ExecutionMode,
    ExecutionModel,
    Op,
    Scope,
    StorageClass,
)
from coopmat.spirv.module.instruction import Instruction
from coopmat.spirv.validate.families.synchronization import SCOPE_PLACES
from coopmat.spirv.validate.rules import Findings, rule
from coopmat.spirv.validate.view import ModuleView

_SPIRV = "Vulkan, VUID-StandaloneSpirv"
_ABSENT = frozenset({
    Capability.Kernel, Capability.Addresses, Capability.Linkage, Capability.Vector16, Capability.Float16Buffer,
    Capability.Pipes, Capability.Groups, Capability.DeviceEnqueue, Capability.LiteralSampler,
    Capability.GenericPointer, Capability.SubgroupDispatch, Capability.NamedBarrier, Capability.PipeStorage,
    Capability.ImageBasic, Capability.ImageReadWrite, Capability.ImageMipmap, Capability.ImageRect,
    Capability.SampledRect, Capability.AtomicStorage,
})
"""Capabilities that no version of Vulkan has, nor an extension of it."""
_VARIABLES = (Op.Variable, Op.UntypedVariableKHR)
_GLOBAL_MEMORY = frozenset({StorageClass.CrossWorkgroup, StorageClass.Generic, StorageClass.AtomicCounter})
"""Storage classes of other environments."""


def is_vulkan(view: ModuleView) -> bool:
    """Whether the rules of Vulkan hold for a module: it has a compute shader, and no kernels."""
    models = {entry.model for entry in view.entry_points}
    return view.has(Capability.Shader) and not view.declared.unknown and ExecutionModel.GLCompute in models \
        and ExecutionModel.Kernel not in models


@rule("vulkan-capabilities", "In Vulkan, a shader has no capabilities of kernels.",
      "Vulkan, VUID-VkShaderModuleCreateInfo-pCode-08740")
def vulkan_capabilities(view: ModuleView) -> Findings:
    for index, item in view.of_opcode(Op.Capability) if is_vulkan(view) else ():
        if item.words[0] in _ABSENT:
            yield index, f"a shader for Vulkan cannot have the capability {Capability(item.words[0]).spelling}"


@rule("vulkan-addressing", "In Vulkan, addresses are logical, or those of physical storage buffers.",
      f"{_SPIRV}-None-04635")
def vulkan_addressing(view: ModuleView) -> Findings:
    allowed = (AddressingModel.Logical, AddressingModel.PhysicalStorageBuffer64)
    for index, item in view.of_opcode(Op.MemoryModel) if is_vulkan(view) else ():
        if item.words[0] not in allowed:
            yield index, "the addressing model of a shader for Vulkan is Logical or PhysicalStorageBuffer64"


@rule("vulkan-work-groups", "In Vulkan, a compute shader has a size of its work-groups.", f"{_SPIRV}-None-10685")
def vulkan_work_groups(view: ModuleView) -> Findings:
    sized = {item.words[0] for _, item in view.of_opcode(Op.ExecutionMode, Op.ExecutionModeId)
             if item.words[1] in (ExecutionMode.LocalSize, ExecutionMode.LocalSizeId)}
    is_sized = any(entry.decoration == Decoration.BuiltIn and entry.parameters[:1] == (BuiltIn.WorkgroupSize,)
                   for entry in view.annotations.all)
    for entry in view.entry_points if is_vulkan(view) else ():
        if entry.model == ExecutionModel.GLCompute and entry.function not in sized and not is_sized:
            yield entry.index, "a compute shader needs the execution mode LocalSize or LocalSizeId, or a constant " \
                               "that is the built-in WorkgroupSize"


_EXECUTION = (Scope.Workgroup, Scope.Subgroup)
_MEMORY = (Scope.Device, Scope.QueueFamily, Scope.Workgroup, Scope.Subgroup, Scope.Invocation, Scope.ShaderCallKHR)


@rule("vulkan-scopes", "In Vulkan, work-groups and sub-groups execute together; memory is one device's.",
      f"{_SPIRV}-None-04636, VUID-StandaloneSpirv-None-04638, VUID-StandaloneSpirv-None-04642")
def vulkan_scopes(view: ModuleView) -> Findings:
    for opcode, places in SCOPE_PLACES.items() if is_vulkan(view) else ():
        is_sub_group = Op(opcode).spelling.startswith("GroupNonUniform")
        for index, item in view.of_opcode(Op(opcode)):
            for order, place in enumerate(places):
                scope = view.constant(item.words[place])
                executes = is_sub_group or (opcode == Op.ControlBarrier and order == 0)
                allowed = (Scope.Subgroup,) if is_sub_group else _EXECUTION if executes else _MEMORY
                if scope is not None and scope not in allowed:
                    names = " or ".join(one.spelling for one in allowed)
                    yield index, f"the {'execution' if executes else 'memory'} scope of {{op}} is {names} in Vulkan"


# --- variables ------------------------------------------------------------------------------


@rule("vulkan-storage", "In Vulkan, there are no storage classes of kernels.", f"{_SPIRV}-None-04643")
def vulkan_storage(view: ModuleView) -> Findings:
    for index, item in view.of_opcode(*_VARIABLES, Op.TypePointer) if is_vulkan(view) else ():
        if item.words[0] in _GLOBAL_MEMORY:
            yield index, f"there is no storage class {StorageClass(item.words[0]).spelling} in Vulkan"


@rule("vulkan-initializer", "In Vulkan, only a shader's own variables have initialisers, those of work-groups null.",
      f"{_SPIRV}-OpVariable-04651, VUID-StandaloneSpirv-OpVariable-04734")
def vulkan_initializer(view: ModuleView) -> Findings:
    allowed = (StorageClass.Output, StorageClass.Private, StorageClass.Function, StorageClass.Workgroup)
    for index, item in view.of_opcode(Op.Variable) if is_vulkan(view) else ():
        if len(item.words) < 2:
            continue
        if item.words[0] not in allowed:
            yield index, "a variable with an initialiser is in Output, Private, Function or Workgroup memory in Vulkan"
        elif item.words[0] == StorageClass.Workgroup and view.definition(item.words[1]).opcode != Op.ConstantNull:
            yield index, "the initialiser of a variable in Workgroup memory is null in Vulkan"


@rule("vulkan-resources", "In Vulkan, buffers and images have a descriptor set and a binding; push constants are one "
      "block.", f"{_SPIRV}-UniformConstant-06677, VUID-StandaloneSpirv-PushConstant-06675, "
      "VUID-StandaloneSpirv-OpEntryPoint-06674")
def vulkan_resources(view: ModuleView) -> Findings:
    if not is_vulkan(view):
        return
    bound = (StorageClass.UniformConstant, StorageClass.Uniform, StorageClass.StorageBuffer)
    constants = set()
    for index, item in view.of_opcode(Op.Variable):
        identifier = item.result_id or 0
        if item.words[0] in bound and not all(view.annotations.has(identifier, one)
                                              for one in (Decoration.DescriptorSet, Decoration.Binding)):
            yield index, "{op} needs the decorations DescriptorSet and Binding in Vulkan"
        if item.words[0] == StorageClass.PushConstant:
            constants.add(identifier)
            pointee = _pointee(view, item)
            if pointee is None or pointee.opcode != Op.TypeStruct or \
                    not view.annotations.has(pointee.result_id or 0, Decoration.Block):
                yield index, "push constants are a structure with the decoration Block in Vulkan"
    for entry in view.entry_points:
        if len(constants.intersection(entry.interface)) > 1:
            yield entry.index, "an entry point has one variable of push constants at most in Vulkan"


def _pointee(view: ModuleView, variable: Instruction) -> Instruction | None:
    """What a variable holds, as far as that is known."""
    pointer = view.definition(variable.type_id or 0)
    return view.definition(pointer.words[1]) if pointer.opcode == Op.TypePointer else None


# --- layout ---------------------------------------------------------------------------------

_LAID_OUT = frozenset({StorageClass.Uniform, StorageClass.StorageBuffer, StorageClass.PushConstant,
                       StorageClass.PhysicalStorageBuffer})
_ARRAYS = (Op.TypeArray, Op.TypeRuntimeArray)


@rule("vulkan-layout", "In Vulkan, what is seen from outside is laid out by offsets and strides; local memory is not.",
      f"{_SPIRV}-None-10684; Vulkan, Offset and Stride Assignment")
def vulkan_layout(view: ModuleView) -> Findings:
    if not is_vulkan(view):
        return
    own = () if view.has(Capability.WorkgroupMemoryExplicitLayoutKHR) else (StorageClass.Workgroup,)
    for index, item in view.of_opcode(Op.Variable):
        pointee = _pointee(view, item)
        if pointee is None:
            continue
        if item.words[0] in _LAID_OUT:
            yield from ((index, text) for text in _badly_laid_out(view, pointee))
        elif item.words[0] in own and any(_is_laid_out(view, one) for one in _within(view, pointee)):
            yield index, "what a variable in Workgroup memory holds has offsets or strides in Vulkan only with the " \
                         "capability WorkgroupMemoryExplicitLayoutKHR"


def _within(view: ModuleView, kind: Instruction) -> Iterator[Instruction]:
    """A type, and the aggregates in it."""
    waiting, seen = [kind], set()
    while waiting:
        one = waiting.pop()
        if one.result_id in seen:
            continue
        seen.add(one.result_id)
        yield one
        if one.opcode == Op.TypeStruct:
            waiting += [view.definition(member) for member in one.words]
        elif one.opcode in _ARRAYS:
            waiting.append(view.definition(one.words[0]))


def _members(view: ModuleView, kind: Instruction) -> dict[int, int]:
    """The offset of each member of a structure that has one."""
    return {entry.member: entry.parameters[0] for entry in view.annotations.of_id.get(kind.result_id or 0, ())
            if entry.decoration == Decoration.Offset and entry.member is not None and entry.parameters}


def _stride(view: ModuleView, kind: Instruction) -> int | None:
    return next((entry.parameters[0] for entry in view.annotations.of_id.get(kind.result_id or 0, ())
                 if entry.decoration == Decoration.ArrayStride and entry.parameters), None)


def _is_laid_out(view: ModuleView, kind: Instruction) -> bool:
    return bool(_members(view, kind)) if kind.opcode == Op.TypeStruct else \
        kind.opcode in _ARRAYS and _stride(view, kind) is not None


def _badly_laid_out(view: ModuleView, pointee: Instruction) -> Iterator[str]:
    for kind in _within(view, pointee):
        name = f"{{named{kind.result_id}}}"
        if kind.opcode == Op.TypeStruct:
            offsets = _members(view, kind)
            for member, member_type in enumerate(kind.words):
                alignment = _alignment(view, view.definition(member_type))
                if member not in offsets:
                    yield f"member {member} of {name} needs the decoration Offset in Vulkan"
                elif offsets[member] % alignment:
                    yield f"member {member} of {name} at offset {offsets[member]} must be aligned to {alignment}"
        elif kind.opcode in _ARRAYS:
            stride, alignment = _stride(view, kind), _alignment(view, view.definition(kind.words[0]))
            if stride is None:
                yield f"the array {name} needs the decoration ArrayStride in Vulkan"
            elif stride % alignment:
                yield f"the stride {stride} of the array {name} must be a multiple of {alignment}"


def _alignment(view: ModuleView, kind: Instruction) -> int:
    """Of the largest scalar in a type, in bytes."""
    found = 1
    for one in _within(view, kind):
        scalar = view.definition(one.words[0]) if one.opcode == Op.TypeVector else one
        if scalar.opcode in (Op.TypeInt, Op.TypeFloat):
            found = max(found, scalar.words[0] // 8)
        elif scalar.opcode == Op.TypePointer:
            found = max(found, 8)
    return found
