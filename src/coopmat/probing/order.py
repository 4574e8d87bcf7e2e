"""The order of summation, by the method of FPRev (Xie, Gao, Wang and Xue, "Revealing Floating-Point Accumulation
Orders in Software/Hardware Implementations", USENIX ATC 2025).

Two terms are +M and -M, all others a unit u. Units that are added to M or -M before these meet vanish, so that the
result tells how many terms lie below the node where they meet. Here all pairs are tried, so that nothing depends on an
earlier result. A unit that is added to M vanishes in every rounding if it points towards zero or away from where the
rounding goes; so each pair is tried with three choices of signs, and the result that is a number of units is taken.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

from coopmat.probing import names
from coopmat.probing.setup import Answers, Dots, Setup
from coopmat.probing.trees import Node, Tree, nodes, reconstruct, text

MOST_PRODUCTS = 64
"""More products than that make too many pairs."""
NO_TREE = "no tree fits"
_SIGNS = ((1, -1, 1), (-1, 1, 1), (1, -1, -1))  # of the first and the second large term, and of the units


def dots(setup: Setup) -> Dots:
    """+M and -M in all pairs of terms."""
    large, unit = 2.0**setup.high, 2.0**setup.low
    for one, other in combinations(range(setup.k + 1), 2):
        for signs in _SIGNS:
            first, second, rest = signs
            yield ("order", one, other, signs), setup.sum({one: first * large, other: second * large}, rest * unit)


def tree(setup: Setup, answers: Answers) -> Tree | None:
    """The tree that the results show."""
    count = setup.k + 1
    losses = np.zeros((count, count), np.int64)
    for one, other in combinations(range(count), 2):
        kept = [_units(setup, answers.value("order", one, other, signs), signs[2]) for signs in _SIGNS]
        losses[one, other] = losses[other, one] = count - max(kept)
        if max(kept) < 0:
            return None
    return reconstruct(losses)


def _units(setup: Setup, value: float, sign: int) -> int:
    """How many units the result has, -1 if it is no number of units that can be."""
    units = value * sign / 2.0**setup.low
    return int(units) if 0 <= units <= setup.k - 1 and units == int(units) else -1


def found(setup: Setup, summed: Tree | None) -> dict[str, str]:
    """The order, and how many products are added in one step."""
    if summed is None:
        return {names.ORDER: NO_TREE}
    return {names.ORDER: text(summed, setup.k), names.AT_ONCE: str(at_once(summed, setup.k))}


def at_once(summed: Tree, k: int) -> int:
    """The most products that one node of three or more terms adds; 1 if there is none."""
    wide: list[Node] = [each for each in nodes(summed) if len(each.children) > 2]
    return max((sum(isinstance(child, int) and child < k for child in each.children) for each in wide), default=1)
