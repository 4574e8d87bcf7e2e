"""Numbers in SPIR-V: floating-point bit patterns and their notation in assembly.

Decimal notation is used for normal numbers of 32 and 64 bits, with as many digits as restore them exactly;
everything else (16-bit formats, denormals, infinities, NaNs) is written as a hexadecimal float, where the
exponent after the largest one stands for infinity and, with a fraction, for NaN.
"""

from __future__ import annotations

import math
import re
from fractions import Fraction
from typing import NamedTuple

from coopmat.spirv.grammar import FPEncoding


class FloatLayout(NamedTuple):
    """The fields of a binary floating-point format, below the sign bit.

    A ``finite`` format has no infinities: its largest exponent is that of numbers, too, and all ones are NaN.
    """

    exponent_bits: int
    fraction_bits: int
    finite: bool = False

    @property
    def width(self) -> int:
        """The number of bits."""
        return 1 + self.exponent_bits + self.fraction_bits

    @property
    def bias(self) -> int:
        """What the exponent field adds; also the largest exponent of a finite number."""
        return (1 << self.exponent_bits - 1) - 1

    @property
    def largest(self) -> int:
        """The largest bits that conversions give: infinity, or the largest number of a finite format."""
        return (1 << self.width - 1) - 2 if self.finite else self.infinity

    @property
    def infinity(self) -> int:
        """The bits of positive infinity."""
        return (1 << self.exponent_bits) - 1 << self.fraction_bits


_LAYOUTS: dict[tuple[int, int | None], FloatLayout] = {
    (16, None): FloatLayout(5, 10),
    (32, None): FloatLayout(8, 23),
    (64, None): FloatLayout(11, 52),
    (16, FPEncoding.BFloat16KHR): FloatLayout(8, 7),
    (8, FPEncoding.Float8E5M2EXT): FloatLayout(5, 2),
    (8, FPEncoding.Float8E4M3EXT): FloatLayout(4, 3, finite=True),
}
_DECIMAL_DIGITS = {32: 9, 64: 17}


def float_layout(width: int, encoding: int | None = None) -> FloatLayout | None:
    """The layout of ``OpTypeFloat width [encoding]``; None for formats that are not known."""
    return _LAYOUTS.get((width, encoding))


def encode_float(value: float | Fraction, layout: FloatLayout) -> int:
    """The bits of the nearest number, ties to even; beyond the largest one it is infinity."""
    if isinstance(value, float) and not math.isfinite(value):
        quiet = 1 << layout.fraction_bits - 1 if math.isnan(value) else 0
        return _sign(value, layout) | layout.infinity | quiet
    exact = abs(Fraction(value))
    if exact == 0:
        return _sign(value, layout)
    exponent = max(_floor_log2(exact), 1 - layout.bias)
    units = round(exact / Fraction(2) ** (exponent - layout.fraction_bits))
    # A fraction that rounds up to the next power of two carries into the exponent field by itself, and a
    # denormal lacks the implicit bit, so that adding the two fields is right in every case.
    bits = (exponent - 1 + layout.bias << layout.fraction_bits) + units
    return _sign(value, layout) | min(bits, layout.largest)


def _sign(value: float | Fraction, layout: FloatLayout) -> int:
    negative = math.copysign(1.0, value) < 0 if isinstance(value, float) else value < 0
    return 1 << layout.width - 1 if negative else 0


def _floor_log2(value: Fraction) -> int:
    guess = value.numerator.bit_length() - value.denominator.bit_length()
    return guess if value >= Fraction(2) ** guess else guess - 1


def decode_float(bits: int, layout: FloatLayout) -> float:
    """The number that the bits stand for; exact, for no layout is wider than a Python float."""
    sign = -1.0 if bits >> layout.width - 1 & 1 else 1.0
    exponent, fraction = _fields(bits, layout)
    if layout.finite and bits & layout.largest + 1 == layout.largest + 1:
        return math.copysign(math.nan, sign)
    if not layout.finite and exponent == layout.infinity >> layout.fraction_bits:
        return math.copysign(math.nan if fraction else math.inf, sign)
    if exponent:
        fraction += 1 << layout.fraction_bits
    return sign * math.ldexp(fraction, max(exponent, 1) - layout.bias - layout.fraction_bits)


def _fields(bits: int, layout: FloatLayout) -> tuple[int, int]:
    exponent = bits >> layout.fraction_bits & (1 << layout.exponent_bits) - 1
    return exponent, bits & (1 << layout.fraction_bits) - 1


