"""What must hold in a launch for what is known of a kernel's integers, and what that is said of: how often loops run,
quotients, how the sub-groups of a work-group are placed."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from coopmat.spirv.analysis.polynomials import Atom, Polynomial, Range

ADDRESS_BITS = 64
LEAST = "the least of two numbers is not always the constant one"


@dataclass(frozen=True)
class Condition:
    """What must hold of a value in all work-items of a launch: it is at least ``low`` and at most ``high``. otherwise:
    what is wrong with a launch for which it does not, in messages; multiple_of: of what it is a multiple; where: the
    line of the source that needs it, as messages end."""

    value: Polynomial
    low: int
    high: int
    otherwise: str = "an integer that says where a matrix lies wraps around, or is negative"
    multiple_of: int = 1
    where: str = field(default="", compare=False)

    def holds(self, ranges: Mapping[Atom, Range], split: Mapping[Atom, Polynomial]) -> bool | None:
        """Whether it does, where numbers have these ranges, and positions are made of these parts; None if it is not
        known."""
        value = self.value.replaced(split)
        bounds = value.range(ranges)
        if bounds is None:
            return None
        return self.low <= bounds[0] and bounds[1] <= self.high and value.is_multiple(self.multiple_of, ranges)


def fitting(value: Polynomial, bits: int, *, signed: bool, where: str = "") -> list[Condition]:
    """What must hold for a value to be a number of so many bits; ``where`` as in :class:`Condition`."""
    if value.known is not None or (bits == ADDRESS_BITS and signed):
        return []
    bits = min(bits, ADDRESS_BITS - 1) if not signed else bits
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
    return [Condition(value, low, high, where=where)]


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

    def rounds(self, ranges: Mapping[Atom, Range], split: Mapping[Atom, Polynomial] = MappingProxyType({})
               ) -> Range | None:
        """How often it runs, given the ranges of what it depends on, where positions are made of these parts."""
        distances = (self.limit - self.start).replaced(split).range(ranges)
        if distances is None:
            return None
        fewest, most = (max(0, -(-distance // self.step)) for distance in distances)
        return fewest, most


@dataclass(frozen=True)
class Limit:
    """Which groups of a launch take part along an axis: the first ones, those for whose number ``number * step <
    value``, or so many ``times`` that. from_last: whether they are counted from the last one. where: the line of the
    source that says so, in messages."""

    axis: int
    value: Polynomial
    step: int
    times: int = 1
    from_last: bool = False
    where: str = ""


@dataclass(frozen=True)
class Computed:
    """A value that is computed of two others, otherwise than by adding and multiplying: the ``operation`` of them, a
    name in a table."""

    operation: str
    value: Polynomial
    other: Polynomial

    def range(self, ranges: Mapping[Atom, Range], split: Mapping[Atom, Polynomial]) -> Range | None:
        """Its bounds, where positions are made of these parts: known where those of all that it is made of are."""
        value, other = (one.replaced(split).range(ranges) for one in (self.value, self.other))
        return None if value is None or other is None else _RANGES[self.operation](value, other)


def _truncated(value: int, divisor: int) -> int:
    return abs(value) // abs(divisor) * (1 if (value < 0) == (divisor < 0) else -1)


def _steady(result: Callable[[int, int], int], least: int, most: int) -> Callable[[Range, Range], Range | None]:
    """The range of what only rises, or only falls, with each of its numbers, where the second one is between bounds."""
    def found(value: Range, other: Range) -> Range | None:
        if other[0] < least or other[1] > most:
            return None
        results = [result(one, two) for one in value for two in other]
        return min(results), max(results)

    return found


def _rest(value: Range, divisor: Range) -> Range | None:
    """That of what is left by a division that rounds down; one that truncates is taken of positive numbers only."""
    if divisor[0] <= 0:
        return None
    if value[0] // divisor[0] == value[1] // divisor[0] and divisor[0] == divisor[1]:
        return value[0] % divisor[0], value[1] % divisor[0]
    return 0, divisor[1] - 1


_MOST = (1 << ADDRESS_BITS) - 1
_RANGES: dict[str, Callable[[Range, Range], Range | None]] = {
    "truncated": _steady(_truncated, 1, _MOST),
    "shifted": _steady(lambda value, count: value >> count, 0, ADDRESS_BITS - 1),
    "rounded down": _steady(lambda value, size: value - value % size, 1, _MOST),
    "rest": _rest,
    "least": _steady(min, -_MOST, _MOST),
    "most": _steady(max, -_MOST, _MOST),
}
"""What may be computed of two numbers → its range, given theirs; None where it is not known."""


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
