"""Values and types of literals, against exact rationals, Python's own conversions and clang."""

from __future__ import annotations

import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from coopmat.diagnostics import DiagnosticSink, SourceFile
from coopmat.formats import format_of
from coopmat.opencl.preprocess import literals
from coopmat.opencl.preprocess.preprocessor import Preprocessor
from coopmat.opencl.preprocess.tokens import Token, TokenKind
from tests.kit.oracles import clang


def constant(text: str, allow_warnings: bool = False) -> literals.LiteralValue:
    """The value of the only token in ``text``."""
    sink = DiagnosticSink()
    token, _ = Preprocessor(sink).run(SourceFile("k.cl", text))
    assert sink.finish() == [] or allow_warnings
    assert token.value is not None
    assert not hasattr(token.value, "words")
    return token.value


def headers(text: str) -> list[str]:
    sink = DiagnosticSink()
    Preprocessor(sink).run(SourceFile("k.cl", text))
    return [diagnostic.header for diagnostic in sink.diagnostics]


# ------------------------------------------------------------------ integers

EDGES = [0, 1, 7, 8, 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**63 - 1, 2**63, 2**64 - 1]
SPELLINGS = ["{:d}", "0x{:x}", "0X{:X}", "0{:o}", "0b{:b}", "0B{:b}"]
SUFFIXES = ["", "u", "U", "l", "L", "ul", "lu", "UL", "Lu", "uL"]


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("spelling", SPELLINGS)
def test_integer_values(spelling: str, suffix: str) -> None:
    for value in EDGES:
        result = constant(spelling.format(value) + suffix, allow_warnings=True)
        assert isinstance(result, literals.IntegerConstant)
        assert result.value == value
        bits = 64 if result.long else 32
        assert value < 1 << (bits if result.unsigned else bits - 1)
        assert result.unsigned or "u" not in suffix.lower()
        assert result.long or "l" not in suffix.lower()


@pytest.mark.oracle("clang")
def test_integer_types_are_clangs(tmp_path: Path) -> None:
    lines = ["typedef unsigned int uint; typedef unsigned long ulong;"]
    for value in EDGES:
        for spelling in SPELLINGS:
            for suffix in SUFFIXES:
                text = spelling.format(value) + suffix
                result = constant(text, allow_warnings=True)
                assert isinstance(result, literals.IntegerConstant)
                if spelling == "{:d}" and value >= 2**63 and "u" not in suffix.lower():
                    continue  # OpenCL's clang has 128 bits there
                lines.append(f"_Static_assert(__builtin_types_compatible_p(__typeof__({text}), {result.type_name}) "
                             f'&& {text} == {value}UL, "{text}");')
    assert len(lines) > 600
    _, messages = clang.run("\n".join(lines), tmp_path, *clang.OPENCL, "-fsyntax-only", "-w")
    assert messages == ""


@pytest.mark.parametrize(("text", "expected"), [
    ("1x", "k.cl:1:1: error: invalid suffix 'x' on integer constant; expected one of u, l, ul [CM1010]"),
    ("1uu", "k.cl:1:1: error: invalid suffix 'uu' on integer constant; expected one of u, l, ul [CM1010]"),
    ("1lL", "k.cl:1:1: error: invalid suffix 'lL' on integer constant; expected one of u, l, ul [CM1010]"),
    ("1f", "k.cl:1:1: error: invalid suffix 'f' on integer constant; expected one of u, l, ul [CM1010]"),
    ("1_000", "k.cl:1:1: error: invalid suffix '_000' on integer constant; expected one of u, l, ul [CM1010]"),
    ("1é", "k.cl:1:1: error: invalid suffix 'é' on integer constant; expected one of u, l, ul [CM1010]"),
    ("09", "k.cl:1:1: error: invalid digit '9' in octal constant [CM1012]"),
    ("0b12", "k.cl:1:1: error: invalid digit '2' in binary constant [CM1012]"),
    ("0x", "k.cl:1:1: error: hexadecimal constant '0x' has no digits [CM1013]"),
    ("0xg", "k.cl:1:1: error: hexadecimal constant '0xg' has no digits [CM1013]"),
    ("0b", "k.cl:1:1: error: binary constant '0b' has no digits [CM1013]"),
    ("18446744073709551616", "k.cl:1:1: error: integer constant '18446744073709551616' is too large: "
                             "it does not fit in 64 bits [CM1014]"),
    ("1" * 5000, f"k.cl:1:1: error: integer constant '{'1' * 37}…' is too large: it does not fit in 64 bits [CM1014]"),
    ("9223372036854775808", "k.cl:1:1: warning: integer constant '9223372036854775808' is too large for 'long'; "
                            "it is read as 'ulong' [CM1015, -Wimplicitly-unsigned-literal]"),
    ("1ull", "k.cl:1:1: warning: suffix 'ull' means long long, which OpenCL C reserves; "
             "the constant is read as 'ulong' (64 bits) [CM1011, -Wlong-long]"),
])
def test_invalid_integers(text: str, expected: str) -> None:
    assert headers(text) == [expected]


