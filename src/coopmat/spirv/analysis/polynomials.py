"""Integers as polynomials of what they are made of, and the ranges that these have in a launch."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

Range = tuple[int, int]
"""The smallest and the largest value."""


@dataclass(frozen=True, order=True)
class Atom:
    """What a polynomial is made of.

    kind: ``argument`` (``number`` is its position), ``group`` (the position of the group along axis ``number``, a
    work-group or one of its sub-groups), ``groups`` (how many there are along it), ``outer`` (the position of the
    work-group, where that has several groups), ``inner`` (that of the group in it), ``local`` (the position in the
    group along an axis), ``address`` (of the pointer ``number``, in bytes), ``round`` (how often the loop with header
    ``number`` has come back), ``rounds`` (how often it is run), ``value`` (an id).
    """

    kind: str
    number: int


Monomial = tuple[Atom, ...]


@dataclass(frozen=True)
class Polynomial:
    """Monomials, each with its factor, in order; the empty monomial is 1."""

    terms: tuple[tuple[Monomial, int], ...] = ()

    @classmethod
    def of(cls, terms: Iterable[tuple[Monomial, int]]) -> Polynomial:
        """The sum of products of atoms and a number."""
        total: dict[Monomial, int] = {}
        for monomial, factor in terms:
            total[monomial] = total.get(monomial, 0) + factor
        return cls(tuple(sorted((monomial, factor) for monomial, factor in total.items() if factor)))

    @classmethod
    def constant(cls, value: int) -> Polynomial:
        """A number."""
        return cls.of([((), value)])

    @classmethod
    def atom(cls, kind: str, number: int) -> Polynomial:
        """An atom alone."""
        return cls((((Atom(kind, number),), 1),))

    def __add__(self, other: Polynomial) -> Polynomial:
        return Polynomial.of((*self.terms, *other.terms))

    def plus(self, others: Iterable[Polynomial]) -> Polynomial:
        """The sum of this and others."""
        return Polynomial.of(term for one in (self, *others) for term in one.terms)

    def __neg__(self) -> Polynomial:
        return self.scaled(-1)

    def __sub__(self, other: Polynomial) -> Polynomial:
        return self + -other

    def __mul__(self, other: Polynomial) -> Polynomial:
        return Polynomial.of((tuple(sorted((*one, *two))), factor * times)
                             for one, factor in self.terms for two, times in other.terms)

    def scaled(self, number: int) -> Polynomial:
        """So many times this."""
        return Polynomial.of((monomial, number * factor) for monomial, factor in self.terms)

    @property
    def atoms(self) -> frozenset[Atom]:
        """All atoms in it."""
        return frozenset(atom for monomial, _ in self.terms for atom in monomial)

    @property
    def known(self) -> int | None:
        """Its value, if it is a number."""
        if not self.terms:
            return 0
        (monomial, factor), *others = self.terms
        return factor if not monomial and not others else None

    def coefficient(self, atom: Atom) -> Polynomial | None:
        """What an atom is multiplied by; None if the polynomial is not linear in it."""
        found = []
        for monomial, factor in self.terms:
            if atom in monomial:
                rest = list(monomial)
                rest.remove(atom)
                if atom in rest:
                    return None
                found.append((tuple(rest), factor))
        return Polynomial.of(found)

    def replaced(self, atoms: Mapping[Atom, Polynomial]) -> Polynomial:
        """The polynomial with others in the place of some atoms."""
        total = Polynomial()
        for monomial, factor in self.terms:
            product = Polynomial.constant(factor)
            for atom in monomial:
                product *= atoms.get(atom, Polynomial(((((atom,)), 1),)))
            total += product
        return total

    def divided(self, divisor: Polynomial) -> tuple[Polynomial, Polynomial]:
        """Quotient and rest: what is a multiple of the divisor's largest term is divided."""
        if not divisor.terms:
            return Polynomial(), self
        lead, factor = max(divisor.terms, key=lambda term: (len(term[0]), term))
        quotient, rest, kept = Polynomial(), self, Polynomial()
        while rest.terms:
            monomial, number = rest.terms[0]
            left = _without(monomial, lead)
            if left is None or number % factor:
                term = Polynomial.of([(monomial, number)])
                kept, rest = kept + term, rest - term
            else:
                term = Polynomial.of([(left, number // factor)])
                quotient, rest = quotient + term, rest - term * divisor
        return quotient, kept

    def range(self, ranges: Mapping[Atom, Range]) -> Range | None:
        """The bounds of its values, given those of its atoms; None if one of these is not known."""
        low = high = 0
        for monomial, factor in self.terms:
            bounds = (factor, factor)
            for atom in monomial:
                if atom not in ranges:
                    return None
                products = [one * two for one in bounds for two in ranges[atom]]
                bounds = (min(products), max(products))
            low, high = low + bounds[0], high + bounds[1]
        return low, high

    def is_multiple(self, number: int, ranges: Mapping[Atom, Range]) -> bool:
        """Whether all its values are multiples of a number, given the ranges of its atoms."""
        fixed = 0
        for monomial, factor in self.terms:
            is_fixed = True
            for atom in monomial:
                low, high = ranges.get(atom, (0, 1))
                factor *= low if low == high else 1
                is_fixed = is_fixed and low == high
            if is_fixed:
                fixed += factor
            elif factor % number:
                return False
        return fixed % number == 0


def _without(monomial: Monomial, lead: Monomial) -> Monomial | None:
    """A monomial divided by another one."""
    rest = list(monomial)
    for atom in lead:
        if atom not in rest:
            return None
        rest.remove(atom)
    return tuple(rest)
