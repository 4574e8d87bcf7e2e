"""A module made ready for an NVIDIA GPU: PTX and machine code per kernel and variant, kept in the cache, and launches.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from operator import mul
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar

from coopmat.diagnostics import Error, KernelNotSupported, LaunchError
from coopmat.spirv.analysis.kernels import KernelSignature
from coopmat.spirv.edit.processing import schedule_of
from coopmat.spirv.grammar import ExecutionModel
from coopmat.spirv.module import Module
from coopmat.spirv.module.malformed import well_formed
from coopmat.spirv.transform.enlarge.merge import Merged, NoMerge
from coopmat.support.cache import Cache, key
from coopmat.support.cached import cached_property
from coopmat.support.forks import ForkSafeLock
from coopmat.support.schedules import CLUSTERS, OPTION, PIPELINES, ScheduleOptions
from coopmat.targets.analysis.large_values import Prepared
from coopmat.targets.base.dump import wanted_stages
from coopmat.targets.base.geometry import Geometry
from coopmat.targets.base.validity import Validity
from coopmat.targets.cuda.assembler import Resources, cubin, resources
from coopmat.targets.cuda.chips import LARGEST_GROUP, Chip
from coopmat.targets.cuda.compilation import LEVEL, has_work_group_matrices, prepare, to_ir, to_ptx
from coopmat.targets.cuda.explanation import explained
from coopmat.targets.cuda.kernel import KernelCode
from coopmat.targets.cuda.lanes import WARP, Variant
from coopmat.targets.cuda.merging import Merging
from coopmat.targets.cuda.options import CudaOptions
from coopmat.targets.cuda.work_groups.launch_values import LaunchValue
from coopmat.targets.cuda.work_groups.pipeline import NoSchedule, TensorMap
from coopmat.targets.llvm import saved
from coopmat.targets.llvm.merging import MergedLaunch, kept
from coopmat.targets.llvm.threads.launch import Slot

if TYPE_CHECKING:
    from coopmat.targets.cuda.host.launch import Misfit, Plan

SUB_GROUP_SIZES = (WARP, 16, 8, 4)
MOST_PLANS = 256
USUAL_GROUP = (4 * WARP, 1, 1)
"""The size of work-groups for which code is shown, of kernels that require none."""
USUAL_GROUPS, USUAL_MULTIPROCESSORS = (256, 256, 1), 132
"""The launch for which code is shown."""
_COMPILING = ForkSafeLock()


_Program = TypeVar("_Program", covariant=True)


@dataclass(frozen=True)
class Form(Generic[_Program]):
    """What a launch may run: a variant of a program's kernel, whose work-groups are merged ones, or not."""

    program: _Program
    variant: Variant
    merged: Merged | None


def _is_allowed(schedule: ScheduleOptions, form: Form[Any]) -> bool:
    """Whether a form is one that a schedule does not rule out."""
    is_merged = form.merged is not None
    return ((schedule.block is None or is_merged == (schedule.block != (0, 0)))
            and schedule.pipeline in (None, *(name for name, one in PIPELINES.items() if one == form.variant.pipeline))
            and (schedule.cluster is None or CLUSTERS[schedule.cluster] == form.variant.cluster))


