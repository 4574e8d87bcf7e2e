"""What runs on a worker: launches on its devices, and what it tells of them. Sent by name: workers have coopmat."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from coopmat.devices import Combination, DeviceDescription
from coopmat.runtime import Device, Program, build, device, devices
from coopmat.runtime.streams import Stream
from coopmat.support.version import __version__
from coopmat.targets.base.output import Said, heard
from coopmat.targets.base.spans import changed_bytes

SIMULATED = "sim"
"""The resource of a worker that stands for all simulated devices."""
METADATA = "coopmat"
"""Where the scheduler keeps what machines tell of themselves, by their names: their versions of coopmat, and their
records, pickled, which those of other versions may not understand."""
VERSION = f"coopmat {__version__}"
"""The resource that all processes of workers of this version have."""
MOST_PROGRAMS = 64


@dataclass(frozen=True)
class DeviceRecord:
    """A device of a worker. ``chip``, ``driver``: what it is, for people; ``options``: if nobody gives others."""

    name: str
    architecture: str
    chip: str
    driver: str
    description: DeviceDescription
    combinations: tuple[Combination, ...]
    options: Any


@dataclass(frozen=True)
class WorkerRecord:
    """A machine of the farm: its name, and its devices."""

    host: str
    devices: tuple[DeviceRecord, ...]


@dataclass(frozen=True)
class Place:
    """Stands for an array among arguments: so many bytes of the memory of a number, from an offset on."""

    number: int
    offset: int
    nbytes: int


@dataclass(frozen=True)
class Request:
    """A launch: a module, a kernel, sizes, and arguments in the form that targets take; arrays by their places in
    memory that is sent as bytes. written: the numbers of the memory that comes back."""

    spirv: bytes
    kernel: str
    device: str
    options: Any
    global_size: tuple[int, ...]
    local_size: tuple[int, ...]
    arguments: tuple[Any, ...]
    written: tuple[int, ...]


def resource_of(device_name: str) -> str:
    """What Dask calls a device as a resource of workers."""
    return SIMULATED if device_name.startswith("sim:") else device_name


def resources_of(record: WorkerRecord, *, is_first: bool) -> dict[str, float]:
    """What a process of a machine has, as Dask's resources: all have simulated devices, and one the machine's own."""
    names = (resource_of(one.name) for one in record.devices)
    return {VERSION: 1.0, **{name: 1.0 for name in names if is_first or name == SIMULATED}}


def machine_of(worker_name: str) -> str:
    """The name of the machine that a worker's process belongs to."""
    return worker_name.rpartition(":")[0]


def described() -> WorkerRecord:
    """What this machine has."""
    return WorkerRecord(platform.node(), tuple(map(_record, devices())))


def _record(one: Device) -> DeviceRecord:
    return DeviceRecord(one.name, one.architecture, one.chip, one.driver, one.description,
                        tuple(one.matrix_combinations), one.options)


Change = tuple[int, np.ndarray]
"""Where the bytes of an array that are others begin, and what they are now."""


def run(request: Request, arrays: Sequence[np.ndarray], said: Said) -> tuple[list[Change], list[np.ndarray], float]:
    """Launch a kernel on a device of this worker, on copies of the arrays that it may write; what it has changed of
    these, from the first byte to the last one, the copies, and the seconds that the launch took. Raises what it raises.
    said: gets what the launch says."""
    written = {number: arrays[number].copy() for number in request.written}
    given = [written.get(one.number, arrays[one.number])[one.offset:one.offset + one.nbytes]
             if isinstance(one, Place) else one for one in request.arguments]
    on = device(request.device, options=request.options)
    kernel = _program(request.spirv).kernel(request.kernel)
    with heard(said):
        event = _stream(on).launch(kernel, (request.global_size, request.local_size), given).wait()
    changes = [_change(arrays[number], after) for number, after in written.items()]
    return changes, list(written.values()), event.elapsed


def _change(before: np.ndarray, after: np.ndarray) -> Change:
    part = changed_bytes(before, after)
    return part.start, after[part]


@lru_cache(MOST_PROGRAMS)
def _program(spirv: bytes) -> Program:
    return build(spirv)


@lru_cache(MOST_PROGRAMS)
def _stream(on: Device) -> Stream:
    """What a device is given commands by; one serves all launches."""
    return on.stream()
