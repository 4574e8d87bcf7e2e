"""Integer arithmetic: signs, exactness, and what happens beyond the range of D."""

from __future__ import annotations

from coopmat.formats import Format
from coopmat.probing import names
from coopmat.probing.setup import Answers, Dots, Setup, encode

WRAPS = "wraps"
CLAMPS = "clamped"
EXACT = "exact"


def dots(setup: Setup) -> Dots:
    """Operands with the highest bit set, a sum of different products, and C at both ends of its range."""
    one_a, one_b = encode(setup.a, 1), encode(setup.b, 1)
    yield ("sign", "A"), setup.dot({0: (_all_ones(setup.a), one_b)})
    yield ("sign", "B"), setup.dot({0: (one_a, _all_ones(setup.b))})
    yield "sum", setup.dot({index: (encode(setup.a, a), encode(setup.b, b))
                            for index, (a, b) in enumerate(_factors(setup))}, encode(setup.c, 5))
    yield "extremes", setup.dot({}, 0, (_top(setup.a), _top(setup.b)))
    yield "above", setup.dot({0: (one_a, one_b)}, encode(setup.c, int(setup.c.max_value)))
    if _has_below(setup):
        minus = (_all_ones(setup.a), one_b) if setup.a.is_signed else (one_a, _all_ones(setup.b))
        yield "below", setup.dot({0: minus}, encode(setup.c, int(setup.c.min_value)))


def _all_ones(fmt: Format) -> int:
    return (1 << fmt.bits) - 1


def _top(fmt: Format) -> int:
    """The bits of the number of the largest magnitude."""
    return 1 << fmt.bits - 1 if fmt.is_signed else (1 << fmt.bits) - 1


def _top_value(fmt: Format) -> int:
    return int(fmt.min_value if fmt.is_signed else fmt.max_value)


def _factors(setup: Setup) -> list[tuple[int, int]]:
    """Numbers of both signs where the formats have them; no two neighbours have the same product."""
    signs = [-1 if fmt.is_signed else 1 for fmt in (setup.a, setup.b)]
    return [((index % 7 + 1) * signs[0] ** (index % 3), (index % 5 + 1) * signs[1] ** (index % 2))
            for index in range(setup.k)]


def _has_below(setup: Setup) -> bool:
    return (setup.a.is_signed or setup.b.is_signed) and setup.c == setup.d


def found(setup: Setup, answers: Answers) -> dict[str, str]:
    """Signs, exactness, overflow."""
    result = {names.SIGN[key]: _sign(answers.value("sign", key), fmt, setup.d)
              for key, fmt in (("A", setup.a), ("B", setup.b)) if fmt.bits < setup.d.bits}
    exact = sum(a * b for a, b in _factors(setup)) + 5
    extreme = setup.k * _top_value(setup.a) * _top_value(setup.b)
    result[names.EXACT] = EXACT if _is(setup, answers.value("sum"), exact) and _is(
        setup, answers.value("extremes"), extreme) else (
            f"{answers.value('sum')} instead of {exact}, {answers.value('extremes')} instead of {extreme}")
    if setup.c == setup.d:
        result[names.ABOVE] = {setup.d.min_value: WRAPS, setup.d.max_value: CLAMPS}.get(
            answers.value("above"), str(answers.value("above")))
    if _has_below(setup):
        result[names.BELOW] = {setup.d.max_value: WRAPS, setup.d.min_value: CLAMPS}.get(
            answers.value("below"), str(answers.value("below")))
    return result


def _is(setup: Setup, value: int, exact: int) -> bool:
    """Whether a result is right; beyond D's range it may be clamped or what is left modulo 2**bits."""
    clamped = min(max(exact, int(setup.d.min_value)), int(setup.d.max_value))
    return value == clamped or (value - exact) % (1 << setup.d.bits) == 0


def _sign(value: int, fmt: Format, d: Format) -> str:
    seen = value % (1 << d.bits)
    known = {(1 << d.bits) - 1: "signed", (1 << fmt.bits) - 1: "unsigned"}
    return known.get(seen, f"neither: {value} for all bits set")
