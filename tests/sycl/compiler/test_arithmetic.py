"""Arithmetic of kernels with C++'s rules, against exact integers and numpy."""

import itertools
import math

import ml_dtypes
import numpy as np
import pytest

import coopmat as cm
from coopmat.sycl import (
    bfloat16,
    float32,
    float64,
    half,
    int8,
    int16,
    int32,
    int64,
    kernel,
    nd_item,
    nd_range,
    ptr,
    uint8,
    uint16,
    uint32,
    uint64,
)
from tests.kit.sycl.language import COUNT, error_of, results

INTEGERS = {int8: (8, True), int16: (16, True), int32: (32, True), int64: (64, True), uint8: (8, False),
            uint16: (16, False), uint32: (32, False), uint64: (64, False)}
OPERATORS = ["+", "-", "*", "/", "//", "%", "&", "|", "^", "<", "<=", ">", ">=", "==", "!="]


def wrapped(value: int, bits: int, signed: bool) -> int:
    """A number modulo 2**bits."""
    value &= (1 << bits) - 1
    return value - (1 << bits) if signed and value >> (bits - 1) else value


def common(first, second) -> tuple[int, bool]:
    """C++'s usual arithmetic conversions (promotion to int, then the wider; of equal width the unsigned)."""
    promoted = [(32, True) if INTEGERS[type_][0] < 32 else INTEGERS[type_] for type_ in (first, second)]
    bits = max(width for width, _ in promoted)
    return bits, all(signed for width, signed in promoted if width == bits)


def applied(symbol: str, a: int, b: int, bits: int, signed: bool) -> int:
    a, b = wrapped(a, bits, signed), wrapped(b, bits, signed)
    quotient = 0 if b == 0 else abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
    exact = {"+": a + b, "-": a - b, "*": a * b, "/": quotient, "//": quotient, "%": a - b * quotient, "&": a & b,
             "|": a | b, "^": a ^ b, "<": a < b, "<=": a <= b, ">": a > b, ">=": a >= b, "==": a == b, "!=": a != b}
    return wrapped(int(exact[symbol]), bits, signed)


def values_of(type_) -> list[int]:
    bits, signed = INTEGERS[type_]
    low, high = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if signed else (0, (1 << bits) - 1)
    return [low, high, 1, 7, 100, low + 3 if signed else high - 3]


def all_operators(item, x, y, z):
    i = item.get_global_id(0)
    a, b = x[i], y[i]
    found = [a + b, a - b, a * b, a / b, a // b, a % b, a & b, a | b, a ^ b,
             a < b, a <= b, a > b, a >= b, a == b, a != b]
    for index, value in enumerate(found):
        z[i * 15 + index] = value


@pytest.mark.parametrize("first", INTEGERS, ids=str)
@pytest.mark.parametrize("second", INTEGERS, ids=str)
def test_operators_of_integers(first, second) -> None:
    @kernel
    def k(item: nd_item[1], x: ptr[first], y: ptr[second], z: ptr[int64]):
        all_operators(item, x, y, z)

    bits, signed = common(first, second)
    pairs = [(a, b) for a, b in itertools.product(values_of(first), values_of(second))
             if wrapped(b, bits, signed) != 0]
    pairs = [(a, b) for a, b in pairs if not (signed and wrapped(b, bits, signed) == -1)]  # -2**31 / -1 is undefined
    x, y = (np.array(column, type_.dtype) for column, type_ in zip(zip(*pairs, strict=True), (first, second),
                                                                    strict=True))
    found = np.zeros((len(pairs), 15), np.int64)
    cm.Queue("sim:generic").parallel_for(nd_range(len(pairs), 1), k, x, y, found).wait()
    for (a, b), row in zip(pairs, found.tolist(), strict=True):
        expected = [wrapped(applied(symbol, a, b, bits, signed), 64, True) for symbol in OPERATORS]
        assert row == expected, (a, b)


