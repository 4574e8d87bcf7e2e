"""What is known of memory: for each granule of some bytes who wrote it last, and who has used it since."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from coopmat.support.allocator import zeros
from coopmat.targets.simulator.values import Array

LARGEST_GRANULE = 8  # bytes


class Last:
    """An agent and a time for each granule; time 0 stands for never."""

    def __init__(self, count: int, dtype: np.dtype[np.signedinteger]) -> None:
        self.agent: Array = zeros(count, dtype)
        self.time: Array = zeros(count, np.int32)

    def set(self, index: Array, agent: Array, time: int) -> None:
        """Note agents; of those that share a granule the last one stays."""
        self.agent[index] = agent
        self.time[index] = time

    def refine(self, factor: int) -> None:
        """One entry becomes ``factor`` entries."""
        self.agent, self.time = np.repeat(self.agent, factor), np.repeat(self.time, factor)


class Several:
    """Agents whose accesses nothing orders, for each granule: the first and the last of them, by number."""

    def __init__(self, count: int, dtype: np.dtype[np.signedinteger]) -> None:
        self.first, self.last = Last(count, dtype), Last(count, dtype)

    @property
    def both(self) -> tuple[Last, Last]:
        return self.first, self.last

    def forget(self, index: Array) -> None:
        """Nobody is left."""
        self.first.time[index] = 0
        self.last.time[index] = 0

    def add(self, index: Array, first: Array, last: Array, time: int, is_over: Array | None) -> None:
        """Note agents, beside those who are there but where ``is_over``; None: everywhere."""
        if is_over is not None:
            stays = ~is_over & (self.first.agent[index] < first)
            self._keep(self.first, index[~stays], first[~stays], time, reverse=True)
            stays = ~is_over & (self.last.agent[index] > last)
            self._keep(self.last, index[~stays], last[~stays], time, reverse=False)
            return
        self._keep(self.first, index, first, time, reverse=True)
        self._keep(self.last, index, last, time, reverse=False)

    @staticmethod
    def _keep(side: Last, index: Array, agent: Array, time: int, *, reverse: bool) -> None:
        """Of the agents that share a granule the smallest stays if they are noted in the opposite order."""
        side.set(index[::-1] if reverse else index, agent[::-1] if reverse else agent, time)


class Shadow:
    """What is known of one array of memory."""

    def __init__(self, nbytes: int, dtype: np.dtype[np.signedinteger]) -> None:
        self.nbytes = nbytes
        self.dtype = dtype
        self.granule = 0  # bytes; set by the first access
        self.written: Last
        self.read: Several
        self.atomic: Several | None = None  # writes
        self.loaded: Several | None = None  # atomic loads
        self.was_written = False

    def granules(self, start: Array, nbytes: int) -> tuple[Array, int]:
        """The granules of accesses of ``nbytes`` from ``start``, ``[n * count]``, and ``count``."""
        bits = nbytes | (int(np.bitwise_or.reduce(start)) if len(start) else 0)
        wanted = min(bits & -bits, LARGEST_GRANULE)
        if not self.granule:
            self._make(wanted)
        elif wanted < self.granule:
            self._refine(wanted)
        index, count = start // self.granule, nbytes // self.granule
        return (index if count == 1 else (index[:, None] + np.arange(count)).reshape(-1)), count

    def atomics(self) -> tuple[Several, Several]:
        """Who writes and who loads atomically."""
        if self.atomic is None or self.loaded is None:
            self.atomic, self.loaded = (Several(self._count, self.dtype) for _ in range(2))
        return self.atomic, self.loaded

    @property
    def _count(self) -> int:
        return math.ceil(self.nbytes / self.granule)

    def _make(self, granule: int) -> None:
        self.granule = granule
        self.written, self.read = Last(self._count, self.dtype), Several(self._count, self.dtype)

    def _refine(self, granule: int) -> None:
        factor, self.granule = self.granule // granule, granule
        for one in self._all():
            one.refine(factor)

    def _all(self) -> Iterator[Last]:
        yield self.written
        for several in (self.read, self.atomic, self.loaded):
            if several is not None:
                yield from several.both
