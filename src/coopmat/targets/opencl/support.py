"""What a driver supports, as far as it has proven: sub-group sizes, arrays of the host in place, matrices."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from functools import cache

import numpy as np

from coopmat.devices import ARCHITECTURES, Combination
from coopmat.diagnostics import KernelNotSupported
from coopmat.spirv.edit.builder import ModuleBuilder
from coopmat.spirv.grammar import BuiltIn, Capability, ExecutionMode, Op, StorageClass
from coopmat.spirv.module import Module
from coopmat.support.cached import cached_property
from coopmat.targets.base.matrix_probe import MatrixProbe
from coopmat.targets.opencl import barriers, work_groups
from coopmat.targets.opencl.declarations import declared_for
from coopmat.targets.opencl.host.description import FINE_SYSTEM, DriverDevice
from coopmat.targets.opencl.host.discovery import described
from coopmat.targets.opencl.host.trial import Trial
from coopmat.targets.opencl.settings import settings_for
from coopmat.targets.opencl.verdicts import Check, Verdict, matrix_verdicts, outcomes, verdicts

USUAL_SUB_GROUP_SIZE = 16
"""The size for kernels that require none, where the driver has it."""
_KERNEL = "sizes"
_ITEMS = 64  # work-items of a launch that tries something


class Support:
    """What ``opencl:ordinal`` does."""

    def __init__(self, ordinal: int) -> None:
        self.ordinal = ordinal
        self.device: DriverDevice = described(ordinal)

    @cached_property
    def settings(self) -> Mapping[str, str]:
        """Variables of the environment with which the driver does more; those that the user has set stay."""
        return settings_for(self.device)

    def apply_settings(self) -> None:
        """Set the variables in this process. It must not have used OpenCL before: drivers read them once."""
        for name, value in self.settings.items():
            os.environ[name] = os.environ.get(name) or value

    # --- sub-groups -------------------------------------------------------------------

    @cached_property
    def sub_group_sizes(self) -> tuple[int, ...]:
        """The sizes of sub-groups that kernels get: the one of kernels that require none first. Empty if the driver has
        no sub-groups."""
        proven = [size for size, verdict in self.sub_group_verdicts.items() if verdict.works]
        if not proven:
            usual = self._usual_size
            return (usual,) if usual else ()
        return tuple(sorted(proven, key=lambda size: (size != USUAL_SUB_GROUP_SIZE, size)))

    @cached_property
    def sub_group_verdicts(self) -> dict[int, Verdict]:
        """Of each size that the driver says it has, whether kernels that require it get it; empty where none can."""
        if self.why_no_sub_groups is not None or self.device.lacks(Capability.SubgroupDispatch):
            return {}
        sizes = [size for size in self.device.sub_group_sizes if size & size - 1 == 0]
        trials = [self._size_trial(size) for size in sizes]
        checks = [lambda found, size=size: bool((found[0] == size).all()) for size in sizes]
        return dict(zip(sizes, verdicts(self.device, trials, checks, self.settings), strict=True))

    @property
    def why_no_sub_groups(self) -> str | None:
        """Why the driver has no sub-groups, by what it says; None if it says that it has them."""
        if not self.device.has_sub_groups and not self.device.sub_group_sizes:
            return "CL_DEVICE_MAX_NUM_SUB_GROUPS is 0"
        ways = (Capability.SubgroupDispatch, Capability.GroupNonUniform)
        if all(map(self.device.lacks, ways)):
            return f"the driver lists neither of the capabilities {' and '.join(one.spelling for one in ways)}"
        return None

    @cached_property
    def requires_sizes(self) -> bool:
        """Whether kernels can require a size."""
        return any(verdict.works for verdict in self.sub_group_verdicts.values())

    @cached_property
    def _usual_size(self) -> int:
        """The size that kernels get which require none, on a driver that does not tell its sizes; 0 for none."""
        if self.why_no_sub_groups is not None:
            return 0
        found, = outcomes(self.device, [self._size_trial(None)], self.settings)
        size = int(found[0][0]) if isinstance(found, list) else 0
        return size if size > 0 and size & size - 1 == 0 and (found[0] == size).all() else 0

    def _size_trial(self, required: int | None) -> Trial:
        module = declared_for(self.device, _writes_sizes(required))
        return Trial(module.to_bytes(), _KERNEL, (2 * _ITEMS,), (_ITEMS,), (np.full(2 * _ITEMS, -1, np.int32),))

    @cached_property
    def barrier_verdict(self) -> Verdict:
        """Whether the sub-groups of a work-group may meet different numbers of their barriers."""
        trial = barriers.trial(self.device, self.sub_group_sizes[0], self.requires_sizes)
        return verdicts(self.device, [trial], [barriers.is_right], self.settings)[0]

    @cached_property
    def order_verdict(self) -> Verdict:
        """Whether the work-items of a sub-group are never apart, so that they need no barrier, only order."""
        trial = barriers.exchange(self.device, self.sub_group_sizes[0], self.requires_sizes)
        return verdicts(self.device, [trial], [barriers.is_exchanged], self.settings)[0]

    # --- work-groups ------------------------------------------------------------------

    @cached_property
    def work_group_functions_verdict(self) -> Verdict:
        """Whether work-groups reduce, scan, vote and broadcast."""
        return self._tried(work_groups.functions, work_groups.functions_are_right)

    def _tried(self, trial: Callable[[DriverDevice], Trial], is_right: Check) -> Verdict:
        try:
            made = trial(self.device)
        except KernelNotSupported as error:
            return Verdict(False, error.message)
        return verdicts(self.device, [made], [is_right], self.settings)[0]

    # --- memory -----------------------------------------------------------------------

    @cached_property
    def generic_pointers_verdict(self) -> Verdict:
        """Whether loads through generic pointers reach global, local and private memory."""
        return self._tried(work_groups.generic, work_groups.generic_is_right)

    @cached_property
    def works_in_place(self) -> bool:
        """Whether kernels work on the host's arrays where they are."""
        return self.in_place_verdict.works

    @cached_property
    def in_place_verdict(self) -> Verdict:
        """The same, and why not."""
        if not self.device.svm & FINE_SYSTEM:
            return Verdict(False, "the driver has no fine-grained SVM of the system's memory")
        module = declared_for(self.device, _writes_numbers())
        array = np.full(2 * _ITEMS, -1, np.int32)
        trial = Trial(module.to_bytes(), _KERNEL, array.shape, (_ITEMS,), (array,), in_place=True)
        return verdicts(self.device, [trial], [lambda found: bool((found[0] == np.arange(2 * _ITEMS)).all())],
                        self.settings)[0]

    @cached_property
    def tagged_pointers_verdict(self) -> Verdict:
        """The same with integers that say where they lead."""
        return self._tried(work_groups.tagged, work_groups.generic_is_right)

    # --- matrices ---------------------------------------------------------------------

    def matrices(self, probes: Sequence[MatrixProbe]) -> list[Verdict]:
        """Whether the driver computes products of matrices."""
        return matrix_verdicts(self.device, probes, self.settings)

    def computes(self, probe: MatrixProbe) -> bool:
        """Whether the driver computes a product."""
        return self.matrices([probe])[0].works


