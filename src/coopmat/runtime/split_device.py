"""Several devices as one: ``cuda:0,cuda:1``, ``cuda:*``, ``cpu,sim:generic``. They share the work-groups of a launch.

Each device has a part of the grid (``spirv.transform.parts``), as large as its speed in the launches before, and works
on memory of its own; what it has changed is put together afterwards (docs/several-devices.md).
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import Any

from coopmat.devices import Combination
from coopmat.diagnostics import Error, LaunchError
from coopmat.runtime.device import Device, LoadedProgram
from coopmat.runtime.split_options import SplitOptions
from coopmat.runtime.timing import Timer, simulation_timer
from coopmat.spirv.module import Module
from coopmat.spirv.transform.parts import in_parts
from coopmat.support.cache import Cache
from coopmat.support.cached import cached_property
from coopmat.targets.analysis.sharing import Sharing, sharing_of
from coopmat.targets.base.geometry import Geometry
from coopmat.targets.base.modules import check
from coopmat.targets.base.out_of_bounds import argument_name
from coopmat.targets.base.partition import Part, partition
from coopmat.targets.base.putting_together import Copies

SMOOTHING = 0.5  # how much a launch's speed counts beside that of those before


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
    def identity(self) -> tuple[Any, ...]:
        return self.name, self.options, *(one.identity for one in self.devices)

    @property
    def matrix_combinations(self) -> list[Combination]:
        """The combinations that all of the devices have; ``native`` where all have instructions for them."""
        tables = [{replace(row, native=True): row for row in one.matrix_combinations} for one in self.devices
                  if not one.description.any_combination]
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

    def load(self, module: Module, *, is_checked: bool = False, cache: Cache | None = None) -> SplitProgram:
        """Prepare a module for all of the devices; KernelNotSupported if one of them has not its matrices."""
        return SplitProgram(self, module, cache, is_checked=is_checked)

    def explanation(self, program: LoadedProgram) -> list[str]:
        """How the last launch was shared out, and what each device chose."""
        assert isinstance(program, SplitProgram)
        return program.explanation()

    def timer(self) -> Timer:
        """Times by this machine's clock."""
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


@dataclass
class _Kernel:
    """A kernel in parts: how its work-groups depend on each other, and how fast each device was, in work-groups a
    second; nothing is known of a device that is not there."""

    sharing: Sharing
    speeds: dict[int, float] = field(default_factory=dict)
    launched: set[int] = field(default_factory=set)  # devices that have compiled it
    parts: list[Part] = field(default_factory=list)

    def shares(self, devices: int) -> list[float]:
        """How much each device should do: what nobody knows is as fast as the others are on average."""
        usual = sum(self.speeds.values()) / len(self.speeds) if self.speeds else 1.0
        return [self.speeds.get(number, usual) for number in range(devices)]

    def note(self, part: Part, seconds: float) -> None:
        """Learn from the time that a part took. A device's first one tells little: it compiles the kernel."""
        if part.owner not in self.launched:
            self.launched.add(part.owner)
            return
        speed = math.prod(part.counts) / max(seconds, 1e-6)
        old = self.speeds.get(part.owner, speed)
        self.speeds[part.owner] = SMOOTHING * speed + (1 - SMOOTHING) * old


class SplitProgram:
    """A module on several devices. See :class:`~coopmat.runtime.device.LoadedProgram`."""

    def __init__(self, device: SplitDevice, module: Module, cache: Cache | None, *, is_checked: bool) -> None:
        from coopmat.runtime.program import Program

        self.device = device
        self.module = module
        self._parts = Program(in_parts(module), source_name="parts", cache=cache)
        for one in device.devices:
            if not is_checked:
                check(module, one.description)
            self._parts.load(one)
        self._streams = [one.stream() for one in device.devices]
        self._kernels: dict[str, _Kernel] = {}
        self._last: tuple[str, _Kernel] | None = None

    @cached_property
    def _threads(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(len(self._streams), thread_name_prefix="coopmat-part")

    def launcher(self, kernel_name: str, global_size: Sequence[int], local_size: Sequence[int],
                 arguments: Sequence[Any]) -> Callable[[Sequence[Any]], None]:
        """What launches a kernel with arguments. LaunchError for sizes that do not fit, and for kernels whose
        work-groups share too much."""
        signature = self.module.kernel_signatures[kernel_name]
        geometry = Geometry.checked(signature, global_size, local_size, None, 1)
        kernel = self._kernel(kernel_name)
        if kernel.sharing.reasons and self.device.options.split == "checked":
            raise LaunchError(f"kernel '{kernel_name}' cannot be split over {self.device.name}: "
                              f"{'; '.join(kernel.sharing.reasons)}. Launch it on one device, or with "
                              "SplitOptions(split='unchecked')")
        labels = [argument_name(place, one.name) for place, one in enumerate(signature.parameters)]
        return lambda given: self._launch(kernel_name, kernel, geometry, given, labels)

    def _kernel(self, name: str) -> _Kernel:
        if name not in self._kernels:
            self._kernels[name] = _Kernel(sharing_of(self.module, name))
        return self._kernels[name]

    def _launch(self, name: str, kernel: _Kernel, geometry: Geometry, arguments: Sequence[Any],
                labels: Sequence[str]) -> None:
        kernel.parts = partition(geometry.group_counts, kernel.shares(len(self._streams)))
        self._last = name, kernel
        copies = Copies(arguments, kernel.sharing, len(kernel.parts), labels)
        works = [self._threads.submit(self._run, name, part, geometry, copies.of(number))
                 for number, part in enumerate(kernel.parts)]
        wait(works)
        seconds = [work.result() for work in works]  # raises what one of them has failed with
        copies.put_together(checks=self.device.options.split == "checked")
        for part, taken in zip(kernel.parts, seconds, strict=True):
            kernel.note(part, taken)

    def _run(self, name: str, part: Part, geometry: Geometry, arguments: Sequence[Any]) -> float:
        """Run a part; the seconds that it took."""
        start = perf_counter()
        size = tuple(count * local for count, local in zip(part.counts, geometry.local_size, strict=True))
        kernel = self._parts.kernel(name)
        more = [number.to_bytes(kernel.signature.parameters[-1].type.size, sys.byteorder)
                for number in (*part.first, *geometry.group_counts)]
        self._streams[part.owner].launch(kernel, (size, geometry.local_size), [*arguments, *more]).wait()
        return perf_counter() - start

    def explanation(self) -> list[str]:
        """How the last launch was shared out."""
        if self._last is None:
            return ["nothing was launched yet"]
        name, kernel = self._last
        total = sum(math.prod(part.counts) for part in kernel.parts)
        return [f"{name}: {self.device.devices[part.owner].name} ran {math.prod(part.counts)} of {total} work-groups, "
                f"from {part.first} on" for part in kernel.parts]
