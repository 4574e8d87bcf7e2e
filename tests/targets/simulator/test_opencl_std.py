"""Every function of OpenCL.std, table by table.

Math functions are compared with Python's ``math`` (or exact rational numbers) in units in the last
place; integer functions with Python's integers; exact functions bit by bit.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest

from coopmat.diagnostics import Error
from coopmat.spirv.grammar import OPENCL_STD
from coopmat.targets.simulator.opencl_std import FUNCTIONS
from tests.kit.targets import error_bounds, short_kernels
from tests.kit.targets.short_kernels import DTYPES, evaluate, module, run
from tests.kit.targets.values import floats, integers, unsigned, wrapped

RNG = np.random.default_rng(17)
KINDS = ("f16", "f32", "f64")
NAN, INF = math.nan, math.inf


def call(name: str, result: str, *operands: np.ndarray, tail: str = "") -> np.ndarray:
    places = " ".join(f"{{{i}}}" for i in range(len(operands)))
    return evaluate(f"OpExtInst %{result} %std {name} {places} {tail}", result, *operands)


def test_every_function_is_here() -> None:
    assert set(FUNCTIONS) == set(OPENCL_STD)


# --------------------------------------------------------------------------------------
# Math: functions of real numbers
# --------------------------------------------------------------------------------------


def guarded(function: Callable[..., float]) -> Callable[..., float]:
    """C99's results where Python raises."""

    def apply(*values: float) -> float:
        try:
            return function(*values)
        except ValueError:
            return NAN
        except (OverflowError, ZeroDivisionError):
            return INF

    return apply


def sine_of_pi(x: float) -> float:
    """sin(pi * x), reduced exactly to an argument of at most pi / 4."""
    quarter = round(2 * Fraction(x))
    y = math.pi * float(Fraction(x) - Fraction(quarter, 2))
    return (math.sin(y), math.cos(y), -math.sin(y), -math.cos(y))[quarter % 4]


def cosine_of_pi(x: float) -> float:
    quarter = round(2 * Fraction(x))
    y = math.pi * float(Fraction(x) - Fraction(quarter, 2))
    return (math.cos(y), -math.sin(y), -math.cos(y), math.sin(y))[quarter % 4]


def rootn(x: float, n: int) -> float:
    root = abs(x) ** (1.0 / n)
    return -root if x < 0 and n % 2 else NAN if x < 0 else root


def gamma_sign(x: float) -> int:
    return -1 if x < 0 and math.floor(x) % 2 else 1


ANY, POSITIVE, UNIT, ABOVE_ONE = (-20.0, 20.0), (0.01, 30.0), (-1.0, 1.0), (1.0, 30.0)
BEYOND_ZEROS = (3.0, 30.0)  # beside those of lgamma, 1 and 2, Python's is inexact
REAL: dict[str, tuple[Callable[..., float], tuple[float, float]]] = {
    "acos": (math.acos, UNIT), "acosh": (math.acosh, ABOVE_ONE), "acospi": (lambda x: math.acos(x) / math.pi, UNIT),
    "asin": (math.asin, UNIT), "asinh": (math.asinh, ANY), "asinpi": (lambda x: math.asin(x) / math.pi, UNIT),
    "atan": (math.atan, ANY), "atanh": (math.atanh, (-0.99, 0.99)), "atanpi": (lambda x: math.atan(x) / math.pi, ANY),
    "cbrt": (math.cbrt, ANY), "cos": (math.cos, ANY), "cosh": (math.cosh, (-8.0, 8.0)),
    "cospi": (cosine_of_pi, (-20.2, 20.2)), "erf": (math.erf, (-4.0, 4.0)), "erfc": (math.erfc, (-4.0, 2.0)),
    "exp": (math.exp, (-8.0, 8.0)), "exp2": (math.exp2, (-10.0, 10.0)), "exp10": (lambda x: 10.0 ** x, (-4.0, 4.0)),
    "expm1": (math.expm1, (-8.0, 8.0)), "lgamma": (math.lgamma, BEYOND_ZEROS), "log": (math.log, POSITIVE),
    "log2": (math.log2, POSITIVE), "log10": (math.log10, POSITIVE), "log1p": (math.log1p, (-0.9, 20.0)),
    "rsqrt": (lambda x: 1 / math.sqrt(x), POSITIVE), "sin": (math.sin, ANY), "sinh": (math.sinh, (-8.0, 8.0)),
    "sinpi": (sine_of_pi, (-20.2, 20.2)), "sqrt": (math.sqrt, POSITIVE), "tan": (math.tan, (-1.5, 1.5)),
    "tanh": (math.tanh, ANY), "tanpi": (lambda x: math.tan(math.pi * x), (-0.45, 0.45)),
    "tgamma": (math.gamma, (0.1, 7.0)),
    "degrees": (math.degrees, ANY), "radians": (math.radians, ANY),
    **{f"{p}_{n}": (f, POSITIVE if n.startswith(("log", "rsq", "sqr")) else (-1.4, 1.4)) for p in ("half", "native")
       for n, f in (("cos", math.cos), ("exp", math.exp), ("exp2", math.exp2), ("exp10", lambda x: 10.0 ** x),
                    ("log", math.log), ("log2", math.log2), ("log10", math.log10),
                    ("rsqrt", lambda x: 1 / math.sqrt(x)), ("sin", math.sin), ("sqrt", math.sqrt),
                    ("tan", math.tan))},
    **{f"{p}_recip": (lambda x: 1 / x, POSITIVE) for p in ("half", "native")},
}
REAL_BINARY: dict[str, tuple[Callable[..., float], tuple[float, float]]] = {
    "atan2": (math.atan2, ANY), "atan2pi": (lambda y, x: math.atan2(y, x) / math.pi, ANY),
    "hypot": (math.hypot, ANY), "pow": (math.pow, (0.1, 4.0)), "powr": (math.pow, (0.1, 4.0)),
    **{f"{p}_powr": (math.pow, (0.1, 4.0)) for p in ("half", "native")},
    **{f"{p}_divide": (lambda x, y: x / y, ANY) for p in ("half", "native")},
}


