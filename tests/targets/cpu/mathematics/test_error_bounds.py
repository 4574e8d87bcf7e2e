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
from tests.kit.targets.error_bounds import SINGLE
from tests.kit.targets.real_functions import (
    BINARY,
    COUNT,
    DTYPES,
    REFERENCES,
    UNARY,
    WIDE,
    WITH_INTEGER,
    errors,
    expected,
    given_for,
    operands,
)

ROWS = 1024  # of operands where forms are compared
NATIVE = ("cos", "exp", "exp10", "exp2", "log", "log10", "log2", "powr", "recip", "rsqrt", "sin", "sqrt", "tan")


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
