"""Timers: how long work on a device takes, with caches that have forgotten it."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from coopmat.runtime.events import Event
from coopmat.support.cached import cached_property

Action = Callable[[], object]
"""Submits work. What returns an event is timed by the event, everything else by the clock on the wall."""

CPU_FOLDER = Path("/sys/devices/system/cpu/cpu0")
UNKNOWN_CACHE = 64 << 20  # bytes, where the system does not tell
LARGEST_FLUSH = 1 << 30
_UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


class Timer(Protocol):
    """What times work on one kind of device; :meth:`coopmat.Device.timer` gives it.

    ``note`` says what to know of the times: whether clocks are locked, or that they are a simulation's. ``hardware``
    is a text that differs where times cannot be compared.
    """

    @property
    def note(self) -> str:
        """What to know of the times."""

    @property
    def hardware(self) -> str:
        """What the times were measured on."""

    def times(self, action: Action, count: int, *, before: Action | None = None, flush: bool = True) -> list[float]:
        """How long ``action`` takes, in seconds, ``count`` times over. Each time ``before`` is called first, and with
        ``flush`` the caches lose what they hold; neither is part of the time."""


class HostTimer:
    """The timer of devices whose work this machine's processor does; ``flush_bytes`` are written to empty its caches,
    by one thread."""

    def __init__(self, flush_bytes: int, note: str) -> None:
        self.note = note
        self._flush_bytes = flush_bytes

    @cached_property
    def hardware(self) -> str:
        """The processor's name, and how many cores of it this process may use."""
        from coopmat.targets.cpu.options import available_cores

        return f"{processor_name()}, {available_cores()} cores"

    def times(self, action: Action, count: int, *, before: Action | None = None, flush: bool = True) -> list[float]:
        """See :meth:`Timer.times`."""
        found = []
        for _ in range(count):
            if before is not None:
                before()
            if flush:
                self._buffer.fill(1)
            start = time.perf_counter()
            result = action()
            end = time.perf_counter()
            found.append(result.wait().elapsed if isinstance(result, Event) else end - start)
        return found

    @cached_property
    def _buffer(self) -> np.ndarray:
        return np.zeros(self._flush_bytes, np.uint8)


def device_times(action: Action, count: int, before: Action | None, flush: Action | None, wait: Action) -> list[float]:
    """The times of :meth:`Timer.times` by a device's own clock, where an action returns an event; what returns anything
    else is waited for, and timed by this machine's clock. ``flush`` empties the device's caches, ``wait`` waits for all
    that it has been given."""
    found: list[Event | float] = []
    for _ in range(count):
        if before is not None:
            before()
        if flush is not None:
            flush()
        start = time.perf_counter()
        result = action()
        if isinstance(result, Event):
            found.append(result)
            if before is not None or flush is not None:
                result.wait()
        else:
            wait()
            found.append(time.perf_counter() - start)
    return [one.elapsed if isinstance(one, Event) else one for one in found]


def cpu_timer() -> HostTimer:
    """The timer of the device ``cpu``."""
    return HostTimer(min(last_level_cache() * 5 // 4, LARGEST_FLUSH), clock_note())


def simulation_timer(device: str) -> HostTimer:
    """The timer of a simulated device. Python's own work fills the caches: there is nothing to flush."""
    return HostTimer(0, f"{device} is simulated: times are those of the simulation on this machine, and say nothing of "
                        "the device's speed")


def last_level_cache(folder: Path = CPU_FOLDER) -> int:
    """The bytes of the largest cache that the first core has, as Linux tells it; UNKNOWN_CACHE elsewhere."""
    sizes = [_bytes(_read(path)) for path in folder.glob("cache/index*/size")]
    return max(sizes, default=0) or UNKNOWN_CACHE


def _bytes(text: str) -> int:
    """``266240K`` as a number of bytes; 0 for what is no size."""
    digits, unit = (text[:-1], _UNITS[text[-1]]) if text[-1:] in _UNITS else (text, 1)
    return int(digits) * unit if digits.isascii() and digits.isdigit() else 0


def clock_note(folder: Path = CPU_FOLDER) -> str:
    """Whether the processor keeps one clock frequency, as far as Linux tells."""
    low, high = (_read(folder / "cpufreq" / f"scaling_{end}_freq") for end in ("min", "max"))
    if not (low.isdigit() and high.isdigit()):
        return ("the system does not tell whether the processor's clock is locked: compare only times of one run, as "
                "ratios")
    if low == high and _read(folder.parent / "cpufreq" / "boost") != "1":
        return f"the processor's clock is locked at {int(low) / 1e6:.2f} GHz"
    return (f"the processor's clock is not locked ({int(low) / 1e6:.2f} to {int(high) / 1e6:.2f} GHz, governor "
            f"'{_read(folder / 'cpufreq' / 'scaling_governor')}'): compare only times of one run, as ratios")


def _read(path: Path) -> str:
    try:
        return path.read_text().strip()
    except (OSError, ValueError):
        return ""


def processor_name() -> str:
    """What the system calls the processor."""
    if os.path.exists("/proc/cpuinfo"):
        for line in _read(Path("/proc/cpuinfo")).splitlines():
            name, _, value = line.partition(":")
            if name.strip() == "model name":
                return value.strip()
    return platform.processor() or platform.machine()


Restore = Callable[[], Any]


def host_snapshot(memory: Any) -> Restore | None:
    """See :meth:`coopmat.Device.snapshot`, of memory of this process."""
    from coopmat.runtime.arrays import array_over

    array = array_over(memory)
    if array is None or not array.flags.writeable:
        return None
    copy = array.copy()
    return lambda: np.copyto(array, copy)
