"""How the extents of matrices hang together: which grow when one does."""

from __future__ import annotations

from coopmat.support.classes import Classes

Dimension = tuple[int, int]
"""A matrix, by its id, and 0 for its rows or 1 for its columns."""


class Dimensions(Classes[Dimension]):
    """Classes of dimensions that have the same extent."""

    def alike(self, one: int, other: int) -> None:
        """Two matrices have the same shape."""
        for place in range(2):
            self.unite((one, place), (other, place))

    def product(self, d: int, a: int, b: int, c: int | None) -> None:
        """``d = a * b + c``."""
        self.unite((a, 0), (d, 0))
        self.unite((b, 1), (d, 1))
        self.unite((a, 1), (b, 0))
        if c is not None:
            self.alike(c, d)
