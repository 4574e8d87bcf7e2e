"""Launches that this process sends to the workers of a farm, until one of them has run each."""

from __future__ import annotations

import asyncio
import itertools
import pickle
import random
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from coopmat.diagnostics import LaunchError
from coopmat.machines.contents import Contents, new_name
from coopmat.machines.service import FAILED, LAUNCH, PRESENT, Urgency
from coopmat.machines.worker import Change, Request
from coopmat.targets.base.output import Said

SMALL = 1 << 16  # bytes of an array that goes with its launch
MOST_DEATHS = 3  # of workers that run a launch
MOST_FAILURES = 12  # to reach a worker, or to hear of it again
CONNECTS = 5.0  # seconds that a connection may take
LISTENS = 5.0  # seconds without an answer, after which a worker is asked whether it is there
ANSWERS = 10.0  # seconds that this may take
SILENT = 60.0  # seconds for which one that did not answer is the last that is asked
DETOUR = 300.0  # seconds for which one that could not be reached is asked by the scheduler
QUEUES = 1.0  # seconds after which a launch waits at a worker that is busy
_PAUSES = (0.002, 0.05)  # seconds between rounds of asking: at first, and at most
_POLL = 0.2
Answer = dict[str, Any]
"""Of a worker; see :meth:`~coopmat.machines.service.Service.launch`."""


class _Gone(Exception):
    """A worker cannot be reached, does not answer, or has ended. ``ran``: it may have ended by the launch."""

    def __init__(self, message: str, *, ran: bool = False) -> None:
        self.ran = ran
        super().__init__(message)


def _heard_out(answer: Answer, what: str) -> Sequence[Change]:
    """What a launch has changed, when it has said here what it said there. Raises what it has failed with."""
    from distributed.core import clean_exception

    said: Said = pickle.loads(answer["said"])
    said.repeat()
    if answer.get("status") == FAILED:
        _, error, trace = clean_exception(**answer)
        raise (error or LaunchError(f"{what}: {answer.get('exception_text')}")).with_traceback(trace)
    changes: Sequence[Change] = answer["changes"]
    return changes


class Workers(Protocol):
    """What launches need of a farm."""

    address: str

    @property
    def client(self) -> Any:
        """Dask's client of this process."""

    def addresses(self, device: str, *, again: bool = False) -> Sequence[str]:
        """The workers that have a device, waited for if there are none. ``again``: what is known may be wrong."""

    def check(self) -> None:
        """Error if the scheduler does not answer for too long."""


@dataclass(frozen=True)
class Job:
    """A launch as it is sent. key: what is put into quarantine if it ends workers; what: how messages call it. arrays:
    names of those in ``kept``, or small ones. results: the names under which workers keep what is written."""

    device: str
    key: str
    what: str
    request: bytes
    arrays: Sequence[Any]
    kept: Mapping[str, np.ndarray]
    results: Sequence[str]


