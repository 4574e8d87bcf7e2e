"""What must hold in a launch for what is known of a kernel's integers, and what that is said of: how often loops run,
quotients, how the sub-groups of a work-group are placed."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from coopmat.spirv.analysis.polynomials import Atom, Polynomial, Range
from coopmat.spirv.grammar import Op

LEAST = "the least of two numbers is not always the constant one"


@dataclass(frozen=True)
class Condition:
    """What must hold of a value in all work-items of a launch: it is at least ``low`` and at most ``high``. otherwise:
    what is wrong with a launch for which it does not, in messages."""

    value: Polynomial
    low: int
    high: int
    otherwise: str = "an integer that says where a matrix lies wraps around, or is negative"


@dataclass(frozen=True)
class Counter:
    """A loop that counts: as long as ``start + step * round < limit``, where the rounds are numbered from 0. header:
    its block's label; condition: the id of the comparison; enters: whether it goes on where that is true."""

    header: int
    condition: int
    enters: bool
    start: Polynomial
    step: int
    limit: Polynomial

    def rounds(self, ranges: Mapping[Atom, Range]) -> Range | None:
        """How often it runs, given the ranges of what it depends on."""
        distances = (self.limit - self.start).range(ranges)
        if distances is None:
            return None
        fewest, most = (max(0, -(-distance // self.step)) for distance in distances)
        return fewest, most


@dataclass(frozen=True)
class Quotient:
    """A value that is computed by dividing, ``operation``: SDiv, UDiv, SRem or UMod."""

    operation: Op
    value: Polynomial
    divisor: Polynomial

    def range(self, ranges: Mapping[Atom, Range]) -> Range | None:
        """Its bounds: known where all that it is made of is."""
        value, divisor = self.value.range(ranges), self.divisor.range(ranges)
        if value is None or divisor is None or value[0] != value[1] or divisor[0] != divisor[1] or not divisor[0]:
            return None
        one, other = value[0], divisor[0]
        if self.operation in (Op.UDiv, Op.UMod) and min(one, other) < 0:
            return None
        whole = abs(one) // abs(other) * (1 if (one < 0) == (other < 0) else -1)
        found = whole if self.operation in (Op.SDiv, Op.UDiv) else one - whole * other
        return found, found


@dataclass(frozen=True)
class Placing:
    """How the sub-groups of a work-group of one row are taken as a grid, as ``get_sub_group_id() / 2``
    and ``% 2`` take them. across, down: how many there are; by_columns: whether those of a column follow each other."""

    across: int
    down: int
    by_columns: bool = False


def placings(local_size: Sequence[int], sub_group_size: int) -> Iterator[Placing]:
    """All ways to do that; none where there is nothing to choose."""
    count, rest = divmod(local_size[0], sub_group_size)
    if rest or math.prod(local_size) != local_size[0]:
        return
    for across in range(1, count):
        if count % across == 0:
            yield from (Placing(across, count // across, by_columns) for by_columns in (False, True)[:across])
