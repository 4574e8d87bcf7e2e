"""Several devices as one: ``cuda:0,cuda:1``, ``cuda:*``, ``cpu,sim:generic``. They share the work-groups of a launch.

Each device has a part of the grid (``spirv.transform.parts``), as large as its speed in the launches before, and works
on memory of its own; what it has changed is put together afterwards (docs/several-devices.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, cast

from coopmat.devices import Combination
from coopmat.diagnostics import Error, LaunchError
from coopmat.runtime.device import Device, LoadedProgram
from coopmat.runtime.split_options import SplitOptions
from coopmat.runtime.split_program import SplitProgram
from coopmat.runtime.streams import HostStream, Stream
from coopmat.runtime.timing import Timer, simulation_timer
from coopmat.spirv.module import Module
from coopmat.support.cache import Cache
from coopmat.support.cached import cached_property
from coopmat.targets.base.device_array import DeviceArray, Memory

if TYPE_CHECKING:
    from coopmat.runtime.cuda_device import CudaDevice
    from coopmat.targets.cuda.host.peers import PeerMemory

_CUDA = "cuda:"


class SplitDevice(Device):
    """Devices that share launches: ``options`` are :class:`coopmat.SplitOptions`. Error for fewer than two."""

    options: SplitOptions

    def __init__(self, devices: Sequence[Device], options: SplitOptions | None = None) -> None:
        if len(devices) < 2:
            raise Error("a launch is split over two devices or more, separated by commas: 'cuda:0,cuda:1'")
        self.devices = tuple(devices)
        super().__init__(_common(devices), options if options is not None else SplitOptions())
        if not isinstance(self.options, SplitOptions):
            raise Error(f"the options of several devices are SplitOptions, not {type(options).__name__}; those of one "
                        "are given where it is alone")
        self.name = ",".join(one.name for one in devices)

    @property
    def chip(self) -> str:
        """Those of all devices."""
        return ", ".join(one.chip for one in self.devices)

    @property
    def driver(self) -> str:
        """Those of all devices."""
        return ", ".join(one.driver for one in self.devices if one.driver)

    @property
    def identity(self) -> tuple[Any, ...]:
        return self.name, self.options, *(one.identity for one in self.devices)

    @property
    def matrix_combinations(self) -> list[Combination]:
        """The combinations that all of the devices have; ``native`` where all have instructions for them."""
        tables = [{replace(row, native=True): row for row in one.matrix_combinations} for one in self.devices
                  if one.matrix_combinations]  # sim:generic takes them all
        return [replace(row, native=all(table[key].native for table in tables))
                for key, row in (tables[0] if tables else {}).items() if all(key in table for table in tables)]

    @property
    def max_work_group_size(self) -> int:
        return min(one.max_work_group_size for one in self.devices)

    @property
    def local_memory_size(self) -> int:
        return min(one.local_memory_size for one in self.devices)

    def with_options(self, options: SplitOptions) -> SplitDevice:
        """The devices with other options."""
        return SplitDevice(self.devices, options)

    def can_load(self, module: Module) -> bool:
        return all(one.can_load(module) for one in self.devices)

    # --- memory -------------------------------------------------------------------------

    @property
    def are_gpus(self) -> bool:
        """Whether all are GPUs of NVIDIA, which work on each other's memory."""
        return all(one.name.startswith(_CUDA) for one in self.devices)

    @property
    def is_apart(self) -> bool:  # type: ignore[override]
        return self.are_gpus

    @cached_property
    def ordinals(self) -> tuple[int, ...]:
        """The numbers of the GPUs."""
        return tuple(int(one.name.removeprefix(_CUDA)) for one in self.devices)

    @cached_property
    def peers(self) -> PeerMemory:
        """The memory of all GPUs. LaunchError where they do not reach each other's."""
        from coopmat.targets.cuda.host.context import context
        from coopmat.targets.cuda.host.peers import PeerMemory

        return PeerMemory([context(ordinal) for ordinal in self.ordinals])

    def foreign(self, given: Any) -> DeviceArray | None:
        """The memory of one of the GPUs that an object shows; None if it shows none. LaunchError for another GPU's."""
        if not self.are_gpus:
            return super().foreign(given)
        refusal: LaunchError | None = None
        for one in self.devices:
            try:
                return one.foreign(given)
            except LaunchError as error:
                refusal = error
        raise refusal or LaunchError(f"its memory is on none of {self.name}")

    def allocate(self, kind: Literal["device", "host", "shared"], nbytes: int, alignment: int) -> Memory:
        """Zeroed memory: of the host where not all are GPUs. Each GPU has a piece of what is large, and the first one
        what is small."""
        if not self.are_gpus:
            return super().allocate(kind, nbytes, alignment)
        if kind == "device":
            from coopmat.targets.cuda.host.spread import SpreadMemory, can_spread

            contexts = list(self.peers.contexts.values())
            if can_spread(contexts, nbytes):
                return SpreadMemory(contexts, nbytes, alignment).device_array(nbytes)
        return self.devices[0].allocate(kind, nbytes, alignment)

    def stream(self, handle: int | None = None) -> Stream:
        """What a queue submits its commands to."""
        if handle is not None:
            return super().stream(handle)
        if self.are_gpus:
            from coopmat.runtime.split_gpus import GpusStream  # imported late: it loads what launches on GPUs

            return GpusStream(self)
        return HostStream(self)

    # --- programs -----------------------------------------------------------------------

    def load(self, module: Module, *, is_checked: bool = False, cache: Cache | None = None) -> SplitProgram:
        """Prepare a module for all of the devices; KernelNotSupported if one of them has not its matrices."""
        return SplitProgram(self, module, cache, is_checked=is_checked)

    def explanation(self, program: LoadedProgram) -> list[str]:
        """How the last launch was shared out, and what each device chose."""
        assert isinstance(program, SplitProgram)
        return program.explanation()

    def timer(self) -> Timer:
        """Times by the GPUs' clocks, or where not all are GPUs, by this machine's."""
        if self.are_gpus:
            from coopmat.runtime.cuda_timer import CudaTimer

            return CudaTimer([cast("CudaDevice", one).flush() for one in self.devices])
        return simulation_timer(self.name)


def _common(devices: Sequence[Device]) -> Any:
    """The description of what all have: the first one's, with the sub-group sizes of all."""
    first = devices[0].description
    sizes = [size for size in devices[0].sub_group_sizes if all(size in one.sub_group_sizes for one in devices)]
    if not sizes:
        raise Error("the devices have no sub-group size in common: " + "; ".join(
            f"{one.name} has {', '.join(map(str, one.sub_group_sizes))}" for one in devices))
    return replace(first, sub_group_sizes=tuple(sizes),
                   xmx_sub_group_sizes=tuple(size for size in first.xmx_sub_group_sizes if size in sizes))
