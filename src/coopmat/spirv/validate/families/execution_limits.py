"""Rules about what only some execution models can do, wherever in the functions that they call it stands."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from coopmat.spirv.grammar import ExecutionMode, ExecutionModel, Op, StorageClass
from coopmat.spirv.validate.entry_points import EntryPoint
from coopmat.spirv.validate.families.functions import reached
from coopmat.spirv.validate.rules import Findings, rule
from coopmat.spirv.validate.types import Integers
from coopmat.spirv.validate.view import ModuleView

SECTION = "SPIR-V 3.3 Instructions, 3.2.3 Execution Model"


def _models(names: str) -> frozenset[int]:
    return frozenset(int(ExecutionModel[name]) for name in names.split())


def _ops(names: str) -> list[Op]:
    return [Op[name] for name in names.split()]


_FRAGMENT = _models("Fragment")
_DERIVING = _models("Fragment GLCompute MeshEXT TaskEXT MeshNV TaskNV Kernel")
_RAYS = "RayGenerationKHR IntersectionKHR AnyHitKHR ClosestHitKHR MissKHR CallableKHR"
_IMPLICIT = [op for op in Op if op.spelling.endswith("ImplicitLod") and "Image" in op.spelling]
_DERIVATIVES = [*_ops("DPdx DPdy Fwidth DPdxFine DPdyFine FwidthFine DPdxCoarse DPdyCoarse FwidthCoarse "
                      "ImageQueryLod"), *_IMPLICIT]
_OF_MODELS: dict[int, frozenset[int]] = {
    **dict.fromkeys(_ops("Kill TerminateInvocation DemoteToHelperInvocation IsHelperInvocationEXT "
                         "BeginInvocationInterlockEXT EndInvocationInterlockEXT ColorAttachmentReadEXT "
                         "DepthAttachmentReadEXT StencilAttachmentReadEXT"), _FRAGMENT),
    **dict.fromkeys(_DERIVATIVES, _DERIVING),
    **dict.fromkeys(_ops("EmitVertex EndPrimitive EmitStreamVertex EndStreamPrimitive"), _models("Geometry")),
    Op.EmitMeshTasksEXT: _models("TaskEXT"),
    Op["SetMeshOutputsEXT"]: _models("MeshEXT"),
    **dict.fromkeys(_ops("IgnoreIntersectionKHR TerminateRayKHR"), _models("AnyHitKHR")),
    Op["ReportIntersectionKHR"]: _models("IntersectionKHR"),
    Op["TraceRayKHR"]: _models("RayGenerationKHR ClosestHitKHR MissKHR"),
    Op["ExecuteCallableKHR"]: _models("RayGenerationKHR ClosestHitKHR MissKHR CallableKHR"),
}
"""Instruction → the execution models that have it."""
_BARRIERS = _models("TessellationControl GLCompute Kernel TaskNV MeshNV TaskEXT MeshEXT")
"""The execution models that have OpControlBarrier before SPIR-V 1.3."""
_GROUPED = {int(ExecutionMode.DerivativeGroupQuadsKHR), int(ExecutionMode.DerivativeGroupLinearKHR)}
_OF_STORAGE: dict[int, frozenset[int]] = {int(StorageClass[name]): _models(models) for name, models in (
    ("CallableDataKHR", "RayGenerationKHR ClosestHitKHR CallableKHR MissKHR"),
    ("IncomingCallableDataKHR", "CallableKHR"),
    ("RayPayloadKHR", "RayGenerationKHR ClosestHitKHR MissKHR"),
    ("HitAttributeKHR", "IntersectionKHR AnyHitKHR ClosestHitKHR"),
    ("IncomingRayPayloadKHR", "AnyHitKHR ClosestHitKHR MissKHR"),
    ("ShaderRecordBufferKHR", _RAYS),
    ("TaskPayloadWorkgroupEXT", "TaskEXT MeshEXT"),
)}
"""Storage class → the execution models that have it."""


def _inside(view: ModuleView, entry: EntryPoint) -> Integers:
    """The instructions of the functions that an entry point reaches."""
    start = next((i for i, f in enumerate(view.flow.functions)
                  if view.items[f.first].result_id == entry.function), None)
    if start is None:
        return np.zeros(0, np.int64)
    return np.flatnonzero(np.isin(view.flow.function_of, list(reached(view, start))) & ~view.broken)


def _limited(view: ModuleView) -> Iterator[tuple[EntryPoint, Integers]]:
    """Entry points, and the instructions that they reach; none if nothing in the module is limited."""
    limited = set(_OF_MODELS) | {int(Op.ControlBarrier)}
    declared = {item.words[0] for _, item in view.of_opcode(Op.Variable)}
    if limited.isdisjoint(view.by_opcode) and declared.isdisjoint(_OF_STORAGE):
        return
    for entry in view.entry_points:
        if entry.model in ExecutionModel._value2member_map_:
            yield entry, _inside(view, entry)


@rule("execution-model-limits", "An entry point reaches only instructions that its execution model has.", SECTION)
def execution_model_limits(view: ModuleView) -> Findings:
    for entry, inside in _limited(view):
        name = ExecutionModel(entry.model).spelling
        opcodes = view.opcode[inside]
        for opcode in np.unique(opcodes).tolist():
            models = _OF_MODELS.get(opcode)
            if opcode == Op.ControlBarrier and view.declared.version < (1, 3):
                models = _BARRIERS
            if models is not None and entry.model not in models:
                yield inside[opcodes == opcode], \
                    f"'{entry.name}' of the execution model {name} reaches {{op}}, which this model does not have"


@rule("derivative-groups", "Derivatives in work-groups need an execution mode that groups invocations.",
      "SPV_KHR_compute_shader_derivatives")
def derivative_groups(view: ModuleView) -> Findings:
    grouped = _DERIVING - _FRAGMENT - _models("Kernel")
    for entry, inside in _limited(view):
        modes = {int(mode) for mode, _ in view.module.execution_modes(entry.function)}
        if entry.model in grouped and modes.isdisjoint(_GROUPED):
            yield inside[np.isin(view.opcode[inside], _DERIVATIVES)], \
                "{op} in a work-group needs the execution mode DerivativeGroupQuadsKHR or DerivativeGroupLinearKHR"


@rule("execution-model-storage", "An entry point reaches variables only in storage classes that its execution model "
      "has.", "SPIR-V 3.2.7 Storage Class")
def execution_model_storage(view: ModuleView) -> Findings:
    at, _, ids, _ = view.uses
    storage = np.where(view.definition_opcode(ids) == Op.Variable, view.value_types(ids).storage, -1)
    limited = np.isin(storage, list(_OF_STORAGE))
    for entry, inside in _limited(view) if limited.any() else ():
        for number in np.unique(storage[limited]).tolist():
            if entry.model not in _OF_STORAGE[number]:
                yield np.intersect1d(at[storage == number], inside), \
                    f"'{entry.name}' of the execution model {ExecutionModel(entry.model).spelling} uses a variable " \
                    f"in the storage class {StorageClass(number).spelling}, which this model does not have"
