"""How the result is rounded to D, operands to the bits that are used, and C to the format of the sum."""

from __future__ import annotations

from collections.abc import Hashable, Iterable

from coopmat.probing import names
from coopmat.probing.directions import UNKNOWN, direction
from coopmat.probing.setup import Answers, Dots, Setup, encode
from coopmat.probing.trees import Tree, are_together

_QUARTERS = (-3, -2, -1, 1, 2, 3)
_EVEN = 64.0  # as even as the rounded numbers are, in units of their last bit
_FLOAT32 = 23
_USED = "they count"
EXACT = "exact"
BEFORE = "rounded before the sum"
AFTER = "rounded with the sum"


def dots(setup: Setup) -> Dots:
    """Sums between two numbers of D, products of all bits, operands and accumulators with bits too many."""
    yield from _result_dots(setup)
    exponent = setup.a.fraction_bits  # so that the last bits of the product are not subnormal in D
    square = 1 + 2.0**-setup.a.fraction_bits
    if _has_square(setup):
        scaled = setup.factors(square * 2.0 ** (exponent // 2), square * 2.0 ** (exponent - exponent // 2))
        known = -(1 + 2.0 ** (1 - setup.a.fraction_bits)) * 2.0**exponent
        yield "product", setup.dot({0: scaled}, encode(setup.c, known))
    for name in _tf32(setup):
        for key, bits in _unused(name):
            one = encode(setup.a, 1.0)
            yield key, setup.dot({0: (bits, one) if name == "A" else (one, bits)})
    if setup.d.fraction_bits < setup.c.fraction_bits:
        last = 2.0**-setup.d.fraction_bits
        yield "before", setup.sum({setup.k: 1 + last / 2, 0: last / 4})
        for sign, quarter in _signed_quarters():
            yield ("converted", sign, quarter), setup.sum({setup.k: sign * 1.5 + quarter / 4 * last})


def _result_dots(setup: Setup) -> Dots:
    last = 2.0**-setup.d.fraction_bits
    for sign, quarter in _signed_quarters():
        yield ("added", sign, quarter), setup.sum({setup.k: 1.5 * sign, 0: quarter / 4 * last})
        if setup.k > 3:
            yield ("sum of five", sign, quarter), setup.sum(_five(setup, sign, quarter, setup.d.fraction_bits))
        if setup.k > 4:
            for bits in _precisions(setup):
                scale = _scale(setup, bits)
                cancelled = {**_five(setup, sign, quarter, bits), setup.k - 1: -6.0 * sign}
                yield (("five cancelled", bits, sign, quarter),
                       setup.sum({index: scale * value for index, value in cancelled.items()}))


def _five(setup: Setup, sign: int, quarter: int, bits: int) -> dict[int, float]:
    """Terms of the sum 6 and some quarters of its last one of ``bits`` fraction bits, none of which has smaller bits
    than such a number has beside 1."""
    return {**dict.fromkeys((setup.k, 0, 1, 2), 1.5 * sign), 3: quarter * 2.0**-bits}


def _precisions(setup: Setup) -> list[int]:
    """Fraction bits that partial sums may have: D's, and float32's if D has fewer."""
    return sorted({setup.d.fraction_bits, max(setup.d.fraction_bits, _FLOAT32)})


def _scale(setup: Setup, bits: int) -> float:
    """So that the last bit of 6 in that precision is a normal number of D."""
    return 2.0 ** max(0, bits - 2 + setup.d.min_exponent)


def _signed_quarters() -> list[tuple[int, int]]:
    return [(sign, quarter) for sign in (1, -1) for quarter in _QUARTERS]


def _has_square(setup: Setup) -> bool:
    """Whether C can hold all but the last bit of a square of A's last bits, and D that bit."""
    bits = setup.a.fraction_bits
    return setup.c.fraction_bits >= bits - 1 and min(setup.c.max_exponent, -setup.d.min_exponent) >= bits


def _tf32(setup: Setup) -> list[str]:
    is_seen = setup.d.fraction_bits >= setup.a.fraction_bits + 2
    return [name for name, fmt in (("A", setup.a), ("B", setup.b)) if fmt.unused_bits and is_seen]


def _unused(name: str) -> list[tuple[Hashable, int]]:
    """1.5 and quarters of the last used bit of tf32, in the bits that are not used."""
    one_and_a_half, quarter = 0x3FC00000, 1 << 11
    return [((name, sign, count), (one_and_a_half + quarter * count) | (sign < 0) << 31)
            for sign in (1, -1) for count in (1, 2, 3, 5, 6, 7)]


def found(setup: Setup, answers: Answers, tree: Tree | None) -> dict[str, str]:
    """Rounding of the result, of products, operands and accumulators."""
    rounded = of_result(setup, answers, tree)
    result = {names.RESULT: rounded} if setup.k > 3 or rounded != UNKNOWN else {}  # the alignment may hide it
    if _has_square(setup):
        whole = 2.0**-setup.a.fraction_bits
        result[names.PRODUCTS] = EXACT if answers.value("product") == whole else "rounded"
    for name in _tf32(setup):
        result[names.TF32[name]] = _of_operand(answers, name)
    if setup.d.fraction_bits < setup.c.fraction_bits:
        last = 2.0**-setup.d.fraction_bits
        rounded = _direction((sign, quarter, (answers.value("converted", sign, quarter) - sign * 1.5) / last)
                             for sign, quarter in _signed_quarters())
        when = AFTER if answers.value("before") == 1 + last else BEFORE
        result[names.ACCUMULATOR] = f"{when}, {rounded}"
    return result


def of_result(setup: Setup, answers: Answers, tree: Tree | None) -> str:
    """The direction of rounding: of a sum with a carry where C and four products are added at once, so that bits that
    an alignment cuts off do not matter; else of C and one product."""
    last = 2.0**-setup.d.fraction_bits
    if _adds_five(setup, tree):
        return _direction((sign, quarter, (answers.value("sum of five", sign, quarter) - 6 * sign) / (4 * last))
                          for sign, quarter in _signed_quarters())
    return _direction((sign, quarter, (answers.value("added", sign, quarter) - 1.5 * sign) / last)
                      for sign, quarter in _signed_quarters())


def of_five(setup: Setup, answers: Answers, tree: Tree, bits: int) -> str | None:
    """The direction of rounding of a partial sum of C and four products to ``bits`` fraction bits, if they and not the
    last one are added at once."""
    if setup.k < 5 or not _adds_five(setup, tree) or are_together(tree, (0, setup.k - 1)) or (
            bits not in _precisions(setup)):
        return None
    last = 2.0 ** (2 - bits) * _scale(setup, bits)
    return _direction((sign, quarter, answers.value("five cancelled", bits, sign, quarter) / last)
                      for sign, quarter in _signed_quarters())


def _adds_five(setup: Setup, tree: Tree | None) -> bool:
    return tree is not None and setup.k > 3 and are_together(tree, (setup.k, 0, 1, 2, 3))


def _direction(seen: Iterable[tuple[int, int, float]]) -> str:
    """The direction in which quarters of a last bit, beside a large number with this sign, were rounded."""
    return direction((sign * _EVEN + quarter / 4, sign * _EVEN + rounded) for sign, quarter, rounded in seen)


def _of_operand(answers: Answers, name: str) -> str:
    last = 2.0**-10
    pairs = [(sign * (_EVEN + count / 4), (answers.value(name, sign, count) - sign * 1.5) / last + sign * _EVEN)
             for sign in (1, -1) for count in (1, 2, 3, 5, 6, 7)]
    return _USED if all(exact == seen for exact, seen in pairs) else direction(pairs)
