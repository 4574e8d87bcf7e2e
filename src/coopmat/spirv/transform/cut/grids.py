"""A matrix type that is cut: its grid of tiles, and its types."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from coopmat.spirv.analysis.types import MatrixType


@dataclass(frozen=True)
class Grid:
    """``type_id``, once the matrix's type, is that of an array of all tiles; ``tile_id`` is the type of one tile.

    Tiles are numbered along the rows of the grid.
    """

    type_id: int
    tile_id: int
    kind: MatrixType
    rows: int
    columns: int

    @property
    def down(self) -> int:
        """Rows of tiles."""
        return self.kind.rows // self.rows

    @property
    def across(self) -> int:
        """Columns of tiles."""
        return self.kind.columns // self.columns

    @property
    def count(self) -> int:
        """How many tiles there are."""
        return self.down * self.across

    def at(self, row: int, column: int) -> int:
        """The number of a tile."""
        return row * self.across + column

    def places(self) -> Iterator[tuple[int, int]]:
        """Row and column in the grid of each tile, in order."""
        return ((row, column) for row in range(self.down) for column in range(self.across))
