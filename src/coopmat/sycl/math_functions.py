"""SYCL's functions on numbers: math, common, integer, geometric and relational functions (SYCL 4.17.5 to 4.17.9).

In a kernel they are instructions of the OpenCL.std set or core SPIR-V. On the host those for which numpy or Python's
math has a function work on numpy scalars, arrays and Python's numbers, so that an element-wise function can be tried
there; the others are for kernels only.

Floating-point functions take half, bfloat16 (computed in float32 and rounded), float32 and float64; several arguments
are converted to their common floating type, integers alone to float32. Vectors are taken component by component, all
of one type; a number among them stands for all components. Tests of vectors give integers of their width, -1 for true.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from enum import Enum
from inspect import Parameter, Signature
from typing import Any

import ml_dtypes
import numpy as np

from coopmat.diagnostics import Error
from coopmat.runtime.element_types import ElementType, boolean, float32, int32
from coopmat.sycl.device_functions import DeviceFunction

Host = Callable[..., Any]


class Domain(Enum):
    """What a function takes; the values are how messages say it."""

    FLOATING = "floating-point numbers"
    REPRESENTATION = "half, float32 or float64"  # depends on the type's neighbouring numbers
    SINGLE = "float32"
    INTEGER = "integers"
    INTEGER_32 = "integers of at most 32 bits"
    NUMBER = "floating-point numbers or integers"
    BITS = "integers, half, float32 or float64"
    GEOMETRIC = "vectors of two to four floating-point numbers (cross: of three or four, fast_…: of float32)"


class MathFunction(DeviceFunction):
    """A function on numbers.

    operation: the tree's, with ``{sign}`` for s or u and ``{kind}`` for f, s_ or u_; empty where the compiler has a
    handler for this function alone. Parameters whose names end in ``exponent`` are int32.
    result: the type of the result, if it is another one than the arguments'.
    """

    def __init__(self, name: str, parameters: str, summary: str, domain: Domain, host: Host | None, operation: str,
                 result: ElementType | None = None) -> None:
        def stub(*arguments: Any, **named: Any) -> Any:
            if host is None:
                raise Error(f"{name} is a device function: it can be called in kernels only")
            with np.errstate(all="ignore"):
                return host(*self.signature.bind(*arguments, **named).args)

        stub.__name__ = stub.__qualname__ = name
        stub.__doc__ = f"``{name}({parameters})``: {summary}. Takes {domain.value}."
        stub.__signature__ = Signature(  # type: ignore[attr-defined]
            [Parameter(part, Parameter.POSITIONAL_OR_KEYWORD) for part in parameters.split(", ")])
        super().__init__(stub, runs_on_host=host is not None)
        self.domain = domain
        self.host = host
        self.operation = operation
        self.result = result
        FUNCTIONS[name] = self


FUNCTIONS: dict[str, MathFunction] = {}
"""Every function by its name in a kernel."""


# ------------------------------------------------------------------ on the host


def _dtype(*given: Any) -> np.dtype[Any]:
    """The floating type of a result on the host; float64 for integers."""
    found = np.result_type(*given)
    return np.dtype(np.float64) if found.kind in "iub" else found


def _each(function: Host) -> Host:
    """A function of Python's floats, for numpy's numbers and arrays."""
    def on_host(*given: Any) -> Any:
        return np.vectorize(function, otypes=[np.float64])(*given).astype(_dtype(*given))[()]
    return on_host


def _half_away(x: Any) -> Any:
    whole = np.trunc(x)
    return whole + np.copysign(np.abs(x - whole) >= 0.5, x).astype(_dtype(x))


def _gamma(x: float) -> float:
    """math.gamma without its exceptions."""
    if x == 0:
        return math.copysign(math.inf, x)
    if x < 0 and x == math.floor(x):
        return math.nan
    try:
        return math.gamma(x)
    except OverflowError:
        return math.inf


def _log_gamma(x: float) -> float:
    return math.inf if x <= 0 and x == math.floor(x) else math.lgamma(x)


def _remainder(x: float, y: float) -> float:
    return math.nan if y == 0 or math.isinf(x) else math.remainder(x, y)


def _smoothstep(edge0: Any, edge1: Any, x: Any) -> Any:
    part = np.clip((x - edge0) / (edge1 - edge0), 0, 1)
    return part * part * (3 - 2 * part)


def _is_normal(x: Any) -> Any:
    smallest = float(ml_dtypes.finfo(_dtype(x)).smallest_normal)
    return np.isfinite(x) & (np.abs(x) >= smallest)


def _by_magnitude(first: Host, otherwise: Host) -> Host:
    def on_host(x: Any, y: Any) -> Any:
        left, right = np.abs(x), np.abs(y)
        return np.where(first(left, right), x, np.where(first(right, left), y, otherwise(x, y)))[()]
    return on_host


# ------------------------------------------------------------------ rows


def _floating(name: str, parameters: str, summary: str, host: Host | None = None, *, operation: str = "std.{name}",
              result: ElementType | None = None) -> MathFunction:
    return MathFunction(name, parameters, summary, Domain.FLOATING, host, operation.format(name=name), result)


def _integer(name: str, parameters: str, summary: str, *, signless: bool = False,
             domain: Domain = Domain.INTEGER) -> MathFunction:
    return MathFunction(name, parameters, summary, domain, None, f"std.{name}" if signless else f"std.{{sign}}_{name}")


def _test(name: str, parameters: str, summary: str, host: Host, instruction: str) -> MathFunction:
    return _floating(name, parameters, f"whether {summary}", host, operation=f"core.{instruction}", result=boolean)


def _geometric(name: str, parameters: str, summary: str, host: Host | None, *, operation: str = "std.{name}",
               is_number: bool = True) -> MathFunction:
    return MathFunction(name, parameters, summary, Domain.GEOMETRIC, host, operation.format(name=name),
                        float32 if is_number else None)


acos = _floating("acos", "x", "the arc cosine", np.arccos)
acosh = _floating("acosh", "x", "the inverse hyperbolic cosine", np.arccosh)
acospi = _floating("acospi", "x", "acos(x) / π", lambda x: np.arccos(x) / np.pi)
asin = _floating("asin", "x", "the arc sine", np.arcsin)
asinh = _floating("asinh", "x", "the inverse hyperbolic sine", np.arcsinh)
asinpi = _floating("asinpi", "x", "asin(x) / π", lambda x: np.arcsin(x) / np.pi)
atan = _floating("atan", "x", "the arc tangent", np.arctan)
atan2 = _floating("atan2", "y, x", "the arc tangent of y / x, in the quadrant of the point (x, y)", np.arctan2)
atan2pi = _floating("atan2pi", "y, x", "atan2(y, x) / π", lambda y, x: np.arctan2(y, x) / np.pi)
atanh = _floating("atanh", "x", "the inverse hyperbolic tangent", np.arctanh)
atanpi = _floating("atanpi", "x", "atan(x) / π", lambda x: np.arctan(x) / np.pi)
cbrt = _floating("cbrt", "x", "the cube root", np.cbrt)
ceil = _floating("ceil", "x", "x rounded up to an integral value", np.ceil)
copysign = _floating("copysign", "x, y", "x with the sign of y", np.copysign)
cos = _floating("cos", "x", "the cosine", np.cos)
cosh = _floating("cosh", "x", "the hyperbolic cosine", np.cosh)
cospi = _floating("cospi", "x", "cos(π x)")
degrees = _floating("degrees", "radians", "an angle in degrees", np.degrees)
erf = _floating("erf", "x", "the error function", _each(math.erf))
erfc = _floating("erfc", "x", "1 - erf(x)", _each(math.erfc))
exp = _floating("exp", "x", "e to the x", np.exp)
exp2 = _floating("exp2", "x", "2 to the x", np.exp2)
exp10 = _floating("exp10", "x", "10 to the x", lambda x: np.power(_dtype(x).type(10), x))
expm1 = _floating("expm1", "x", "exp(x) - 1", np.expm1)
fabs = _floating("fabs", "x", "the absolute value", np.fabs)
fdim = _floating("fdim", "x, y", "x - y, or 0 where that is negative", lambda x, y: np.where(x <= y, 0, x - y)[()])
floor = _floating("floor", "x", "x rounded down to an integral value", np.floor)
fma = _floating("fma", "a, b, c", "a * b + c, rounded once")
fmax = _floating("fmax", "x, y", "the greater; of a NaN and a number, the number", np.fmax)
fmin = _floating("fmin", "x, y", "the lesser; of a NaN and a number, the number", np.fmin)
fmod = _floating("fmod", "x, y", "x - n * y, where n is x / y rounded towards zero", np.fmod)
hypot = _floating("hypot", "x, y", "the square root of x * x + y * y", np.hypot)
ilogb = _floating("ilogb", "x", "the exponent of x, as int32", lambda x: np.frexp(x)[1] - 1, result=int32)
ldexp = _floating("ldexp", "x, exponent", "x times 2 to the exponent, an int32", np.ldexp)
lgamma = _floating("lgamma", "x", "the logarithm of the absolute value of the gamma function", _each(_log_gamma))
log = _floating("log", "x", "the natural logarithm", np.log)
log1p = _floating("log1p", "x", "log(1 + x)", np.log1p)
log2 = _floating("log2", "x", "the logarithm to base 2", np.log2)
log10 = _floating("log10", "x", "the logarithm to base 10", np.log10)
logb = _floating("logb", "x", "the exponent of x, in the type of x",
                 lambda x: (np.frexp(x)[1] - 1).astype(_dtype(x)))
mad = _floating("mad", "a, b, c", "a * b + c, rounded as is fastest", lambda a, b, c: a * b + c)
maxmag = _floating("maxmag", "x, y", "the argument of the greater magnitude; fmax(x, y) where they are equal",
                   _by_magnitude(np.greater, np.fmax))
minmag = _floating("minmag", "x, y", "the argument of the lesser magnitude; fmin(x, y) where they are equal",
                   _by_magnitude(np.less, np.fmin))
mix = _floating("mix", "x, y, a", "x + (y - x) * a", lambda x, y, a: x + (y - x) * a)
nextafter = MathFunction("nextafter", "x, y", "the next number after x in the direction of y", Domain.REPRESENTATION,
                         np.nextafter, "std.nextafter")
pow = _floating("pow", "x, y", "x to the y", np.power)
pown = _floating("pown", "x, exponent", "x to the exponent, an int32", np.power)
powr = _floating("powr", "x, y", "x to the y, for x that is not negative", np.power)
radians = _floating("radians", "degrees", "an angle in radians", np.radians)
remainder = _floating("remainder", "x, y", "x - n * y, where n is x / y rounded to nearest, ties to even",
                      _each(_remainder))
rint = _floating("rint", "x", "x rounded to nearest, ties to even", np.rint)
rootn = _floating("rootn", "x, exponent", "the root of x of that degree, an int32")
round = _floating("round", "x", "x rounded to nearest, ties away from zero (Python's own round(x) rounds to even)",
                  _half_away)
rsqrt = _floating("rsqrt", "x", "1 / sqrt(x)", lambda x: 1 / np.sqrt(x))
sign = _floating("sign", "x", "1, -1, or 0 with its sign; 0 of a NaN",
                 lambda x: np.where(np.isnan(x), np.zeros_like(x), np.copysign(np.abs(np.sign(x)), x))[()])
sin = _floating("sin", "x", "the sine", np.sin)
sinh = _floating("sinh", "x", "the hyperbolic sine", np.sinh)
sinpi = _floating("sinpi", "x", "sin(π x)")
smoothstep = _floating("smoothstep", "edge0, edge1, x",
                       "0 up to edge0, 1 from edge1 on, and a smooth cubic between them", _smoothstep)
sqrt = _floating("sqrt", "x", "the square root", np.sqrt)
step = _floating("step", "edge, x", "0 where x is less than edge, else 1",
                 lambda edge, x: np.where(np.less(x, edge), 0, 1).astype(_dtype(edge, x))[()])
tan = _floating("tan", "x", "the tangent", np.tan)
tanh = _floating("tanh", "x", "the hyperbolic tangent", np.tanh)
tanpi = _floating("tanpi", "x", "tan(π x)")
tgamma = _floating("tgamma", "x", "the gamma function", _each(_gamma))
trunc = _floating("trunc", "x", "x rounded towards zero to an integral value", np.trunc)

isequal = _test("isequal", "x, y", "x == y", np.equal, "FOrdEqual")
isnotequal = _test("isnotequal", "x, y", "x != y, also where one is a NaN", np.not_equal, "FUnordNotEqual")
isgreater = _test("isgreater", "x, y", "x > y", np.greater, "FOrdGreaterThan")
isgreaterequal = _test("isgreaterequal", "x, y", "x >= y", np.greater_equal, "FOrdGreaterThanEqual")
isless = _test("isless", "x, y", "x < y", np.less, "FOrdLessThan")
islessequal = _test("islessequal", "x, y", "x <= y", np.less_equal, "FOrdLessThanEqual")
islessgreater = _test("islessgreater", "x, y", "x < y or x > y", lambda x, y: (x < y) | (x > y), "FOrdNotEqual")
isordered = _test("isordered", "x, y", "neither is a NaN", lambda x, y: ~(np.isnan(x) | np.isnan(y)), "Ordered")
isunordered = _test("isunordered", "x, y", "one is a NaN", lambda x, y: np.isnan(x) | np.isnan(y), "Unordered")
isfinite = _test("isfinite", "x", "x is neither infinite nor a NaN", np.isfinite, "IsFinite")
isinf = _test("isinf", "x", "x is infinite", np.isinf, "IsInf")
isnan = _test("isnan", "x", "x is a NaN", np.isnan, "IsNan")
isnormal = _test("isnormal", "x", "x is neither zero, subnormal, infinite nor a NaN", _is_normal, "IsNormal")
signbit = _test("signbit", "x", "the sign bit of x is set", np.signbit, "SignBitSet")

abs_diff = _integer("abs_diff", "x, y", "the absolute value of x - y, without overflow")
add_sat = _integer("add_sat", "x, y", "x + y, clamped to the range of the type")
clz = _integer("clz", "x", "the number of leading zero bits", signless=True)
ctz = _integer("ctz", "x", "the number of trailing zero bits; of 0, the width", signless=True)
hadd = _integer("hadd", "x, y", "(x + y) >> 1, without overflow")
mad24 = _integer("mad24", "x, y, z", "x * y + z of 24-bit integers x and y", domain=Domain.INTEGER_32)
mad_hi = _integer("mad_hi", "a, b, c", "mul_hi(a, b) + c")
mad_sat = _integer("mad_sat", "a, b, c", "a * b + c, clamped to the range of the type")
mul24 = _integer("mul24", "x, y", "x * y of 24-bit integers", domain=Domain.INTEGER_32)
mul_hi = _integer("mul_hi", "x, y", "the high half of x * y")
popcount = _integer("popcount", "x", "the number of bits that are set", signless=True)
rhadd = _integer("rhadd", "x, y", "(x + y + 1) >> 1, without overflow")
rotate = _integer("rotate", "v, count", "the bits of v, moved to the left by count and around", signless=True)
sub_sat = _integer("sub_sat", "x, y", "x - y, clamped to the range of the type")

cross = _geometric("cross", "p0, p1", "the cross product of the first three components; a fourth is 0",
                   lambda p0, p1: np.append(np.cross(p0[:3], p1[:3]), np.zeros(len(p0) - 3, _dtype(p0))),
                   is_number=False)
distance = _geometric("distance", "p0, p1", "the length of p0 - p1", lambda p0, p1: np.linalg.norm(np.subtract(p0, p1)))
dot = _geometric("dot", "p0, p1", "the dot product", np.dot, operation="core.Dot")
length = _geometric("length", "p", "the length of a vector", np.linalg.norm)
normalize = _geometric("normalize", "p", "the vector of length 1 in the same direction",
                       lambda p: np.asarray(p) / np.linalg.norm(p), is_number=False)
fast_distance = _geometric("fast_distance", "p0, p1", "distance, with half the accuracy", distance.host)
fast_length = _geometric("fast_length", "p", "length, with half the accuracy", length.host)
fast_normalize = _geometric("fast_normalize", "p", "normalize, with half the accuracy", normalize.host,
                            is_number=False)

clamp = MathFunction("clamp", "x, minval, maxval", "x, but at least minval and at most maxval", Domain.NUMBER,
                     lambda x, low, high: np.minimum(np.maximum(x, low), high), "std.{kind}clamp")
abs = MathFunction("abs", "x", "the absolute value", Domain.NUMBER, np.absolute, "")
max = MathFunction("max", "x, y", "the greater; of a NaN and a number, the number", Domain.NUMBER, np.fmax, "")
min = MathFunction("min", "x, y", "the lesser; of a NaN and a number, the number", Domain.NUMBER, np.fmin, "")
bitselect = MathFunction("bitselect", "a, b, c", "the bits of b where those of c are set, else those of a",
                         Domain.BITS, None, "std.bitselect")
select = MathFunction("select", "a, b, c", "b where c is true, else a", Domain.NUMBER,
                      lambda a, b, c: np.asarray(np.where(c, b, a))[()], "")


# ------------------------------------------------------------------ native and half_precision


class Namespace:
    """SYCL's namespaces of faster functions: ``native.exp(x)``, ``half_precision.exp(x)``."""

    def __init__(self, name: str, prefix: str, accuracy: str) -> None:
        self._name = name
        self.__doc__ = f"``{name}.exp(x)`` and its like: functions on float32 with {accuracy}."
        for function in (cos, exp, exp2, exp10, log, log2, log10, powr, rsqrt, sin, sqrt, tan):
            self._add(function.name, ", ".join(function.signature.parameters), function.host, prefix, accuracy)
        self._add("divide", "x, y", np.divide, prefix, accuracy)
        self._add("recip", "x", np.reciprocal, prefix, accuracy)

    def _add(self, name: str, parameters: str, host: Host | None, prefix: str, accuracy: str) -> None:
        function = MathFunction(f"{self._name}.{name}", parameters, f"as {name}, with {accuracy}", Domain.SINGLE, host,
                                f"std.{prefix}_{name}")
        setattr(self, name, function)

    def __getattr__(self, name: str) -> MathFunction:
        raise AttributeError(name)

    def __repr__(self) -> str:
        return self._name


