"""Conversions between all types, with every rounding mode, against exact rational numbers."""

from __future__ import annotations

import itertools
import math
from contextlib import nullcontext
from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest

from coopmat.diagnostics import UndefinedBehavior
from tests.kit.targets.short_kernels import DTYPES, UNCHECKED, evaluate, module, refuses, run
from tests.kit.targets.values import floats, integers, unsigned, wrapped

RNG = np.random.default_rng(13)
MODES = ("RTE", "RTZ", "RTP", "RTN")
FLOATS = ("f16", "bf16", "f32", "f64")
WIDTHS = (8, 16, 32, 64)


def to_integer(value: float, mode: str | None) -> int:
    """A finite number rounded to an integer; without a mode, toward zero."""
    exact = Fraction(value)
    return {"RTE": round, "RTP": math.ceil, "RTN": math.floor}.get(mode, math.trunc)(exact)


def neighbours(exact: Fraction, dtype: np.dtype) -> tuple[float, float]:
    """The largest number of a format that is not above ``exact``, and the smallest that is not below."""
    with np.errstate(all="ignore"):
        near = np.array(float(exact), np.float64).astype(dtype)
        step = near
        low = high = near
        while (np.isinf(step) and step > 0) or (not np.isinf(step) and Fraction(float(step)) > exact):
            step = np.nextafter(step, dtype.type(-np.inf))
            low = step
        low = step
        step = near
        while (np.isinf(step) and step < 0) or (not np.isinf(step) and Fraction(float(step)) < exact):
            step = np.nextafter(step, dtype.type(np.inf))
        high = step
    return float(low), float(high)


def to_float(exact: Fraction, dtype: np.dtype, mode: str) -> float:
    """A rational number rounded to a format; ties to the even significand."""
    low, high = neighbours(exact, dtype)
    if low == high or mode in ("RTN", "RTP") or mode == "RTZ":
        if low == high:
            return low
        return low if mode == "RTN" or (mode == "RTZ" and exact > 0) else high
    largest = Fraction(float(ml_dtypes.finfo(dtype).max))
    ulp = largest - Fraction(float(np.nextafter(dtype.type(float(largest)), dtype.type(0))))
    below = Fraction(low) if math.isfinite(low) else -largest - ulp
    above = Fraction(high) if math.isfinite(high) else largest + ulp
    if exact - below != above - exact:
        return low if exact - below < above - exact else high
    bits = np.array(low, np.float64).astype(dtype).view(f"u{dtype.itemsize}")
    return low if math.isfinite(low) and int(bits) % 2 == 0 else high


def wide(values: np.ndarray) -> np.ndarray:
    """Floating-point numbers as float64."""
    with np.errstate(invalid="ignore"):  # signalling NaNs
        return values.astype(np.float64)


def decoration(mode: str | None, saturated: bool = False) -> str:
    lines = [f"OpDecorate %r FPRoundingMode {mode}"] if mode else []
    return "\n".join(lines + ["OpDecorate %r SaturatedConversion"] * saturated)


@pytest.mark.parametrize("mode", [None, *MODES])
@pytest.mark.parametrize("signed", [True, False])
@pytest.mark.parametrize("kind", FLOATS)
def test_float_to_integer(kind: str, signed: bool, mode: str | None) -> None:
    """In range: rounded as asked. With saturation, out of range: the nearest end; NaN: 0."""
    a = np.concatenate([floats(RNG, kind, 160), (np.arange(96) / 4 - 12).astype(DTYPES[kind])])
    name = f"OpConvertFTo{'S' if signed else 'U'}"
    for width in WIDTHS:
        low, high = (-(1 << width - 1), (1 << width - 1) - 1) if signed else (0, (1 << width) - 1)
        numbers = wide(a).tolist()
        finite = [math.isfinite(x) and low <= to_integer(x, mode) <= high for x in numbers]
        code, result = f"{name} %i{width} {{0}}", f"i{width}"
        found = evaluate(code, result, a, decorations=decoration(mode), options=UNCHECKED)
        expected = wrapped([to_integer(x, mode) if ok else 0 for x, ok in zip(numbers, finite, strict=True)], width)
        np.testing.assert_array_equal(found[finite], expected[finite])
        clamped = [0 if math.isnan(x) else low if x == -math.inf else high if x == math.inf
                   else min(max(to_integer(x, mode), low), high) for x in numbers]
        found = evaluate(code, result, a, decorations=decoration(mode, saturated=True))
        np.testing.assert_array_equal(found, wrapped(clamped, width))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("signed", [True, False])
