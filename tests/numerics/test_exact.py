"""The arithmetic of sim:generic against exact rational numbers and exact integers."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from coopmat.diagnostics import Error
from coopmat.formats import FORMATS, round_to, storage_from_bits, to_bits
from coopmat.numerics import matrix_multiply_accumulate, matrix_multiply_accumulate_exact
from tests.kit.rational_model import FIELDS, decode, round_exactly

FLOATS = ["fp16", "bf16", "tf32", "fp32", "fp64"]
INTEGERS = [name for name, fmt in FORMATS.items() if fmt.is_integer]
relaxed = settings(derandomize=True, deadline=None, max_examples=30)


# --------------------------------------------------------------------------------------
# The models to compare with
# --------------------------------------------------------------------------------------


def is_negative(bits: int, name: str) -> bool:
    return bool(bits >> (FORMATS[name].bits - 1))


def element_bits(a: list[int], b: list[int], c: int, types: tuple[str, str, str, str]) -> int:
    """The bits of one element of D from the bits of its operands."""
    a_type, b_type, c_type, d_type = types
    total, special, all_negative_zero = decode(c, c_type), 0.0, decode(c, c_type) == 0 and is_negative(c, c_type)
    if isinstance(total, float):
        special, total = total, Fraction(0)
    for x_bits, y_bits in zip(a, b, strict=True):
        x, y = decode(x_bits, a_type), decode(y_bits, b_type)
        if isinstance(x, float) or isinstance(y, float):
            # Only signs, zeros, infinities and NaNs matter here.
            signs = [v if isinstance(v, float) else float((v > 0) - (v < 0)) for v in (x, y)]
            special += signs[0] * signs[1]
            continue
        total += x * y
        negative = is_negative(x_bits, a_type) != is_negative(y_bits, b_type)
        all_negative_zero &= x * y == 0 and negative
    exponent_bits, fraction_bits, padding = FIELDS[d_type]
    infinity = ((1 << exponent_bits) - 1) << (fraction_bits + padding)
    if math.isnan(special):
        return infinity | 1 << (fraction_bits + padding - 1)
    if math.isinf(special):
        return infinity | (special < 0) << (FORMATS[d_type].bits - 1)
    return round_exactly(total, d_type, negative=all_negative_zero)


def check_floats(a: np.ndarray, b: np.ndarray, c: np.ndarray, types: tuple[str, str, str, str]) -> None:
    """Compare the product of bit patterns a [M, K], b [K, N], c [M, N] with the rational model."""
    storage = [storage_from_bits(bits, name) for bits, name in zip((a, b, c), types[:3], strict=True)]
    found = matrix_multiply_accumulate_exact(
        *storage, a_format=types[0], b_format=types[1], c_format=types[2], d_format=types[3])
    assert found.dtype == FORMATS[types[3]].dtype
    expected = [[element_bits(a[m].tolist(), b[:, n].tolist(), int(c[m, n]), types) for n in range(b.shape[1])]
                for m in range(a.shape[0])]
    assert found.view(FORMATS[types[3]].bits_dtype).tolist() == expected


def bit_patterns(name: str) -> st.SearchStrategy[int]:
    """Bit patterns of a format: anything, and often what is special or close to it."""
    exponent_bits, fraction_bits, padding = FIELDS[name]
    width = 1 + exponent_bits + fraction_bits
    bias = (1 << (exponent_bits - 1)) - 1
    infinity = ((1 << exponent_bits) - 1) << fraction_bits
    magnitudes = st.one_of(
        st.sampled_from([0, 1, 2, (1 << fraction_bits) - 1, 1 << fraction_bits,  # subnormals
                         infinity - 1, bias << fraction_bits, (bias << fraction_bits) + 1]),
        # near 1, few significant bits: sums cancel and hit midpoints
        st.builds(lambda e, f: (bias + e << fraction_bits) | f << (fraction_bits - 2),
                  st.integers(-6, 6), st.integers(0, 3)),
        st.integers(0, infinity - 1))
    return st.builds(lambda magnitude, sign: (magnitude | sign << (width - 1)) << padding,
                     magnitudes, st.integers(0, 1))


def special_patterns(name: str) -> st.SearchStrategy[int]:
    exponent_bits, fraction_bits, padding = FIELDS[name]
    infinity = ((1 << exponent_bits) - 1) << fraction_bits
    sign = 1 << (exponent_bits + fraction_bits)
    patterns = [0, sign, infinity, infinity | sign, infinity | 1, infinity | sign | 1 << (fraction_bits - 1),
                infinity - 1, 1 | sign]
    return st.sampled_from([pattern << padding for pattern in patterns])


@st.composite
def float_problems(draw, types, patterns=bit_patterns):
    m, k, n = draw(st.tuples(st.integers(1, 3), st.integers(0, 6), st.integers(1, 3)))
    arrays = []
    for name, shape in zip(types[:3], ((m, k), (k, n), (m, n)), strict=True):
        arrays.append(draw(hnp.arrays(FORMATS[name].bits_dtype, shape, elements=patterns(name))))
    return arrays


# --------------------------------------------------------------------------------------
# Floating point
# --------------------------------------------------------------------------------------

MIXES = [(ab, ab, cd, cd) for ab, cd in itertools.product(FLOATS, FLOATS)] + [
    ("fp16", "fp16", "fp32", "fp16"), ("fp16", "fp16", "fp16", "fp32"), ("fp16", "bf16", "fp32", "fp32"),
    ("fp64", "fp16", "bf16", "fp64"), ("fp32", "fp64", "fp64", "fp32")]


@pytest.mark.parametrize("types", MIXES, ids="-".join)
@relaxed
@given(data=st.data())
def test_adversarial_operands(types, data):
    check_floats(*data.draw(float_problems(types)), types)


@pytest.mark.parametrize("types", MIXES, ids="-".join)
@relaxed
@given(data=st.data())
def test_infinities_nans_and_zeros(types, data):
    check_floats(*data.draw(float_problems(types, special_patterns)), types)


@pytest.mark.parametrize("types", MIXES, ids="-".join)
def test_random_bits(types):
    rng = np.random.default_rng(11)
    shapes = ((6, 7), (7, 5), (6, 5))
    bits = [rng.integers(0, 1 << FORMATS[name].bits, shape, dtype=np.uint64).astype(FORMATS[name].bits_dtype)
            for name, shape in zip(types[:3], shapes, strict=True)]
    cut = [storage_from_bits(b, name).view(b.dtype) for b, name in zip(bits, types[:3], strict=True)]
    check_floats(*cut, types)


@pytest.mark.parametrize("types", MIXES, ids="-".join)
def test_random_normal_numbers(types):
    rng = np.random.default_rng(12)
    shapes = ((6, 16), (16, 5), (6, 5))
    check_floats(*(to_bits(rng.standard_normal(shape), name)
                   for shape, name in zip(shapes, types[:3], strict=True)), types)


@pytest.mark.parametrize("d_type", ["fp16", "bf16"])
@pytest.mark.parametrize("nudge", [-1, 0, 1])
def test_midpoints_of_all_neighbours(d_type, nudge):
    # C is the midpoint of two neighbouring 16-bit numbers; a tiny product decides, or leaves the tie.
    patterns = np.arange((FORMATS[d_type].max_exponent * 2 + 1) << FIELDS[d_type][1], dtype=np.uint16)
    values = storage_from_bits(patterns, d_type).astype(np.float64)
    c = ((values[:-1] + values[1:]) / 2).reshape(-1, 1, 1)
    tiny = np.full(c.shape, 2.0**-149, np.float32)
    d = matrix_multiply_accumulate(tiny, np.float32(nudge) * tiny, c, a_type="fp32", b_type="fp32",
                                   c_type="fp64", d_type=d_type)
    index = patterns[:-1].astype(np.int64)
    expected = {-1: index, 0: index + (index & 1), 1: index + 1}[nudge]
    np.testing.assert_array_equal(d.view(np.uint16).reshape(-1), expected)


@pytest.mark.parametrize(("a", "b", "c", "expected"), [
    ([2.0**60, 1.0, -(2.0**60)], [1.0, 2.0**-60, 1.0], 0.0, 2.0**-60),  # all but the last bit cancels
    ([2.0**60, -(2.0**60)], [2.0**60, 2.0**60], -0.0, 0.0),  # an exact zero is +0
    ([1.0, 1.0], [2.0**-24, 2.0**-100], 1.0, 1 + 2.0**-23),  # just above a tie
    ([1.0, -1.0], [2.0**-24, 2.0**-100], 1.0, 1.0),  # just below it
    ([1.0, 0.0], [2.0**-24, 0.0], 1.0, 1.0)])  # the tie itself
def test_cancellation_and_ties_in_fp32(a, b, c, expected):
    d = matrix_multiply_accumulate(np.float32([a]), np.float32(b).reshape(-1, 1), np.float32([[c]]),
                                   a_type="fp32", b_type="fp32", c_type="fp32")
    assert d.view(np.uint32) == np.float32([[expected]]).view(np.uint32)


@pytest.mark.parametrize(("a", "b", "c", "expected"), [
    (1e300, 1e300, 0.0, math.inf), (1e300, -1e300, 0.0, -math.inf), (1e-200, 1e-200, 0.0, 0.0),
    (1e-200, -1e-200, 0.0, -0.0), (1e-200, 1e-200, 1.0, 1.0), (2.0**-537, 2.0**-537, 0.0, 2.0**-1074),
    (-0.0, 5.0, -0.0, -0.0), (0.0, 5.0, -0.0, 0.0), (-0.0, -5.0, -0.0, 0.0), (-0.0, 5.0, 0.0, 0.0),
    (1.7e308, 1.0, 1.7e308, math.inf)])
def test_ranges_and_signs_of_zero_in_fp64(a, b, c, expected):
    d = matrix_multiply_accumulate(np.array([[a]]), np.array([[b]]), np.array([[c]]),
                                   a_type="fp64", b_type="fp64", c_type="fp64")
    assert d.view(np.uint64) == np.array([[expected]]).view(np.uint64)


def test_terms_beyond_the_largest_double_may_cancel():
    d = matrix_multiply_accumulate(np.array([[1e300, 1e300, 3.0]]), np.array([[1e300], [-1e300], [2.0]]),
                                   np.array([[1.0]]), a_type="fp64", b_type="fp64", c_type="fp64")
    assert d == 7.0


def test_tf32_operands_lose_their_low_bits():
    a = np.array([[0x3F801FFF]], np.uint32).view(np.float32)
    one, zero = np.ones((1, 1), np.float32), np.zeros((1, 1), np.float32)
    assert matrix_multiply_accumulate(a, one, zero, a_type="tf32", b_type="tf32", c_type="fp32") == 1.0
    assert matrix_multiply_accumulate(one, a, zero, a_type="tf32", b_type="tf32", c_type="fp32") == 1.0
    assert matrix_multiply_accumulate(a, one, zero, a_type="fp32", b_type="fp32", c_type="fp32") == a


def test_a_large_fp16_product_agrees_with_float64_rounded_once():
    # Up to 32 products of small integers are exact in float64, whatever the order.
    rng = np.random.default_rng(13)
    a, b = (rng.integers(-512, 513, shape).astype(np.float16) for shape in ((64, 16, 32), (64, 32, 16)))
    c = rng.integers(-512, 513, (64, 16, 16)).astype(np.float16)
    exact = a.astype(np.float64) @ b.astype(np.float64) + c
    for d_type in ("fp16", "fp32"):
        d = matrix_multiply_accumulate(a, b, c, a_type="fp16", b_type="fp16", c_type="fp16", d_type=d_type)
        np.testing.assert_array_equal(d, round_to(exact, d_type))


def test_many_elements_of_fp64_agree_with_fsum():
    rng = np.random.default_rng(14)
    # A has at most 45 bits and B at most 6, so the products are exact, and fsum rounds their sum once.
    a = np.round(rng.standard_normal((4, 8, 16)) * 2.0**40) / 2.0**40
    b = rng.integers(-32, 32, (4, 16, 8)) / 4.0
    c = rng.standard_normal((4, 8, 8)) * 2.0**-30
    d = matrix_multiply_accumulate(a, b, c, a_type="fp64", b_type="fp64", c_type="fp64")
    for batch, m, n in np.ndindex(d.shape):
        assert d[batch, m, n] == math.fsum([*(a[batch, m] * b[batch, :, n]), c[batch, m, n]])


# --------------------------------------------------------------------------------------
# Integers
# --------------------------------------------------------------------------------------


def exact_integers(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    """A*B + C with Python's integers."""
    a, b, c = (np.array(array.astype(np.uint64 if array.dtype == np.uint64 else np.int64).tolist(), dtype=object)
               .reshape(array.shape) for array in (a, b, c))
    return np.matmul(a, b) + c


