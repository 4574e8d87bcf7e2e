"""Every conversion between scalar types, in the simulator, against exact rational numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import product

import ml_dtypes
import numpy as np
import pytest

from coopmat.tree import nodes as n
from coopmat.tree import types as t
from tests.kit.lowering.trees import assign, at, binary, convert, kernel, load, pointer, run, variable
from tests.kit.rational_model import FIELDS, decode, round_exactly

INTEGERS = [t.CHAR, t.UCHAR, t.SHORT, t.USHORT, t.INT, t.UINT, t.LONG, t.ULONG]
FLOATS = [t.HALF, t.BFLOAT16, t.FLOAT, t.DOUBLE]
Way = tuple[str | None, bool]  # rounding, whether to saturate
MODES = [None, "rte", "rtz", "rtp", "rtn"]
DTYPES = {scalar: np.dtype(name) for scalar, name in zip(
    [*INTEGERS, t.HALF, t.FLOAT, t.DOUBLE],
    ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8"], strict=True)}
DTYPES[t.BFLOAT16] = np.dtype(ml_dtypes.bfloat16)


def limits(scalar: t.Scalar) -> tuple[int, int]:
    """Smallest and largest value of an integer type."""
    return (-(1 << scalar.bits - 1), (1 << scalar.bits - 1) - 1) if scalar.is_signed else (0, (1 << scalar.bits) - 1)


def integer_inputs(scalar: t.Scalar) -> np.ndarray:
    """All values of a small type; of a large one those around powers of two and their midpoints."""
    low, high = limits(scalar)
    if scalar.bits <= 8:
        return np.arange(low, high + 1, dtype=DTYPES[scalar])
    values = {0, low, high, low + 1, high - 1}
    for bits in range(scalar.bits):
        for below in {0, 1, 7, 8, 9, 10, 11, 23, 24, 52, 53} & set(range(bits + 1)):
            base = (1 << bits) + (1 << bits - below)
            values |= {base - 1, base, base + 1, base + (1 << max(0, bits - below - 1)), 3 * base + 1}
    values |= {-value for value in values}
    return np.array(sorted(value for value in values if low <= value <= high), DTYPES[scalar])


def float_inputs(scalar: t.Scalar) -> np.ndarray:
    """Special values and, from every binade, values near the rounding boundaries of all narrower formats."""
    exponent_bits, fraction_bits, _ = FIELDS[scalar.format_name]
    fractions = {0, 1, 2, 3, (1 << fraction_bits) - 1}
    for position in {1, 3, 6, 7, 8, 10, 12, 15, 28, 41, 44} & set(range(fraction_bits)):
        half = 1 << position
        fractions |= {half - 1, half, half + 1, 3 * half, 3 * half + 1}
    bias = (1 << exponent_bits - 1) - 1
    steps = {-150, -149, -135, -134, -133, -127, -126, -125, -25, -24, -15, -14, -13, -9, -2, -1, 0, 1, 2, 6, 7, 8, 9,
             14, 15, 16, 22, 23, 24, 30, 31, 32, 51, 52, 53, 62, 63, 64, 127, 128, -1022, bias}
    exponents = {bias + step for step in steps if 0 <= bias + step <= 2 * bias} | {0, 1}
    bits = [exponent << fraction_bits | fraction % (1 << fraction_bits)
            for exponent, fraction in product(sorted(exponents), sorted(fractions))]
    bits += [(2 * bias + 1) << fraction_bits, ((2 * bias + 1) << fraction_bits) | 1 << fraction_bits - 1]
    bits += [pattern | 1 << scalar.bits - 1 for pattern in bits]
    return np.array(bits, f"u{scalar.bits // 8}").view(DTYPES[scalar])


def exact(values: np.ndarray, scalar: t.Scalar) -> list[Fraction | float]:
    """The values as rational numbers; floats stand for NaN and the infinities."""
    if scalar.is_integer:
        return [Fraction(int(value)) for value in values]
    bits = values.view(f"u{scalar.bits // 8}")
    return [decode(int(pattern), scalar.format_name) for pattern in bits]


INPUTS = {scalar: integer_inputs(scalar) for scalar in INTEGERS} | {scalar: float_inputs(scalar) for scalar in FLOATS}
EXACT = {scalar: exact(values, scalar) for scalar, values in INPUTS.items()}


def to_integer(value: Fraction | float, scalar: t.Scalar, rounding: str | None, saturate: bool) -> int | None:
    """The converted value; None where the conversion is undefined."""
    low, high = limits(scalar)
    if isinstance(value, float):
        if not saturate:
            return None
        return 0 if math.isnan(value) else (high if value > 0 else low)
    rounded = {None: math.trunc, "rtz": math.trunc, "rte": round, "rtp": math.ceil, "rtn": math.floor}[rounding](value)
    if low <= rounded <= high:
        return rounded
    return max(low, min(high, rounded)) if saturate else None


def to_float(value: Fraction | float, negative: bool, scalar: t.Scalar, rounding: str | None) -> int:
    """The bits of the converted value (of the quiet NaN for NaNs)."""
    exponent_bits, fraction_bits, _ = FIELDS[scalar.format_name]
    infinity = ((1 << exponent_bits) - 1) << fraction_bits
    if isinstance(value, float):
        return infinity | 1 << fraction_bits - 1 if math.isnan(value) else infinity | negative << scalar.bits - 1
    return round_exactly(value, scalar.format_name, rounding or "rte", negative)


def outcomes(source: t.Type, target: t.Type, values: np.ndarray, ways: Sequence[Way]) -> list[np.ndarray]:
    """What the lowered conversions compute in the simulator, one array for each way."""
    taken = variable("taken", pointer(source, const=True))
    given = [variable(f"given{i}", pointer(target)) for i in range(len(ways))]
    body = [assign(at(out), convert(load(at(taken)), target, *way)) for out, way in zip(given, ways, strict=True)]
    results = [np.zeros(len(values), DTYPES.get(target, np.dtype(np.uint8))) for _ in ways]
    run(n.Program([kernel("k", [taken, *given], *body)]), "k", len(values), values, *results, local=1)
    return results


def name(value: object) -> str:
    return str(value)


@pytest.mark.parametrize("source", INTEGERS, ids=name)
@pytest.mark.parametrize("target", INTEGERS, ids=name)
def test_integer_to_integer(source: t.Scalar, target: t.Scalar) -> None:
    values = INPUTS[source]
    low, high = limits(target)
    wrapped, saturated = outcomes(source, target, values, [(None, False), (None, True)])
    assert wrapped.tolist() == [(int(v) - low) % (1 << target.bits) + low for v in values]
    assert saturated.tolist() == [max(low, min(high, int(v))) for v in values]


@pytest.mark.parametrize("source", FLOATS, ids=name)
@pytest.mark.parametrize("target", INTEGERS, ids=name)
@pytest.mark.parametrize("saturate", [False, True], ids=["plain", "sat"])
def test_float_to_integer(source: t.Scalar, target: t.Scalar, saturate: bool) -> None:
    ways = [(rounding, saturate) for rounding in MODES]
    expected = [[to_integer(v, target, *way) for way in ways] for v in EXACT[source]]
    defined = np.array([None not in row for row in expected])
    found = outcomes(source, target, INPUTS[source][defined], ways)
    assert np.array(found, object).T.tolist() == [row for row in expected if None not in row]


@pytest.mark.parametrize("source", [*INTEGERS, *FLOATS], ids=name)
@pytest.mark.parametrize("target", FLOATS, ids=name)
def test_to_float(source: t.Scalar, target: t.Scalar) -> None:
    values = INPUTS[source]
    negative = np.signbit(values.astype("f8")) if source.is_float else values < 0
    for rounding, found in zip(MODES, outcomes(source, target, values, [(mode, False) for mode in MODES]), strict=True):
        expected = np.array([to_float(v, bool(sign), target, rounding)
                             for v, sign in zip(EXACT[source], negative, strict=True)], f"u{target.bits // 8}")
        is_nan = np.isnan(expected.view(DTYPES[target]).astype("f8"))
        np.testing.assert_array_equal(np.isnan(found.astype("f8")), is_nan)
        np.testing.assert_array_equal(found.view(expected.dtype)[~is_nan], expected[~is_nan])


@pytest.mark.parametrize("source", [*INTEGERS, *FLOATS], ids=name)
def test_to_bool_and_back(source: t.Scalar) -> None:
    values = INPUTS[source]
    expected = np.array([isinstance(v, float) or v != 0 for v in EXACT[source]], np.uint8)
    np.testing.assert_array_equal(outcomes(source, t.BOOL, values, [(None, False)]), [expected])
    back, = outcomes(t.BOOL, source, expected, [(None, False)])
    np.testing.assert_array_equal(back.astype("f8"), expected)


@pytest.mark.parametrize("target", [t.CHAR, t.UINT, t.LONG, t.FLOAT], ids=name)
def test_a_vector_of_bool_gives_minus_one(target: t.Scalar) -> None:
    int4 = t.Vector(t.INT, 4)
    taken, given = variable("taken", pointer(int4, const=True)), variable("given", pointer(t.Vector(target, 4)))
    condition = binary("<", load(at(taken)), n.Zero(int4, None))
    body = assign(at(given), convert(condition, t.Vector(target, 4)))
    values = np.array([-1, 0, 5, -7], np.int32)
    result = np.zeros(4, DTYPES[target])
    run(n.Program([kernel("k", [given, taken], body)]), "k", 1, result, values)
    np.testing.assert_array_equal(result, np.array([-1, 0, 0, -1]).astype(DTYPES[target]))


@pytest.mark.parametrize(("source", "target", "way"), [
    (t.DOUBLE, t.BFLOAT16, (None, False)), (t.LONG, t.BFLOAT16, ("rte", False)), (t.INT, t.CHAR, (None, True)),
    (t.CHAR, t.ULONG, (None, True)), (t.FLOAT, t.SHORT, ("rte", True)), (t.UINT, t.HALF, ("rtp", False))], ids=name)
@pytest.mark.parametrize("count", [2, 4, 16])
def test_vectors_convert_as_their_components(source: t.Scalar, target: t.Scalar, way: Way, count: int) -> None:
    values = INPUTS[source][:len(INPUTS[source]) // 16 * 16]
    alone, = outcomes(source, target, values, [way])
    taken = variable("taken", pointer(t.Vector(source, count), const=True))
    given = variable("given", pointer(t.Vector(target, count)))
    result = np.zeros(len(values), DTYPES[target])
    body = assign(at(given), convert(load(at(taken)), t.Vector(target, count), *way))
    run(n.Program([kernel("k", [given, taken], body)]), "k", len(values) // count, result, values, local=1)
    np.testing.assert_array_equal(result.view(np.uint8), alone.view(np.uint8))