def assert_close(found: np.ndarray, expected: list[float], ulps: float) -> None:
    """Within ``ulps`` units in the last place of each expected number; NaN and infinities exactly."""
    with np.errstate(all="ignore"):
        exact = np.array(expected, np.float64)
        rounded = exact.astype(found.dtype)
        unit = np.spacing(np.abs(rounded)).astype(np.float64)
        error = np.abs(found.astype(np.float64) - exact) / unit
    special = ~np.isfinite(rounded)
    np.testing.assert_array_equal(found[special], rounded[special])
    assert (error[~special] <= ulps).all(), f"{np.nanmax(error[~special])} ulp"


# float16 and float32 are computed in float64 and rounded once: a hair more than half a unit.
ULPS = {"f16": 0.501, "f32": 0.501, "f64": 8}


def ulps(name: str, kind: str) -> float:
    """The error that a function may have; on what computes in single precision, what OpenCL allows."""
    allowed = error_bounds.bound(name, kind) if short_kernels.TARGET in ("cuda", "cpu") else None
    return ULPS[kind] if allowed is None else allowed


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", REAL)
def test_real_function(name: str, kind: str) -> None:
    function, (low, high) = REAL[name]
    a = RNG.uniform(low, high, 128).astype(DTYPES[kind])
    a = np.clip(a, np.dtype(DTYPES[kind]).type(low), np.dtype(DTYPES[kind]).type(high))
    expected = [guarded(function)(x) for x in a.astype(np.float64).tolist()]
    assert_close(call(name, kind, a), expected, ulps(name, kind))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", REAL_BINARY)
def test_real_function_of_two(name: str, kind: str) -> None:
    function, (low, high) = REAL_BINARY[name]
    a, b = (RNG.uniform(low, high, 128).astype(DTYPES[kind]) for _ in range(2))
    expected = [guarded(function)(x, y) for x, y in
                zip(a.astype(np.float64).tolist(), b.astype(np.float64).tolist(), strict=True)]
    assert_close(call(name, kind, a, b), expected, ulps(name, kind))


@pytest.mark.parametrize("kind", KINDS)
def test_powers_with_integer_operand(kind: str) -> None:
    a = RNG.uniform(-3, 3, 64).astype(DTYPES[kind])
    n = RNG.integers(-6, 7, 64).astype(np.int32)
    n[n == 0] = 3
    numbers = list(zip(a.astype(np.float64).tolist(), n.tolist(), strict=True))
    assert_close(call("pown", kind, a, n), [x ** m for x, m in numbers], ulps("pown", kind))
    assert_close(call("rootn", kind, a, n), [rootn(x, m) for x, m in numbers], 2 * ulps("rootn", kind))


