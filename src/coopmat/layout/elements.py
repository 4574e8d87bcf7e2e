"""The elements of one matrix and the places where they are held, with the words for them: what all pictures say."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Literal, NamedTuple

import numpy as np

from coopmat.devices.lane_layout import Indices, LaneLayout
from coopmat.diagnostics import Error
from coopmat.support.cached import cached_property

Naming = Literal["component", "vector", "array"]
"""How a kernel names a place: by the component of a matrix (``[3]``), which is one element; or by the register, which
may hold several: a component of a vector (``s3``), or of an array (``[3]``)."""

MOST_SHOWN = 1 << 14  # elements; the largest accumulator of wgmma has as many


class ElementPlace(NamedTuple):
    """Where an element is held: lane, component, register, and the lowest and the highest of its bits in that."""

    lane: int
    component: int
    register: int
    low: int
    high: int


class Element(NamedTuple):
    """One element: row and column, and every place where it is held, the one with the lowest lane first."""

    row: int
    column: int
    places: tuple[ElementPlace, ...]

    @property
    def first(self) -> ElementPlace:
        """The place that a picture shows."""
        return self.places[0]


def entries(layout: LaneLayout) -> Indices:
    """A line for each place, [places, 7]: row, column and what :class:`ElementPlace` has; ordered by row, column,
    lane."""
    row, column, valid = layout.held
    lane, component = np.nonzero(valid)
    row, column = row[valid], column[valid]
    places = layout.places(component, lane, row, column)
    lines = np.stack([row, column, *places, places.bit + layout.element_bits - 1], axis=1)
    return lines[np.lexsort(lines.T[3::-1])]


@dataclass(frozen=True, eq=False)
class ElementLayout:
    """A lane layout, with what a picture of it says besides.

    ``name`` is what the kernel calls the matrix, ``title`` describes it in a line.
    """

    layout: LaneLayout
    name: str
    title: str
    naming: Naming = "component"

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.title}>"

    @property
    def is_too_large(self) -> bool:
        """Whether the matrix has more elements than a picture or a table can show."""
        return self.layout.rows * self.layout.columns > MOST_SHOWN

    @cached_property
    def elements(self) -> tuple[Element, ...]:
        """All elements, row by row. Error if there are too many to be shown."""
        if self.is_too_large:
            rows, columns = self.layout.rows, self.layout.columns
            raise Error(f"a matrix of {rows}x{columns} = {rows * columns} elements is too large for a picture: text, "
                        f"SVG and HTML show up to {MOST_SHOWN}; JSON (--format json, to_json()) holds any number")
        numbers = entries(self.layout).tolist()
        return tuple(Element(row, column, tuple(ElementPlace(*line[2:]) for line in lines))
                     for (row, column), lines in groupby(numbers, key=lambda line: line[:2]))

    @cached_property
    def lanes(self) -> frozenset[int]:
        """The lanes that hold an element."""
        return frozenset(np.flatnonzero(self.layout.held.valid.any(axis=1)).tolist())

    @property
    def is_packed(self) -> bool:
        """Whether what the kernel names holds several elements."""
        return self.naming != "component" and self.layout.register_bits > self.layout.element_bits

    @cached_property
    def packing(self) -> tuple[int, int]:
        """The (rows, columns) that the elements of one register cover: (1, 4) if four neighbours of a row do.

        (1, 1) if the kernel names single elements, or what it names holds elements that are not a block of the matrix.
        """
        if not self.is_packed:
            return 1, 1

        def register(element: Element) -> tuple[int, int]:
            return element.first.lane, element.first.register

        shapes = {_block(list(group)) for _, group in groupby(sorted(self.elements, key=register), key=register)}
        return shapes.pop() if len(shapes) == 1 else (1, 1)

    def component_name(self, place: ElementPlace) -> str:
        """What holds an element as the kernel names it; empty if the work-item holds a scalar."""
        if self.naming == "component":
            return f"[{place.component}]"
        if self.naming == "array":
            return f"[{place.register}]"
        is_scalar = self.layout.components * self.layout.element_bits <= self.layout.register_bits
        return "" if is_scalar else f"s{place.register:x}"

    def describe(self, element: Element) -> str:
        """The element and its places in words: ``A[1][13]: lane 6, component 3, register 1, bits 15:8``."""
        places = "; and in ".join(map(self._words, element.places))
        return f"{self.name}[{element.row}][{element.column}]: {places}"

    def _words(self, place: ElementPlace) -> str:
        words = [f"lane {place.lane}"]
        if self.naming == "component":
            register = "register" if self.layout.tile_rows is None else "tile row"
            words += [f"component {place.component}", f"{register} {place.register}", f"bits {bits_name(place)}"]
        else:
            words += [name for name in (self.component_name(place),) if name]
            words += [f"bits {bits_name(place)}"] if self.is_packed else []
        return ", ".join(words)

    def notes(self) -> Iterator[str]:
        """What holds for all elements: what shares a register, what is held twice or not at all, and who says so."""
        layout = self.layout
        if layout.tile_rows is not None:
            yield f"tile row: {_quotient('row', layout.tile_rows)}; {_bits_in_tile(layout)}"
        elif self.naming == "component" and layout.register_bits > layout.element_bits:
            together = layout.register_bits // layout.element_bits
            yield (f"{together} components share a register of {layout.register_bits} bits, the first in the lowest "
                   "bits")
        least, most = int(layout.copies.min()), int(layout.copies.max())
        if most > 1:
            often = f"every element is held {most} times" if least == most else "some elements are held several times"
            yield f"{often}; shown is the first place, in the lowest lane"
        if idle := layout.sub_group_size - len(self.lanes):
            yield "1 lane holds nothing" if idle == 1 else f"{idle} lanes hold nothing"
        if padding := int((~layout.held.valid[sorted(self.lanes)]).sum()):
            yield f"{padding} of {len(self.lanes) * layout.components} components are padding"
        yield f"source: {layout.source}"
        if layout.implementation_dependent:
            yield ("implementation-dependent: drivers and devices may do it another way, and no kernel should rely on "
                   "it")


def bits_name(place: ElementPlace) -> str:
    """The bits of an element, the highest first: ``15:8``."""
    return f"{place.high}:{place.low}"


def _block(elements: list[Element]) -> tuple[int, int]:
    """Rows and columns of a block of the matrix; (1, 1) if the elements are none."""
    rows, columns = {element.row for element in elements}, {element.column for element in elements}
    height, width = max(rows) - min(rows) + 1, max(columns) - min(columns) + 1
    is_aligned = min(rows) % height == 0 and min(columns) % width == 0
    return (height, width) if is_aligned and height * width == len(elements) else (1, 1)


def _quotient(name: str, divisor: int) -> str:
    return name if divisor == 1 else f"{name} / {divisor}"


def _bits_in_tile(layout: LaneLayout) -> str:
    together = layout.tile_rows
    position = "column" if together == 1 else f"({together} * column + row % {together})"
    return f"bits from {layout.element_bits} * {position} on"