def check_integers(a: np.ndarray, b: np.ndarray, c: np.ndarray, types: tuple[str, str, str, str]) -> None:
    fmt = FORMATS[types[3]]
    formats = dict(zip(("a_format", "b_format", "c_format", "d_format"), types, strict=True))
    exact = exact_integers(a, b, c)
    wrapped = matrix_multiply_accumulate_exact(a, b, c, **formats)
    assert wrapped.dtype == fmt.dtype
    assert to_bits(wrapped, fmt).tolist() == (exact % (1 << fmt.bits)).tolist()
    clamped = matrix_multiply_accumulate_exact(a, b, c, **formats, saturating=True)
    expected = np.clip(exact, fmt.min_value, fmt.max_value)
    assert to_bits(clamped, fmt).tolist() == (expected % (1 << fmt.bits)).tolist()


INTEGER_MIXES = [
    ("sint8", "sint8", "sint32", "sint32"), ("uint8", "sint8", "sint32", "sint32"),
    ("sint8", "uint8", "sint32", "sint32"), ("uint8", "uint8", "uint32", "uint32"),
    ("sint4", "uint4", "sint32", "sint32"), ("sint4", "sint4", "sint4", "sint4"),
    ("uint4", "uint4", "uint4", "uint4"), ("sint16", "sint16", "sint32", "sint64"),
    ("uint16", "sint16", "sint16", "uint16"), ("sint32", "sint32", "sint32", "sint32"),
    ("uint32", "uint32", "uint64", "uint64"), ("sint64", "sint64", "sint64", "sint64"),
    ("uint64", "uint64", "uint64", "uint64"), ("uint64", "sint64", "uint8", "sint16"),
    ("sint8", "sint8", "uint64", "sint32"), ("sint8", "sint8", "sint8", "uint64")]


