"""The values of literals: integer, floating, character and string constants (C99 6.4.4, 6.4.5).

OpenCL C 6.1: int has 32 bits and long 64, the suffix h makes a half constant, and plain strings are
the only ones. Binary integers (``0b1``) are accepted as an extension.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache

from coopmat.diagnostics import DiagnosticSink, Message, SourceLocation
from coopmat.opencl.messages import lexical as messages
from coopmat.opencl.preprocess.token_values import FLOAT_FORMATS, FloatingConstant, IntegerConstant, LiteralValue
from coopmat.opencl.preprocess.tokens import Token, TokenKind

_FLOATING_SUFFIXES = {"": "double", "l": "double", "f": "float", "h": "half"}

_VALUE_BITS = {"int": 31, "uint": 32, "long": 63, "ulong": 64}
_ULONG_MAX = 2**64 - 1


# --------------------------------------------------------------------------------------
# Numbers
# --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Base:
    """How numbers of one base are written."""

    name: str
    radix: int
    digits: re.Pattern[str]  # what is read as digits, valid in this base or not


_DECIMAL = _Base("decimal", 10, re.compile("[0-9]*"))
_OCTAL = _Base("octal", 8, re.compile("[0-9]*"))
_BINARY = _Base("binary", 2, re.compile("[0-9]*"))
_HEXADECIMAL = _Base("hexadecimal", 16, re.compile("[0-9a-fA-F]*"))

_DECIMAL_FLOATING = re.compile(
    r"(?P<whole>[0-9]*)\.?(?P<fraction>[0-9]*)(?P<exponent>[eE][+-]?[0-9]*)?(?P<suffix>.*)", re.DOTALL)
_HEXADECIMAL_FLOATING = re.compile(
    r"0[xX](?P<whole>[0-9a-fA-F]*)\.?(?P<fraction>[0-9a-fA-F]*)(?P<exponent>[pP][+-]?[0-9]*)?(?P<suffix>.*)",
    re.DOTALL)

# A decimal tie between two doubles has at most 767 digits: of a longer number, one digit that says
# "and something more" rounds like all the rest of them.
_MAX_SIGNIFICANT_DIGITS = 800
# Far outside of double's range: 10**400 rounds to infinity and 10**-400 to zero in every format.
_OUT_OF_RANGE = 400
_MAX_INTEGER_DIGITS = 64


def parse_number(token: Token, sink: DiagnosticSink) -> IntegerConstant | FloatingConstant | None:
    """The value of a preprocessing number; None if it is not a valid constant, which is reported."""
    text = token.text
    hexadecimal = text[:2] in ("0x", "0X")
    marks = ".pP" if hexadecimal else ".eE"
    binary = text[:2] in ("0b", "0B")
    if not binary and any(mark in text for mark in marks):
        return _parse_floating(token, hexadecimal, sink)
    return parse_integer(token, sink)


def parse_integer(token: Token, sink: DiagnosticSink) -> IntegerConstant | None:
    """The value of an integer constant, with the type of C99 6.4.4.1p5; None (reported) if invalid."""
    base, body = _base_of(token.text)
    match = base.digits.match(body)
    digits = match[0] if match is not None else ""
    suffix = body[len(digits):]
    if not digits:
        sink.report(messages.MISSING_DIGITS, token.location, base=base.name, text=token.text)
        return None
    invalid = next((digit for digit in digits if int(digit, 16) >= base.radix), None)
    if invalid is not None:
        sink.report(messages.INVALID_DIGIT, token.location, digit=invalid, base=base.name)
        return None
    unsigned, long, long_long = _integer_suffix(suffix)
    if unsigned is None:
        sink.report(messages.INVALID_INTEGER_SUFFIX, token.location, suffix=suffix)
        return None
    significant = digits.lstrip("0")
    value = int(significant or "0", base.radix) if len(significant) <= _MAX_INTEGER_DIGITS else _ULONG_MAX + 1
    if value > _ULONG_MAX:
        sink.report(messages.INTEGER_TOO_LARGE, token.location, token=token)
        return None
    type_name = _integer_type(value, unsigned, long, base is _DECIMAL)
    if base is _DECIMAL and not unsigned and type_name == "ulong":
        sink.report(messages.INTEGER_BECOMES_UNSIGNED, token.location, token=token)
    if long_long:
        sink.report(messages.LONG_LONG_SUFFIX, token.location, suffix=suffix, type_name=type_name)
    return IntegerConstant(value, type_name)


def _base_of(text: str) -> tuple[_Base, str]:
    """The base of an integer constant, and the text after its prefix."""
    prefix = text[:2].lower()
    if prefix == "0x":
        return _HEXADECIMAL, text[2:]
    if prefix == "0b":
        return _BINARY, text[2:]
    return (_OCTAL if text[:1] == "0" else _DECIMAL), text


def _integer_suffix(suffix: str) -> tuple[bool | None, bool, bool]:
    """(unsigned, long, long long) of a suffix; unsigned is None if it is no suffix."""
    match = re.fullmatch(r"(?P<u1>[uU]?)(?P<l>ll|LL|[lL]?)(?P<u2>[uU]?)", suffix)
    if match is None or (match["u1"] and match["u2"]):
        return None, False, False
    return bool(match["u1"] or match["u2"]), bool(match["l"]), len(match["l"]) == 2


def _integer_type(value: int, unsigned: bool, long: bool, decimal: bool) -> str:
    """The first type of C99 6.4.4.1p5's list that holds the value; ulong where none does."""
    names = ["long"] if long else ["int", "long"]
    for name in names:
        if not unsigned and value < 1 << _VALUE_BITS[name]:
            return name
        if (unsigned or not decimal) and value < 1 << _VALUE_BITS["u" + name]:
            return "u" + name
    return "ulong"


