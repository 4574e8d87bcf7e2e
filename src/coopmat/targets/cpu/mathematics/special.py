"""erf, erfc and the gamma functions of floats and doubles."""

from __future__ import annotations

import math

from coopmat.targets.cpu.mathematics.circular import CIRCULAR
from coopmat.targets.cpu.mathematics.coefficients import OF
from coopmat.targets.cpu.mathematics.exponentials import EXPONENTIALS, number_and_exponent
from coopmat.targets.cpu.mathematics.logarithms import LOGARITHMS
from coopmat.targets.cpu.mathematics.parts import at_most, fused, limited, polynomial
from coopmat.targets.cpu.mathematics.powers import binary_logarithm
from coopmat.targets.cpu.mathematics.vectors import scaled
from coopmat.targets.llvm.instructions.opencl.real import is_odd
from coopmat.targets.llvm.terms import Formula, Term, choose

ERF_IS_ONE = 3.93
ERFC_IS_ZERO = {"float": 10.5, "double": 28.0}


def erf(x: Term) -> Term:
    """Of floats a quotient of polynomials, up to where erf rounds to 1; of doubles a polynomial up to 1, then erfc."""
    table = OF[x.type]
    if x.type == "double":
        a = x.magnitude
        return choose(a < 1.0, a * polynomial(a * a, table["ERF"]), 1.0 - _far(a)).with_sign(x)
    x = limited(x, -ERF_IS_ONE, ERF_IS_ONE)
    z = x * x
    found = x * polynomial(z, table["ERF_QUOTIENT_ABOVE"]) / polynomial(z, table["ERF_QUOTIENT_BELOW"])
    return limited(found, -1.0, 1.0)


def _far(a: Term) -> Term:
    """erfc of a number of 1/2 or more: exp(-a²) P((a - 2) / (a + 2)) / (1 + 2 a), by one division."""
    a = at_most(a, ERFC_IS_ZERO[a.type])
    z = a * a
    power = EXPONENTIALS["exp"](-z)
    power = fused(power, -fused(a, a, -z), power)
    above, below = a + 2.0, fused(a, 2.0, 1.0)
    inverse = 1.0 / (above * below)
    t = (a - 2.0) * (below * inverse)
    return power * (polynomial(t, OF[a.type]["ERFC"]) * (above * inverse))


def erfc(x: Term) -> Term:
    """1 - erf(x), near 0 by a polynomial of erf."""
    a = x.magnitude
    near = fused(-x, polynomial(x * x, OF[x.type]["ERF"]), 1.0)
    far = _far(a)
    return choose(a < 0.5, near, choose(x < 0.0, 2.0 - far, far))


# --------------------------------------------------------------------------------------
# Gamma functions: those of floats are computed in double
# --------------------------------------------------------------------------------------

RAISED = {"float": 8, "double": 16}  # from where on Stirling's series is right
LARGEST = {"float": 50.0, "double": 200.0}  # whose gamma is infinite
TINY = 2.0**-58  # whose gamma is the reciprocal
ROOT_OF_2_PI, LOG_OF_ROOT = math.sqrt(2 * math.pi), math.log(2 * math.pi) / 2


def _stirling(x: Term) -> Term:
    """The logarithm of the factor beside the powers."""
    inverse = 1.0 / x
    return inverse * polynomial(inverse * inverse, OF[x.type]["STIRLING"])


def _raised(x: Term, least: int) -> tuple[Term, Term, Term]:
    """A number of at least so much, a whole number above x; what it lost; and the product of x and those between."""
    product, above = x.constant(1.0), x.constant(0.0)
    for _ in range(least):
        one = x + above
        is_small = one < float(least)
        product = choose(is_small, product * one, product)
        above = choose(is_small, above + 1.0, above)
    large = x + above
    return large, x - (large - above), product


