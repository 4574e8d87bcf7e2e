"""Machines that a scheduler of Dask.distributed knows, and their devices (docs/farm.md)."""

from __future__ import annotations

import os
import pickle
import re
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np

from coopmat.diagnostics import Error, LaunchError, value_text
from coopmat.machines import worker
from coopmat.machines.launches import Launches
from coopmat.machines.service import METRIC
from coopmat.machines.worker import DeviceRecord, Request, WorkerRecord, resource_of
from coopmat.runtime.device import Device
from coopmat.support.version import __version__

PREFIX = "dask://"
_ADDRESS = re.compile(re.escape(PREFIX) + r"(\[[0-9a-fA-F:.%]+\]|[^\s/:]+):\d{1,5}")
MISSING = "a farm needs Dask.distributed: 'pip install coopmat[farm]' brings it"
PATIENCE = 25.0  # seconds without an answer of the scheduler
AGAIN = 3.0  # seconds that it may take when it did not answer for so long
RESTART = 8.0  # seconds that a worker may take to start again
FRESH = 1.0  # seconds for which what is known of the workers serves
_POLL = 0.5


@dataclass(frozen=True)
class WorkerState:
    """A worker now. machine: the name of the one that it is a process of. load: the share of its processor that is
    busy, 1 is one core; running: tasks and launches."""

    address: str
    machine: str
    record: WorkerRecord
    resources: dict[str, float]
    load: float
    running: int


@dataclass(eq=False)
class Farm:
    """A farm. Get one from :func:`coopmat.farm`. ``address``: ``dask://host:port``; ``refused``: why machines that were
    there the last time when somebody asked are not used."""

    address: str
    _security: Any = field(repr=False)
    refused: list[str] = field(default_factory=list, init=False, repr=False)
    _records: dict[str, WorkerRecord | str] = field(default_factory=dict, repr=False)  # by machines; or what is wrong
    _states: tuple[float, list[WorkerState]] = field(default=(0.0, []), repr=False)  # and when they were asked for
    _launches: Launches = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._launches = Launches(self)

    @property
    def client(self) -> Any:
        """What talks to the scheduler, of this process: one that was forked has its own. Another one when it has given
        up: a scheduler may have been started again."""
        with _CONNECTS:
            key = self.address, self._security, os.getpid()
            found = _CLIENTS.get(key)
            if found is None or found.status == "closed":
                _CLIENTS[key] = found = _client(self.address, self._security, PATIENCE if found is None else AGAIN)
            return found

    # --- what there is ------------------------------------------------------------------

    def workers(self) -> list[WorkerState]:
        """The workers that are there now, but for those with another version of coopmat. Error if all have one, and if
        nobody answers."""
        info = self._asked("identity")["workers"]
        found, refused = [], {}
        for address, one in info.items():
            machine, metrics = worker.machine_of(str(one.get("name"))), one.get("metrics", {})
            record = self._record(machine)
            if isinstance(record, str):
                refused[machine] = record
            elif record is not None:
                running = metrics.get("executing", 0) + metrics.get(METRIC, 0)
                found.append(WorkerState(address, machine, record, dict(one.get("resources", {})),
                                         metrics.get("cpu", 0.0) / 100, running))
        self.refused = list(refused.values())
        if self.refused and not found:
            raise Error(self.refused[0])
        self._states = time.monotonic(), found
        return found

    def _record(self, machine: str) -> WorkerRecord | str | None:
        """What a machine has told of itself; None if it has not: it is no worker of ours, or is about to. A text for
        one of another version."""
        if machine not in self._records:
            told = self._asked("get_metadata", keys=[worker.METADATA, machine], default=None)
            if told is None:
                return None
            version, content = told
            self._records[machine] = pickle.loads(content) if version == __version__ else (
                f"the worker {machine} of {self.address} has coopmat {version}, and here it is {__version__}: install "
                "the same version on both")
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
                raise Error("; ".join([f"no worker of {self.address} has a device '{name}'; there are {names}",
                                       *self.refused]))
            time.sleep(_POLL)

    def _made(self, record: DeviceRecord) -> Device:
        from coopmat.machines.farm_device import FarmDevice

        return FarmDevice(self, record)

    # --- work ---------------------------------------------------------------------------

    def run(self, request: Request, arrays: Sequence[np.ndarray], *, key: str, what: str) -> float:
        """Run a launch on a worker that has its device. See :meth:`~coopmat.machines.launches.Launches.run`."""
        return self._launches.run(request, arrays, key=key, what=what)

    def addresses(self, device: str, *, again: bool = False) -> list[str]:
        """The workers that have a device; those that are starting again are waited for. LaunchError if none comes.
        again: what is known of them may be wrong."""
        resource, (asked, states) = resource_of(device), self._states
        states = states if time.monotonic() < asked + FRESH and not again else self.workers()
        end = time.monotonic() + PATIENCE
        while True:
            found = sorted(one.address for one in states if resource in one.resources)
            if found:
                return found
            if time.monotonic() > end:
                raise LaunchError(f"no worker of {self.address} has {resource} any more")
            time.sleep(_POLL)
            states = self.workers()

    def check(self) -> None:
        """Error if the scheduler does not answer for too long."""
        end = time.monotonic() + PATIENCE
        while self.client.status != "running":
            if time.monotonic() > end:
                raise Error(f"the scheduler of {self.address} does not answer any more: start it again")
            time.sleep(_POLL)

    def _asked(self, request: str, **parameters: Any) -> Any:
        """The scheduler's answer. Error if it does not come."""
        client = self.client
        try:
            return client.sync(getattr(client.scheduler, request), callback_timeout=PATIENCE, **parameters)
        except (OSError, AttributeError, RuntimeError) as error:  # but for OSError, of a client that has given it up
            reason = str(error) or ("timed out" if isinstance(error, TimeoutError) else type(error).__name__)
            raise Error(f"the scheduler of {self.address} does not answer: {reason}") from None


def farm(address: str, *, security: Any = None) -> Farm:
    """The farm of a scheduler, ``dask://host:port``.

    security: a distributed.Security with TLS; without it, what Dask's settings say.
    Raises Error if nobody answers there within half a minute, or if Dask is not installed.
    """
    if not isinstance(address, str) or not _ADDRESS.fullmatch(address):
        raise Error(f"a farm is called dask://host:port; found {value_text(address)}")
    return _connected(address, security)


@cache
def _connected(address: str, security: Any) -> Farm:
    found = Farm(address, security)
    assert found.client
    return found


_CLIENTS: dict[tuple[str, Any, int], Any] = {}  # of farms, by their processes
_CONNECTS = threading.Lock()


def _client(address: str, security: Any, patience: float) -> Any:
    try:
        from distributed import Client
    except ImportError as error:
        raise Error(f"{MISSING} ({error})") from None
    scheme = "tls" if security is not None or is_encrypted() else "tcp"
    given = {} if security is None else {"security": security}
    try:
        return Client(f"{scheme}://{address.removeprefix(PREFIX)}", timeout=patience, set_as_default=False, **given)
    except (OSError, TimeoutError, ValueError) as error:
        raise Error(f"no scheduler answers at {address} ({error}); 'dask scheduler --port 8786' starts one") from None


def is_encrypted() -> bool:
    """Whether Dask's settings ask for TLS."""
    import dask

    return bool(dask.config.get("distributed.comm.require-encryption", False))