def _parse_floating(token: Token, hexadecimal: bool, sink: DiagnosticSink) -> FloatingConstant | None:
    """The value of a floating constant (C99 6.4.4.2); None (reported) if it is invalid."""
    pattern = _HEXADECIMAL_FLOATING if hexadecimal else _DECIMAL_FLOATING
    match = pattern.fullmatch(token.text)
    assert match is not None  # each pattern ends with "anything"
    base = _HEXADECIMAL if hexadecimal else _DECIMAL
    exponent, type_name = match["exponent"] or "", _FLOATING_SUFFIXES.get(match["suffix"].lower())

    message: Message | None = None
    if not match["whole"] and not match["fraction"]:
        message = messages.MISSING_DIGITS
    elif hexadecimal and not exponent:
        message = messages.HEXADECIMAL_NEEDS_EXPONENT
    elif exponent and not exponent[-1].isdigit():
        message = messages.MISSING_EXPONENT
    elif type_name is None:
        message = messages.INVALID_FLOATING_SUFFIX
    if message is not None:
        sink.report(message, token.location, text=token.text, base=base.name, suffix=match["suffix"])
        return None
    exact = _exact_value(match["whole"], match["fraction"], exponent[1:], base)
    assert type_name is not None
    constant = FloatingConstant(exact, type_name)
    _warn_out_of_range(constant, token, sink)
    return constant


def _exact_value(whole: str, fraction: str, exponent: str, base: _Base) -> Fraction:
    """The rational number that the parts of a floating constant spell."""
    digits = (whole + fraction).lstrip("0")
    scale = -len(fraction)
    if len(digits) > _MAX_SIGNIFICANT_DIGITS:
        rest = digits[_MAX_SIGNIFICANT_DIGITS:]
        sticky = "1" if rest.strip("0") else "0"
        digits = digits[:_MAX_SIGNIFICANT_DIGITS] + sticky
        scale += len(rest) - 1
    if not digits:
        return Fraction(0)
    power = _bounded_exponent(exponent)
    if base is _HEXADECIMAL:
        scale, radix = 4 * scale + power, 2
        magnitude = (scale + 4 * len(digits)) * math.log10(2)
    else:
        scale, radix = scale + power, 10
        magnitude = scale + len(digits)
    if abs(magnitude) > _OUT_OF_RANGE:
        return Fraction(10) ** int(math.copysign(_OUT_OF_RANGE, magnitude))
    return int(digits, base.radix) * Fraction(radix) ** scale


def _bounded_exponent(text: str) -> int:
    """An exponent as a number; one of more than nine digits is as good as a billion."""
    digits = text.lstrip("+-").lstrip("0")
    value = int(digits or "0") if len(digits) <= 9 else 10**9
    return -value if text.startswith("-") else value