native = Namespace("native", "native", "the accuracy and range that the device has")
half_precision = Namespace("half_precision", "half", "at least 10 bits of accuracy")

__all__ = [
    "abs_diff", "acos", "acosh", "acospi", "add_sat", "asin", "asinh", "asinpi", "atan", "atan2", "atan2pi", "atanh",
    "atanpi", "bitselect", "cbrt", "ceil", "clamp", "clz", "copysign", "cos", "cosh", "cospi", "cross", "ctz",
    "degrees", "distance", "dot", "erf", "erfc", "exp", "exp2", "exp10", "expm1", "fabs", "fast_distance",
    "fast_length", "fast_normalize", "fdim", "floor", "fma", "fmax", "fmin", "fmod", "hadd", "half_precision", "hypot",
    "ilogb", "isequal", "isfinite", "isgreater", "isgreaterequal", "isinf", "isless", "islessequal", "islessgreater",
    "isnan", "isnormal", "isnotequal", "isordered", "isunordered", "ldexp", "length", "lgamma", "log", "log1p", "log2",
    "log10", "logb", "mad", "mad24", "mad_hi", "mad_sat", "maxmag", "minmag", "mix", "mul24", "mul_hi", "native",
    "nextafter", "normalize", "popcount", "pown", "powr", "radians", "remainder", "rhadd", "rint", "rootn", "rotate",
    "rsqrt", "select", "sign", "signbit", "sin", "sinh", "sinpi", "smoothstep", "sqrt", "step", "sub_sat", "tan",
    "tanh", "tanpi", "tgamma", "trunc",
]
