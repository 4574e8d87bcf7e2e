"""NVIDIA's GPUs as devices: ``cuda:0`` and so on."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from coopmat.devices import ARCHITECTURES, Combination, DeviceDescription
from coopmat.devices.model import Limits
from coopmat.diagnostics import Error
from coopmat.runtime.device import Device, LoadedProgram
from coopmat.spirv.module import Module
from coopmat.support.cache import Cache
from coopmat.targets.base.modules import check
from coopmat.targets.cuda.host.context import Context, context
from coopmat.targets.cuda.options import CudaOptions

if TYPE_CHECKING:
    from coopmat.targets.cuda.program import CudaProgram


def description_of(gpu: Context) -> DeviceDescription:
    """What kernels may use on a GPU: every shape and type, as on the CPU."""
    from coopmat.targets.cuda.program import SUB_GROUP_SIZES

    limits = Limits(gpu.shared_memory, gpu.attribute("MAX_THREADS_PER_BLOCK"), "the driver")
    return DeviceDescription(f"cuda:{gpu.ordinal}", "cuda", SUB_GROUP_SIZES, (), any_combination=True,
                             xmx_sub_group_sizes=(8, 16), limits=limits)


class CudaDevice(Device):
    """An NVIDIA GPU: ``options`` are :class:`coopmat.CudaOptions`. Error if there is no such GPU, or no driver."""

    def __init__(self, ordinal: int, options: CudaOptions | None = None) -> None:
        self.gpu = context(ordinal)
        super().__init__(description_of(self.gpu), options if options is not None else CudaOptions())
        if not isinstance(self.options, CudaOptions):
            raise Error(f"the options of the device '{self.name}' are CudaOptions, not {type(options).__name__}")

    def with_options(self, options: CudaOptions) -> CudaDevice:
        """The device with other options."""
        return CudaDevice(self.gpu.ordinal, options)

    @property
    def architecture(self) -> str:
        """Name of the architecture: that of the table whose instructions the chip has."""
        return self.gpu.chip.table

    @property
    def matrix_combinations(self) -> list[Combination]:
        """The rows of every device's table: ``native`` where the tensor cores have them, which come first. All others
        that kernels ask for are taken, too."""
        own = dict.fromkeys(self.gpu.chip.description.combinations)
        others = dict.fromkeys(row for one in ARCHITECTURES.values() for row in one.combinations if row not in own)
        return [*own, *(replace(row, native=False) for row in others)]

    def load(self, module: Module, *, is_checked: bool = False, cache: Cache | None = None) -> CudaProgram:
        """Prepare a module for execution; each kernel is compiled at its first launch, or found in ``cache``."""
        from coopmat.targets.cuda.program import CudaProgram

        if not is_checked:
            check(module, self.description)
        return CudaProgram(module, self.gpu.ordinal, self.options, cache)

    def assembly(self, program: LoadedProgram) -> str:
        """The PTX of all kernels of a program."""
        from coopmat.targets.cuda.program import PtxProgram

        assert isinstance(program, PtxProgram)
        return program.ptx()
