"""The options of the CPU as a device."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NoReturn

import numpy as np

from coopmat.diagnostics import Error, value_text
from coopmat.numerics.hardware import ROWS
from coopmat.targets.base.output import DEFAULT_PRINTF_LIMIT

THREADS_VARIABLE = "COOPMAT_NUM_THREADS"
MOST_THREADS = 4096
HARDWARE, EXACT = "hardware", "exact"  # numerics that are no architecture's


@dataclass(frozen=True, kw_only=True)
class CpuOptions:
    """How kernels run on the CPU (docs/cpu.md).

    ``bounds``: accesses outside of their buffers raise :class:`~coopmat.diagnostics.OutOfBounds`; without the check
    they do to this process whatever such an access does.
    ``numerics``: ``"hardware"`` multiplies matrices with the processor's own instructions; ``"exact"`` computes
    ``A*B + C`` exactly and rounds once; the name of an architecture, such as ``"nvidia_gpu_sm_90"``, computes as that
    device does, bit for bit (docs/numerics.md).
    ``races``: each launch runs a second time, with sub-groups and work-groups interleaved in a random order on one
    thread; results that differ raise :class:`~coopmat.diagnostics.DataRace` (docs/checking.md).
    ``seed``: of that order.
    ``threads``: how many threads share the work-groups of a launch; None for COOPMAT_NUM_THREADS, else one for each
    core that this process may use.
    ``printf_limit``: the bytes that printf may write in one launch; what does not fit is dropped.

    Raises :class:`~coopmat.diagnostics.Error` for a value of another type or out of range.
    """

    bounds: bool = False
    numerics: str = HARDWARE
    races: bool = False
    seed: int = 0
    threads: int | None = None
    printf_limit: int = DEFAULT_PRINTF_LIMIT

    def __post_init__(self) -> None:
        for name in ("bounds", "races"):
            if not isinstance(getattr(self, name), bool | np.bool_):
                self._refuse(name, "True or False")
        if not _is_integer(self.seed) or self.seed < 0:
            self._refuse("seed", "an integer of at least 0")
        if not isinstance(self.numerics, str) or self.numerics not in (HARDWARE, EXACT, *ROWS):
            self._refuse("numerics", f"{HARDWARE!r}, {EXACT!r} or an architecture ({', '.join(ROWS)})")
        if self.threads is not None and not (_is_integer(self.threads) and 1 <= self.threads <= MOST_THREADS):
            self._refuse("threads", f"an integer from 1 to {MOST_THREADS}, or None")
        if not _is_integer(self.printf_limit) or self.printf_limit < 0:
            self._refuse("printf_limit", "an integer of at least 0")

    def thread_count(self, environment: Mapping[str, str] = os.environ) -> int:
        """The threads that share a launch. Error for a COOPMAT_NUM_THREADS that is no such number."""
        return int(self.threads) if self.threads is not None else default_threads(environment)

    @property
    def architecture(self) -> str | None:
        """The architecture whose numerics matrix products have; None if it is none's."""
        return None if self.numerics in (HARDWARE, EXACT) else self.numerics

    def _refuse(self, name: str, expected: str) -> NoReturn:
        value = getattr(self, name)
        raise Error(f"the CPU's option {name} must be {expected}; "
                    f"found {value_text(value)} of type {type(value).__name__}")


def default_threads(environment: Mapping[str, str] = os.environ) -> int:
    """COOPMAT_NUM_THREADS, else the number of cores that this process may use."""
    text = environment.get(THREADS_VARIABLE, "").strip()
    if not text:
        return available_cores()
    if not (text.isascii() and text.isdigit() and len(text) < 9 and 1 <= int(text) <= MOST_THREADS):
        raise Error(f"{THREADS_VARIABLE}: expected a number of threads from 1 to {MOST_THREADS}, found '{text}'")
    return int(text)


def available_cores() -> int:
    """The cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _is_integer(value: object) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)
