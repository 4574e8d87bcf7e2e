"""What queues submit commands to: one Protocol, and the stream of devices that work on the host's memory at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol

import numpy as np

from coopmat.diagnostics import Error
from coopmat.runtime.events import Event
from coopmat.support.unwritten import copied
from coopmat.targets.base.device_array import Memory

Sizes = tuple[int, ...]
Prepared = Callable[..., Event]
"""Launches a kernel with the arguments that it was prepared with."""


class Kernel(Protocol):
    """What a stream must know of a :class:`coopmat.Kernel`."""

    name: str
    program: Any


class Stream(Protocol):
    """Commands in order. Arguments and memory are checked, and in the form that the device takes."""

    @property
    def handle(self) -> int | None:
        """What other libraries know it by; None if it is none of theirs."""

    def launch(self, kernel: Kernel, sizes: tuple[Sizes, Sizes], arguments: Sequence[Any]) -> Event:
        """Run a kernel."""

    def prepare(self, kernel: Kernel, sizes: tuple[Sizes, Sizes], arguments: Sequence[Any]) -> Prepared:
        """Do once what is the same for all launches with these arguments."""

    def copy(self, target: Memory, source: Memory, nbytes: int) -> Event:
        """Copy bytes."""

    def fill(self, target: Memory, pattern: np.ndarray, count: int) -> Event:
        """Write a pattern of bytes so many times."""

    def prefetch(self, memory: Memory, nbytes: int) -> Event:
        """A hint that memory will be used."""

    def wait_for(self, events: Iterable[Event]) -> None:
        """What is submitted from now on comes after events of any queues."""

    def wait(self) -> None:
        """Return when everything has been done. Raises what commands have failed with."""

    def graph(self) -> Any:
        """See :meth:`coopmat.Queue.graph`."""


class HostStream:
    """Every command is done when the call that submits it returns. See :class:`Stream`."""

    handle = None

    def __init__(self, device: Any) -> None:
        self.device = device

    def launch(self, kernel: Kernel, sizes: tuple[Sizes, Sizes], arguments: Sequence[Any]) -> Event:
        """See :class:`Stream`."""
        launcher = self._launcher(kernel, sizes, arguments)
        return Event.of(launcher, arguments)

    def prepare(self, kernel: Kernel, sizes: tuple[Sizes, Sizes], arguments: Sequence[Any]) -> Prepared:
        """See :class:`Stream`."""
        launcher = self._launcher(kernel, sizes, arguments)
        return lambda: Event.of(launcher, arguments)

    def _launcher(self, kernel: Kernel, sizes: tuple[Sizes, Sizes], arguments: Sequence[Any]
                  ) -> Callable[[Sequence[Any]], object]:
        if not self.device.sees_what_is_written:
            for argument in arguments:
                if isinstance(argument, np.ndarray) and argument.base is not None:
                    copied(argument)
        launcher: Callable[[Sequence[Any]], object] = kernel.program.load(self.device).launcher(kernel.name, *sizes,
                                                                                              arguments)
        return launcher

    def copy(self, target: Memory, source: Memory, nbytes: int) -> Event:
        """See :class:`Stream`."""
        return Event.of(lambda: _copy(host_bytes(target, nbytes), host_bytes(source, nbytes)))

    def fill(self, target: Memory, pattern: np.ndarray, count: int) -> Event:
        """See :class:`Stream`."""
        return Event.of(lambda: _fill(host_bytes(target, count * pattern.size), pattern))

    def prefetch(self, memory: Memory, nbytes: int) -> Event:
        """See :class:`Stream`."""
        return Event.of(lambda: None)

    def wait_for(self, events: Iterable[Event]) -> None:
        """See :class:`Stream`."""
        for event in events:
            event.wait()

    def wait(self) -> None:
        """See :class:`Stream`."""

    def graph(self) -> Any:
        """See :class:`Stream`."""
        raise Error(f"graphs are of NVIDIA's GPUs; on '{self.device.name}', Queue.prepare gives a launch whose work is "
                    "done once")


def _copy(target: np.ndarray, source: np.ndarray) -> None:
    np.copyto(target, source)
    copied(target, source)


def _fill(target: np.ndarray, pattern: np.ndarray) -> None:
    np.copyto(target.reshape(-1, pattern.size), pattern)
    copied(target)


def host_bytes(memory: Memory, nbytes: int) -> np.ndarray:
    """The first bytes of memory of the host."""
    assert isinstance(memory, np.ndarray)
    return memory.reshape(-1).view(np.uint8)[:nbytes]
