"""Simulated devices: ``sim:intel_gpu_pvc`` and the like."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from coopmat.devices import DeviceDescription
from coopmat.diagnostics import Error
from coopmat.runtime.device import Device, LoadedProgram
from coopmat.spirv.module import Module
from coopmat.support.cache import Cache
from coopmat.support.unwritten import marked
from coopmat.targets import simulator
from coopmat.targets.base.device_array import Memory
from coopmat.targets.simulator import SimulatorOptions

if TYPE_CHECKING:
    from coopmat.runtime.timing import Timer
    from coopmat.targets.cuda.program import PtxProgram


class SimulatedDevice(Device):
    """A device that the simulator plays: ``options`` are :class:`coopmat.SimulatorOptions`."""

    sees_what_is_written = True

    def __init__(self, description: DeviceDescription, options: SimulatorOptions | None = None) -> None:
        super().__init__(description, options if options is not None else SimulatorOptions())
        if not isinstance(self.options, SimulatorOptions):
            raise Error(f"the options of a simulated device are SimulatorOptions, not {type(options).__name__}")
        self.options.arithmetic(description.name)  # an Error if the device has none such

    def with_options(self, options: SimulatorOptions) -> SimulatedDevice:
        """The device with other options."""
        return SimulatedDevice(self.description, options)

    def real(self) -> SimulatedDevice:
        """The device that code for the real chip is made for: there, large matrices are multiplied in parts, as are
        those of types that the chip does not know."""
        return SimulatedDevice(replace(self.description, combinations=(), any_combination=True), self.options)

    def allocate(self, kind: Literal["device", "host", "shared"], nbytes: int, alignment: int) -> Memory:
        """Zeroed memory. Of a device's the simulator knows what nobody has written."""
        memory = super().allocate(kind, nbytes, alignment)
        is_watched = kind == "device" and self.options.uninitialized
        return marked(memory) if is_watched and isinstance(memory, np.ndarray) else memory

    def timer(self) -> Timer:
        """Times the simulation by this machine's clock."""
        from coopmat.runtime.timing import simulation_timer

        return simulation_timer(self.name)

    def ptx_program(self, module: Module, cache: Cache, load: Callable[[], LoadedProgram]) -> PtxProgram:
        """A module as PTX for the simulated chip, if that is one of NVIDIA's."""
        from coopmat.targets.cuda.chips import chip_for
        from coopmat.targets.cuda.program import PtxProgram

        chip = chip_for(self.description)
        return super().ptx_program(module, cache, load) if chip is None else PtxProgram(module, chip, cache)

    def overview(self, load: Callable[[], LoadedProgram], ptx: Callable[[], PtxProgram]) -> list[str]:
        """What is chosen for the simulated chip, if that is one of NVIDIA's."""
        from coopmat.targets.cuda.chips import chip_for

        return super().overview(load, ptx) if chip_for(self.description) is None else ptx().usual_explanation()

    def load(self, module: Module, *, is_checked: bool = False,
             cache: Cache | None = None) -> simulator.SimulatedProgram:
        """Prepare a module for execution; there is nothing to keep."""
        return simulator.compile(module, self.description, self.options, is_checked=is_checked)
