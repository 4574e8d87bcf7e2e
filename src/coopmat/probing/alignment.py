"""What is kept of small terms beside large ones: where several are aligned and added at once, and in partial sums.

A large term, a small one, and the large one with the other sign: the rest is what was kept of the small one. If one
node adds all three, it shows what the alignment keeps (Fasi, Higham, Mikaitis and Pranesh, "Numerical behavior of
NVIDIA tensor cores", PeerJ Computer Science 2021); if the large and the small term meet first, how that partial sum is
rounded.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import count

from coopmat.probing import names
from coopmat.probing.directions import direction
from coopmat.probing.rounding import of_five
from coopmat.probing.setup import Answers, Dots, Setup
from coopmat.probing.trees import Tree, are_together, common

Triple = tuple[int, int, int]
OF_FACTORS = "at the factors' exponents"
OF_PRODUCTS = "at the product's exponent"
_LARGE = 1.5
_PATTERNS = ((1, 1.0), (1, 1.5), (1, -1.5), (-1, 1.5))  # sign of the large term; the small one
_EVEN = 64.0  # as even as the large term is, in units of its last bit
_LEAST_SHIFT = 2
_BELOW = 3  # shifts beyond the last kept one that show the direction of rounding


def span(setup: Setup) -> int:
    """How far below the large term the small one can be."""
    return setup.high - 1 - setup.low


def triples(k: int) -> list[Triple]:
    """The large, the small, and the cancelling term: some choices, of which a tree will have one or another."""
    c, last, middle = k, k - 1, k // 2
    wanted = [(0, c, 1), (0, 2, 1), (c, 0, last), (0, 1, c), (0, 2, c), (0, middle, 1), (0, 1, last), (last, c, 0)]
    return [triple for triple in dict.fromkeys(wanted) if len(set(triple)) == 3 and max(triple) <= c]


def dots(setup: Setup) -> Dots:
    """The small term at all distances, in the places of all triples; large products also as 1.5 times 1.5."""
    unit = 2.0**setup.low
    for triple in triples(setup.k):
        large, small, cancelling = triple
        for shift in range(_LEAST_SHIFT, span(setup) + 1):
            top = _LARGE * unit * 2.0**shift
            for sign, part in _PATTERNS:
                yield (("kept", triple, shift, sign, part),
                       setup.sum({large: sign * top, small: part * unit, cancelling: -sign * top}))
            if triple == (0, setup.k, 1):
                yield ("carried", shift), setup.dot(
                    {0: _square(setup, shift, 1), 1: _square(setup, shift, -1)}, setup.sum({setup.k: unit}).c)


def _square(setup: Setup, shift: int, sign: int) -> tuple[int, int]:
    """The factors, 1.5 each before scaling, of the product 2.25."""
    exponent = setup.low + shift
    of_a = min(max(exponent // 2, setup.a.min_exponent), setup.a.max_exponent)
    of_b = min(max(exponent - of_a, setup.b.min_exponent), setup.b.max_exponent)
    return setup.factors(sign * 1.5 * 2.0 ** (exponent - of_b), 1.5 * 2.0**of_b)


def found(setup: Setup, answers: Answers, tree: Tree | None) -> dict[str, str]:
    """What alignment and partial sums keep, as far as the tree has either."""
    if tree is None:
        return {}
    result: dict[str, str] = {}
    together = next((triple for triple in triples(setup.k) if are_together(tree, triple)), None)
    if together is not None:
        result |= _aligned(setup, answers, together)
    apart = next((triple for triple in triples(setup.k) if common(tree, triple[:2]) != common(tree, triple)), None)
    if apart is not None:
        result[names.PARTIAL] = _partial(setup, answers, tree, apart)
    return result


def partial_text(bits: int, rounding: str) -> str:
    """How partial sums are rounded."""
    return f"{bits} fraction bits, {rounding}"


def all_kept(setup: Setup) -> str:
    """Where no limit is in sight."""
    return f"all (at least {span(setup)})"


def kept_text(setup: Setup, bits: int | None) -> str:
    """Fraction bits of aligned terms, None for no limit."""
    return all_kept(setup) if bits is None or bits >= span(setup) else str(bits)


def _partial(setup: Setup, answers: Answers, tree: Tree, triple: Triple) -> str:
    kept = _kept(setup, answers, triple)
    if kept_text(setup, kept) == all_kept(setup):
        return all_kept(setup)
    if kept < _LEAST_SHIFT:
        return f"fewer than {_LEAST_SHIFT} fraction bits"
    return partial_text(kept, of_five(setup, answers, tree, kept) or direction(
        _seen(setup, answers, triple, kept, flips=True)))


def _aligned(setup: Setup, answers: Answers, triple: Triple) -> dict[str, str]:
    kept = _kept(setup, answers, triple)
    result = {names.KEPT: kept_text(setup, kept)}
    if result[names.KEPT] == all_kept(setup) or kept < _LEAST_SHIFT:
        return result
    result[names.CUT] = direction(_seen(setup, answers, triple, kept, flips=False))
    if triple == (0, setup.k, 1):
        carried = _longest(setup, lambda shift: answers.value("carried", shift))
        result[names.ALIGNED_AT] = {0: OF_FACTORS, 1: OF_PRODUCTS}.get(
            kept - carried, f"{kept - carried} bits fewer where the factors' significands are 1.5")
    return result


def _kept(setup: Setup, answers: Answers, triple: Triple) -> int:
    return _longest(setup, lambda shift: answers.value("kept", triple, shift, *_PATTERNS[0]))


def _longest(setup: Setup, value: Callable[[int], float]) -> int:
    """The largest distance up to which the small term, a power of two, comes out whole."""
    unit = 2.0**setup.low
    lost = (shift for shift in count(_LEAST_SHIFT) if shift > span(setup) or value(shift) != unit)
    return next(lost) - 1


def _seen(setup: Setup, answers: Answers, triple: Triple, kept: int, flips: bool) -> list[tuple[float, float]]:
    """What became of small terms with bits beyond those kept, in units of the last bit kept. ``flips``: what is rounded
    is the sum with the large term, which may be negative."""
    result = []
    for shift in range(kept, min(kept + _BELOW, span(setup)) + 1):
        quantum = 2.0 ** (setup.low + shift - kept)
        for sign, part in _PATTERNS:
            large = sign * _EVEN if flips else 0.0
            exact = part * 2.0 ** (kept - shift)
            rest = answers.value("kept", triple, shift, sign, part) / quantum
            result.append((large + exact, large + rest))
    return result
