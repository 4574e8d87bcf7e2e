"""What the simulator does not have: which instruction, where it stands, and what would work instead."""

from __future__ import annotations

import re

from coopmat.diagnostics import Error
from coopmat.spirv.grammar import Capability, Op
from coopmat.spirv.module import Instruction, Module
from coopmat.spirv.types import Type, TypeTable

_FEATURES = tuple((re.compile(pattern), reason) for pattern, reason in (
    (r"Image|Sampler", "images and samplers are not simulated; use buffers and pointers to them"),
    (r"Pipe|ReserveId", "pipes are not simulated; use buffers in global memory"),
    (r"Enqueue|NDRange|TypeQueue|DeviceEvent|DefaultQueue|UserEvent|RetainEvent|ReleaseEvent|IsValidEvent|OpGetKernel|"
     r"EventProfiling", "device-side enqueue is not simulated; launch each kernel from the host"),
    (r"NamedBarrier", "named barriers are not simulated; use a barrier of the work-group or of the sub-group"),
    (r"FunctionPointer", "function pointers are not simulated; call functions by their ids"),
    (r"Untyped", "untyped pointers are not simulated; use OpTypePointer, as without SPV_KHR_untyped_pointers"),
    (r"VariableLengthArray|SaveMemory|RestoreMemory", "arrays of variable length are not simulated; give the array a "
     "constant length"),
    (r"Tensor|CooperativeMatrix|CooperativeVector", "use the cooperative matrices of SPV_KHR_cooperative_matrix"),
    (r"Masked|Predicated", "use a branch and a plain load or store"),
    (r"Asm", "assembly of a device is not simulated"),
    (r"DPd|Fwidth|Emit|EndPrimitive|EndStream|Kill|Demote|Helper|Ray|Mesh|Interlock|RuntimeArray|ArrayLength|TypeMatrix|"
     r"Matrix|OuterProduct|Attachment|AccelerationStructure|QuantizeToF16", "it is for shaders; the simulator runs "
     "kernels"),
))


def unsupported(row: Instruction, location: str | None = None) -> Error:
    """The error for an instruction that the simulator does not have."""
    reason = next((reason for pattern, reason in _FEATURES if pattern.search(row.name)),
                  "the simulator has no such instruction")
    offset = f", at byte {row.offset:#x}" if row.offset is not None else ""
    source = f", {location}" if location else ""
    return Error(f"cannot simulate '{row}'{offset}{source}: {reason}")


class SimulatedTypes(TypeTable):
    """The types of a module, with an error for those that only other devices have."""

    def _make(self, row: Instruction) -> Type:
        if row.name.startswith("OpType") and any(pattern.search(row.name) for pattern, _ in _FEATURES) and (
                row.opcode != Op.TypeCooperativeMatrixKHR):
            raise unsupported(row)
        return super()._make(row)


def check_kernels(module: Module) -> None:
    """Raise Error for a module of shaders."""
    if Capability.Kernel in module.capabilities or Capability.Shader not in module.capabilities:
        return
    raise Error(f"the module is made of shaders{shader_names(module)}, and the simulator runs kernels: compile it for "
                "OpenCL, with the capability Kernel")


def shader_names(module: Module) -> str:
    """The entry points that are no kernels, in brackets; nothing if there are none."""
    found = ", ".join(f"{getattr(entry.model, 'name', entry.model)} '{entry.name}'" for entry in module.entry_points)
    return f" ({found})" if found else ""
