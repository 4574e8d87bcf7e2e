"""What the simulator does not have: which instruction, where it stands, and what would work instead."""

from __future__ import annotations

from coopmat.diagnostics import Error
from coopmat.spirv.analysis.types import Type, TypeTable
from coopmat.spirv.grammar import Capability, Op
from coopmat.spirv.module import Instruction, Module
from coopmat.targets.base.unsupported import reason_against


def unsupported(row: Instruction, location: str | None = None) -> Error:
    """The error for an instruction that the simulator does not have."""
    reason = reason_against(row) or "the simulator has no such instruction"
    offset = f", at byte {row.offset:#x}" if row.offset is not None else ""
    source = f", {location}" if location else ""
    return Error(f"cannot simulate '{row}'{offset}{source}: {reason}")


class SimulatedTypes(TypeTable):
    """The types of a module, with an error for those that only other devices have."""

    def _make(self, row: Instruction) -> Type:
        if row.name.startswith("OpType") and reason_against(row) and (
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
