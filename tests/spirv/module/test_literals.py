"""Floating-point bits and their text against struct, float.fromhex and ml_dtypes."""

from __future__ import annotations

import math
import struct

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coopmat.spirv.grammar import FPEncoding
from coopmat.spirv.module.literals import (
    FloatLayout,
    decode_float,
    encode_float,
    float_layout,
    float_text,
    integer_bits,
    parse_float,
    parse_integer,
)

HALF, SINGLE, DOUBLE = FloatLayout(5, 10), FloatLayout(8, 23), FloatLayout(11, 52)
BFLOAT = FloatLayout(8, 7)
relaxed = settings(derandomize=True, deadline=None, max_examples=300)


def test_layouts_by_type() -> None:
    assert float_layout(16) == HALF
    assert float_layout(32) == SINGLE
    assert float_layout(64) == DOUBLE
    assert float_layout(16, FPEncoding.BFloat16KHR) == BFLOAT
    assert float_layout(8, FPEncoding.Float8E4M3EXT) == FloatLayout(4, 3, finite=True)
    assert float_layout(4, FPEncoding.Float4E2M1EXT) is None
    assert [layout.width for layout in (HALF, SINGLE, DOUBLE, BFLOAT)] == [16, 32, 64, 16]


@pytest.mark.parametrize(("layout", "dtype"), [(HALF, np.float16), (BFLOAT, ml_dtypes.bfloat16)])
def test_every_16_bit_pattern(layout: FloatLayout, dtype: type) -> None:
    """Decoding equals numpy's; encoding and text restore the bits (of a NaN: text only)."""
    with np.errstate(invalid="ignore"):
        values = np.arange(1 << 16, dtype=np.uint16).view(dtype).astype(np.float64)
    for bits, expected in enumerate(values.tolist()):
        value = decode_float(bits, layout)
        assert parse_float(float_text(bits, layout), layout) == bits
        if math.isnan(expected):
            assert math.isnan(value)
        else:
            assert (value, math.copysign(1, value)) == (expected, math.copysign(1, expected))
            assert encode_float(value, layout) == bits


@relaxed
@given(st.floats(width=64))
def test_encoding_rounds_to_nearest_even(value: float) -> None:
    with np.errstate(over="ignore"):
        for layout, dtype, word in ((HALF, np.float16, np.uint16), (SINGLE, np.float32, np.uint32),
                                    (DOUBLE, np.float64, np.uint64)):
            if not math.isnan(value):
                assert encode_float(value, layout) == int(np.array(value).astype(dtype).view(word))


@relaxed
@given(st.integers(0, (1 << 32) - 1))
def test_text_restores_single(bits: int) -> None:
    text = float_text(bits, SINGLE)
    assert parse_float(text, SINGLE) == bits
    value = struct.unpack("<f", struct.pack("<I", bits))[0]
    if math.isfinite(value):
        assert struct.pack("<f", float.fromhex(text) if "x" in text else float(text)) == struct.pack("<I", bits)


@relaxed
@given(st.integers(0, (1 << 64) - 1))
def test_text_restores_double(bits: int) -> None:
    assert parse_float(float_text(bits, DOUBLE), DOUBLE) == bits


@pytest.mark.parametrize(("bits", "text"), [
    (0x3F800000, "1"), (0x80000000, "-0"), (0x3DCCCCCD, "0.100000001"), (0x7F800000, "0x1p+128"),
    (0xFF800000, "-0x1p+128"), (0x7FC00000, "0x1.8p+128"), (0x7F800001, "0x1.000002p+128"),
    (0x00000001, "0x1p-149"), (0x007FFFFF, "0x1.fffffcp-127"), (0x4B189680, "10000000"), (0x501502F9, "1e+10"),
])
def test_notation_of_single(bits: int, text: str) -> None:
    assert float_text(bits, SINGLE) == text


@pytest.mark.parametrize(("text", "bits"), [
    ("0x1p+129", 0x7F800000), ("-0x1.8p+300", 0xFF800000), ("0x1p-150", 0), ("0x1.8p-150", 1),
    ("0x.8p1", 0x3F800000), ("1e-400", 0), ("+2.", 0x40000000), (".5", 0x3F000000),
    ("-0.0", 0x80000000), ("0x0p+0", 0), ("0x10p-4", 0x3F800000), ("16777217", 0x4B800000),
])
def test_reading_single(text: str, bits: int) -> None:
    assert parse_float(text, SINGLE) == bits


@pytest.mark.parametrize("text", ["", "x", "1.0f", "nan", "inf", "0x", "0x.p1", "1e", "--1", "1_0", "٣", "0x1.8",
                                  "9" * 5000])
def test_no_floats(text: str) -> None:
    assert parse_float(text, SINGLE) is None


def test_reading_huge_exponents_is_quick() -> None:
    assert parse_float("0x1p+999999", DOUBLE) == DOUBLE.infinity
    assert parse_float("0x1p-999999", DOUBLE) == 0
    assert parse_float("1e999999", DOUBLE) is None
    assert parse_float("-1e-999999", DOUBLE) == 1 << 63


@pytest.mark.parametrize(("text", "width", "bits"), [
    ("255", 8, 255), ("-1", 8, 255), ("-128", 8, 128), ("0xff", 8, 255), ("0XFF", 16, 255), ("007", 8, 7),
    ("18446744073709551615", 64, (1 << 64) - 1), ("-9223372036854775808", 64, 1 << 63),
])
def test_integers(text: str, width: int, bits: int) -> None:
    assert integer_bits(text, width) == bits


@pytest.mark.parametrize(("text", "width"), [("256", 8), ("-129", 8), ("0x100", 8), ("1.0", 32), ("", 32),
                                             ("1_0", 32), ("9" * 5000, 64), ("0b1", 32)])
def test_no_integers(text: str, width: int) -> None:
    assert integer_bits(text, width) is None


def test_parse_integer_keeps_the_sign() -> None:
    assert parse_integer("-0x10") == -16
