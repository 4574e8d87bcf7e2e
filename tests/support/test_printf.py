"""Format strings of printf: how they are read, and what they make of values, compared with the C library."""

from __future__ import annotations

import ctypes
import math
import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coopmat.support.printf import FLAGS, FLOATS, INTEGERS, Fault, Specifier, Value, parse, text_of


def written(format: str, *values: Value | list[Value]) -> str:
    """The text of a format and its arguments; a list is a vector."""
    waiting = iter(values)
    parts: list[bytes] = []
    for part in parse(format.encode()):
        if isinstance(part, bytes):
            parts.append(part)
            continue
        assert part.fault is None
        value = next(waiting)
        parts.append(text_of(part, value if isinstance(value, list) else [value]))
    assert next(waiting, None) is None
    return b"".join(parts).decode()


# ------------------------------------------------------------------------------- reading


def test_parts() -> None:
    assert parse(b"a%%b %d!") == [
        b"a", Specifier(1, 3, "", 0, None, 1, "", "%"), b"b ", Specifier(5, 7, "", 0, None, 1, "", "d"), b"!"]
    assert parse(b"%-+08.3v4hlf") == [Specifier(0, 12, "-+0", 8, 3, 4, "hl", "f")]
    assert parse(b"%.lx") == [Specifier(0, 4, "", 0, 0, 1, "l", "x")]
    assert parse(b"") == []
    assert parse(b"a\0%d") == [b"a"]


@pytest.mark.parametrize(("format", "fault"), [
    ("%", Fault.INCOMPLETE), ("%l", Fault.INCOMPLETE), ("%-5.", Fault.INCOMPLETE), ("%vd", Fault.INCOMPLETE),
    ("%y", Fault.LETTER), ("%n", Fault.LETTER), ("%v4c", Fault.LETTER), ("%1$d", Fault.LETTER),
    ("%*d", Fault.STAR), ("%.*f", Fault.STAR), ("%v5d", Fault.COUNT), ("%v1d", Fault.COUNT),
    ("%v99999999999999999999d", Fault.COUNT)])
def test_faults(format: str, fault: Fault) -> None:
    specifier, = (part for part in parse(format.encode()) if isinstance(part, Specifier))
    assert specifier.fault is fault


@given(st.binary(max_size=40) | st.text("%v4hl.*-0d s", max_size=20).map(str.encode))
@settings(max_examples=300)
def test_no_byte_is_lost(format: bytes) -> None:
    parts = parse(format)
    shown = b"".join(part if isinstance(part, bytes) else format[part.start:part.end] for part in parts)
    assert shown == format.split(b"\0")[0]


# ------------------------------------------------------------------------------- writing


@pytest.mark.parametrize(("format", "values", "text"), [
    ("%v4hld|", [[1, -2, 3, -4]], "1,-2,3,-4|"),
    ("%#6.2v2hlx", [[10, 255]], "  0x0a,  0xff"),
    ("%v2hhu %v2hhd", [[-1, 256], [255, -129]], "255,0 -1,127"),
    ("%v3hf", [[0.5, math.inf, -math.nan]], "0.500000,inf,-nan"),
    ("%.3s|%5s|%-5s|%.0s", [b"hello", b"ab", b"cd", b"ef"], "hel|   ab|cd   |"),
    ("%c%3c%-3c|", [65, 66 + 256, -190], "A  BB  |"),
    ("%p %6p", [0x1234, 0], "0x1234  (nil)"),
    ("%#g %#.3G", [999999.5, 1e-10], "1.00000e+06 1.00E-10"),  # glibc loses the zeros of the first
    ("%.1200f", [0.1], "0.1" + format(0.1, ".1190f")[3:] + "0" * 10),
    ("%.1105e", [1.0], "1." + "0" * 1105 + "e+00"),
])
def test_text(format: str, values: list[Value | list[Value]], text: str) -> None:
    assert written(format, *values) == text


def c_text(format: str, value: object) -> str:
    """What the C library's snprintf makes of one value."""
    library = ctypes.CDLL(None)
    size = library.snprintf(None, ctypes.c_size_t(0), format.encode(), value)
    buffer = ctypes.create_string_buffer(size + 1)
    library.snprintf(buffer, ctypes.c_size_t(size + 1), format.encode(), value)
    return buffer.value.decode()


def specifiers(letters: str, flags: str, lengths: tuple[str, ...] = ("",)) -> st.SearchStrategy[str]:
    precision = st.none() | st.integers(0, 60)
    return st.builds(
        lambda flag, width, digits, length, letter:
            f"%{flag}{width or ''}{'' if digits is None else f'.{digits or str()}'}{length}{letter}",
        st.text(flags, max_size=4), st.integers(0, 50), precision, st.sampled_from(lengths), st.sampled_from(letters))


DOUBLES = st.floats() | st.integers(0, 2**64 - 1).map(lambda bits: struct.unpack("<d", struct.pack("<Q", bits))[0])


@pytest.mark.oracle("glibc")
@given(specifiers(INTEGERS, "-+ #0", ("", "h", "hh", "l", "ll")),
       st.integers(-2**63, 2**63 - 1) | st.integers(-300, 300))
@settings(max_examples=700)
def test_integers_as_in_c(format: str, value: int) -> None:
    is_long = "l" in format
    assert written(format, value) == c_text(format, (ctypes.c_int64 if is_long else ctypes.c_int32)(value))


@pytest.mark.oracle("glibc")
@given(specifiers("aAeEfF", "-+ #0") | specifiers("gG", "-+ 0"), DOUBLES)
@settings(max_examples=1000)
def test_floating_point_as_in_c(format: str, value: float) -> None:
    """But for %#g, which glibc gets wrong where rounding carries."""
    assert written(format, value) == c_text(format, ctypes.c_double(value))


@pytest.mark.oracle("glibc")
@given(specifiers("s", "-"), st.text(st.characters(min_codepoint=1, max_codepoint=126), max_size=8))
@settings(max_examples=300)
def test_strings_as_in_c(format: str, value: str) -> None:
    assert written(format, value.encode()) == c_text(format, ctypes.c_char_p(value.encode()))


@given(st.sampled_from(INTEGERS + FLOATS), st.text("".join(FLAGS), max_size=3), st.integers(0, 3000),
       st.none() | st.integers(0, 3000), DOUBLES)
@settings(max_examples=300)
def test_the_least_length(letter: str, flags: str, width: int, precision: int | None, value: float) -> None:
    specifier = Specifier(0, 0, flags, width, precision, 1, "", letter)
    if letter in INTEGERS:
        value = int(value) if math.isfinite(value) else 0
    if math.isfinite(value) and not (precision == 0 and letter in INTEGERS):
        assert len(text_of(specifier, [value])) >= specifier.least