# --------------------------------------------------------------------------------------
# Text
# --------------------------------------------------------------------------------------


def float_text(bits: int, layout: FloatLayout) -> str:
    """The number in the notation of SPIR-V assembly."""
    exponent, fraction = _fields(bits, layout)
    is_normal = 0 < exponent < layout.infinity >> layout.fraction_bits
    digits = _DECIMAL_DIGITS.get(layout.width)
    if digits is not None and (is_normal or not (exponent or fraction)):
        return f"{decode_float(bits, layout):.{digits}g}"
    return _hexadecimal(bits, layout)


def _hexadecimal(bits: int, layout: FloatLayout) -> str:
    sign = "-" if bits >> layout.width - 1 & 1 else ""
    exponent, fraction = _fields(bits, layout)
    if not exponent and not fraction:
        return f"{sign}0x0p+0"
    power = exponent - layout.bias
    if not exponent:  # a denormal: shift its leading one to the implicit position
        shift = layout.fraction_bits + 1 - fraction.bit_length()
        fraction = fraction << shift & (1 << layout.fraction_bits) - 1
        power = 1 - layout.bias - shift
    padding = -layout.fraction_bits % 4
    digits = f"{fraction << padding:0{(layout.fraction_bits + padding) // 4}x}".rstrip("0")
    return f"{sign}0x1{'.' + digits if digits else ''}p{power:+d}"


_HEX_FLOAT = re.compile(r"([+-]?)0[xX]([0-9a-fA-F]*)(?:\.([0-9a-fA-F]*))?[pP]([+-]?\d{1,6})", re.ASCII)
_DECIMAL = re.compile(r"([+-]?(?:\d+\.?\d*|\.\d+))(?:[eE]([+-]?\d{1,6}))?", re.ASCII)
_LONGEST = 1000
"""The most characters of a floating-point literal; a double's exact value has fewer."""
_INTEGER = re.compile(r"([+-]?)(0[xX][0-9a-fA-F]+|\d+)", re.ASCII)


def parse_float(text: str, layout: FloatLayout) -> int | None:
    """The bits of a decimal or hexadecimal float; None if the text is neither, or a decimal beyond the largest."""
    if len(text) > _LONGEST:
        return None
    match = _HEX_FLOAT.fullmatch(text)
    if match is not None:
        return _parse_hexadecimal(match, layout)
    match = _DECIMAL.fullmatch(text)
    if match is None:
        return None
    power = max(-3 * _LONGEST, min(int(match[2] or 0), 3 * _LONGEST))  # beyond, no digits bring it back
    value = Fraction(match[1]) * Fraction(10) ** power
    if layout.finite and abs(value) > Fraction(decode_float(layout.largest, layout)):
        return None
    bits = encode_float(value, layout)
    if not layout.finite and bits & layout.infinity == layout.infinity:  # beyond the largest number
        return None
    return bits | 1 << layout.width - 1 if text.startswith("-") else bits


def _parse_hexadecimal(match: re.Match[str], layout: FloatLayout) -> int | None:
    whole, fraction, power = match[2], match[3] or "", int(match[4])
    if not whole and not fraction:
        return None
    sign = 1 << layout.width - 1 if match[1] == "-" else 0
    significand = int(whole + fraction, 16)
    if significand == 0:
        return sign
    power -= 4 * len(fraction)
    top = power + significand.bit_length() - 1  # the exponent of the leading one
    if top > layout.bias:
        is_nan = top == layout.bias + 1
        below = significand << layout.fraction_bits >> significand.bit_length() - 1
        return sign | layout.infinity | (below & (1 << layout.fraction_bits) - 1 if is_nan else 0)
    if top < -layout.bias - layout.fraction_bits - 1:
        return sign
    return sign | encode_float(significand * Fraction(2) ** power, layout)


def parse_integer(text: str) -> int | None:
    """The value of a decimal or hexadecimal integer with an optional sign; None if the text is neither."""
    match = _INTEGER.fullmatch(text)
    if match is None or len(text) > 40:
        return None
    return int(text, 0) if match[2][:2] in ("0x", "0X") else int(text)


def integer_bits(text: str, width: int) -> int | None:
    """The bits of an integer literal of this width, negative or not; None if it is none or does not fit."""
    value = parse_integer(text)
    if value is None or not -(1 << width - 1) <= value < 1 << width:
        return None
    return value & (1 << width) - 1
