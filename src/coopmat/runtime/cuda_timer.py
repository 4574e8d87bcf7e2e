"""The timer of NVIDIA's GPUs, by their own clocks."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from coopmat.runtime.streams import Stream
from coopmat.runtime.timing import Action, device_times
from coopmat.support.cached import cached_property
from coopmat.targets.base.device_array import Memory
from coopmat.targets.cuda.host.context import Context
from coopmat.targets.cuda.host.driver import driver_version


class CudaTimer:
    """See :class:`~coopmat.runtime.timing.Timer`. gpus: each with a stream, and memory that is larger than its last
    cache."""

    def __init__(self, gpus: Sequence[tuple[Context, Stream, Memory]]) -> None:
        self._gpus = gpus
        names = " and ".join(f"cuda:{gpu.ordinal}" for gpu, _, _ in gpus)
        self.note = (f"times are by {names}'s clock ({gpus[0][0].name}); its frequencies follow load and heat: "
                     "compare only times of one run, as ratios")

    @cached_property
    def hardware(self) -> str:
        """The GPUs' names, their multiprocessors, and the driver's version."""
        found = [f"{gpu.name}, {gpu.multiprocessors} multiprocessors" for gpu, _, _ in self._gpus]
        return f"{'; '.join(found)}, CUDA {driver_version()}"

    def times(self, action: Action, count: int, *, before: Action | None = None, flush: bool = True) -> list[float]:
        """See :class:`~coopmat.runtime.timing.Timer`. All repetitions are submitted at once where they return events;
        what returns something else is waited for, and timed by this machine's clock."""
        self._let_time(True)
        try:
            return device_times(action, count, before, self._flush if flush else None, self._wait)
        finally:
            self._let_time(False)

    def _let_time(self, is_timed: bool) -> None:
        for gpu, _, _ in self._gpus:
            gpu.times_all = is_timed

    def _wait(self) -> None:
        for gpu, _, _ in self._gpus:
            gpu.wait()

    def _flush(self) -> None:
        for _, stream, buffer in self._gpus:
            stream.fill(buffer, np.ones(1, np.uint8), buffer.nbytes)
        for _, stream, _ in self._gpus:
            stream.wait()
