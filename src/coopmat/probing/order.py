"""The order of summation, by the method of FPRev (Xie, Gao, Wang and Xue, "Revealing Floating-Point Accumulation
Orders in Software/Hardware Implementations", USENIX ATC 2025).

Two terms are +M and -M, all others a unit u. Units that are added to M or -M before these meet vanish, so that the
result tells how many terms lie below the node where they meet. Here all pairs are tried, so that nothing depends on an
earlier result.

Where partial sums are not rounded to nearest, a unit may move M to its neighbour instead of vanishing, and the result
is off by a multiple of the distance of M's neighbours. So each pair is tried twice: with M as far from u as possible,
and, where that gives no number of units, with M so near that this distance is just more than all units.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

from coopmat.formats import FORMATS
from coopmat.probing import names
from coopmat.probing.setup import Answers, Dots, Setup
from coopmat.probing.trees import Node, Tree, nodes, reconstruct, text

MOST_PRODUCTS = 64
"""More products than that make too many pairs."""
NO_TREE = "no tree fits"


def dots(setup: Setup) -> Dots:
    """+M and -M in all pairs of terms."""
    unit = 2.0**setup.low
    for one, other in combinations(range(setup.k + 1), 2):
        for distance in dict.fromkeys((_farthest(setup), *_near(setup))):
            large = unit * 2.0**distance
            yield ("order", one, other, distance), setup.sum({one: large, other: -large}, unit)


def _farthest(setup: Setup) -> int:
    """How much larger than a unit M can be, as a power of two."""
    return setup.high - setup.low


def _near(setup: Setup) -> dict[int, int]:
    """For sums in fp32 (fp64 where that is the result), and in D's format: how much larger than a unit M is, and the
    distance of M's neighbours, which is more than all units."""
    units = max(1, (setup.k - 1).bit_length())
    precisions = {FORMATS[name].fraction_bits + 1 for name in (
        "fp64" if setup.d.name == "fp64" else "fp32", setup.d.name)}
    return {precision + units: 2**units for precision in sorted(precisions, reverse=True)
            if precision + units <= _farthest(setup)}


def tree(setup: Setup, answers: Answers) -> Tree | None:
    """The tree that the results show."""
    count = setup.k + 1
    losses = np.zeros((count, count), np.int64)
    for one, other in combinations(range(count), 2):
        kept = _units(setup, answers, one, other)
        if kept is None:
            return None
        losses[one, other] = losses[other, one] = count - kept
    return reconstruct(losses)


def _units(setup: Setup, answers: Answers, one: int, other: int) -> int | None:
    """How many units the result of a pair has, None if it is no number of units that can be."""
    def units(distance: int) -> float:
        return float(answers.value("order", one, other, distance) / 2.0**setup.low)

    far = units(_farthest(setup))
    if far in range(setup.k):
        return int(far)
    left = (units(distance) % neighbours for distance, neighbours in _near(setup).items()
            if abs(units(distance)) <= neighbours * (setup.k + 1))
    return next((int(count) for count in left if count in range(setup.k)), None)


def found(setup: Setup, summed: Tree | None) -> dict[str, str]:
    """The order, and how many products are added in one step."""
    if summed is None:
        return {names.ORDER: NO_TREE}
    return {names.ORDER: text(summed, setup.k), names.AT_ONCE: str(at_once(summed, setup.k))}


def at_once(summed: Tree, k: int) -> int:
    """The most products that one node of three or more terms adds; 1 if there is none."""
    wide: list[Node] = [each for each in nodes(summed) if len(each.children) > 2]
    return max((sum(isinstance(child, int) and child < k for child in each.children) for each in wide), default=1)
