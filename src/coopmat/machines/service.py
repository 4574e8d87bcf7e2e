"""What a worker's process does for those who launch kernels on its devices.

Launches come straight from their clients, past Dask's scheduler and its queues, which take ten times as long as a small
launch. Dask loads this module in each process of a worker (``coopmat worker``), and what it offers is one more request
that Dask's own connections carry, with their encryption.
"""

from __future__ import annotations

import asyncio
import logging
import os
import pickle
import time
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from enum import IntEnum
from typing import Any

import numpy as np

from coopmat.diagnostics import LaunchError
from coopmat.machines.worker import Request, run
from coopmat.targets.base.output import Said

LAUNCH = "coopmat_launch"
"""What the request is called."""
PRESENT = "coopmat_present"
"""The request by which a client tells that it waits for a launch."""
METRIC = "coopmat_launches"
"""What tells the scheduler, among a worker's metrics, how many launches there are."""
FAILED = "failed"
"""The status of an answer that is an exception."""
MOST_KEPT = 1 << 30  # bytes of arrays
ABANDONED = 30.0  # seconds without a word of its client after which nobody waits for a launch
LOGGING = {"distributed": logging.WARNING, "distributed.worker": logging.CRITICAL,
           "distributed.client": logging.CRITICAL}
"""What processes tell."""
_log = logging.getLogger("distributed.nanny")  # of which the command shows warnings


class Urgency(IntEnum):
    """Which processes take a launch: those that do nothing else, also those that run a task of Dask (a configuration of
    a sweep, which may itself wait for a launch), or also those that run launches, when these have ended."""

    IDLE = 0
    BESIDE = 1
    WAITS = 2


class Service:
    """The launches of one process, one after the other, and the arrays that it keeps for them, by their names."""

    def __init__(self, process: Any) -> None:
        from distributed.threadpoolexecutor import ThreadPoolExecutor

        self.process = process
        self.running = 0
        self._thread = process.executors[LAUNCH] = ThreadPoolExecutor(1, thread_name_prefix="coopmat-launch")
        self._heard: dict[str, float] = {}  # when clients were last heard of, by their launches
        self._kept: OrderedDict[str, np.ndarray] = OrderedDict()  # the last used is last
        self._written: set[str] = set()  # the names of those that launches have written

    async def launch(self, launch: str, request: bytes, arrays: Sequence[str | np.ndarray],
                     given: Mapping[str, np.ndarray], results: Sequence[str], urgency: int) -> dict[str, Any]:
        """Run a pickled :class:`~coopmat.machines.worker.Request` with arrays, or those that have names.

        launch: what the client calls it. given: arrays, by their names, that are to be kept. results: names under which
        what the launch has written is kept; empty for what is not. urgency: an :class:`Urgency`; too little of it is
        answered by ``busy`` at once.
        The answer: ``changes`` of the written arrays and the ``seconds`` that the launch took, or a failure in Dask's
        form, and what the launch has ``said``; or ``missing``, the names of arrays that are not here.
        """
        from distributed.core import error_message
        from distributed.protocol import to_serialize

        names = [one for one in arrays if isinstance(one, str)]
        for name, array in given.items():  # messages begin anywhere in memory: copies are aligned
            self._keep(name, await asyncio.to_thread(np.array, array), names)
        if self._is_busy(urgency):
            return {"busy": True}
        missing = [name for name in names if name not in self._kept]
        if missing:
            return {"missing": missing}
        said = Said()
        self.running += 1
        try:
            chosen = [self._kept[one] if isinstance(one, str) else one for one in arrays]
            for name in names:
                self._kept.move_to_end(name)
            job: Request = pickle.loads(request)
            changes, written, seconds = await self._ended(launch, self._thread.submit(run, job, chosen, said))
        except Exception as error:
            return {**error_message(error, status=FAILED), "said": pickle.dumps(said)}
        finally:
            self.running -= 1
        for number, name, array in zip(job.written, results, written, strict=True):
            before = arrays[number]
            if isinstance(before, str):
                self._replace(before, name, array)
        return {"changes": [(start, to_serialize(content)) for start, content in changes], "seconds": seconds,
                "said": pickle.dumps(said)}

    def _is_busy(self, urgency: int) -> bool:
        if self.running:
            return urgency < Urgency.WAITS
        return bool(self.process.state.executing_count) and urgency < Urgency.BESIDE

    async def present(self, launch: str) -> dict[str, Any]:
        """Note that somebody waits for a launch."""
        if launch in self._heard:
            self._heard[launch] = time.monotonic()
        return {}

    async def _ended(self, launch: str, work: Future[Any]) -> Any:
        """What a launch gives when it has ended. One for which nobody waits any more, and that may never end, ends the
        process, which Dask's nanny starts again."""
        self._heard[launch] = time.monotonic()
        answer = asyncio.wrap_future(work)
        try:
            while not (await asyncio.wait({answer}, timeout=ABANDONED))[0]:
                if time.monotonic() < self._heard[launch] + ABANDONED:
                    continue
                if work.cancel():
                    raise LaunchError("nobody waited for the launch any more, and it was not begun")
                _log.warning("a launch runs for which nobody waits any more: its process ends")
                os._exit(1)
            return await answer
        finally:
            del self._heard[launch]

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


def be_brief() -> None:
    """Let Dask tell warnings, but not of the errors of functions, which are for those who call them."""
    for name, level in LOGGING.items():
        logging.getLogger(name).setLevel(level)


def dask_setup(process: Any) -> None:
    """Dask calls this in a worker's process when it has started."""
    be_brief()
    service = Service(process)
    process.handlers[LAUNCH] = service.launch
    process.handlers[PRESENT] = service.present
    process.metrics[METRIC] = lambda _: service.running
