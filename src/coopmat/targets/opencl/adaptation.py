"""Modules in the form that a driver takes: what it does not do is replaced, or refused with its name."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from coopmat.devices import DeviceDescription
from coopmat.diagnostics import KernelNotSupported, LaunchError
from coopmat.spirv.analysis.device_support import not_supported, unsupported_sub_group_sizes
from coopmat.spirv.analysis.matrix_uses import has_work_groups
from coopmat.spirv.analysis.places import reachable_instructions
from coopmat.spirv.analysis.sub_group_kernels import notices_sub_groups, uses_sub_groups
from coopmat.spirv.edit.editor import Editor
from coopmat.spirv.grammar import ExecutionMode, Op, StorageClass
from coopmat.spirv.module import Module
from coopmat.spirv.module.instruction import make
from coopmat.spirv.transform.fold import fold
from coopmat.spirv.transform.goal import Goal, Moves, Say
from coopmat.spirv.transform.inline import inline
from coopmat.spirv.transform.matrices import matrices
from coopmat.spirv.transform.matrices.passing import sub_group_size
from coopmat.spirv.transform.matrices.shares import shared_out
from coopmat.spirv.transform.matrix_functions import with_loops
from coopmat.spirv.transform.spaces import has_generic_pointers, resolved, spaces
from coopmat.spirv.transform.structure import structure
from coopmat.spirv.transform.structure.regions import has_loops_of_several_entries
from coopmat.spirv.transform.values import values
from coopmat.spirv.transform.work_group_functions import has_work_group_functions, without_work_group_functions
from coopmat.targets.base.geometry import Geometry
from coopmat.targets.base.unsupported import reason_against
from coopmat.targets.opencl import assertions, barriers, bfloat16, variables
from coopmat.targets.opencl.declarations import declared_for
from coopmat.targets.opencl.matrices import PACKED_B, matrix_support, native_combinations, native_module
from coopmat.targets.opencl.options import OpenCLOptions
from coopmat.targets.opencl.support import Support

_SHARED = frozenset(op for op in Op if op.name.startswith(("CooperativeMatrix", "SubgroupMatrixMultiply",
                                                           "Subgroup2DBlock")))
"""Instructions whose work the work-items of a whole sub-group share."""


_ASKING = frozenset({Op.GenericCastToPtrExplicit, Op.GenericPtrMemSemantics})


@dataclass(frozen=True)
class Adapted:
    """A module for a driver. notes: what was done to it, and why. local_bytes: of each kernel that takes local memory
    as a last argument, bytes for a sub-group. whole: the kernels whose work-groups are whole sub-groups. otherwise:
    makes another form, for a driver whose compiler does not take this one."""

    module: Module
    notes: tuple[str, ...] = ()
    local_bytes: Mapping[str, int] = field(default_factory=dict)
    whole: frozenset[str] = frozenset()
    otherwise: Callable[[], Adapted] | None = None

    def check_work_group(self, name: str, geometry: Geometry) -> None:
        """LaunchError for a kernel with matrices whose last sub-group would be a part."""
        size, total = geometry.sub_group_size, geometry.local_total
        if name in self.whole and total % size:
            raise LaunchError(f"kernel '{name}': of {total} work-items a sub-group has {total % size}, which share no "
                              f"matrix: make the work-group size a multiple of the sub-group size, {size}")


def adapt(module: Module, description: DeviceDescription, support: Support, options: OpenCLOptions) -> Adapted:
    """The module for a driver. Raises KernelNotSupported for what can neither be taken nor replaced."""
    notes: list[str] = []
    module = _with_own_work_groups(module, support, notes)
    module = _without_sizes(module, [name for name, signature in module.kernel_signatures.items()
                                     if signature.sub_group_size not in (None, *support.sub_group_sizes)
                                     and not notices_sub_groups(module, name)])
    grouped = [name for name in module.kernel_signatures if uses_sub_groups(module, name)]
    if grouped and not support.sub_group_sizes:
        raise KernelNotSupported(f"the driver {support.device} has no sub-groups, which kernel '{grouped[0]}' uses: "
                                 f"{support.why_no_sub_groups or 'they do not work'}")
    _refuse(module, description, support)
    module = assertions.resolved(module)
    whole = frozenset(name for name in grouped if any(row.opcode in _SHARED for row
                                                      in reachable_instructions(module, name)))
    if support.requires_sizes:
        module = _with_sizes(module, grouped, description.sub_group_sizes[0], notes)
    module = _with_known_spaces(module, support, notes)
    if not whole:
        return _finished(module, support, notes, whole, {})
    module = with_loops(module)
    for one in _BEFORE:
        module = one(module, Goal(), _unheard)
    module = _without_work_groups(module, support)
    found = _natively(module, support, options, notes, whole)
    plain = partial(_plainly, module, support, tuple(notes), whole)
    return plain() if found is None else replace(found, otherwise=plain)


def _without_work_groups(module: Module, support: Support) -> Module:
    """The module with matrices of sub-groups in the place of those of work-groups: no driver of OpenCL has these."""
    if not has_work_groups(module):
        return module
    driver = matrix_support(support, ())
    sizes = {math.prod(dict(module.execution_modes(one.function_id)).get(ExecutionMode.LocalSize, ()))
             for one in module.entry_points}
    if len(sizes) > 1 or sizes == {1}:
        raise KernelNotSupported("the kernels of a module with matrices of work-groups require work-groups of "
                                 f"{' and '.join(map(str, sorted(sizes)))} work-items, and sub-groups share such "
                                 "matrices in groups of one size: build each kernel by itself")
    return shared_out(module, driver, sizes.pop(), sub_group_size(module, driver))


def _with_own_work_groups(module: Module, support: Support, notes: list[str]) -> Module:
    """The module with functions of work-groups of our own, if the driver's do not work; or if it has no sub-groups, to
    whose functions those belong."""
    if not has_work_group_functions(module):
        return module
    if support.sub_group_sizes and support.work_group_functions_verdict.works:
        return module
    notes.append("functions of work-groups go by way of local memory, as those of the driver do not work")
    return without_work_group_functions(module, max(_work_group(module, one.function_id) or support.device.work_group
                                                    for one in module.entry_points))


def _work_group(module: Module, function: int) -> int | None:
    """The work-items of the work-groups that a kernel requires."""
    sizes = dict(module.execution_modes(function)).get(ExecutionMode.LocalSize)
    return math.prod(sizes) if sizes else None


def _with_known_spaces(module: Module, support: Support, notes: list[str]) -> Module:
    """The module without generic pointers, if the driver's are not right, or do not tell where they lead.

    KernelNotSupported if that can only be known at run time, and the driver goes wrong at integers that tell it.
    """
    if not has_generic_pointers(module) or (support.generic_pointers_verdict.works and not _asks_where(module)):
        return module
    for one in (*_BEFORE, resolved):
        module = one(module, Goal(), notes.append)
    if not has_generic_pointers(module) or (support.generic_pointers_verdict.works and not _asks_where(module)):
        return module
    if not support.tagged_pointers_verdict.works:
        raise KernelNotSupported("where generic pointers lead is only known at run time, and the driver "
                                 f"{support.device} does not tell it ({support.tagged_pointers_verdict}): pass "
                                 "pointers to one memory to to_local, to_global, to_private, get_fence and atomic "
                                 "functions")
    return spaces(module, Goal(), notes.append)


def _asks_where(module: Module) -> bool:
    """Whether generic pointers are asked where they lead, or there are atomics on them: drivers for CPUs, where all
    memory is one, give wrong answers, and others have no functions for such atomics."""
    for row in module.instructions:
        if row.opcode in _ASKING:
            return True
        if row.name.startswith("OpAtomic"):
            pointer = module.definition(row.words[0]).type_id
            if pointer is not None and module.definition(pointer).words[0] == StorageClass.Generic:
                return True
    return False


def _natively(module: Module, support: Support, options: OpenCLOptions, notes: list[str],
              whole: frozenset[str]) -> Adapted | None:
    """The module with matrices that the driver computes; None, and a note why, if it cannot have any."""
    rows = native_combinations(support, options)
    if not rows:
        return None
    layouts, = set(rows.values()) if len(set(rows.values())) == 1 else (PACKED_B,)
    chosen = [row for row, one in rows.items() if one == layouts]
    said: list[str] = []
    goal = Goal(driver=matrix_support(support, chosen))
    try:
        native = matrices(module, goal, said.append)
        if not any(True for _ in native.of_opcode(Op.TypeCooperativeMatrixKHR)):
            return None
        packed = native_module(native, support, layouts, sub_group_size(native, matrix_support(support, chosen)))
        return _finished(Editor(packed.module).finish(), support, [*notes, *said], whole, packed.local_bytes)
    except KernelNotSupported as error:
        notes.append(f"matrices are sub-group code, as those of the driver do not take {error.message}")
        return None


def _plainly(module: Module, support: Support, notes: tuple[str, ...], whole: frozenset[str],
             moves: Moves | None = None) -> Adapted:
    """The module with sub-group code in the place of all matrices. ``moves``: how data go from one work-item to
    another; None: as the driver says that it can. By way of local memory is for those that say more than they can."""
    before, said = module, list(notes)
    driver = matrix_support(support, ())
    goal = Goal(driver=driver if moves is None else replace(driver, moves=moves))
    module = matrices(module, goal, said.append)
    for one in _BEFORE:
        module = one(module, goal, _unheard)
    found = _finished(Editor(module).finish(), support, said, whole, {})
    if moves == "local" or driver.moves == "local":
        return found
    return replace(found, otherwise=partial(_plainly, before, support, notes, whole, "local"))


def _finished(module: Module, support: Support, notes: list[str], whole: frozenset[str],
              local_bytes: Mapping[str, int]) -> Adapted:
    """The module with what the driver takes in the place of bf16 numbers, and with declarations that it takes."""
    module = bfloat16.replaced(module, support.device)
    if has_loops_of_several_entries(module):
        module = structure(module, Goal(), notes.append)
    if not support.requires_sizes:
        module = _without_sizes(module, list(module.kernel_signatures))
    without = barriers.without_barriers(module)
    if without is not module and not support.barrier_verdict.works and support.order_verdict.works:
        module = without
        notes.append("barriers of sub-groups order memory only: those of the driver are of whole work-groups")
    return Adapted(declared_for(support.device, module), tuple(notes), local_bytes, whole)


_BEFORE: tuple[Callable[[Module, Goal, Say], Module], ...] = (inline, values, fold)
"""What makes matrices, and the components of those that become sub-group code, values."""


def _unheard(_: str) -> None:
    """What passes tell that is not about the driver."""


def _refuse(module: Module, description: DeviceDescription, support: Support) -> None:
    for row, message in unsupported_sub_group_sizes(module, description):
        raise not_supported(module, row, message)
    for row in module.instructions:
        reason = reason_against(row)
        if reason is not None:
            raise not_supported(module, row, f"{row.name}: {reason}")
    for variable in module.of_opcode(Op.Variable):
        if (variable.words[0] == StorageClass.CrossWorkgroup and not support.device.global_variables
                and variables.is_changed(module, variable.result_id or 0)):
            raise not_supported(module, variable, "a variable at program scope that kernels may change: the driver "
                                f"{support.device} has none (CL_DEVICE_MAX_GLOBAL_VARIABLE_SIZE is 0): pass an array "
                                "to the kernels")


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


def _without_sizes(module: Module, kernels: Sequence[str]) -> Module:
    """The module some of whose kernels require no size: for a driver that takes no such requirement and has only that
    one, and of kernels to which it makes no difference."""
    editor = Editor(module)
    functions = {entry.function_id for entry in module.entry_points if entry.name in kernels}
    kept = [row for row in editor.head if row.opcode != Op.ExecutionMode or row.words[1] != ExecutionMode.SubgroupSize
            or row.words[0] not in functions]
    if len(kept) == len(editor.head):
        return module
    editor.head = kept
    return editor.finish()
