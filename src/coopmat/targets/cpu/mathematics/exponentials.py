"""exp, exp2, exp10, expm1, sinh, cosh and tanh of floats and doubles.

x is k log(2) + r, with a whole number k and a small r of which a polynomial makes the power; 2**k goes into the
exponent. Numbers beyond the range are brought to where the result is infinite or 0 anyway.
"""

from __future__ import annotations

from collections.abc import Callable

from coopmat.targets.cpu.mathematics.coefficients import OF
from coopmat.targets.cpu.mathematics.parts import (
    fused,
    kind_of,
    limited,
    nearest,
    polynomial,
    power_of_two,
    scaled,
)
from coopmat.targets.llvm.terms import Formula, Term

LIMITS = {
    "exp": {"float": (-104.5, 89.0), "double": (-746.0, 710.0)},
    "exp2": {"float": (-151.0, 129.0), "double": (-1076.0, 1025.0)},
    "exp10": {"float": (-45.5, 38.6), "double": (-324.5, 308.6)},
    "expm1": {"float": (-18.0, 89.0), "double": (-38.0, 710.0)},
    "sinh": {"float": (0.0, 89.5), "double": (0.0, 710.6)},
    "tanh": {"float": (-10.0, 10.0), "double": (-20.0, 20.0)},
}
"""Where results are infinite, 0, or what they tend to, when rounded."""

Reduction = Callable[[Term], tuple[Term, Term, Term]]


def _reduced(x: Term) -> tuple[Term, Term, Term]:
    """k, a number that holds it in its lowest bits, and r such that x is k log(2) + r."""
    table = OF[x.type]
    k, shifted = nearest(x, table["LOG2_E"][0])
    high, low = table["LN2"]
    return k, shifted, fused(k, -low, fused(k, -high, x))


def _reduced_2(x: Term) -> tuple[Term, Term, Term]:
    magic = kind_of(x).magic
    shifted = x + magic
    k = shifted - magic
    return k, shifted, x - k


def _reduced_10(x: Term) -> tuple[Term, Term, Term]:
    table = OF[x.type]
    k, shifted = nearest(x, table["LOG2_10"][0])
    high, low = table["LOG10_2"]
    return k, shifted, fused(k, -low, fused(k, -high, x))


def _power(name: str, reduction: Reduction, fit: str) -> Formula:
    """A power of a constant base."""

    def formula(x: Term) -> Term:
        k, _, r = reduction(limited(x, *LIMITS[name][x.type]))
        return scaled(fused(r, polynomial(r, OF[x.type][fit]), 1.0), k)

    return formula


def _minus_one(r: Term) -> Term:
    """exp(r) - 1 of a small r."""
    return fused(r * r, polynomial(r, OF[r.type]["EXPM1"][1:]), r)


def expm1(x: Term) -> Term:
    """exp(x) - 1. Half of it is computed, as 2**128 is no float."""
    _, shifted, r = _reduced(limited(x, *LIMITS["expm1"][x.type]))
    half = power_of_two(shifted, -1)
    return (fused(half, _minus_one(r), half - 0.5) * 2.0).with_sign(x)


def _halves(x: Term) -> tuple[Term, Term, Term, Term]:
    """Of |x|: sinh(r), cosh(r), and a quarter of 2**k - 2**-k and of 2**k + 2**-k, for sinh(k log(2) + r)."""
    kind = kind_of(x)
    _, shifted, r = _reduced(limited(x.magnitude, *LIMITS["sinh"][x.type]))
    z = r * r
    sinh = fused(r * z, polynomial(z, OF[x.type]["SINH"]), r)
    cosh = fused(z, polynomial(z, OF[x.type]["COSH"]), 1.0)
    whole = shifted.bits - kind.magic_bits
    up = ((whole + (kind.bias - 2)) << kind.fraction).cast(kind.name)
    small = whole.intrinsic("smin", kind.bias - 3)  # from where 2**-k does not count any more
    down = ((small.constant(kind.bias - 2) - small) << kind.fraction).cast(kind.name)
    return sinh, cosh, up - down, up + down


def sinh(x: Term) -> Term:
    """(exp(x) - exp(-x)) / 2."""
    s, c, minus, plus = _halves(x)
    return (fused(minus, c, plus * s) * 2.0).with_sign(x)


def cosh(x: Term) -> Term:
    """(exp(x) + exp(-x)) / 2."""
    s, c, minus, plus = _halves(x)
    return fused(plus, c, minus * s) * 2.0


def tanh(x: Term) -> Term:
    """(exp(2 x) - 1) / (exp(2 x) + 1)."""
    x = limited(x, *LIMITS["tanh"][x.type])
    found = expm1(x + x)
    return found / (found + 2.0)


EXPONENTIALS: dict[str, Formula] = {
    "exp": _power("exp", _reduced, "EXPM1"), "exp2": _power("exp2", _reduced_2, "EXP2M1"),
    "exp10": _power("exp10", _reduced_10, "EXP10M1"), "expm1": expm1, "sinh": sinh, "cosh": cosh, "tanh": tanh,
}
"""By name, of floats and of doubles."""
