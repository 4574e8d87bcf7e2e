"""A device of a farm: ``dask://host:8786/cuda:0``. Programs go there as SPIR-V, arrays once."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from coopmat.devices import Combination
from coopmat.diagnostics import Error, LaunchError
from coopmat.machines.worker import SIMULATED, DeviceRecord, Place, Request, resource_of
from coopmat.runtime.device import Device
from coopmat.runtime.events import Event
from coopmat.runtime.streams import HostStream, Kernel, Prepared, Sizes, Stream
from coopmat.runtime.timing import HostTimer, Timer, simulation_timer
from coopmat.spirv.module import Module
from coopmat.support.cache import Cache
from coopmat.support.unwritten import copied
from coopmat.targets.analysis.sharing import sharing_of
from coopmat.targets.base.modules import check
from coopmat.targets.base.spans import Spans

if TYPE_CHECKING:
    from coopmat.machines.farms import Farm


class FarmDevice(Device):
    """A device that workers of a farm have; any that is free runs a launch. ``options``: of a device of that kind."""

    def __init__(self, farm: Farm, record: DeviceRecord, options: Any = None) -> None:
        super().__init__(record.description, record.options if options is None else options)
        if type(self.options) is not type(record.options):
            raise Error(f"the options of the device '{record.name}' are {type(record.options).__name__}, not "
                        f"{type(options).__name__}")
        self.farm = farm
        self.record = record
        self.name = f"{farm.address}/{record.name}"

    @property
    def chip(self) -> str:
        return self.record.chip

    @property
    def driver(self) -> str:
        return self.record.driver

    @property
    def architecture(self) -> str:
        return self.record.architecture

    @property
    def matrix_combinations(self) -> list[Combination]:
        return list(self.record.combinations)

    def with_options(self, options: Any) -> FarmDevice:
        """The device with other options."""
        return FarmDevice(self.farm, self.record, options)

    def load(self, module: Module, *, is_checked: bool = False, cache: Cache | None = None) -> FarmProgram:
        """Prepare a module for workers, which compile it at its first launch."""
        if not is_checked:
            check(module, self.description)
        return FarmProgram(self, module)

    def stream(self, handle: int | None = None) -> Stream:
        """What a queue submits its commands to."""
        return super().stream(handle) if handle is not None else FarmStream(self)

    def timer(self) -> Timer:
        """The times that launches take on the worker, without the way there."""
        return FarmTimer(self)


class FarmStream(HostStream):
    """Every command is done when the call that submits it returns; a launch's event has the time that it took on the
    worker."""

    def launch(self, kernel: Kernel, sizes: tuple[Sizes, Sizes], arguments: Sequence[Any]) -> Event:
        """See :class:`Stream`."""
        return self.prepare(kernel, sizes, arguments)()

    def prepare(self, kernel: Kernel, sizes: tuple[Sizes, Sizes], arguments: Sequence[Any]) -> Prepared:
        """See :class:`Stream`."""
        launcher = self._launcher(kernel, sizes, arguments)

        def launch() -> Event:
            start = time.perf_counter_ns()
            seconds = launcher(arguments)
            assert isinstance(seconds, float)
            return Event(start, start, start + round(seconds * 1e9))

        return launch


class FarmTimer(HostTimer):
    """The timer of a farm's device: events of launches have the worker's times, and caches there stay as they are."""

    def __init__(self, device: FarmDevice) -> None:
        self._device = device
        note = f"times of {device.name} are those of launches on its worker, whose caches keep what they hold"
        if resource_of(device.record.name) == SIMULATED:
            note = simulation_timer(device.name).note
        super().__init__(0, note)

    @property
    def hardware(self) -> str:
        """The chip, and its driver."""
        return ", ".join(one for one in (self._device.chip, self._device.driver) if one)


class FarmProgram:
    """A module on workers. See :class:`~coopmat.runtime.device.LoadedProgram`."""

    def __init__(self, device: FarmDevice, module: Module) -> None:
        self.device = device
        self.module = module
        self.spirv = module.to_bytes()
        self.digest = hashlib.blake2b(self.spirv, digest_size=16).hexdigest()
        self._written: dict[str, frozenset[int]] = {}

    def launcher(self, kernel_name: str, global_size: Sequence[int], local_size: Sequence[int],
                 arguments: Sequence[Any]) -> Callable[[Sequence[Any]], float]:
        """What launches a kernel with arguments, and tells the seconds that it took. LaunchError for one that writes
        variables of the program, of which every worker has its own."""
        written = self._written_by(kernel_name)
        sizes = tuple(map(int, global_size)), tuple(map(int, local_size))
        return lambda given: self._launch(kernel_name, sizes, given, written)

    def _written_by(self, kernel: str) -> frozenset[int]:
        """The positions of the arrays that a kernel may write."""
        if kernel not in self._written:
            sharing = sharing_of(self.module, kernel)
            if sharing.written_variables:
                raise LaunchError(f"kernel '{kernel}' writes {', '.join(sharing.written_variables)}, of which every "
                                  "worker of a farm has its own: launch it on a device of this machine")
            count = len(self.module.kernel_signatures[kernel].parameters)
            self._written[kernel] = frozenset(range(count)) if sharing.writes_anywhere else sharing.written
        return self._written[kernel]

    def _launch(self, kernel: str, sizes: tuple[tuple[int, ...], tuple[int, ...]], given: Sequence[Any],
                written: frozenset[int]) -> float:
        spans = Spans.of(given, written)
        numbers = {span: number for number, span in enumerate(spans.all)}
        arrays = [span.content for span in spans.all]
        arguments: list[Any] = []
        for one in given:
            found = spans.place(one) if isinstance(one, np.ndarray) else None
            arguments.append(one if found is None else Place(numbers[found[0]], found[1], one.nbytes))
        changed = tuple(number for span, number in numbers.items() if span.written)
        request = Request(self.spirv, kernel, self.device.record.name, self.device.options, *sizes, tuple(arguments),
                          changed)
        seconds = self.device.farm.run(request, arrays, key=f"{self.digest}/{kernel}", what=f"kernel '{kernel}'")
        for one in given:
            if isinstance(one, np.ndarray):
                copied(one)
        return seconds
