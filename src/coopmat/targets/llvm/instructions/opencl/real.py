"""The functions of real numbers of OpenCL.std: computed in double, and rounded once to the type of the result.

What double has no instruction for is the C library's function. Results are those of the simulator, which takes numpy's,
up to the last bits of such a function's result in double.
"""

from __future__ import annotations

import math

from coopmat.targets.llvm.terms import Formula, Term, choose


def library(name: str) -> Formula:
    """A function of the C library in double; operands that are integers are C's ``int``."""

    def formula(*terms: Term) -> Term:
        numbers = terms[0].emitter
        return Term(numbers, numbers.library(name, [term.number for term in terms]))

    return formula


SINE, TANGENT, POWER = library("sin"), library("tan"), library("pow")


def whole(value: Term) -> Term:
    """The nearest whole number, ties to even."""
    return value.intrinsic("rint")


def is_odd(value: Term) -> Term:
    """Whether a whole number is odd; an infinity and a NaN count as such."""
    half = value * 0.5
    return (half - half.intrinsic("floor")).differs(0.0)


def _sine_of_pi(value: Term) -> Term:
    reduced = value - whole(value * 0.5) * 2.0  # in [-1, 1], exact
    folded = choose(reduced.magnitude > 0.5, (1.0 - reduced.magnitude).with_sign(reduced), reduced)
    return SINE(folded * math.pi).with_sign(choose(folded.equals(0.0), value, folded))


def _cosine_of_pi(value: Term) -> Term:
    reduced = (value - whole(value * 0.5) * 2.0).magnitude
    return SINE((0.5 - reduced) * math.pi)


def _tangent_of_pi(value: Term) -> Term:
    reduced = value - whole(value)  # in [-0.5, 0.5]
    zero = choose(is_odd(whole(value)) ^ value.has_sign, value.constant(-0.0), 0.0)
    pole = choose(is_odd(value.intrinsic("floor")), value.constant(-math.inf), math.inf)
    steep = reduced.magnitude > 0.25  # there a rounded product with pi would be far off
    slope = TANGENT(choose(steep, value.constant(0.5).with_sign(reduced) - reduced, reduced) * math.pi)
    tangent = choose(steep, 1.0 / slope, slope)
    return choose(reduced.equals(0.0), zero, choose(reduced.magnitude.equals(0.5), pole, tangent))


def _power_of_positive(base: Term, power: Term) -> Term:
    """``powr``: defined as exp(power * log(base)), so with fewer special values than ``pow``."""
    undefined = (base < 0.0) | ((base.equals(0.0) | base.is_infinite) & power.equals(0.0))
    undefined = undefined | (base.equals(1.0) & power.is_infinite) | base.is_nan | power.is_nan
    return choose(undefined, math.nan, POWER(base.magnitude, power))


def _root(value: Term, degree: Term) -> Term:
    """``rootn``."""
    odd = (degree & 1).differs(0)
    root = POWER(value.magnitude, 1.0 / degree.of_integer("double"))
    root = choose(value.has_sign & odd, -root, root)
    return choose(degree.equals(0) | ((value < 0.0) & ~odd), math.nan, root)


def gamma_sign(value: Term) -> Term:
    """The sign of the gamma function, as an integer."""
    negative = (value < 0.0) & is_odd(value.intrinsic("floor"))
    minus = Term(value.emitter, value.emitter.constant("i32", -1))
    return choose(negative, minus, 1)


def minimum(a: Term, b: Term | float) -> Term:
    """The smaller one, or a NaN if there is one."""
    return choose(a.is_nan, a, choose(a.compare("ogt", b), b, a))


def _smooth_step(low: Term, high: Term, value: Term) -> Term:
    ramp = (value - low) / (high - low)
    t = minimum(choose(ramp < 0.0, 0.0, ramp), 1.0)
    return t * t * (3.0 - t * 2.0)


def _sign(value: Term) -> Term:
    one = value.constant(1.0).with_sign(value)
    return choose(value.is_nan, 0.0, choose(value.equals(0.0), value, one))


def _mix(x: Term, y: Term, a: Term) -> Term:
    return x + (y - x) * a


_LIBRARY = ("acos", "acosh", "asin", "asinh", "atan", "atanh", "atan2", "cbrt", "cos", "cosh", "erf", "erfc", "exp",
            "exp2", "expm1", "hypot", "lgamma", "log", "log2", "log10", "log1p", "pow", "sin", "sinh", "tan", "tanh",
            "tgamma")


def _over_pi(name: str) -> Formula:
    inverse = library(name)
    return lambda *terms: inverse(*terms) / math.pi


REAL: dict[str, Formula] = {
    **{name: library(name) for name in _LIBRARY},
    **{f"{name}pi": _over_pi(name) for name in ("acos", "asin", "atan", "atan2")},
    "cospi": _cosine_of_pi, "sinpi": _sine_of_pi, "tanpi": _tangent_of_pi,
    "exp10": lambda x: POWER(x.constant(10.0), x),
    "pown": lambda x, n: POWER(x, n.of_integer("double")),
    "powr": _power_of_positive, "rootn": _root,
    "sqrt": lambda x: x.intrinsic("sqrt"), "rsqrt": lambda x: 1.0 / x.intrinsic("sqrt"),
    "degrees": lambda x: x * (180.0 / math.pi), "radians": lambda x: x * (math.pi / 180.0),
    "mix": _mix, "smoothstep": _smooth_step, "sign": _sign,
}
"""Functions of doubles, by name."""

FAST = ("cos", "exp", "exp2", "exp10", "log", "log2", "log10", "powr", "rsqrt", "sin", "sqrt", "tan")

REAL |= {f"{prefix}_{name}": REAL[name] for prefix in ("half", "native") for name in FAST}