def test_tangents_of_doubles_near_the_poles() -> None:
    near = np.array([0.48124581925008575, -1.499])
    exact = [16.953098915543455683, -318.3088389855855028]  # by floats of 80 bits
    assert_close(call("tanpi", "f64", near), exact, 2)


def test_special_values_of_real_functions() -> None:
    """As C99 (Annex F) and the OpenCL C specification (7.5.1) have them."""
    cases: list[tuple[str, tuple[float, ...], float]] = [
        ("acos", (1.5,), NAN), ("log", (0.0,), -INF), ("log", (-1.0,), NAN), ("exp", (-INF,), 0.0),
        ("exp", (INF,), INF), ("sqrt", (-0.0,), -0.0), ("rsqrt", (0.0,), INF), ("tgamma", (0.0,), INF),
        ("tgamma", (-0.0,), -INF), ("tgamma", (-2.0,), NAN), ("tgamma", (200.0,), INF), ("lgamma", (-1.0,), INF),
        ("lgamma", (0.0,), INF), ("lgamma", (-INF,), INF), ("sinpi", (3.0,), 0.0), ("sinpi", (-3.0,), -0.0),
        ("cospi", (2.5,), 0.0), ("cospi", (3.0,), -1.0), ("tanpi", (0.5,), INF), ("tanpi", (1.5,), -INF),
        ("tanpi", (1.0,), -0.0), ("tanpi", (2.0,), 0.0), ("tanpi", (-1.0,), 0.0), ("tanpi", (-2.0,), -0.0),
        ("pow", (1.0, NAN), 1.0), ("pow", (NAN, 0.0), 1.0), ("pow", (-8.0, 1 / 3), NAN), ("pow", (-2.0, 3.0), -8.0),
        ("powr", (-1.0, 2.0), NAN), ("powr", (0.0, 0.0), NAN), ("powr", (INF, 0.0), NAN), ("powr", (1.0, INF), NAN),
        ("powr", (1.0, NAN), NAN), ("powr", (NAN, 0.0), NAN), ("powr", (0.0, -1.0), INF),
        ("hypot", (INF, NAN), INF), ("atan2", (0.0, -0.0), math.pi), ("atan2", (-0.0, 0.0), -0.0),
        ("sign", (-3.0,), -1.0), ("sign", (-0.0,), -0.0), ("sign", (NAN,), 0.0), ("sign", (INF,), 1.0),
        ("logb", (0.0,), -INF), ("logb", (-INF,), INF), ("logb", (10.0,), 3.0), ("logb", (2.0 ** -140,), -140.0),
        ("round", (0.5,), 1.0), ("round", (-0.5,), -1.0), ("round", (2.5,), 3.0), ("round", (-0.25,), -0.0),
        ("round", (0.49999997,), 0.0), ("round", (8388609.0,), 8388609.0), ("rint", (2.5,), 2.0),
        ("rint", (-0.5,), -0.0),
        ("fdim", (1.0, 2.0), 0.0), ("fdim", (NAN, 2.0), NAN), ("fdim", (3.0, 1.0), 2.0),
        ("fmax", (NAN, 2.0), 2.0), ("fmin", (1.0, NAN), 1.0), ("fmod", (5.5, -2.0), 1.5), ("fmod", (-5.5, 2.0), -1.5),
        ("maxmag", (-3.0, 2.0), -3.0), ("minmag", (-3.0, 2.0), 2.0), ("maxmag", (-2.0, 2.0), 2.0),
        ("minmag", (-2.0, 2.0), -2.0), ("remainder", (5.0, 2.0), 1.0), ("remainder", (7.0, 2.0), -1.0),
        ("remainder", (-0.0, 2.0), -0.0), ("remainder", (1.0, 0.0), NAN), ("remainder", (INF, 2.0), NAN),
        ("remainder", (3.0, INF), 3.0), ("nextafter", (0.0, 1.0), 2.0 ** -149), ("copysign", (2.0, -0.0), -2.0),
        ("step", (1.0, 1.0), 1.0), ("step", (1.0, 0.5), 0.0), ("fabs", (-0.0,), 0.0), ("trunc", (-1.5,), -1.0),
        ("ceil", (-0.5,), -0.0), ("floor", (-0.5,), -1.0), ("fmax_common", (1.0, 2.0), 2.0),
        ("fmin_common", (1.0, 2.0), 1.0),
    ]
    for name, operands, expected in cases:
        arrays = [np.array([x], np.float32) for x in operands]
        found = call(name, "f32", *arrays)
        want = np.array([expected], np.float32)
        np.testing.assert_array_equal(found, want, err_msg=f"{name}{operands}")
        if not math.isnan(expected):
            np.testing.assert_array_equal(np.signbit(found), np.signbit(want), err_msg=f"{name}{operands}")


