"""A module made ready for the CPU: native code per kernel and variant, kept in the cache, and launches."""

from __future__ import annotations

import ctypes
import platform
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from coopmat.devices import CPU
from coopmat.diagnostics import LaunchError
from coopmat.spirv.analysis.kernels import KernelSignature
from coopmat.spirv.grammar import ExecutionModel
from coopmat.spirv.module import Module
from coopmat.spirv.module.malformed import well_formed
from coopmat.spirv.transform.enlarge.grids import Grid
from coopmat.spirv.transform.enlarge.merge import Merged, NoMerge
from coopmat.support.cache import Cache
from coopmat.support.cached import cached_property
from coopmat.support.forks import ForkSafeLock
from coopmat.support.native import NativeCode
from coopmat.targets.analysis.large_values import Prepared
from coopmat.targets.base.dump import wanted_stages
from coopmat.targets.base.geometry import Geometry
from coopmat.targets.base.global_memory import GlobalMemory
from coopmat.targets.base.validity import Validity
from coopmat.targets.cpu.checks.table import Checks
from coopmat.targets.cpu.combinations import architecture_of
from coopmat.targets.cpu.explanation import explained, places
from coopmat.targets.cpu.features import OF_EMISSION, CpuFeatures, cpu_features
from coopmat.targets.cpu.host import saved
from coopmat.targets.cpu.host.grids import GridPlan, Made
from coopmat.targets.cpu.host.launch import CompiledKernel, MergedPlan, Plan
from coopmat.targets.cpu.host.races import RacePlan
from coopmat.targets.cpu.kernel import KernelCode
from coopmat.targets.cpu.lanes.masks import Variant
from coopmat.targets.cpu.matrix.multiply_as import check_models
from coopmat.targets.cpu.merging import Launch, MergedForm, Merging, wished
from coopmat.targets.cpu.options import CpuOptions
from coopmat.targets.cpu.passes import LEVEL, Compilation, prepare
from coopmat.targets.cpu.sub_group_sizes import IN_TWO_REGISTERS, fits_two_registers, gains_by_two_registers
from coopmat.targets.llvm.merging import MergedLaunch, kept

MOST_PLANS = 256

_COMPILING = ForkSafeLock()  # LLVM serves one request at a time anyway