@pytest.mark.parametrize("width", WIDTHS)
def test_numbers_that_no_integer_holds(width: int, signed: bool, mode: str | None) -> None:
    """A number is refused exactly if what it is rounded to is out of range; saturation refuses none."""
    low, high = (-(1 << width - 1), (1 << width - 1) - 1) if signed else (0, (1 << width) - 1)
    ends = np.array([low, high], np.float64)[:, None] + np.array([-1, -0.75, -0.5, -0.25, 0, 0.25, 0.5, 0.75, 1])
    line = f"OpConvertFTo{'S' if signed else 'U'} %i{width} {{0}}"
    for number in [*np.unique(ends).tolist(), math.nan, math.inf, -math.inf]:
        is_refused = not math.isfinite(number) or not low <= to_integer(number, mode) <= high
        a = np.ones(8)
        a[5] = number
        with refuses(UndefinedBehavior, "is converted to a") if is_refused else nullcontext():
            evaluate(line, f"i{width}", a, decorations=decoration(mode))
        evaluate(line, f"i{width}", a, decorations=decoration(mode, saturated=True))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("signed", [True, False])
@pytest.mark.parametrize("width", WIDTHS)
def test_integer_to_float(width: int, signed: bool, mode: str) -> None:
    a = np.concatenate([integers(RNG, width, 48), integers(RNG, width, 48) >> width // 3])
    for kind in FLOATS:
        dtype = np.dtype(DTYPES[kind])
        code = f"OpConvert{'S' if signed else 'U'}ToF %{kind} {{0}}"
        found = evaluate(code, kind, a, decorations=decoration(mode))
        expected = [to_float(Fraction(x if signed else unsigned(x, width)), dtype, mode) for x in a.tolist()]
        np.testing.assert_array_equal(found.astype(np.float64), expected)


@pytest.mark.parametrize("mode", [None, *MODES])
@pytest.mark.parametrize(("source", "target"), list(itertools.permutations(FLOATS, 2)))
def test_float_to_float(source: str, target: str, mode: str | None) -> None:
    scale = 2.0 ** RNG.integers(-30, 30, 96)
    with np.errstate(all="ignore"):
        a = np.concatenate([floats(RNG, source, 64), (RNG.standard_normal(96) * scale).astype(DTYPES[source])])
    dtype = np.dtype(DTYPES[target])
    found = wide(evaluate(f"OpFConvert %{target} {{0}}", target, a, decorations=decoration(mode)))
    numbers = wide(a)
    finite = np.isfinite(numbers)
    expected = [to_float(Fraction(x), dtype, mode or "RTE") if x else x for x in numbers[finite].tolist()]
    np.testing.assert_array_equal(found[finite], expected)
    np.testing.assert_array_equal(found[~finite], numbers[~finite])


@pytest.mark.parametrize("saturated", [False, True])
@pytest.mark.parametrize("signed", [False, True])
@pytest.mark.parametrize("source", WIDTHS)
def test_integer_width(source: int, signed: bool, saturated: bool) -> None:
    a = integers(RNG, source)
    for target in WIDTHS:
        if target == source:
            continue
        low, high = (-(1 << target - 1), (1 << target - 1) - 1) if signed else (0, (1 << target) - 1)
        values = [x if signed else unsigned(x, source) for x in a.tolist()]
        if saturated:
            values = [min(max(x, low), high) for x in values]
        code = f"Op{'S' if signed else 'U'}Convert %i{target} {{0}}"
        found = evaluate(code, f"i{target}", a, decorations=decoration(None, saturated))
        np.testing.assert_array_equal(found, wrapped(values, target))


@pytest.mark.parametrize("source", WIDTHS)
@pytest.mark.parametrize("target", WIDTHS)
def test_saturation_across_signs(source: int, target: int) -> None:
    a = integers(RNG, source)
    to_unsigned = [min(max(x, 0), (1 << target) - 1) for x in a.tolist()]
    to_signed = [min(unsigned(x, source), (1 << target - 1) - 1) for x in a.tolist()]
    found = evaluate(f"OpSatConvertSToU %i{target} {{0}}", f"i{target}", a)
    np.testing.assert_array_equal(found, wrapped(to_unsigned, target))
    found = evaluate(f"OpSatConvertUToS %i{target} {{0}}", f"i{target}", a)
    np.testing.assert_array_equal(found, wrapped(to_signed, target))


@pytest.mark.parametrize(("source", "target"), [
    ("i32", "f32"), ("f32", "i32"), ("i64", "f64"), ("i16", "f16"), ("i16", "bf16"), ("f64", "v2_i32"),
    ("v4_i8", "i32"), ("i32", "v4_i8"), ("v2_f32", "v8_i8"), ("v4_f16", "v2_f32"), ("v16_i8", "v2_i64")])
def test_bitcast_keeps_the_bytes(source: str, target: str) -> None:
    count, _, scalar = source.rpartition("_")
    width = int(count[1:] or 1)
    dtype = np.dtype(DTYPES[scalar])
    a = np.frombuffer(RNG.bytes(32 * width * dtype.itemsize), dtype)
    a = a.reshape(32, width) if count else a
    assert evaluate(f"OpBitcast %{target} {{0}}", target, a).tobytes() == a.tobytes()


def test_a_pointer_survives_a_journey_through_integers_and_memory() -> None:
    source = module("g_i32 out, g_i32 a", """
        %slot = OpVariable %p_g_i32 Function
        %p = OpPtrAccessChain %g_i32 %a %gx
        %n = OpConvertPtrToU %i64 %p
        %n4 = OpIAdd %i64 %n %i64_c4
        %q = OpConvertUToPtr %g_i32 %n4
        OpStore %slot %q
        %q2 = OpLoad %g_i32 %slot
        %x = OpPtrCastToGeneric %x_i32 %q2
        %y = OpGenericCastToPtr %g_i32 %x
        %v = OpLoad %i32 %y
        %o = OpPtrAccessChain %g_i32 %out %gx
        OpStore %o %v""")
    out = np.zeros(16, np.int32)
    run(source, [out, np.arange(17, dtype=np.int32)])
    assert out.tolist() == list(range(1, 17))


def test_cast_to_explicit_storage_gives_null_elsewhere() -> None:
    source = module("g_i64 out, g_i32 a", """
        %mine = OpVariable %p_i32 Function
        %x = OpPtrCastToGeneric %x_i32 %a
        %y = OpPtrCastToGeneric %x_i32 %mine
        %g = OpGenericCastToPtrExplicit %g_i32 %x CrossWorkgroup
        %l = OpGenericCastToPtrExplicit %w_i32 %x Workgroup
        %f = OpGenericCastToPtrExplicit %p_i32 %y Function
        %n0 = OpConvertPtrToU %i64 %g
        %n1 = OpConvertPtrToU %i64 %l
        %n2 = OpConvertPtrToU %i64 %f
        OpStore %out %n0
        %o1 = OpPtrAccessChain %g_i64 %out %i64_c1
        OpStore %o1 %n1
        %o2 = OpPtrAccessChain %g_i64 %out %i64_c2
        OpStore %o2 %n2""")
    out = np.zeros(3, np.int64)
    run(source, [out, np.zeros(1, np.int32)], 1, 1)
    assert (out != 0).tolist() == [True, False, True]