def test_leading_zeros_do_not_make_a_number_large() -> None:
    assert constant("0x" + "0" * 5000 + "1f") == literals.IntegerConstant(31, "int")


# ------------------------------------------------------------------ floating constants

TYPES = {"": ("double", "fp64"), "f": ("float", "fp32"), "H": ("half", "fp16")}


def is_nearest_even(value: float, exact: Fraction, name: str) -> bool:
    """Whether ``value`` is ``exact`` rounded to the format, by looking at its neighbours in numpy."""
    dtype = format_of(name).dtype.type
    with np.errstate(over="ignore"):
        candidates = [dtype(value), np.nextafter(dtype(value), dtype(0)), np.nextafter(dtype(value), dtype(np.inf))]
    largest = Fraction(float(np.finfo(dtype).max))
    beyond = largest * 2 - Fraction(float(np.nextafter(dtype(np.inf), dtype(0))))
    if math.isinf(value):
        ulp = largest - Fraction(float(np.nextafter(np.finfo(dtype).max, dtype(0))))
        return exact >= beyond + ulp / 2
    distances = [abs(Fraction(float(c)) - exact) for c in candidates if math.isfinite(c)]
    best = min(distances)
    tie = distances.count(best) > 1 and Fraction(value) != exact
    last_bit = int(dtype(value).view(f"u{dtype().itemsize}")) & 1
    return distances[0] == best and not (tie and last_bit)


digits = st.text(alphabet="0123456789", max_size=25)


@settings(derandomize=True, max_examples=400, deadline=None)
@given(digits, digits, st.integers(-330, 330), st.sampled_from(list(TYPES)))
@example("2049", "", 0, "H")  # ties
@example("2051", "", 0, "H")
@example("16777217", "", 0, "f")
@example("65519", "9999", 0, "H")  # just below and at the bound of overflow
@example("65520", "", 0, "H")
@example("2", "98023223876953125", -8, "H")  # half of the smallest denormal
@example("1", "00000017881393432617187499", 0, "f")  # where double rounding goes wrong
def test_decimal_floats_are_rounded_once(whole: str, fraction: str, exponent: int, suffix: str) -> None:
    if not whole + fraction:
        return
    text = f"{whole}.{fraction}e{exponent}{suffix}"
    result = constant(text, allow_warnings=True)
    assert isinstance(result, literals.FloatingConstant)
    type_name, fmt = TYPES[suffix]
    exact = Fraction(int(whole + fraction)) * Fraction(10) ** (exponent - len(fraction))
    assert result.type_name == type_name
    assert is_nearest_even(result.value, exact, fmt)
    assert result.rounded_to("double") == float(f"{whole}.{fraction}e{exponent}")


hexadecimal = st.text(alphabet="0123456789abcdefABCDEF", max_size=18)


@settings(derandomize=True, max_examples=300, deadline=None)
@given(hexadecimal, hexadecimal, st.integers(-1080, 900))
@example("1", "fffffffffffff8", 0)
@example("0", "8", -1073)
def test_hexadecimal_floats_are_pythons(whole: str, fraction: str, exponent: int) -> None:
    if not whole + fraction:
        return
    result = constant(f"0x{whole}.{fraction}p{exponent}", allow_warnings=True)
    assert isinstance(result, literals.FloatingConstant)
    assert result.value == float.fromhex(f"0x{whole}.{fraction}p{exponent}")


