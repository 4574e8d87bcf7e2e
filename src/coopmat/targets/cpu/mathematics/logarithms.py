"""log, log2, log10, log1p and the inverse hyperbolic functions of floats and doubles.

A double is 2**k (1 + f), with 1 + f from √½ to √2, and its logarithm k log(2) + log(1 + f). A float is 2**k m, with m
from 1 to 2; a table has numbers c near 1/m, exactly 1 and 1/2 at the ends, so that the logarithm is
k log(2) - log(c) + log(1 + f) with f = c m - 1. What is no positive normal number is computed where there is one.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from coopmat.targets.cpu.mathematics.coefficients import OF
from coopmat.targets.cpu.mathematics.parts import fused, guarded, kind_of, polynomial
from coopmat.targets.cpu.mathematics.vectors import ENTRIES, exponent_and_significand, has_avx512, looked_up
from coopmat.targets.llvm.terms import Formula, Term, choose

ROOT = 0x3FE6A09E667F3BCD
"""The bits of √½ as a double."""
SUBNORMAL = 64  # by which power of two subnormal numbers are made normal ones
LARGE = {"float": 1e9, "double": 1e17}  # whose squares are far greater than 1


def exponent_and_fraction(x: Term) -> tuple[Term, Term, Term]:
    """k, f and the exponent's bits of a positive normal double."""
    kind = kind_of(x)
    above = x.bits - ROOT
    k = above.right(kind.fraction, signed=True).of_integer(x.type)
    mask = (1 << kind.fraction) - 1
    fraction = ((above & mask) + ROOT).cast(x.type)
    return k, fraction - 1.0, above & ~mask


Combination = Callable[[Term, Term], Term]
"""Of k, and of m of floats, f of doubles."""


@dataclass(frozen=True)
class Base:
    """The logarithm to a base of floats: names of the coefficients of log(1 + f), of the table of what has been divided
    by, and of log(2), which is 1 if there is none."""

    fit: str
    offsets: str
    two: str = ""

    def __call__(self, k: Term, m: Term) -> Term:
        """The logarithm of 2**k m."""
        f, index, _ = fraction(m)
        return self.of_fraction(k, f, index)

    def of_fraction(self, k: Term, f: Term, index: Term) -> Term:
        """That of 2**k (1 + f) / c, where c is a table's number."""
        table = OF[f.type]
        offset = looked_up(index, table[self.offsets])
        whole = fused(k, table[self.two][0], offset) if self.two else k + offset
        return fused(f, polynomial(f, table[self.fit]), whole)


NATURAL = Base("LOG", "LOG_OFFSET", "LN2")
BINARY = Base("LOG2", "LOG2_OFFSET")
DECIMAL = Base("LOG10", "LOG10_OFFSET", "LOG10_2")
NATIVE_BINARY = Base("NATIVE_LOG2", "LOG2_OFFSET")


def table_index(m: Term) -> Term:
    """The place in tables, in the lowest bits, of a number from 1 to 2."""
    return m.bits.right(kind_of(m).fraction - (ENTRIES - 1).bit_length(), signed=False)


def fraction(m: Term) -> tuple[Term, Term, Term]:
    """c m - 1 of a number from 1 to 2, where it is from -1/32 to 1/16; the index of c in tables; and c."""
    index = table_index(m)
    inverse = looked_up(index, OF[m.type]["INVERSE"])
    return fused(m, inverse, -1.0), index, inverse


def _of_one_and(f: Term) -> Term:
    """log(1 + f) of a double."""
    s = f / (f + 2.0)
    z = s * s
    return f - s * (f - z * polynomial(z, OF[f.type]["LOG_SERIES"]))


def _natural(k: Term, f: Term) -> Term:
    high, low = OF[f.type]["LN2"]
    return fused(k, high, fused(k, low, _of_one_and(f)))


def _binary(k: Term, f: Term) -> Term:
    high, low = OF[f.type]["LOG2_E"]
    log = _of_one_and(f)
    return fused(log, high, k) + log * low


def _decimal(k: Term, f: Term) -> Term:
    table = OF[f.type]
    high, low = table["LOG10_2"]
    log = _of_one_and(f)
    return fused(k, high, fused(log, table["LOG10_E"][0], fused(log, table["LOG10_E"][1], k * low)))


def is_usual(x: Term, unless: int = 0) -> Term:
    """Whether it is a positive normal number; ``unless``: of one of the largest so many exponents."""
    kind = kind_of(x)
    least = 1 << kind.fraction
    return (x.bits - least).compare("ult", (2 * kind.bias - unless) << kind.fraction)


def logarithm(name: str, single: Combination, wide: Combination) -> Formula:
    """A logarithm; with AVX-512 that of floats is right for all of them."""

    def of(x: Term, lost: Term | float = 0.0) -> Term:
        if x.type == "float":
            k, m = exponent_and_significand(x)
            return single(k - lost, m)
        k, f, _ = exponent_and_fraction(x)
        return wide(k - lost, f)

    def rare(x: Term) -> Term:
        small = x < 2.0 ** (1 - kind_of(x).bias)
        found = of(choose(small, x * 2.0**SUBNORMAL, x), choose(small, x.constant(SUBNORMAL), 0.0))
        return _special(x, found)

    return lambda x: (
        of(x) if x.type == "float" and has_avx512(x) else guarded(is_usual(x), of(x), name, rare, x))


def _special(x: Term, found: Term) -> Term:
    """A logarithm, or what stands for that of zero, of an infinity, and of what has none."""
    found = choose(x.equals(math.inf), x, choose(x.equals(0.0), -math.inf, found))
    return choose((x < 0.0) | x.is_nan, math.nan, found)


def log1p(x: Term) -> Term:
    """log(1 + x): what the sum loses is added to the fraction."""

    def rare(x: Term) -> Term:
        none = choose(x.equals(-1.0), x.constant(-math.inf), math.nan)
        return choose(x.equals(math.inf), x, choose(x > 0.0, LOGARITHMS["log"](x), none))

    return guarded(is_usual(x + 1.0, unless=4), _log1p(x), "log1p", rare, x)


def one_more(x: Term, base: Base = NATURAL) -> Term:
    """The logarithm of 1 + x, of floats."""
    kind, total = kind_of(x), x + 1.0
    lost = x - (total - 1.0)
    exponent = total.bits & ~((1 << kind.fraction) - 1)
    k, m = exponent_and_significand(total)
    f, index, inverse = fraction(m)
    factor = (exponent.constant(2 * kind.bias << kind.fraction) - exponent).cast(x.type) * inverse
    return base.of_fraction(k, fused(lost, factor, f), index)


def _log1p(x: Term) -> Term:
    if x.type == "float":
        return one_more(x).with_sign(x)
    kind, total = kind_of(x), x + 1.0
    lost = x - (total - 1.0)
    k, f, exponent = exponent_and_fraction(total)
    factor = (exponent.constant(kind.bias << kind.fraction) - exponent).cast(x.type)
    return _natural(k, fused(lost, factor, f)).with_sign(x)


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
    "log": logarithm("log", NATURAL, _natural), "log2": logarithm("log2", BINARY, _binary),
    "log10": logarithm("log10", DECIMAL, _decimal),
    "log1p": log1p, "asinh": asinh, "acosh": acosh, "atanh": atanh,
}
"""By name, of floats and of doubles."""
