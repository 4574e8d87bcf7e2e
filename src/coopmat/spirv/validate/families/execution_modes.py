"""Rules for memory models, entry points and execution modes (SPIR-V 3.3.5)."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain

import numpy as np

from coopmat.spirv.grammar import (
    AddressingModel,
    Capability,
    ExecutionMode,
    ExecutionModel,
    MemoryModel,
    Op,
    Row,
    StorageClass,
)
from coopmat.spirv.module.instruction import Instruction
from coopmat.spirv.validate.families.cooperative_matrices import holds_matrix
from coopmat.spirv.validate.families.functions import reached
from coopmat.spirv.validate.rules import Findings, rule
from coopmat.spirv.validate.sections import CONSTANTS
from coopmat.spirv.validate.types import Booleans, Integers, Types
from coopmat.spirv.validate.view import Group, ModuleView

SECTION = "SPIR-V 3.3.5 Mode-Setting Instructions"
MODES = "SPIR-V 3.2.5 Execution Mode"
ENVIRONMENT = "OpenCL SPIR-V environment"

_PARAMETER_CLASSES = (StorageClass.CrossWorkgroup, StorageClass.Workgroup, StorageClass.UniformConstant)
_NO_PARAMETERS = (Op.TypeVoid, Op.TypeEvent, Op.TypeDeviceEvent, Op.TypeReserveId,
                  Op.TypeCooperativeMatrixKHR, Op.TypeFunction)


@rule("memory-model-fits", "A module with a kernel has a physical addressing model and the memory model OpenCL.",
      ENVIRONMENT, Op.MemoryModel)
def memory_model_fits(group: Group) -> Findings:
    if group.view.runs_kernels:
        yield ~np.isin(group.word(0), (AddressingModel.Physical32, AddressingModel.Physical64)), \
            "a module with a kernel has the addressing model Physical32 or Physical64, not " \
            + _spelling(AddressingModel, group.word(0))
        yield ~np.isin(group.word(1), (MemoryModel.OpenCL, MemoryModel.VulkanKHR)), \
            f"a module with a kernel has the memory model OpenCL, not {_spelling(MemoryModel, group.word(1))}"


@rule("memory-model-vulkan", "The capability VulkanMemoryModel goes with the memory model Vulkan.",
      "SPIR-V 2.16.1 Universal Validation Rules", Op.MemoryModel)
def memory_model_vulkan(group: Group) -> Findings:
    if group.view.has(Capability.VulkanMemoryModel):
        yield group.word(1) != int(MemoryModel.VulkanKHR), \
            "a module with the capability VulkanMemoryModel has the memory model Vulkan, not " \
            + _spelling(MemoryModel, group.word(1))


def _spelling(models: type[Row], found: Integers) -> str:
    """The name of the memory or addressing model of a module's first OpMemoryModel."""
    number = int(found[0])
    return models(number).spelling if number in models._value2member_map_ else str(number)


# --------------------------------------------------------------------------------------
# Entry points
# --------------------------------------------------------------------------------------


@rule("entry-point-missing", "A module without the capability Linkage has an entry point.",
      "SPIR-V 2.16.1 Universal Validation Rules")
def entry_point_missing(view: ModuleView) -> Findings:
    if not view.has(Capability.Linkage) and not view.entry_points and not view.has_unknown \
            and Op.ConditionalEntryPointINTEL not in view.by_opcode:
        yield None, "the module has no entry point; without one it needs the capability Linkage"


@rule("entry-point-function",
      "An entry point returns nothing; one of a shader has no parameters; a name stands for one "
      "entry point of an execution model.", SECTION)
def entry_point_function(view: ModuleView) -> Findings:
    names: dict[tuple[int, str], int] = {}
    for entry in view.entry_points:
        index, name = entry.index, entry.name
        if names.setdefault((entry.model, name), index) != index:
            yield index, f"there is another entry point '{name}' of this execution model"
        function = view.definition(entry.function)
        if view.definition(function.type_id or 0).opcode != Op.TypeVoid:
            yield index, f"the entry point '{name}' must return void"
        kind = view.definition(function.words[1])
        if entry.model != ExecutionModel.Kernel and len(kind.words) > 1:
            yield index, f"the entry point '{name}' has parameters, which only kernels may have"


