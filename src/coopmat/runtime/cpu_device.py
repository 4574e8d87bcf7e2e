"""The CPU that this process runs on, as a device: ``cpu``."""

from __future__ import annotations

import os
import platform
from typing import TYPE_CHECKING, Any

from coopmat.devices import CPU, Combination
from coopmat.diagnostics import Error
from coopmat.runtime.device import Device, LoadedProgram
from coopmat.spirv.module import Module
from coopmat.support.cache import Cache
from coopmat.targets.base.modules import check
from coopmat.targets.cpu.features import VARIABLE as FEATURES_VARIABLE
from coopmat.targets.cpu.options import THREADS_VARIABLE, CpuOptions

if TYPE_CHECKING:
    from coopmat.runtime.timing import Timer
    from coopmat.targets.cpu.features import CpuFeatures
    from coopmat.targets.cpu.program import CpuProgram


class CpuDevice(Device):
    """This machine's CPU: ``options`` are :class:`coopmat.CpuOptions`. LLVM is loaded when it is first needed."""

    def __init__(self, options: CpuOptions | None = None) -> None:
        super().__init__(CPU, options if options is not None else CpuOptions())
        if not isinstance(self.options, CpuOptions):
            raise Error(f"the options of the device '{CPU.name}' are CpuOptions, not {type(options).__name__}")
        self._settings = tuple(map(os.environ.get, (THREADS_VARIABLE, FEATURES_VARIABLE)))

    @property
    def identity(self) -> tuple[Any, ...]:
        return (*super().identity, self._settings)

    def with_options(self, options: CpuOptions) -> CpuDevice:
        """The device with other options."""
        return CpuDevice(options)

    @property
    def chip(self) -> str:
        """What the system calls the processor."""
        from coopmat.runtime.timing import processor_name

        return processor_name()

    @property
    def features(self) -> CpuFeatures:
        """What the processor can do, and what of it is used."""
        from coopmat.targets.cpu.features import cpu_features

        return cpu_features()

    @property
    def architecture(self) -> str:
        """Name of the architecture: ``intel_cpu_gnr`` or ``intel_cpu_spr`` with their matrix instructions, else what
        the system calls the machine, such as ``x86_64``."""
        from coopmat.targets.cpu.combinations import architecture_of

        return architecture_of(self.features.used, platform.machine())

    @property
    def matrix_combinations(self) -> list[Combination]:
        """The rows of every device's table: ``native`` where the processor has instructions for them, which come first.
        All others that kernels ask for are taken, too."""
        from coopmat.targets.cpu.combinations import combinations

        return combinations(self.features.used)

    def load(self, module: Module, *, is_checked: bool = False, cache: Cache | None = None) -> CpuProgram:
        """Prepare a module for execution; each kernel is compiled at its first launch, or found in ``cache``."""
        from coopmat.targets.cpu.program import CpuProgram

        if not is_checked:
            check(module, self.description)
        return CpuProgram(module, self.features, self.options, cache)

    def explanation(self, program: LoadedProgram) -> list[str]:
        """What was chosen for the last launch of a program: merged work-groups, units that multiply, and why not."""
        from coopmat.targets.cpu.program import CpuProgram

        assert isinstance(program, CpuProgram)
        return program.explanation()

    def timer(self) -> Timer:
        """Times by this machine's clock; the buffer that empties the caches is larger than the last of them."""
        from coopmat.runtime.timing import cpu_timer

        return cpu_timer()

    def assembly(self, program: LoadedProgram) -> str:
        """The assembly language of all kernels of a program, for work-groups of whole sub-groups."""
        from coopmat.targets.cpu.program import CpuProgram

        assert isinstance(program, CpuProgram)
        return program.assembly()
