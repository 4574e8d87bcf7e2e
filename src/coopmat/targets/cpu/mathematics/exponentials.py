"""exp, exp2, exp10, expm1, sinh, cosh and tanh of floats and doubles.

x is k log(2) + r, with a whole number k and a small r of which a polynomial makes the power; 2**k goes into the
exponent. For exp, exp2 and exp10 of floats k is a multiple of 1/16, and powers of two of these are looked up. Numbers
beyond the range are brought to where the result is infinite or 0 anyway; with AVX-512 what is left of them is.
"""

from __future__ import annotations

from collections.abc import Sequence

from coopmat.targets.cpu.mathematics.coefficients import OF
from coopmat.targets.cpu.mathematics.parts import (
    at_most,
    fused,
    kind_of,
    limited,
    nearest,
    polynomial,
    power_of_two,
)
from coopmat.targets.cpu.mathematics.vectors import (
    ENTRIES,
    has_avx512,
    less_sixteenths,
    looked_up,
    no_larger,
    scaled,
)
from coopmat.targets.llvm.terms import Formula, Term

LIMITS = {
    "exp": {"float": (-104.5, 89.0), "double": (-746.0, 710.0)},
    "exp2": {"float": (-151.0, 129.0), "double": (-1076.0, 1025.0)},
    "exp10": {"float": (-45.5, 38.6), "double": (-324.5, 308.6)},
    "expm1": {"float": (-18.0, 89.0), "double": (-38.0, 710.0)},
    "sinh": {"float": (0.0, 89.5), "double": (0.0, 710.6)},
    "tanh": {"double": (-20.0, 20.0)},
}
"""Where results are infinite, 0, or what they tend to, when rounded."""

TANH_STEP = 19 / 32  # from the middle of an interval to that of the next one
TANH_IS_ONE = 9.1
SMALL = 0.1  # what is left of a number is less


def _reduced(x: Term) -> tuple[Term, Term, Term]:
    """k, a number that holds it in its lowest bits, and r such that x is k log(2) + r."""
    table = OF[x.type]
    k, shifted = nearest(x, table["LOG2_E"][0])
    return k, shifted, _less(x, k, table["LN2"])


def _less(x: Term, k: Term, parts: Sequence[float]) -> Term:
    """x - k times the sum of two numbers."""
    high, low = parts
    return fused(k, -low, fused(k, -high, x))


def power_of_base(k: Term, shifted: Term, r: Term, fit: str) -> Term:
    """Of floats: 2**k, a multiple of 1/16 that stands in the lowest bits of ``shifted``, times what a polynomial makes
    of r."""
    table = OF[r.type]
    power = looked_up(shifted.bits, table["POWERS_OF_TWO"])
    return scaled(fused(power, r * polynomial(r, table[fit]), power), k)


def _exp2(x: Term, fit: str = "EXP2") -> Term:
    if has_avx512(x):  # what is beyond the range is no matter, as long as there is no infinity less another
        r = less_sixteenths(x)
        return power_of_base(x - r, x + kind_of(x).magic / ENTRIES, r, fit)
    x = limited(x, *LIMITS["exp2"][x.type])
    k, shifted = nearest(x, 1.0, ENTRIES)
    return power_of_base(k, shifted, x - k, fit)


def number_and_exponent(x: Term, rest: Term) -> tuple[Term, Term]:
    """2 to the power of the sum of two doubles, of which the second one is small or does not matter: a number near 1,
    and the exponent of its factor."""
    k, _ = nearest(x, 1.0)
    r = (x - k) + limited(rest, -SMALL, SMALL)
    return fused(r, polynomial(r, OF[x.type]["EXP2M1"]), 1.0), k


def power_of_sum(x: Term, rest: Term) -> Term:
    """2 to the power of the sum of two numbers, of which the second one is small or does not matter."""
    if x.type == "double":
        return scaled(*number_and_exponent(limited(x, *LIMITS["exp2"][x.type]), rest))
    if has_avx512(x, rest):
        r = less_sixteenths(x)
        return power_of_base(x - r, x + kind_of(x).magic / ENTRIES, no_larger(r + rest, SMALL), "EXP2")
    x = limited(x, *LIMITS["exp2"][x.type])
    k, shifted = nearest(x, 1.0, ENTRIES)
    return power_of_base(k, shifted, (x - k) + limited(rest, -SMALL, SMALL), "EXP2")


