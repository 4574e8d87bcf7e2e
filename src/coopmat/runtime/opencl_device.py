"""Devices of OpenCL's drivers that take SPIR-V: ``opencl:0`` and so on."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from coopmat.devices import ARCHITECTURES, Combination, DeviceDescription
from coopmat.devices.model import Limits
from coopmat.diagnostics import Error, KernelNotSupported
from coopmat.runtime.device import Device, LoadedProgram
from coopmat.spirv.module import Module
from coopmat.support.cache import Cache
from coopmat.support.cached import cached_property
from coopmat.targets.base.modules import check
from coopmat.targets.opencl.host.discovery import described
from coopmat.targets.opencl.options import OpenCLOptions

if TYPE_CHECKING:
    from coopmat.runtime.opencl_stream import OpenCLStream
    from coopmat.runtime.opencl_timer import OpenCLTimer
    from coopmat.targets.opencl.host.description import DriverDevice
    from coopmat.targets.opencl.program import OpenCLProgram
    from coopmat.targets.opencl.support import Support

_FAMILIES = {"cpu": "opencl_cpu", "gpu": "opencl", "accelerator": "opencl"}


class OpenCLDevice(Device):
    """A device of a driver for OpenCL: ``options`` are :class:`coopmat.OpenCLOptions`. Error if there is none such. One
    whose driver takes no SPIR-V can be asked what it is, and refuses every program."""

    options: OpenCLOptions

    def __init__(self, ordinal: int, options: OpenCLOptions | None = None) -> None:
        self.ordinal = ordinal
        self.facts: DriverDevice = described(ordinal)
        super().__init__(_description(ordinal, self.facts), options if options is not None else OpenCLOptions())
        if not isinstance(self.options, OpenCLOptions):
            raise Error(f"the options of the device '{self.name}' are OpenCLOptions, not {type(options).__name__}")

    def with_options(self, options: OpenCLOptions) -> OpenCLDevice:
        """The device with other options."""
        return OpenCLDevice(self.ordinal, options)

    @property
    def support(self) -> Support:
        """What the driver has proven to do."""
        from coopmat.targets.opencl.support import support_of

        return support_of(self.ordinal)

    @property
    def chip(self) -> str:
        """What the driver calls the chip."""
        return self.facts.name

    @property
    def driver(self) -> str:
        """What the driver calls itself."""
        return f"{self.facts.platform_name} {self.facts.driver_version}"

    @property
    def architecture(self) -> str:
        """What the driver calls the chip."""
        return self.facts.name

    @property
    def has_matrices(self) -> bool:
        """Whether the driver has sub-groups, and takes SPIR-V."""
        return self.facts.why_unusable is None and bool(self.support.sub_group_sizes)

    @cached_property
    def matrix_combinations(self) -> list[Combination]:
        """The rows of every device's table: ``native`` where the driver has proven to compute them, which come first.
        All others that kernels ask for are taken, too. None where the driver has no sub-groups."""
        from coopmat.targets.opencl.matrices import native_combinations

        if not self.has_matrices:
            return []
        own = dict.fromkeys(native_combinations(self.support, self.options))
        others = dict.fromkeys(row for one in ARCHITECTURES.values() for row in one.combinations if row not in own)
        return [*own, *(replace(row, native=False) for row in others)]

    def load(self, module: Module, *, is_checked: bool = False, cache: Cache | None = None) -> OpenCLProgram:
        """Prepare a module for execution; the driver compiles it at its first launch, or finds it in ``cache``."""
        from coopmat.targets.opencl.program import OpenCLProgram

        if self.facts.why_unusable is not None:
            raise KernelNotSupported(f"{self.name}: {self.facts.why_unusable}")
        if not is_checked:
            check(module, self.description)
        return OpenCLProgram(module, self.ordinal, self.description, self.support, self.options, cache)

    def explanation(self, program: LoadedProgram) -> list[str]:
        """What was done to a program's module for the driver, and why."""
        from coopmat.targets.opencl.program import OpenCLProgram

        assert isinstance(program, OpenCLProgram)
        return program.explanation() or super().explanation(program)

    def stream(self, handle: int | None = None) -> OpenCLStream:
        """What a queue submits its commands to: a queue of the driver's."""
        from coopmat.runtime.opencl_stream import OpenCLStream

        if handle is not None:
            super().stream(handle)
        return OpenCLStream(self)

    def timer(self) -> OpenCLTimer:
        """Times by the driver's clock."""
        from coopmat.runtime.opencl_timer import OpenCLTimer

        return OpenCLTimer(self.name, self.facts)


def _description(ordinal: int, driver: DriverDevice) -> DeviceDescription:
    """What kernels may use on a device: every shape and type, as on the CPU."""
    from coopmat.targets.opencl.support import support_of

    sizes = support_of(ordinal).sub_group_sizes if driver.why_unusable is None else ()
    limits = Limits(max(driver.local_memory, 1), driver.work_group, "the driver")
    return DeviceDescription(f"opencl:{ordinal}", _FAMILIES[driver.kind], sizes or (1,), (), has_fp64=driver.has_fp64,
                             any_combination=True, xmx_sub_group_sizes=tuple(one for one in (8, 16) if one in sizes),
                             limits=limits)
