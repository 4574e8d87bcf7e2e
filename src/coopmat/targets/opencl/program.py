"""A module on a driver: adapted to what the driver does, compiled by it, its kernels launched."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from coopmat.devices import DeviceDescription
from coopmat.diagnostics import CompileError, Diagnostic, Error, LaunchError
from coopmat.spirv.grammar import Op, StorageClass
from coopmat.spirv.module import Module
from coopmat.support.cache import Cache, key
from coopmat.support.cached import cached_property
from coopmat.targets.base.children import Ending
from coopmat.targets.base.dump import dump
from coopmat.targets.base.geometry import Geometry
from coopmat.targets.base.validity import Validity
from coopmat.targets.opencl.adaptation import Adapted, adapt
from coopmat.targets.opencl.host.compiling import Compiled, Refused, build, compiled
from coopmat.targets.opencl.host.context import Context, context
from coopmat.targets.opencl.host.driver import errors, started
from coopmat.targets.opencl.host.launch import Plan
from coopmat.targets.opencl.options import OpenCLOptions
from coopmat.targets.opencl.support import Support

MOST_PLANS = 256
LONGEST_LOG = 4000  # characters of the driver's own text in an error


class OpenCLProgram:
    """A module for ``opencl:ordinal``; the driver compiles it at the first launch, or finds it in ``cache``.
    ValidationError for an invalid one."""

    def __init__(self, module: Module, ordinal: int, description: DeviceDescription, support: Support,
                 options: OpenCLOptions, cache: Cache | None) -> None:
        self.ordinal, self.options = ordinal, options
        self.cache = cache if cache is not None else Cache(None)
        self.support = support
        self.signatures = module.kernel_signatures
        self.sub_group_size = description.sub_group_sizes[0]
        with Validity(module).of_kernel(next(iter(self.signatures), "")):
            self.adapted: Adapted = adapt(module, description, support, options)
        self._plans: dict[Any, Plan] = {}

    @property
    def context(self) -> Context:
        """The device in this process."""
        self.support.apply_settings()
        return context(self.ordinal)

    # --- compiling --------------------------------------------------------------------

    @cached_property
    def _built(self) -> Any:
        """The driver's program. CompileError, with the driver's log, if it refuses the module in all of its forms."""
        return self._compiled()

    def _compiled(self) -> Any:
        spirv = self.adapted.module.to_bytes()
        dump("module", "spv", lambda: spirv)
        name = key("opencl binary", self.support.device.identity, repr(sorted(self.support.settings.items())),
                   self.options.build_options, spirv)
        binary = self.cache.get(name)
        if binary is not None:
            try:
                return self._loaded(binary)
            except Error:  # of another build of the driver: it is compiled anew
                self.cache.remove(name)
        found = compiled(self.support.device, spirv, self.options.build_options, self.support.settings)
        if not isinstance(found, Compiled):
            error = self._refused(found)
            if self.adapted.otherwise is None:
                raise error
            note = f"matrices are replaced in another way, as {str(error).removeprefix('error: ').splitlines()[0]}"
            other = self.adapted.otherwise()
            self.adapted = replace(other, notes=(*other.notes, note))
            return self._compiled()
        if found.binary is not None:
            self.cache.put(name, found.binary)
            return self._loaded(found.binary)
        cl, own = started(), self.context
        with errors("a module that the driver has compiled before", Error):
            return build(cl.Program(own.context, spirv), self.options.build_options)

    def _loaded(self, binary: bytes) -> Any:
        """The driver's program from a binary of it. Error if the driver does not take it."""
        cl, own = started(), self.context
        with errors("a program that the driver has compiled", Error):
            return build(cl.Program(own.context, [own.device], [binary]), self.options.build_options)

    def _refused(self, found: Refused | Ending | Exception) -> CompileError:
        """What became of the module in the driver's compiler."""
        if isinstance(found, Refused):
            log = f":\n{found.log[:LONGEST_LOG]}" if found.log else " and says nothing more"
            text = f"does not compile the program (CL_{found.status}){log}"
        elif isinstance(found, Ending):
            log = f":\n{found.log}" if found.log else ""
            text = f"does not survive the program{self._likely}: the process of its compiler {found}{log}"
        else:
            text = f"does not compile the program: {found}"
        return CompileError([Diagnostic("error", f"the driver {self.support.device} {text}", None)])

    @property
    def _likely(self) -> str:
        """What may be the reason why a compiler crashed."""
        if any(row.words[0] == StorageClass.CrossWorkgroup for row in self.adapted.module.of_opcode(Op.Variable)):
            return ", which has variables at program scope: not every driver has them"
        return ""

    # --- launching --------------------------------------------------------------------

    def launch(self, kernel_name: str, global_size: Sequence[int], local_size: Sequence[int],
               arguments: Sequence[Any], global_offset: Sequence[int] | None = None) -> None:
        """Run a kernel; returns when it is done. See :class:`Plan` for the arguments."""
        self.launcher(kernel_name, global_size, local_size, arguments, global_offset)(arguments)

    def launcher(self, kernel_name: str, global_size: Sequence[int], local_size: Sequence[int],
                 arguments: Sequence[Any], global_offset: Sequence[int] | None = None) -> Callable[..., Any]:
        """What launches it with arguments, and returns when it is done."""
        plan = self.plan(kernel_name, global_size, local_size, global_offset)
        queue = plan.context.queue()

        def launch(values: Sequence[Any]) -> None:
            with errors(plan.what):
                plan.launch(values, queue).wait()

        return launch

    def plan(self, name: str, global_size: Sequence[int], local_size: Sequence[int],
             global_offset: Sequence[int] | None = None) -> Plan:
        """A kernel with sizes. LaunchError for sizes that do not fit."""
        chosen = (name, tuple(global_size), tuple(local_size), global_offset and tuple(global_offset))
        plan = self._plans.get(chosen)
        if plan is None:
            if len(self._plans) >= MOST_PLANS:
                self._plans.clear()
            plan = self._plans[chosen] = self._made_plan(name, global_size, local_size, global_offset)
        return plan

    def _made_plan(self, name: str, global_size: Sequence[int], local_size: Sequence[int],
                   global_offset: Sequence[int] | None) -> Plan:
        if name not in self.signatures:
            raise LaunchError(f"there is no kernel '{name}'; the kernels are {', '.join(self.signatures)}")
        signature = self.signatures[name]
        geometry = Geometry.checked(signature, global_size, local_size, global_offset,
                                    signature.sub_group_size or self.sub_group_size)
        own, built = self.context, self._built
        self.adapted.check_work_group(name, geometry)
        with errors(f"kernel '{name}'"):
            kernel = started().Kernel(built, name)
        in_place = self.options.host_memory and self.support.works_in_place
        return Plan(own, kernel, signature, geometry, in_place=in_place,
                    extra_local=self.adapted.local_bytes.get(name, 0))

    def explanation(self) -> list[str]:
        """What was done to the module for the driver, and why."""
        return list(self.adapted.notes)

    @property
    def settings(self) -> Mapping[str, str]:
        """The variables of the environment that the driver works with."""
        return self.support.settings
