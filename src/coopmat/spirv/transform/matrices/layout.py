"""Which work-item of a sub-group holds which element, where a driver has no matrices: a layout of our own.

=============  ===================================================================================
``across``     the smallest power of two that is not below the number of columns, at most S, the sub-group size
``down``       S / across
work-item      ``row % down * across + column % across``: neighbours hold neighbouring columns
component      ``row // down * beside + column // across``, with ``beside`` = columns / across, rounded up
length         rows / down, rounded up, times ``beside``
=============  ===================================================================================

It is the same for A, B and accumulators, so that a change of use is nothing. Loads of rows are coalesced. Where
columns are a multiple of S each work-item has whole columns of B and of the accumulator: a product then needs of other
work-items nothing but elements of A, each of them the same one for all. Where rows or columns do not fill the last
components these are padding, whose place is behind the end of the matrix.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coopmat.devices.lane_layout import Indices

Chosen = NDArray[np.bool_]
"""Some work-items."""


class Held(NamedTuple):
    """Where the elements of a matrix are: arrays [rows, columns] of the work-item and of the number of its value."""

    lane: Indices
    value: Indices


@dataclass(frozen=True)
class Spread:
    """The layout of a matrix of ``rows`` x ``columns`` over ``lanes`` work-items, a power of two."""

    rows: int
    columns: int
    lanes: int
    across: int = field(init=False)
    down: int = field(init=False)

    def __post_init__(self) -> None:
        across = min(self.lanes, 1 << (self.columns - 1).bit_length())
        object.__setattr__(self, "across", across)
        object.__setattr__(self, "down", self.lanes // across)

    @property
    def below(self) -> int:
        """Components of a work-item that lie in one column, one ``down`` rows below the other."""
        return -(-self.rows // self.down)

    @property
    def beside(self) -> int:
        """Components of a work-item that lie in one row, ``across`` columns apart."""
        return -(-self.columns // self.across)

    @property
    def length(self) -> int:
        """Components of a work-item."""
        return self.below * self.beside

    @property
    def has_padding(self) -> bool:
        """Whether some components are no elements."""
        return self.rows % self.down != 0 or self.columns % self.across != 0

    @property
    def held(self) -> Held:
        """Where each element is."""
        row, column = np.indices((self.rows, self.columns))
        return Held(row % self.down * self.across + column % self.across,
                    row // self.down * self.beside + column // self.across)

    def places(self) -> Iterator[tuple[int, int]]:
        """Of each component the row and the column in which the first work-item has it."""
        return ((i * self.down, j * self.across) for i in range(self.below) for j in range(self.beside))

    def rows_of(self, component: int) -> Indices:
        """The row of a component in each work-item; those of padding lie behind the end."""
        return component // self.beside * self.down + np.arange(self.lanes) // self.across

    def columns_of(self, component: int) -> Indices:
        """The column of a component in each work-item."""
        return component % self.beside * self.across + np.arange(self.lanes) % self.across
