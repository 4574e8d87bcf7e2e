"""The timer of NVIDIA's GPUs, by the GPU's own clock."""

from __future__ import annotations

import numpy as np

from coopmat.runtime.streams import Stream
from coopmat.runtime.timing import Action, device_times
from coopmat.support.cached import cached_property
from coopmat.targets.base.device_array import Memory
from coopmat.targets.cuda.host.context import Context
from coopmat.targets.cuda.host.driver import driver_version


class CudaTimer:
    """See :class:`~coopmat.runtime.timing.Timer`. buffer: memory of the GPU, larger than its last cache."""

    def __init__(self, gpu: Context, stream: Stream, buffer: Memory) -> None:
        self._gpu, self._stream, self._buffer = gpu, stream, buffer
        self.note = (f"times are by cuda:{gpu.ordinal}'s clock ({gpu.name}); its frequencies follow load and heat: "
                     "compare only times of one run, as ratios")

    @cached_property
    def hardware(self) -> str:
        """The GPU's name, its multiprocessors, and the driver's version."""
        gpu = self._gpu
        return f"{gpu.name}, {gpu.multiprocessors} multiprocessors, CUDA {driver_version()}"

    def times(self, action: Action, count: int, *, before: Action | None = None, flush: bool = True) -> list[float]:
        """See :class:`~coopmat.runtime.timing.Timer`. All repetitions are submitted at once where they return events;
        what returns something else is waited for, and timed by this machine's clock."""
        self._gpu.times_all = True
        try:
            return device_times(action, count, before, self._flush if flush else None, self._gpu.wait)
        finally:
            self._gpu.times_all = False

    def _flush(self) -> None:
        self._stream.fill(self._buffer, np.ones(1, np.uint8), self._buffer.nbytes)
        self._stream.wait()
