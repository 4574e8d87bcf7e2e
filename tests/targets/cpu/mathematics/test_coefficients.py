"""The coefficients are those that tools/polynomials.py fits, and its fits are close enough."""

from __future__ import annotations

import pytest

from coopmat.targets.cpu.mathematics.coefficients import DOUBLE, SINGLE

pytest.importorskip("mpmath", reason="mpmath fits polynomials")

from tools import polynomials

HALF_UNIT = {"SINGLE": 2.0**-24, "DOUBLE": 2.0**-53}
TABLES = {"SINGLE": SINGLE, "DOUBLE": DOUBLE}
CASES = [(precision, name) for precision, fits in polynomials.FITS.items() for name in fits]


def given(precision: str, name: str) -> object:
    """The coefficients of the table."""
    table = TABLES[precision]
    if not polynomials.FITS[precision][name].below:
        return list(table[name])
    return list(table[f"{name}_ABOVE"]), list(table[f"{name}_BELOW"])


@pytest.mark.parametrize(("precision", "name"), CASES)
def test_errors_are_below_half_a_unit(precision: str, name: str) -> None:
    """Of native and relaxed functions below another bound."""
    limit = {"NATIVE": 2.0**-17, "RELAXED": 2.0**-11}.get(name.partition("_")[0], HALF_UNIT[precision])
    assert polynomials.error(polynomials.FITS[precision][name], given(precision, name)) < limit


@pytest.mark.parametrize(("precision", "name"), [
    case if case in (("SINGLE", "SIN"), ("SINGLE", "EXPM1"), ("DOUBLE", "SINH")) else
    pytest.param(*case, marks=pytest.mark.slow) for case in CASES])
def test_coefficients_are_reproduced(precision: str, name: str) -> None:
    fit, code = polynomials.FITS[precision][name], polynomials.CODES[precision]
    assert (polynomials.rational if fit.below else polynomials.polynomial)(fit, code) == given(precision, name)


@pytest.mark.parametrize("precision", TABLES)
def test_constants(precision: str) -> None:
    for name, constant in polynomials.CONSTANTS.items():
        assert TABLES[precision][name] == tuple(polynomials.split(*constant, polynomials.CODES[precision]))