@pytest.mark.parametrize("types", INTEGER_MIXES, ids="-".join)
@pytest.mark.parametrize("shape", [(1, 1, 1), (3, 5, 4), (8, 16, 32), (2, 3, 0)], ids=str)
def test_random_integers(types, shape):
    m, n, k = shape
    rng = np.random.default_rng(15)
    arrays = [storage_from_bits(rng.integers(0, 1 << 64, size, dtype=np.uint64, endpoint=False), name)
              for size, name in zip(((m, k), (k, n), (m, n)), types[:3], strict=True)]
    check_integers(*arrays, types)


@pytest.mark.parametrize("types", INTEGER_MIXES, ids="-".join)
@pytest.mark.parametrize("ends", list(itertools.product((0, 1), repeat=3)), ids=str)
def test_ends_of_the_ranges(types, ends):
    values = [(FORMATS[name].min_value, FORMATS[name].max_value)[end]
              for name, end in zip(types[:3], ends, strict=True)]
    arrays = [np.full(shape, value).astype(FORMATS[name].dtype)
              for shape, value, name in zip(((2, 7), (7, 3), (2, 3)), values, types[:3], strict=True)]
    check_integers(*arrays, types)


@relaxed
@given(data=st.data(), types=st.tuples(*[st.sampled_from(INTEGERS)] * 4))
def test_any_mix_of_integer_types(data, types):
    m, k, n = data.draw(st.tuples(st.integers(1, 3), st.integers(0, 4), st.integers(1, 3)))
    arrays = []
    for name, shape in zip(types[:3], ((m, k), (k, n), (m, n)), strict=True):
        fmt = FORMATS[name]
        values = hnp.arrays(np.uint64 if fmt.kind == "uint" else np.int64, shape,
                            elements=st.integers(fmt.min_value, fmt.max_value))
        arrays.append(data.draw(values).astype(fmt.dtype))
    check_integers(*arrays, types)


