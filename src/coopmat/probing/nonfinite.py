"""Infinities and NaNs: which bit pattern comes out, and of several NaNs whose."""

from __future__ import annotations

import math

from coopmat.formats import Format
from coopmat.probing import names
from coopmat.probing.setup import Answers, Dots, Setup, encode

ANY_NAN = "a NaN"
OPERAND = "its payload, quiet"
_PAYLOADS = {"A": 1, "B": 2, "C": 3}  # in the two bits below the quiet bit
_LATER = 2  # of A in a later product


def infinity(fmt: Format) -> int:
    """The bits of the positive infinity."""
    return (1 << fmt.exponent_bits) - 1 << fmt.fraction_bits + fmt.unused_bits


def quiet(fmt: Format, payload: int) -> int:
    """The bits of a quiet NaN with two bits of payload."""
    return infinity(fmt) | (4 | payload) << fmt.fraction_bits + fmt.unused_bits - 3


def signalling(fmt: Format, payload: int) -> int:
    """The bits of a signalling NaN with two bits of payload."""
    return infinity(fmt) | payload << fmt.fraction_bits + fmt.unused_bits - 3


def dots(setup: Setup) -> Dots:
    """Infinite and NaN operands, alone and together, and operations that have no result."""
    one_a, one_b = encode(setup.a, 1.0), encode(setup.b, 1.0)
    nan = {name: quiet(fmt, _PAYLOADS[name]) for name, fmt in zip("ABC", (setup.a, setup.b, setup.c), strict=True)}
    large = {"A": infinity(setup.a), "B": infinity(setup.b), "C": infinity(setup.c)}
    minus = 1 << setup.c.bits - 1
    yield ("infinity", "A"), setup.dot({0: (large["A"], one_b)})
    yield ("infinity", "B"), setup.dot({0: (one_a, large["B"])})
    yield ("infinity", "C"), setup.dot({0: (one_a, one_b)}, large["C"] | minus)
    yield "zero times infinity", setup.dot({0: (0, large["B"])})
    yield "infinities", setup.dot({0: (large["A"], one_b)}, large["C"] | minus)
    yield ("quiet", "A"), setup.dot({0: (nan["A"], one_b)})
    yield ("quiet", "B"), setup.dot({0: (one_a, nan["B"])})
    yield ("quiet", "C"), setup.dot({0: (one_a, one_b)}, nan["C"])
    yield ("signalling", "A"), setup.dot({0: (signalling(setup.a, _PAYLOADS["A"]), one_b)})
    yield ("signalling", "C"), setup.dot({}, signalling(setup.c, _PAYLOADS["C"]))
    yield ("wins", "AB"), setup.dot({0: (nan["A"], nan["B"])})
    yield ("wins", "AC"), setup.dot({0: (nan["A"], one_b)}, nan["C"])
    if setup.k > 2:
        yield ("wins", "p0 p2"), setup.dot({0: (nan["A"], one_b), 2: (quiet(setup.a, _LATER), one_b)})
    if setup.a.unused_bits:
        yield "unused", setup.dot({0: (infinity(setup.a) | 1, one_b)})


def found(setup: Setup, answers: Answers) -> dict[str, str]:
    """What comes out of infinities and NaNs."""
    result = {names.INFINITY: _infinities(answers),
              names.ZERO_TIMES_INFINITY: _nan(setup, answers, "zero times infinity"),
              names.INFINITIES: _nan(setup, answers, "infinities")}
    for key, name in names.QUIET.items():
        result[name] = _operand(setup, answers, "quiet", key)
    for key, name in names.SIGNALLING.items():
        result[name] = _operand(setup, answers, "signalling", key)
    whose = {quiet(setup.d, payload): f"that of {name}" for name, payload in _PAYLOADS.items()}
    result[names.WINS["AB"]] = _winner(setup, answers, "AB", whose)
    result[names.WINS["AC"]] = _winner(setup, answers, "AC", whose)
    if setup.k > 2:
        result[names.WINS["p0 p2"]] = _winner(setup, answers, "p0 p2", {
            quiet(setup.d, _PAYLOADS["A"]): "that of p0", quiet(setup.d, _LATER): "that of p2"})
    if setup.a.unused_bits:
        result[names.TF32_NAN] = "infinity" if answers.value("unused") == math.inf else _nan(setup, answers, "unused")
    return result


def _infinities(answers: Answers) -> str:
    seen = [answers.value("infinity", name) for name in "ABC"]
    return "infinity" if seen == [math.inf, math.inf, -math.inf] else "not infinite: " + ", ".join(map(str, seen))


def nan_text(fmt: Format, bits: int) -> str:
    """A NaN's bit pattern."""
    return f"NaN {bits:0{fmt.bits // 4}X}"


def _nan(setup: Setup, answers: Answers, *key: str) -> str:
    value = answers.value(*key)
    return nan_text(setup.d, answers.bits(*key)) if math.isnan(value) else f"no NaN: {value}"


def _operand(setup: Setup, answers: Answers, kind: str, name: str) -> str:
    if answers.bits(kind, name) == quiet(setup.d, _PAYLOADS[name]):
        return OPERAND
    return _nan(setup, answers, kind, name)


def _winner(setup: Setup, answers: Answers, name: str, whose: dict[int, str]) -> str:
    return whose.get(answers.bits("wins", name)) or _nan(setup, answers, "wins", name)
