"""The least quantum of aligned terms: whether very small terms are cut off at a fixed place.

Products too small for D add up, or do not, to its smallest number: a part of half that number and a small rest, which
rounds up only if the rest counts; or, where the result is truncated, parts that make up the smallest number exactly.
"""

from __future__ import annotations

from coopmat.probing import names
from coopmat.probing.directions import EVEN, ZERO
from coopmat.probing.setup import Answers, Dots, Setup
from coopmat.probing.trees import Tree, are_together

_DEEPEST = {EVEN: 24, ZERO: 16}
_OF_FLOAT64 = -1000
_LONG = 7  # fraction bits of a factor that all formats have


def least(setup: Setup) -> int:
    """The exponent of D's smallest number."""
    return setup.d.min_exponent - setup.d.fraction_bits


def bottom(setup: Setup, rounding: str) -> int:
    """The exponent of the smallest term that is tried."""
    return max(least(setup) - _DEEPEST[rounding], setup.tiny_product)


def dots(setup: Setup) -> Dots:
    """Sums that D has if a term of 2**exponent counts, where the formats have such small products."""
    whole = least(setup)
    if setup.k < 3 or not _has_tiny(setup):
        return
    for exponent in range(bottom(setup, EVEN), whole - 1):
        yield ("quantum", EVEN, exponent), setup.sum({0: 2.0 ** (whole - 1), 1: 2.0**exponent})
    if setup.least_product > bottom(setup, ZERO):
        return
    for exponent in range(bottom(setup, ZERO), whole - 1):
        yield ("quantum", ZERO, exponent), setup.sum(dict(enumerate(_parts(whole, exponent))))


def _parts(whole: int, exponent: int) -> list[float]:
    """Terms with few bits, the last one of 2**exponent, that add up to 2**whole."""
    missing = 2.0**whole
    parts = []
    while missing > 2.0**exponent:
        part = missing - max(missing * 2.0 ** -(_LONG + 1), 2.0**exponent)
        parts.append(part)
        missing -= part
    return [*parts, missing]


def found(setup: Setup, answers: Answers, tree: Tree | None, rounding: str | None) -> dict[str, str]:
    """The least quantum, if three products are added at once and results are rounded so that it can be seen."""
    if tree is None or setup.k < 3 or not are_together(tree, (0, 1, 2)) or not is_seen(setup, rounding):
        return {}
    exponent = least(setup) - 1
    while exponent > bottom(setup, str(rounding)) and answers.value(
            "quantum", rounding, exponent - 1) == 2.0 ** least(setup):
        exponent -= 1
    return {names.QUANTUM: quantum_text(setup, exponent, str(rounding))}


def is_seen(setup: Setup, rounding: str | None) -> bool:
    """Whether the formats and the rounding of results let it be seen."""
    if rounding not in _DEEPEST or not _has_tiny(setup):
        return False
    return rounding == EVEN or setup.least_product <= bottom(setup, ZERO)


def _has_tiny(setup: Setup) -> bool:
    """Whether products, and what makes them up here in float64, go below D's smallest number."""
    return setup.tiny_product <= least(setup) - 2 and least(setup) > _OF_FLOAT64


def quantum_text(setup: Setup, exponent: int, rounding: str) -> str:
    """A quantum, as far as it can be seen."""
    last = bottom(setup, rounding)
    return f"2^{exponent}" if exponent > last else f"none seen (2^{last} counts)"
