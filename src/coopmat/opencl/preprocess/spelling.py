"""Finding the name that a misspelt one was meant to be."""

from __future__ import annotations

from collections.abc import Iterable

LONGEST_MEANT = 100
"""Characters of a name for which a nearer one is looked for: what finds it takes time with the square of them."""


def edit_distance(left: str, right: str, limit: int) -> int:
    """Insertions, deletions, replacements and swaps of neighbours that turn ``left`` into ``right``;
    anything above ``limit`` comes back as ``limit + 1``."""
    if abs(len(left) - len(right)) > limit:
        return limit + 1
    before: list[int] = []
    row = list(range(len(right) + 1))
    for i, a in enumerate(left, 1):
        previous, row = row, [i]
        for j, b in enumerate(right, 1):
            cost = min(previous[j] + 1, row[j - 1] + 1, previous[j - 1] + (a != b))
            if i > 1 and j > 1 and a == right[j - 2] and b == left[i - 2]:
                cost = min(cost, before[j - 2] + 1)
            row.append(cost)
        if min(row) > limit:
            return limit + 1
        before = previous
    return min(row[-1], limit + 1)


def closest(name: str, candidates: Iterable[str]) -> str | None:
    """The first of the candidates that are nearest to ``name``, if one is near enough to be meant.

    A third of the name's letters may differ, which is what clang allows; names of one letter and very long ones never
    match.
    """
    limit = (len(name) + 2) // 3
    if not 2 <= len(name) <= LONGEST_MEANT:
        return None
    best, best_distance = None, limit + 1
    for candidate in candidates:
        if candidate == name or candidate.startswith("."):
            continue
        distance = edit_distance(name, candidate, min(limit, best_distance))
        if distance < best_distance and distance < len(candidate):
            best, best_distance = candidate, distance
    return best
