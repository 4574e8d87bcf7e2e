"""The ends of the range: subnormal numbers, signed zeros, and numbers beyond the largest one."""

from __future__ import annotations

import math

from coopmat.probing import names
from coopmat.probing.quantum import least
from coopmat.probing.setup import Answers, Dots, Setup, encode

KEPT = "kept"
FLUSHED = "flushed"
LARGEST = "largest finite number"
NONE = "no overflow"


def dots(setup: Setup) -> Dots:
    """All experiments that the formats have room for."""
    yield from _subnormal_dots(setup)
    yield from _zero_dots(setup)
    top = setup.d.max_exponent
    if setup.largest_product >= top and setup.c.max_exponent >= top:
        for sign in (1, -1):
            yield ("overflow", sign), setup.sum({setup.k: 1.5 * sign * 2.0**top, 0: sign * 2.0**top})
    if setup.largest_product > top and setup.k > 1:
        yield "product overflow", setup.dot({0: _beyond(setup, 1), 1: _beyond(setup, -1)})
    if setup.largest_product >= top and setup.k > 3:
        large = 2.0**top
        yield "partial overflow", setup.sum({0: large, 1: large, 2: -large, 3: -large})


def _beyond(setup: Setup, sign: int) -> tuple[int, int]:
    """Factors of a product of twice D's largest power of two."""
    exponent = setup.d.max_exponent + 1
    of_a = min(exponent // 2, setup.a.max_exponent)
    return setup.factors(sign * 2.0**of_a, 2.0 ** (exponent - of_a))


def _subnormal_dots(setup: Setup) -> Dots:
    a, b, c, d = setup.a.min_exponent, setup.b.min_exponent, setup.c.min_exponent, setup.d.min_exponent
    up = min(setup.b.max_exponent, 1 - a)
    yield ("subnormal", "A"), setup.dot({0: setup.factors(2.0 ** (a - 1), 2.0**up)})
    up = min(setup.a.max_exponent, 1 - b)
    yield ("subnormal", "B"), setup.dot({0: setup.factors(2.0**up, 2.0 ** (b - 1))})
    if d <= c:
        base = 2.0**c if setup.least_product <= c else 0.0
        yield ("subnormal", "C"), setup.sum({setup.k: 2.0 ** (c - 1), 0: base})
    if c <= d and setup.least_product <= d:
        yield ("subnormal", "D"), setup.sum({setup.k: 1.5 * 2.0**d, 0: -(2.0**d)})
    if c <= d and setup.least_product < d:
        yield ("subnormal", "products"), setup.sum({setup.k: 2.0**d, 0: 2.0 ** (d - 1)})


def _zero_dots(setup: Setup) -> Dots:
    negative = setup.dot({}, encode(setup.c, -0.0), setup.factors(-0.0, 1.0))
    yield "negative zeros", negative
    yield "difference", setup.sum({setup.k: 1.0, 0: -1.0})
    exponent = _vanishing(setup)
    if exponent is not None:
        yield "underflow", setup.dot({}, encode(setup.c, -0.0), setup.power(exponent, -1.0))


def _vanishing(setup: Setup) -> int | None:
    """The exponent of products whose sum is far below D's smallest number, if there are such."""
    exponent = least(setup) - setup.k.bit_length() - 4
    return exponent if exponent >= setup.tiny_product else None


def found(setup: Setup, answers: Answers) -> dict[str, str]:
    """What comes out at the ends of the range."""
    result = _subnormals(setup, answers)
    result[names.NEGATIVE_ZEROS] = signed(answers.value("negative zeros"))
    result[names.DIFFERENCE] = signed(answers.value("difference"))
    if _vanishing(setup) is not None:
        result[names.UNDERFLOW] = signed(answers.value("underflow"))
    top = setup.d.max_exponent
    if setup.largest_product >= top and setup.c.max_exponent >= top:
        ends = [overflow_text(setup, sign * answers.value("overflow", sign)) for sign in (1, -1)]
        result[names.OVERFLOW] = " / ".join(dict.fromkeys(ends))
    if setup.largest_product > top and setup.k > 1:
        result[names.PRODUCT_OVERFLOW] = overflow_text(setup, answers.value("product overflow"))
    if setup.largest_product >= top and setup.k > 3:
        result[names.PARTIAL_OVERFLOW] = overflow_text(setup, answers.value("partial overflow"))
    return result


def _subnormals(setup: Setup, answers: Answers) -> dict[str, str]:
    a, b, c, d = setup.a.min_exponent, setup.b.min_exponent, setup.c.min_exponent, setup.d.min_exponent
    whole = {"A": 2.0 ** (a - 1 + min(setup.b.max_exponent, 1 - a)),
             "B": 2.0 ** (b - 1 + min(setup.a.max_exponent, 1 - b)),
             "C": (1.5 if setup.least_product <= c else 0.5) * 2.0**c,
             "D": 0.5 * 2.0**d, "products": 1.5 * 2.0**d}
    empty = {"A": 0.0, "B": 0.0, "C": 2.0**c if setup.least_product <= c else 0.0, "D": 0.0, "products": 2.0**d}
    return {name: _kept(answers.value("subnormal", key), whole[key], empty[key])
            for key, name in names.SUBNORMAL.items() if _is_tried(setup, key)}


def _is_tried(setup: Setup, key: str) -> bool:
    return any(found == ("subnormal", key) for found, _ in _subnormal_dots(setup))


def _kept(value: float, whole: float, empty: float) -> str:
    return {whole: KEPT, empty: FLUSHED}.get(value, shown(value))


def signed(value: float) -> str:
    """A zero with its sign; anything else as it is."""
    return shown(value) if value else "-0" if math.copysign(1.0, value) < 0 else "+0"


def overflow_text(setup: Setup, value: float) -> str:
    """What became of numbers beyond the largest one."""
    return {math.inf: "infinity", -math.inf: "-infinity", setup.d.max_value: LARGEST, 0.0: NONE}.get(
        value, shown(value))


def shown(value: float) -> str:
    """A number that no rule explains."""
    return "NaN" if math.isnan(value) else f"{value:.9g}"
