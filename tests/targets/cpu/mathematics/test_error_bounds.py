"""The errors of the functions of real numbers on the CPU, in units in the last place, beside numpy's long doubles and
the C library; the same bits in vectors of every width and with every level of features.

OpenCL C specification, "Relative error as ULPs in the full profile": the bounds are in
tests/kit/targets/error_bounds.py.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import coopmat as cm
from coopmat.targets.cpu.features import LEVELS, VARIABLE
from tests.kit.targets.error_bounds import RELAXED, SINGLE
from tests.kit.targets.real_functions import (
    BINARY,
    COUNT,
    DTYPES,
    UNARY,
    WIDE,
    WITH_INTEGER,
    errors,
    errors_of,
    expected,
    given_for,
    operands,
)

ROWS = 1024  # of operands where forms are compared
NATIVE = ("cos", "exp", "exp10", "exp2", "log", "log10", "log2", "powr", "recip", "rsqrt", "sin", "sqrt", "tan")


# ------------------------------------------------------------------------------ kernels


@cache
def _program(source: str, options: str) -> tuple[cm.Queue, object]:
    device = cm.device("cpu")
    return cm.Queue(device), cm.build(source, options, device).kernel("k")


def evaluate(name: str, kind: str, *given: np.ndarray, width: int = 16, options: str = "") -> np.ndarray:
    """The function of all operands."""
    types = ["int" if one.dtype.kind == "i" else kind for one in given]
    parameters = ", ".join(f"global const {t} *x{i}" for i, t in enumerate(types))
    call = f"{name}({', '.join(f'x{i}[i]' for i in range(len(given)))})"
    source = (f"__attribute__((intel_reqd_sub_group_size({width}))) kernel void k(global {kind} *y, {parameters}) "
              f"{{ size_t i = get_global_id(0); y[i] = {call}; }}")
    queue, kernel = _program(source, options)
    y = np.zeros(len(given[0]), DTYPES[kind])
    queue.enqueue(kernel, len(y), 32, y, *given).wait()
    return y


@pytest.mark.parametrize("options", ["", "-cl-fast-relaxed-math"])
def test_tanh_is_at_most_one(options: str) -> None:
    """Also where it is rounded to 1, and the last polynomial of its table ends."""
    x = np.linspace(6, 10, COUNT // 32 * 32).astype(np.float32)
    found = evaluate("tanh", "float", x, options=options)
    assert found.max() == 1
    np.testing.assert_array_equal(found, -evaluate("tanh", "float", -x, options=options))


ROUNDED_FROM_FLOAT = 0.51  # units of fp16


@pytest.mark.parametrize("kind", DTYPES)
@pytest.mark.parametrize("name", UNARY + BINARY + WITH_INTEGER)
def test_bounds(name: str, kind: str) -> None:
    given = given_for(name, kind)
    exact = expected(name, *given)
    found = errors_of(name, evaluate(name, kind, *given), given, exact)
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


# -------------------------------------------------------------------------- relaxed


def _ordinary(name: str) -> list[np.ndarray]:
    """Operands of which no result is an infinity, a NaN or subnormal."""
    rng = np.random.default_rng(9)
    signs = rng.choice([-1, 1], COUNT)
    limits = {**dict.fromkeys(("asin", "acos"), 1), "atanh": 0.999, **dict.fromkeys(("sinh", "cosh", "expm1"), 88)}
    x = np.exp2(rng.uniform(-30, 40, COUNT)) * signs
    x = np.where(np.abs(x) > limits.get(name, np.inf), rng.uniform(-1, 1, COUNT) * limits.get(name, 0), x)
    x[::3] = rng.uniform(-1, 1, len(x[::3])) * min(limits.get(name, 4), 4)
    if name in ("sin", "cos"):
        x = rng.uniform(-np.pi, np.pi, COUNT)
    if name == "tan":
        x = rng.uniform(-8, 8, COUNT)
    if name in ("acosh", "log1p"):
        x = np.abs(x) + (name == "acosh")
    if name in BINARY:
        return [np.exp2(rng.uniform(-8, 8, COUNT)).astype(np.float32), rng.uniform(-15, 15, COUNT).astype(np.float32)]
    x = x.astype(np.float32)
    return [np.abs(x), rng.integers(1, 4, COUNT).astype(np.int32)] if name in WITH_INTEGER else [x]


@pytest.mark.parametrize("name", RELAXED)
def test_bounds_with_fast_relaxed_math(name: str) -> None:
    given = _ordinary(name)
    exact = expected(name, *given)
    found = evaluate(name, "float", *given, options="-cl-fast-relaxed-math")
    assert not np.array_equal(found, evaluate(name, "float", *given))
    error = np.abs(found - exact) * 2.0**11 if name in ("sin", "cos") else errors(found, exact) / RELAXED[name]
    worst = int(np.argmax(error))
    assert error[worst] <= 1, (error[worst], [one[worst] for one in given], exact[worst])


def test_relaxed_powers_of_negative_numbers() -> None:
    x, n = np.float32([-2, -2, -3, 2, -0.5, -8, 0, 0] * 4), np.int32([3, 2, -3, 5, 4, 3, 2, 1] * 4)
    for name, given in (("pow", n.astype(np.float32)), ("pown", n)):
        found = evaluate(name, "float", x, given, options="-cl-unsafe-math-optimizations")
        np.testing.assert_allclose(found, np.power(x.astype(float), n), rtol=2.0**-11)
    x = np.float32([-8, 16, -32, 5] * 8)
    found = evaluate("rootn", "float", x, np.int32([3, 4, 5, 1] * 8), options="-cl-unsafe-math-optimizations")
    np.testing.assert_allclose(found, [-2, 2, -2, 5] * 8, rtol=2.0**-11)


@pytest.mark.parametrize("name", ["sin", "cos", "tan"])
def test_half_functions(name: str) -> None:
    """8,192 units for numbers up to 2**16."""
    x = np.random.default_rng(8).uniform(-1, 1, COUNT).astype(np.float32) * np.float32(1 << 16)
    x[::2] /= np.float32(1 << 14)
    exact = expected(name, x)
    assert errors(evaluate(f"half_{name}", "float", x), exact).max() <= 8192


# --------------------------------------------------------- the same bits in all forms


def test_the_same_bits_in_every_form(monkeypatch: pytest.MonkeyPatch, long_form: bool) -> None:
    """Of every width of sub-groups, and with every level of features; of some in the short form."""
    widths = (4, 8, 32, 64) if long_form else (4, 64)
    for kind in ("float", "double"):
        columns = [operands(DTYPES[kind], seed, ROWS) for seed in (6, 7)]
        names = [*UNARY, *BINARY, *(f"native_{name}" for name in NATIVE)] if kind == "float" else [*UNARY, *BINARY]
        _compare_forms(monkeypatch, kind, widths, {
            name: columns[:2 if name in BINARY or name.endswith("powr") else 1] for name in names})
    ordinary = [np.random.default_rng(6).uniform(low, 1, ROWS).astype(np.float32) for low in (0.01, -1)]
    names = [name for name in RELAXED if name not in (*WITH_INTEGER, "acosh")]
    given = {name: ordinary[:2 if name in BINARY else 1] for name in names}
    _compare_forms(monkeypatch, "float", widths, given, "-cl-fast-relaxed-math")


def _compare_forms(monkeypatch: pytest.MonkeyPatch, kind: str, widths: tuple[int, ...],
                   given: dict[str, list[np.ndarray]], options: str = "") -> None:
    wanted = None
    for level, width in [*((level, 16) for level in LEVELS), *(("amx", width) for width in widths)]:
        monkeypatch.setenv(VARIABLE, level)
        found = _table(kind, given, width, options)
        if wanted is None:
            wanted = found
        for name, one, other in zip(given, found, wanted, strict=True):
            np.testing.assert_array_equal(one, other, f"{name}, {kind}, {level}, sub-groups of {width}, {options}")


def _table(kind: str, given: dict[str, list[np.ndarray]], width: int, options: str) -> np.ndarray:
    """The results of several functions, by one kernel."""
    size = ROWS
    lines = [f"y[{place * size} + i] = {name}({'a[i], b[i]' if len(columns) == 2 else 'a[i]'});"
             for place, (name, columns) in enumerate(given.items())]
    source = (f"__attribute__((intel_reqd_sub_group_size({width}))) kernel void k(global {kind} *y, "
              f"global const {kind} *a, global const {kind} *b) {{ size_t i = get_global_id(0); {' '.join(lines)} }}")
    device = cm.device("cpu")
    y = np.zeros((len(given), size), DTYPES[kind])
    a, b = next(columns for columns in given.values() if len(columns) == 2)
    cm.Queue(device).enqueue(cm.build(source, options, device).kernel("k"), size, 64, y, a, b).wait()
    return y


# ----------------------------------------------------------------------- the long form


CHUNK = 1 << 24
OF_LIBRARY = {"sin": 1e9, "cos": 1e9, "tan": 1e9}  # beyond, both precisions have the C library's function
ERRORS = """
float error(float found, double exact)
{
    if (found == (float)exact || isnan(found) && isnan(exact))
        return 0.0f;
    double value = isinf(found) ? copysign(0x1p128, (double)found) : found;
    double wanted = fabs(exact) > 0x1p128 ? copysign(0x1p128, exact) : exact;
    ulong bits = as_ulong(clamp(fabs(exact), 0x1p-126, 0x1.fffffep127));
    float units = (float)(fabs(value - wanted) / as_double((bits >> 52) - 23 << 52));
    return isnan(units) ? INFINITY : units;
}