# --------------------------------------------------------------------------------------
# Exact functions
# --------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("name", "function"), [
    ("ceil", np.ceil), ("floor", np.floor), ("rint", np.rint), ("trunc", np.trunc), ("fabs", np.fabs)])
def test_rounding_functions(name: str, function, kind: str) -> None:
    a = floats(RNG, kind)
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(call(name, kind, a), function(a))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("name", "function"), [
    ("fmax", np.fmax), ("fmin", np.fmin), ("fmod", np.fmod), ("copysign", np.copysign), ("nextafter", np.nextafter)])
def test_exact_functions_of_two(name: str, function, kind: str) -> None:
    a, b = floats(RNG, kind), RNG.permutation(floats(RNG, kind))
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(call(name, kind, a, b), function(a, b))


def exact_fma(a: float, b: float, c: float, dtype: np.dtype) -> float:
    """Rounded once: through the rational number and, for the narrower types, the nearest of their numbers."""
    if not all(map(math.isfinite, (a, b, c))):
        with np.errstate(all="ignore"):
            return float(np.float64(a) * np.float64(b) + np.float64(c))
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    if exact == 0:
        return a * b + c
    bits = {2: 11, 4: 24, 8: 53}[dtype.itemsize]
    lowest = {2: -24, 4: -149, 8: -1074}[dtype.itemsize]
    size = max(math.floor(math.log2(abs(exact.numerator))) - math.ceil(math.log2(exact.denominator)) - bits - 2, lowest)
    while True:  # the quantum: the least power of two by which the number has at most ``bits`` bits
        scaled = round(exact / Fraction(2) ** size)
        if abs(scaled) <= 1 << bits:
            break
        size += 1
    value = Fraction(scaled) * Fraction(2) ** size
    largest = float(np.finfo(dtype).max)
    return float(value) if abs(value) <= Fraction(largest) else INF if exact > 0 else -INF


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["fma", "mad"])
def test_fused_multiply_add_is_rounded_once(name: str, kind: str) -> None:
    dtype = np.dtype(DTYPES[kind])
    a, b, c = (floats(RNG, kind, 256) for _ in range(3))
    near = RNG.uniform(-4, 4, (3, 256)).astype(dtype)  # cancellation, and sums just beside a tie
    near[2, :128] = -(near[0] * near[1])[:128]
    near[2, 128:] *= dtype.type(np.finfo(dtype).eps / 8)
    a, b, c = (np.concatenate([x, y]) for x, y in zip((a, b, c), near, strict=True))
    expected = [exact_fma(*row, dtype) for row in np.stack([a, b, c], 1).astype(np.float64).tolist()]
    np.testing.assert_array_equal(call(name, kind, a, b, c).astype(np.float64), expected)


@pytest.mark.parametrize("kind", KINDS)
def test_remainder_and_quotient(kind: str) -> None:
    """Against Python's IEEE remainder and the exact quotient, rounded to even."""
    a, b = floats(RNG, kind), RNG.permutation(floats(RNG, kind))
    quotient_code = (f"%slot = OpVariable %p_i32 Function\n%rest = OpExtInst %{kind} %std remquo {{0}} {{1}} %slot\n"
                     "%r = OpLoad %i32 %slot")
    rests = call("remainder", kind, a, b)
    quotients = evaluate(quotient_code, "i32", a, b)
    for x, y, rest, quotient in zip(a.tolist(), b.tolist(), rests, quotients, strict=True):
        if math.isnan(x) or math.isnan(y) or math.isinf(x) or y == 0:
            assert np.isnan(rest)
            continue
        assert float(rest) == math.remainder(x, y)
        exact = 0 if math.isinf(y) else round(Fraction(x) / Fraction(y))
        assert quotient == (abs(exact) & 127) * (-1 if (x < 0) != (y < 0) else 1)


