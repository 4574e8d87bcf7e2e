"""Integer, floating-point and bit arithmetic, against numpy and Python's integers."""

import ml_dtypes
import numpy as np
import pytest

from coopmat.diagnostics import UndefinedBehavior
from tests.kit.targets.short_kernels import UNCHECKED, evaluate, refuses
from tests.kit.targets.values import floats, integers, unsigned, wrapped

RNG = np.random.default_rng(7)
WIDTHS = (8, 16, 32, 64)


def truncated(a: int, b: int) -> int:
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


BINARY = {  # on Python integers, given signed
    "IAdd": lambda a, b, w: a + b,
    "ISub": lambda a, b, w: a - b,
    "IMul": lambda a, b, w: a * b,
    "BitwiseAnd": lambda a, b, w: a & b,
    "BitwiseOr": lambda a, b, w: a | b,
    "BitwiseXor": lambda a, b, w: a ^ b,
}
SHIFTS = {
    "ShiftLeftLogical": lambda a, b, w: a << b % w,
    "ShiftRightArithmetic": lambda a, b, w: a >> b % w,
    "ShiftRightLogical": lambda a, b, w: unsigned(a, w) >> b % w,
}
DIVISIONS = {
    "SDiv": lambda a, b, w: truncated(a, b),
    "SRem": lambda a, b, w: a - truncated(a, b) * b,
    "SMod": lambda a, b, w: a % b,
    "UDiv": lambda a, b, w: unsigned(a, w) // unsigned(b, w),
    "UMod": lambda a, b, w: unsigned(a, w) % unsigned(b, w),
}


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", [*BINARY, *SHIFTS, *DIVISIONS])
def test_integer_binary(name: str, width: int) -> None:
    a, b = integers(RNG, width), RNG.permutation(integers(RNG, width))
    if name in DIVISIONS:
        b[b == 0] = 3
        a[20], b[20] = np.iinfo(a.dtype).min, -1  # wraps
    if name in SHIFTS:
        b %= width
    _check_binary(name, a, b)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", SHIFTS)
def test_shifts_by_any_amount(name: str, width: int) -> None:
    """Without checks, amounts count modulo the width."""
    _check_binary(name, integers(RNG, width), RNG.permutation(integers(RNG, width)))


def _check_binary(name: str, a: np.ndarray, b: np.ndarray) -> None:
    function, width = (BINARY | SHIFTS | DIVISIONS)[name], a.itemsize * 8
    expected = wrapped([function(x, y, width) for x, y in zip(a.tolist(), b.tolist(), strict=True)], width)
    found = evaluate(f"Op{name} %i{width} {{0}} {{1}}", f"i{width}", a, b, options=UNCHECKED)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize(("name", "function"), [
    ("SNegate", lambda x, w: -x),
    ("Not", lambda x, w: ~x),
    ("BitCount", lambda x, w: unsigned(x, w).bit_count()),
    ("BitReverse", lambda x, w: int(f"{unsigned(x, w):0{w}b}"[::-1], 2)),
])
def test_integer_unary(name: str, function, width: int) -> None:
    a = integers(RNG, width)
    expected = wrapped([function(x, width) for x in a.tolist()], width)
    np.testing.assert_array_equal(evaluate(f"Op{name} %i{width} {{0}}", f"i{width}", a), expected)