@rule("entry-point-interface",
      "The interface of an entry point is the global variables that it uses (before SPIR-V 1.4 "
      "those in Input and Output storage), each once.", SECTION)
def entry_point_interface(view: ModuleView) -> Findings:
    version = view.module.version
    for entry in view.entry_points:
        for identifier in entry.interface:
            variable = view.definition(identifier)
            if variable.opcode not in (Op.Variable, Op.UntypedVariableKHR):
                yield entry.index, f"the interface of {{op}} names {{named{identifier}}}, which is no variable"
            elif variable.words[0] == StorageClass.Function:
                yield entry.index, f"the interface of {{op}} names {{named{identifier}}}, a variable of a function"
            elif version < 0x10400 and variable.words[0] not in (StorageClass.Input, StorageClass.Output):
                yield entry.index, f"the interface of {{op}} names {{named{identifier}}}; before SPIR-V 1.4 it holds " \
                                   "Input and Output variables only"
        if len(set(entry.interface)) != len(entry.interface) and version >= 0x10400:
            repeated = next(i for i in entry.interface if entry.interface.count(i) > 1)
            yield entry.index, f"the interface of {{op}} names {{named{repeated}}} more than once"


@rule("entry-point-uses",
      "An entry point lists in its interface the global variables that it uses: all from SPIR-V 1.4 "
      "on, before that those in Input and Output storage.", SECTION)
def entry_point_uses(view: ModuleView) -> Findings:
    listed_classes = None if view.module.version >= 0x10400 else (StorageClass.Input, StorageClass.Output)
    used = view.derived(_variables_of_functions)
    for entry in view.entry_points:
        interface = set(entry.interface)
        for variable in sorted(_used_from(view, entry.function, used) - interface):
            storage = view.definition(variable).words[0]
            if listed_classes is None or storage in listed_classes:
                yield entry.index, f"the interface of {{op}} lacks {{named{variable}}}, which '{entry.name}' uses"


def _variables_of_functions(view: ModuleView) -> dict[int, set[int]]:
    """Number of each function → the global variables that it uses."""
    variables = [i for i in view.indices(Op.Variable, Op.UntypedVariableKHR) if view.flow.function_of[i] < 0]
    if not variables:
        return {}
    is_global = np.zeros(len(view.defined_by), bool)
    is_global[view.result_id[variables]] = True
    at, _, ids, _ = view.uses
    function = view.flow.function_of[at]
    chosen = is_global[np.minimum(ids, len(is_global) - 1)] & (function >= 0)
    found: dict[int, set[int]] = {}
    for number, identifier in set(zip(function[chosen].tolist(), ids[chosen].tolist(), strict=True)):
        found.setdefault(number, set()).add(identifier)
    return found


def _used_from(view: ModuleView, function: int, used: dict[int, set[int]]) -> set[int]:
    """The global variables that a function and those that it calls use."""
    start = int(view.flow.function_of[view.defined_by[function]])
    return set().union(*(used.get(number, ()) for number in reached(view, start)))


def _parameters_of_kernels(view: ModuleView) -> Integers:
    """The indices of the OpFunctionParameter of kernels."""
    kernels = {entry.function for entry in view.entry_points if entry.model == ExecutionModel.Kernel}
    found = [function.parameters for function in view.flow.functions if int(view.result_id[function.first]) in kernels]
    return np.array(list(chain.from_iterable(found)), np.int64)


@rule("kernel-parameters", "A kernel's parameters are numbers, structures, and pointers to global, local or constant "
      "memory.", f"{ENVIRONMENT}; SPV_KHR_cooperative_matrix 2.16.1")