class PtxProgram:
    """The kernels of a module as PTX; no GPU is needed. ``validates``: whether a module is checked before;
    ``sub_group_size``: of kernels that require none."""

    def __init__(self, module: Module, chip: Chip, cache: Cache | None = None, *, validates: bool = True,
                 sub_group_size: int = WARP) -> None:
        self.module = module
        self.chip = chip
        self.cache = cache if cache is not None else Cache(None)
        self.sub_group_size = sub_group_size
        self.validity = Validity(module, validates=validates)
        self.signatures = module.kernel_signatures
        self._made: dict[tuple[str, Variant], tuple[KernelCode, str]] = {}
        self.reasons: dict[tuple[str, Variant], str] = {}  # why kernels have no pipeline, or are not merged
        self.schedule = schedule_of(module)
        self.merging = Merging(module)
        self._merged: dict[bytes, Self] = {}

    @cached_property
    def prepared(self) -> Prepared:
        """The module after the passes that are for all of its kernels."""
        with well_formed("the module"):
            return prepare(self.module)

    def variant(self, signature: KernelSignature, local_size: Sequence[int], nulls: tuple[int, ...] = ()) -> Variant:
        """The variant of a kernel that work-groups of a size need, and null pointers at some positions."""
        size = signature.sub_group_size or self.sub_group_size
        if size not in SUB_GROUP_SIZES:
            raise LaunchError(f"kernel '{signature.name}' requires sub-groups of {size}; NVIDIA's GPUs have "
                              f"{', '.join(map(str, SUB_GROUP_SIZES))}")
        x, y, z = (*local_size, 1, 1)[:3]
        if x * y * z > LARGEST_GROUP:
            raise LaunchError(f"kernel '{signature.name}': a work-group of {x * y * z} work-items is larger than "
                              f"NVIDIA's GPUs allow, {LARGEST_GROUP}")
        return Variant(self.chip, (x, y, z), size, nulls)

    def variants(self, variant: Variant, group_counts: Sequence[int]) -> Iterator[Variant]:
        """The variants of a kernel for so many work-groups, the fastest first: those with pipelines that it may have,
        and the one without."""
        if self.has_work_group_matrices:
            yield from self.pipelines(variant, group_counts)
        yield variant

    def pipelines(self, variant: Variant, group_counts: Sequence[int]) -> Iterator[Variant]:
        """Those with pipelines."""
        if self.chip.has_wgmma:
            for axis in (1, 0):
                if group_counts[axis] > 1:
                    yield replace(variant, pipeline="loads and stores", cluster=axis)
            yield replace(variant, pipeline="loads and stores")
            yield replace(variant, pipeline="loads")
        yield replace(variant, pipeline="copies")
        if self.chip.has_wgmma:  # for tiles that it does not multiply
            yield replace(variant, pipeline="copies", chip=replace(self.chip, is_specific=False))

    def forms(self, name: str, variant: Variant, group_counts: Sequence[int], multiprocessors: int
              ) -> Iterator[Form[Self]]:
        """The forms of a kernel for so many work-groups, the fastest first: with merged work-groups, with pipelines,
        as it is; those that its schedule allows. Error if there are none."""
        is_any = False
        for form in self._forms(name, variant, group_counts, multiprocessors):
            if _is_allowed(self.schedule, form):
                is_any = True
                yield form
        if not is_any:
            raise self._refusal(name)

    def _refusal(self, name: str) -> KernelNotSupported:
        """For a kernel of which no form is what a schedule says."""
        found = dict.fromkeys(reason for (kernel, _), reason in self.reasons.items() if kernel == name)
        reasons = "; ".join(found) or "it is not among those that it has"
        return KernelNotSupported(f"{self.chip.name} does not run kernel '{name}' as {OPTION} says: {reasons}")

    def _forms(self, name: str, variant: Variant, group_counts: Sequence[int], multiprocessors: int
               ) -> Iterator[Form[Self]]:
        try:
            for merged in self._merged_forms(name, variant, group_counts, multiprocessors):
                content = merged.module.to_bytes()
                if content not in self._merged:
                    self._merged[content] = self.beside(merged.module)
                program = self._merged[content]
                larger = program.variant(program.signatures[name], merged.local_size)
                for one in program.pipelines(larger, merged.group_counts(group_counts)):
                    yield Form(program, one, merged)
        except NoMerge as reason:
            self.reasons[name, variant] = str(reason)
        for one in self.variants(variant, group_counts):
            yield Form(self, one, None)

    def _merged_forms(self, name: str, variant: Variant, group_counts: Sequence[int], multiprocessors: int
                      ) -> Iterator[Merged]:
        """The merged forms; they are analysed once, and kept in the cache."""
        launch = str((tuple(group_counts), multiprocessors))
        return kept(lambda: self.merging.of(name, variant, group_counts, multiprocessors), self.cache,
                    lambda number: self.key(name, variant, "merged", launch, str(number)))

    def beside(self, module: Module) -> Self:
        """A program of the same kind for another form of the module."""
        return type(self)(module, self.chip, self.cache, validates=False)

    @cached_property
    def has_work_group_matrices(self) -> bool:
        """Whether there are matrices that work-groups share."""
        return has_work_group_matrices(self.module)

    def compiled(self, name: str, variant: Variant) -> tuple[KernelCode, str]:
        """A kernel's code, and its PTX; made once, and kept in the cache."""
        if (name, variant) not in self._made:
            with _COMPILING:
                if (name, variant) not in self._made:
                    self._made[name, variant] = self._found(name, variant) or self._compile(name, variant)
        return self._made[name, variant]

    def _compile(self, name: str, variant: Variant) -> tuple[KernelCode, str]:
        entry = next(entry for entry in self.module.entry_points
                     if entry.name == name and entry.model == ExecutionModel.Kernel)
        with self.validity.of_kernel(name):
            code = to_ir(self.prepared, entry, variant)
            ptx = to_ptx(code, name, variant)
        self.cache.put(self.key(name, variant), saved.to_bytes(code, ptx.encode(), ("ir",)))
        return code, ptx

    def _found(self, name: str, variant: Variant) -> tuple[KernelCode, str] | None:
        content = None if wanted_stages() else self.cache.get(self.key(name, variant))
        found = None if content is None else saved.from_bytes(
            KernelCode, content, (Slot, TensorMap, LaunchValue), ir="")
        return None if found is None else (found[0], found[1].decode())

    def key(self, name: str, variant: Variant, *more: str) -> str:
        """The key of what is made of a kernel."""
        import llvmlite

        return key("kernel for CUDA", self._module_bytes, name, saved.canonical(variant), f"-O{LEVEL}",
                   llvmlite.__version__, *more)

    @cached_property
    def _module_bytes(self) -> bytes:
        return self.module.to_bytes()

    def usual_variant(self, name: str) -> Variant:
        """The variant for work-groups of the size that a kernel requires, or of a few warps."""
        signature = self.signatures[name]
        return self.variant(signature, signature.work_group_size or USUAL_GROUP)

    def usual_form(self, name: str) -> Form[Self]:
        """The fastest form of a kernel in a large launch of work-groups of that size."""
        for form in self.forms(name, self.usual_variant(name), USUAL_GROUPS, USUAL_MULTIPROCESSORS):
            try:
                form.program.compiled(name, form.variant)
            except NoSchedule as reason:
                self.reasons[name, form.variant] = str(reason)
            else:
                return form
        raise self._refusal(name)

    def usual_explanation(self) -> list[str]:
        """What is chosen for such launches of all kernels, and why not something faster."""
        found: list[str] = []
        for name in self.signatures:
            form = self.usual_form(name)
            code, _ = form.program.compiled(name, form.variant)
            found += self._explained(name, code, form)
        return found

    def _explained(self, name: str, code: KernelCode, form: Form[Self]) -> Iterator[str]:
        names = [parameter.name for parameter in form.program.signatures[name].parameters]
        refusals = [reason for (kernel, _), reason in self.reasons.items()
                    if kernel == name and form.variant.pipeline == "none"]
        return explained(name, code, form.variant, form.merged, names, refusals)

    def ptx(self) -> str:
        """The PTX of all kernels as they run in a large launch, for work-groups of the size that each requires, or of
        a few warps."""
        parts = []
        for name in self.signatures:
            form = self.usual_form(name)
            _, text = form.program.compiled(name, form.variant)
            parts.append(f"// kernel '{name}' for {self.chip.name}, work-groups of {form.variant.local_size}\n{text}")
        return "\n".join(parts)

    @cached_property
    def assembled(self) -> tuple[bytes, str]:
        """The machine code of all kernels, for work-groups as above, and what the assembler says of it. No GPU is
        needed. Error, with what to install, if there is no assembler."""
        return cubin(self._texts, self.chip)

    @property
    def _texts(self) -> dict[str, str]:
        """The PTX of every kernel."""
        forms = {name: self.usual_form(name) for name in self.signatures}
        texts = {name: form.program.compiled(name, form.variant)[1] for name, form in forms.items()}
        if not texts:
            raise Error("the program has no kernels, of which a cubin could be made")
        return texts

    def resources(self, name: str) -> Resources:
        """The registers and the memory that a kernel takes, for work-groups as above."""
        form = self.usual_form(name)
        code, _ = form.program.compiled(name, form.variant)
        return resources(self.assembled[1], code.symbol).with_local(code.local_bytes)


