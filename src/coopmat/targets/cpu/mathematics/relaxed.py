"""Functions of floats with the errors that OpenCL C allows with -cl-unsafe-math-optimizations: 4,096 to 8,192 units in
the last place, and 2**-11 for sines.

Operands are normal numbers or 0, results finite. Reciprocals and roots are made of an approximation by the number's
bits, and a step or two of Newton's or a polynomial, without a division.
"""

from __future__ import annotations

import math

from coopmat.targets.cpu.mathematics.circular import less
from coopmat.targets.cpu.mathematics.coefficients import OF
from coopmat.targets.cpu.mathematics.exponentials import EXPONENTIALS, LIMITS, powers_up_and_down, tabulated_tanh
from coopmat.targets.cpu.mathematics.logarithms import LARGE, LOGARITHMS, Base, one_more
from coopmat.targets.cpu.mathematics.native import NATIVE, cos, sin
from coopmat.targets.cpu.mathematics.parts import at_most, fused, limited, nearest, polynomial, reciprocal
from coopmat.targets.cpu.mathematics.powers import cube_root_reciprocal
from coopmat.targets.cpu.mathematics.vectors import exponent_and_significand
from coopmat.targets.llvm.instructions.opencl.real import is_odd
from coopmat.targets.llvm.terms import Formula, Term, choose

PARTS = 2  # of pi
HALF_PARTS = 3
SMALL = 0.2  # up to where asinh(x) is x - x³/6
_RECIPROCAL_ROOT = 0x5F3759DF
"""Less half of a float's bits, those of an approximation of the reciprocal of its square root, to a thirtieth."""

def root(x: Term) -> Term:
    """The square root to 2**-15; of 0 some 1e-20."""
    found = (x.bits.constant(_RECIPROCAL_ROOT) - x.bits.right(1, signed=False)).cast(x.type)
    near = x * found
    return near * polynomial(near * found, OF[x.type]["RELAXED_ROOT"])


# --------------------------------------------------------------------------------------
# Circular functions
# --------------------------------------------------------------------------------------


def tan(x: Term, parts: int) -> Term:
    """The tangent; so many parts of pi are taken away."""
    k, shifted = nearest(x, 2 * OF[x.type]["INVERSE_PI"][0])
    r = less(x, k, 0.5, parts)
    z = r * r
    found = fused(r * z, polynomial(z, OF[x.type]["RELAXED_TAN"]), r)
    return choose((shifted.bits & 1).equals(0), found, -reciprocal(found))


def _atan(x: Term) -> Term:
    a = x.magnitude
    above = a > 1.0
    t = choose(above, -reciprocal(a), a)
    z = t * t
    found = fused(t * z, polynomial(z, OF[x.type]["RELAXED_ATAN"]), t)
    return (found + choose(above, found.constant(math.pi / 2), 0.0)).with_sign(x)


def _half_arcsine(x: Term) -> tuple[Term, Term]:
    """Whether |x| is above 1/2; and asin(|x|), or there asin(√((1 - |x|) / 2))."""
    a = x.magnitude
    above = a > 0.5
    z = choose(above, fused(a, -0.5, 0.5), a * a)
    s = choose(above, root(z), a)
    return above, fused(s * z, polynomial(z, OF[x.type]["RELAXED_ASIN"]), s)


def _asin(x: Term) -> Term:
    above, found = _half_arcsine(x)
    return choose(above, fused(found, -2.0, math.pi / 2), found).with_sign(x)


def _acos(x: Term) -> Term:
    above, found = _half_arcsine(x)
    twice = found + found
    return choose(above, choose(x < 0.0, math.pi - twice, twice), math.pi / 2 - found.with_sign(x))


# --------------------------------------------------------------------------------------
# Exponentials
# --------------------------------------------------------------------------------------


def _expm1(x: Term) -> Term:
    up, _, r = powers_up_and_down(limited(x, *LIMITS["expm1"][x.type]))
    return (fused(up, fused(r * 0.5, r, r), up - 0.5) * 2.0).with_sign(x)


