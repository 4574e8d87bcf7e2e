"""What no target has, and what would work instead."""

from __future__ import annotations

import re

from coopmat.spirv.module.instruction import Instruction

_FEATURES = tuple((re.compile(pattern), reason) for pattern, reason in (
    (r"Image|Sampler", "images and samplers are not supported; use buffers and pointers to them"),
    (r"Pipe|ReserveId", "pipes are not supported; use buffers in global memory"),
    (r"Enqueue|NDRange|TypeQueue|DeviceEvent|DefaultQueue|UserEvent|RetainEvent|ReleaseEvent|IsValidEvent|OpGetKernel|"
     r"EventProfiling", "device-side enqueue is not supported; launch each kernel from the host"),
    (r"NamedBarrier", "named barriers are not supported; use a barrier of the work-group or of the sub-group"),
    (r"FunctionPointer", "function pointers are not supported; call functions by their ids"),
    (r"Untyped", "untyped pointers are not supported; use OpTypePointer, as without SPV_KHR_untyped_pointers"),
    (r"VariableLengthArray|SaveMemory|RestoreMemory", "arrays of variable length are not supported; give the array a "
     "constant length"),
    (r"Tensor|CooperativeMatrix|CooperativeVector", "use the cooperative matrices of SPV_KHR_cooperative_matrix"),
    (r"Masked|Predicated", "use a branch and a plain load or store"),
    (r"Asm", "assembly of a device is not supported"),
    (r"DPd|Fwidth|Emit|EndPrimitive|EndStream|Kill|Demote|Helper|Ray|Mesh|Interlock|RuntimeArray|ArrayLength|TypeMatrix|"
     r"Matrix|OuterProduct|Attachment|AccelerationStructure|QuantizeToF16", "it is for shaders; only kernels run "
     "here"),
))


def reason_against(row: Instruction) -> str | None:
    """Why no target has an instruction, and what to use; None if nothing is known against it."""
    return next((reason for pattern, reason in _FEATURES if pattern.search(row.name)), None)