@pytest.mark.parametrize("width", WIDTHS)
def test_bit_fields(width: int) -> None:
    base, insert = integers(RNG, width), RNG.permutation(integers(RNG, width))
    for offset, count in ((0, width), (0, 0), (3, 4), (width - 1, 1), (1, width - 1), (2, 0)):
        mask = (1 << count) - 1
        where = f"%i32_c{offset} %i32_c{count}"
        fields = [unsigned(x, width) >> offset & mask for x in base.tolist()]
        negative = [f - (1 << count) if count and f >> count - 1 else f for f in fields]
        inserted = [unsigned(x, width) & ~(mask << offset) | (unsigned(y, width) & mask) << offset
                    for x, y in zip(base.tolist(), insert.tolist(), strict=True)]
        kind = f"i{width}"
        np.testing.assert_array_equal(
            evaluate(f"OpBitFieldUExtract %{kind} {{0}} {where}", kind, base), wrapped(fields, width))
        np.testing.assert_array_equal(
            evaluate(f"OpBitFieldSExtract %{kind} {{0}} {where}", kind, base), wrapped(negative, width))
        np.testing.assert_array_equal(
            evaluate(f"OpBitFieldInsert %{kind} {{0}} {{1}} {where}", kind, base, insert), wrapped(inserted, width))


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize(("name", "function"), [
    ("IAddCarry", lambda a, b, w: divmod(unsigned(a, w) + unsigned(b, w), 1 << w)),
    ("ISubBorrow", lambda a, b, w: (int(unsigned(a, w) < unsigned(b, w)), a - b)),
    ("UMulExtended", lambda a, b, w: divmod(unsigned(a, w) * unsigned(b, w), 1 << w)),
    ("SMulExtended", lambda a, b, w: divmod(a * b, 1 << w)),
])
def test_wide_results(name: str, function, width: int) -> None:
    """The result is a structure (low part, high part)."""
    a, b = integers(RNG, width), RNG.permutation(integers(RNG, width))
    kind = f"i{width}"
    pairs = [function(x, y, width) for x, y in zip(a.tolist(), b.tolist(), strict=True)]
    for member, part in ((0, 1), (1, 0)):
        code = f"%both = Op{name} %pair {{0}} {{1}}\n%r = OpCompositeExtract %{kind} %both {member}"
        found = evaluate(code, kind, a, b, declarations=f"%pair = OpTypeStruct %{kind} %{kind}")
        np.testing.assert_array_equal(found, wrapped([pair[part] for pair in pairs], width))


@pytest.mark.parametrize("width", WIDTHS)
def test_vectors_are_computed_by_component(width: int) -> None:
    for count in (2, 3, 4, 8, 16):
        a, b = (integers(RNG, width, 32 * count).reshape(32, count) for _ in range(2))
        kind = f"v{count}_i{width}"
        np.testing.assert_array_equal(evaluate(f"OpIMul %{kind} {{0}} {{1}}", kind, a, b), a * b)


@pytest.mark.parametrize("name", DIVISIONS)
def test_division_by_zero_names_the_lane(name: str) -> None:
    a, b = np.arange(32, dtype=np.int32), np.ones(32, np.int32)
    b[21] = 0
    with pytest.raises(UndefinedBehavior, match="divided by zero") as error:
        evaluate(f"Op{name} %i32 {{0}} {{1}}", "i32", a, b)
    assert (error.value.where.work_group, error.value.where.sub_group, error.value.where.lane) == ((0, 0, 0), 1, 5)


@pytest.mark.parametrize(("offset", "count"), [(28, 5), (-1, 2), (3, -1), (33, 0), (0, 33), (2**31 - 1, 2**31 - 1)])
@pytest.mark.parametrize("name", ["BitFieldSExtract", "BitFieldUExtract"])
def test_bit_fields_outside_of_the_integer(name: str, offset: int, count: int) -> None:
    where = [np.full(32, 1, np.int32), np.full(32, 1, np.int32)]
    for part, value in zip(where, (offset, count), strict=True):
        part[21] = value
    with refuses(UndefinedBehavior, f"a bit field of {count} bits from bit {offset} on does not lie"):
        evaluate(f"Op{name} %i32 {{0}} {{1}} {{2}}", "i32", np.arange(32, dtype=np.int32), *where)
    evaluate(f"Op{name} %i32 {{0}} {{1}} {{2}}", "i32", np.arange(32, dtype=np.int32), *where, options=UNCHECKED)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", ["SDiv", "SRem", "SMod"])
def test_the_smallest_integer_by_minus_one(name: str, width: int) -> None:
    """Of each width, in the active lane only; its neighbours, and the same bits unsigned, are right."""
    a = np.full(32, np.iinfo(f"i{width // 8}").min, f"i{width // 8}")
    b = np.ones_like(a)
    evaluate(f"Op{name} %i{width} {{0}} {{1}}", f"i{width}", a + 1, -b)
    evaluate(f"OpUDiv %i{width} {{0}} {{1}}", f"i{width}", a, -b)
    b[21] = -1
    with refuses(UndefinedBehavior, f"{a[0]} . -1 overflows") as error:
        evaluate(f"Op{name} %i{width} {{0}} {{1}}", f"i{width}", a, b)
    if error is not None:
        assert (error.value.where.sub_group, error.value.where.lane) == (1, 5)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", SHIFTS)
