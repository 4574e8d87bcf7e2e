"""The ends of the range: subnormal numbers, signed zeros, and numbers beyond the largest one."""

from __future__ import annotations

import math

from coopmat.probing import names
from coopmat.probing.quantum import least
from coopmat.probing.setup import Answers, Dot, Dots, Setup, encode

KEPT = "kept"
FLUSHED = "flushed"
LARGEST = "largest finite number"
NONE = "no overflow"


def dots(setup: Setup) -> Dots:
    """All experiments that the formats have room for."""
    for key, (dot, _, _) in _subnormals(setup).items():
        yield ("subnormal", key), dot
    yield "negative zeros", setup.dot({}, encode(setup.c, -0.0), setup.factors(-0.0, 1.0))
    yield "difference", setup.sum({setup.k: 1.0, 0: -1.0})
    vanishing = _vanishing(setup)
    if vanishing is not None:
        yield "underflow", setup.dot({}, encode(setup.c, -0.0), setup.power(vanishing, -1.0))
    top = setup.d.max_exponent
    large = 2.0**top
    if _has_sum_beyond(setup):
        for sign in (1, -1):
            yield ("overflow", sign), setup.sum({setup.k: 1.5 * sign * large, 0: sign * large})
    if _has_product_beyond(setup):
        yield "product overflow", setup.dot({0: _beyond(setup, 1), 1: _beyond(setup, -1)})
    if _has_partial_sums_beyond(setup):
        yield "partial overflow", setup.sum({0: large, 1: large, 2: -large, 3: -large})


def _has_sum_beyond(setup: Setup) -> bool:
    return min(setup.largest_product, setup.c.max_exponent) >= setup.d.max_exponent


def _has_product_beyond(setup: Setup) -> bool:
    return setup.largest_product > setup.d.max_exponent and setup.k > 1


def _has_partial_sums_beyond(setup: Setup) -> bool:
    return setup.largest_product >= setup.d.max_exponent and setup.k > 3


def _beyond(setup: Setup, sign: int) -> tuple[int, int]:
    """Factors of a product of twice D's largest power of two."""
    exponent = setup.d.max_exponent + 1
    of_a = min(exponent // 2, setup.a.max_exponent)
    return setup.factors(sign * 2.0**of_a, 2.0 ** (exponent - of_a))


def _subnormals(setup: Setup) -> dict[str, tuple[Dot, float, float]]:
    """The experiments with subnormal numbers: the dot product, its result if they count, and if they do not."""
    a, b, c, d = (fmt.min_exponent for fmt in (setup.a, setup.b, setup.c, setup.d))
    up_a, up_b = min(setup.b.max_exponent, 1 - a), min(setup.a.max_exponent, 1 - b)
    found = {"A": (setup.dot({0: setup.factors(2.0 ** (a - 1), 2.0**up_a)}), 2.0 ** (a - 1 + up_a), 0.0),
             "B": (setup.dot({0: setup.factors(2.0**up_b, 2.0 ** (b - 1))}), 2.0 ** (b - 1 + up_b), 0.0)}
    if d <= c:
        base = 2.0**c if setup.least_product <= c else 0.0
        found["C"] = setup.sum({setup.k: 2.0 ** (c - 1), 0: base}), base + 2.0 ** (c - 1), base
    if c <= d and setup.least_product <= d:
        found["D"] = setup.sum({setup.k: 1.5 * 2.0**d, 0: -(2.0**d)}), 2.0 ** (d - 1), 0.0
    if c <= d and setup.least_product < d:
        found["products"] = setup.sum({setup.k: 2.0**d, 0: 2.0 ** (d - 1)}), 1.5 * 2.0**d, 2.0**d
    return found


def _vanishing(setup: Setup) -> int | None:
    """The exponent of products whose sum is far below D's smallest number, if there are such."""
    exponent = least(setup) - setup.k.bit_length() - 4
    return exponent if exponent >= setup.tiny_product else None


def found(setup: Setup, answers: Answers) -> dict[str, str]:
    """What comes out at the ends of the range."""
    result = {names.SUBNORMAL[key]: {whole: KEPT, empty: FLUSHED}.get(
                  answers.value("subnormal", key), shown(answers.value("subnormal", key)))
              for key, (_, whole, empty) in _subnormals(setup).items()}
    result[names.NEGATIVE_ZEROS] = signed(answers.value("negative zeros"))
    result[names.DIFFERENCE] = signed(answers.value("difference"))
    if _vanishing(setup) is not None:
        result[names.UNDERFLOW] = signed(answers.value("underflow"))
    if _has_sum_beyond(setup):
        ends = [overflow_text(setup, sign * answers.value("overflow", sign)) for sign in (1, -1)]
        result[names.OVERFLOW] = " / ".join(dict.fromkeys(ends))
    if _has_product_beyond(setup):
        result[names.PRODUCT_OVERFLOW] = overflow_text(setup, answers.value("product overflow"))
    if _has_partial_sums_beyond(setup):
        result[names.PARTIAL_OVERFLOW] = overflow_text(setup, answers.value("partial overflow"))
    return result


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
