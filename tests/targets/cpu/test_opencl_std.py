"""The functions of OpenCL.std on the CPU, beside those of the simulator, bit by bit where they are exact."""

from __future__ import annotations

import numpy as np
import pytest

from tests.kit.targets import short_kernels
from tests.kit.targets.error_bounds import SINGLE
from tests.kit.targets.short_kernels import DTYPES, UNCHECKED, evaluate
from tests.kit.targets.values import floats

RNG = np.random.default_rng(23)
KINDS = ("f16", "f32", "f64")
EXACT = {
    1: ("ceil", "floor", "rint", "round", "trunc", "fabs", "logb", "sqrt", "half_sqrt", "native_sqrt",
        "half_recip", "native_recip", "degrees", "radians", "sign"),
    2: ("copysign", "fdim", "fmax", "fmin", "fmod", "maxmag", "minmag", "nextafter", "remainder", "step", "half_divide",
        "native_divide"),
    3: ("fma", "mad", "fclamp", "mix", "smoothstep"),
}
REAL = {
    1: ("acos", "acosh", "acospi", "asin", "asinh", "asinpi", "atan", "atanh", "atanpi", "cbrt", "cos", "cosh", "cospi",
        "erf", "erfc", "exp", "exp2", "exp10", "expm1", "lgamma", "log", "log2", "log10", "log1p", "rsqrt", "sin",
        "sinh", "sinpi", "tan", "tanh", "tanpi", "tgamma"),
    2: ("atan2", "atan2pi", "hypot", "pow", "powr"),
}


def both(monkeypatch: pytest.MonkeyPatch, line: str, result: str,
         *operands: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """What the CPU computes, and what the simulator computes."""
    found = []
    for target in ("cpu", "simulator"):
        monkeypatch.setattr(short_kernels, "TARGET", target)
        found.append(evaluate(line, result, *operands, options=UNCHECKED))
    return found[0], found[1]


def call(name: str, kind: str, count: int) -> str:
    return f"OpExtInst %{kind} %std {name} {' '.join(f'{{{i}}}' for i in range(count))}"


def bits(values: np.ndarray) -> np.ndarray:
    """The bits, those of all NaNs alike."""
    plain = np.where(np.isnan(values), np.nan, values).astype(values.dtype)
    return plain.view(f"i{values.dtype.itemsize}")


def operands_of(kind: str, count: int) -> list[np.ndarray]:
    """Random bits, ordinary numbers, zeros and quiet NaNs; some pairs are equal."""
    found = [RNG.permutation(floats(RNG, kind, 512)) for _ in range(count)]
    found = [np.where(np.isnan(operand), np.nan, operand).astype(operand.dtype) for operand in found]
    found[-1][:64] = found[0][:64]
    return found


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("name", "count"), [(name, count) for count, names in EXACT.items() for name in names])
def test_exact_functions(monkeypatch: pytest.MonkeyPatch, name: str, count: int, kind: str) -> None:
    operands = operands_of(kind, count)
    ours, expected = both(monkeypatch, call(name, kind, count), kind, *operands)
    if name in ("fmax", "fmin", "fclamp", "maxmag", "minmag"):  # which zero is the larger one is not specified
        ours, expected = ours + 0, expected + 0
    if name == "nextafter":  # of zeros of both signs, numpy's half form gives the other one
        ours, expected = (np.where(operands[0] == operands[1], 0, values).astype(values.dtype) for values in
                          (ours, expected))
    np.testing.assert_array_equal(bits(ours), bits(expected))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["fract", "frexp", "modf", "remquo", "lgamma_r"])
def test_second_results(monkeypatch: pytest.MonkeyPatch, name: str, kind: str) -> None:
    count, second = 1 + (name == "remquo"), kind if name in ("fract", "modf") else "i32"
    operands = operands_of(kind, count)
    places = " ".join(f"{{{i}}}" for i in range(count))
    code = f"%slot = OpVariable %p_{second} Function\n%first = OpExtInst %{kind} %std {name} {places} %slot\n"
    ours, expected = both(monkeypatch, f"{code}%r = OpLoad %{second} %slot", second, *operands)
    np.testing.assert_array_equal(ours, expected)
    if name != "lgamma_r":
        ours, expected = both(monkeypatch, f"{code}%r = OpCopyObject %{kind} %first", kind, *operands)
        np.testing.assert_array_equal(bits(ours), bits(expected))


@pytest.mark.parametrize("kind", KINDS)
def test_exponents(monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    (a,) = operands_of(kind, 1)
    np.testing.assert_array_equal(*both(monkeypatch, call("ilogb", "i32", 1), "i32", a))
    power = np.concatenate([RNG.integers(-2200, 2200, 256), RNG.integers(-40, 40, 248),
                            [-(1 << 31), (1 << 31) - 1] * 4]).astype(np.int32)
    ours, expected = both(monkeypatch, call("ldexp", kind, 2), kind, a, power)
    np.testing.assert_array_equal(bits(ours), bits(expected))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("name", "count"), [(name, count) for count, names in REAL.items() for name in names])
def test_real_functions(monkeypatch: pytest.MonkeyPatch, name: str, count: int, kind: str) -> None:
    """Special values alike, and no number further off than OpenCL allows; those of fp16 are rounded from float. The
    simulator's doubles are not the nearest ones themselves."""
    operands = operands_of(kind, count)
    if kind == "f64" and name in ("lgamma", "tgamma"):
        operands = [np.abs(operand) + 3 for operand in operands]  # elsewhere Python's are inexact
    ours, expected = both(monkeypatch, call(name, kind, count), kind, *operands)
    np.testing.assert_array_equal(np.isnan(ours), np.isnan(expected))
    numbers = ~np.isnan(expected) & (ours != expected)
    if kind == "f64":
        np.testing.assert_allclose(ours[numbers], expected[numbers], rtol=1e-12 if name == "tanpi" else 1e-14,
                                   atol=1e-320)
    else:
        np.testing.assert_array_max_ulp(ours[numbers], expected[numbers], 1 if kind == "f16" else SINGLE[name],
                                        DTYPES[kind])
    np.testing.assert_array_equal(np.signbit(ours[expected == 0]), np.signbit(expected[expected == 0]))


@pytest.mark.parametrize("kind", ["f16", "f32"])
@pytest.mark.parametrize("count", [2, 3, 4])
def test_geometry(monkeypatch: pytest.MonkeyPatch, count: int, kind: str) -> None:
    a, b = (floats(RNG, kind, 64 * count).reshape(64, count) for _ in range(2))
    vector = f"v{count}_{kind}"
    for name, result, operands in (("length", kind, (a,)), ("distance", kind, (a, b)), ("normalize", vector, (a,)),
                                   *((("cross", vector, (a, b)),) if count > 2 else ())):
        ours, expected = both(monkeypatch, call(name, result, len(operands)), result, *operands)
        np.testing.assert_array_equal(bits(ours), bits(expected))