def kernel_parameters(view: ModuleView) -> Findings:
    indices = view.derived(_parameters_of_kernels)
    kinds = view.types(view.type_id[indices])
    physical = kinds.storage < int(StorageClass.CodeSectionINTEL)  # others come with extensions
    allowed = kinds.in_storage(*_PARAMETER_CLASSES, StorageClass.Generic) | _by_value(kinds)
    yield indices[kinds.is_pointer & physical & ~allowed], \
        "a kernel's pointer points to CrossWorkgroup, Workgroup or UniformConstant memory, not {type}"
    yield indices[kinds.is_kind(*_NO_PARAMETERS)], "a kernel cannot have a parameter of type {type}"
    holds = view.derived(holds_matrix)
    yield indices[holds[kinds.element.places] | holds[kinds.places] & ~kinds.is_matrix], \
        "a kernel cannot have a parameter that holds or points to a cooperative matrix, {type}: hosts know no layout " \
        "of it"


@rule("kernel-parameters-advised", "A kernel has no parameters that are bools or generic pointers.", ENVIRONMENT,
      severity="warning")
def kernel_parameters_advised(view: ModuleView) -> Findings:
    indices = view.derived(_parameters_of_kernels)
    kinds = view.types(view.type_id[indices])
    yield indices[kinds.is_kind(Op.TypeBool)], \
        "a kernel has a parameter of type {type}, of which hosts know no size: pass an integer"
    yield indices[kinds.is_pointer & kinds.in_storage(StorageClass.Generic)], \
        "a kernel's pointer points to CrossWorkgroup, Workgroup or UniformConstant memory: not every driver takes " \
        "{type}"


def _by_value(kinds: Types) -> Booleans:
    """Pointers to structures in Function storage: structures passed by value."""
    return kinds.in_storage(StorageClass.Function) & kinds.element.is_kind(Op.TypeStruct)


# --------------------------------------------------------------------------------------
# Execution modes
# --------------------------------------------------------------------------------------

_GEOMETRY = (ExecutionModel.Geometry,)
_TESSELLATION = (ExecutionModel.TessellationControl, ExecutionModel.TessellationEvaluation)
_FRAGMENT = (ExecutionModel.Fragment,)
_MESH = (ExecutionModel.MeshNV, ExecutionModel.MeshEXT)
_KERNEL = (ExecutionModel.Kernel,)
_WORK_GROUPS = (ExecutionModel.Kernel, ExecutionModel.GLCompute, ExecutionModel.TaskEXT, ExecutionModel.MeshEXT,
                ExecutionModel.TaskNV, ExecutionModel.MeshNV)


def _named(names: str) -> tuple[ExecutionMode, ...]:
    return tuple(ExecutionMode[name] for name in names.split())