def _warn_out_of_range(constant: FloatingConstant, token: Token, sink: DiagnosticSink) -> None:
    """Warn of a constant that its type turns into infinity or zero."""
    fmt, value = FLOAT_FORMATS[constant.type_name], constant.value
    if math.isinf(value):
        sink.report(messages.FLOATING_TOO_LARGE, token.location, token=token,
                    type_name=constant.type_name, limit=f"{fmt.max_value:.9g}")
    elif value == 0.0 and constant.exact != 0:
        smallest = math.ldexp(1.0, fmt.min_exponent - fmt.fraction_bits)
        sink.report(messages.FLOATING_TOO_SMALL, token.location, token=token,
                    type_name=constant.type_name, limit=f"{smallest:.9g}")


# --------------------------------------------------------------------------------------
# Characters and strings
# --------------------------------------------------------------------------------------

_ESCAPE = (r"\\(?:(?P<octal>[0-7]{1,3})|x(?P<hexadecimal>[0-9a-fA-F]*)"
           r"|(?P<universal>u[0-9a-fA-F]{0,4}|U[0-9a-fA-F]{0,8})|(?P<simple>.))")
_CHARACTER_PART = re.compile(_ESCAPE + r"|(?P<plain>[^\\])", re.DOTALL)
_STRING_PART = re.compile(_ESCAPE + r"|(?P<plain>[^\\]+)", re.DOTALL)

_MAX_CHARACTERS = 4  # in a character constant, as many as an int has bytes
_MAX_CHARACTER_TEXT = 2 + 10 * _MAX_CHARACTERS  # with each as an escape sequence, quotes included

_SIMPLE_ESCAPES = {"'": 39, '"': 34, "?": 63, "\\": 92, "a": 7, "b": 8, "f": 12, "n": 10, "r": 13, "t": 9,
                   "v": 11, "e": 27}

_UNIVERSAL_BELOW_A0 = {0x24, 0x40, 0x60}  # C99 6.4.3p2: $ @ `


def parse_character(token: Token, sink: DiagnosticSink) -> IntegerConstant | None:
    """The value of a character constant, an int; None (reported) if it is invalid.

    A char is signed, so that ``'\\xff'`` is -1. Several characters make one int, the first in the
    highest byte.
    """
    if len(token.text) > _MAX_CHARACTER_TEXT:
        sink.report(messages.CHARACTERS_TOO_LONG, token.location)
        return None
    units = _units(token, _CHARACTER_PART, sink)
    if units is None:
        return None
    too_large = next((unit for unit in units if len(unit) != 1), None)
    if too_large is not None:
        sink.report(messages.CHARACTER_TOO_LARGE, token.location, character=too_large.decode("utf-8"))
    elif not units:
        sink.report(messages.EMPTY_CHARACTER, token.location)
    elif len(units) > _MAX_CHARACTERS:
        sink.report(messages.CHARACTERS_TOO_LONG, token.location)
    else:
        if len(units) > 1:
            sink.report(messages.MULTIPLE_CHARACTERS, token.location)
        signed = len(units) in (1, _MAX_CHARACTERS)
        return IntegerConstant(int.from_bytes(b"".join(units), "big", signed=signed), "int")
    return None


def parse_string(token: Token, sink: DiagnosticSink) -> bytes | None:
    """The bytes of one string literal, without a terminating zero; None (reported) if it is invalid."""
    units = _units(token, _STRING_PART, sink)
    return None if units is None else b"".join(units)


def _units(token: Token, pattern: re.Pattern[str], sink: DiagnosticSink) -> list[bytes] | None:
    """The bytes of each part of a literal; None if one of them is wrong, which is reported."""
    units: list[bytes] = []
    failed = False
    for match in pattern.finditer(token.text, 1, len(token.text) - 1):
        if match["plain"] is not None:
            unit = _encode(token, match, match[0], sink)
        elif match["universal"] is not None:
            unit = _universal_character(token, match, sink)
        elif match["simple"] is not None:
            unit = _simple_escape(token, match, sink)
        else:
            unit = _numeric_escape(token, match, sink)
        failed = failed or unit is None
        units.append(unit or b"")
    return None if failed else units


