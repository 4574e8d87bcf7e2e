"""Element formats against numpy, ml_dtypes and an exact rational model."""

from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coopmat.diagnostics import Error
from coopmat.formats import (
    FORMATS,
    OTHER_NAMES,
    Format,
    drop_unused_bits,
    format_of,
    from_bits,
    pack,
    round_pair,
    round_to,
    storage_from_bits,
    to_bits,
    unpack,
)
from tests.kit.rational_model import FIELDS, decode, round_exactly

FLOATS = [name for name, fmt in FORMATS.items() if fmt.is_float]
INTEGERS = [name for name, fmt in FORMATS.items() if fmt.is_integer]
EXHAUSTIVE = ["fp16", "bf16", "tf32"]
relaxed = settings(derandomize=True, deadline=None, max_examples=50)


def every_pattern(name: str) -> np.ndarray:
    """All bit patterns of a 16-bit format or of tf32."""
    exponent_bits, fraction_bits, padding = FIELDS[name]
    patterns = np.arange(1 << (1 + exponent_bits + fraction_bits), dtype=np.uint64) << np.uint64(padding)
    return patterns.astype(np.uint32 if padding else np.uint16)


def nan_mask(bits: np.ndarray, name: str) -> np.ndarray:
    exponent_bits, fraction_bits, padding = FIELDS[name]
    magnitude = bits.astype(np.uint64) & np.uint64((1 << (exponent_bits + fraction_bits + padding)) - 1)
    return magnitude > np.uint64(((1 << exponent_bits) - 1) << (fraction_bits + padding))


def quieted(bits: np.ndarray, name: str) -> np.ndarray:
    _, fraction_bits, padding = FIELDS[name]
    quiet = bits.dtype.type(1 << (fraction_bits + padding - 1))
    return np.where(nan_mask(bits, name), bits | quiet, bits)


# --------------------------------------------------------------------------------------
# The table
# --------------------------------------------------------------------------------------


def test_the_contract_names_every_format():
    assert set(FORMATS) == {
        "bf16", "fp16", "tf32", "fp32", "fp64",
        "sint4", "sint8", "sint16", "sint32", "sint64", "uint4", "uint8", "uint16", "uint32", "uint64"}


@pytest.mark.parametrize(("name", "bits", "dtype"), [
    ("bf16", 16, ml_dtypes.bfloat16), ("fp16", 16, np.float16), ("tf32", 32, np.float32),
    ("fp32", 32, np.float32), ("fp64", 64, np.float64), ("sint4", 4, ml_dtypes.int4),
    ("uint4", 4, ml_dtypes.uint4), ("sint8", 8, np.int8), ("uint64", 64, np.uint64)])
def test_widths_and_storage(name, bits, dtype):
    assert FORMATS[name].bits == bits
    assert FORMATS[name].dtype == np.dtype(dtype)


@pytest.mark.parametrize("name", ["bf16", "fp16", "fp32", "fp64"])
def test_limits_of_floats_agree_with_finfo(name):
    info = ml_dtypes.finfo(FORMATS[name].dtype)
    assert FORMATS[name].max_value == float(info.max)
    assert FORMATS[name].min_value == float(info.min)
    assert 2.0 ** FORMATS[name].min_exponent == float(info.smallest_normal)


@pytest.mark.parametrize("name", INTEGERS)
def test_limits_of_integers_agree_with_iinfo(name):
    info = ml_dtypes.iinfo(FORMATS[name].dtype)
    assert (FORMATS[name].min_value, FORMATS[name].max_value) == (int(info.min), int(info.max))


def test_a_wrong_row_is_rejected():
    with pytest.raises(ValueError, match="does not hold"):
        Format("fp16", "float", 16, 5, 10, np.dtype(np.float32))
    with pytest.raises(ValueError, match="fields make 17 bits"):
        Format("fp16", "float", 16, 6, 10, np.dtype(np.float16))
    with pytest.raises(ValueError, match="integer format"):
        Format("sint8", "sint", 8, 1, 0, np.dtype(np.int8))


def test_an_unknown_name_is_answered_with_the_known_ones():
    with pytest.raises(Error, match=r"unknown element type 'bf61'; did you mean 'bf16'\? \(known: bf16"):
        format_of("bf61")
    with pytest.raises(Error, match=r"unknown element type 'int8'; did you mean 'sint8'\?"):
        format_of("int8")
    assert set(OTHER_NAMES.values()) <= set(FORMATS)
    assert not set(OTHER_NAMES) & set(FORMATS)
    assert format_of(FORMATS["fp16"]) is FORMATS["fp16"]