@pytest.mark.parametrize("type_", INTEGERS, ids=str)
def test_shifts_and_unary_operators_have_the_promoted_type(type_) -> None:
    @kernel
    def k(item: nd_item[1], x: ptr[type_], z: ptr[int64]):
        i = item.get_global_id(0)
        a = x[i]
        found = [a << 5, a >> 3, -a, ~a, +a, not a, a ** 3, abs(a)]
        for index, value in enumerate(found):
            z[i * 8 + index] = value

    bits, signed = common(type_, type_)
    values = [value for value in values_of(type_) if not (signed and value == -(1 << (bits - 1)))]
    found = np.zeros((len(values), 8), np.int64)
    cm.Queue("sim:generic").parallel_for(nd_range(len(values), 1), k, np.array(values, type_.dtype), found).wait()
    for value, row in zip(values, found.tolist(), strict=True):
        exact = [value << 5, value >> 3, -value, ~value, value, int(not value), value**3]
        narrow, is_signed = INTEGERS[type_]
        magnitude = wrapped(abs(value), narrow, is_signed) if row[7] < 0 else abs(value)
        assert row == [wrapped(wrapped(one, bits, signed), 64, True) for one in exact] + [
            wrapped(magnitude, 64, True)], value


def test_division_truncates_where_python_floors() -> None:
    @kernel
    def k(item: nd_item[1], n: int, y: ptr[int32]):
        y[0], y[1], y[2], y[3] = n / 2, n // 2, n % 2, -7 // 2
        y[4], y[5], y[6] = -7 % 3, -7 / 2, 7 // -2

    assert results(k, -7)[:7] == [-3, -3, -1, -3, -1, -3, -3]
    assert -7 // 2 == -4


