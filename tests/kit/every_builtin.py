"""What the tests of all built-in functions share: a call that fails is found among many, and results are compared."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Protocol, TypeVar

import numpy as np

import coopmat as cm

TARGETS = {"sim:generic": cm.SimulatorOptions(undefined=False, races=False), "cpu": None}
"""Devices with their options: random operands may be such that a function is
undefined, and all calls share their local memory."""
TOLERANCES = {"e": 2e-2, "f": 2e-4, "d": 1e-9, "E": 5e-2}
"""Relative, by the dtype's character (E: bfloat16): targets differ in the last places of inexact functions."""
TOGETHER = 40
"""So many calls make a kernel: compiled together they take half of the time."""


class Named(Protocol):
    """A call with the text that shows it."""

    @property
    def shown(self) -> str:
        """The call as messages show it."""


Probe = TypeVar("Probe", bound=Named)


def random_values(dtype: np.dtype, count: int, rng: np.random.Generator) -> np.ndarray:
    """Integers of all sizes, or floats around 1."""
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        return rng.integers(limits.min, limits.max, count, dtype, endpoint=True)
    return rng.uniform(-4, 4, count).astype(dtype)


def agree(one: np.ndarray, other: np.ndarray) -> bool:
    """Whether integers are the same, and floats close."""
    tolerance = TOLERANCES.get(one.dtype.char)
    if tolerance is None:
        return np.array_equal(one, other)
    with np.errstate(all="ignore"):
        return np.allclose(one.astype(np.float64), other.astype(np.float64), tolerance, tolerance / 10, True)


def failures(probes: Iterable[Probe], outcomes: Callable[[Sequence[Probe]], Iterator[str]]) -> list[str]:
    """What is wrong with the calls; ``outcomes`` tells it of those that make one kernel. Where one fails, each is tried
    by itself."""
    calls = list(probes)
    found: list[str] = []
    for start in range(0, len(calls), TOGETHER):
        found += _wrong(calls[start:start + TOGETHER], outcomes)
    return found


def _wrong(probes: Sequence[Probe], outcomes: Callable[[Sequence[Probe]], Iterator[str]]) -> list[str]:
    try:
        found = list(outcomes(probes))
    except cm.Error as error:
        found = [f"{probes[0].shown}: {error}"]
    if not found or len(probes) == 1:
        return found
    return [line for probe in probes for line in _wrong([probe], outcomes)] or found
