"""The errors of the functions of real numbers on the CPU, in units in the last place, beside numpy's long doubles and
the C library; the same bits in vectors of every width and with every level of features.

OpenCL C specification, "Relative error as ULPs in the full profile": the bounds are in
tests/kit/targets/error_bounds.py.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache

import numpy as np
import pytest

import coopmat as cm
from coopmat.targets.cpu.features import LEVELS, VARIABLE
from tests.kit.targets.error_bounds import SINGLE

COUNT = 100_000
COUNTS = {"half": 30_000, "float": COUNT, "double": COUNT // 2}
ROWS = 1024  # of operands where forms are compared
DTYPES = {"half": np.float16, "float": np.float32, "double": np.float64}
WIDE = np.longdouble
PI = WIDE("3.14159265358979323846264338327950288")

UNARY = ("acos", "acosh", "acospi", "asin", "asinh", "asinpi", "atan", "atanh", "atanpi", "cbrt", "cos", "cosh",
         "cospi", "erf", "erfc", "exp", "exp2", "exp10", "expm1", "lgamma", "log", "log2", "log10", "log1p", "rsqrt",
         "sin", "sinh", "sinpi", "sqrt", "tan", "tanh", "tanpi", "tgamma")
BINARY = ("atan2", "atan2pi", "hypot", "pow", "powr")
WITH_INTEGER = ("pown", "rootn")
NATIVE = ("cos", "exp", "exp10", "exp2", "log", "log10", "log2", "powr", "recip", "rsqrt", "sin", "sqrt", "tan")

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


def _of_library(function: Callable[[float], float]) -> Callable[[np.ndarray], np.ndarray]:
    def one(x: float) -> float:
        try:
            return function(float(x))
        except OverflowError:
            return math.inf
        except ValueError:
            return math.nan

    return np.vectorize(one, otypes=[np.float64])


def _gamma(x: np.ndarray) -> np.ndarray:
    found = _of_library(math.gamma)(x)
    return np.where(x == 0, np.copysign(np.inf, x), found)


def _log_gamma(x: np.ndarray) -> np.ndarray:
    return np.where((x <= 0) & (x == np.floor(x)), np.inf, _of_library(math.lgamma)(x))


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
    "erf": _of_library(math.erf), "erfc": _of_library(math.erfc), "lgamma": _log_gamma, "tgamma": _gamma,
    "exp10": lambda x: np.power(WIDE(10), x), "rsqrt": lambda x: 1 / np.sqrt(x), "recip": lambda x: 1 / x,
    "sinpi": _sin_of_pi, "cospi": _cos_of_pi, "tanpi": _tan_of_pi,
    "pow": np.power, "powr": _power_of_positive, "pown": np.power, "rootn": _root,
}


def expected(name: str, *given: np.ndarray) -> np.ndarray:
    """The results in long double; what only the C library has, in double."""
    with np.errstate(all="ignore"):
        return REFERENCES[name](*(one if one.dtype.kind == "i" else one.astype(WIDE) for one in given))


def errors(ours: np.ndarray, exact: np.ndarray, wide: type = WIDE) -> np.ndarray:
    """Units in the last place; infinite where one is no number or infinite and the other is not. wide: the type
    that is computed with."""
    info = np.finfo(ours.dtype)
    with np.errstate(all="ignore"):
        rounded = exact.astype(ours.dtype)
        largest = np.clip(np.abs(exact), info.tiny.astype(wide), info.max.astype(wide))
        unit = np.ldexp(wide(1), np.frexp(largest)[1] - 1 - info.nmant)
        # An infinity stands for the power of two behind the largest number.
        beyond = np.ldexp(wide(1), info.maxexp)
        value = np.where(np.isinf(ours), np.copysign(beyond, ours), ours.astype(wide))
        wanted = np.where(np.abs(exact) > beyond, np.copysign(beyond, exact), exact)
        found = np.abs(value - wanted) / unit
    same = (np.isnan(ours) & np.isnan(exact)) | (ours == rounded)
    return np.where(same, np.where(np.isfinite(rounded) & (rounded != 0), np.minimum(found, 0.5), 0),
                    np.where(np.isnan(found), np.inf, found)).astype(np.float64)


# ------------------------------------------------------------------------------ kernels


@cache
def _program(source: str, features: str) -> tuple[cm.Queue, object]:
    device = cm.device("cpu")
    return cm.Queue(device), cm.build(source, (), device).kernel("k")


def evaluate(name: str, kind: str, *given: np.ndarray, width: int = 16, features: str = "") -> np.ndarray:
    """The function of all operands."""
    types = ["int" if one.dtype.kind == "i" else kind for one in given]
    parameters = ", ".join(f"global const {t} *x{i}" for i, t in enumerate(types))
    call = f"{name}({', '.join(f'x{i}[i]' for i in range(len(given)))})"
    source = (f"__attribute__((intel_reqd_sub_group_size({width}))) kernel void k(global {kind} *y, {parameters}) "
              f"{{ size_t i = get_global_id(0); y[i] = {call}; }}")
    queue, kernel = _program(source, features)
    y = np.zeros(len(given[0]), DTYPES[kind])
    queue.enqueue(kernel, len(y), 32, y, *given).wait()
    return y


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


GAMMA = ("lgamma", "tgamma", "erf", "erfc")
ROUNDED_FROM_FLOAT = 0.51  # units of fp16


@pytest.mark.parametrize("kind", DTYPES)
@pytest.mark.parametrize("name", UNARY + BINARY + WITH_INTEGER)
def test_bounds(name: str, kind: str) -> None:
    if kind == "double" and name in GAMMA:
        pytest.skip("the reference is the function itself: the C library's")
    given = given_for(name, kind)
    exact = expected(name, *given)
    found = errors(evaluate(name, kind, *given), exact)
    worst = int(np.argmax(found))
    bound = ROUNDED_FROM_FLOAT if kind == "half" else SINGLE[name]
    assert found[worst] <= bound, (found[worst], [one[worst] for one in given], exact[worst])


@pytest.mark.parametrize("name", NATIVE)
def test_native_functions(name: str) -> None:
    """Of numbers of ordinary size."""
    rng = np.random.default_rng(5)
    positive = np.exp2(rng.uniform(-100, 100, COUNT)).astype(np.float32)
    given = {"powr": [positive, (rng.uniform(-1, 1, COUNT)).astype(np.float32)]}.get(name)
    if given is None:
        limits = {**dict.fromkeys(("exp", "exp2", "exp10"), 30), **dict.fromkeys(("sin", "cos", "tan"), 1.5)}
        most = limits.get(name)
        given = [positive if most is None else rng.uniform(-most, most, COUNT).astype(np.float32)]
    exact = expected(name, *given)
    found = evaluate(f"native_{name}", "float", *given)
    error = np.abs(found.astype(WIDE) - exact)
    assert (error <= np.maximum(np.abs(exact), 0.5 if name in ("log", "log2", "log10", "cos") else 0) * 2.0**-13).all()


def test_native_logarithms_of_what_has_none() -> None:
    x = np.resize(np.float32([0.0, -0.0, -1.0, np.nan, 1.0]), 64)
    for name in ("log", "log2", "log10"):
        with np.errstate(all="ignore"):
            np.testing.assert_array_equal(evaluate(f"native_{name}", "float", x), getattr(np, name)(x))


# --------------------------------------------------------- the same bits in all forms


def test_the_same_bits_in_every_form(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of every width of sub-groups, and with every level of features."""
    for kind in ("float", "double"):
        columns = [operands(DTYPES[kind], seed, ROWS) for seed in (6, 7)]
        names = [*UNARY, *BINARY, *(f"native_{name}" for name in NATIVE)] if kind == "float" else [*UNARY, *BINARY]
        given = {name: columns[:2 if name in BINARY or name.endswith("powr") else 1] for name in names}
        wanted = None
        for level, width in [*((level, 16) for level in LEVELS), *(("amx", width) for width in (4, 8, 32, 64))]:
            monkeypatch.setenv(VARIABLE, level)
            found = _table(kind, given, width)
            if wanted is None:
                wanted = found
            for name, one, other in zip(names, found, wanted, strict=True):
                np.testing.assert_array_equal(one, other, f"{name}, {kind}, {level}, sub-groups of {width}")


