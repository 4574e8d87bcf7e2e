"""The timer of NVIDIA's GPUs: marks in a stream, by the GPU's own clock."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

from coopmat.runtime.events import Event
from coopmat.runtime.timing import Action
from coopmat.support.cached import cached_property
from coopmat.targets.cuda.host.driver import driver_version

if TYPE_CHECKING:
    from coopmat.runtime.cuda_device import CudaDevice
    from coopmat.runtime.device import Memory


class CudaTimer:
    """See :class:`~coopmat.runtime.timing.Timer`."""

    def __init__(self, device: CudaDevice) -> None:
        self._device = device
        self._stream = device.stream()
        self.note = (f"times are {device.name}'s own ({device.gpu.name}), whose clocks follow load and heat: compare "
                     "only times of one run, as ratios")

    @cached_property
    def hardware(self) -> str:
        """The GPU's name, its multiprocessors, and the driver's version."""
        gpu = self._device.gpu
        return f"{gpu.name}, {gpu.multiprocessors} multiprocessors, CUDA {driver_version()}"

    def times(self, action: Action, count: int, *, before: Action | None = None, flush: bool = True) -> list[float]:
        """See :class:`~coopmat.runtime.timing.Timer`. All repetitions are submitted at once where they return events;
        what returns something else is waited for, and timed by this machine's clock."""
        found: list[Event | float] = []
        for _ in range(count):
            if before is not None:
                before()
            if flush:
                self._stream.fill(self._buffer, np.ones(1, np.uint8), self._buffer.nbytes)
                self._stream.wait()
            start = time.perf_counter()
            result = action()
            if isinstance(result, Event):
                found.append(result)
                if before is not None or flush:
                    result.wait()
            else:
                self._device.gpu.wait()
                found.append(time.perf_counter() - start)
        return [one.elapsed if isinstance(one, Event) else one for one in found]

    @cached_property
    def _buffer(self) -> Memory:
        return self._device.allocate("device", 2 * self._device.gpu.cache, 256)