kernel void errors(global float *y, uint start)
{
    size_t i = get_global_id(0);
    float x = as_float(start + (uint)i);
    y[i] = error(FUNCTION(x), FUNCTION((double)x));
}
"""


@pytest.mark.slow
@pytest.mark.parametrize("name", UNARY)
def test_every_float(name: str) -> None:
    """All 2**32, beside the function of doubles, which the tests above compare with long doubles. Correctly rounded
    results count as exact. What is printed is the greatest error."""
    queue = cm.Queue(cm.device("cpu"))
    kernel = cm.build(ERRORS, f"-DFUNCTION={name}", queue.device).kernel("errors")
    found = np.zeros(CHUNK, np.float32)
    greatest, where = 0.0, np.float32(0)
    for start in range(0, 1 << 32, CHUNK):
        if np.abs(np.uint32(start).view(np.float32)) > OF_LIBRARY.get(name, np.inf):
            continue
        queue.enqueue(kernel, CHUNK, 1024, found, np.uint32(start)).wait()
        worst = int(np.argmax(found))
        if found[worst] > greatest:
            greatest, where = float(found[worst]), np.uint32(start + worst).view(np.float32)
    assert greatest <= SINGLE[name], (greatest, where)
    print(f"{name}: {greatest:.4f} units in the last place, at {where!r}")
