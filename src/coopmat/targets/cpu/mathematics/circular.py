"""sin, cos, tan, their inverses, and both by multiples of pi, of floats and doubles.

x is k pi + r, with a whole number k; pi is the sum of three numbers, so that r is exact enough where x is nearly a
multiple of pi. Beyond :data:`LIMIT` the C library finds r.
"""

from __future__ import annotations

import math

from coopmat.targets.cpu.mathematics.coefficients import OF
from coopmat.targets.cpu.mathematics.parts import fused, guarded, kind_of, nearest, polynomial
from coopmat.targets.llvm.instructions.opencl.real import is_odd, library, whole
from coopmat.targets.llvm.terms import Formula, Term, choose

LIMIT = {"float": 50000.0, "double": 1e9}


def in_library(name: str) -> Formula:
    """The C library's function of doubles, rounded to the type."""
    return lambda *terms: library(name)(*(
        term.to_float("double") if term.is_float else term for term in terms)).to_float(terms[0].type)


def less(x: Term, k: Term, factor: float = 1.0, parts: int = 3) -> Term:
    """x - k factor pi; ``factor`` is a power of two, pi the sum of so many numbers."""
    for part in OF[x.type]["PI"][:parts]:
        x = fused(k, -part * factor, x)
    return x


def _sine(r: Term) -> Term:
    """sin(r) for at most half of pi; a zero keeps its sign."""
    z = r * r
    return fused(r * z, polynomial(z, OF[r.type]["SIN"]), r).with_sign(r)


def signed(found: Term, shifted: Term) -> Term:
    """Negative if the number in the lowest bits is odd."""
    kind = kind_of(found)
    return (found.bits ^ (shifted.bits << (found.width - 1))).cast(kind.name)


def _sin(x: Term) -> Term:
    k, shifted = nearest(x, OF[x.type]["INVERSE_PI"][0])
    return signed(_sine(less(x, k)), shifted)


def _cos(x: Term) -> Term:
    """As the sine of what is left to the next odd multiple of half of pi."""
    magic = kind_of(x).magic
    shifted = fused(x, OF[x.type]["INVERSE_PI"][0], -0.5) + magic
    half = (shifted - magic) + 0.5
    return signed(_sine(less(-x, -half)), shifted)


def tangent(x: Term, parts: int = 3) -> Term:
    """The tangent of a float; pi is the sum of so many numbers."""
    k, shifted = nearest(x, 2 * OF[x.type]["INVERSE_PI"][0])
    r = less(x, k, 0.5, parts)
    z = r * r
    found = fused(r * z, polynomial(z, OF[x.type]["TAN"]), r)
    return choose((shifted.bits & 1).equals(0), found, -1.0 / found)


def _tan(x: Term) -> Term:
    return _sin(x) / _cos(x) if x.type == "double" else tangent(x)


def _guarded(name: str, usual: Formula) -> Formula:
    return lambda x: guarded(x.magnitude < LIMIT[x.type], usual(x), name, in_library(name), x)


# --------------------------------------------------------------------------------------
# Of multiples of pi
# --------------------------------------------------------------------------------------


def _sinpi(x: Term) -> Term:
    reduced = x - whole(x * 0.5) * 2.0  # in [-1, 1], exact
    folded = choose(reduced.magnitude > 0.5, (1.0 - reduced.magnitude).with_sign(reduced), reduced)
    return _sine(folded * math.pi).with_sign(choose(folded.equals(0.0), x, folded))


def _cospi(x: Term) -> Term:
    reduced = (x - whole(x * 0.5) * 2.0).magnitude
    return _sine((0.5 - reduced) * math.pi)


def _tanpi(x: Term) -> Term:
    reduced = x - whole(x)  # in [-0.5, 0.5]
    zero = choose(is_odd(whole(x)) ^ x.has_sign, x.constant(-0.0), 0.0)
    pole = choose(is_odd(x.intrinsic("floor")), x.constant(-math.inf), math.inf)
    quotient = _sine(reduced * math.pi) / _sine((0.5 - reduced.magnitude) * math.pi)
    return choose(reduced.equals(0.0), zero, choose(reduced.magnitude.equals(0.5), pole, quotient))


# --------------------------------------------------------------------------------------
# Inverses
# --------------------------------------------------------------------------------------


def _arctangent(t: Term) -> Term:
    """atan(t) from 0 to 1."""
    z = t * t
    return fused(t * z, polynomial(z, OF[t.type]["ATAN"]), t)


def atan(x: Term) -> Term:
    """The arctangent: of a number above 1 by that of its reciprocal."""
    a = x.magnitude
    above = a > 1.0
    found = _arctangent(choose(above, 1.0, a) / choose(above, a, 1.0))
    return choose(above, math.pi / 2 - found, found).with_sign(x)


def atan2(y: Term, x: Term) -> Term:
    """The angle of a point."""
    a, b = y.magnitude, x.magnitude
    steep = a > b
    above, below = choose(steep, b, a), choose(steep, a, b)
    same = choose(above.equals(0.0), above, 1.0)
    found = _arctangent(choose(above.equals(below), same, above / below))
    found = choose(steep, math.pi / 2 - found, found)
    found = choose(x.has_sign, math.pi - found, found).with_sign(y)
    return choose(x.is_nan | y.is_nan, math.nan, found)


def _half_arcsine(x: Term) -> tuple[Term, Term]:
    """Whether |x| is above 1/2; and asin(|x|), or there asin(√((1 - |x|) / 2))."""
    a = x.magnitude
    above = a > 0.5
    z = choose(above, fused(a, -0.5, 0.5), a * a)
    s = choose(above, z.intrinsic("sqrt"), a)
    return above, fused(s * z, polynomial(z, OF[x.type]["ASIN"]), s)


def asin(x: Term) -> Term:
    """The arcsine."""
    above, found = _half_arcsine(x)
    return choose(above, math.pi / 2 - (found + found), found).with_sign(x)


def acos(x: Term) -> Term:
    """The arccosine."""
    above, found = _half_arcsine(x)
    twice = found + found
    return choose(above, choose(x < 0.0, math.pi - twice, twice), math.pi / 2 - found.with_sign(x))


def _over_pi(formula: Formula) -> Formula:
    return lambda *terms: formula(*terms) * (1 / math.pi)


CIRCULAR: dict[str, Formula] = {
    "sin": _guarded("sin", _sin), "cos": _guarded("cos", _cos), "tan": _guarded("tan", _tan),
    "sinpi": _sinpi, "cospi": _cospi, "tanpi": _tanpi, "asin": asin, "acos": acos, "atan": atan, "atan2": atan2,
    "asinpi": _over_pi(asin), "acospi": _over_pi(acos), "atanpi": _over_pi(atan), "atan2pi": _over_pi(atan2),
}
"""By name, of floats and of doubles."""