@pytest.mark.parametrize(("bits", "k"), [(8, 256), (8, 257), (8, 300), (16, 4096)])
def test_sums_at_the_limit_of_float32_are_exact(bits, k):
    name, largest = f"uint{bits}", (1 << bits) - 1
    a = np.full((2, k), largest, FORMATS[name].dtype)
    a[1, 0] = 1
    b = np.full((k, 2), largest, FORMATS[name].dtype)
    b[0, 1] = largest - 1
    check_integers(a, b, np.ones((2, 2), np.uint32), (name, name, "uint32", "uint32"))
    check_integers(a, b, np.ones((2, 2), np.uint64), (name, name, "uint64", "uint64"))


def test_sums_beyond_the_limit_of_float64_are_exact():
    a = np.array([[1 << 27, 1]], np.uint32)
    check_integers(a, a.T.copy(), np.zeros((1, 1), np.uint64), ("uint32", "uint32", "uint64", "uint64"))


def test_wide_formats_with_small_data_go_through_blas_and_agree_with_numpy():
    rng = np.random.default_rng(16)
    a, b = (rng.integers(-1000, 1000, (5, 20, 20)) for _ in range(2))
    d = matrix_multiply_accumulate(a, b, a, a_type="sint64", b_type="sint64", c_type="sint64")
    np.testing.assert_array_equal(d, a @ b + a)