@pytest.mark.parametrize("kind", KINDS)
def test_functions_with_two_results(kind: str) -> None:
    a = np.concatenate([floats(RNG, kind), RNG.uniform(-9, 9, 64).astype(DTYPES[kind])])
    finite = np.isfinite(a)

    def both(name: str, second: str) -> tuple[np.ndarray, np.ndarray]:
        code = f"%slot = OpVariable %p_{second} Function\n%first = OpExtInst %{kind} %std {name} {{0}} %slot\n"
        return (evaluate(code + f"%r = OpCopyObject %{kind} %first", kind, a),
                evaluate(code + f"%r = OpLoad %{second} %slot", second, a))

    with np.errstate(all="ignore"):
        fraction, whole = both("modf", kind)
        np.testing.assert_array_equal(fraction, np.modf(a)[0])
        np.testing.assert_array_equal(whole, np.modf(a)[1])
        fraction, floor = both("fract", kind)
        np.testing.assert_array_equal(floor, np.floor(a))
        below_one = np.nextafter(a.dtype.type(1), a.dtype.type(0))
        np.testing.assert_array_equal(fraction[finite], np.minimum(a - np.floor(a), below_one)[finite])
        significand, power = both("frexp", "i32")
        expected = [math.frexp(x) for x in a[finite].astype(np.float64).tolist()]
        np.testing.assert_array_equal(significand[finite], [s for s, _ in expected])
        np.testing.assert_array_equal(power[finite], [p for _, p in expected])
        usual = finite & (np.abs(a) < 100) & (np.abs(a) > 1e-3)
        sine, cosine = both("sincos", kind)
        assert_close(sine[usual], [math.sin(x) for x in a[usual].astype(np.float64).tolist()],
                     ulps("sin", kind))
        assert_close(cosine[usual], [math.cos(x) for x in a[usual].astype(np.float64).tolist()],
                     ulps("cos", kind))
        _, sign = both("lgamma_r", "i32")
        expected_sign = [gamma_sign(x) for x in a[usual].astype(np.float64).tolist()]
        np.testing.assert_array_equal(sign[usual], expected_sign)


@pytest.mark.parametrize("kind", KINDS)
def test_exponents(kind: str) -> None:
    a = floats(RNG, kind)
    numbers = a.astype(np.float64).tolist()
    expected = [-(1 << 31) if x == 0 else (1 << 31) - 1 if not math.isfinite(x) else math.frexp(x)[1] - 1
                for x in numbers]
    np.testing.assert_array_equal(call("ilogb", "i32", a), expected)
    power = RNG.integers(-40, 40, len(a)).astype(np.int32)
    dtype = np.dtype(DTYPES[kind])
    with np.errstate(all="ignore"):
        scaled = [exact_fma(x, 2.0 ** p, 0.0, dtype) if math.isfinite(x) else x
                  for x, p in zip(numbers, power.tolist(), strict=True)]
    np.testing.assert_array_equal(call("ldexp", kind, a, power).astype(np.float64), scaled)


def test_nan_carries_its_payload() -> None:
    payload = np.array([0, 1, 0x12345, 0x3FFFFF], np.int32)
    found = call("nan", "f32", payload)
    assert np.isnan(found).all()
    np.testing.assert_array_equal(found.view(np.int32) & 0x3FFFFF, payload)


@pytest.mark.parametrize("kind", KINDS)
def test_common_functions(kind: str) -> None:
    a, b, c = (RNG.uniform(-4, 4, 64).astype(DTYPES[kind]) for _ in range(3))
    low, high = np.minimum(b, c), np.maximum(b, c) + np.dtype(DTYPES[kind]).type(0.5)
    np.testing.assert_array_equal(call("fclamp", kind, a, low, high), np.minimum(np.maximum(a, low), high))
    rows = np.stack([a, b, c], 1).astype(np.float64).tolist()
    assert_close(call("mix", kind, a, b, c), [x + (y - x) * t for x, y, t in rows], ulps("mix", kind))
    rows = np.stack([low, high, a], 1).astype(np.float64).tolist()
    ramps = [min(max((x - lo) / (hi - lo), 0.0), 1.0) for lo, hi, x in rows]
    assert_close(call("smoothstep", kind, low, high, a), [t * t * (3 - 2 * t) for t in ramps], ULPS[kind])


