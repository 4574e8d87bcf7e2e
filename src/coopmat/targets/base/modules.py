"""Which modules targets take: those of kernels, for 64-bit addresses, with matrices that the device has."""

from __future__ import annotations

from coopmat.devices import DeviceDescription
from coopmat.diagnostics import Error
from coopmat.spirv.analysis.device_support import check_supported
from coopmat.spirv.grammar import AddressingModel, Capability, Op
from coopmat.spirv.module import Module
from coopmat.spirv.module.malformed import well_formed


def check(module: Module, description: DeviceDescription) -> None:
    """Raise KernelNotSupported if a kernel needs matrices that the device does not have, ValidationError if the
    module is malformed, and Error if it is one of shaders or for 32-bit addresses."""
    _check_kernels(module)
    for row in module.of_opcode(Op.MemoryModel):
        model = row.operands[0].value
        if model != AddressingModel.Physical64:
            raise Error(f"the addressing model {getattr(model, 'name', model)} is not supported: "
                        "compile for 64-bit addresses (Physical64)")
    with well_formed("the module"):
        module.check_operands()  # from here on all of them are there
        check_supported(module, description)


def _check_kernels(module: Module) -> None:
    """Raise Error for a module of shaders."""
    if Capability.Kernel in module.capabilities or Capability.Shader not in module.capabilities:
        return
    raise Error(f"the module is made of shaders{_shader_names(module)}, and only kernels run here: compile it for "
                "OpenCL, with the capability Kernel")


def _shader_names(module: Module) -> str:
    """The entry points that are no kernels, in brackets; nothing if there are none."""
    found = ", ".join(f"{getattr(entry.model, 'name', entry.model)} '{entry.name}'" for entry in module.entry_points)
    return f" ({found})" if found else ""
