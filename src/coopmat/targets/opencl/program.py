"""A module on a driver: adapted to what the driver does, compiled by it, its kernels launched."""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from coopmat.devices import DeviceDescription
from coopmat.diagnostics import CompileError, Diagnostic, Error, LaunchError
from coopmat.spirv.module import Module
from coopmat.support.cache import Cache, key
from coopmat.support.cached import cached_property
from coopmat.targets.base.dump import dump
from coopmat.targets.base.geometry import Geometry
from coopmat.targets.opencl.adaptation import Adapted, adapt
from coopmat.targets.opencl.host.context import Context, context
from coopmat.targets.opencl.host.driver import code_name, errors, started
from coopmat.targets.opencl.host.launch import Plan
from coopmat.targets.opencl.options import OpenCLOptions
from coopmat.targets.opencl.support import Support

MOST_PLANS = 256
LONGEST_LOG = 4000  # characters of the driver's own text in an error


class OpenCLProgram:
    """A module for ``opencl:ordinal``; the driver compiles it at the first launch, or finds it in ``cache``."""

    def __init__(self, module: Module, ordinal: int, description: DeviceDescription, support: Support,
                 options: OpenCLOptions, cache: Cache | None) -> None:
        self.ordinal, self.options = ordinal, options
        self.cache = cache if cache is not None else Cache(None)
        self.support = support
        self.signatures = module.kernel_signatures
        self.sub_group_size = description.sub_group_sizes[0]
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
        """The driver's program. CompileError, with the driver's log, if it refuses the module."""
        spirv = self.adapted.module.to_bytes()
        dump("module", "spv", lambda: spirv)
        name = key("opencl binary", self.support.device.identity, repr(sorted(self.support.settings.items())),
                   self.options.build_options, spirv)
        cl, own = started(), self.context
        content = self.cache.get(name)
        if content is not None:
            try:
                return self._compiled(cl.Program(own.context, [own.device], [pickle.loads(content)]))
            except (cl.Error, MemoryError):  # of another build of the driver: it is compiled anew
                self.cache.remove(name)
        with errors("SPIR-V for the driver", Error):
            program = cl.Program(own.context, spirv)
        try:
            self._compiled(program)
        except (cl.Error, MemoryError) as error:
            raise self._refused(program, error) from None
        try:
            binary, = program.binaries
            self.cache.put(name, pickle.dumps(bytes(binary)))
        except (cl.Error, MemoryError, ValueError, TypeError):  # a driver that gives none
            pass
        return program

    def _compiled(self, program: Any) -> Any:
        """The program, compiled. pyopencl's warnings of what compilers say beside errors are shown to nobody."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", started().CompilerWarning)
            return program.build(options=self.options.build_options)

    def _refused(self, program: Any, error: Any) -> CompileError:
        """What the driver's compiler says about the module."""
        cl, own = started(), self.context
        try:
            log = str(program.get_build_info(own.device, cl.program_build_info.LOG)).strip()
        except (cl.Error, MemoryError):
            log = ""
        words = f":\n{log[:LONGEST_LOG]}" if log else " and says nothing more"
        return CompileError([Diagnostic("error", f"the driver {own.described} does not compile the program "
                                        f"(CL_{code_name(error.code)}){words}", None)])

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
        self.adapted.check_work_group(name, geometry)
        own, built = self.context, self._built
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