# --------------------------------------------------------------------------------------
# Batches and bad input
# --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["sint8", "fp16", "fp64"])
def test_leading_axes_are_a_batch_and_broadcast(name):
    rng = np.random.default_rng(17)
    dtype = FORMATS[name].dtype
    accumulator = "sint32" if name == "sint8" else "fp32"
    a = rng.integers(-8, 8, (2, 1, 3, 4)).astype(dtype)
    b = rng.integers(-8, 8, (5, 4, 6)).astype(dtype)
    c = rng.integers(-8, 8, (3, 6)).astype(FORMATS[accumulator].dtype)
    d = matrix_multiply_accumulate(a, b, c, a_type=name, b_type=name, c_type=accumulator)
    assert (d.shape, d.dtype) == ((2, 5, 3, 6), FORMATS[accumulator].dtype)
    np.testing.assert_array_equal(d, a.astype(float) @ b.astype(float) + c)


@pytest.mark.parametrize("name", ["sint8", "fp16", "fp64"])
@pytest.mark.parametrize("shapes", [((0, 3), (3, 2), (0, 2)), ((2, 0), (0, 2), (2, 2)),
                                    ((0, 2, 3), (0, 3, 2), (0, 2, 2))], ids=str)
def test_empty_matrices(name, shapes):
    a, b, c = (np.ones(shape, FORMATS[name].dtype) for shape in shapes)
    d = matrix_multiply_accumulate(a, b, c, a_type=name, b_type=name, c_type=name)
    np.testing.assert_array_equal(d, c)


