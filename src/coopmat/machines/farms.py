"""Machines that a scheduler of Dask.distributed knows, and their devices (docs/farm.md)."""

from __future__ import annotations

import hashlib
import itertools
import pickle
import random
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np

from coopmat.diagnostics import Error, LaunchError, value_text
from coopmat.machines import worker
from coopmat.machines.haste import hasten
from coopmat.machines.worker import DeviceRecord, WorkerRecord, resource_of
from coopmat.runtime.device import Device
from coopmat.support.version import __version__

PREFIX = "dask://"
MISSING = "a farm needs Dask.distributed: 'pip install coopmat[farm]' brings it"
PATIENCE = 25.0  # seconds without an answer of the scheduler
TRIES = 4  # of a launch whose arrays were lost with a worker
MOST_KEPT = 1 << 30  # bytes of arrays that workers keep
MOST_SEEN = 1 << 28  # bytes of arrays that are compared with what they were
SMALL = 1 << 16  # bytes of an array that goes with its task
RESTART = 8.0  # seconds that a worker may take to start again
FRESH = 1.0  # seconds for which what is known of the workers serves
_POLL = 0.5
_NUMBERS = itertools.count()


class _Lost(Exception):
    """A task's inputs are gone, with the workers that had them."""


@dataclass(frozen=True)
class WorkerState:
    """A worker now. load: the share of its processor that is busy, 1 is one core; running: tasks."""

    address: str
    record: WorkerRecord
    resources: dict[str, float]
    load: float
    running: int


