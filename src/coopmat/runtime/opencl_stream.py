"""Queues on OpenCL's drivers: launches in the order of a queue of the driver's, timed by its clock."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from coopmat.runtime.device import Device
from coopmat.runtime.events import Event
from coopmat.runtime.streams import HostStream, Kernel, Prepared, Sizes
from coopmat.targets.opencl.host.driver import errors, started
from coopmat.targets.opencl.host.launch import Plan
from coopmat.targets.opencl.program import OpenCLProgram


class OpenCLEvent(Event):
    """A launch; its times are asked of the driver when they are needed."""

    def __init__(self, plan: Plan, event: Any, submitted_at: int) -> None:
        self.submitted_at = submitted_at
        self._plan, self._event = plan, event

    @property
    def is_complete(self) -> bool:
        """Whether the launch has ended."""
        with errors(self._plan.what):
            return bool(self._event.command_execution_status == started().command_execution_status.COMPLETE)

    def wait(self) -> OpenCLEvent:
        """Return when the launch has ended. LaunchError if it has failed."""
        with errors(self._plan.what):
            self._event.wait()
        return self

    @property
    def elapsed(self) -> float:
        """The time that the launch took, in seconds, by the driver's clock."""
        self.wait()
        with errors("the times of a launch"):
            return float(self._event.profile.end - self._event.profile.start) * 1e-9

    @property
    def started_at(self) -> int:  # type: ignore[override]
        """When it began, in nanoseconds of time.perf_counter_ns."""
        self.wait()
        with errors("the times of a launch"):
            return self.submitted_at + max(int(self._event.profile.start - self._event.profile.queued), 0)

    @property
    def ended_at(self) -> int:  # type: ignore[override]
        """When it ended."""
        return self.started_at + round(self.elapsed * 1e9)


class OpenCLStream(HostStream):
    """Launches go to a queue of the driver's; copies and fills are of the host's memory. See
    :class:`~coopmat.runtime.streams.Stream`."""

    def __init__(self, device: Device) -> None:
        super().__init__(device)
        self._queue: Any = None

    def launch(self, kernel: Kernel, sizes: tuple[Sizes, Sizes], arguments: Sequence[Any]) -> Event:
        """See :class:`~coopmat.runtime.streams.Stream`."""
        return self._launched(self._plan(kernel, sizes), arguments)

    def prepare(self, kernel: Kernel, sizes: tuple[Sizes, Sizes], arguments: Sequence[Any]) -> Prepared:
        """See :class:`~coopmat.runtime.streams.Stream`."""
        plan = self._plan(kernel, sizes)
        return lambda: self._launched(plan, arguments)

    def _plan(self, kernel: Kernel, sizes: tuple[Sizes, Sizes]) -> Plan:
        program = kernel.program.load(self.device)
        assert isinstance(program, OpenCLProgram)
        return program.plan(kernel.name, *sizes)

    def _launched(self, plan: Plan, arguments: Sequence[Any]) -> Event:
        if self._queue is None:
            self._queue = plan.context.queue()
        submitted_at = time.perf_counter_ns()
        return OpenCLEvent(plan, plan.launch(arguments, self._queue), submitted_at)

    def wait(self) -> None:
        """See :class:`~coopmat.runtime.streams.Stream`."""
        if self._queue is not None:
            with errors("the commands of a queue"):
                self._queue.finish()
