"""How overloads are compared, as clang compares them in OpenCL C (C++ [over.ics.rank], without classes).

A :class:`Fit` says how an argument becomes a parameter. The best candidate is better than each other one:
no argument fits worse, and at least one better.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import TypeVar

from coopmat.tree.types import AddressSpace, Pointer

T = TypeVar("T")


class Rank(IntEnum):
    """How good a conversion is, the best first."""

    EXACT = 0
    PROMOTION = 1
    CONVERSION = 2
    TO_VOID_POINTER = 3
    POINTER_TO_BOOL = 4
    SPLAT = 5
    FROM_VOID_POINTER = 6
    ILL_FORMED = 7
    """Between pointers that C lets pass with a warning, if at all."""


@dataclass(frozen=True, slots=True)
class Fit:
    """How an argument becomes a parameter: ``qualified`` is the pointer type that is reached by adding
    qualifiers to the pointee, or the generic address space; None where that is not needed."""

    rank: Rank
    qualified: Pointer | None = None

    def is_better(self, other: Fit) -> bool:
        """Whether this conversion is better than another one of the same argument."""
        if self.rank is not other.rank:
            return self.rank < other.rank
        if self.qualified is None or other.qualified is None:
            return self.qualified is None and other.qualified is not None
        return self.qualified != other.qualified and _adds_to(self.qualified, other.qualified)


def _adds_to(left: Pointer, right: Pointer) -> bool:
    """Whether ``right`` is ``left`` with more qualifiers, or in the generic address space."""
    return (left.const <= right.const and left.volatile <= right.volatile
            and right.address_space in (left.address_space, AddressSpace.GENERIC))


Fits = tuple[Fit, ...]
"""How each argument of a call fits its parameter."""


def is_exact(fits: Sequence[Fit]) -> bool:
    """Whether no argument is converted, but for qualifiers."""
    return all(fit.rank is Rank.EXACT for fit in fits)


def is_better(left: Sequence[Fit], right: Sequence[Fit]) -> bool:
    """Whether a candidate is better than another one."""
    pairs = list(zip(left, right, strict=True))
    # An ill-formed conversion outweighs whatever the other arguments say.
    ill_formed = [(one.rank is Rank.ILL_FORMED, other.rank is Rank.ILL_FORMED) for one, other in pairs]
    if (True, False) in ill_formed:
        return False
    if (False, True) in ill_formed:
        return True
    return (any(one.is_better(other) for one, other in pairs)
            and not any(other.is_better(one) for one, other in pairs))


def best(candidates: Sequence[tuple[Fits, T]]) -> list[T]:
    """The candidate that is better than each other one; if there is none, all that no other one beats."""
    if not candidates:
        return []
    first = candidates[0]
    for candidate in candidates:
        if is_better(candidate[0], first[0]):
            first = candidate
    if all(candidate is first or is_better(first[0], candidate[0]) for candidate in candidates):
        return [first[1]]
    return [candidate for fits, candidate in candidates
            if not any(is_better(others, fits) for others, _ in candidates)]