class Launches:
    """The launches of this process on a farm."""

    def __init__(self, farm: Workers) -> None:
        self.farm = farm
        self._contents = Contents()
        self._quarantined: dict[str, str] = {}
        self._places: set[int] = set()  # taken by launches that run
        self._first = random.randrange(1 << 16)  # where places begin among workers: elsewhere for another process
        self._silent: dict[str, float] = {}  # workers that did not answer, and until when they are asked last
        self._by_scheduler: dict[str, float] = {}  # workers that cannot be reached from here, and until when
        self._lock = threading.Lock()

    def run(self, request: Request, arrays: Sequence[np.ndarray], *, key: str, what: str) -> float:
        """Run a launch on a worker that has its device, and write to arrays of bytes what it has changed, when it has
        ended well; the seconds that it took there. Raises what the launch raises."""
        from distributed.protocol import to_serialize

        if key in self._quarantined:
            raise LaunchError(self._quarantined[key])
        names = [self._contents.name(one) if one.nbytes >= SMALL else "" for one in arrays]
        results = [new_name() if names[number] else "" for number in request.written]
        sent = [name or to_serialize(array) for name, array in zip(names, arrays, strict=True)]
        kept = {name: array for name, array in zip(names, arrays, strict=True) if name}
        answer = self._placed(Job(request.device, key, what, pickle.dumps(request), sent, kept, results))
        changes = _heard_out(answer, what)
        for number, name, (start, content) in zip(request.written, results, changes, strict=True):
            arrays[number][start:start + content.size] = content
            if name:
                self._contents.put(arrays[number], name)
        return float(answer["seconds"])

    def _placed(self, job: Job) -> Answer:
        """What a worker says that has run a launch. Launches that run at once begin to look for one at different
        places, and each finds its arrays where it was before."""
        with self._lock:
            place = next(one for one in itertools.count() if one not in self._places)
            self._places.add(place)
        try:
            return self._tried(job, self._first + place)
        finally:
            with self._lock:
                self._places.remove(place)

    def _tried(self, job: Job, place: int) -> Answer:
        deaths = failures = 0
        has_failed = False  # in the last round
        pause, queues, urgency = _PAUSES[0], time.monotonic() + QUEUES, Urgency.IDLE
        while True:
            workers = self._order(self.farm.addresses(job.device, again=has_failed), place)
            has_failed = False
            for worker in workers[:1] if urgency is Urgency.WAITS else workers:
                client = self.farm.client
                try:
                    answer: Answer = client.sync(self._asked, client, worker, job, urgency)
                except _Gone as gone:
                    if not gone.ran:
                        self._silent[worker] = time.monotonic() + SILENT
                    # one that waits may have ended by what ran before: whether by this shows when it does not wait
                    deaths, failures = deaths + (gone.ran and urgency is not Urgency.WAITS), failures + 1
                    has_failed = True
                    self._give_up(job, deaths, failures, gone)
                    queues, urgency = time.monotonic() + QUEUES, Urgency.IDLE
                    time.sleep(_POLL)
                    break
                if "busy" not in answer and "missing" not in answer:
                    return answer
            else:
                time.sleep(pause)
                pause = min(2 * pause, _PAUSES[1])
                urgency = Urgency.WAITS if time.monotonic() > queues else Urgency.BESIDE

    def _order(self, workers: Sequence[str], place: int) -> list[str]:
        """The workers in the order in which they are asked."""
        first, now = place % len(workers), time.monotonic()
        turned = [*workers[first:], *workers[:first]]
        return sorted(turned, key=lambda one: self._silent.get(one, 0.0) > now)

    def _give_up(self, job: Job, deaths: int, failures: int, last: _Gone) -> None:
        """LaunchError for a launch that has ended too many workers, or that nobody takes."""
        self.farm.check()
        if deaths >= MOST_DEATHS:
            self._quarantined[job.key] = (
                f"{job.what} is in quarantine: it has ended the processes of {deaths} workers, one after the other "
                f"({last}); run it on a simulated device, which says where it goes wrong")
            raise LaunchError(self._quarantined[job.key])
        if failures >= MOST_FAILURES:
            raise LaunchError(f"{job.what}: {failures} times a worker of {self.farm.address} could not be reached or "
                              f"did not answer, the last time because {last}")

    # --- the conversation with a worker, in the client's event loop ----------------------

    async def _asked(self, client: Any, worker: str, job: Job, urgency: Urgency) -> Answer:
        """What a worker says that is asked to run a launch, and has got all arrays that it lacked."""
        from distributed.protocol import to_serialize

        message = {"op": LAUNCH, "launch": new_name(), "request": job.request, "arrays": job.arrays,
                   "results": job.results, "given": {}, "urgency": int(urgency)}
        answer = await self._heard(client, worker, message)
        if "missing" in answer:
            given = {name: to_serialize(job.kept[name]) for name in answer["missing"]}
            answer = await self._heard(client, worker, {**message, "given": given})
        return answer

    async def _heard(self, client: Any, worker: str, message: dict[str, Any]) -> Answer:
        """The answer of a worker to a launch; meanwhile it is told that somebody waits for it. _Gone if it ends before,
        or does not even say that it is there."""
        waiting = {"op": PRESENT, "launch": message["launch"]}
        answer = asyncio.ensure_future(self._exchanged(client, worker, message))
        try:
            while not (await asyncio.wait({answer}, timeout=LISTENS))[0]:
                try:
                    await asyncio.wait_for(self._exchanged(client, worker, waiting), ANSWERS)
                except TimeoutError:
                    raise _Gone(f"{worker} does not answer for {LISTENS + ANSWERS:.0f} seconds") from None
            return await answer
        finally:
            answer.cancel()

    async def _exchanged(self, client: Any, worker: str, message: dict[str, Any]) -> Answer:
        """The answer to a message, by a connection to the worker, or by the scheduler where there is none."""
        from distributed.core import send_recv

        if self._by_scheduler.get(worker, 0.0) > time.monotonic():
            try:
                return dict(await client.scheduler.proxy(worker=worker, msg=message))
            except OSError as error:
                raise _Gone(f"{worker} ended: {error}", ran=True) from None
        pool = client.rpc
        try:
            connection = await pool.connect(worker, timeout=CONNECTS)
        except (OSError, RuntimeError) as error:  # RuntimeError: the client has given up the scheduler
            if isinstance(error.__cause__ or error, TimeoutError):
                self._by_scheduler[worker] = time.monotonic() + DETOUR
            raise _Gone(f"{worker} cannot be reached: {error}") from None
        try:
            return dict(await send_recv(connection, **message))
        except OSError as error:
            raise _Gone(f"{worker} ended: {error}", ran=True) from None
        finally:
            pool.reuse(worker, connection)