# --------------------------------------------------------------------------------------
# Geometry
# --------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["f32", "f64"])
@pytest.mark.parametrize("count", [1, 2, 3, 4])
@pytest.mark.parametrize("prefix", ["", "fast_"])
def test_lengths_and_distances(prefix: str, count: int, kind: str) -> None:
    shape = (64, count) if count > 1 else 64
    a, b = (RNG.standard_normal(shape).astype(DTYPES[kind]) for _ in range(2))
    rows_a, rows_b = (x.astype(np.float64).reshape(64, count).tolist() for x in (a, b))
    whole = kind if count == 1 else f"v{count}_{kind}"
    ulps = 2 * ULPS[kind]
    assert_close(call(f"{prefix}length", kind, a), [math.hypot(*row) for row in rows_a], ulps)
    assert_close(call(f"{prefix}distance", kind, a, b),
                 [math.dist(x, y) for x, y in zip(rows_a, rows_b, strict=True)], ulps)
    expected = [x / math.hypot(*row) for row in rows_a for x in row]
    assert_close(call(f"{prefix}normalize", whole, a).reshape(-1), expected, ulps)


def test_normalize_of_zero_and_infinity() -> None:
    a = np.array([[0, 0, 0, 0], [INF, 1, 0, 0], [1e38, 0, 1e38, 0], [1e-44, 0, 0, 0]], np.float32)
    found = call("normalize", "v4_f32", a)
    np.testing.assert_allclose(found, [[0, 0, 0, 0], [1, 0, 0, 0], [0.5 ** 0.5, 0, 0.5 ** 0.5, 0], [1, 0, 0, 0]], 1e-6)


@pytest.mark.parametrize("count", [3, 4])
def test_cross_product(count: int) -> None:
    a, b = (RNG.standard_normal((64, count)).astype(np.float32) for _ in range(2))
    expected = np.cross(a[:, :3].astype(np.float64), b[:, :3].astype(np.float64)).astype(np.float32)
    found = call("cross", f"v{count}_f32", a, b)
    np.testing.assert_array_equal(found[:, :3], expected)
    assert (found[:, 3:] == 0).all()


# --------------------------------------------------------------------------------------
# Integers
# --------------------------------------------------------------------------------------


def clamp(value: int, width: int, signed: bool) -> int:
    low, high = (-(1 << width - 1), (1 << width - 1) - 1) if signed else (0, (1 << width) - 1)
    return min(max(value, low), high)


def low24(value: int, signed: bool) -> int:
    value &= 0xFFFFFF
    return value - (1 << 24) if signed and value >> 23 else value


# On Python integers that are read as the function reads its operands, with the width.
SIGNED_AND_UNSIGNED: dict[str, tuple[int, Callable[..., int]]] = {
    "abs_diff": (2, lambda a, b, w, s: abs(a - b)),
    "add_sat": (2, lambda a, b, w, s: clamp(a + b, w, s)),
    "sub_sat": (2, lambda a, b, w, s: clamp(a - b, w, s)),
    "mad_sat": (3, lambda a, b, c, w, s: clamp(a * b + c, w, s)),
    "hadd": (2, lambda a, b, w, s: a + b >> 1),
    "rhadd": (2, lambda a, b, w, s: a + b + 1 >> 1),
    "max": (2, lambda a, b, w, s: max(a, b)),
    "min": (2, lambda a, b, w, s: min(a, b)),
    "mul_hi": (2, lambda a, b, w, s: a * b >> w),
    "mad_hi": (3, lambda a, b, c, w, s: (a * b >> w) + c),
    "abs": (1, lambda a, w, s: abs(a)),
}
BITS: dict[str, tuple[int, Callable[..., int]]] = {
    "clz": (1, lambda a, w: w - unsigned(a, w).bit_length()),
    "ctz": (1, lambda a, w: w if a == 0 else (a & -a).bit_length() - 1),
    "popcount": (1, lambda a, w: unsigned(a, w).bit_count()),
    "rotate": (2, lambda a, b, w: unsigned(a, w) << b % w | unsigned(a, w) >> w - b % w),
}


@pytest.mark.parametrize("width", [8, 16, 32, 64])
@pytest.mark.parametrize("signed", [True, False])
@pytest.mark.parametrize("name", SIGNED_AND_UNSIGNED)
def test_integer_function(name: str, signed: bool, width: int) -> None:
    count, function = SIGNED_AND_UNSIGNED[name]
    operands = [RNG.permutation(integers(RNG, width)) for _ in range(count)]
    rows = [[x if signed else unsigned(x, width) for x in row] for row in np.stack(operands, 1).tolist()]
    expected = wrapped([function(*row, width, signed) for row in rows], width)
    found = call(f"{'s' if signed else 'u'}_{name}", f"i{width}", *operands)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("width", [8, 16, 32, 64])
