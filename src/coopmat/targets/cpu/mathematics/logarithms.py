"""log, log2, log10, log1p and the inverse hyperbolic functions of floats and doubles.

A number is 2**k (1 + f), with 1 + f from √½ to √2, and its logarithm k log(2) + log(1 + f). What is no positive normal
number is computed where there is one.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from coopmat.targets.cpu.mathematics.coefficients import OF
from coopmat.targets.cpu.mathematics.parts import fused, guarded, kind_of, polynomial
from coopmat.targets.llvm.terms import Formula, Term, choose

ROOT = {"float": 0x3F3504F3, "double": 0x3FE6A09E667F3BCD}
"""The bits of √½."""
SUBNORMAL = 64  # by which power of two subnormal numbers are made normal ones
LARGE = {"float": 1e9, "double": 1e17}  # whose squares are far greater than 1


def exponent_and_fraction(x: Term) -> tuple[Term, Term, Term]:
    """k, f and the exponent's bits of a positive normal number."""
    kind = kind_of(x)
    above = x.bits - ROOT[x.type]
    k = above.right(kind.fraction, signed=True).of_integer(x.type)
    mask = (1 << kind.fraction) - 1
    fraction = ((above & mask) + ROOT[x.type]).cast(x.type)
    return k, fraction - 1.0, above & ~mask


def _of_one_and(f: Term) -> Term:
    """log(1 + f)."""
    table = OF[f.type]
    if f.type == "float":
        return fused(f * f, polynomial(f, table["LOG"][1:]), f)
    s = f / (f + 2.0)
    z = s * s
    return f - s * (f - z * polynomial(z, table["LOG_SERIES"]))


Combination = Callable[[Term, Term], Term]


def _natural(k: Term, f: Term) -> Term:
    high, low = OF[f.type]["LN2"]
    log = _of_one_and(f)
    return fused(k, high, log if f.type == "float" else fused(k, low, log))  # the float's error is 2**-28 of it


def _binary(k: Term, f: Term) -> Term:
    table = OF[f.type]
    if f.type == "float":
        return fused(f, polynomial(f, table["LOG2"]), k)
    high, low = table["LOG2_E"]
    log = _of_one_and(f)
    return fused(log, high, k) + log * low


def _decimal(k: Term, f: Term) -> Term:
    table = OF[f.type]
    high, low = table["LOG10_2"]
    if f.type == "float":
        return fused(k, high, fused(k, low, f * polynomial(f, table["LOG10"])))
    log = _of_one_and(f)
    return fused(k, high, fused(log, table["LOG10_E"][0], fused(log, table["LOG10_E"][1], k * low)))


def is_usual(x: Term, unless: int = 0) -> Term:
    """Whether it is a positive normal number; ``unless``: of one of the largest so many exponents."""
    kind = kind_of(x)
    least = 1 << kind.fraction
    return (x.bits - least).compare("ult", (2 * kind.bias - unless) << kind.fraction)


def _logarithm(name: str, combine: Combination) -> Formula:
    def usual(x: Term) -> Term:
        return combine(*exponent_and_fraction(x)[:2])

    def rare(x: Term) -> Term:
        small = x < 2.0 ** (1 - kind_of(x).bias)
        k, f, _ = exponent_and_fraction(choose(small, x * 2.0**SUBNORMAL, x))
        return _special(x, combine(choose(small, k - float(SUBNORMAL), k), f))

    return lambda x: guarded(is_usual(x), usual(x), name, rare, x)


def _special(x: Term, found: Term) -> Term:
    """A logarithm, or what stands for that of zero, of an infinity, and of what has none."""
    found = choose(x.equals(math.inf), x, choose(x.equals(0.0), -math.inf, found))
    return choose((x < 0.0) | x.is_nan, math.nan, found)


def log1p(x: Term) -> Term:
    """log(1 + x): what the sum loses is added to the fraction."""

    def rare(x: Term) -> Term:
        large = _natural(*exponent_and_fraction(x)[:2])
        none = choose(x.equals(-1.0), x.constant(-math.inf), math.nan)
        return choose(x.equals(math.inf), x, choose(x > 0.0, large, none))

    return guarded(is_usual(x + 1.0, unless=4), _log1p(x), "log1p", rare, x)


def _log1p(x: Term) -> Term:
    kind, total = kind_of(x), x + 1.0
    k, f, exponent = exponent_and_fraction(total)
    inverse = (exponent.constant(kind.bias << kind.fraction) - exponent).cast(x.type)
    return _natural(k, fused(x - (total - 1.0), inverse, f)).with_sign(x)


def asinh(x: Term) -> Term:
    """log(|x| + √(x² + 1)), with the sign."""
    a = x.magnitude
    square = a * a
    return _twice(a, a + square / ((square + 1.0).intrinsic("sqrt") + 1.0)).with_sign(x)


def acosh(x: Term) -> Term:
    """log(x + √(x² - 1)); there is none below 1."""
    t = x - 1.0
    return choose(x < 1.0, math.nan, _twice(x, t + fused(t, t, t + t).intrinsic("sqrt")))


def _twice(a: Term, less_one: Term) -> Term:
    """log(1 + less_one), or, of a large number, log(2 a)."""
    large = a > LARGE[a.type]
    return log1p(choose(large, a, less_one)) + choose(large, a.constant(math.log(2)), 0.0)


def atanh(x: Term) -> Term:
    """Half of log((1 + x) / (1 - x))."""
    a = x.magnitude
    found = log1p((a + a) / (1.0 - a)) * 0.5
    return choose(a > 1.0, math.nan, found).with_sign(x)


LOGARITHMS: dict[str, Formula] = {
    "log": _logarithm("log", _natural), "log2": _logarithm("log2", _binary), "log10": _logarithm("log10", _decimal),
    "log1p": log1p, "asinh": asinh, "acosh": acosh, "atanh": atanh,
}
"""By name, of floats and of doubles."""
