"""Modules in the form that a driver takes: what it does not do is replaced, or refused with its name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from coopmat.devices import DeviceDescription
from coopmat.diagnostics import KernelNotSupported, LaunchError
from coopmat.spirv.analysis.device_support import not_supported, unsupported_sub_group_sizes
from coopmat.spirv.analysis.places import reachable_instructions
from coopmat.spirv.analysis.sub_group_kernels import uses_sub_groups
from coopmat.spirv.edit.editor import Editor
from coopmat.spirv.grammar import ExecutionMode, Op
from coopmat.spirv.module import Module
from coopmat.spirv.module.instruction import make
from coopmat.spirv.transform.fold import fold
from coopmat.spirv.transform.goal import Goal
from coopmat.spirv.transform.inline import inline
from coopmat.spirv.transform.matrices import matrices
from coopmat.spirv.transform.matrix_functions import with_loops
from coopmat.spirv.transform.values import values
from coopmat.targets.base.geometry import Geometry
from coopmat.targets.base.unsupported import reason_against
from coopmat.targets.opencl import bfloat16
from coopmat.targets.opencl.declarations import declared_for
from coopmat.targets.opencl.matrices import matrix_support
from coopmat.targets.opencl.options import OpenCLOptions
from coopmat.targets.opencl.support import Support

_SHARED = frozenset(op for op in Op if op.name.startswith(("CooperativeMatrix", "SubgroupMatrixMultiply",
                                                           "Subgroup2DBlock")))
"""Instructions whose work the work-items of a whole sub-group share."""


@dataclass(frozen=True)
class Adapted:
    """A module for a driver. notes: what was done to it, and why. local_bytes: of each kernel that takes local memory
    as a last argument, bytes for a sub-group. whole: the kernels whose work-groups are whole sub-groups."""

    module: Module
    notes: tuple[str, ...] = ()
    local_bytes: Mapping[str, int] = field(default_factory=dict)
    whole: frozenset[str] = frozenset()

    def check_work_group(self, name: str, geometry: Geometry) -> None:
        """LaunchError for a kernel with matrices whose last sub-group would be a part."""
        size, total = geometry.sub_group_size, geometry.local_total
        if name in self.whole and total % size:
            raise LaunchError(f"kernel '{name}': of {total} work-items a sub-group has {total % size}, which share no "
                              f"matrix: make the work-group size a multiple of the sub-group size, {size}")


def adapt(module: Module, description: DeviceDescription, support: Support, options: OpenCLOptions) -> Adapted:
    """The module for a driver. Raises KernelNotSupported for what can neither be taken nor replaced."""
    _refuse(module, description, support)
    notes: list[str] = []
    grouped = [name for name in module.kernel_signatures if uses_sub_groups(module, name)]
    if grouped and not support.sub_group_sizes:
        raise KernelNotSupported(f"the driver {support.device} has no sub-groups, which kernel '{grouped[0]}' uses")
    whole = frozenset(name for name in grouped if any(row.opcode in _SHARED for row
                                                      in reachable_instructions(module, name)))
    if whole:
        goal = Goal(driver=matrix_support(support, options))
        module = with_loops(module)
        for one in (inline, values, fold):
            module = one(module, goal, _unheard)
        module = matrices(module, goal, notes.append)
        for one in (inline, values, fold):
            module = one(module, goal, _unheard)
        module = Editor(module).finish()
    module = bfloat16.replaced(module, support.device)
    if support.requires_sizes:
        module = _with_sizes(module, grouped, description.sub_group_sizes[0], notes)
    else:
        module = _without_sizes(module)
    return Adapted(declared_for(support.device, module), tuple(notes), whole=whole)


def _unheard(_: str) -> None:
    """What passes tell that is not about the driver."""


def _refuse(module: Module, description: DeviceDescription, support: Support) -> None:
    for row, message in unsupported_sub_group_sizes(module, description):
        raise not_supported(module, row, message)
    for row in module.instructions:
        reason = reason_against(row)
        if reason is not None:
            raise not_supported(module, row, f"{row.name}: {reason}")


def _with_sizes(module: Module, kernels: list[str], size: int, notes: list[str]) -> Module:
    """The module whose kernels with sub-groups all require a size: that of the device where they leave it open, so that
    it is the same as what the host counts with."""
    signatures = module.kernel_signatures
    left = [entry.function_id for entry in module.entry_points
            if entry.name in kernels and signatures[entry.name].sub_group_size is None]
    if not left:
        return module
    notes.append(f"sub-groups have {size} work-items in kernels that require no size")
    editor = Editor(module)
    place = 1 + max(place for place, row in enumerate(editor.head) if row.opcode in (Op.EntryPoint, Op.ExecutionMode,
                                                                                     Op.ExecutionModeId))
    editor.head[place:place] = [make(Op.ExecutionMode, one, ExecutionMode.SubgroupSize, size) for one in left]
    return editor.finish()


def _without_sizes(module: Module) -> Module:
    """The module whose kernels require no size, for a driver that takes no such requirement and has only that one."""
    editor = Editor(module)
    kept = [row for row in editor.head if row.opcode != Op.ExecutionMode or row.words[1] != ExecutionMode.SubgroupSize]
    if len(kept) == len(editor.head):
        return module
    editor.head = kept
    return editor.finish()
