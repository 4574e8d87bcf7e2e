"""Queues on devices of Vulkan: commands in the order of the device's one queue, and events that its own clock times.

What takes memory of the device only is submitted; what takes arrays of the host is done when it returns.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from coopmat.diagnostics import Error
from coopmat.runtime.events import Event
from coopmat.runtime.streams import Kernel, Prepared, Sizes
from coopmat.runtime.timing import Action, device_times
from coopmat.support.cached import cached_property
from coopmat.targets.base.device_array import Memory
from coopmat.targets.vulkan.host.context import Context, Ticket
from coopmat.targets.vulkan.host.launch import Plan
from coopmat.targets.vulkan.host.memory import fill, known, transfer
from coopmat.targets.vulkan.program import VulkanProgram

if TYPE_CHECKING:
    from coopmat.runtime.vulkan_device import VulkanDevice


class VulkanEvent(Event):
    """A command on a device; its times are the device's, and waited for, when they are needed."""

    def __init__(self, ticket: Ticket, timeout: float | None) -> None:
        self.ticket, self._timeout = ticket, timeout
        self.submitted_at = ticket.submitted_at

    @property
    def is_complete(self) -> bool:
        """Whether the command has ended."""
        return self.ticket.poll()

    def wait(self) -> VulkanEvent:
        """Return when the command has ended. LaunchError if the device was lost, or after the option's time."""
        self.ticket.wait(self._timeout)
        return self

    @property
    def elapsed(self) -> float:
        """The time that the command took, in seconds, by the device's clock if it has one."""
        return self.wait().ticket.seconds

    @property
    def started_at(self) -> int:  # type: ignore[override]
        """When it began, in nanoseconds of time.perf_counter_ns."""
        return self.wait().ticket.times[0]

    @property
    def ended_at(self) -> int:  # type: ignore[override]
        """When it ended."""
        return self.wait().ticket.times[1]


class VulkanStream:
    """See :class:`~coopmat.runtime.streams.Stream`."""

    handle = None

    def __init__(self, device: VulkanDevice, context: Context) -> None:
        self.device, self.context = device, context
        self._last: Ticket | None = None

    def launch(self, kernel: Kernel, sizes: tuple[Sizes, Sizes], arguments: Sequence[Any]) -> Event:
        """See :class:`~coopmat.runtime.streams.Stream`."""
        return self._event(self._plan(kernel, sizes).launch(arguments))

    def prepare(self, kernel: Kernel, sizes: tuple[Sizes, Sizes], arguments: Sequence[Any]) -> Prepared:
        """See :class:`~coopmat.runtime.streams.Stream`."""
        plan = self._plan(kernel, sizes)
        return lambda: self._event(plan.launch(arguments))

    def _plan(self, kernel: Kernel, sizes: tuple[Sizes, Sizes]) -> Plan:
        program = kernel.program.load(self.device)
        assert isinstance(program, VulkanProgram)
        plan = program.plan(kernel.name, *sizes)
        plan.source = kernel.program.source_name
        return plan

    def _event(self, ticket: Ticket) -> VulkanEvent:
        self._last = ticket
        return VulkanEvent(ticket, self.device.options.timeout)

    def copy(self, target: Memory, source: Memory, nbytes: int) -> Event:
        """See :class:`~coopmat.runtime.streams.Stream`."""
        if not nbytes:
            return Event.of(lambda: None)
        if not self._is_on_device(target, source):
            self.wait()
            return Event.of(lambda: np.copyto(_bytes(target)[:nbytes], _bytes(source)[:nbytes]))
        return self._event(transfer(self.context, target, source, nbytes))

    def fill(self, target: Memory, pattern: np.ndarray, count: int) -> Event:
        """See :class:`~coopmat.runtime.streams.Stream`."""
        if not count:
            return Event.of(lambda: None)
        if not self._is_on_device(target):
            self.wait()
            return Event.of(lambda: np.copyto(_bytes(target)[:count * pattern.size].reshape(-1, pattern.size), pattern))
        return self._event(fill(self.context, target, pattern, count))

    def _is_on_device(self, *memory: Memory) -> bool:
        """Whether the device has any of it."""
        return any(known(self.context, one) is not None for one in memory)

    def prefetch(self, memory: Memory, nbytes: int) -> Event:
        """See :class:`~coopmat.runtime.streams.Stream`."""
        return Event.of(lambda: None)

    def wait_for(self, events: Iterable[Event]) -> None:
        """See :class:`~coopmat.runtime.streams.Stream`."""
        for event in events:
            if not (isinstance(event, VulkanEvent) and event.ticket.context is self.context):
                event.wait()

    def wait(self) -> None:
        """See :class:`~coopmat.runtime.streams.Stream`."""
        if self._last is not None:
            self._last.wait(self.device.options.timeout)
        else:
            self.context.use()

    def graph(self) -> Any:
        """See :class:`~coopmat.runtime.streams.Stream`."""
        raise Error(f"graphs are of NVIDIA's GPUs; on '{self.device.name}', Queue.prepare gives a launch whose work is "
                    "done once")


def _bytes(memory: Memory) -> np.ndarray:
    assert isinstance(memory, np.ndarray)
    return memory.reshape(-1).view(np.uint8)


class VulkanTimer:
    """See :class:`~coopmat.runtime.timing.Timer`. buffer: memory of the device, larger than most caches."""

    def __init__(self, gpu: Context, stream: VulkanStream, buffer: Memory) -> None:
        self._gpu, self._stream, self._buffer = gpu, stream, buffer
        clock = f"{gpu.name}'s clock" if gpu.has_times else "this machine's clock, as the device has none,"
        self.note = (f"times are by {clock} ({gpu.facts.name}); its frequencies follow load and heat: compare only "
                     "times of one run, as ratios")

    @cached_property
    def hardware(self) -> str:
        """The device and its driver."""
        return self._gpu.facts.shown

    def times(self, action: Action, count: int, *, before: Action | None = None, flush: bool = True) -> list[float]:
        """See :class:`~coopmat.runtime.timing.Timer`. What returns no event is waited for, and timed by this machine's
        clock."""
        return device_times(action, count, before, self._flush if flush else None, self._gpu.wait)

    def _flush(self) -> None:
        self._stream.fill(self._buffer, np.ones(1, np.uint8), self._buffer.nbytes).wait()