@dataclass(eq=False)
class Farm:
    """A farm. Get one from :func:`coopmat.farm`. ``address``: ``dask://host:port``."""

    address: str
    client: Any = field(repr=False)
    _records: dict[str, WorkerRecord] = field(default_factory=dict, repr=False)  # by the machine
    _states: tuple[float, list[WorkerState]] = field(default=(0.0, []), repr=False)  # and when they were asked for
    _sent: OrderedDict[str, tuple[Any, int]] = field(default_factory=OrderedDict, repr=False)  # the last used is last
    _seen: OrderedDict[tuple[int, int], tuple[np.ndarray, str]] = field(default_factory=OrderedDict, repr=False)
    """Of arrays by their addresses and sizes, the contents and what stands for them; the last used is last."""
    _quarantined: dict[str, str] = field(default_factory=dict, repr=False)
    _places: set[int] = field(default_factory=set, repr=False)  # taken by the launches of this process that run
    _first: int = field(default_factory=lambda: random.randrange(1 << 16), repr=False)
    """Where places begin among workers: elsewhere for another process."""
    _lock: Any = field(default_factory=threading.Lock, repr=False)

    # --- what there is ------------------------------------------------------------------

    def workers(self) -> list[WorkerState]:
        """The workers that are there now. Error for one with another version of coopmat, and if nobody answers."""
        info = self._asked(lambda: self.client.scheduler_info(n_workers=-1)["workers"])
        found = []
        for address, one in info.items():
            record, metrics = self._record(worker.machine_of(str(one.get("name")))), one.get("metrics", {})
            if record is not None:
                found.append(WorkerState(address, record, dict(one.get("resources", {})), metrics.get("cpu", 0.0) / 100,
                                         metrics.get("executing", 0)))
        if {one.address for one in found} != {one.address for one in self._states[1]}:
            hasten(self.client)
        self._states = time.monotonic(), found
        return found

    def _record(self, machine: str) -> WorkerRecord | None:
        """What a machine has told of itself; None if it has not: it is no worker of ours, or is about to."""
        if machine not in self._records:
            content = self._asked(lambda: self.client.get_metadata([worker.METADATA, machine], default=None))
            if content is None:
                return None
            record: WorkerRecord = pickle.loads(content)
            if record.version != __version__:
                raise Error(f"the worker {machine} of {self.address} has coopmat {record.version}, and here it is "
                            f"{__version__}: install the same version on both")
            self._records[machine] = record
        return self._records[machine]

    def devices(self) -> list[Device]:
        """Every device of every worker, as devices that can be used here; those of one name once."""
        found: dict[str, DeviceRecord] = {}
        for state in self.workers():
            for record in state.record.devices:
                if resource_of(record.name) in state.resources:
                    found.setdefault(record.name, record)
        return [self._made(record) for record in found.values()]

    def device(self, name: str, *, options: Any = None) -> Device:
        """The device of that name, such as ``cuda:0`` or ``sim:intel_gpu_pvc``, or of an architecture; whichever worker
        that has it is free runs its launches. Error, naming what there is, if no worker has it."""
        end = time.monotonic() + RESTART
        while True:
            known = {one.name.removeprefix(f"{self.address}/"): one for one in self.devices()}
            for own_name, one in known.items():
                if name in (own_name, one.architecture):
                    return one if options is None else one.with_options(options)
            if (known and time.monotonic() > end - RESTART / 2) or time.monotonic() > end:
                names = ", ".join(known) or "none: is a worker running (coopmat worker)?"
                raise Error(f"no worker of {self.address} has a device '{name}'; there are {names}")
            time.sleep(_POLL)

    def _made(self, record: DeviceRecord) -> Device:
        from coopmat.machines.farm_device import FarmDevice

        return FarmDevice(self, record)

    # --- work ---------------------------------------------------------------------------

    def run(self, function: Callable[..., Any], first: Any, arrays: Sequence[np.ndarray], *, device_name: str, key: str,
            what: str) -> Any:
        """``function(first, *arrays)`` on a worker that has a device. ``key``: what is put into quarantine if it ends
        workers, and ``what``: how messages call it. Raises what the function raises."""
        if key in self._quarantined:
            raise LaunchError(self._quarantined[key])
        with self._lock:
            place = next(one for one in itertools.count() if one not in self._places)
            self._places.add(place)
        try:
            return self._tried(function, first, arrays, place, resource_of(device_name), key, what)
        finally:
            with self._lock:
                self._places.remove(place)

    def _tried(self, function: Callable[..., Any], first: Any, arrays: Sequence[np.ndarray], place: int, resource: str,
               key: str, what: str) -> Any:
        """The same. place: those of launches that run at once differ, and so do the workers that their arrays are sent
        to; Dask sends a launch to where its arrays are, though another one is busy there."""
        from distributed import KilledWorker

        for _ in range(TRIES):
            futures: list[Any] = []
            try:
                workers = sorted(self._wait_for(resource))
                chosen = workers[(self._first + place) % len(workers)]
                futures += (self._send(array, place, chosen) for array in arrays)
                future = self.client.submit(function, first, *futures, pure=False, resources={resource: 1},
                                            key=f"{what}-{id(self)}-{next(_NUMBERS)}")
                return self._result(future)
            except KilledWorker as error:
                self._quarantined[key] = (
                    f"{what} is in quarantine: it has ended the processes of several workers, the last one "
                    f"{error.last_worker.address}; run it on a simulated device, which says where it goes wrong")
                raise LaunchError(self._quarantined[key]) from None
            except (_Lost, OSError):  # a worker has ended while it was sent to, or with what it had
                self.check()
                self._forget(futures)
        raise LaunchError(f"{what}: its arrays were lost with their workers {TRIES} times")

    def _wait_for(self, resource: str) -> list[str]:
        """The workers that have something: those that are starting again are waited for. LaunchError if none comes."""
        asked, states = self._states
        states = states if time.monotonic() < asked + FRESH else self.workers()
        end = time.monotonic() + PATIENCE
        while True:
            found = [one.address for one in states if resource in one.resources]
            if found:
                return found
            if time.monotonic() > end:
                raise LaunchError(f"no worker of {self.address} has {resource} any more")
            time.sleep(_POLL)
            states = self.workers()

    def _result(self, future: Any) -> Any:
        """What a task gives. _Lost if its inputs are gone; Error if the scheduler is."""
        while True:
            try:
                return future.result(timeout=_POLL)
            except TimeoutError:
                self.check()
            except Exception as error:
                if "Cancelled" not in type(error).__name__:
                    raise
                self.check()
                raise _Lost from None

    def check(self) -> None:
        """Error if the scheduler does not answer for too long."""
        end = time.monotonic() + PATIENCE
        while self.client.status != "running":
            if time.monotonic() > end or self.client.status == "closed":
                raise Error(f"the scheduler of {self.address} does not answer any more: start it again")
            time.sleep(_POLL)

    def _asked(self, ask: Callable[[], Any]) -> Any:
        try:
            return ask()
        except (OSError, TimeoutError) as error:
            raise Error(f"the scheduler of {self.address} does not answer: {error}") from None

    # --- arrays that workers keep -------------------------------------------------------

    def _send(self, array: np.ndarray, place: int, worker: str) -> Any:
        """An array for launches of a place: what was sent before, or sent now, to a worker, or to another one if that
        has gone; small ones as they are."""
        if array.nbytes < SMALL:
            return array
        name = f"{self._digest(array)} {place}"
        known, _ = self._sent.pop(name, (None, 0))
        if known is None or known.status != "finished":
            try:
                known = self.client.scatter(array, hash=False, workers=[worker])
            except Exception:
                known = self.client.scatter(array, hash=False)
        self._sent[name] = known, array.nbytes
        while sum(nbytes for _, nbytes in self._sent.values()) > MOST_KEPT and len(self._sent) > 1:
            self._sent.popitem(last=False)
        return known

    def _digest(self, array: np.ndarray) -> str:
        """What stands for an array's content. That of memory whose content is what it was is known."""
        place = int(array.ctypes.data), array.nbytes
        seen = self._seen.pop(place, None)
        if seen is None or not np.array_equal(seen[0], array):
            seen = array.copy(), hashlib.blake2b(array.data, digest_size=16).hexdigest()
        self._seen[place] = seen
        while sum(nbytes for _, nbytes in self._seen) > MOST_SEEN:
            self._seen.popitem(last=False)
        return seen[1]

    def _forget(self, futures: Sequence[Any]) -> None:
        """Send arrays again when they are needed again."""
        for digest in [digest for digest, (one, _) in self._sent.items() if any(one is other for other in futures)]:
            del self._sent[digest]


