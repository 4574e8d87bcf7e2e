"""What must hold in a launch, of arguments, work-groups and rounds of loops, and numbers that follow from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from coopmat.spirv.analysis.polynomials import Atom, Polynomial, Range
from coopmat.spirv.transform.enlarge.conditions import ADDRESS_BITS, Computed, Condition, Counter, Limit
from coopmat.spirv.transform.enlarge.indices import Indices

POSITIONS = frozenset({"group", "groups", "outer", "outers", "inner", "local"})
KNOWN = POSITIONS | {"argument"}
"""The kinds of atoms of which a launch tells what they are, or between which bounds they lie."""
ADDRESSES = 0, (1 << ADDRESS_BITS - 2) - 1
"""Between which bounds all arrays lie."""


@dataclass(frozen=True)
class Requirements:
    """Conditions. counters: the loops on whose rounds they depend, outer ones first; computed: the values. groups: how
    many groups a work-group has along each axis, size: the work-items of one. limits: of the groups for which they must
    hold."""

    conditions: tuple[Condition, ...]
    counters: tuple[Counter, ...]
    computed: Mapping[int, Computed]
    groups: tuple[int, int, int]
    size: tuple[int, int, int]
    limits: tuple[Limit, ...] = ()

    @classmethod
    def of(cls, indices: Indices, conditions: Sequence[Condition]) -> Requirements:
        """The conditions of a function."""
        positions = indices.positions
        return cls(tuple(conditions), tuple(indices.counters.values()), dict(indices.computed), positions.groups,
                   positions.size)

    def hold(self, arguments: Sequence[int], group_counts: Sequence[int]) -> bool:
        """Whether a launch with these arguments (integers with their sign) and so many work-groups fulfils them."""
        return not self.refusal(arguments, group_counts)

    def number(self, value: Polynomial, arguments: Sequence[int], group_counts: Sequence[int]) -> int | None:
        """What a number is in such a launch; None if it does not fulfil them, or the number is not always the same."""
        if not self.hold(arguments, group_counts):
            return None
        found = value.range(self.ranges(arguments, group_counts)[0])
        return found[0] if found is not None and found[0] == found[1] else None

    def refusal(self, arguments: Sequence[int], group_counts: Sequence[int]) -> str:
        """Which of them such a launch does not fulfil; nothing if it does."""
        ranges, split = self.ranges(arguments, group_counts)
        for one in self.conditions:
            holds = one.holds(ranges, split)
            if holds is None:
                return f"where a matrix lies depends on numbers that are known only while it runs{one.where}"
            if not holds:
                return one.otherwise + one.where
        return ""

    def ranges(self, arguments: Sequence[int], group_counts: Sequence[int]
                ) -> tuple[dict[Atom, Range], dict[Atom, Polynomial]]:
        """The ranges of what numbers are made of, and what positions are made of."""
        ranges: dict[Atom, Range] = {Atom("argument", place): (one, one) for place, one in enumerate(arguments)}
        ranges |= {atom: ADDRESSES for one in self.conditions for atom in one.value.atoms if atom.kind == "address"}
        split: dict[Atom, Polynomial] = {}  # a group's position: that of its work-group, and that in it
        for axis, (count, own) in enumerate(zip(group_counts, self.groups, strict=True)):
            ranges[Atom("groups", axis)] = (count * own, count * own)
            ranges[Atom("outers", axis)] = (count, count)
            ranges[Atom("present", axis)] = (1, max(1, count * own))
            ranges[Atom("outer", axis)] = (0, count - 1)
            ranges[Atom("inner", axis)] = (0, own - 1)
            ranges[Atom("local", axis)] = (0, self.size[axis] - 1)
            split[Atom("group", axis)] = Polynomial.atom("outer", axis).scaled(own) + Polynomial.atom("inner", axis)
        self._compute(ranges, split)
        if self.limits:
            self._limit(ranges)
            self._compute(ranges, split)
        return ranges, split

    def _compute(self, ranges: dict[Atom, Range], split: Mapping[Atom, Polynomial]) -> None:
        """Add the ranges of what is computed, and of the rounds of loops."""
        for _ in range(2):  # what is computed may depend on rounds, and these on what is computed
            for identifier, one in self.computed.items():
                known = one.range(ranges, split)
                if known is not None:
                    ranges[Atom("value", identifier)] = known
            for counter in self.counters:
                rounds = counter.rounds(ranges, split)
                if rounds is not None:
                    ranges[Atom("rounds", counter.header)] = rounds
                    ranges[Atom("round", counter.header)] = (0, max(0, rounds[1] - 1))

    def _limit(self, ranges: dict[Atom, Range]) -> None:
        """Let positions be those of work-groups that have groups within limits, of one at least. Those that are counted
        from the last one have other numbers in some conditions, and stay what they are."""
        for limit in self.limits:
            axis, value = limit.axis, limit.value.range(ranges)
            if value is not None and not limit.from_last:
                most = min(ranges[Atom("present", axis)][1], max(1, -(-value[1] // limit.step) * limit.times))
                ranges[Atom("present", axis)] = (1, most)
                ranges[Atom("outer", axis)] = (0, (most - 1) // self.groups[axis])


@dataclass(frozen=True)
class Number:
    """A value that a launch tells, if it fulfils what must hold for that, divided ``by`` a number and rounded up."""

    value: Polynomial
    requirements: Requirements
    by: int = 1

    @classmethod
    def of(cls, indices: Indices, value: Polynomial, conditions: Sequence[Condition] = (), by: int = 1) -> Number:
        """A number of a function. conditions: those that must hold besides the function's own."""
        known = [one for one in indices.conditions if indices.is_made_of(one.value, KNOWN)]
        return cls(value, replace(Requirements.of(indices, (*known, *conditions)), counters=()), by)

    def at(self, arguments: Sequence[int], group_counts: Sequence[int]) -> int | None:
        """What it is; None if the launch does not fulfil them."""
        found = self.requirements.number(self.value, arguments, group_counts)
        return None if found is None else -(-found // self.by)
