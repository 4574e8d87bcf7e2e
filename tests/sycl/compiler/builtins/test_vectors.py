"""Vectors: every type and operator against numpy, components, methods, functions, memory; on both targets."""

from __future__ import annotations

import numpy as np
import pytest

import coopmat as cm
from coopmat.runtime.element_types import VALUE_TYPES, boolean, of_dtype
from coopmat.sycl import (
    abs_diff,
    bfloat16,
    bit_cast,
    char4,
    clamp,
    const,
    cross,
    distance,
    dot,
    double2,
    fast_length,
    float2,
    float3,
    float4,
    float32,
    fma,
    group_barrier,
    group_local_memory_for_overwrite,
    half,
    half2,
    half4,
    int4,
    int8,
    int32,
    int64,
    isnan,
    kernel,
    ldexp,
    length,
    local_accessor,
    nd_item,
    nd_range,
    normalize,
    ptr,
    queue,
    reinterpret_cast,
    select,
    short2,
    sqrt,
    uchar4,
    uint2,
    uint4,
    uint8,
    uint32,
    vec,
)
from coopmat.sycl.vectors import COUNTS, SHORT_NAMES, VectorType, components
from tests.kit.sycl.language import error_of
from tests.kit.sycl.refused import Case, check, read_cases

TARGETS = ("sim:generic", "cpu")
ELEMENTS = [type_ for type_ in VALUE_TYPES if type_ != boolean]
ROWS = 16


def run(k, *arguments, device: str = "sim:generic") -> None:
    cm.Queue(device).parallel_for(nd_range(ROWS, ROWS), k, *arguments).wait()


def padded(array: np.ndarray) -> np.ndarray:
    """Rows of vectors as memory has them: three take the room of four."""
    return np.pad(array, ((0, 0), (0, 1))) if array.shape[1] == 3 else array


