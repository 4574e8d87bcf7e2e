"""What built-in functions of numbers compute, by Python and numpy, and how far a result may be from that."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np


def wrap(value: int, bits: int, signed: bool) -> int:
    """The number that the lowest bits of an integer are."""
    value %= 1 << bits
    return value - (1 << bits) if signed and value >> (bits - 1) else value


def clamp_to(value: int, bits: int, signed: bool) -> int:
    """The nearest number that has so many bits."""
    low, high = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if signed else (0, (1 << bits) - 1)
    return min(max(value, low), high)


def lift(function: Callable[..., float]) -> Callable[..., np.ndarray]:
    """A function of Python's floats, for arrays."""
    return lambda *columns: np.array([function(*map(float, row)) for row in zip(*columns, strict=True)])


def smoothstep(low: float, high: float, x: float) -> float:
    """OpenCL C's smoothstep, of one number."""
    t = min(max((x - low) / (high - low), 0.0), 1.0)
    return t * t * (3 - 2 * t)


UNIT, POSITIVE, SMALL = (-0.95, 0.95), (0.05, 6.0), (-4.0, 4.0)

FLOATING: dict[str, tuple[Callable[..., np.ndarray], tuple[float, float]]] = {
    "acos(a)": (np.arccos, UNIT), "acosh(a + 1)": (lambda a: np.arccosh(a + 1), POSITIVE),
    "acospi(a)": (lambda a: np.arccos(a) / np.pi, UNIT), "asin(a)": (np.arcsin, UNIT),
    "asinh(a)": (np.arcsinh, SMALL), "asinpi(a)": (lambda a: np.arcsin(a) / np.pi, UNIT),
    "atan(a)": (np.arctan, SMALL), "atan2(a, b)": (np.arctan2, SMALL),
    "atan2pi(a, b)": (lambda a, b: np.arctan2(a, b) / np.pi, SMALL), "atanh(a)": (np.arctanh, UNIT),
    "atanpi(a)": (lambda a: np.arctan(a) / np.pi, SMALL), "cbrt(a)": (np.cbrt, SMALL), "ceil(a)": (np.ceil, SMALL),
    "copysign(a, b)": (np.copysign, SMALL), "cos(a)": (np.cos, SMALL), "cosh(a)": (np.cosh, SMALL),
    "cospi(a)": (lambda a: np.cos(np.pi * a), (-0.4, 0.4)), "erf(a)": (lift(math.erf), SMALL),
    "erfc(a)": (lift(math.erfc), UNIT), "exp(a)": (np.exp, SMALL), "exp2(a)": (np.exp2, SMALL),
    "exp10(a)": (lambda a: 10.0**a, SMALL), "expm1(a)": (np.expm1, SMALL), "fabs(a)": (np.abs, SMALL),
    "fdim(a, b)": (lambda a, b: np.maximum(a - b, 0), SMALL), "floor(a)": (np.floor, SMALL),
    "fma(a, b, c)": (lambda a, b, c: a * b + c, POSITIVE), "mad(a, b, c)": (lambda a, b, c: a * b + c, POSITIVE),
    "fmax(a, b)": (np.fmax, SMALL), "fmin(a, b)": (np.fmin, SMALL), "fmod(a, b)": (np.fmod, SMALL),
    "hypot(a, b)": (np.hypot, SMALL), "ldexp(a, 3)": (lambda a: a * 8, SMALL),
    "lgamma(a)": (lift(math.lgamma), (3.0, 6.0)), "log(a)": (np.log, (2.0, 9.0)), "log2(a)": (np.log2, (2.0, 9.0)),
    "log10(a)": (np.log10, (2.0, 9.0)), "log1p(a)": (np.log1p, POSITIVE),
    "logb(a)": (lambda a: np.floor(np.log2(np.abs(a))), POSITIVE),
    "maxmag(a, b)": (lambda a, b: np.where(np.abs(a) > np.abs(b), a, b), SMALL),
    "minmag(a, b)": (lambda a, b: np.where(np.abs(a) < np.abs(b), a, b), SMALL),
    "pow(a, b)": (np.power, POSITIVE), "pow(a, (T)2)": (np.square, SMALL), "powr(a, b)": (np.power, POSITIVE),
    "pown(a, ilogb(a) * 0 + 3)": (lambda a: a**3, SMALL), "rootn(a, ilogb(a) * 0 + 3)": (np.cbrt, POSITIVE),
    "remainder(a, b)": (lift(math.remainder), SMALL), "rint(a)": (np.rint, SMALL),
    "round(a)": (lambda a: np.copysign(np.floor(np.abs(a) + 0.5), a), SMALL),
    "rsqrt(a)": (lambda a: 1 / np.sqrt(a), POSITIVE), "sin(a)": (np.sin, (0.2, 2.9)), "sinh(a)": (np.sinh, SMALL),
    "sinpi(a)": (lambda a: np.sin(np.pi * a), (-0.4, 0.4)), "sqrt(a)": (np.sqrt, POSITIVE),
    "tan(a)": (np.tan, (-1.4, 1.4)), "tanh(a)": (np.tanh, SMALL),
    "tanpi(a)": (lambda a: np.tan(np.pi * a), (-0.4, 0.4)),
    "tgamma(a)": (lift(math.gamma), (0.5, 6.0)), "trunc(a)": (np.trunc, SMALL),
    "clamp(a, (T)-1, (T)2)": (lambda a: np.clip(a, -1, 2), SMALL), "degrees(a)": (np.degrees, SMALL),
    "radians(a)": (np.radians, SMALL), "max(a, b)": (np.maximum, SMALL), "min(a, b)": (np.minimum, SMALL),
    "mix(a, b, c)": (lambda a, b, c: a + (b - a) * c, POSITIVE), "sign(a)": (np.sign, SMALL),
    "step(a, b)": (lambda a, b: np.where(b < a, 0.0, 1.0), SMALL),
    "smoothstep((T)-5, (T)5, a)": (lift(lambda a: smoothstep(-5, 5, a)), SMALL),
}
"""OpenCL C 6.15.2 and 6.15.4: expression → (reference in double precision, range of the arguments)."""
NATIVE_FUNCTIONS: dict[str, tuple[Callable[..., np.ndarray], tuple[float, float]]] = {
    "cos": (np.cos, (-1.4, 1.4)), "divide": (np.divide, POSITIVE), "exp": (np.exp, SMALL), "exp2": (np.exp2, SMALL),
    "exp10": (lambda a: 10.0**a, SMALL), "log": (np.log, (2.0, 9.0)), "log2": (np.log2, (2.0, 9.0)),
    "log10": (np.log10, (2.0, 9.0)), "powr": (np.power, POSITIVE), "recip": (np.reciprocal, POSITIVE),
    "rsqrt": (lambda a: 1 / np.sqrt(a), POSITIVE), "sin": (np.sin, (0.2, 2.9)), "sqrt": (np.sqrt, POSITIVE),
    "tan": (np.tan, (-1.4, 1.4)),
}
"""Those that exist for float only (OpenCL C 6.15.2, tables of half_ and native_ functions)."""

ULPS = 16
"""The largest error that OpenCL C 7.4 allows any of these functions (pow); half's is stated as 2 to 4."""


NATIVE_ULPS = 64
"""That of ``native_`` functions, for which OpenCL C has no bound."""
HALF_ULPS = 8192
"""That of ``half_`` functions (OpenCL C 7.4)."""


def assert_close(name: str, found: np.ndarray, expected: np.ndarray, ulps: float = ULPS) -> None:
    """Within the error that OpenCL C allows, or another one, in units of the result type's last place."""
    info = np.finfo(found.dtype)
    scale = np.maximum(np.abs(expected), info.smallest_normal) * float(info.eps)
    error = np.abs(found.astype(np.float64) - expected) / scale
    assert float(np.max(error)) <= ulps, f"{name}: {float(np.max(error))} ulp"