def _place(token: Token, match: re.Match[str]) -> SourceLocation:
    """The location of a part of a token (of all of it, if a macro made it)."""
    location = token.location
    if location.spelling is not None:
        return location
    return replace(location, column=location.column + match.start(), length=len(match[0]))


def _encode(token: Token, match: re.Match[str], text: str, sink: DiagnosticSink) -> bytes | None:
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError:
        sink.report(messages.UNENCODABLE_STRING, _place(token, match))
        return None


def _universal_character(token: Token, match: re.Match[str], sink: DiagnosticSink) -> bytes | None:
    escape = match[0]
    complete = len(escape) == (6 if escape[1] == "u" else 10)
    code = int(escape[2:], 16) if complete else -1
    surrogate = 0xD800 <= code <= 0xDFFF
    if code > 0x10FFFF or surrogate or (code < 0xA0 and code not in _UNIVERSAL_BELOW_A0):
        sink.report(messages.INVALID_UNIVERSAL_CHARACTER, _place(token, match), escape=escape)
        return None
    return chr(code).encode("utf-8")


def _simple_escape(token: Token, match: re.Match[str], sink: DiagnosticSink) -> bytes | None:
    character = match["simple"]
    if character in _SIMPLE_ESCAPES:
        return bytes([_SIMPLE_ESCAPES[character]])
    sink.report(messages.UNKNOWN_ESCAPE, _place(token, match), escape=character)
    return _encode(token, match, character, sink)


def _numeric_escape(token: Token, match: re.Match[str], sink: DiagnosticSink) -> bytes | None:
    octal, hexadecimal = match["octal"], match["hexadecimal"]
    if hexadecimal == "":
        sink.report(messages.EMPTY_ESCAPE, _place(token, match), escape=match[0])
        return None
    value = int(octal, 8) if octal else int(hexadecimal.lstrip("0")[:3] or "0", 16)
    if value > 0xFF:
        sink.report(messages.ESCAPE_OUT_OF_RANGE, _place(token, match), escape=match[0])
        return None
    return bytes([value])


# --------------------------------------------------------------------------------------
# Tokens of the parser
# --------------------------------------------------------------------------------------


def parse_literal(token: Token, sink: DiagnosticSink) -> LiteralValue | None:
    """The value of a NUMBER, CHARACTER or STRING token; None (reported) if it is invalid."""
    if token.kind is TokenKind.NUMBER:
        return parse_number(token, sink)
    if token.kind is TokenKind.CHARACTER:
        return parse_character(token, sink)
    return parse_string(token, sink)


def place_in_string(token: Token, start: int, end: int) -> SourceLocation:
    """Where the bytes from ``start`` to ``end`` of a string literal's value stand in the source.

    Of a literal that a macro made from several tokens, or that lines with a backslash break, it is all of it.
    """
    columns = _columns(token.text)
    first, last = columns[min(start, len(columns) - 1)], columns[min(end, len(columns) - 1)]
    return _narrowed(token.location, token.text, first, last - first)


@lru_cache(maxsize=8)
def _columns(text: str) -> list[int]:
    """For each byte of a valid string literal's value, and for its end, where it begins in the spelling."""
    columns: list[int] = []
    for match in _STRING_PART.finditer(text, 1, len(text) - 1):
        if match["plain"] is not None:
            for column, character in enumerate(match["plain"], match.start()):
                columns += [column] * len(character.encode())
        elif match["universal"] is not None:
            columns += [match.start()] * len(chr(int(match[0][2:], 16)).encode())
        elif match["simple"] is not None and match["simple"] not in _SIMPLE_ESCAPES:
            columns += [match.start()] * len(match["simple"].encode())
        else:
            columns.append(match.start())
    return [*columns, len(text) - 1]


def _narrowed(location: SourceLocation, text: str, start: int, length: int) -> SourceLocation:
    """A part of a literal; in a trail of macros, the parts of those places where the literal stands."""
    spelling = None if location.spelling is None else _narrowed(location.spelling, text, start, length)
    column = location.column - 1
    if location.source_line[column:column + len(text)] != text:
        return replace(location, spelling=spelling)
    return replace(location, column=location.column + start, length=length, spelling=spelling)
