"""A device of a driver in this process: its context, queues, and memory that is kept for the next launch."""

from __future__ import annotations

import threading
from collections import defaultdict
from functools import cache
from typing import Any

from coopmat.diagnostics import Error
from coopmat.support.forks import ForkSafeLock
from coopmat.targets.opencl.host.description import DriverDevice
from coopmat.targets.opencl.host.discovery import described, in_this_process
from coopmat.targets.opencl.host.driver import errors, started

SMALLEST = 512  # bytes of a buffer
MOST_KEPT = 1 << 30  # bytes of free buffers

_LOCK = ForkSafeLock(threading.RLock)


class Context:
    """What launches on ``opencl:ordinal`` share."""

    def __init__(self, ordinal: int) -> None:
        cl = started()
        self.ordinal = ordinal
        self.described: DriverDevice = described(ordinal)
        self.device = in_this_process(self.described)
        with errors(f"the use of {self.described}", Error):
            self.context = cl.Context([self.device])
        self.lock = threading.RLock()
        self.buffers = Buffers(self)
        self.nothing = self.buffers.take(0)
        """What stands for an array without elements."""

    def queue(self) -> Any:
        """A queue in order, whose commands are timed."""
        cl = started()
        with errors("a queue"):
            return cl.CommandQueue(self.context, self.device,
                                   properties=cl.command_queue_properties.PROFILING_ENABLE)


@cache
def _contexts(ordinal: int) -> Context:
    return Context(ordinal)


def context(ordinal: int) -> Context:
    """The context of ``opencl:ordinal``, made at its first use. Error if it cannot be."""
    started()
    with _LOCK:
        return _contexts(ordinal)


class Buffers:
    """Buffers of a device; those that are given back serve again."""

    def __init__(self, owner: Context) -> None:
        self._owner = owner
        self._free: dict[int, list[Any]] = defaultdict(list)
        self._kept = 0

    def take(self, nbytes: int) -> Any:
        """A buffer of at least so many bytes. LaunchError if there is no room."""
        size = rounded(nbytes)
        if self._free[size]:
            self._kept -= size
            return self._free[size].pop()
        cl = started()
        try:
            return cl.Buffer(self._owner.context, cl.mem_flags.READ_WRITE, size)
        except cl.Error:
            self.clear()
        with errors(f"{size} bytes of memory of the device"):
            return cl.Buffer(self._owner.context, cl.mem_flags.READ_WRITE, size)

    def give_back(self, buffer: Any) -> None:
        """Let a buffer serve again."""
        if self._kept + buffer.size <= MOST_KEPT:
            self._kept += buffer.size
            self._free[buffer.size].append(buffer)

    def clear(self) -> None:
        """Free all buffers that nobody uses."""
        self._free.clear()
        self._kept = 0


def rounded(nbytes: int) -> int:
    """Sizes with two significant bits, so that similar ones share buffers."""
    size = max(nbytes, SMALLEST)
    step = 1 << max(size.bit_length() - 3, 8)
    return -(-size // step) * step
