"""A layout as an SVG picture: the matrix, coloured by lane, components and their bits written in.

There is one node for each element. Its attributes ``data-row``, ``data-column``, ``data-lane``, ``data-component``,
``data-register`` and ``data-bits`` (highest:lowest) are those of the first place where it is held; its title names all
places, and ``data-places`` lists them ("lane:component …") if there are several. The picture has its own background and
follows the reader's light or dark colour scheme.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from html import escape
from itertools import groupby

from coopmat.diagnostics import Error
from coopmat.layout.elements import Element, ElementLayout, bits_name
from coopmat.layout.palette import COLOURS, DARK, LIGHT, Scheme, colour_of
from coopmat.support.cached import cached_property

MOST_WIDTH = 800  # what pages of code hosts show without scaling
LEAST_WIDTH = 400  # room for the lines below the matrix
BAND_COLUMNS = 32  # further columns continue in a band below
MARGIN, GUTTER = 6, 20  # around all; left of the cells, where the row numbers are
TITLE, NUMBERS, GAP = 32, 18, 18  # heights; GAP is between bands, and where rows are left out
LABEL, CELL = 15, 14  # heights of a line of a component's label, and of the cell with an element's bits
ROOMY, WIDEST = 32, 46  # width of a cell from which letters are larger; width of the widest cell
SWATCH, SWATCH_HEIGHT, LINE = 22, 20, 15  # of the legend and of the lines below it
TITLE_LETTER, TEXT_LETTER = 8.6, 6.4  # widths, ample for the fonts of any system

_CLASS = "lanes"  # of the picture: its rules must not touch the page that it is shown in, such as a notebook
_STYLE = {
    "text": "font:10px Helvetica,Arial,sans-serif;text-anchor:middle;pointer-events:none",
    ".t": "font-size:14px;font-weight:700;text-anchor:start", ".k": "font-size:11px;text-anchor:start",
    ".r": "text-anchor:end", ".n": "font-size:11px", "tspan": "font-size:12px;font-weight:700", ".s": "font-size:8px",
    "path": "stroke-width:.5", ".w": "stroke-width:2",
}


def as_svg(layout: ElementLayout, rows: Iterable[int] | None = None) -> str:
    """The picture. ``rows``: only these, whole components, are drawn; a mark stands for those left out."""
    return "\n".join(_Drawing(layout, range(layout.layout.rows) if rows is None else rows).lines()) + "\n"


@dataclass(frozen=True, slots=True)
class _Word:
    """What a kernel names: the middle of its upper side, and the elements in it."""

    x: int
    y: int
    elements: tuple[Element, ...]


class _Drawing:
    """The measures of one picture, and its lines."""

    def __init__(self, layout: ElementLayout, rows: Iterable[int]) -> None:
        self.layout = layout
        self.rows, self.columns = layout.layout.rows, layout.layout.columns
        self.high, self.wide = layout.packing
        self.word_rows = sorted({row // self.high for row in rows if 0 <= row < self.rows})
        if not self.word_rows:
            raise Error(f"{layout.title}: expected some of the rows 0 to {self.rows - 1} to draw, found none")
        room = (MOST_WIDTH - GUTTER - 2 * MARGIN) // min(self.columns, BAND_COLUMNS)
        self.cell_width = min(WIDEST, room // 2 * 2)
        self.word_width = self.wide * self.cell_width
        self.label_lines = 1 if self.word_width >= ROOMY else 2
        self.label_height = LABEL * self.label_lines + (0 if layout.is_packed else 6)
        self.word_height = self.label_height + (CELL * self.high if layout.is_packed else 0)

    # ------------------------------------------------------------------ measures

    @cached_property
    def tops(self) -> dict[int, int]:
        """Where each row of components begins in its band."""
        tops, y = {}, NUMBERS
        for index, row in enumerate(self.word_rows):
            if index and row > self.word_rows[index - 1] + 1:
                y += GAP
            tops[row] = y
            y += self.word_height
        return tops

    @property
    def band_height(self) -> int:
        return self.tops[self.word_rows[-1]] + self.word_height + GAP

    @cached_property
    def width(self) -> int:
        cells = GUTTER + min(self.columns, BAND_COLUMNS) * self.cell_width
        return 2 * MARGIN + max(cells, LEAST_WIDTH, round(TITLE_LETTER * len(self.layout.title)))

    @cached_property
    def matrix_height(self) -> int:
        return TITLE + -(-self.columns // BAND_COLUMNS) * self.band_height

    @cached_property
    def height(self) -> int:
        return self.matrix_height + len(self.legend_rows) * SWATCH_HEIGHT + len(self.notes) * LINE + 2 * MARGIN

    @cached_property
    def legend_rows(self) -> list[list[int]]:
        """The lanes that hold something, in rows of eight, sixteen … that find room."""
        lanes = sorted(self.layout.lanes)
        room = (self.width - 2 * MARGIN) // SWATCH
        each = 1 << (room.bit_length() - 1)
        return [lanes[start:start + each] for start in range(0, len(lanes), each)]

    @cached_property
    def notes(self) -> list[str]:
        """The lines below the legend."""
        letters = int((self.width - 2 * MARGIN) / TEXT_LETTER)
        return [line for note in (self._labels(), *self.layout.notes()) for line in textwrap.wrap(note, letters)]

    def middle(self, column: int, count: int = 1) -> int:
        """The middle of so many columns."""
        return MARGIN + GUTTER + column % BAND_COLUMNS * self.cell_width + count * self.cell_width // 2

    def top(self, word_row: int, column: int) -> int:
        """The upper side of a row of components, in the band of a column."""
        return TITLE + column // BAND_COLUMNS * self.band_height + self.tops[word_row]

    def words(self) -> Iterator[_Word]:
        """The components that are drawn, from left to right and from top to bottom."""
        def place(element: Element) -> tuple[int, int]:
            return element.row // self.high, element.column // self.wide

        shown = (element for element in self.layout.elements if element.row // self.high in self.tops)
        for (row, column), elements in groupby(sorted(shown, key=place), key=place):
            first = column * self.wide
            yield _Word(self.middle(first, self.wide), self.top(row, first), tuple(elements))

    # ------------------------------------------------------------------ lines

    def lines(self) -> Iterator[str]:
        """The whole file."""
        title = escape(self.layout.title)
        yield (f'<svg xmlns="http://www.w3.org/2000/svg" width="{self.width}" height="{self.height}" '
               f'viewBox="0 0 {self.width} {self.height}" role="img" class="{_CLASS}"><title>{title}</title>')
        yield f"<style>{_rules(_STYLE)}\n{self._colours(LIGHT)}"
        yield f"@media(prefers-color-scheme:dark){{{self._colours(DARK)}}}</style>"
        yield f'<rect class="g" width="{self.width}" height="{self.height}" rx="6"/>'
        yield f'<text class="t" x="{MARGIN}" y="22">{title}</text>'
        yield from self._column_numbers()
        for first in range(0, self.columns, BAND_COLUMNS):
            yield from self._row_numbers(first)
        for word in self.words():
            yield from self._word(word)
        yield from self._legend()
        yield "</svg>"

    def _colours(self, scheme: Scheme) -> str:
        rules = {"text": f"fill:{scheme.text}", ".m": f"fill:{scheme.muted}", ".g": f"fill:{scheme.background}",
                 "path": f"stroke:{scheme.background}"}
        used = sorted({colour_of(lane) for lane in self.layout.lanes})
        return _rules(rules | {f".l{index}": f"fill:{scheme.fill(index)}" for index in used})

    def _column_numbers(self) -> Iterator[str]:
        for column in range(self.columns):
            y = TITLE + column // BAND_COLUMNS * self.band_height + NUMBERS - 5
            yield f'<text class="m" x="{self.middle(column)}" y="{y}">{column}</text>'

    def _row_numbers(self, first: int) -> Iterator[str]:
        """At the left of one band: beside the elements of a component, or beside it all if it has one row."""
        right = MARGIN + GUTTER - 4
        for index, word_row in enumerate(self.word_rows):
            top = self.top(word_row, first)
            if index and word_row > self.word_rows[index - 1] + 1:
                yield f'<text class="m n" x="{right - 4}" y="{top - 5}">⋮</text>'
            for inner in range(self.high):
                middle = self.word_height // 2 if self.high == 1 else self.label_height + CELL * inner + CELL // 2
                yield f'<text class="m r" x="{right}" y="{top + middle + 4}">{word_row * self.high + inner}</text>'

    def _word(self, word: _Word) -> Iterator[str]:
        """What a kernel names: its label, and the cells of its elements."""
        first, half = word.elements[0], self.word_width // 2
        yield f'<g class="l{colour_of(first.first.lane)}" transform="translate({word.x},{word.y})">'
        outline = f'd="M-{half} 0h{self.word_width}v{self.word_height}h-{self.word_width}z"'
        if self.layout.is_packed:
            yield f'<path class="w" {outline}/>'
            yield from map(self._element, word.elements)
        else:
            yield f'<path class="w" {outline}{self._data(first)}</path>'
        yield f"{self._label(first)}</g>"

    def _element(self, element: Element) -> str:
        """The cell of one of several elements of a register, with its bits."""
        width = self.cell_width
        left = element.column % self.wide * width - self.word_width // 2
        top = self.label_height + element.row % self.high * CELL
        x, size = left + width // 2, "" if width >= ROOMY else ' class="s"'
        place = f' x="{x}" y="{top + CELL - 4}"' if x else f' y="{top + CELL - 4}"'
        return (f'<path d="M{left} {top}h{width}v{CELL}h-{width}z"{self._data(element)}</path>'
                f"<text{size}{place}>{bits_name(element.first)}</text>")

    def _data(self, element: Element) -> str:
        """The attributes that end the tag of an element's node, and its title."""
        first = element.first
        attributes = (f' data-row="{element.row}" data-column="{element.column}" data-lane="{first.lane}" '
                      f'data-component="{first.component}" data-register="{first.register}" '
                      f'data-bits="{bits_name(first)}"')
        if len(element.places) > 1:
            attributes += f' data-places="{" ".join(f"{place.lane}:{place.component}" for place in element.places)}"'
        return f"{attributes}><title>{escape(self.layout.describe(element))}</title>"

    def _label(self, element: Element) -> str:
        """Lane and component, beside each other or, where it is narrow, below each other."""
        component = self.layout.component_name(element.first)
        lane = f"<tspan>{element.first.lane}</tspan>"
        middle = (self.label_height + 9) // 2
        if self.label_lines == 1 or not component:
            return f'<text class="n" y="{middle}">{f"{lane} {component}".strip()}</text>'
        return f'<text y="{middle - 6}">{lane}</text><text y="{middle + 6}">{component}</text>'

    # ------------------------------------------------------------------ legend

    def _legend(self) -> Iterator[str]:
        """A swatch for each lane, what the labels mean, and what holds for all elements."""
        y = self.matrix_height
        for lanes in self.legend_rows:
            for index, lane in enumerate(lanes):
                x = MARGIN + index * SWATCH
                yield (f'<path class="w l{colour_of(lane)}" data-swatch="{lane}" d="M{x} {y}h{SWATCH}v18h-{SWATCH}z"/>'
                       f'<text x="{x + SWATCH // 2}" y="{y + 13}"><tspan>{lane}</tspan></text>')
            y += SWATCH_HEIGHT
        for index, note in enumerate(self.notes):
            yield f'<text class="m k" x="{MARGIN}" y="{y + (index + 1) * LINE}">{escape(note)}</text>'

    def _labels(self) -> str:
        words = ["bold and colour: lane (work-item in the sub-group)"]
        first = self.layout.elements[0].first
        if component := self.layout.component_name(first):
            words.append(f"{component} …: component")
        if self.layout.is_packed:
            words.append(f"{bits_name(first)} …: bits of the component")
        if len(self.layout.lanes) > COLOURS:
            words.append("colours repeat")
        return "; ".join(words)


def _rules(rules: dict[str, str]) -> str:
    """Rules of style, by what they are for, for this picture only."""
    return "".join(f".{_CLASS} {name}{{{style}}}" for name, style in rules.items())