def farm(address: str, *, security: Any = None) -> Farm:
    """The farm of a scheduler, ``dask://host:port``.

    security: a distributed.Security with TLS; without it, what Dask's settings say.
    Raises Error if nobody answers there within half a minute, or if Dask is not installed.
    """
    if not isinstance(address, str) or not address.startswith(PREFIX) or "/" in address.removeprefix(PREFIX):
        raise Error(f"a farm is called dask://host:port; found {value_text(address)}")
    return _connected(address, security)


@cache
def _connected(address: str, security: Any) -> Farm:
    try:
        from distributed import Client
    except ImportError as error:
        raise Error(f"{MISSING} ({error})") from None
    keep_environment()
    scheme = "tls" if security is not None or is_encrypted() else "tcp"
    given = {} if security is None else {"security": security}
    try:
        client = Client(f"{scheme}://{address.removeprefix(PREFIX)}", timeout=PATIENCE, set_as_default=False, **given)
    except (OSError, TimeoutError, ValueError) as error:
        raise Error(f"no scheduler answers at {address} ({error}); 'dask scheduler --port 8786' starts one") from None
    return Farm(address, client)


def is_encrypted() -> bool:
    """Whether Dask's settings ask for TLS."""
    import dask

    return bool(dask.config.get("distributed.comm.require-encryption", False))


def keep_environment() -> None:
    """Keep Dask from changing the environment of processes: its nanny sets the C library to give memory back at once,
    which costs the simulator time."""
    import dask

    dask.config.set({"distributed.nanny.pre-spawn-environ": {}})
