"""Whether a device has what the kernels of a module use: matrices, 2D blocks, sub-group sizes, capabilities."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from coopmat.devices import ARCHITECTURES, USES, DeviceDescription
from coopmat.devices.subgroup_layout import SubGroupMatrixRow, has_2d_block_io, matrix_rows_of
from coopmat.diagnostics import KernelNotSupported
from coopmat.spirv.analysis.matrix_uses import MultiplyAccumulate, possible_formats, required_matrix_uses
from coopmat.spirv.analysis.places import kernel_with, place_of, reachable_instructions
from coopmat.spirv.analysis.sub_group_uses import SubGroupMultiply, flags_of
from coopmat.spirv.analysis.types import MatrixType
from coopmat.spirv.grammar import Capability, ExecutionMode, Op, Scope
from coopmat.spirv.module.content import Content
from coopmat.spirv.module.instruction import Instruction

EXTENSION_OF: dict[Capability, str] = {
    Capability.Float64: "cl_khr_fp64",
    Capability.SubgroupShuffleINTEL: "cl_intel_subgroups",
    Capability.SubgroupBufferBlockIOINTEL: "cl_intel_subgroups",
    Capability.SubgroupMatrixMultiplyAccumulateINTEL: "cl_intel_subgroup_matrix_multiply_accumulate",
    Capability.BFloat16ConversionINTEL: "cl_intel_bfloat16_conversions",
    Capability.Subgroup2DBlockIOINTEL: "cl_intel_subgroup_2d_block_io",
    Capability.Subgroup2DBlockTransformINTEL: "cl_intel_subgroup_2d_block_io",
    Capability.Subgroup2DBlockTransposeINTEL: "cl_intel_subgroup_2d_block_io",
    Capability.SplitBarrierEXT: "cl_intel_split_work_group_barrier",
}
"""The OpenCL extension that a device must have so that a module may declare a capability."""

PORTABLE: dict[Capability, str] = {
    Capability.TensorFloat32RoundingINTEL: "cl_intel_subgroup_matrix_multiply_accumulate_tf32",
}
"""The same for what a driver may not take, but the simulator runs as every device: round_to_tf32 in SYCL is for all."""

Finding = tuple[Instruction, str]
"""The first instruction that uses something that the device does not have, and the message."""


def check_supported(module: Content, description: DeviceDescription, kernel: str | None = None) -> None:
    """Raise KernelNotSupported if a kernel (None: any kernel) needs matrices that the device does not have.

    The same goes for Intel's sub-group matrix instruction, for 2D blocks, and for double precision.
    """
    if not description.has_fp64 and Capability.Float64 in module.capabilities:
        message = f"{description.name} has no double precision (fp64), which the program uses; devices that have it: " \
                  f"{_devices_with(lambda other: other.has_fp64)}"
        raise not_supported(module, _first_double(module, kernel), message, kernel)
    for row, message in unsupported_matrices(module, description, kernel):
        raise not_supported(module, row, message, kernel)


def not_supported(module: Content, row: Instruction | None, message: str, kernel: str | None = None
                  ) -> KernelNotSupported:
    """The error about an instruction, with its place and its kernel as far as the module tells."""
    if row is None:
        return KernelNotSupported(message, kernel)
    return KernelNotSupported(message, kernel or kernel_with(module, row), place_of(module, row))


def _first_double(module: Content, kernel: str | None) -> Instruction | None:
    """The first instruction that a kernel can reach whose result is made of double-precision numbers."""
    types = {row.result_id for row in module.of_opcode(Op.TypeFloat) if row.words[0] == 64}
    types |= {row.result_id for row in module.of_opcode(Op.TypeVector) if row.words[0] in types}
    return next((row for row in reachable_instructions(module, kernel) if row.type_id in types), None)


def unsupported_matrices(module: Content, description: DeviceDescription,
                         kernel: str | None = None) -> Iterator[Finding]:
    """Each matrix operation, matrix, and block operation that a kernel uses and the device does not have."""
    uses = required_matrix_uses(module, kernel)
    for operation, row in uses.operations.items():
        yield from _refused(row, _require_operation, description, operation)
    for kind, row in uses.matrices.items():
        yield from _refused(row, _require_matrix, description, kind)
    for use, row in uses.sub_group_operations.items():
        yield from _refused(row, _require_sub_group_operation, description, use)
    if uses.block_2d is not None and not has_2d_block_io(description):
        yield uses.block_2d, (f"{description.name} has no 2D block reads and writes; devices that have them: "
                              f"{_devices_with(has_2d_block_io)}")


def unsupported_capabilities(module: Content, description: DeviceDescription) -> Iterator[Finding]:
    """Each declared capability that belongs to an OpenCL extension that the device does not have."""
    return _without_extension(module, description, EXTENSION_OF)


def simulated_capabilities(module: Content, description: DeviceDescription) -> Iterator[Finding]:
    """As :func:`unsupported_capabilities`, for those that the simulator runs nevertheless."""
    return _without_extension(module, description, PORTABLE)


def _without_extension(module: Content, description: DeviceDescription,
                       extension_of: Mapping[Capability, str]) -> Iterator[Finding]:
    for row in module.of_opcode(Op.Capability):
        extension = extension_of.get(row.words[0])  # type: ignore[call-overload]
        if extension is not None and extension not in description.extensions:
            having = ", ".join(name for name, other in ARCHITECTURES.items() if extension in other.extensions)
            yield row, (f"{description.name} does not have {extension}, which the capability "
                        f"{Capability(row.words[0]).spelling} needs; devices that have it: {having}")


def unsupported_sub_group_sizes(module: Content, description: DeviceDescription) -> Iterator[Finding]:
    """Each sub-group size that a kernel requires and the device does not have."""
    for row in module.of_opcode(Op.ExecutionMode):
        if row.words[1] == ExecutionMode.SubgroupSize and row.words[2] not in description.sub_group_sizes:
            sizes = ", ".join(map(str, sorted(description.sub_group_sizes)))
            yield row, f"{description.name} has no sub-groups of {row.words[2]}; its sizes are {sizes}"


def _refused(row: Instruction, require: Callable[[DeviceDescription, Any], None], description: DeviceDescription,
             use: object) -> Iterator[Finding]:
    try:
        require(description, use)
    except KernelNotSupported as error:
        yield row, str(error)


def _require_operation(description: DeviceDescription, operation: MultiplyAccumulate) -> None:
    sizes = (operation.m, operation.n, operation.k)
    if operation.scope == Scope.Workgroup:
        _require_any(description.require_of_work_group, [(*formats, *sizes) for formats in operation.choices()])
        return
    if not any(description.supports(*formats, *sizes) for formats in operation.choices()):
        description.require(*_likely(description, operation), *sizes)


def _require_matrix(description: DeviceDescription, kind: MatrixType) -> None:
    names, use = possible_formats(kind), USES[kind.use]
    if kind.is_of_work_group:
        _require_any(description.require_matrix_of_work_group, [(name, use, kind.rows, kind.columns) for name in names])
        return
    if not any(description.supports_matrix(name, use, kind.rows, kind.columns) for name in names):
        listed = {name for row in description.combinations for name in row.types_of(use)}
        likely = next((name for name in names if name in listed), names[0])
        shown = likely if likely == names[0] else f"{names[0]} or {likely}"
        raise KernelNotSupported(description.unsupported_matrix(likely, use, kind.rows, kind.columns, shown))


def _require_any(require: Callable[..., None], readings: list[tuple[Any, ...]]) -> None:
    """Require one of the readings; the error is that of the first."""
    refused: list[KernelNotSupported] = []
    for reading in readings:
        try:
            return require(*reading)
        except KernelNotSupported as error:
            refused.append(error)
    raise refused[0]


def _require_sub_group_operation(description: DeviceDescription, use: SubGroupMultiply) -> None:
    rows = matrix_rows_of(description)
    if any(map(use.is_row, rows)):
        return
    if rows:
        shown = sorted(rows, key=lambda row: _difference(row, use))[:3]
        legal = f"nearest supported, for M = 1, 2, 4 and 8: {'; '.join(map(str, shown))}"
    else:
        legal = f"devices that have this instruction: {_devices_with(lambda other: bool(matrix_rows_of(other)))}"
    raise KernelNotSupported(f"{description.name} does not support the sub-group matrix multiply-accumulate {use}; "
                             f"{legal}")


def _difference(row: SubGroupMatrixRow, use: SubGroupMultiply) -> tuple[bool, bool]:
    return flags_of(row) != use.flags, row.k != use.k


def _devices_with(has: Callable[[DeviceDescription], bool]) -> str:
    return ", ".join(name for name, description in ARCHITECTURES.items() if has(description))


def _likely(description: DeviceDescription, operation: MultiplyAccumulate) -> tuple[str, str, str, str]:
    """The reading of the formats to name in a message: one that the device has in another shape, if any."""
    listed = {row.types for row in description.combinations}
    return next((formats for formats in operation.choices() if formats in listed), operation.formats)
