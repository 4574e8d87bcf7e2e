"""How the elements of a matrix are spread over the work-items (lanes) of a sub-group: the one form of all layouts.

A lane holds its elements as components, in registers; several narrow components share a register, the first in the
lowest bits. Most layouts are written as steps (:class:`Step`): "four lanes, two columns apart; then eight, one row
apart". Where SPIR-V leaves the spreading to the implementation (SPV_KHR_cooperative_matrix) and the hardware has no
rule either, the elements are dealt out to the lanes in turn (:func:`dealt`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coopmat.support.cached import cached_property

WORD_BITS = 32
"""Width of the words that narrow rows of B are packed into ("packed" or "VNNI" order)."""

Indices = NDArray[np.intp]


def rows_per_word(bits: int) -> int:
    """How many rows of B, with elements of so many bits, share a word: the lowest row has the lowest bits."""
    return max(1, WORD_BITS // bits)


def can_be_packed(rows: int, bits: int) -> bool:
    """Whether words that rows share hold all of B, which lies packed in memory then: several rows, and no part."""
    together = rows_per_word(bits)
    return together > 1 and rows % together == 0


class Held(NamedTuple):
    """The element that each component of each lane holds: arrays [lanes, components].

    Where ``valid`` is false the component is padding, and its row and column mean nothing.
    """

    row: Indices
    column: Indices
    valid: NDArray[np.bool_]


class Step(NamedTuple):
    """So many lanes, or components, that follow each other: each holds what is ``rows`` below and ``columns`` beside
    what the one before it holds. With 0 and 0 they hold the same."""

    size: int
    rows: int
    columns: int


class Places(NamedTuple):
    """Where elements are held: arrays, or numbers, of the lane, the component and the register that it lies in (both
    counted from 0 in each lane), and the lowest of its bits there."""

    lane: Any
    component: Any
    register: Any
    bit: Any


Steps = Sequence[tuple[int, int, int]]


def spread(rows: int, columns: int, lanes: Steps, components: Steps) -> Held:
    """A layout by steps: the first step of the lanes is that of neighbouring lanes, and so on.

    Steps lead along the rows: what lies past the end of a row is in the next one, what lies past the last is padding.
    """
    number = _numbers(lanes, columns)[:, None] + _numbers(components, columns)
    row, column = np.divmod(number, columns)
    return Held(row, column, row < rows)


def placed(rows: int, columns: int, lanes: Steps, components: Steps) -> Held:
    """A layout by steps, none of which leads from one row to the next: what lies past an end is padding."""
    row, column = (_sums([step[0] for step in lanes], [step[axis] for step in lanes])[:, None]
                   + _sums([step[0] for step in components], [step[axis] for step in components]) for axis in (1, 2))
    return Held(row, column, (row < rows) & (column < columns))


def _sums(sizes: Sequence[int], distances: Sequence[int]) -> Indices:
    """How far each lane or component is from the first."""
    result = np.zeros(1, np.intp)
    for size, distance in zip(sizes, distances, strict=True):
        result = (np.arange(size)[:, None] * distance + result).reshape(-1)
    return result


def _numbers(steps: Steps, columns: int) -> Indices:
    """The number of an element, counted along the rows, for each lane or component."""
    result = np.zeros(1, np.intp)
    for size, down, beside in steps:
        result = (np.arange(size)[:, None] * (down * columns + beside) + result).reshape(-1)
    return result


def dealt(rows: int, columns: int, lanes: int) -> Held:
    """The elements, counted along the rows, are dealt out to the lanes in turn."""
    return spread(rows, columns, [Step(lanes, 0, 1)], [Step(dealt_components(rows, columns, lanes), 0, lanes)])


def dealt_components(rows: int, columns: int, lanes: int) -> int:
    """How many components each lane has, padding included, if the elements are dealt out."""
    return -(-rows * columns // lanes)


@dataclass(frozen=True, eq=False)
class LaneLayout:
    """How a matrix of ``rows`` x ``columns`` elements is spread over the lanes.

    element_bits, register_bits: the widths of an element and of the registers of a lane.
    held: what each component of each lane holds; every element is held at least once.
    source: the document that specifies the layout, or what it was seen on; or that it is coopmat's own.
    implementation_dependent: whether hardware or drivers may do it another way, so that a kernel must not rely on it.
    tile_rows: for AMX: so many rows of the matrix make up a row of a tile. The "register" of an element is then its
        tile row, its bits are those in that row, and only lanes and components are those of ``held``.

    Raises ValueError if an element is held by no lane, or does not fit into a register.
    """

    rows: int
    columns: int
    element_bits: int
    register_bits: int
    held: Held
    source: str
    implementation_dependent: bool = False
    tile_rows: int | None = None

    def __post_init__(self) -> None:
        if self.register_bits % self.element_bits:
            raise ValueError(f"elements of {self.element_bits} bits do not fill registers of {self.register_bits}")
        row, column, valid = self.held
        inside = (row >= 0) & (row < self.rows) & (column >= 0) & (column < self.columns)
        if (valid & ~inside).any():
            raise ValueError(f"an element outside of {self.rows}x{self.columns} is held")
        if (self.copies == 0).any():
            raise ValueError(f"an element of {self.rows}x{self.columns} is held by no lane")

    @property
    def sub_group_size(self) -> int:
        """Number of lanes."""
        return self.held.row.shape[0]

    @property
    def components(self) -> int:
        """Number of components of each lane, padding included (OpCooperativeMatrixLengthKHR)."""
        return self.held.row.shape[1]

    @cached_property
    def copies(self) -> Indices:
        """How often each element is held: [rows, columns]."""
        row, column, valid = self.held
        counts = np.bincount(row[valid] * self.columns + column[valid], minlength=self.rows * self.columns)
        return counts.reshape(self.rows, self.columns)

    @cached_property
    def owner(self) -> tuple[Indices, Indices]:
        """Lane and component of each element, [rows, columns] each; of several the one with the lowest numbers."""
        row, column, valid = self.held
        lane, component = np.nonzero(valid)
        first = np.zeros((2, self.rows, self.columns), np.intp)
        places = row[valid][::-1], column[valid][::-1]
        first[:, *places] = lane[::-1], component[::-1]
        return first[0], first[1]

    def places(self, component: Any, lane: Any, row: Any, column: Any) -> Places:
        """Where components, and the elements that they hold, are."""
        if self.tile_rows is not None:
            bit = self.element_bits * (column * self.tile_rows + row % self.tile_rows)
            return Places(lane, component, row // self.tile_rows, bit)
        register, bit = divmod(component * self.element_bits, self.register_bits)
        return Places(lane, component, register, bit)

    @cached_property
    def of_elements(self) -> Places:
        """Where each element is: arrays [rows, columns]; of several places the one with the lowest numbers."""
        row, column = np.indices((self.rows, self.columns))
        lane, component = self.owner
        return self.places(component, lane, row, column)