def test_very_long_floats() -> None:
    tie = str(2**53 + 1)  # between two doubles: every digit behind it decides
    for zeros in (0, 900, 5000):
        above = constant(tie + "." + "0" * zeros + "1")
        assert isinstance(above, literals.FloatingConstant)
        assert above.value == 2.0**53 + 2
    below = constant(tie + "." + "0" * 5000)
    assert isinstance(below, literals.FloatingConstant)
    assert below.value == 2.0**53


@pytest.mark.parametrize(("text", "expected"), [
    ("1.5f", (1.5, "float")), ("1.F", (1.0, "float")), (".5h", (0.5, "half")), ("1e3", (1000.0, "double")),
    ("0x1p3f", (8.0, "float")), ("0x.8P0", (0.5, "double")), ("0.0", (0.0, "double")),
    ("0e999999999999f", (0.0, "float")),
    ("010.5", (10.5, "double")), ("09e1", (90.0, "double")),
])
def test_floating_types(text: str, expected: tuple[float, str]) -> None:
    result = constant(text)
    assert isinstance(result, literals.FloatingConstant)
    assert (result.value, result.type_name) == expected


@pytest.mark.parametrize(("text", "expected"), [
    ("1.0x", "k.cl:1:1: error: invalid suffix 'x' on floating constant; "
             "expected f (float), h (half) or none (double) [CM1016]"),
    ("1.0ll", "k.cl:1:1: error: invalid suffix 'll' on floating constant; "
              "expected f (float), h (half) or none (double) [CM1016]"),
    ("1..2", "k.cl:1:1: error: invalid suffix '.2' on floating constant; "
             "expected f (float), h (half) or none (double) [CM1016]"),
    ("1e", "k.cl:1:1: error: exponent of floating constant '1e' has no digits [CM1017]"),
    ("1e+f", "k.cl:1:1: error: exponent of floating constant '1e+f' has no digits [CM1017]"),
    ("0x1.8", "k.cl:1:1: error: hexadecimal floating constant '0x1.8' requires an exponent (such as p0) [CM1018]"),
    ("0x.p1", "k.cl:1:1: error: hexadecimal constant '0x.p1' has no digits [CM1013]"),
    ("1e39f", "k.cl:1:1: warning: magnitude of floating constant '1e39f' is too large for 'float'; it becomes infinity "
              "(the maximum is 3.40282347e+38) [CM1019, -Wliteral-range]"),
    ("65520.0h", "k.cl:1:1: warning: magnitude of floating constant '65520.0h' is too large for 'half'; "
                 "it becomes infinity (the maximum is 65504) [CM1019, -Wliteral-range]"),
    ("1e999999999999", "k.cl:1:1: warning: magnitude of floating constant '1e999999999999' is too large for 'double'; "
                       "it becomes infinity (the maximum is 1.79769313e+308) [CM1019, -Wliteral-range]"),
    ("1e-99999999999f", "k.cl:1:1: warning: magnitude of floating constant '1e-99999999999f' is too small for 'float'; "
                        "it becomes zero (the minimum is 1.40129846e-45) [CM1020, -Wliteral-range]"),
])
def test_invalid_floats(text: str, expected: str) -> None:
    assert headers(text) == [expected]


# ------------------------------------------------------------------ characters and strings


@pytest.mark.parametrize(("text", "value"), [
    ("'a'", 97), ("'\\n'", 10), ("'\\0'", 0), ("'\\377'", -1), ("'\\xff'", -1), ("'\\x0000041'", 65), ("'\\''", 39),
    ("'\"'", 34), ("'\\\\'", 92), ("'\\?'", 63), ("'\\a'", 7), ("'\\101'", 65), ("'\\1'", 1),
])
def test_character_values(text: str, value: int) -> None:
    assert constant(text) == literals.IntegerConstant(value, "int")


