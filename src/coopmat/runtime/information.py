"""Information descriptors (SYCL 4.6.4.4, 4.6.6.2; section "Runtime Query") and aspects (SYCL 4.6.4.5).

``device.get_info(info.device.name)`` or ``device.get_info[info.device.name]()``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from coopmat.devices import ARCHITECTURES, DeviceDescription
from coopmat.diagnostics import Error, SpelledEnum, value_text
from coopmat.support.version import __version__


class aspect(SpelledEnum):
    """What a device can have: ``device.has(aspect.fp64)`` (SYCL 4.6.4.5)."""

    cpu = "cpu"
    gpu = "gpu"
    emulated = "emulated"
    fp16 = "fp16"
    fp64 = "fp64"
    atomic64 = "atomic64"
    queue_profiling = "queue_profiling"
    usm_device_allocations = "usm_device_allocations"
    usm_host_allocations = "usm_host_allocations"
    usm_shared_allocations = "usm_shared_allocations"
    usm_system_allocations = "usm_system_allocations"
    ext_intel_matrix = "ext_intel_matrix"


class device_type(SpelledEnum):
    """Kinds of devices; ``custom`` is what models neither a CPU nor a GPU (``sim:generic``)."""

    cpu = "cpu"
    gpu = "gpu"
    custom = "none"

    def __str__(self) -> str:
        return f"info.device_type.{self.name}"


class event_command_status(SpelledEnum):
    """How far a command has come. A command is complete when the call that submits it returns."""

    submitted = 0
    running = 1
    complete = 2

    def __str__(self) -> str:
        return f"info.event_command_status.{self.name}"


class _Name(StrEnum):
    """Members equal their names, which devices and combinations have as plain texts."""

    __repr__ = SpelledEnum.__str__


architecture = _Name("architecture", [  # type: ignore[call-arg]
    name for name in ARCHITECTURES if name != "generic"])
architecture.__doc__ = "Architectures (sycl_ext_oneapi_device_architecture) whose combinations are in the tables."


def architecture_of(name: str) -> str:
    """The member of ``architecture`` of this name; the name itself, such as ``"generic"``, if there is none."""
    return _ARCHITECTURES.get(name, name)


_ARCHITECTURES: dict[str, str] = {name: name for name in architecture}

_DEPENDING: dict[aspect, Callable[[DeviceDescription], bool]] = {
    aspect.cpu: lambda device: device.kind == "cpu",
    aspect.gpu: lambda device: device.kind == "gpu",
    aspect.fp64: lambda device: device.has_fp64,
    aspect.ext_intel_matrix: lambda device: device.has_intel_matrices,
    aspect.emulated: lambda device: device.is_simulated,
}
"""The aspects that not every device has, and when a device has them."""


def aspects_of(device: DeviceDescription) -> list[aspect]:
    """The aspects that a device has."""
    return [one for one in aspect if one not in _DEPENDING or _DEPENDING[one](device)]


def has_aspect(device: DeviceDescription, given: Any) -> bool:
    """Whether a device has an aspect; Error, naming the aspects, for what is none."""
    if not isinstance(given, aspect):
        raise Error(f"expected one of {', '.join(map(str, aspect))}; found {value_text(given)}")
    return given in aspects_of(device)


@dataclass(frozen=True, slots=True, eq=False)
class Descriptor:
    """One question that ``get_info`` or ``get_profiling_info`` of a ``subject`` answers."""

    subject: str
    name: str
    answer: Callable[[Any], Any]

    def __repr__(self) -> str:
        return f"info.{self.subject}.{self.name}"


class _Descriptors:
    """The descriptors of one subject, as attributes."""

    def __init__(self, subject: str, **answers: Callable[[Any], Any]) -> None:
        self.subject = subject
        self.descriptors = {name: Descriptor(subject, name, answer) for name, answer in answers.items()}

    def __getattr__(self, name: str) -> Descriptor:
        known = self.__dict__.get("descriptors", {})
        if name not in known:
            raise AttributeError(f"info.{self.__dict__.get('subject')} has no {name}; it has {', '.join(known)}")
        found: Descriptor = known[name]
        return found

    def __dir__(self) -> list[str]:
        return list(self.descriptors)

    def ask(self, subject: Any, descriptor: Any) -> Any:
        """The answer to ``descriptor``; Error, naming those that there are, if it is none of these."""
        if not isinstance(descriptor, Descriptor) or descriptor not in self.descriptors.values():
            known = ", ".join(map(repr, self.descriptors.values()))
            raise Error(f"expected one of {known}; found {value_text(descriptor)}")
        return descriptor.answer(subject)

    def __repr__(self) -> str:
        return f"info.{self.subject}"


class info:
    """SYCL's namespace ``info``."""

    device = _Descriptors(
        "device",
        name=lambda device: device.name,
        vendor=lambda _: "coopmat",
        version=lambda _: __version__,
        driver_version=lambda _: __version__,
        device_type=lambda device: device_type(device.description.kind),
        aspects=lambda device: aspects_of(device.description),
        architecture=lambda device: architecture_of(device.architecture),
        sub_group_sizes=lambda device: list(device.sub_group_sizes),
        max_work_group_size=lambda device: device.max_work_group_size,
        local_mem_size=lambda device: device.local_memory_size,
        matrix_combinations=lambda device: device.matrix_combinations,
    )
    event = _Descriptors("event", command_execution_status=lambda event: (
        event_command_status.complete if event.is_complete else event_command_status.submitted))
    event_profiling = _Descriptors(
        "event_profiling",
        command_submit=lambda event: event.submitted_at,
        command_start=lambda event: event.started_at,
        command_end=lambda event: event.ended_at,
    )
    device_type = device_type
    event_command_status = event_command_status