def test_operands_are_not_changed():
    a = np.array([[np.inf, 1.0]], np.float16)
    b, c = a.T.copy(), np.zeros((1, 1), np.float32)
    matrix_multiply_accumulate(a, b, c, a_type="fp16", b_type="fp16", c_type="fp32")
    assert a.tolist() == [[np.inf, 1.0]]
    assert c == 0


def test_no_warnings_leak(recwarn):
    rng = np.random.default_rng(18)
    for types in MIXES:
        bits = [rng.integers(0, 1 << 64, shape, dtype=np.uint64) for shape in ((4, 3), (3, 4), (4, 4))]
        arrays = [storage_from_bits(b, name) for b, name in zip(bits, types[:3], strict=True)]
        matrix_multiply_accumulate(*arrays, a_type=types[0], b_type=types[1], c_type=types[2], d_type=types[3])
    assert not recwarn.list


def test_integers_of_the_other_signedness_are_reinterpreted():
    a = np.full((1, 1), 255, np.uint8)
    one, zero = np.ones((1, 1), np.int8), np.zeros((1, 1), np.uint32)
    assert matrix_multiply_accumulate(a, one, zero, a_type="sint8", b_type="sint8", c_type="sint32") == -1
    assert matrix_multiply_accumulate(a, one, zero, a_type="uint8", b_type="sint8", c_type="sint32") == 255


F16, F32, I8, I32 = (np.ones((2, 2), dtype) for dtype in (np.float16, np.float32, np.int8, np.int32))


@pytest.mark.parametrize(("arrays", "types", "message"), [
    ((F16, F16, F32), ("fp16", "fp16", "sint32"), "either all integers or all floating-point"),
    ((F32, F16, F32), ("fp16", "fp16", "fp32"), "A of type fp16 is an array of float16, found float32"),
    ((I8, I32, I32), ("sint8", "sint8", "sint32"), "B of type sint8 is an array of int8, found int32"),
    ((I8, F32, I32), ("sint8", "sint8", "sint32"), "B of type sint8 is an array of int8, found float32"),
    ((F16, np.ones((3, 2), np.float16), F32), ("fp16", "fp16", "fp32"),
     r"found shapes \(2, 2\), \(3, 2\) and \(2, 2\)"),
    ((F16, F16, np.ones((2, 3), np.float32)), ("fp16", "fp16", "fp32"), r"expected A \[..., M, K\]"),
    ((F16[0], F16, F32), ("fp16", "fp16", "fp32"), r"A must have at least two dimensions, found shape \(2,\)"),
    ((np.ones((2, 2, 2), np.float16), np.ones((3, 2, 2), np.float16), F32), ("fp16", "fp16", "fp32"),
     "batch dimensions of A, B and C do not broadcast"),
    ((F16, F16, F32), ("half", "fp16", "fp32"), "unknown element type 'half'")])
def test_bad_operands_are_named(arrays, types, message):
    with pytest.raises(Error, match=message):
        matrix_multiply_accumulate(*arrays, a_type=types[0], b_type=types[1], c_type=types[2])


def test_saturation_is_for_integers():
    with pytest.raises(Error, match="only integers are accumulated with saturation, not fp32"):
        matrix_multiply_accumulate_exact(F16, F16, F32, a_format="fp16", b_format="fp16", c_format="fp32",
                                         d_format="fp32", saturating=True)


def test_an_architecture_without_a_model():
    with pytest.raises(Error, match=r"no arithmetic model for architecture 'vax' \(there are: generic, intel_cpu_spr,"):
        matrix_multiply_accumulate(F16, F16, F32, a_type="fp16", b_type="fp16", c_type="fp32", architecture="vax")
    d = matrix_multiply_accumulate(F16, F16, F32, a_type="fp16", b_type="fp16", c_type="fp32",
                                   architecture="sim:generic")
    assert d.tolist() == [[3.0, 3.0], [3.0, 3.0]]
