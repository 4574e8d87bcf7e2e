"""Functions of real numbers in single precision, by the names of OpenCL.std: libdevice's, and the hardware's own.

libdevice's errors (CUDA C++ Programming Guide, mathematical functions) are within those that OpenCL allows (OpenCL C
specification, "Relative error as ULPs"). ``native_`` functions are the instructions that approximate them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from coopmat.targets.cuda import library
from coopmat.targets.llvm.instructions.opencl import real
from coopmat.targets.llvm.terms import Formula, Term, choose
from coopmat.targets.llvm.values import Number


def _of_library(name: str) -> Formula:
    """A function of libdevice, by its name in C."""

    def formula(*terms: Term) -> Term:
        numbers = terms[0].emitter
        return Term(numbers, library.call_single(numbers.writer, name, [term.number for term in terms]))

    return formula


def _instruction(name: str) -> Formula:
    """An instruction that approximates a function of one number, by LLVM's name of it."""

    def formula(x: Term) -> Term:
        text = x.emitter.writer.call("float", f"llvm.nvvm.{name}", [("float", x.number.base)])
        return Term(x.emitter, Number("float", text))

    return formula


def _over_pi(name: str) -> Formula:
    inverse = _of_library(name)
    return lambda *terms: inverse(*terms) * (1 / math.pi)


def _power_of_positive(base: Term, power: Term) -> Term:
    """``powr``: defined as exp(power * log(base)), so with fewer special values than ``pow``."""
    undefined = (base < 0.0) | ((base.equals(0.0) | base.is_infinite) & power.equals(0.0))
    undefined = undefined | (base.equals(1.0) & power.is_infinite) | base.is_nan | power.is_nan
    return choose(undefined, math.nan, _POWER(base.magnitude, power))


def _root(value: Term, degree: Term) -> Term:
    """``rootn``."""
    odd = (degree & 1).differs(0)
    root = _POWER(value.magnitude, 1.0 / degree.of_integer("float"))
    root = choose(value.has_sign & odd, -root, root)
    return choose(degree.equals(0) | ((value < 0.0) & ~odd), math.nan, root)


def _polynomial(x: Term, coefficients: Sequence[float]) -> Term:
    """A polynomial; the constant comes first."""
    found = x.constant(coefficients[-1])
    for coefficient in reversed(coefficients[:-1]):
        found = found.intrinsic("fma", x, coefficient)
    return found


def _error_function(x: Term) -> Term:
    """``erf``, without branches, in half of libdevice's instructions: the matrices of GELU are large. A quotient of
    polynomials of the square, fitted to the least relative error up to where erf rounds to 1 (2e-8; with what the
    operations round, 9 ulp: OpenCL allows 16)."""
    square = (x * x).intrinsic("minnum", ERF_IS_ONE**2)
    found = x * _polynomial(square, ERF_ABOVE) * _RECIPROCAL(_polynomial(square, ERF_BELOW))
    return found.intrinsic("minimum", 1.0).intrinsic("maximum", -1.0)


ERF_IS_ONE = 3.9192059
ERF_ABOVE = (1.12837911, 0.190377802, 0.0527456105, 0.00376456464, 0.00028489047, 2.05072979e-06)
ERF_BELOW = (1.0, 0.502050698, 0.114097878, 0.0149670942, 0.00116233807, 3.80987476e-05)

_POWER = _of_library("pow")
_LIBRARY = ("acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cbrt", "cos", "cosh", "cospi", "erfc",
            "exp", "exp10", "exp2", "expm1", "hypot", "lgamma", "log", "log10", "log1p", "log2", "pow", "rsqrt", "sin",
            "sinh", "sinpi", "tan", "tanh", "tgamma")
_APPROXIMATED = {"exp2": "ex2.approx.ftz.f", "log2": "lg2.approx.f", "recip": "rcp.approx.ftz.f",
                 "rsqrt": "rsqrt.approx.f", "sqrt": "sqrt.approx.f", "sin": "sin.approx.f", "cos": "cos.approx.f"}
_EXP2, _LOG2, _SINE, _COSINE, _RECIPROCAL = (
    _instruction(_APPROXIMATED[name]) for name in ("exp2", "log2", "sin", "cos", "recip"))

SINGLE: dict[str, Formula] = {
    **{name: _of_library(name) for name in _LIBRARY},
    **{f"{name}pi": _over_pi(name) for name in ("acos", "asin", "atan", "atan2")},
    "erf": _error_function,
    "pown": lambda x, n: _POWER(x, n.of_integer("float")),
    "powr": _power_of_positive, "rootn": _root,
    "sqrt": lambda x: x.intrinsic("sqrt"),
    **dict.fromkeys(("fmax", "fmax_common"), lambda x, y: x.intrinsic("maxnum", y)),
    **dict.fromkeys(("fmin", "fmin_common"), lambda x, y: x.intrinsic("minnum", y)),
    **{name: real.REAL[name] for name in ("degrees", "radians", "mix", "sign")},
}
SINGLE |= {f"half_{name}": SINGLE[name] for name in real.FAST}
SINGLE |= {f"native_{name}": _instruction(_APPROXIMATED[name]) for name in _APPROXIMATED}
SINGLE |= {
    "native_exp": lambda x: _EXP2(x * math.log2(math.e)),
    "native_exp10": lambda x: _EXP2(x * math.log2(10.0)),
    "native_log": lambda x: _LOG2(x) * math.log(2.0),
    "native_log10": lambda x: _LOG2(x) * math.log10(2.0),
    "native_powr": lambda x, y: _EXP2(_LOG2(x) * y),
    "native_tan": lambda x: _SINE(x) * _RECIPROCAL(_COSINE(x)),
    "native_divide": lambda x, y: x * _RECIPROCAL(y),
}
"""By name; operands that are integers are C's ``int``. What is not here is computed in double."""
RELAXED = {name: SINGLE[f"native_{name}"] for name in ("exp", "exp2", "exp10", "log", "log2", "log10", "powr", "sin",
                                                       "cos", "tan", "sqrt", "rsqrt")}
"""With the errors that OpenCL C allows with -cl-unsafe-math-optimizations: CUDA C's guide has those of the instructions
(an exponential 2 units and more the larger it is, a logarithm 2**-21 from 1/2 to 2 and 3 units elsewhere, sines 2**-20
up to pi)."""
