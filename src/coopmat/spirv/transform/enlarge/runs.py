"""What products of a merged kernel take along K, where that is not all of it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Runs:
    """The first ``length`` elements of each ``period`` along K; all of them if both are 0. A kernel that has a sum for
    even and one for odd rounds of a loop has two products whose runs lie between each other's."""

    length: int = 0
    period: int = 0

    @property
    def gap(self) -> int:
        """The elements between one run and the next."""
        return self.period - self.length

    def taken(self, extent: int) -> int:
        """How many of so many elements are taken."""
        if not self.gap:
            return extent
        whole, rest = divmod(extent, self.period)
        return whole * self.length + min(rest, self.length)


ALL = Runs()
