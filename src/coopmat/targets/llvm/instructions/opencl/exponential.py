"""exp, log and their relatives as polynomials of doubles: computed for all work-items at once.

The coefficients are those of the Taylor series, which the ranges make short. Errors are a few units in the last place
of a double: for results that are doubles themselves the C library's functions are better ones, and rounded to float or
to a narrower type both give the same number but once in some hundred millions.
"""

from __future__ import annotations

import math
from fractions import Fraction

from coopmat.targets.llvm.terms import Formula, Term, choose

DEGREE = 13  # of exp's polynomial: |r| is at most log(2) / 2
TERMS = 11  # of log's series: |s| is at most 3 - 2 sqrt(2)
MOST = 700.0  # the exp and exp2 of which, and of the negative, are out of the range of floats, but in that of doubles
ROUNDING = 1.5 * 2.0**52  # added to a whole number it leaves it in the lowest bits
FRACTION_BITS, ONE = 52, 1023 << 52  # of a double


def _split(value: Fraction, bits: int) -> tuple[float, float]:
    """A number as the sum of one of so few bits, so that products with it are exact, and what is left of it."""
    exponent = math.frexp(float(value))[1]
    high = Fraction(round(value * 2**(bits - exponent)), 1) / Fraction(2)**(bits - exponent)
    return float(high), float(value - high)


_LN2 = Fraction(0x162E42FEFA39EF35793C7673007E5ED5E81E6864CE5316C5B14, 1 << 201)
_LN10 = Fraction(0x24D763776AAA2B05BA95B58AE0B4C28A38A3FB3E76977E43A0F, 1 << 200)
LN2, LN10 = _split(_LN2, 40), _split(_LN10, 28)
LOG2_E, LOG2_10, LOG10_2, LOG10_E = (float(found) for found in (1 / _LN2, _LN10 / _LN2, _LN2 / _LN10, 1 / _LN10))


def _fused(a: Term, b: Term | float, c: Term | float) -> Term:
    """a * b + c, by one instruction where the processor has it."""
    return a.intrinsic("fmuladd", b, c)


def _polynomial(x: Term, coefficients: list[float]) -> Term:
    """A polynomial; the coefficient of the highest power comes first."""
    result = x.constant(coefficients[0])
    for one in coefficients[1:]:
        result = _fused(result, x, one)
    return result


def _limited(x: Term, most: float) -> Term:
    """A number of at most such a magnitude; a NaN stays one."""
    return choose(x < -most, -most, choose(x > most, most, x))


def _nearest(x: Term, factor: float) -> Term:
    """The whole number next to a product."""
    return _fused(x, factor, ROUNDING) - ROUNDING


def _power_of_two(exponent: Term) -> Term:
    """2 to the power of a whole number from -1022 to 1023."""
    return (((exponent + ROUNDING).bits << FRACTION_BITS) + ONE).cast("double")


def _minus_one(r: Term) -> Term:
    """exp(r) - 1, with a small relative error."""
    return r * _polynomial(r, [1 / math.factorial(n) for n in range(DEGREE, 0, -1)])


def _reduced(x: Term) -> tuple[Term, Term]:
    """A whole number k and r such that x is k log(2) + r."""
    k = _nearest(x, LOG2_E)
    return k, _fused(k, -LN2[1], _fused(k, -LN2[0], x))


def _exp(x: Term) -> Term:
    k, r = _reduced(_limited(x, MOST))
    return (_minus_one(r) + 1.0) * _power_of_two(k)


def _exp2(x: Term) -> Term:
    x = _limited(x, MOST)
    k = _nearest(x, 1.0)
    return (_minus_one((x - k) * float(_LN2)) + 1.0) * _power_of_two(k)


def _exp10(x: Term) -> Term:
    x = _limited(x, MOST / LN10[0])
    k = _nearest(x, LOG2_10)
    high = _fused(k, -LN2[0], x * LN10[0])
    low = _fused(k, -LN2[1], x * LN10[1])
    return (_minus_one(high + low) + 1.0) * _power_of_two(k)


def _expm1(x: Term) -> Term:
    k, r = _reduced(_limited(x, MOST / 2))
    scale = _power_of_two(k)
    return choose(x.equals(0.0), x, _fused(scale, _minus_one(r), scale - 1.0))


def _tanh(x: Term) -> Term:
    twice = _expm1(x * 2.0)
    return twice / (twice + 2.0)


def _sinh(x: Term) -> Term:
    found = _expm1(x.magnitude)
    return ((found + found / (found + 1.0)) * 0.5).with_sign(x)


def _cosh(x: Term) -> Term:
    found = _exp(_limited(x, MOST / 2))
    return (found + 1.0 / found) * 0.5


def _parts(x: Term) -> tuple[Term, Term]:
    """Of a positive number, no subnormal double, the exponent and the logarithm of the fraction, which is near 1."""
    bits = x.bits
    offset = bits.constant(0x3FE6A09E667F3BCD)  # the square root of 1/2
    above = bits - offset
    k = above.right(FRACTION_BITS, signed=True).of_integer("double")
    fraction = ((above & ((1 << FRACTION_BITS) - 1)) + offset).cast("double")
    f = fraction - 1.0
    s = f / (f + 2.0)
    series = _polynomial(s * s, [2 / (2 * n + 1) for n in range(TERMS - 1, -1, -1)])
    return k, s * series


def _of_positive(x: Term, result: Term) -> Term:
    """A logarithm, or what stands for that of zero, of an infinity, and of what has none."""
    result = choose(x.equals(math.inf), x, choose(x.equals(0.0), -math.inf, result))
    return choose((x < 0.0) | x.is_nan, math.nan, result)


def _log(x: Term) -> Term:
    k, log = _parts(x)
    return _of_positive(x, _fused(k, LN2[0], _fused(k, LN2[1], log)))


def _log2(x: Term) -> Term:
    k, log = _parts(x)
    return _of_positive(x, _fused(log, LOG2_E, k))


def _log10(x: Term) -> Term:
    k, log = _parts(x)
    return _of_positive(x, _fused(k, LOG10_2, log * LOG10_E))


def _log1p(x: Term) -> Term:
    whole = x + 1.0
    lost = x - (whole - 1.0)
    found = _log(whole) + choose(whole.equals(math.inf) | whole.equals(0.0), 0.0, lost / whole)
    return choose(x.equals(0.0), x, found)


EXPONENTIAL: dict[str, Formula] = {
    "exp": _exp, "exp2": _exp2, "exp10": _exp10, "expm1": _expm1, "tanh": _tanh, "sinh": _sinh, "cosh": _cosh,
    "log": _log, "log2": _log2, "log10": _log10, "log1p": _log1p,
}
"""Formulas of doubles, by name, for results that are floats or narrower."""

EXPONENTIAL |= {f"{prefix}_{name}": EXPONENTIAL[name] for prefix in ("half", "native")
                for name in ("exp", "exp2", "exp10", "log", "log2", "log10")}