@cache
def support_of(ordinal: int) -> Support:
    """What ``opencl:ordinal`` does. Error if there is none."""
    return Support(ordinal)


def _writes_sizes(required: int | None) -> Module:
    """A kernel that writes for each work-item how large its sub-group may be."""
    return _writing(BuiltIn.SubgroupMaxSize, required)


def _writes_numbers() -> Module:
    """A kernel that writes for each work-item its number."""
    return _writing(None, None)


def _writing(builtin: BuiltIn | None, required: int | None) -> Module:
    made = ModuleBuilder(version=(1, 3))
    word, long, void = made.type_int(32), made.type_int(64), made.type_void()
    pointer = made.type_pointer(StorageClass.CrossWorkgroup, word)
    triple = made.type_vector(long, 3)
    numbers = made.builtin(BuiltIn.GlobalInvocationId, triple)
    written = None if builtin is None else made.builtin(builtin, word)
    function = made.begin_function(void, made.type_function(void, [pointer]))
    parameter = made.parameter(pointer)
    made.begin_block()
    number = made.value(Op.CompositeExtract, long, made.value(Op.Load, triple, numbers), 0)
    value = made.value(Op.UConvert, word, number) if written is None else made.value(Op.Load, word, written)
    made.emit(Op.Store, made.value(Op.PtrAccessChain, pointer, parameter, number), value)
    made.emit(Op.Return)
    made.end_function()
    made.entry_point(function, _KERNEL)
    if required is not None:
        made.execution_mode(function, ExecutionMode.SubgroupSize, required)
    return made.finish()


def candidates(device: DriverDevice) -> list[Combination]:
    """Combinations of the tables that a driver of this kind of device may have: of Intel's CPUs and GPUs."""
    family = "intel_amx" if device.kind == "cpu" else "intel_xmx"
    rows = dict.fromkeys(row for one in ARCHITECTURES.values() if one.vendor_family == family
                         for row in one.combinations)
    return list(rows)