def _table(kind: str, given: dict[str, list[np.ndarray]], width: int) -> np.ndarray:
    """The results of several functions, by one kernel."""
    size = ROWS
    lines = [f"y[{place * size} + i] = {name}({'a[i], b[i]' if len(columns) == 2 else 'a[i]'});"
             for place, (name, columns) in enumerate(given.items())]
    source = (f"__attribute__((intel_reqd_sub_group_size({width}))) kernel void k(global {kind} *y, "
              f"global const {kind} *a, global const {kind} *b) {{ size_t i = get_global_id(0); {' '.join(lines)} }}")
    device = cm.device("cpu")
    y = np.zeros((len(given), size), DTYPES[kind])
    a, b = next(columns for columns in given.values() if len(columns) == 2)
    cm.Queue(device).enqueue(cm.build(source, (), device).kernel("k"), size, 64, y, a, b).wait()
    return y


# ----------------------------------------------------------------------- the long form


PARTS, CHUNK = 16, 1 << 22


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("name", UNARY)
def test_every_float(name: str, part: int) -> None:
    """All 2**32, a part of them in each test, beside numpy's doubles, which are some 2**-50 off themselves. What is
    printed is the greatest error of the part."""
    greatest, where = 0.0, np.float32(0)
    each = (1 << 32) // PARTS
    for start in range(part * each, (part + 1) * each, CHUNK):
        x = np.arange(start, start + CHUNK, dtype=np.uint32).view(np.float32)
        x = np.where(np.isnan(x), np.float32(np.nan), x)
        with np.errstate(all="ignore"):
            exact = _in_double(name, x.astype(np.float64))
        found = errors(evaluate(name, "float", x), exact, np.float64)
        worst = int(np.argmax(found))
        assert found[worst] <= SINGLE[name], (found[worst], x[worst], exact[worst])
        if found[worst] > greatest:
            greatest, where = found[worst], x[worst]
    print(f"{name}, part {part} of {PARTS}: {greatest:.4f} units in the last place, at {where!r}")


def _in_double(name: str, x: np.ndarray) -> np.ndarray:
    if name == "exp10":
        return np.power(10.0, x)
    return np.asarray(REFERENCES[name](x), np.float64)