@pytest.mark.parametrize("name", BITS)
def test_bit_function(name: str, width: int) -> None:
    count, function = BITS[name]
    operands = [RNG.permutation(integers(RNG, width)) for _ in range(count)]
    expected = wrapped([function(*row, width) for row in np.stack(operands, 1).tolist()], width)
    np.testing.assert_array_equal(call(name, f"i{width}", *operands), expected)


@pytest.mark.parametrize("signed", [True, False])
@pytest.mark.parametrize("width", [8, 16, 32, 64])
def test_integer_clamp(width: int, signed: bool) -> None:
    a, b, c = (RNG.permutation(integers(RNG, width)) for _ in range(3))
    read = (lambda x: x) if signed else (lambda x: unsigned(x, width))
    low, high = (np.array([pick((x, y), key=read) for x, y in zip(b.tolist(), c.tolist(), strict=True)], b.dtype)
                 for pick in (min, max))
    expected = [min(max(read(x), read(lo)), read(hi)) for x, lo, hi in np.stack([a, low, high], 1).tolist()]
    found = call(f"{'s' if signed else 'u'}_clamp", f"i{width}", a, low, high)
    np.testing.assert_array_equal(found, wrapped(expected, width))


@pytest.mark.parametrize("signed", [True, False])
def test_24_bit_products(signed: bool) -> None:
    a, b, c = (RNG.permutation(integers(RNG, 32)) for _ in range(3))
    prefix = "s" if signed else "u"
    products = [low24(x, signed) * low24(y, signed) for x, y in zip(a.tolist(), b.tolist(), strict=True)]
    np.testing.assert_array_equal(call(f"{prefix}_mul24", "i32", a, b), wrapped(products, 32))
    sums = [p + z for p, z in zip(products, c.tolist(), strict=True)]
    np.testing.assert_array_equal(call(f"{prefix}_mad24", "i32", a, b, c), wrapped(sums, 32))


@pytest.mark.parametrize("width", [8, 16, 32])
@pytest.mark.parametrize("prefix", ["s", "u"])
def test_upsample(prefix: str, width: int) -> None:
    high, low = integers(RNG, width), RNG.permutation(integers(RNG, width))
    expected = [x << width | unsigned(y, width) for x, y in zip(high.tolist(), low.tolist(), strict=True)]
    found = call(f"{prefix}_upsample", f"i{2 * width}", high, low)
    np.testing.assert_array_equal(found, wrapped(expected, 2 * width))


# --------------------------------------------------------------------------------------
# Selection and shuffles
# --------------------------------------------------------------------------------------


def test_bitselect() -> None:
    a, b = floats(RNG, "f32"), RNG.permutation(floats(RNG, "f32"))
    mask = np.frombuffer(RNG.bytes(a.nbytes), np.float32)
    bits_a, bits_b, bits = (x.view(np.uint32) for x in (a, b, mask))
    found = call("bitselect", "f32", a, b, mask).view(np.uint32)
    np.testing.assert_array_equal(found, bits_a & ~bits | bits_b & bits)


def test_select_of_scalars_by_truth_and_of_vectors_by_the_highest_bit() -> None:
    a, b = RNG.standard_normal((2, 64)).astype(np.float32)
    condition = RNG.integers(-2, 3, 64).astype(np.int32)
    np.testing.assert_array_equal(call("select", "f32", a, b, condition), np.where(condition != 0, b, a))
    a, b = RNG.standard_normal((2, 64, 4)).astype(np.float32)
    condition = RNG.integers(-2, 3, (64, 4)).astype(np.int32)
    np.testing.assert_array_equal(call("select", "v4_f32", a, b, condition), np.where(condition < 0, b, a))


def test_shuffles() -> None:
    a, b = RNG.integers(0, 100, (2, 64, 4)).astype(np.int32)
    mask = RNG.integers(0, 100, (64, 8)).astype(np.int32)
    expected = np.take_along_axis(a, mask % 4, 1)
    np.testing.assert_array_equal(call("shuffle", "v8_i32", a, mask), expected)
    expected = np.take_along_axis(np.concatenate([a, b], 1), mask % 8, 1)
    np.testing.assert_array_equal(call("shuffle2", "v8_i32", a, b, mask), expected)