class CpuProgram:
    """The kernels of a module on the CPU. ``cache`` keeps what is compiled; ``validates``: whether a module is checked
    before it is compiled; ``is_merged``: its work-groups were merged."""

    def __init__(self, module: Module, features: CpuFeatures | None = None, options: CpuOptions | None = None,
                 cache: Cache | None = None, *, validates: bool = True, is_merged: bool = False) -> None:
        self.module = module
        self.features = features if features is not None else cpu_features()
        self.options = options if options is not None else CpuOptions()
        self.threads = self.options.thread_count()
        self.cache = cache if cache is not None else Cache(None)
        self.validity = Validity(module, validates=validates)
        if self.options.architecture is not None:
            with well_formed("the module"):
                check_models(module, self.options.architecture)
        self.signatures = module.kernel_signatures
        self._compiled: dict[tuple[str, Variant], CompiledKernel] = {}
        self._gains: dict[str, bool] = {}  # by wider sub-groups, of kernels
        self._plans: dict[Any, tuple[Plan | MergedPlan | GridPlan, MergedForm | str]] = {}  # and why none is merged
        self._is_merged = is_merged
        self.merging = Merging(module, self.features.used)
        self._last: tuple[Plan | MergedPlan | GridPlan, MergedForm | str] | None = None
        self._merged: dict[bytes, CpuProgram] = {}

    @cached_property
    def prepared(self) -> Prepared:
        """The module with loops instead of functions of matrices, and with what its large values need."""
        with well_formed("the module"):
            usual = CPU.sub_group_sizes[0]
            size = max((one.sub_group_size or usual for one in self.signatures.values()), default=usual)
            return prepare(self.module, size, is_merged=self._is_merged)

    @cached_property
    def globals(self) -> GlobalMemory:
        """The variables that all kernels share."""
        return GlobalMemory(self.prepared.module)

    # --- compiling --------------------------------------------------------------------

    def compile(self, name: str, variant: Variant) -> CompiledKernel:
        """Native code of a kernel for a variant; made once."""
        if (name, variant) not in self._compiled:
            with _COMPILING:
                if (name, variant) not in self._compiled:
                    self._compiled[name, variant] = self._found(name, variant) or self._made(name, variant)
        return self._compiled[name, variant]

    def _found(self, name: str, variant: Variant) -> CompiledKernel | None:
        """A kernel in the cache; None if it is not there, or if its stages shall be seen."""
        content = None if wanted_stages() else self.cache.get(self._key(name, variant))
        found = None if content is None else saved.from_bytes(content)
        return None if found is None else self._loaded(*found)

    def _made(self, name: str, variant: Variant) -> CompiledKernel:
        with self.validity.of_kernel(name):
            compilation = self._compilation(name, variant, "object")
        kernel = self._loaded(compilation.code, compilation.made)
        self.cache.put(self._key(name, variant), saved.to_bytes(compilation.code, compilation.made))
        return kernel

    def _loaded(self, code: KernelCode, object_: bytes) -> CompiledKernel:
        native = NativeCode(object_)
        return CompiledKernel(code, native, self.cache, native.function("run", *[ctypes.c_void_p] * 3))

    def translated(self, name: str, variant: Variant) -> Compilation:
        """A kernel as LLVM IR without matrix operations, of which LLVM has made nothing yet."""
        return self._compilation(name, variant, "")

    def _compilation(self, name: str, variant: Variant, emit: str) -> Compilation:
        """A kernel after all passes."""
        entry = next(entry for entry in self.module.entry_points
                     if entry.name == name and entry.model == ExecutionModel.Kernel)
        compilation = Compilation(name, self.prepared, entry, variant, self.features, emit)
        compilation.run()
        return compilation

    def _key(self, name: str, variant: Variant, what: str = f"-O{LEVEL}") -> str:
        return saved.entry_key(self._module_bytes, name, variant, self.features, what)

    @cached_property
    def _module_bytes(self) -> bytes:
        return self.module.to_bytes()

    def sub_group_size(self, signature: KernelSignature, local_size: Sequence[int]) -> int:
        """The work-items of a sub-group: as many as the kernel requires, or what suits it."""
        name, usual = signature.name, CPU.sub_group_sizes[0]
        checked = self.options.races or self.options.bounds
        if signature.sub_group_size or checked or not fits_two_registers(local_size):
            return signature.sub_group_size or usual
        if name not in self._gains:
            self._gains[name] = gains_by_two_registers(self.module, name, self.features)
        return IN_TWO_REGISTERS if self._gains[name] else usual

    def variant(self, signature: KernelSignature, local_size: Sequence[int], nulls: tuple[int, ...] = ()) -> Variant:
        """The variant of a kernel that work-groups of a size need, and null pointers at some positions."""
        size = self.sub_group_size(signature, local_size)
        if size not in CPU.sub_group_sizes:
            raise LaunchError(f"kernel '{signature.name}' requires sub-groups of {size}; the CPU has "
                              f"{', '.join(map(str, CPU.sub_group_sizes))}")
        total = 1
        for count in local_size:
            total *= count
        is_row = total == local_size[0]
        is_straight = local_size[0] % size == 0 or is_row
        return Variant(size, total % size == 0, is_straight, bounds=bool(self.options.bounds), nulls=nulls,
                       numerics=self.options.numerics, features=self.features.used & OF_EMISSION,
                       pauses=bool(self.options.races), is_row=is_row)

    def assembly(self) -> str:
        """The assembly language of every kernel, for work-groups of whole sub-groups, or of the size that it requires.
        """
        parts = []
        for name, signature in self.signatures.items():
            size = signature.sub_group_size or CPU.sub_group_sizes[0]
            variant = self.variant(signature, signature.work_group_size or (size, 1, 1))
            with self.validity.of_kernel(name):
                text = self._compilation(name, variant, "asm").made.decode()
            parts.append(f"# kernel '{name}' for {self.features.cpu}, sub-groups of {size}\n{text}")
        return "\n".join(parts)

    # --- launching --------------------------------------------------------------------

    def launch(self, kernel_name: str, global_size: Sequence[int], local_size: Sequence[int],
               arguments: Sequence[Any], global_offset: Sequence[int] | None = None) -> None:
        """Run a kernel over ``global_size`` work-items in groups of ``local_size``; returns when it is done.

        arguments: contiguous numpy arrays for pointers (written in place) or None, numpy values or bytes for values,
            :class:`LocalMemory` for local pointers.

        Raises LaunchError for sizes that do not fit.
        """
        self.launcher(kernel_name, global_size, local_size, arguments, global_offset)(arguments)

    def launcher(self, kernel_name: str, global_size: Sequence[int], local_size: Sequence[int],
                 arguments: Sequence[Any], global_offset: Sequence[int] | None = None
                 ) -> Callable[[Sequence[Any]], None]:
        """Compile a kernel for these sizes, and for the null pointers among the arguments, if that has not been done;
        what launches it with arguments. Raises LaunchError for sizes that do not fit."""
        nulls = tuple(place for place, argument in enumerate(arguments) if argument is None)
        chosen = (kernel_name, tuple(global_size), tuple(local_size), nulls, global_offset and tuple(global_offset))
        plan = self._plans.get(chosen)
        if plan is None:
            if len(self._plans) >= MOST_PLANS:
                self._plans.clear()
            plan = self._plans[chosen] = self._made_plan(*chosen)
        self._last = plan
        return plan[0].launch

    def explanation(self) -> list[str]:
        """What was chosen for the last launch, and why not something faster; empty before the first one."""
        if self._last is None:
            return []
        plan, form = self._last
        said = plan.said if isinstance(plan, GridPlan) else ""
        if isinstance(plan, GridPlan):
            if plan.chosen is None:
                return []
            plan, form = plan.chosen
        used = plan.used if isinstance(plan, MergedPlan) else plan
        if used is None:
            return []
        if isinstance(plan, MergedPlan) and not plan.is_merged:
            form = plan.reason
        processor = architecture_of(self.features.used, platform.machine())
        lines = list(explained(used.name, used, processor, form))
        if said:
            lines[1:1] = [f"  {said}"]
        return [*lines, *places(self.module, used.name)]

    def _made_plan(self, name: str, global_size: Sequence[int], local_size: Sequence[int], nulls: tuple[int, ...],
                   global_offset: Sequence[int] | None) -> tuple[Plan | MergedPlan | GridPlan, MergedForm | str]:
        """What launches a kernel, and its merged form, or why there is none."""
        if name not in self.signatures:
            raise LaunchError(f"there is no kernel '{name}'; the kernels are {', '.join(self.signatures)}")
        signature = self.signatures[name]
        sub_group_size = self.sub_group_size(signature, local_size)
        geometry = Geometry.checked(signature, global_size, local_size, global_offset, sub_group_size)
        variant = self.variant(signature, geometry.local_size, nulls)
        try:
            if any(geometry.global_offset):
                raise NoMerge("the first work-item is not number zero")
            form = self.merged_form(name, variant, geometry)
        except NoMerge as reason:
            return self._numbered(name, variant, geometry, str(reason))
        merged, counts = form.merged, geometry.group_counts
        larger_counts = merged.group_counts(counts)
        program = self._beside(merged.module)
        larger = replace(program.variant(program.signatures[name], merged.local_size), step=form.step,
                         runs=merged.runs, fast=merged.row_axis, shared=merged.shared(larger_counts))
        sizes = replace(geometry, global_size=_times(larger_counts, merged.local_size),
                        local_size=merged.local_size)
        return MergedPlan(MergedLaunch(merged, counts), signature,
                          lambda: program._plan(name, larger, sizes, repeats=merged.repeats),
                          lambda: self._plan(name, variant, geometry)), form

    def _numbered(self, name: str, variant: Variant, geometry: Geometry, reason: str) -> tuple[Plan | GridPlan, str]:
        """What launches a kernel that is not merged for this reason: as a grid, perhaps, as which it may be."""
        try:
            found = self._grid(name, variant, geometry)
        except NoMerge as other:
            reason, found = str(other), None
        if found is None:
            return self._plan(name, variant, geometry), reason
        local_size = found.local_size

        def made(counts: tuple[int, int, int]) -> Made:
            plan, form = self._beside(found.module)._made_plan(name, _times(counts, local_size), local_size,
                                                               variant.nulls, None)
            return (plan, form) if not isinstance(plan, GridPlan) else (self._plan(name, variant, geometry), form)

        return GridPlan(found, geometry.group_counts, self.signatures[name], made,
                        lambda: self._plan(name, variant, geometry), reason), reason

    def _grid(self, name: str, variant: Variant, geometry: Geometry) -> Grid | None:
        """A kernel that numbers its tiles as one of a grid; the cache knows which have no such form. NoMerge, with the
        reason, for one that numbers them in another way."""
        launch = self._launch_of(geometry)
        key = self._key(name, variant, f"why no grid, {launch}")
        if any(geometry.global_offset) or not self.merging.is_wanted(variant, launch):
            return None
        known = self.cache.get(key)
        if known is None:
            try:
                found, reason = self.merging.grid(name, variant, launch), ""
            except NoMerge as refused:
                found, reason = None, str(refused)
            if found is not None:
                return found
            known = reason.encode()
            self.cache.put(key, known)
        if known:
            raise NoMerge(known.decode())
        return None

    def _plan(self, name: str, variant: Variant, geometry: Geometry, *, repeats: bool = False) -> Plan:
        """The plan of a variant. ``repeats``: see :class:`Plan`."""
        kernel, signature = self.compile(name, variant), self.signatures[name]
        addresses = {slot.offset: self.globals.address(identifier) for identifier, slot in kernel.code.globals.items()}
        checks = Checks(signature, kernel.code.sites, self.globals) if kernel.code.sites else None
        if variant.pauses:
            return RacePlan(kernel, signature, geometry, addresses, self.options, checks, self.globals)
        return Plan(kernel, signature, geometry, self.threads, addresses, self.options.printf_limit, checks,
                    in_lines=variant.fast is not None, repeats=repeats)

    def _launch_of(self, geometry: Geometry) -> Launch:
        """What the merged form of a kernel depends on."""
        return Launch(tuple(geometry.local_size), tuple(geometry.group_counts), self.threads, wished())

    def merged_form(self, name: str, variant: Variant, geometry: Geometry) -> MergedForm:
        """The merged form of a kernel for a launch. NoMerge, with the reason, if it has none."""
        launch = self._launch_of(geometry)
        self.merging.check(variant, launch)

        def forms() -> Iterator[Merged]:
            yield self.merging.of(name, variant, launch)

        found = next(kept(forms, self.cache, lambda number: self._key(name, variant, f"merged, {number}: {launch}")))
        return MergedForm(found, self.merging.step(name, variant), self.merging.raises(name))

    def _beside(self, module: Module) -> CpuProgram:
        """A program for another form of the module."""
        content = module.to_bytes()
        if content not in self._merged:
            self._merged[content] = CpuProgram(module, self.features, self.options, self.cache, validates=False,
                                               is_merged=True)
        return self._merged[content]


def _times(counts: Sequence[int], sizes: Sequence[int]) -> tuple[int, int, int]:
    x, y, z = (count * size for count, size in zip(counts, sizes, strict=True))
    return x, y, z