def _gamma_parts(x: Term, single: str) -> tuple[Term, Term]:
    """gamma of a positive double as a number and the exponent of its factor: √(2 pi) y**(y - 1/2) exp(-y) and
    Stirling's factor, of a larger y, over the numbers between."""
    y, lost, product = _raised(x, RAISED[single])
    log, rest = binary_logarithm(y) if single == "double" else (LOGARITHMS["log2"](y), y.constant(0.0))
    high, low = OF[x.type]["LOG2_E"]
    factor = y - 0.5
    up, down = factor * log, y * high
    up_lost = fused(factor, log, -up) + factor * rest
    down_lost = fused(y, high, -down) + y * low
    total = up - down
    part = total - up
    rest = (up - (total - part)) + (-down - part) + (up_lost - down_lost)
    found, exponent = number_and_exponent(total, rest)
    series = _stirling(y) + lost * fused(log, math.log(2), -0.5 / y)
    found = found * ROOT_OF_2_PI
    return fused(found, EXPONENTIALS["expm1"](series), found) / product, exponent


def _wide_gamma(x: Term, single: str) -> Term:
    """gamma; below zero by that of -x and the sine. single: the type whose bounds are kept."""
    a = x.magnitude
    found, exponent = _gamma_parts(at_most(a, LARGEST[single]), single)
    below = scaled((math.pi / (a * CIRCULAR["sinpi"](x).magnitude)) / found, -exponent)
    below = choose(is_odd(x.intrinsic("floor")), -below, below)
    found = choose(a < TINY, 1.0 / x, choose(x < 0.0, below, scaled(found, exponent)))
    found = choose(x.equals(math.inf), x, found)
    return choose(((x < 0.0) & x.intrinsic("floor").equals(x)) | x.is_nan, math.nan, found)


def _lowered(x: Term, most: int) -> tuple[Term, Term]:
    """Of a number below ``most``, one not above 5/2, a whole number below x, and the product of those between."""
    product = x.constant(1.0)
    for _ in range(most - 2):
        is_large = x > 2.5
        x = choose(is_large, x - 1.0, x)
        product = choose(is_large, product * x, product)
    return x, product


def _log_of_positive(x: Term, single: str) -> Term:
    """log(gamma(x)) of a positive double: by Stirling's series; of smaller numbers by a polynomial around 2 and the
    logarithms of what has been multiplied or divided by. One of both logarithms is that of what there is."""
    log, log1p = LOGARITHMS["log"], LOGARITHMS["log1p"]
    y, product = _lowered(x, RAISED[single])
    is_far, is_low, is_high = x >= float(RAISED[single]), y < 0.5, y >= 1.5
    found = log(choose(is_far, x, choose(is_low, y, product)))
    far = fused(x - 0.5, found - 1.0, _stirling(x) + (LOG_OF_ROOT - 0.5))
    t = choose(is_high, y - 2.0, choose(is_low, y, y - 1.0))
    near = t * polynomial(t, OF[x.type]["LGAMMA"])
    near = choose(is_high, near + found, near - log1p(t) - choose(is_low, found, 0.0))
    return choose(is_far, far, near)


def _wide_log_gamma(x: Term, single: str) -> Term:
    """The logarithm of the magnitude of gamma."""
    a = x.magnitude
    found = _log_of_positive(a, single)
    below = LOGARITHMS["log"](math.pi / (a * CIRCULAR["sinpi"](x).magnitude)) - found
    below = choose(a < TINY, -LOGARITHMS["log"](a), below)
    found = choose(x < 0.0, choose(x.intrinsic("floor").equals(x), math.inf, below), found)
    return choose(x.equals(0.0) | x.is_infinite, math.inf, found)


def _in_double(formula: Formula) -> Formula:
    return lambda x: formula(x.to_float("double"), x.type).to_float(x.type)


SPECIAL: dict[str, Formula] = {
    "erf": erf, "erfc": erfc, "tgamma": _in_double(_wide_gamma), "lgamma": _in_double(_wide_log_gamma)}
"""By name, of floats and of doubles."""
