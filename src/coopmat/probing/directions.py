"""Directions of rounding, and which of them some observations show."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

EVEN = "to nearest even"
AWAY = "to nearest, ties away"
ZERO = "towards zero"
UP = "up"
DOWN = "down"
UNKNOWN = "in no known direction"

_DIRECTIONS: dict[str, Callable[[float], int]] = {
    EVEN: round,
    AWAY: lambda x: math.floor(abs(x) + 0.5) * (1 if x > 0 else -1),
    ZERO: math.trunc,
    UP: math.ceil,
    DOWN: math.floor,
}


def direction(seen: Iterable[tuple[float, float]]) -> str:
    """The direction in which the first number of each pair was rounded to the second, an integer."""
    pairs = list(seen)
    return next((name for name, rounded in _DIRECTIONS.items()
                 if all(rounded(exact) == found for exact, found in pairs)), UNKNOWN)
