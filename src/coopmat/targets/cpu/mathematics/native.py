"""The ``native_`` functions of floats: shorter polynomials, errors of 2**-17 or so, and sines only of numbers up to
some thousands.
"""

from __future__ import annotations

import math

from coopmat.targets.cpu.mathematics.circular import less, signed, tangent
from coopmat.targets.cpu.mathematics.coefficients import OF
from coopmat.targets.cpu.mathematics.exponentials import native_exp2
from coopmat.targets.cpu.mathematics.logarithms import NATIVE_BINARY, logarithm
from coopmat.targets.cpu.mathematics.parts import fused, kind_of, nearest, polynomial
from coopmat.targets.llvm.terms import Formula, Term

_log2 = logarithm("native_log2", NATIVE_BINARY, NATIVE_BINARY)
PARTS = 2  # of pi


def _sine(r: Term) -> Term:
    z = r * r
    return fused(r * z, polynomial(z, OF[r.type]["NATIVE_SIN"]), r)


def sin(x: Term, parts: int = PARTS) -> Term:
    """The sine; so many parts of pi are taken away."""
    k, shifted = nearest(x, OF[x.type]["INVERSE_PI"][0])
    return signed(_sine(less(x, k, parts=parts)), shifted)


def cos(x: Term, parts: int = PARTS) -> Term:
    """The cosine, in the same way."""
    magic = kind_of(x).magic
    shifted = fused(x, OF[x.type]["INVERSE_PI"][0], -0.5) + magic
    half = (shifted - magic) + 0.5
    return signed(_sine(less(-x, -half, parts=parts)), shifted)


NATIVE: dict[str, Formula] = {
    "exp2": native_exp2, "exp": lambda x: native_exp2(x * math.log2(math.e)),
    "exp10": lambda x: native_exp2(x * math.log2(10.0)),
    "log2": _log2, "log": lambda x: _log2(x) * math.log(2.0), "log10": lambda x: _log2(x) * math.log10(2.0),
    "powr": lambda x, y: native_exp2(_log2(x) * y),
    "sin": sin, "cos": cos, "tan": lambda x: tangent(x, PARTS),
    "sqrt": lambda x: x.intrinsic("sqrt"), "rsqrt": lambda x: 1.0 / x.intrinsic("sqrt"),
}
"""By name, of floats."""
