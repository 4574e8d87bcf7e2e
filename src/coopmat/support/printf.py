"""OpenCL C's printf (6.15.14): how its format strings are read, and what they make of values.

A conversion specifier is ``%[flags][width][.precision][vn][length]letter``. The front end checks with
:func:`parse` what a call prints, a target writes with :func:`text_of` what it was given.
"""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

SIGNED = "di"
INTEGERS = "diouxX"
FLOATS = "aAeEfFgG"
LETTERS = f"{INTEGERS}{FLOATS}csp%"
VECTOR_COUNTS = (2, 3, 4, 8, 16)

FLAGS = {"-": LETTERS, "+": SIGNED + FLOATS, " ": SIGNED + FLOATS, "#": f"oxX{FLOATS}", "0": INTEGERS + FLOATS}
"""The letters that a flag means something for."""
WITH_PRECISION = f"{INTEGERS}{FLOATS}s"

INTEGER_BITS = {"hh": 8, "h": 16, "": 32, "l": 64}
VECTOR_INTEGER_BITS = {"hh": 8, "h": 16, "hl": 32, "l": 64}
VECTOR_FLOAT_BITS = {"h": 16, "hl": 32, "l": 64}
"""The width of an argument, or of its components, by length modifier."""

FOREIGN_BITS = {"ll": 64, "j": 64, "z": 64, "t": 64}
"""Length modifiers that C has and OpenCL C has not; the integers are those of 64-bit devices."""


class Fault(Enum):
    """What keeps a specifier from being carried out; the value is how messages say it."""

    INCOMPLETE = "incomplete format specifier"
    LETTER = "invalid conversion specifier"
    STAR = "'*' as field width or precision, which OpenCL C does not have"
    COUNT = "invalid vector length"


@dataclass(frozen=True, slots=True)
class Specifier:
    """One conversion specifier; ``start`` and ``end`` are its place in the format's bytes.

    ``count`` is the number of components, 1 without a vector specifier; ``precision`` is None where there is
    none. Of a specifier with a ``fault`` the rest may mean nothing.
    """

    start: int
    end: int
    flags: str
    width: int
    precision: int | None
    count: int
    length: str
    letter: str
    fault: Fault | None = None

    @property
    def takes_argument(self) -> bool:
        """Whether an argument belongs to it."""
        return self.letter != "%"

    @property
    def is_vector(self) -> bool:
        """Whether it prints a vector."""
        return self.count > 1

    @property
    def lengths(self) -> dict[str, int]:
        """The length modifiers that it can have, and the bits that an argument has then."""
        if self.letter in INTEGERS:
            return VECTOR_INTEGER_BITS if self.is_vector else INTEGER_BITS
        return VECTOR_FLOAT_BITS if self.is_vector and self.letter in FLOATS else {}

    @property
    def least(self) -> int:
        """The number of bytes that each value takes at least, infinities and NaN aside."""
        full = self.letter in INTEGERS or self.letter in "aAeEfF" or "#" in self.flags
        return max(self.width, self.precision or 0 if full else 0)


_NUMBER_DIGITS = 9
_SPECIFIER = re.compile(
    r"%(?P<flags>[-+ #0]*)(?P<width>\*|\d*)(?:\.(?P<precision>\*|\d*))?(?P<vector>v(?P<count>\d*))?"
    r"(?P<length>hh|hl|h|ll|[ljztL])?(?P<letter>.)?", re.DOTALL)


def parse(format: bytes) -> list[bytes | Specifier]:
    """The parts of a format string, which ends before its first zero: text as it stands, and specifiers."""
    text = format.split(b"\0", 1)[0].decode("latin-1")
    parts: list[bytes | Specifier] = []
    position = 0
    for match in _SPECIFIER.finditer(text):
        if match.start() > position:
            parts.append(text[position:match.start()].encode("latin-1"))
        parts.append(_specifier(match))
        position = match.end()
    if position < len(text):
        parts.append(text[position:].encode("latin-1"))
    return parts


def _specifier(match: re.Match[str]) -> Specifier:
    precision = match["precision"]
    count = 1 if match["vector"] is None else _number(match["count"])
    fault = None
    if match["letter"] is None or (match["vector"] is not None and not match["count"]):
        fault = Fault.INCOMPLETE
    elif match["letter"] not in LETTERS:
        fault = Fault.LETTER
    elif "*" in (match["width"], precision):
        fault = Fault.STAR
    elif match["vector"] is not None and count not in VECTOR_COUNTS:
        fault = Fault.COUNT
    elif match["vector"] is not None and match["letter"] not in INTEGERS + FLOATS:
        fault = Fault.LETTER
    return Specifier(match.start(), match.end(), match["flags"], _number(match["width"]),
                     None if precision is None else _number(precision), count, match["length"] or "",
                     match["letter"] or "", fault)


def _number(digits: str) -> int:
    """A decimal number; of more than nine digits, the largest of nine."""
    digits = digits.lstrip("0")
    if len(digits) > _NUMBER_DIGITS:
        return 10**_NUMBER_DIGITS - 1
    return int(digits) if digits.isdecimal() else 0


# --------------------------------------------------------------------------------------
# Writing
# --------------------------------------------------------------------------------------

Value = int | float | bytes
"""What a specifier prints: a number, a pointer's number, a string's bytes."""