@pytest.mark.oracle("clang")
def test_character_values_are_clangs(tmp_path: Path) -> None:
    texts = [f"'{chr(code)}'" for code in range(32, 127) if chr(code) not in "'\\"]
    texts += [f"'\\{code:o}'" for code in range(256)] + [f"'\\x{code:x}'" for code in range(256)]
    texts += [f"'\\{letter}'" for letter in "abfnrtve'\"?\\"] + ["'ab'", "'abc'", "'abcd'", "'\\377abc'", "'\\1\\2'"]
    lines = []
    for text in texts:
        value = constant(text, allow_warnings=True)
        assert isinstance(value, literals.IntegerConstant)
        lines.append(f"_Static_assert({text} == {value.value}, \"\");")
    _, messages = clang.run("\n".join(lines), tmp_path, *clang.OPENCL, "-fsyntax-only", "-w")
    assert messages == ""


@pytest.mark.parametrize(("text", "value"), [
    ('""', b""), ('"abc"', b"abc"), ('"a\\tb\\n"', b"a\tb\n"), ('"\\x41\\102C"', b"ABC"), ('"\\0"', b"\0"),
    ('"\\18"', b"\x018"), ('"é"', "é".encode()), ('"\\u00e9\\U0001D11E"', "é𝄞".encode()), ('"%d\\\\"', b"%d\\"),
])
def test_string_values(text: str, value: bytes) -> None:
    assert constant(text) == value


@pytest.mark.parametrize(("text", "expected"), [
    ("''", "k.cl:1:1: error: empty character constant [CM1030]"),
    ("'ab'", "k.cl:1:1: warning: character constant has more than one character [CM1031, -Wmultichar]"),
    ("'abcde'", "k.cl:1:1: error: character constant is too long; at most 4 characters fit in an int [CM1032]"),
    ("'é'", "k.cl:1:1: error: character 'é' does not fit in a char (8 bits) [CM1033]"),
    ('"a\\qb"', "k.cl:1:3: warning: unknown escape sequence '\\q'; it means 'q' [CM1034, -Wunknown-escape-sequence]"),
    ('"a\\xg"', "k.cl:1:3: error: '\\x' is used with no following hexadecimal digits [CM1035]"),
    ('"a\\x100"', "k.cl:1:3: error: escape sequence '\\x100' does not fit in 8 bits [CM1036]"),
    ('"a\\400"', "k.cl:1:3: error: escape sequence '\\400' does not fit in 8 bits [CM1036]"),
    ('"\\u12"', "k.cl:1:2: error: '\\u12' is not a valid universal character name [CM1037]"),
    ('"\\ud800"', "k.cl:1:2: error: '\\ud800' is not a valid universal character name [CM1037]"),
    ('"\\u0041"', "k.cl:1:2: error: '\\u0041' is not a valid universal character name [CM1037]"),
    ('"\ud800"', "k.cl:1:2: error: string literal has text that UTF-8 cannot encode [CM1038]"),
])
def test_invalid_characters_and_strings(text: str, expected: str) -> None:
    assert headers(text) == [expected]


def test_an_invalid_literal_leaves_a_token_for_the_parser() -> None:
    sink = DiagnosticSink()
    tokens = Preprocessor(sink).run(SourceFile("k.cl", 'a = 0x + "\\x" + \'\';'))
    values = [(token.kind, token.value) for token in tokens if token.value is not None]
    zero = literals.IntegerConstant(0, "int")
    assert values == [(TokenKind.INTEGER, zero), (TokenKind.STRING, b""), (TokenKind.CHARACTER, zero)]
    assert sink.error_count == 3


@settings(derandomize=True, max_examples=300, deadline=None)
@given(st.from_regex(r"\.?[0-9][0-9a-fA-FxXbBeEpPuUlLhH.+\-]{0,12}", fullmatch=True))
def test_any_number_is_read_or_reported(text: str) -> None:
    sink = DiagnosticSink()
    file = SourceFile("k.cl", text)
    token = Token(TokenKind.NUMBER, text, Preprocessor(sink).run(file)[0].location)
    fresh = DiagnosticSink()
    assert (literals.parse_number(token, fresh) is None) == (fresh.error_count > 0)