def operands(element, count: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(count)
    if element.scalar.is_float:
        values = rng.integers(-40, 40, (2, ROWS, count)) / 8 + 1 / 16
    else:
        values = rng.integers(0, 1 << element.scalar.bits - 1, (2, ROWS, count), np.uint64) * 2 + 1
    first, second = values.astype(element.dtype)
    return first, second


ARITHMETIC = (lambda a, b: a + b, lambda a, b: a - b, lambda a, b: a * b, lambda a, b: -a, lambda a, b: a * 3,
              lambda a, b: 2 - b)
OF_INTEGERS = (lambda a, b: a & b, lambda a, b: a | b, lambda a, b: a ^ b, lambda a, b: ~a, lambda a, b: a << 1,
               lambda a, b: a >> 2)
COMPARISONS = (lambda a, b: a < b, lambda a, b: a <= b, lambda a, b: a == b, lambda a, b: a != 3, lambda a, b: a > b,
               lambda a, b: b >= a)


def expected_of(function, a: np.ndarray, b: np.ndarray, element) -> np.ndarray:
    """What numpy computes in the element type; bfloat16 in float32, rounded once."""
    if element == bfloat16:
        return function(a.astype(np.float32), b.astype(np.float32)).astype(element.dtype)
    with np.errstate(all="ignore"):
        return function(a, b).astype(element.dtype)


@pytest.mark.parametrize("device", TARGETS)
@pytest.mark.parametrize("element", ELEMENTS, ids=str)
def test_operators(element, device: str) -> None:
    functions = ARITHMETIC if element.scalar.is_float else ARITHMETIC + OF_INTEGERS
    T, Mask = vec[element, 4], vec[of_dtype(np.dtype(f"i{element.nbytes}")), 4]

    @kernel
    def k(item: nd_item[1], A: ptr[const[T]], B: ptr[T], out: ptr[T], masks: ptr[Mask]):
        i = item.get_global_id(0)
        for number, function in enumerate(functions):
            out[ROWS * number + i] = function(A[i], B[i])
        for number, function in enumerate(COMPARISONS):
            masks[ROWS * number + i] = function(A[i], B[i])

    a, b = operands(element, 4)
    b[3] = a[3]
    out = np.zeros((len(functions), ROWS, 4), element.dtype)
    masks = np.zeros((len(COMPARISONS), ROWS, 4), Mask.element.dtype)
    run(k, a, b, out, masks, device=device)
    for function, found in zip(functions, out, strict=True):
        np.testing.assert_array_equal(found, expected_of(function, a, b, element))
    for function, found in zip(COMPARISONS, masks, strict=True):
        np.testing.assert_array_equal(found, -function(a.astype(float), b.astype(float)).astype(int)
                                      if element.scalar.is_float else -function(a, b).astype(int))


@pytest.mark.parametrize("device", TARGETS)
@pytest.mark.parametrize("count", COUNTS)
def test_lengths_division_and_conversion(count: int, device: str) -> None:
    N, F, H = vec[int32, count], vec[float32, count], vec[half, count]

    @kernel
    def k(item: nd_item[1], A: ptr[N], B: ptr[N], F_out: ptr[F], H_out: ptr[H]):
        i = item.get_global_id(0)
        a, b = A[i], B[i]
        A[i] = a // b + a % b * 100
        F_out[i] = F(a) / F(b) + F(0.5) * 2.0
        h = H(b)
        h /= 2
        H_out[i] = h
        B[i] = F_out[i].convert[int32]() + N(7.75) * N(H(1.0))

    a, b = (np.random.default_rng(count + i).integers(-99, 99, (ROWS, count)).astype(np.int32) | 1 for i in range(2))
    first, second = padded(a.copy()), padded(b.copy())
    real = padded(np.zeros((ROWS, count), np.float32))
    narrow = real.astype(np.float16)
    run(k, first, second, real, narrow, device=device)
    quotient = np.trunc(a / b).astype(int)
    np.testing.assert_array_equal(first[:, :count], quotient + (a - quotient * b) * 100)
    expected = a.astype(np.float32) / b.astype(np.float32) + np.float32(1)
    np.testing.assert_array_equal(real[:, :count], expected)
    np.testing.assert_array_equal(narrow[:, :count], b / 2)
    np.testing.assert_array_equal(second[:, :count], np.trunc(expected) + 7)


@pytest.mark.parametrize("device", TARGETS)
def test_components_are_read_and_written(device: str) -> None:
    @kernel
    def k(item: nd_item[1], s: float4, out: ptr[float4], y: ptr[float32]):
        i = item.get_global_id(0)
        v = float4(s.x, s.wy, i)
        v.w += 1
        v.yz = v.zy
        w = v.wzyx
        w.s02 = float2(0.5)
        w.lo.y = v.hi.x
        j = int32(i) % 4
        v[j] *= 10
        v[-1] -= 0.25
        out[2 * i] = v
        out[2 * i + 1] = w
        out[2 * i + 1].x += 100
        y[i] = w.xyz.s1 + (v + w)[j] + out[2 * i][3] + v.xx.y

    def expected(s, i: int):
        v = [s[0], s[1], s[3], i + 1]
        w = [0.5, v[2], 0.5, v[0]]
        w[0], w[2] = 0.5, 0.5
        w[1] = v[2]
        v[i % 4] *= 10
        v[3] -= 0.25
        return v, [w[0] + 100, *w[1:]], w[1] + v[i % 4] + w[i % 4] + v[3] + v[0]

    s, out, y = (1.0, 2.0, 3.0, 4.0), np.zeros((ROWS, 2, 4), np.float32), np.zeros(ROWS, np.float32)
    run(k, s, out, y, device=device)
    for i in range(ROWS):
        v, w, number = expected(s, i)
        assert (out[i].tolist(), y[i]) == ([v, w], number)


def test_the_names_of_components() -> None:
    assert components("x", 2) == (0,)
    assert components("wzyx", 4) == (3, 2, 1, 0)
    assert components("sF0", 16) == (15, 0)
    assert components("S3", 4) == (3,)
    assert components("rgba", 4) == (0, 1, 2, 3)
    assert [components(name, 4) for name in ("lo", "hi", "even", "odd")] == [(0, 1), (2, 3), (0, 2), (1, 3)]
    for name, count in (("z", 2), ("xr", 4), ("s4", 4), ("xxxxx", 4), ("lo", 3), ("size", 4), ("", 4), ("s", 4)):
        assert components(name, count) is None
    assert len(SHORT_NAMES) == 11 * len(COUNTS) - 6
    assert {str(VectorType(*key)) for key in SHORT_NAMES} == set(SHORT_NAMES.values())
    assert str(vec[int32, 8]) == "vec[int32, 8]"


@pytest.mark.parametrize("device", TARGETS)
def test_functions_of_numbers_take_vectors(device: str) -> None:
    @kernel
    def k(item: nd_item[1], A: ptr[float4], B: ptr[float4], M: ptr[int4], out: ptr[float4], ints: ptr[int4]):
        i = item.get_global_id(0)
        a, b, n = A[i], B[i], M[i]
        out[4 * i] = sqrt(abs(a)) + fma(a, 2.0, b)
        out[4 * i + 1] = min(a, b) + max(a, 0.5) * clamp(b, -1.0, abs(b))
        out[4 * i + 2] = select(a, b, a < b) + ldexp(b, 2) + select(a, b, i > 5)
        out[4 * i + 3] = a ** 2 - b ** 3 + normalize(b)
        ints[3 * i] = abs(n) + min(n, 3) - max(n, -n)
        ints[3 * i + 1] = int4(abs_diff(n, int4(5))) + isnan(a / float4(0, 1, 1, 1))
        ints[3 * i + 2] = int4(any(a > b), all(a < 100), dot(a, b) > 0, any([i == 3, i == 4]))

    a, b = operands(float32, 4)
    a[0, 0] = 0
    ints = np.random.default_rng(7).integers(-9, 9, (ROWS, 4)).astype(np.int32)
    out, found = np.zeros((ROWS, 4, 4), np.float32), np.zeros((ROWS, 3, 4), np.int32)
    run(k, a, b, ints, out, found, device=device)
    rows = np.arange(ROWS)[:, None]
    expected = [np.sqrt(np.abs(a)) + (a * 2 + b),
                np.minimum(a, b) + np.maximum(a, 0.5) * np.minimum(np.maximum(b, -1), np.abs(b)),
                np.where(a < b, b, a) + b * 4 + np.where(rows > 5, b, a),
                a ** 2 - b ** 3 + b / np.linalg.norm(b, axis=1, keepdims=True)]
    np.testing.assert_allclose(out, np.stack(expected, 1), rtol=1e-6, atol=1e-5)
    nan = np.zeros((ROWS, 4), int)
    nan[0, 0] = -1
    tests = np.stack([(a > b).any(1), (a < 100).all(1), (a * b).sum(1) > 0, np.isin(rows[:, 0], (3, 4))], 1)
    expected_ints = [np.abs(ints) + np.minimum(ints, 3) - np.abs(ints), np.abs(ints - 5) + nan, tests]
    np.testing.assert_array_equal(found, np.stack(expected_ints, 1))


@pytest.mark.parametrize("device", TARGETS)
def test_geometric_functions(device: str) -> None:
    @kernel
    def k(item: nd_item[1], A: ptr[float3], B: ptr[float3], H: ptr[half4], y: ptr[float32], out: ptr[float3]):
        i = item.get_global_id(0)
        a, b = A[i], B[i]
        y[i] = dot(a, b) + 10 * length(a) + 100 * distance(a, b) + float32(dot(H[i], H[i])) + fast_length(b.xy)
        out[i] = cross(a, b)

    a, b = operands(float32, 3)
    h = operands(half, 4)[0]
    y, out = np.zeros(ROWS, np.float32), np.zeros((ROWS, 4), np.float32)
    run(k, padded(a), padded(b), h, y, out, device=device)
    norm = np.linalg.norm
    expected = ((a * b).sum(1) + 10 * norm(a, axis=1) + 100 * norm(a - b, axis=1)
                + (h.astype(float) ** 2).sum(1) + norm(b[:, :2], axis=1))
    np.testing.assert_allclose(y, expected, rtol=2e-3)
    np.testing.assert_allclose(out[:, :3], np.cross(a, b), rtol=1e-5)
    np.testing.assert_array_equal(cross(a[0], b[0]), np.cross(a[0], b[0]))
    assert dot(a[0], b[0]) == np.dot(a[0], b[0])


@pytest.mark.parametrize("device", TARGETS)
def test_memory(device: str) -> None:
    """Vectors behind pointers and in local memory; load and store at elements; the same bits as other types."""
    @kernel
    def k(item: nd_item[1], A: ptr[float32], words: ptr[uint32], out: ptr[float32], tile: local_accessor[float4]):
        i = item.get_global_id(0)
        own = group_local_memory_for_overwrite[half2, ROWS](item.get_group())
        tile[i] = reinterpret_cast[ptr[float4]](A)[i]
        own[i] = bit_cast[half2](words[i])
        group_barrier(item.get_group())
        v = float4()
        v.load(i, A + 1)
        v += tile[ROWS - 1 - i]
        v.store(i, out + 4)
        pair = own[(i + 1) % ROWS]
        words[i] = bit_cast[uint32](pair.yx) + uint32(v.size()) + bit_cast[uint32](1.0) * 0
        bits = pair.as_[short2]()
        if i < 4:
            out[i] = bits.x()

    a = np.random.default_rng(0).random(4 * ROWS + 1, np.float32)
    pairs = np.arange(2 * ROWS).astype(np.float16)
    words, out = pairs.view(np.uint32).copy(), np.zeros(4 * ROWS + 4, np.float32)
    run(k, a, words, out, local_accessor[float4](ROWS), device=device)
    rows = a[:-1].reshape(ROWS, 4)
    np.testing.assert_array_equal(out[4:].reshape(ROWS, 4), a[1:].reshape(ROWS, 4) + rows[::-1])
    moved = np.roll(pairs.reshape(ROWS, 2), -1, 0)[:, ::-1].ravel().copy()
    np.testing.assert_array_equal(words, moved.view(np.uint32) + 4)


@pytest.mark.parametrize("device", TARGETS)
def test_vectors_in_lists_helpers_and_loops(device: str) -> None:
    def scaled(v: float4, by) -> float4:
        v.x = 0
        return v * by

    def both(a, b):
        return a.lo, b.hi

    @kernel
    def k(item: nd_item[1], A: ptr[float4], y: ptr[float32]):
        i = item.get_global_id(0)
        rows = [A[i], float4(i)]
        rows[1].y = 5
        total = float4(0)
        for row in rows:
            total += scaled(row, 2) + row
        lo, hi = both(*rows)
        a, b, *rest = total
        s = a + 10 * b + rest[0] + len(total)
        for component in lo if i > 100 else hi:
            s += component
        y[i] = s + sum(total) + max(lo)
        while total.x > 3:
            total.x -= 1
        y[i] += total.x if total.w > 2 else -1

    a = operands(float32, 4)[0]
    y = np.zeros(ROWS, np.float32)
    run(k, a, y, device=device)

    def expected(i: int) -> float:
        rows = [a[i].astype(float), np.array([i, 5, i, i], float)]
        total = sum(np.array([0, *row[1:]]) * 2 + row for row in rows)
        found = total[0] + 10 * total[1] + total[2] + 4 + 2 * i + total.sum() + max(rows[0][:2])
        x = total[0]
        while x > 3:
            x -= 1
        return found + (x if total[3] > 2 else -1)

    np.testing.assert_allclose(y, [expected(i) for i in range(ROWS)], rtol=1e-5)


def test_vectors_on_the_host() -> None:
    np.testing.assert_array_equal(float4(1, 2, 3, 4), np.array([1, 2, 3, 4], np.float32))
    np.testing.assert_array_equal(uchar4(257), np.full(4, 1, np.uint8))
    np.testing.assert_array_equal(int4(float2(1, 2), 3, 4), [1, 2, 3, 4])
    assert (repr(vec[half, 8]), vec[int8, 4], float3.nbytes, double2.nbytes) == ("half8", char4, 16, 16)
    for wrong in ("vec[float32]", "vec[float32, 5]", "vec[bool, 4]", "vec[str, 2]", "float4(1, 2)"):
        with pytest.raises(cm.Error, match=r"takes"):
            eval(wrong)

    @kernel
    def k(item: nd_item[1], s: uint4, y: ptr[uint32]):
        y[0] = s.x + s.w

    y = np.zeros(1, np.uint32)
    queue("sim:generic").parallel_for(nd_range(1, 1), k, uint4(1, 2, 3, 4), y).wait()
    assert y[0] == 5


@pytest.mark.parametrize("case", read_cases("vectors.txt"), ids=lambda case: f"{case.code}: {case.text}")
def test_what_is_refused(case: Case) -> None:
    check(case)


def test_a_component_that_occurs_twice_is_not_assigned() -> None:
    @kernel
    def k(item: nd_item[1], v: float4):
        v.xx = float2(1)

    assert error_of(k)[0] == "CM6029"


def test_names_that_are_types() -> None:
    assert (uint2.element, int64.nbytes, uint8.type.bits) == (uint32, 8, 8)
