"""``do_bench``: how long a piece of work takes on a device."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from coopmat.diagnostics import Error, value_text
from coopmat.runtime.device import Device
from coopmat.runtime.selection import device as find_device
from coopmat.runtime.timing import Action, Timer
from coopmat.support.collector import collector_paused

WARMUP, REP = 25.0, 100.0
"""Milliseconds of work before the measurement, and in it."""
MOST_REPETITIONS = 100_000
ENOUGH = 10
CONFIRMED = 3  # runs that are believed
LONGEST_PAUSE = 0.1  # seconds for which a system holds a process up
"""Repetitions for which flushing caches and restoring arrays may take longer than the time that was asked for."""


def do_bench(fn: Action, *, device: Device | str | None = None, quantiles: Sequence[float] | float = (0.5,),
             warmup: float = WARMUP, rep: float = REP, flush: bool = True) -> Any:
    """How long ``fn()`` takes, in seconds: the median, or the quantiles that are asked for: one number for one
    quantile, a list for several.

    fn: submits work, such as ``lambda: queue.enqueue(…)``. Where it returns an :class:`coopmat.Event`, the event's
        time counts, otherwise the time from the call to the return.
    device: the one that the work runs on; its timer says how caches are emptied (:meth:`coopmat.Device.timer`).
    quantiles: numbers from 0 to 1.
    warmup, rep: how many milliseconds of work come before the measurement, and are measured; ``fn`` is called at least
        once in each.
    flush: whether caches are emptied before each call, so that each finds its operands in memory.

    Raises Error for options that make no sense, and whatever ``fn`` raises.
    """
    if not callable(fn):
        raise Error(f"do_bench takes a function that submits work, such as lambda: queue.enqueue(…); "
                    f"found {value_text(fn)}")
    wanted = checked_quantiles(quantiles)
    times = measure(fn, find_device(device).timer(), warmup=warmup, rep=rep, flush=flush)
    found = [float(one) for one in np.quantile(times, wanted)]
    return found[0] if len(found) == 1 else found


def checked_quantiles(given: Any) -> list[float]:
    """Quantiles as a list; Error for what is none."""
    values = list(given) if isinstance(given, Sequence | np.ndarray) and not isinstance(given, str) else [given]
    if not values or not all(_is_number(one) and 0 <= one <= 1 for one in values):
        raise Error(f"quantiles are numbers from 0 to 1, such as (0.2, 0.5, 0.8); found {value_text(given)}")
    return values


def check_times(warmup: Any, rep: Any) -> None:
    """Error for times that cannot be waited for."""
    for name, value, least in (("warmup", warmup, "0 or more"), ("rep", rep, "more than 0")):
        if not _is_number(value) or not 0 <= value < float("inf") or (name == "rep" and value == 0):
            raise Error(f"{name} is a time in milliseconds, {least}; found {value_text(value)}")


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.number) and not isinstance(value, bool)


def measure(action: Action, timer: Timer, *, warmup: float = WARMUP, rep: float = REP, flush: bool = True,
            before: Action | None = None, is_warm: bool = False) -> list[float]:
    """The times of ``action``, in seconds; ``before`` is called before each one and not timed. ``is_warm``: it ran
    once already."""
    check_times(warmup, rep)
    with collector_paused():
        if not is_warm:
            timer.times(action, 1, before=before, flush=False)
        start = time.perf_counter()
        first = timer.times(action, 1, before=before, flush=flush)
        whole = max(time.perf_counter() - start, 1e-9)  # with what is not timed
        if whole * 1e3 < warmup:
            timer.times(action, _count(warmup, whole) - 1, before=before, flush=flush)
        while first[-1] * 1e3 >= rep and is_doubtful(first):
            first += timer.times(action, 1, before=before, flush=flush)
        if first[-1] * 1e3 >= rep:
            return first
        whole = max(whole - first[0] + first[-1], 1e-9)
        count = max(_count(rep, whole), min(ENOUGH, _count(rep, max(first[-1], 1e-9))))
        return timer.times(action, count, before=before, flush=flush)


def is_doubtful(times: Sequence[float]) -> bool:
    """Whether so few runs, each surprisingly long, may be one that the system has held up."""
    return len(times) < CONFIRMED and times[-1] < LONGEST_PAUSE


def _count(milliseconds: float, one: float) -> int:
    """How many repetitions fill a time."""
    return max(1, min(MOST_REPETITIONS, round(milliseconds * 1e-3 / one)))
