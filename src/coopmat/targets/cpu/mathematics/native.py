"""The ``native_`` functions of floats: shorter polynomials, errors of 2**-18 or so, no care of what is rare.

Powers below 2**-126 are 0 or nearly so, logarithms of subnormal numbers and infinity are near -126 and 128, and sines
are those of numbers up to some thousands.
"""

from __future__ import annotations

import math

from coopmat.targets.cpu.mathematics.circular import less, signed
from coopmat.targets.cpu.mathematics.coefficients import OF
from coopmat.targets.cpu.mathematics.logarithms import exponent_and_fraction
from coopmat.targets.cpu.mathematics.parts import fused, kind_of, limited, nearest, polynomial
from coopmat.targets.llvm.terms import Formula, Term, choose

PARTS = 2  # of pi


def _exp2(x: Term) -> Term:
    kind = kind_of(x)
    x = limited(x, -127.0, 128.0)  # whose powers come out as 0 and infinity
    shifted = x + kind.magic
    found = polynomial(x - (shifted - kind.magic), OF[x.type]["NATIVE_EXP2"])
    return (found.bits + (shifted.bits << kind.fraction)).cast(kind.name)


def _log2(x: Term) -> Term:
    k, f, _ = exponent_and_fraction(x)
    found = fused(f, polynomial(f, OF[x.type]["NATIVE_LOG2"]), k)
    return choose(x > 0.0, found, choose(x.equals(0.0), x.constant(-math.inf), math.nan))


def _sine(r: Term) -> Term:
    z = r * r
    return fused(r * z, polynomial(z, OF[r.type]["NATIVE_SIN"]), r)


def _sin(x: Term) -> Term:
    k, shifted = nearest(x, OF[x.type]["INVERSE_PI"][0])
    return signed(_sine(less(x, k, parts=PARTS)), shifted)


def _cos(x: Term) -> Term:
    magic = kind_of(x).magic
    shifted = fused(x, OF[x.type]["INVERSE_PI"][0], -0.5) + magic
    half = (shifted - magic) + 0.5
    return signed(_sine(less(-x, -half, parts=PARTS)), shifted)


NATIVE: dict[str, Formula] = {
    "exp2": _exp2, "exp": lambda x: _exp2(x * math.log2(math.e)), "exp10": lambda x: _exp2(x * math.log2(10.0)),
    "log2": _log2, "log": lambda x: _log2(x) * math.log(2.0), "log10": lambda x: _log2(x) * math.log10(2.0),
    "powr": lambda x, y: _exp2(_log2(x) * y),
    "sin": _sin, "cos": _cos, "tan": lambda x: _sin(x) / _cos(x),
    "sqrt": lambda x: x.intrinsic("sqrt"), "rsqrt": lambda x: 1.0 / x.intrinsic("sqrt"),
}
"""By name, of floats."""