_MODELS: dict[int, tuple[ExecutionModel, ...]] = {
    mode: models for models, modes in (
        (_GEOMETRY, (ExecutionMode.Invocations, ExecutionMode.InputPoints, ExecutionMode.InputLines,
                     ExecutionMode.InputLinesAdjacency, ExecutionMode.InputTrianglesAdjacency,
                     ExecutionMode.OutputLineStrip, ExecutionMode.OutputTriangleStrip)),
        ((*_GEOMETRY, *_MESH), (ExecutionMode.OutputPoints,)),
        (_MESH, _named("OutputLinesEXT OutputTrianglesEXT OutputPrimitivesEXT")),
        (_TESSELLATION, (ExecutionMode.SpacingEqual, ExecutionMode.SpacingFractionalEven,
                         ExecutionMode.SpacingFractionalOdd, ExecutionMode.VertexOrderCw,
                         ExecutionMode.VertexOrderCcw, ExecutionMode.PointMode, ExecutionMode.Quads,
                         ExecutionMode.Isolines)),
        ((*_GEOMETRY, *_TESSELLATION), (ExecutionMode.Triangles,)),
        ((*_GEOMETRY, *_TESSELLATION, *_MESH), (ExecutionMode.OutputVertices,)),
        (_FRAGMENT, (ExecutionMode.PixelCenterInteger, ExecutionMode.OriginUpperLeft, ExecutionMode.OriginLowerLeft,
                     ExecutionMode.EarlyFragmentTests, ExecutionMode.DepthReplacing, ExecutionMode.DepthGreater,
                     ExecutionMode.DepthLess, ExecutionMode.DepthUnchanged, ExecutionMode.PostDepthCoverage)),
        (_FRAGMENT, _named("NonCoherentColorAttachmentReadEXT NonCoherentDepthAttachmentReadEXT "
                           "NonCoherentStencilAttachmentReadEXT PixelInterlockOrderedEXT PixelInterlockUnorderedEXT "
                           "SampleInterlockOrderedEXT SampleInterlockUnorderedEXT ShadingRateInterlockOrderedEXT "
                           "ShadingRateInterlockUnorderedEXT EarlyAndLateFragmentTestsAMD StencilRefReplacingEXT "
                           "StencilRefUnchangedFrontAMD StencilRefGreaterFrontAMD StencilRefLessFrontAMD "
                           "StencilRefUnchangedBackAMD StencilRefGreaterBackAMD StencilRefLessBackAMD")),
        (_KERNEL, (ExecutionMode.LocalSizeHint, ExecutionMode.VecTypeHint, ExecutionMode.ContractionOff,
                   ExecutionMode.LocalSizeHintId, ExecutionMode.Initializer, ExecutionMode.Finalizer,
                   ExecutionMode.SubgroupSize, ExecutionMode.SubgroupsPerWorkgroup,
                   ExecutionMode.SubgroupsPerWorkgroupId)),
        (_WORK_GROUPS, (ExecutionMode.LocalSize, ExecutionMode.LocalSizeId)),
    ) for mode in modes
}
"""Execution mode → those of the execution models in the tables that have it; what is missing has no limit here."""

_WITH_IDS = (ExecutionMode.SubgroupsPerWorkgroupId, ExecutionMode.LocalSizeHintId, ExecutionMode.LocalSizeId,
             ExecutionMode.FPFastMathDefault)
_SEVERAL = (ExecutionMode.DenormPreserve, ExecutionMode.DenormFlushToZero, ExecutionMode.SignedZeroInfNanPreserve,
            ExecutionMode.RoundingModeRTE, ExecutionMode.RoundingModeRTZ, ExecutionMode.FPFastMathDefault,
            ExecutionMode.RoundingModeRTPINTEL, ExecutionMode.RoundingModeRTNINTEL,
            ExecutionMode.FloatingPointModeALTINTEL, ExecutionMode.FloatingPointModeIEEEINTEL)
"""Modes set once for each width of floats."""
_SIZES = (ExecutionMode.LocalSize, ExecutionMode.LocalSizeId, ExecutionMode.SubgroupSize,
          ExecutionMode.SubgroupsPerWorkgroup)

_EXACTLY_ONE = {
    ExecutionModel.Geometry: (
        (ExecutionMode.InputPoints, ExecutionMode.InputLines, ExecutionMode.InputLinesAdjacency,
         ExecutionMode.Triangles, ExecutionMode.InputTrianglesAdjacency),
        (ExecutionMode.OutputPoints, ExecutionMode.OutputLineStrip, ExecutionMode.OutputTriangleStrip)),
    ExecutionModel.Fragment: ((ExecutionMode.OriginUpperLeft, ExecutionMode.OriginLowerLeft),),
}
_AT_MOST_ONE = {
    ExecutionModel.Fragment: ((ExecutionMode.DepthGreater, ExecutionMode.DepthLess, ExecutionMode.DepthUnchanged),),
    **dict.fromkeys(_TESSELLATION, (
        (ExecutionMode.SpacingEqual, ExecutionMode.SpacingFractionalEven, ExecutionMode.SpacingFractionalOdd),
        (ExecutionMode.Triangles, ExecutionMode.Quads, ExecutionMode.Isolines),
        (ExecutionMode.VertexOrderCw, ExecutionMode.VertexOrderCcw))),
}


