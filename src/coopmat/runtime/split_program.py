"""Programs and queues of several devices that share launches: parts run on each, and their results put together."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from coopmat.diagnostics import LaunchError
from coopmat.runtime.device import Device, LoadedProgram
from coopmat.runtime.events import Event
from coopmat.runtime.streams import HostStream
from coopmat.spirv.module import Module
from coopmat.spirv.transform.parts import in_parts
from coopmat.support.cache import Cache
from coopmat.support.cached import cached_property
from coopmat.targets.analysis.sharing import Sharing, sharing_of
from coopmat.targets.base.device_array import DeviceArray, Memory
from coopmat.targets.base.geometry import Geometry, Triple
from coopmat.targets.base.modules import check
from coopmat.targets.base.out_of_bounds import argument_name
from coopmat.targets.base.partition import Part, partition
from coopmat.targets.base.putting_together import Copies

if TYPE_CHECKING:
    from coopmat.runtime.split_device import SplitDevice

SMOOTHING = 0.5  # how much a launch's speed counts beside that of those before
EVEN = 1.04  # the longest time of a part beside their mean, with which parts stay as they are


class SplitStream(HostStream):
    """Commands of several devices, each done when the call that submits it returns. Memory of a GPU is the first
    GPU's to copy."""

    device: SplitDevice

    def __init__(self, device: SplitDevice) -> None:
        super().__init__(device)
        self._first = device.devices[0].stream() if device.are_gpus else None

    def copy(self, target: Memory, source: Memory, nbytes: int) -> Event:
        """See :class:`~coopmat.runtime.streams.Stream`."""
        if self._first is None:
            return super().copy(target, source, nbytes)
        return self._done(self._first.copy(target, source, nbytes), target)

    def fill(self, target: Memory, pattern: np.ndarray, count: int) -> Event:
        """See :class:`~coopmat.runtime.streams.Stream`."""
        if self._first is None:
            return super().fill(target, pattern, count)
        return self._done(self._first.fill(target, pattern, count), target)

    def prefetch(self, memory: Memory, nbytes: int) -> Event:
        """Forget copies of the memory on other GPUs: it has been written by somebody else."""
        return self._done(super().prefetch(memory, nbytes), memory)

    def _done(self, event: Event, written: Memory) -> Event:
        event.wait()
        if isinstance(written, DeviceArray):
            self.device.peers.changed([written])
        return event


@dataclass
class _Kernel:
    """A kernel in parts: how its work-groups depend on each other, and how fast each device was, in work-groups a
    second; nothing is known of a device that is not there."""

    sharing: Sharing
    speeds: dict[int, float] = field(default_factory=dict)
    launched: set[int] = field(default_factory=set)  # devices that have compiled it
    parts: list[Part] = field(default_factory=list)
    group_counts: Triple = (0, 0, 0)
    launches: int = 0  # since the parts were last thought over
    patience: int = 1  # launches until that is done again: code that is made for sizes should serve often

    def parts_for(self, group_counts: Triple, devices: int) -> list[Part]:
        """The parts of a launch: those of the last one, unless other ones promise more."""
        self.launches += 1
        if group_counts != self.group_counts or not self.parts:
            self.group_counts, self.patience = group_counts, 1
        elif self.launches < self.patience or self._are_even():
            return self.parts
        else:
            self.patience *= 2
        self.launches = 0
        self.parts = partition(group_counts, self._shares(devices))
        return self.parts

    def _are_even(self) -> bool:
        """Whether all devices are expected to take about the same time."""
        times = [math.prod(part.counts) / self.speeds[part.owner] for part in self.parts if part.owner in self.speeds]
        return len(times) < len(self.parts) or max(times) <= EVEN * sum(times) / len(times)

    def _shares(self, devices: int) -> list[float]:
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


class _Parts:
    """The module whose kernels run parts of launches, on each of the devices."""

    source_name = "parts"

    def __init__(self, module: Module, cache: Cache | None) -> None:
        self.module = module
        self._cache = cache
        self._loaded: dict[Device, LoadedProgram] = {}

    def load(self, device: Device) -> LoadedProgram:
        """The module on a device."""
        if device not in self._loaded:
            self._loaded[device] = device.load(self.module, is_checked=True, cache=self._cache)
        return self._loaded[device]


@dataclass
class _Part:
    """A kernel of it, as streams take one."""

    name: str
    program: _Parts