# --------------------------------------------------------------------------------------
# Bits and values, exhaustively
# --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", EXHAUSTIVE)
def test_every_pattern_decodes_to_its_exact_value(name):
    bits = every_pattern(name)
    for pattern, value in zip(bits.tolist(), from_bits(bits, name).tolist(), strict=True):
        expected = decode(pattern, name)
        assert value != value if expected != expected else value == expected


@pytest.mark.parametrize(("name", "peer"), [("fp16", np.float16), ("bf16", ml_dtypes.bfloat16)])
def test_every_pattern_decodes_as_numpy_and_ml_dtypes_do(name, peer):
    bits = every_pattern(name)
    with np.errstate(invalid="ignore"):
        expected = bits.view(peer).astype(np.float64)
    np.testing.assert_array_equal(from_bits(bits, name), expected)
    np.testing.assert_array_equal(np.signbit(from_bits(bits, name)), bits >> 15)


@pytest.mark.parametrize("name", EXHAUSTIVE)
def test_every_pattern_survives_the_way_through_float64(name):
    bits = every_pattern(name)
    np.testing.assert_array_equal(to_bits(from_bits(bits, name), name), quieted(bits, name))


@pytest.mark.parametrize("name", ["fp16", "bf16"])
def test_an_array_in_storage_keeps_its_bits(name):
    bits = every_pattern(name)
    np.testing.assert_array_equal(to_bits(storage_from_bits(bits, name), name), bits)


def test_tf32_lies_in_a_32_bit_container_with_13_zeros():
    rng = np.random.default_rng(5)
    bits = to_bits(rng.standard_normal(1000).astype(np.float32), "tf32")
    assert bits.dtype == np.uint32
    assert not np.any(bits & 0x1FFF)


def test_reading_tf32_cuts_the_low_bits_and_keeps_nan():
    bits = np.array([0x3F801FFF, 0x7F7FFFFF, 0x7F800001, 0xFF800001, 0x7F800000], dtype=np.uint32)
    read = drop_unused_bits(bits.view(np.float32), "tf32").view(np.uint32)
    assert [hex(b) for b in read] == ["0x3f800000", "0x7f7fe000", "0x7fc00000", "0xffc00000", "0x7f800000"]


def test_reading_other_formats_cuts_nothing():
    values = np.array([1.1, -2.2], dtype=np.float32)
    assert drop_unused_bits(values, "fp32") is values