def test_constants_take_the_type_that_they_need() -> None:
    @kernel
    def k(item: nd_item[1], n: int32, f: float64, h: half, y: ptr[float64]):
        y[0] = n + 2**31  # int64
        y[1] = n * 2**31
        y[2] = (n + 1) * 0.1  # float32
        y[3] = f * 0.1  # float64
        y[4] = h * 0.1  # half
        y[5] = 2**40 // 3 + 0.5 * 3
        y[6] = uint8(300) + int8(-129)
        y[7] = int(-1.9) + int8(3.9)
        y[8] = 0.1
        wide = f
        wide = 0.1
        y[9] = wide

    found = results(k, 3, 3.0, np.float16(3), dtype=np.float64)
    assert found[:10] == [3 + 2.0**31, 3 * 2.0**31, np.float32(4) * np.float32(0.1), 3.0 * 0.1,
                         float(np.float16(3) * np.float16(0.1)), 2**40 // 3 + 1.5, 44 + 127, -1 + 3, 0.1, 0.1]


@pytest.mark.parametrize(("type_", "dtype"), [(half, np.float16), (bfloat16, ml_dtypes.bfloat16), (float32, np.float32),
                                              (float64, np.float64)])
def test_floating_point_types(type_, dtype) -> None:
    @kernel
    def k(item: nd_item[1], x: ptr[type_], y: ptr[type_], z: ptr[type_], c: ptr[int32]):
        i = int(item.get_global_id(0))
        a, b = x[i], y[i]
        z[i * 8], z[i * 8 + 1], z[i * 8 + 2], z[i * 8 + 3] = a + b, a - b, a * b, -a
        z[i * 8 + 4] = a if a < b else b
        z[i * 8 + 5] = max(a, b, 0.5)
        z[i * 8 + 6] = abs(a) ** 2
        z[i * 8 + 7] = a + 1
        c[i] = (a < b) + 2 * (a <= b) + 4 * (a == b) + 8 * (a != b) + 16 * (a and b)

    rng = np.random.default_rng(1)
    x, y = (rng.normal(0, 3, COUNT).astype(dtype) for _ in range(2))
    x[:4], y[:4] = [0, 1, math.inf, -2], [0, 1, 2, math.inf]
    z, c = np.zeros((COUNT, 8), dtype), np.zeros(COUNT, np.int32)
    cm.Queue("sim:generic").parallel_for(nd_range(COUNT, COUNT), k, x, y, z, c).wait()
    one, least = dtype(1), dtype(0.5)
    expected = np.stack([x + y, x - y, x * y, -x, np.where(x < y, x, y), np.maximum(np.maximum(x, y), least),
                         np.abs(x) * np.abs(x), x + one], axis=1)
    np.testing.assert_array_equal(z.astype(np.float64), expected.astype(np.float64))
    logic = (x < y) + 2 * (x <= y) + 4 * (x == y) + 8 * (x != y) + 16 * ((x != 0) & (y != 0))
    assert c.tolist() == logic.tolist()


def test_mixed_types_meet_in_the_floating_one() -> None:
    @kernel
    def k(item: nd_item[1], n: int64, h: half, b: bfloat16, f: float32, y: ptr[float64]):
        y[0], y[1], y[2], y[3] = n + f, h + f, h + n, b * f
        y[4] = n / 2.0 + (1 if n else 0.5)

    found = results(k, 2**24 + 1, np.float16(0.1), ml_dtypes.bfloat16(3), np.float32(0.3), dtype=np.float64)
    assert found[0] == np.float32(2**24 + 1) + np.float32(0.3)
    assert found[1] == np.float32(np.float16(0.1)) + np.float32(0.3)
    assert found[2] == math.inf  # 2**24 is more than half has
    assert found[3] == np.float32(3) * np.float32(0.3)
    assert found[4] == np.float32(2**23) + 1


def test_stores_convert_as_assignments_do() -> None:
    @kernel
    def k(item: nd_item[1], x: ptr[float32], a: ptr[int8], b: ptr[uint32], c: ptr[half]):
        i = item.get_global_id(0)
        a[i] = x[i]
        b[i] = int32(x[i]) * -1
        c[i] = x[i]
        c[i] += 0.25
        a[i] *= 2.5

    x = np.arange(16, dtype=np.float32) - 8.5
    a, b, c = np.zeros(16, np.int8), np.zeros(16, np.uint32), np.zeros(16, np.float16)
    cm.Queue("sim:generic").parallel_for(nd_range(16, 16), k, x, a, b, c).wait()
    assert a.tolist() == np.trunc(np.trunc(x) * 2.5).tolist()
    assert b.tolist() == [-int(value) % 2**32 for value in x]
    assert c.tolist() == (x.astype(np.float16) + np.float16(0.25)).tolist()


@pytest.mark.parametrize(("use", "code", "text"), [
    (lambda y: 1 / 0, "CM6036", "integer division or modulo by zero"),
    (lambda y: 1 << 600, "CM6036", "the result is too large"),
    (lambda y: 2**70, "CM6035", "does not fit in 64 bits"),
    (lambda y: y[0] ** y[1], "CM6030", "the exponent of an integer must be a constant from 0 to 16"),
    (lambda y: y[0] % 1.5, "CM6039", "use fmod(x, y)"),
    (lambda y: y[0] // 1.5, "CM6039", "use floor(x / y), or x / y"),
    (lambda y: y[0] & 1.5, "CM6039", "convert the operands to integers"),
    (lambda y: ~1.5, "CM6031", "'~' cannot be applied to the constant 1.5"),
    (lambda y: -y, "CM6031", "'-' cannot be applied to a value of type ptr[int32]"),
    (lambda y: y[0] @ y[0], "CM6030", "'@' cannot be applied"),
    (lambda y: y * 2, "CM6030", "'*' cannot be applied"),
    (lambda y: int32(1e30), "CM6037", "outside of the range of int32"),
    (lambda y: y[0] if y[1] else None, "CM6032", "expected a number, found None"),
    (lambda y: y[0] is y[1], "CM6030", "use == and !="),
])
def test_what_is_refused(use, code: str, text: str) -> None:
    @kernel
    def k(item: nd_item[1], y: ptr[int32]):
        y[0] = use(y)

    found, message, _ = error_of(k)
    assert (found, text in message) == (code, True), message


def test_a_variable_keeps_its_type() -> None:
    @kernel
    def assigned(item: nd_item[1], y: ptr[int32]):
        x = 0
        x = 1.5
        y[0] = x

    @kernel
    def updated(item: nd_item[1], y: ptr[int32]):
        x = y[0]
        x += 1.5

    @kernel
    def narrow(item: nd_item[1], y: ptr[int32]):
        x: int8 = 300
        x += 1
        y[0] = x

    assert [error_of(k)[0] for k in (assigned, updated)] == ["CM6026", "CM6026"]
    assert results(narrow)[0] == 45
