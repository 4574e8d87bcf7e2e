"""Classes of things that are alike in some way (union-find)."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import Generic, TypeVar

T = TypeVar("T", bound=Hashable)


class Classes(Generic[T]):
    """Each thing is in a class of its own until it is united with others. Contains what has been asked for."""

    def __init__(self) -> None:
        self._leaders: dict[T, T] = {}

    def __contains__(self, one: T) -> bool:
        return one in self._leaders

    def __iter__(self) -> Iterator[T]:
        return iter(self._leaders)

    def find(self, one: T) -> T:
        """What stands for the class of a thing."""
        while (leader := self._leaders.setdefault(one, one)) != one:
            self._leaders[one] = self._leaders[leader]
            one = leader
        return one

    def unite(self, one: T, other: T) -> None:
        """Two things are of one class."""
        self._leaders[self.find(one)] = self.find(other)