# --------------------------------------------------------------------------------------
# Memory
# --------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [2, 3, 4, 8, 16])
def test_vload_and_vstore_are_packed(count: int) -> None:
    source = module("g_i16 out, g_i16 a", f"""
        %v = OpExtInst %v{count}_i16 %std vloadn %gx %a {count}
        %w = OpIAdd %v{count}_i16 %v %v
        %done = OpExtInst %void %std vstoren %w %gx %out""")
    a, out = RNG.integers(-99, 99, 16 * count).astype(np.int16), np.zeros(16 * count, np.int16)
    run(source, [out, a])
    np.testing.assert_array_equal(out, 2 * a)


@pytest.mark.parametrize("kind", ["f32", "f64"])
@pytest.mark.parametrize("mode", [None, "RTE", "RTZ", "RTP", "RTN"])
def test_half_loads_and_stores(kind: str, mode: str | None) -> None:
    suffix, literal = ("", "") if mode is None else ("_r", mode)
    source = module(f"g_f16 out, g_{kind} a, g_{kind} back", f"""
        %p = OpPtrAccessChain %g_{kind} %a %gx
        %v = OpLoad %{kind} %p
        %done = OpExtInst %void %std vstore_half{suffix} %v %gx %out {literal}
        %w = OpExtInst %{kind} %std vload_half %gx %out
        %q = OpPtrAccessChain %g_{kind} %back %gx
        OpStore %q %w""")
    a = np.concatenate([RNG.standard_normal(200) * 2.0 ** RNG.integers(-28, 17, 200), [0.0, -0.0, INF, -INF] * 2]
                       ).astype(DTYPES[kind])
    out, back = np.zeros(len(a), np.float16), np.zeros_like(a)
    run(source, [out, a, back], len(a), 8)
    np.testing.assert_array_equal(back, out.astype(a.dtype))
    if mode in (None, "RTE"):
        with np.errstate(over="ignore"):
            np.testing.assert_array_equal(out, a.astype(np.float16))
    wide = out.astype(np.float64)
    assert {"RTZ": np.abs(wide) <= np.abs(a), "RTP": wide >= a, "RTN": wide <= a}.get(mode, np.ones(1, bool)).all()


@pytest.mark.parametrize(("aligned", "stride"), [("", 3), ("a", 4)])
def test_half_vectors_of_three(aligned: str, stride: int) -> None:
    """The aligned forms leave room for a fourth component."""
    source = module("g_f16 out, g_f16 a", f"""
        %v = OpExtInst %v3_f32 %std vload{aligned}_halfn %gx %a 3
        %w = OpFAdd %v3_f32 %v %v
        %done = OpExtInst %void %std vstore{aligned}_halfn %w %gx %out""")
    a = RNG.integers(-99, 99, (16, stride)).astype(np.float16)
    out = np.zeros_like(a)
    run(source, [out, a])
    np.testing.assert_array_equal(out[:, :3], 2 * a[:, :3])
    assert (out[:, 3:] == 0).all()


def test_half_vectors_with_rounding() -> None:
    for name in ("vstore_halfn_r", "vstorea_halfn_r"):
        source = module("g_f16 out, g_v2_f32 a", f"""
            %p = OpPtrAccessChain %g_v2_f32 %a %gx
            %v = OpLoad %v2_f32 %p
            %done = OpExtInst %void %std {name} %v %gx %out RTP""")
        a = RNG.standard_normal((16, 2)).astype(np.float32)
        out = np.zeros_like(a, np.float16)
        run(source, [out, a])
        assert (out >= a).all()
        assert (np.nextafter(out, np.float16(-INF)) < a).all()


def test_prefetch_never_faults() -> None:
    run(module("g_i32 a", """
        %p = OpPtrAccessChain %g_i32 %a %i64_c1000
        %n = OpExtInst %void %std prefetch %p %i64_c16"""), [np.zeros(1, np.int32)])


def test_an_unknown_instruction_set_is_named() -> None:
    source = module("g_i32 a", "%n = OpExtInst %i32 %std s_abs %i32_c1")
    text = source.to_text().replace("OpenCL.std", "GLSL.std.450")
    from coopmat.spirv.module import Module
    with pytest.raises(Error, match=r"GLSL\.std\.450"):
        run(Module.from_text(text), [np.zeros(1, np.int32)])