class SplitProgram:
    """A module on several devices. See :class:`~coopmat.runtime.device.LoadedProgram`."""

    def __init__(self, device: SplitDevice, module: Module, cache: Cache | None, *, is_checked: bool) -> None:
        self.device = device
        self.module = module
        self._parts = _Parts(in_parts(module), cache)
        for one in device.devices:
            if not is_checked:
                check(module, one.description)
            self._parts.load(one)
        self._streams = [one.stream() for one in device.devices]
        self._kernels: dict[str, _Kernel] = {}
        self._last: tuple[str, _Kernel] | None = None

    @property
    def _checks(self) -> bool:
        return self.device.options.split == "checked"

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
        if kernel.sharing.reasons and self._checks:
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
        kernel.parts_for(geometry.group_counts, len(self._streams))
        self._last = name, kernel
        copies = Copies(arguments, kernel.sharing, len(kernel.parts), labels)
        given = [copies.of(number) for number in range(len(kernel.parts))]
        on_gpus = [place for place, one in enumerate(arguments) if isinstance(one, DeviceArray)]
        if on_gpus:
            given = self._as_gpus_take_it(kernel, given, on_gpus, labels)
        run = self._at_once if copies.arrays or not self.device.are_gpus else self._in_turn
        seconds = run(name, kernel.parts, geometry, given)
        copies.put_together(checks=self._checks)
        if on_gpus:
            self.device.peers.changed([arguments[place] for place in on_gpus if place in kernel.sharing.written])
        for part, taken in zip(kernel.parts, seconds, strict=True):
            kernel.note(part, taken)

    def _as_gpus_take_it(self, kernel: _Kernel, given: Sequence[list[Any]], on_gpus: Sequence[int],
                         labels: Sequence[str]) -> list[list[Any]]:
        """The arguments of each part, some of which are memory of GPUs. LaunchError for counters there."""
        for place in on_gpus:
            if place in kernel.sharing.combined and self._checks:
                raise LaunchError(f"{labels[place]} is changed by atomic operations, and those of a GPU are its own: "
                                  "give an array of the host, where the counts are put together")
        peers = self.device.peers
        peers.wait(given[0])
        return [peers.arguments(one, self.device.ordinals[part.owner], kernel.sharing.written)
                for part, one in zip(kernel.parts, given, strict=True)]

    # --- parts --------------------------------------------------------------------------

    def _in_turn(self, name: str, parts: Sequence[Part], geometry: Geometry, given: Sequence[Sequence[Any]]
                 ) -> list[float]:
        """Submit parts to GPUs, which run them at the same time, and wait; the seconds of each by its GPU's clock."""
        events = [self._submit(name, part, geometry, one) for part, one in zip(parts, given, strict=True)]
        return [event.elapsed for event in events]

    def _at_once(self, name: str, parts: Sequence[Part], geometry: Geometry, given: Sequence[Sequence[Any]]
                 ) -> list[float]:
        """Run parts in threads, since whoever takes arrays of the host waits for them; the seconds of each."""
        def run(part: Part, arguments: Sequence[Any]) -> float:
            start = perf_counter()
            self._submit(name, part, geometry, arguments).wait()
            return perf_counter() - start

        works = [self._threads.submit(run, part, one) for part, one in zip(parts, given, strict=True)]
        wait(works)
        return [work.result() for work in works]  # raises what one of them has failed with

    def _submit(self, name: str, part: Part, geometry: Geometry, arguments: Sequence[Any]) -> Event:
        size = tuple(count * local for count, local in zip(part.counts, geometry.local_size, strict=True))
        width = self._parts.module.kernel_signatures[name].parameters[-1].type.size
        more = [number.to_bytes(width, sys.byteorder) for number in (*part.first, *geometry.group_counts)]
        return self._streams[part.owner].launch(_Part(name, self._parts), (size, geometry.local_size),
                                                [*arguments, *more])

    def explanation(self) -> list[str]:
        """How the last launch was shared out."""
        if self._last is None:
            return ["nothing was launched yet"]
        name, kernel = self._last
        total = sum(math.prod(part.counts) for part in kernel.parts)
        return [f"{name}: {self.device.devices[part.owner].name} ran {math.prod(part.counts)} of {total} work-groups, "
                f"from {part.first} on" for part in kernel.parts]
