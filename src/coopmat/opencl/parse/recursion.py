"""Room for recursion: sources may nest more deeply than Python allows by default."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

RECURSION_LIMIT = 20_000
"""Enough for what the parser lets through: 256 levels, each a dozen calls deep in each stage."""


@contextmanager
def deep_recursion() -> Iterator[None]:
    """A higher recursion limit for the time of a ``with``."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, RECURSION_LIMIT))
    try:
        yield
    finally:
        sys.setrecursionlimit(before)