def _sinh(x: Term) -> Term:
    up, down, r = powers_up_and_down(at_most(x.magnitude, LIMITS["sinh"][x.type][1]))
    z = r * r
    minus = up - down
    return fused(up + down, r, fused(z * 0.5, minus, minus)).with_sign(x)


def _cosh(x: Term) -> Term:
    up, down, r = powers_up_and_down(at_most(x.magnitude, LIMITS["sinh"][x.type][1]))
    plus = up + down
    return fused(up - down, r, fused(r * r * 0.5, plus, plus))


def _tanh(x: Term) -> Term:
    return at_most(tabulated_tanh(x, "RELAXED_TANH", 4), 1.0).with_sign(x)


# --------------------------------------------------------------------------------------
# Logarithms
# --------------------------------------------------------------------------------------

_NATURAL = Base("RELAXED_LOG", "LOG_OFFSET", "LN2")


def _log(x: Term) -> Term:
    return _NATURAL(*exponent_and_significand(x))


def _asinh(x: Term) -> Term:
    a, z = x.magnitude, x * x
    beside = choose(a > LARGE[x.type], a, root(z + 1.0))
    return choose(a < SMALL, fused(a * z, -1 / 6, a), _log(a + beside)).with_sign(x)


def _acosh(x: Term) -> Term:
    return _log(x + choose(x > LARGE[x.type], x, root(fused(x, x, -1.0))))


def _atanh(x: Term) -> Term:
    a = x.magnitude
    return (one_more(a * reciprocal(1.0 - a) * 2.0, _NATURAL) * 0.5).with_sign(x)


# --------------------------------------------------------------------------------------
# Powers
# --------------------------------------------------------------------------------------


def _powr(x: Term, y: Term) -> Term:
    return EXPONENTIALS["exp2"](LOGARITHMS["log2"](x) * y)


def _with_sign_of(found: Term, x: Term, odd: Term) -> Term:
    """The sign of a power of a negative number is that of the number if the exponent is odd."""
    sign = x.bits & -(1 << x.width - 1)
    return choose(odd, (found.bits | sign).cast(x.type), found)


def _pow(x: Term, y: Term) -> Term:
    return _with_sign_of(_powr(x.magnitude, y), x, is_odd(y))


def _pown(x: Term, n: Term) -> Term:
    return _with_sign_of(_powr(x.magnitude, n.of_integer(x.type)), x, (n & 1).differs(0))


def _rootn(x: Term, n: Term) -> Term:
    found = EXPONENTIALS["exp2"](LOGARITHMS["log2"](x.magnitude) / n.of_integer(x.type))
    return _with_sign_of(found, x, (n & 1).differs(0))


def _cbrt(x: Term) -> Term:
    a = x.magnitude
    root = cube_root_reciprocal(a, 1)
    return (a * root * root).with_sign(x)


FASTER: dict[str, Formula] = {
    **{name: NATIVE[name] for name in ("sin", "cos")}, "tan": lambda x: tan(x, PARTS),
    "atan": _atan, "asin": _asin, "acos": _acos,
    "expm1": _expm1, "sinh": _sinh, "cosh": _cosh, "tanh": _tanh,
    "log1p": lambda x: one_more(x, _NATURAL).with_sign(x), "asinh": _asinh, "acosh": _acosh, "atanh": _atanh,
    "pow": _pow, "powr": _powr, "pown": _pown, "rootn": _rootn, "cbrt": _cbrt,
}
"""By name, of floats; the others have no faster form."""
HALF: dict[str, Formula] = {"sin": lambda x: sin(x, HALF_PARTS), "cos": lambda x: cos(x, HALF_PARTS),
                            "tan": lambda x: tan(x, HALF_PARTS)}
"""The ``half_`` functions of floats that are not the full ones: of numbers up to 2**16."""
