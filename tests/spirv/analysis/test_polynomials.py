"""Polynomials compute as integers do, and their ranges hold for all values of their atoms."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from coopmat.spirv.analysis.polynomials import Atom, Monomial, Polynomial

ATOMS = [Atom("argument", 0), Atom("group", 0), Atom("round", 7)]
MONOMIALS: st.SearchStrategy[Monomial] = st.lists(st.sampled_from(ATOMS), max_size=3).map(
    lambda one: tuple(sorted(one)))
POLYNOMIALS = st.lists(st.tuples(MONOMIALS, st.integers(-9, 9)), max_size=5).map(Polynomial.of)
VALUES = st.fixed_dictionaries({atom: st.integers(-20, 20) for atom in ATOMS})


def at(value: Polynomial, atoms: dict[Atom, int]) -> int:
    """The value where the atoms have some."""
    found = value.range({atom: (number, number) for atom, number in atoms.items()})
    assert found is not None
    assert found[0] == found[1]
    return found[0]


@given(POLYNOMIALS, POLYNOMIALS, VALUES)
def test_arithmetic(one: Polynomial, two: Polynomial, atoms: dict[Atom, int]) -> None:
    x, y = at(one, atoms), at(two, atoms)
    assert at(one + two, atoms) == x + y
    assert at(one - two, atoms) == x - y
    assert at(one * two, atoms) == x * y
    assert at(-one, atoms) == -x
    assert one - one == Polynomial()
    assert one + two == two + one


@given(POLYNOMIALS, POLYNOMIALS, VALUES)
def test_division(value: Polynomial, divisor: Polynomial, atoms: dict[Atom, int]) -> None:
    quotient, rest = value.divided(divisor)
    assert at(quotient, atoms) * at(divisor, atoms) + at(rest, atoms) == at(value, atoms)
    assert (quotient * divisor).divided(divisor) == (quotient, Polynomial()) or not divisor.terms


@given(POLYNOMIALS, POLYNOMIALS, VALUES)
def test_replacement(value: Polynomial, other: Polynomial, atoms: dict[Atom, int]) -> None:
    assert at(value.replaced({ATOMS[1]: other}), atoms) == at(value, {**atoms, ATOMS[1]: at(other, atoms)})


@given(POLYNOMIALS, VALUES)
def test_coefficients(value: Polynomial, atoms: dict[Atom, int]) -> None:
    factor = value.coefficient(ATOMS[0])
    if factor is None:
        assert any(monomial.count(ATOMS[0]) > 1 for monomial, _ in value.terms)
    else:
        rest = value.replaced({ATOMS[0]: Polynomial()})
        assert at(factor, atoms) * atoms[ATOMS[0]] + at(rest, atoms) == at(value, atoms)


@given(POLYNOMIALS, VALUES, VALUES)
def test_ranges(value: Polynomial, one: dict[Atom, int], two: dict[Atom, int]) -> None:
    ranges = {atom: (min(one[atom], two[atom]), max(one[atom], two[atom])) for atom in ATOMS}
    found = value.range(ranges)
    assert found is not None
    assert found[0] <= at(value, one) <= found[1]
    assert value.range({}) == (None if value.atoms else found)


def test_known_values() -> None:
    n = Polynomial.atom("argument", 0)
    assert (n - n + Polynomial.constant(5)).known == 5
    assert n.known is None
    assert Polynomial().known == 0
    assert (n * n).coefficient(ATOMS[0]) is None
    assert (n + Polynomial.constant(1)).atoms == {ATOMS[0]}