def test_shifts_out_of_range(name: str, width: int) -> None:
    """By -1 and by the width, also where the amount is of another type than the base."""
    base = np.ones(32, f"i{width // 8}")
    for kind in (np.int8, np.int32, np.int64):
        for wrong in (-1, width):
            amount = np.full(32, width - 1, kind)
            line = f"Op{name} %i{width} {{0}} {{1}}"
            evaluate(line, f"i{width}", base, amount)
            amount[21] = wrong
            with refuses(UndefinedBehavior, f"shifted by {wrong}, which is not from 0 to {width - 1}"):
                evaluate(line, f"i{width}", base, amount)


def test_division_by_zero_in_a_vector_component() -> None:
    a, b = np.ones((16, 4), np.int32), np.ones((16, 4), np.int32)
    b[7, 3] = 0
    with pytest.raises(UndefinedBehavior) as error:
        evaluate("OpSDiv %v4_i32 {0} {1}", "v4_i32", a, b)
    assert error.value.where.lane == 7


# --------------------------------------------------------------------------------------
# Floating point
# --------------------------------------------------------------------------------------

FLOATS = ("f16", "f32", "f64")


@pytest.mark.parametrize("kind", FLOATS)
@pytest.mark.parametrize(("name", "function"), [
    ("FAdd", np.add), ("FSub", np.subtract), ("FMul", np.multiply), ("FDiv", np.divide), ("FRem", np.fmod),
    ("FMod", np.mod)])
def test_float_binary(name: str, function, kind: str) -> None:
    a, b = floats(RNG, kind), RNG.permutation(floats(RNG, kind))
    with np.errstate(all="ignore"):
        expected = function(a, b)
    np.testing.assert_array_equal(evaluate(f"Op{name} %{kind} {{0}} {{1}}", kind, a, b), expected)


@pytest.mark.parametrize("kind", FLOATS)
def test_negation_flips_the_sign_of_zero(kind: str) -> None:
    a = floats(RNG, kind)
    found = evaluate(f"OpFNegate %{kind} {{0}}", kind, a)
    finite = ~np.isnan(a)
    np.testing.assert_array_equal(found[finite], -a[finite])
    np.testing.assert_array_equal(np.signbit(found[finite]), ~np.signbit(a[finite]))


def test_half_precision_is_rounded_once() -> None:
    """Against the exact sum and product in float64, which hold every fp16 result before rounding."""
    a, b = floats(RNG, "f16", 2048), RNG.permutation(floats(RNG, "f16", 2048))
    for name, function in (("FAdd", np.add), ("FMul", np.multiply)):
        with np.errstate(all="ignore"):
            expected = function(a.astype(np.float64), b.astype(np.float64)).astype(np.float16)
        np.testing.assert_array_equal(evaluate(f"Op{name} %f16 {{0}} {{1}}", "f16", a, b), expected)


def test_bfloat16_arithmetic_rounds_to_nearest_even() -> None:
    a, b = (RNG.standard_normal(256).astype(ml_dtypes.bfloat16) for _ in range(2))
    exact = a.astype(np.float64) * b.astype(np.float64)
    expected = exact.astype(np.float32).astype(ml_dtypes.bfloat16)  # 16 bits: exact in fp32
    np.testing.assert_array_equal(evaluate("OpFMul %bf16 {0} {1}", "bf16", a, b), expected)


def test_vector_times_scalar_and_dot() -> None:
    a, b = (RNG.standard_normal((32, 4)).astype(np.float32) for _ in range(2))
    factor = RNG.standard_normal(32).astype(np.float32)
    np.testing.assert_array_equal(
        evaluate("OpVectorTimesScalar %v4_f32 {0} {1}", "v4_f32", a, factor), a * factor[:, None])
    products = a * b
    expected = ((products[:, 0] + products[:, 1]) + products[:, 2]) + products[:, 3]
    np.testing.assert_array_equal(evaluate("OpDot %f32 {0} {1}", "f32", a, b), expected)
