"""Sums of products along K in vector registers: an element of A, or a word of several, times a row of B at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from coopmat.targets.cpu.matrix.body import Body
from coopmat.targets.cpu.matrix.sums import sum_registers

Pieces = list[list[str]]
"""Of each row, the pieces of an instruction's width."""
Elements = Callable[[int, int | str], str]
"""Gives an element of A, by its row and its number along K: an int, or an i64 of LLVM."""
Add = Callable[[str, str, str], str]
"""Gives a sum, to which the product of an element of A and a piece of B is added."""


def in_code(sums: Pieces, factors: Sequence[Sequence[str]], element: Elements, add: Add) -> Pieces:
    """The sums with all products, of which each stands in the code, in the order of K for all rows, so that many sums
    are formed side by side. factors: the pieces of each row of B."""
    for k, parts in enumerate(factors):
        for m, row in enumerate(sums):
            one = element(m, k)
            row[:] = [add(total, one, part) for total, part in zip(row, parts, strict=True)]
    return sums


def in_loops(body: Body, sums: Pieces, vector: str, registers: int, count: int, factors: Callable[[str], list[str]],
             element: Elements, add: Add) -> Pieces:
    """The sums with all products, for as many rows at once as there are registers, in loops over K. vector: the type of
    a piece of sums; registers: what a row of them takes; count: how much of K there is; ``factors``: gives the pieces
    of a row of B."""
    at_once, across = max(1, sum_registers(body.features) // registers), len(sums[0])
    found: Pieces = []
    for first in range(0, len(sums), at_once):
        def step(k: str, totals: list[str], first: int = first) -> list[str]:
            parts = factors(k)
            ones = [element(first + m, k) for m in range(len(totals) // across)]
            return [add(total, ones[place // across], parts[place % across]) for place, total in enumerate(totals)]

        carried = [(vector, total) for row in sums[first:first + at_once] for total in row]
        totals = body.writer.repeat(count, carried, step, unrolls=False)
        found += [list(totals[start:start + across]) for start in range(0, len(totals), across)]
    return found