_SHARES: dict[Misfit, Callable[[Form[CudaProgram]], bool]] = {
    "arguments": lambda form: form.merged is not None,
    "overlap": lambda form: form.variant.pipeline != "none",
    "loads": lambda form: form.variant.pipeline in ("loads", "loads and stores"),
    "stores": lambda form: form.variant.pipeline == "loads and stores"}
"""Why a form does not take a launch's arguments: which other forms do not take them either."""


class CudaProgram(PtxProgram):
    """The kernels of a module on a GPU."""

    def __init__(self, module: Module, ordinal: int = 0, options: CudaOptions | None = None,
                 cache: Cache | None = None, *, validates: bool = True, sub_group_size: int = WARP) -> None:
        from coopmat.targets.cuda.host.context import context

        self.context = context(ordinal)
        self.options = options if options is not None else CudaOptions()
        super().__init__(module, self.context.chip, cache, validates=validates, sub_group_size=sub_group_size)
        self._plans: dict[Any, Plan] = {}
        self._chosen: dict[Plan, Form[CudaProgram]] = {}
        self._last: Plan | None = None
        self._loaded: dict[tuple[str, Variant], Any] = {}

    @cached_property
    def variables(self) -> Any:
        """The memory of the module's own variables on the GPU."""
        from coopmat.targets.cuda.host.variables import Variables

        return Variables(self.prepared.module, self.context)

    def loaded(self, name: str, variant: Variant) -> Any:
        """A kernel in machine code on the GPU; the driver's own cache keeps that."""
        from coopmat.targets.cuda.host.modules import LoadedKernel

        if (name, variant) not in self._loaded:
            code, ptx = self.compiled(name, variant)
            self._loaded[name, variant] = LoadedKernel(self.context, ptx, code.symbol, name)
        return self._loaded[name, variant]

    @cached_property
    def assembled(self) -> tuple[bytes, str]:
        """The machine code that the driver makes of all kernels, and what it says of it."""
        from coopmat.targets.cuda.host.context import keeps_current
        from coopmat.targets.cuda.host.modules import assembled

        found: tuple[bytes, str] = keeps_current(assembled)(self.context, self._texts)
        return found

    def resources(self, name: str) -> Resources:
        """The registers and the memory that a kernel takes, as the driver says, for work-groups as above."""
        from coopmat.targets.cuda.host.context import keeps_current

        form = self.usual_form(name)
        found: Resources = keeps_current(lambda: form.program.loaded(name, form.variant).resources)()
        return found.with_local(form.program.compiled(name, form.variant)[0].local_bytes)

    def launch(self, kernel_name: str, global_size: Sequence[int], local_size: Sequence[int],
               arguments: Sequence[Any], global_offset: Sequence[int] | None = None) -> None:
        """Run a kernel over ``global_size`` work-items in groups of ``local_size``; returns when it is done.

        arguments: contiguous numpy arrays for pointers (written in place) or None, bytes for values,
            :class:`LocalMemory` for local pointers. Raises LaunchError for sizes that do not fit.
        """
        self.launcher(kernel_name, global_size, local_size, arguments, global_offset)(arguments)

    def launcher(self, kernel_name: str, global_size: Sequence[int], local_size: Sequence[int],
                 arguments: Sequence[Any], global_offset: Sequence[int] | None = None) -> Callable[..., Any]:
        """What launches it with arguments, and a stream to which it is submitted."""
        launch: Callable[..., Any] = self.plan(kernel_name, global_size, local_size, arguments, global_offset).launch
        return launch

    def plan(self, kernel_name: str, global_size: Sequence[int], local_size: Sequence[int], arguments: Sequence[Any],
             global_offset: Sequence[int] | None = None) -> Plan:
        """Compile a kernel for these sizes, and for the null pointers among the arguments, if that has not been done;
        what launches it."""
        nulls = tuple(place for place, argument in enumerate(arguments) if argument is None)
        chosen = (kernel_name, tuple(global_size), tuple(local_size), nulls, global_offset and tuple(global_offset))
        plan = self._plans.get(chosen)
        if plan is None:
            if len(self._plans) >= MOST_PLANS:
                self._plans.clear()
                self._chosen.clear()
            plan = self._plans[chosen] = self._made_plan(*chosen)
        self._last = plan
        return plan

    def _made_plan(self, name: str, global_size: Sequence[int], local_size: Sequence[int], nulls: tuple[int, ...],
                   global_offset: Sequence[int] | None) -> Plan:
        from coopmat.targets.cuda.host.launch import Plan

        if name not in self.signatures:
            raise LaunchError(f"there is no kernel '{name}'; the kernels are {', '.join(self.signatures)}")
        signature = self.signatures[name]
        geometry = Geometry.checked(signature, global_size, local_size, global_offset,
                                    signature.sub_group_size or self.sub_group_size)
        variant = self.variant(signature, geometry.local_size, nulls)
        source, known = self._launched(name, variant, geometry), list[Form[CudaProgram]]()

        def form(number: int) -> Form[CudaProgram]:
            while len(known) <= number:
                following = next(source, None)
                if following is None:
                    why = "; ".join(dict.fromkeys(self.reasons.values())) or "tensor maps refuse the arguments"
                    raise LaunchError(f"kernel '{name}': nothing that {OPTION} allows takes this launch: {why}")
                known.append(following)
            return known[number]

        def made(number: int, misfit: Misfit | None) -> Plan:
            """The plan of a form, or of the next one that there is, with the others for arguments that it does not
            take."""
            while misfit is not None and _SHARES[misfit](form(number)):
                number += 1
            one = form(number)
            try:
                code, _ = one.program.compiled(name, one.variant)
            except NoSchedule as reason:
                self.reasons[name, one.variant] = str(reason)
                is_last = one.variant.pipeline == "copies" and not one.variant.chip.has_wgmma
                is_hopeless = one.merged is not None and is_last
                return made(number + 1, "arguments" if is_hopeless else misfit)
            total, size = math.prod(one.variant.local_size), one.variant.sub_group_size
            if code.needs_sub_groups and total % size:
                raise LaunchError(f"kernel '{name}': of {total} work-items a sub-group has {total % size}, which share "
                                  f"no matrix: make the work-group size a multiple of the sub-group size, {size}")
            try:
                kernel = one.program.loaded(name, one.variant)
            except Error as error:
                raise LaunchError(str(error)) from None
            counts, merged = geometry.group_counts, one.merged
            sizes = geometry if merged is None else _merged_sizes(geometry, merged)
            variables = one.program.variables if code.variables else None
            plan = Plan(kernel, code, one.program.signatures[name], sizes, variables,
                        self.options.printf_limit, lambda misfit: made(number + 1, misfit),
                        None if merged is None else MergedLaunch(merged, counts))
            self._chosen[plan] = one
            return plan

        return made(0, None)

    def explanation(self) -> list[str]:
        """What was chosen for the last launch, and why not something faster; empty before the first one."""
        used = None if self._last is None else self._last.used
        if used is None or used not in self._chosen:
            return []
        return list(self._explained(used.signature.name, used.code, self._chosen[used]))

    def _launched(self, name: str, variant: Variant, geometry: Geometry) -> Iterator[Form[CudaProgram]]:
        """The forms of a kernel for a launch. Work-groups are not merged where they do not begin at zero."""
        counts = geometry.group_counts
        if any(geometry.global_offset):
            return (Form(self, one, None) for one in self.variants(variant, counts))
        return self.forms(name, variant, counts, self.context.multiprocessors)

    def beside(self, module: Module) -> CudaProgram:
        """See :class:`PtxProgram`."""
        return CudaProgram(module, self.context.ordinal, self.options, self.cache, validates=False)


def _merged_sizes(geometry: Geometry, merged: Merged) -> Geometry:
    """The sizes of a launch with merged work-groups."""
    x, y, z = map(mul, merged.group_counts(geometry.group_counts), merged.local_size)
    return replace(geometry, global_size=(x, y, z), local_size=merged.local_size, sub_group_size=WARP)