@rule("execution-mode-target", "Execution modes are set on entry points whose execution model has them, each once.",
      MODES)
def execution_mode_target(view: ModuleView) -> Findings:
    models: dict[int, set[int]] = {}
    for entry in view.entry_points:
        models.setdefault(entry.function, set()).add(entry.model)
    unsure = Op.ConditionalEntryPointINTEL in view.by_opcode
    seen: dict[tuple[int, ...], int] = {}
    for index, item in view.of_opcode(Op.ExecutionMode, Op.ExecutionModeId):
        function, mode = item.words[:2]
        if function not in models:
            if not unsure:
                yield index, "{op} is for entry points; {id0} is none"
            continue
        for model in sorted(models[function]):
            if model in ExecutionModel._value2member_map_ and model not in _MODELS.get(mode, (model,)):
                names = _names(_MODELS[mode])
                yield index, f"{ExecutionMode(mode).spelling} is for entry points of the model {names}"
        key = item.words[:3] if mode in _SEVERAL else item.words[:2]
        if seen.setdefault(key, index) != index:
            yield index, f"{{op}} sets {_mode_name(mode)} a second time"


def _names(members: Iterable[ExecutionModel] | Iterable[ExecutionMode]) -> str:
    return " or ".join(member.spelling for member in members)


def _mode_name(mode: int) -> str:
    return ExecutionMode(mode).spelling if mode in ExecutionMode._value2member_map_ else str(mode)


@rule("execution-mode-numbers",
      "An execution mode has the numbers that it needs, by OpExecutionModeId if they are ids; "
      "sizes are at least 1.", MODES)
def execution_mode_numbers(view: ModuleView) -> Findings:
    for index, item in view.of_opcode(Op.ExecutionMode, Op.ExecutionModeId):
        mode, rest = item.words[1], item.words[2:]
        with_ids = mode in _WITH_IDS
        if with_ids != (item.opcode == Op.ExecutionModeId) and mode in ExecutionMode._value2member_map_ \
                and _is_plain(mode):
            yield index, f"{_mode_name(mode)} is set by {'OpExecutionModeId' if with_ids else 'OpExecutionMode'}"
        elif with_ids and mode != ExecutionMode.FPFastMathDefault and not _are_constants(view, rest):
            yield index, f"the operands of {_mode_name(mode)} are constants"
        elif mode in _SIZES and 0 in (_constants(view, item) if with_ids else rest):
            yield index, "a size of {op} is 0: at least 1 is needed"


def _is_plain(mode: int) -> bool:
    """Whether the tables say how a mode is set: by ids, by numbers or by nothing."""
    return mode in _WITH_IDS or "IdRef" not in ExecutionMode(mode).signature


def _are_constants(view: ModuleView, ids: tuple[int, ...]) -> bool:
    return all(view.definition(identifier).opcode in CONSTANTS for identifier in ids)


def _constants(view: ModuleView, item: Instruction) -> list[int | None]:
    return [view.constant(word) for word in item.words[2:]]


@rule("execution-mode-sets", "Where execution modes exclude each other, an entry point has one of them.", MODES)
def execution_mode_sets(view: ModuleView) -> Findings:
    for entry in view.entry_points:
        if not view.has(Capability.Shader) or entry.model not in ExecutionModel._value2member_map_:
            continue
        modes = {int(mode) for mode, _ in view.module.execution_modes(entry.function)}
        model = ExecutionModel(entry.model)
        for choice in _EXACTLY_ONE.get(model, ()):
            if len(modes.intersection(choice)) != 1:
                yield entry.index, f"'{entry.name}' needs exactly one execution mode of {_names(choice)}"
        for choice in _AT_MOST_ONE.get(model, ()):
            if len(modes.intersection(choice)) > 1:
                yield entry.index, f"'{entry.name}' has more than one execution mode of {_names(choice)}"