def native_exp2(x: Term) -> Term:
    """Of floats, by a shorter polynomial."""
    return _exp2(x, "NATIVE_EXP2")


def _power(name: str, factor: str, parts: str, fit: str) -> Formula:
    """A power of a constant base: ``factor``, its binary logarithm; ``parts``: those of the reciprocal."""

    def formula(x: Term) -> Term:
        table = OF[x.type]
        if has_avx512(x):
            k, shifted = nearest(x, table[factor][0], ENTRIES)
            return power_of_base(k, shifted, no_larger(_less(x, k, table[parts]), SMALL), fit)
        x = limited(x, *LIMITS[name][x.type])
        k, shifted = nearest(x, table[factor][0], ENTRIES)
        return power_of_base(k, shifted, _less(x, k, table[parts]), fit)

    return lambda x: formula(x) if x.type == "float" else _wide_power(limited(x, *LIMITS[name][x.type]), name)


def _wide_power(x: Term, name: str) -> Term:
    """Of doubles."""
    table = OF[x.type]
    if name == "exp2":
        k, _ = nearest(x, 1.0)
        r = x - k
    else:
        k, _ = nearest(x, table["LOG2_E" if name == "exp" else "LOG2_10"][0])
        r = _less(x, k, table["LN2" if name == "exp" else "LOG10_2"])
    fit = {"exp": "EXPM1", "exp2": "EXP2M1", "exp10": "EXP10M1"}[name]
    return scaled(fused(r, polynomial(r, table[fit]), 1.0), k)


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
    quarter = kind.bias - 2
    exponent = (shifted.bits + quarter) << kind.fraction
    below = exponent.constant(2 * quarter << kind.fraction) - exponent  # negative where 2**-k does not count any more
    up, down = exponent.cast(kind.name), below.intrinsic("smax", 0).cast(kind.name)
    return sinh, cosh, up - down, up + down


def powers_up_and_down(a: Term) -> tuple[Term, Term, Term]:
    """Of floats within limits: half of 2**k, half of 2**-k, and r such that a is k log(2) + r, with k a multiple
    of 1/16."""
    table = OF[a.type]
    k, shifted = nearest(a, table["LOG2_E"][0], ENTRIES)
    r = fused(k, -table["LN2"][0], a)
    powers = table["POWERS_OF_TWO"]
    up = scaled(looked_up(shifted.bits, powers), k - 1.0)
    down = scaled(looked_up(shifted.bits.constant(0) - shifted.bits, powers), -1.0 - k)
    return up, down, r


def tabulated_tanh(x: Term, fit: str, terms: int) -> Term:
    """Of |x|, a float: |x| times a polynomial of what is left to the middle of one of 16 intervals."""
    a = at_most(x.magnitude, TANH_IS_ONE)
    k, shifted = nearest(a, 1 / TANH_STEP)
    t = fused(k, -TANH_STEP, a)
    columns = [looked_up(shifted.bits, OF[x.type][f"{fit}_{power}"]) for power in range(terms)]
    found = columns.pop()
    for column in reversed(columns):
        found = fused(found, t, column)
    return found * a


def sinh(x: Term) -> Term:
    """(exp(x) - exp(-x)) / 2."""
    s, c, minus, plus = _halves(x)
    return (fused(minus, c, plus * s) * 2.0).with_sign(x)


def cosh(x: Term) -> Term:
    """(exp(x) + exp(-x)) / 2."""
    s, c, minus, plus = _halves(x)
    return fused(plus, c, minus * s) * 2.0


def tanh(x: Term) -> Term:
    """Of floats from tables, of doubles (exp(2 x) - 1) / (exp(2 x) + 1)."""
    if x.type == "float":
        return tabulated_tanh(x, "TANH", 7).with_sign(x)  # never above 1 with these coefficients
    x = limited(x, *LIMITS["tanh"][x.type])
    found = expm1(x + x)
    return found / (found + 2.0)


EXPONENTIALS: dict[str, Formula] = {
    "exp": _power("exp", "LOG2_E", "LN2", "EXP"), "exp10": _power("exp10", "LOG2_10", "LOG10_2", "EXP10"),
    "exp2": lambda x: _exp2(x) if x.type == "float" else _wide_power(limited(x, *LIMITS["exp2"][x.type]), "exp2"),
    "expm1": expm1, "sinh": sinh, "cosh": cosh, "tanh": tanh,
}
"""By name, of floats and of doubles."""
