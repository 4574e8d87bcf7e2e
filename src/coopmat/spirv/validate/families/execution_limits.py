"""Rules about what only some execution models can do, wherever in the functions that they call it stands."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from coopmat.spirv.grammar import ExecutionMode, ExecutionModel, Op, StorageClass
from coopmat.spirv.validate.entry_points import EntryPoint
from coopmat.spirv.validate.families.functions import reaching
from coopmat.spirv.validate.rules import Findings, rule
from coopmat.spirv.validate.types import Integers
from coopmat.spirv.validate.view import ModuleView

SECTION = "SPIR-V 3.3 Instructions, 3.2.2 Execution Model"


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


def _reached(view: ModuleView, indices: Integers) -> Iterator[tuple[EntryPoint, Integers]]:
    """Those of these instructions that are in one function, with each entry point of a known model that reaches it."""
    functions = view.flow.function_of[indices]
    for function in np.unique(functions[functions >= 0]).tolist():
        for entry in view.derived(reaching).get(function, ()):
            if entry.model in ExecutionModel._value2member_map_:
                yield entry, indices[functions == function]


@rule("execution-model-limits", "An entry point reaches only instructions that its execution model has.", SECTION)
def execution_model_limits(view: ModuleView) -> Findings:
    limited = dict(_OF_MODELS)
    if view.declared.version < (1, 3):
        limited[Op.ControlBarrier] = _BARRIERS
    for opcode, models in limited.items():
        for entry, inside in _reached(view, np.array(view.indices(Op(opcode)), np.int64)):
            if entry.model not in models:
                yield inside, f"'{entry.name}' of the execution model {ExecutionModel(entry.model).spelling} reaches " \
                              "{op}, which this model does not have"


@rule("derivative-groups", "Derivatives in work-groups need an execution mode that groups invocations.",
      "SPV_KHR_compute_shader_derivatives")
def derivative_groups(view: ModuleView) -> Findings:
    grouped = _DERIVING - _FRAGMENT - _models("Kernel")
    for entry, inside in _reached(view, np.array(view.indices(*_DERIVATIVES), np.int64)):
        modes = {int(mode) for mode, _ in view.module.execution_modes(entry.function)}
        if entry.model in grouped and modes.isdisjoint(_GROUPED):
            yield inside, "{op} in a work-group needs the execution mode DerivativeGroupQuadsKHR or " \
                          "DerivativeGroupLinearKHR"


@rule("execution-model-storage", "An entry point reaches variables only in storage classes that its execution model "
      "has.", "SPIR-V 3.2.6 Storage Class")
def execution_model_storage(view: ModuleView) -> Findings:
    at, _, ids, _ = view.uses
    storage = np.where(view.definition_opcode(ids) == Op.Variable, view.value_types(ids).storage, -1)
    for number in np.intersect1d(storage, list(_OF_STORAGE)).tolist():
        for entry, inside in _reached(view, np.unique(at[(storage == number) & ~view.broken[at]])):
            if entry.model not in _OF_STORAGE[number]:
                yield inside, f"'{entry.name}' of the execution model {ExecutionModel(entry.model).spelling} uses a " \
                              f"variable in the storage class {StorageClass(number).spelling}, which this model does " \
                              "not have"
