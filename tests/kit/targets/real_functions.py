"""Functions of real numbers: operands, what they are in long double, and errors in units in the last place."""

from __future__ import annotations

import ctypes
import ctypes.util
from collections.abc import Callable

import numpy as np

COUNT = 100_000
COUNTS = {"half": 30_000, "float": COUNT, "double": COUNT // 2}
DTYPES = {"half": np.float16, "float": np.float32, "double": np.float64}
WIDE = np.longdouble
PI = WIDE("3.14159265358979323846264338327950288")

UNARY = ("acos", "acosh", "acospi", "asin", "asinh", "asinpi", "atan", "atanh", "atanpi", "cbrt", "cos", "cosh",
         "cospi", "erf", "erfc", "exp", "exp2", "exp10", "expm1", "lgamma", "log", "log2", "log10", "log1p", "rsqrt",
         "sin", "sinh", "sinpi", "sqrt", "tan", "tanh", "tanpi", "tgamma")
BINARY = ("atan2", "atan2pi", "hypot", "pow", "powr")
WITH_INTEGER = ("pown", "rootn")

SPECIAL = [0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 0.5, -0.5, 2.0, 1.5, -1.5, 1e-40, -1e-40, 88.72284, 88.7229,
           -103.97, -103.98, -87.34, 127.99999, 128.0, -126.0, -149.0, -150.0, 38.53, 38.54, 709.78, -745.1, 3e38,
           1e300]


# ---------------------------------------------------------------------------- operands


def operands(dtype: type, seed: int, count: int = COUNT) -> np.ndarray:
    """Random bits, numbers of ordinary size, numbers beside 1, and special values."""
    rng = np.random.default_rng(seed)
    bits = np.frombuffer(rng.bytes(count // 4 * np.dtype(dtype).itemsize), dtype)
    parts = [bits, rng.standard_normal(count // 4) * rng.choice([1e-3, 1, 30], count // 4),
             rng.uniform(-1.001, 1.001, count // 8), 1 + rng.standard_normal(count // 8) * 1e-3,
             rng.uniform(-800, 800, count // 4 - 64), np.resize(SPECIAL, 64)]
    with np.errstate(all="ignore"):
        found = np.concatenate([np.asarray(part).astype(dtype) for part in parts])
    return np.where(np.isnan(found), np.nan, found).astype(dtype)


# -------------------------------------------------------------------------- references


def _of_library(name: str) -> Callable[[np.ndarray], np.ndarray]:
    """The C library's function of long doubles."""
    function = getattr(ctypes.CDLL(ctypes.util.find_library("m")), name)
    function.restype, function.argtypes = ctypes.c_longdouble, [ctypes.c_longdouble]
    return np.vectorize(function, otypes=[np.float64])


def _turns(x: np.ndarray) -> np.ndarray:
    return np.fmod(x, WIDE(2))


def _sin_of_pi(x: np.ndarray) -> np.ndarray:
    r = _turns(x)
    folded = np.where(np.abs(r) > 0.5, np.copysign(1, r) - r, r)
    folded = np.where(np.abs(r) > 1.5, r - np.copysign(WIDE(2), r), folded)
    return np.where(folded == 0, np.copysign(0, x), np.sin(folded * PI))


def _cos_of_pi(x: np.ndarray) -> np.ndarray:
    r = np.abs(_turns(x))
    return np.sin((WIDE(0.5) - np.where(r > 1, 2 - r, r)) * PI)


def _tan_of_pi(x: np.ndarray) -> np.ndarray:
    return _sin_of_pi(x) / _cos_of_pi(x)


def _power_of_positive(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    undefined = (x < 0) | (((x == 0) | np.isinf(x)) & (y == 0)) | ((x == 1) & np.isinf(y)) | np.isnan(x) | np.isnan(y)
    return np.where(undefined, np.nan, np.power(np.abs(x), y))


def _root(x: np.ndarray, n: np.ndarray) -> np.ndarray:
    odd = n % 2 != 0
    root = np.power(np.abs(x), 1 / n.astype(WIDE))
    root = np.where(np.signbit(x) & odd, -root, root)
    return np.where((n == 0) | ((x < 0) & ~odd), np.nan, root)


REFERENCES: dict[str, Callable[..., np.ndarray]] = {
    **{name: getattr(np, name) for name in ("cbrt", "cos", "cosh", "exp", "exp2", "expm1", "hypot", "log", "log2",
                                            "log10", "log1p", "sin", "sinh", "sqrt", "tan", "tanh")},
    **{name: getattr(np, f"arc{name[1:]}") for name in ("acos", "acosh", "asin", "asinh", "atan", "atanh", "atan2")},
    **{f"{name}pi": lambda *x, name=name: getattr(np, f"arc{name[1:]}")(*x) / PI
       for name in ("acos", "asin", "atan", "atan2")},
    "erf": _of_library("erfl"), "erfc": _of_library("erfcl"), "lgamma": _of_library("lgammal"),
    "tgamma": _of_library("tgammal"),
    "exp10": lambda x: np.power(WIDE(10), x), "rsqrt": lambda x: 1 / np.sqrt(x), "recip": lambda x: 1 / x,
    "sinpi": _sin_of_pi, "cospi": _cos_of_pi, "tanpi": _tan_of_pi,
    "pow": np.power, "powr": _power_of_positive, "pown": np.power, "rootn": _root,
}


def expected(name: str, *given: np.ndarray) -> np.ndarray:
    """The results in long double; what only the C library has, in double."""
    with np.errstate(all="ignore"):
        return REFERENCES[name](*(one if one.dtype.kind == "i" else one.astype(WIDE) for one in given))


def errors(ours: np.ndarray, exact: np.ndarray, wide: type = WIDE, least: np.ndarray | float = 0) -> np.ndarray:
    """Units in the last place; infinite where one is no number or infinite and the other is not. wide: the type
    that is computed with. least: units are those of no smaller numbers."""
    info = np.finfo(ours.dtype)
    with np.errstate(all="ignore"):
        rounded = exact.astype(ours.dtype)
        largest = np.clip(np.maximum(np.abs(exact), least), info.tiny.astype(wide), info.max.astype(wide))
        unit = np.ldexp(wide(1), np.frexp(largest)[1] - 1 - info.nmant)
        # An infinity stands for the power of two behind the largest number.
        beyond = np.ldexp(wide(1), info.maxexp)
        value = np.where(np.isinf(ours), np.copysign(beyond, ours), ours.astype(wide))
        wanted = np.where(np.abs(exact) > beyond, np.copysign(beyond, exact), exact)
        found = np.abs(value - wanted) / unit
    same = (np.isnan(ours) & np.isnan(exact)) | (ours == rounded)
    return np.where(same, np.where(np.isfinite(rounded) & (rounded != 0), np.minimum(found, 0.5), 0),
                    np.where(np.isnan(found), np.inf, found)).astype(np.float64)


def errors_of(name: str, found: np.ndarray, given: list[np.ndarray], exact: np.ndarray) -> np.ndarray:
    """The errors of a function's results. Below 0, beside its zeros, nobody computes lgamma to the last places: there
    units are those of 1."""
    return errors(found, exact, least=np.where(given[0] < 0, 1, 0) if name == "lgamma" else 0)


def given_for(name: str, kind: str) -> list[np.ndarray]:
    """Operands of a function."""
    count = COUNTS[kind] // 32 * 32
    first = operands(DTYPES[kind], 1, count)
    if name in UNARY:
        return [first]
    rng = np.random.default_rng(3)
    if name in WITH_INTEGER:
        wide = rng.integers(-(1 << 31), 1 << 31, len(first)).astype(np.int32)
        return [first, np.where(rng.random(len(first)) < 0.8, wide >> 24, wide).astype(np.int32)]
    return [first, rng.permutation(operands(DTYPES[kind], 2, count))]