@pytest.mark.parametrize("name", INTEGERS)
def test_integer_bits_are_twos_complement(name):
    fmt = FORMATS[name]
    values = [0, 1, fmt.max_value, fmt.min_value, fmt.max_value // 3, fmt.min_value // 3]
    bits = to_bits(np.array(values, dtype=np.uint64 if name == "uint64" else np.int64), name)
    assert bits.dtype == fmt.bits_dtype
    assert bits.tolist() == [value % (1 << fmt.bits) for value in values]
    assert from_bits(bits, name).tolist() == values


@pytest.mark.parametrize("name", ["sint4", "uint4"])
def test_bits_above_a_4_bit_element_are_ignored(name):
    every = np.arange(256, dtype=np.uint8)
    np.testing.assert_array_equal(from_bits(every, name), from_bits(every & 15, name))
    np.testing.assert_array_equal(from_bits(every, name), every.view(FORMATS[name].dtype).astype(np.int64))


def test_bit_patterns_must_be_integers():
    with pytest.raises(Error, match="bit patterns are integers, not float64"):
        from_bits([1.5], "fp16")


# --------------------------------------------------------------------------------------
# Rounding
# --------------------------------------------------------------------------------------


def finite_neighbours(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Each finite non-negative number of a narrow format and the next one (2**(emax+1) after the last)."""
    bits = every_pattern(name)
    positive = bits[: len(bits) // 2]
    values = from_bits(positive[~nan_mask(positive, name)], name)
    above = values[1:].copy()
    above[-1] = 2.0 ** (FORMATS[name].max_exponent + 1)
    return values[:-1], above


@pytest.mark.parametrize("name", EXHAUSTIVE)
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_every_midpoint_rounds_to_even_and_its_float64_neighbours_do_not(name, sign):
    below, above = finite_neighbours(name)
    middle = (below + above) / 2  # exact in float64
    index = np.arange(len(below)).astype(np.uint32)
    even = index + (index & 1)
    sign_bit = 0 if sign > 0 else FORMATS[name].bits_dtype.type(1 << (FORMATS[name].bits - 1))
    padding = FIELDS[name][2]

    def rounded(values: np.ndarray) -> np.ndarray:
        return (to_bits(sign * values, name) ^ sign_bit) >> padding

    np.testing.assert_array_equal(rounded(middle), even)
    np.testing.assert_array_equal(rounded(np.nextafter(middle, np.inf)), index + 1)
    np.testing.assert_array_equal(rounded(np.nextafter(middle, 0)), index)


@pytest.mark.parametrize("name", ["fp16", "bf16"])
@pytest.mark.parametrize("rounding", ["rtz", "rtp", "rtn"])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_directed_rounding_between_all_neighbours(name, rounding, sign):
    below, above = finite_neighbours(name)
    outward = (rounding == "rtp" and sign > 0) or (rounding == "rtn" and sign < 0)
    storage = round_to(sign * np.nextafter(below, np.inf), name, rounding=rounding)
    expected = np.where(above > FORMATS[name].max_value, np.inf, above) if outward else below
    np.testing.assert_array_equal(storage.astype(np.float64), sign * expected)
    storage = round_to(sign * np.nextafter(above, 0), name, rounding=rounding)
    np.testing.assert_array_equal(storage.astype(np.float64), sign * expected)


def test_fp16_rounds_as_numpy_does():
    rng = np.random.default_rng(1)
    values = rng.standard_normal(50_000) * np.exp2(rng.integers(-30, 20, 50_000))
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(round_to(values, "fp16"), values.astype(np.float16))


def test_fp32_rounds_as_numpy_does():
    rng = np.random.default_rng(2)
    values = rng.standard_normal(50_000) * np.exp2(rng.integers(-160, 130, 50_000))
    with np.errstate(over="ignore"):
        expected = values.astype(np.float32)
    np.testing.assert_array_equal(to_bits(values, "fp32"), expected.view(np.uint32))


def test_float32_to_bf16_rounds_as_ml_dtypes_does():
    rng = np.random.default_rng(3)
    values = rng.integers(0, 1 << 32, 200_000, dtype=np.uint32).view(np.float32)
    values = values[~np.isnan(values)]
    np.testing.assert_array_equal(to_bits(values, "bf16"), values.astype(ml_dtypes.bfloat16).view(np.uint16))


def test_bf16_of_float64_is_rounded_once():
    # Rounding to float32 on the way would first land on a tie, then on the wrong side.
    value = 1 + 2.0**-8 + 2.0**-40
    assert to_bits(value, "bf16") == 0x3F81
    assert np.float32(value).astype(ml_dtypes.bfloat16).view(np.uint16) == 0x3F80


float64_patterns = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False),
    st.floats(min_value=-70000, max_value=70000),
    st.builds(lambda m, e: float(m) * 2.0**e, st.integers(-(1 << 53), 1 << 53), st.integers(-200, 80)))


@pytest.mark.parametrize("name", ["fp16", "bf16", "tf32", "fp32"])
@pytest.mark.parametrize("rounding", ["rte", "rtz", "rtp", "rtn"])
@relaxed
@given(values=st.lists(float64_patterns, min_size=1, max_size=20))
def test_float64_rounds_as_the_rational_model(name, rounding, values):
    found = round_to(values, name, rounding=rounding).view(FORMATS[name].bits_dtype)
    expected = [round_exactly(Fraction(v), name, rounding, np.signbit(v)) for v in values]
    assert found.tolist() == expected


@pytest.mark.parametrize("name", FLOATS)
@pytest.mark.parametrize("rounding", ["rte", "rtz", "rtp", "rtn"])
@relaxed
@given(values=st.lists(st.integers(-(1 << 63), (1 << 63) - 1), min_size=1, max_size=20),
       bits=st.integers(1, 64))
def test_integers_round_once(name, rounding, values, bits):
    values = [value >> (64 - bits) for value in values]
    found = round_to(np.array(values, dtype=np.int64), name, rounding=rounding)
    expected = [round_exactly(Fraction(v), name, rounding) for v in values]
    assert found.view(FORMATS[name].bits_dtype).tolist() == expected


@relaxed
@given(value=st.integers(1 << 63, (1 << 64) - 1), name=st.sampled_from(FLOATS))
def test_large_unsigned_integers_round_once(value, name):
    assert int(to_bits(np.uint64(value), name)) == round_exactly(Fraction(value), name)


@relaxed
@given(high=st.floats(-1e200, 1e200), exponent=st.integers(-120, 0), mantissa=st.floats(-1, 1),
       name=st.sampled_from(["fp16", "bf16", "tf32", "fp32"]))
def test_a_pair_rounded_to_odd_can_be_rounded_again(high, exponent, mantissa, name):
    low = mantissa * 2.0**exponent * abs(high)
    high = high if abs(high) > 1e-200 else 1.0
    odd = round_pair(np.array([high]), np.array([low]), "odd")
    assert int(to_bits(odd, name)[0]) == round_exactly(Fraction(high) + Fraction(low), name)


@pytest.mark.parametrize("name", ["fp16", "bf16", "tf32", "fp32"])
def test_special_values(name):
    _, fraction_bits, padding = FIELDS[name]
    bits = to_bits(np.array([np.inf, -np.inf, 0.0, -0.0, 1e300, -1e300, 1e-320, -1e-320]), name)
    sign = 1 << (FORMATS[name].bits - 1)
    infinity = ((1 << FIELDS[name][0]) - 1) << (fraction_bits + padding)
    assert bits.tolist() == [infinity, infinity | sign, 0, sign, infinity, infinity | sign, 0, sign]


@pytest.mark.parametrize("name", ["fp16", "bf16", "tf32", "fp32"])
def test_nan_keeps_sign_and_upper_payload_and_becomes_quiet(name):
    _, fraction_bits, padding = FIELDS[name]
    payload = 0b1011 << (fraction_bits - 5)
    for sign in (0, 1):
        for tail in (0, 1):  # bits below the target's payload are lost
            double = np.array([sign << 63 | 0x7FF << 52 | payload << (52 - fraction_bits) | tail], np.uint64)
            found = int(to_bits(double.view(np.float64), name)[0])
            exponent = ((1 << FIELDS[name][0]) - 1) << fraction_bits
            expected = exponent | payload | 1 << (fraction_bits - 1)
            assert found == (expected << padding) | sign << (FORMATS[name].bits - 1)


def test_signalling_nan_without_upper_payload_stays_a_nan():
    signalling = np.array([0x7FF0000000000001], np.uint64).view(np.float64)
    assert to_bits(signalling, "fp16")[0] == 0x7E00
    assert to_bits(np.array([0x7F800001], np.uint32).view(np.float32), "tf32")[0] == 0x7FC00000


def test_no_warnings_leak(recwarn):
    values = np.array([np.nan, np.inf, 1e300, 1e-320, -np.inf])
    for name in FORMATS:
        round_to(values, name)
        round_to(values, name, overflow="saturate")
    assert not recwarn.list


@pytest.mark.parametrize("name", INTEGERS)
@pytest.mark.parametrize("rounding", ["rte", "rtz", "rtp", "rtn"])
@relaxed
@given(values=st.lists(st.floats(allow_nan=False, allow_infinity=False) | st.floats(-300, 300)
                       | st.sampled_from([2.0**63, -(2.0**63), 2.0**64, 2.0**31, 0.5, 1.5, 2.5, -0.5]),
                       min_size=1, max_size=10))
def test_floats_to_integers_wrap_or_saturate(name, rounding, values):
    fmt = FORMATS[name]
    integral = {"rte": round, "rtz": int, "rtp": lambda v: -((-v) // 1), "rtn": lambda v: v // 1}[rounding]
    integers = [int(integral(Fraction(value))) for value in values]
    wrapped = to_bits(round_to(values, name, rounding=rounding), name)
    assert wrapped.tolist() == [value % (1 << fmt.bits) for value in integers]
    saturated = from_bits(to_bits(round_to(values, name, rounding=rounding, overflow="saturate"), name), name)
    assert saturated.tolist() == [min(max(value, fmt.min_value), fmt.max_value) for value in integers]


@pytest.mark.parametrize("name", INTEGERS)
@pytest.mark.parametrize("dtype", [np.int64, np.uint64])
def test_integers_to_integers_wrap_or_saturate(name, dtype):
    fmt, info = FORMATS[name], np.iinfo(dtype)
    rng = np.random.default_rng(4)
    values = np.concatenate([rng.integers(info.min, info.max, 100, dtype=dtype, endpoint=True),
                             np.arange(100).astype(dtype), np.array([info.min, info.max], dtype)])
    assert to_bits(values, name).tolist() == [v % (1 << fmt.bits) for v in values.tolist()]
    saturated = round_to(values, name, overflow="saturate")
    assert from_bits(to_bits(saturated, name), name).tolist() == [
        min(max(v, fmt.min_value), fmt.max_value) for v in values.tolist()]


@pytest.mark.parametrize("name", INTEGERS)
def test_nan_and_infinities_to_integers(name):
    fmt = FORMATS[name]
    values = np.array([np.nan, np.inf, -np.inf])
    assert round_to(values, name).astype(float).tolist() == [0, 0, 0]
    saturated = from_bits(to_bits(round_to(values, name, overflow="saturate"), name), name)
    assert saturated.tolist() == [0, fmt.max_value, fmt.min_value]


@pytest.mark.parametrize("name", list(FORMATS))
def test_shape_type_and_ownership_of_the_result(name):
    fmt = FORMATS[name]
    values = np.arange(6.0).reshape(2, 3)[:, ::2]
    result = round_to(values, name)
    assert (result.shape, result.dtype) == ((2, 2), fmt.dtype)
    assert result.astype(float).tolist() == values.tolist()
    assert round_to(3, name).shape == ()
    assert round_to(np.zeros((0, 4)), name).shape == (0, 4)
    same = np.ones(3, fmt.dtype)
    assert not np.shares_memory(round_to(same, name), same)


@pytest.mark.parametrize("source", [np.bool_, ml_dtypes.int4, ml_dtypes.uint4, ml_dtypes.bfloat16, np.float16,
                                    np.int8, np.uint16, np.float32, ">f8", ">i4"])
def test_any_real_type_is_taken(source):
    values = np.array([0, 1, 1, 0]).astype(source)
    assert to_bits(values, "fp16").tolist() == [0, 0x3C00, 0x3C00, 0]
    assert to_bits(values, "sint32").tolist() == [0, 1, 1, 0]


@pytest.mark.parametrize("values", [[1 + 2j], ["1"], [2**70], np.ones(2, np.longdouble), [None]])
def test_what_is_not_a_real_number_is_refused(values):
    with pytest.raises(Error, match="expected real numbers of at most 64 bits, found an array of type"):
        round_to(values, "fp16")


# --------------------------------------------------------------------------------------
# Packing
# --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", list(FORMATS))
@pytest.mark.parametrize("word_bits", [8, 16, 32, 64])
def test_packing_puts_the_lowest_element_lowest(name, word_bits):
    fmt = FORMATS[name]
    if fmt.bits > word_bits:
        with pytest.raises(Error, match="expected words of 8, 16, 32 or 64 bits"):
            pack(np.zeros(8, fmt.dtype), name, word_bits)
        return
    rng = np.random.default_rng(6)
    per_word = word_bits // fmt.bits
    storage = storage_from_bits(rng.integers(0, 1 << fmt.bits, (3, 2 * per_word), dtype=np.uint64), name)
    words = pack(storage, name, word_bits)
    expected = [[sum(int(row[w * per_word + i]) << (i * fmt.bits) for i in range(per_word)) for w in range(2)]
                for row in to_bits(storage, name).tolist()]
    assert words.tolist() == expected
    assert words.dtype == np.dtype(f"uint{word_bits}")
    for view in (words, words.view(f"int{word_bits}")):
        again = unpack(view, name)
        assert again.dtype == fmt.dtype
        np.testing.assert_array_equal(again.view(fmt.bits_dtype) % (1 << fmt.bits) if fmt.bits == 4
                                      else again.view(fmt.bits_dtype), to_bits(storage, name))


def test_packing_examples():
    assert pack([1, 2, 3, -1], "sint8").tolist() == [0xFF030201]
    assert pack([1, -1, 7, -8], "sint4", 16).tolist() == [0x87F1]
    assert pack([1.0, -2.0], "bf16").tolist() == [0xC0003F80]


def test_packing_needs_whole_words():
    with pytest.raises(Error, match="expected a multiple of 4 elements, found 6 along the last axis"):
        pack(np.zeros((2, 6), np.int8), "sint8")
    with pytest.raises(Error, match="found a single one"):
        pack(3, "sint8")
    with pytest.raises(Error, match="found 24 bits"):
        pack(np.zeros(3, np.int8), "sint8", 24)


def test_packed_words_are_integers():
    with pytest.raises(Error, match="packed words are integers, not float32"):
        unpack(np.zeros(2, np.float32), "sint8")
