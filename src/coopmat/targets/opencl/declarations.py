"""What modules declare to a driver: the version of SPIR-V, capabilities and extensions."""

from __future__ import annotations

from coopmat.diagnostics import KernelNotSupported
from coopmat.spirv.analysis.places import place_of
from coopmat.spirv.analysis.requirements import Needs, implied
from coopmat.spirv.grammar import Capability, Op, StorageClass
from coopmat.spirv.module import Module
from coopmat.spirv.module.instruction import Instruction, make
from coopmat.targets.opencl.host.description import DriverDevice, Version

UNLISTED = frozenset({Capability.CooperativeMatrixKHR})
"""Capabilities that drivers take without listing them: whether they do what they stand for, verdicts say."""
UNDECLARED = frozenset({Capability.PackedCooperativeMatrixINTEL,
                        Capability.CooperativeMatrixBFloat16ComponentTypeINTEL})
"""Capabilities that drivers refuse although they have what they stand for: the module does not declare them."""
_UNDECLARED_EXTENSIONS = frozenset({"SPV_INTEL_joint_matrix"})
FIRST_WITH_ALL_INTERFACES: Version = (1, 4)
"""From this version on, entry points list global variables of all storage classes."""


def declared_for(device: DriverDevice, module: Module) -> Module:
    """The module with declarations that the driver takes, in a version that it takes.

    Raises KernelNotSupported, naming the capabilities, if the driver says that it lacks one.
    """
    lacking = lacking_capabilities(device, module)
    if lacking:
        names = ", ".join(one.spelling for one in lacking)
        raise KernelNotSupported(f"the driver {device} does not take the SPIR-V capabilit"
                                 f"{'y' if len(lacking) == 1 else 'ies'} {names}, which the program needs")
    rows = [row for row in module.instructions if not _is_undeclared(device, row)]
    return _in_version(device, Module(rows, version=module.version, generator=module.generator, bound=module.bound,
                                      schema=module.schema))


def lacking_capabilities(device: DriverDevice, module: Module) -> list[Capability]:
    """The capabilities that a module declares and the driver says that it lacks."""
    declared = {Capability(row.words[0]) for row in module.of_opcode(Op.Capability)
                if row.words[0] in Capability._value2member_map_}
    if device.spirv_capabilities is None:
        return sorted(filter(device.lacks, declared))
    known = implied(map(Capability, device.spirv_capabilities & Capability._value2member_map_.keys()))
    return sorted(declared - known - UNLISTED - UNDECLARED)


def _is_undeclared(device: DriverDevice, row: Instruction) -> bool:
    if row.opcode == Op.Capability:
        return row.words[0] in UNDECLARED and device.lacks(Capability(row.words[0]))
    if row.opcode != Op.Extension or row.operands[0].value not in _UNDECLARED_EXTENSIONS:
        return False
    return device.spirv_extensions is not None and row.operands[0].value not in device.spirv_extensions


def _in_version(device: DriverDevice, module: Module) -> Module:
    """The module in a version that the driver takes: its own, if that is not too late. KernelNotSupported if it needs
    what came later."""
    latest = device.latest_il
    if (module.version >> 16, module.version >> 8 & 0xFF) <= latest:
        return module
    rows = [_with_older_interface(module, row) if latest < FIRST_WITH_ALL_INTERFACES else row
            for row in module.instructions if row.opcode not in (Op.Capability, Op.Extension)]
    needs = Needs(latest)
    for row in rows:
        for member in needs.added(row).too_new:
            major, minor = needs.first_version(member)
            raise KernelNotSupported(f"{getattr(member, 'spelling', member)} is of SPIR-V {major}.{minor}, and the "
                                     f"driver {device} takes SPIR-V up to {latest[0]}.{latest[1]}",
                                     location=place_of(module, row))
    declared = [row.words[0] for row in module.of_opcode(Op.Capability)]
    extensions = [str(row.operands[0].value) for row in module.of_opcode(Op.Extension)]
    head = [*(make(Op.Capability, one) for one in declared),
            *(make(Op.Extension, one) for one in dict.fromkeys([*extensions, *needs.extensions()])
              if one not in _UNDECLARED_EXTENSIONS or one in extensions)]
    return Module([*head, *rows], version=latest[0] << 16 | latest[1] << 8, generator=module.generator,
                  bound=module.bound, schema=module.schema)


def _with_older_interface(module: Module, row: Instruction) -> Instruction:
    """An entry point whose interface is of inputs and outputs only."""
    if row.opcode != Op.EntryPoint:
        return row
    entry = next(one for one in module.entry_points if one.function_id == row.words[1])
    kept = [one for one in entry.interface
            if module.definition(one).words[0] in (StorageClass.Input, StorageClass.Output)]
    return make(Op.EntryPoint, entry.model, entry.function_id, entry.name, *kept)
