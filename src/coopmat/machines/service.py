"""What a worker's process does for those who launch kernels on its devices.

Launches come straight from their clients, past Dask's scheduler and its queues, which take ten times as long as a small
launch. Dask loads this module in each process of a worker (``coopmat worker``), and what it offers is one more request
that Dask's own connections carry, with their encryption.
"""

from __future__ import annotations

import asyncio
import pickle
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from coopmat.machines.worker import Request, run

LAUNCH = "coopmat_launch"
"""What the request is called."""
METRIC = "coopmat_launches"
"""What tells the scheduler, among a worker's metrics, how many launches there are."""
FAILED = "failed"
"""The status of an answer that is an exception."""
MOST_KEPT = 1 << 30  # bytes of arrays


class Service:
    """The launches of one process, one after the other, and the arrays that it keeps for them, by their names."""

    def __init__(self, process: Any) -> None:
        self.process = process
        self.running = 0
        self._kept: OrderedDict[str, np.ndarray] = OrderedDict()  # the last used is last
        self._written: set[str] = set()  # the names of those that launches have written

    async def launch(self, request: bytes, arrays: Sequence[str | np.ndarray], given: Mapping[str, np.ndarray],
                     results: Sequence[str], waits: bool) -> dict[str, Any]:
        """Run a pickled :class:`~coopmat.machines.worker.Request` with arrays, or those that have names.

        given: arrays, by their names, that are to be kept. results: names under which what the launch has written is
        kept; empty for what is not. waits: for those who run before; otherwise the answer is ``busy`` at once.
        The answer: ``changes`` of the written arrays; or ``missing``, the names of arrays that are not here; or a
        failure in Dask's form.
        """
        from distributed.core import error_message
        from distributed.protocol import to_serialize

        names = [one for one in arrays if isinstance(one, str)]
        for name, array in given.items():  # messages begin anywhere in memory: copies are aligned
            self._keep(name, await asyncio.to_thread(np.array, array), names)
        if not waits and (self.running or self.process.state.executing_count):
            return {"busy": True}
        missing = [name for name in names if name not in self._kept]
        if missing:
            return {"missing": missing}
        self.running += 1
        try:
            chosen = [self._kept[one] if isinstance(one, str) else one for one in arrays]
            for name in names:
                self._kept.move_to_end(name)
            job: Request = pickle.loads(request)
            changes, written = await asyncio.get_running_loop().run_in_executor(
                self.process.executors["default"], run, job, chosen)
        except Exception as error:
            return dict(error_message(error, status=FAILED))
        finally:
            self.running -= 1
        for number, name, array in zip(job.written, results, written, strict=True):
            before = arrays[number]
            if isinstance(before, str):
                self._replace(before, name, array)
        return {"changes": [(start, to_serialize(content)) for start, content in changes]}

    def _replace(self, before: str, name: str, array: np.ndarray) -> None:
        """Keep what a launch has written; what another one had written there before is nowhere any more."""
        if before in self._written:
            self._written.remove(before)
            self._kept.pop(before, None)
        self._written.add(name)
        self._keep(name, array, ())

    def _keep(self, name: str, array: np.ndarray, needed: Sequence[str]) -> None:
        """Keep an array, and give up those that were not used for the longest time, but none that is needed now."""
        self._kept[name] = array
        over = sum(one.nbytes for one in self._kept.values()) - MOST_KEPT
        for other in [other for other in self._kept if other != name and other not in needed]:
            if over <= 0:
                break
            over -= self._kept.pop(other).nbytes
            self._written.discard(other)


def dask_setup(process: Any) -> None:
    """Dask calls this in a worker's process when it has started."""
    service = Service(process)
    process.handlers[LAUNCH] = service.launch
    process.metrics[METRIC] = lambda _: service.running