def text_of(specifier: Specifier, values: Sequence[Value]) -> bytes:
    """What C's printf writes: one value, or a vector's components separated by commas."""
    return b",".join(_converted(specifier, value) for value in values)


def _converted(specifier: Specifier, value: Value) -> bytes:
    letter = specifier.letter
    if isinstance(value, bytes):
        return _padded(specifier, "", value[:specifier.precision])
    if letter == "c":
        return _padded(specifier, "", bytes([int(value) & 0xFF]))
    if letter == "p":
        address = int(value) & (1 << 64) - 1
        return _padded(specifier, "", f"{address:#x}".encode() if address else b"(nil)")
    if letter in FLOATS:
        return _float(specifier, float(value))
    return _integer(specifier, int(value))


def _padded(specifier: Specifier, head: str, body: bytes, *, with_zeros: bool = False) -> bytes:
    """``head``, a sign or prefix, and ``body``, filled up to the field width."""
    missing = specifier.width - len(head) - len(body)
    start = head.encode()
    if "-" in specifier.flags:
        return start + body + b" " * missing
    if with_zeros and "0" in specifier.flags:
        return start + b"0" * missing + body
    return b" " * missing + start + body


def _sign(specifier: Specifier, negative: bool) -> str:
    if negative:
        return "-"
    return "+" if "+" in specifier.flags else " " if " " in specifier.flags else ""


def _integer(specifier: Specifier, value: int) -> bytes:
    letter = specifier.letter
    bits = specifier.lengths.get(specifier.length) or FOREIGN_BITS.get(specifier.length) or INTEGER_BITS[""]
    value &= (1 << bits) - 1
    head = ""
    if letter in SIGNED:
        value -= (value >> bits - 1) << bits
        head = _sign(specifier, value < 0)
    digits = format(abs(value), letter if letter in "oxX" else "d")
    if specifier.precision is not None:
        digits = digits.rjust(specifier.precision, "0") if value or specifier.precision else ""
    if "#" in specifier.flags and letter == "o" and not digits.startswith("0"):
        digits = "0" + digits
    elif "#" in specifier.flags and letter in "xX" and value:
        head = f"0{letter}"
    return _padded(specifier, head, digits.encode(), with_zeros=specifier.precision is None)


_DEFAULT_PRECISION = 6
_DIGITS_OF_A_DOUBLE = 1100
"""No double has more digits, before or behind the point, than this: further ones are zero."""


def _float(specifier: Specifier, value: float) -> bytes:
    letter, precision = specifier.letter, specifier.precision
    head = _sign(specifier, math.copysign(1, value) < 0)
    if not math.isfinite(value):
        body = "nan" if math.isnan(value) else "inf"
        return _padded(specifier, head, (body.upper() if letter.isupper() else body).encode())
    if letter in "aA":
        head, body = head + "0x", _hexadecimal(abs(value), precision, point="#" in specifier.flags)
        if letter == "A":
            head, body = head.upper(), body.upper()
    else:
        wanted = _DEFAULT_PRECISION if precision is None else precision
        known = min(wanted, _DIGITS_OF_A_DOUBLE)
        body = format(abs(value), f"{'#' if '#' in specifier.flags else ''}.{known}{letter}")
        if wanted > known and (letter not in "gG" or "#" in specifier.flags):
            mantissa, mark, exponent = body.partition("E" if letter.isupper() else "e")
            body = mantissa + "0" * (wanted - known) + mark + exponent
    return _padded(specifier, head, body.encode(), with_zeros=True)


_FRACTION_BITS, _BIAS = 52, 1023


def _hexadecimal(value: float, precision: int | None, *, point: bool) -> str:
    """``1.8p+0``: a double's bits, rounded to nearest even at a digit where there is a precision."""
    bits, = struct.unpack("<Q", struct.pack("<d", value))
    biased, fraction = bits >> _FRACTION_BITS, bits & (1 << _FRACTION_BITS) - 1
    whole = fraction | (biased > 0) << _FRACTION_BITS
    exponent = (biased or 1) - _BIAS if whole else 0
    digits = _FRACTION_BITS // 4
    if precision is not None and precision < digits:
        dropped = 4 * (digits - precision)
        rest, half = whole & (1 << dropped) - 1, 1 << dropped - 1
        whole >>= dropped
        whole += rest > half or (rest == half and whole & 1)
        digits = precision
    lead, fraction = divmod(whole, 1 << 4 * digits)
    shown = f"{fraction:0{digits}x}" if digits else ""
    shown = shown.rstrip("0") if precision is None else shown.ljust(precision, "0")
    return f"{lead:x}{'.' if shown or point else ''}{shown}p{exponent:+d}"


def least_text(format: bytes | None) -> int:
    """The characters that a call prints at least, whatever its arguments; an empty text counts as one, and so does one
    whose format is not known."""
    parts = parse(format or b"")
    return max(1, sum(_least_of(part) if isinstance(part, Specifier) else len(part) for part in parts))


def _least_of(specifier: Specifier) -> int:
    """The characters that a specifier prints at least; of floating-point numbers, infinities are short."""
    may_be_empty = specifier.letter == "s" or (specifier.letter in INTEGERS and specifier.precision == 0)
    each = max(specifier.width if specifier.letter in FLOATS else specifier.least, not may_be_empty)
    return specifier.count * each + specifier.count - 1
