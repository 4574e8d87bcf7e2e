"""A layout as text: for each component the lane that holds it, over columns and beside rows."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from coopmat.layout.elements import Element, ElementLayout, bits_name

MOST_WIDTH = 120


def as_text(layout: ElementLayout) -> str:
    """The matrix as a table of components, such as ``3[1]`` or ``3.s1`` for lane 3, component 1."""
    tables = list(_tables(layout))
    notes = [line for note in (*_fields(layout), *layout.notes()) for line in textwrap.wrap(note, MOST_WIDTH)]
    return "\n".join([layout.title, *notes, "", *tables]) + "\n"


def _fields(layout: ElementLayout) -> Iterator[str]:
    """What the fields of the table mean."""
    yield "each field: the lane and its component"
    rows, columns = layout.packing
    if rows * columns > 1:
        held = [element for element in layout.elements if element.row < rows and element.column < columns]
        neighbours = f"{rows} rows" if rows > 1 else f"{columns} columns"
        yield f"{neighbours} share a component, in bits {', '.join(bits_name(element.first) for element in held)}"


def _tables(layout: ElementLayout) -> Iterator[str]:
    """The lines of all tables: columns that find no room continue in a further one."""
    high, wide = layout.packing
    labels = {(element.row // high, element.column // wide): _label(layout, element)
              for element in reversed(layout.elements)}
    columns = [_range(start, wide) for start in range(0, layout.layout.columns, wide)]
    rows = [_range(start, high) for start in range(0, layout.layout.rows, high)]
    margin = max(map(len, rows))
    widest = max(map(len, [*labels.values(), *columns]))
    field, per_table = max(((widest + blanks, _columns_with_room(margin, widest + blanks)) for blanks in (2, 1)),
                           key=lambda choice: min(choice[1], len(columns)))
    for start in range(0, len(columns), per_table):
        shown = range(start, min(start + per_table, len(columns)))
        yield " " * margin + "".join(columns[column].rjust(field) for column in shown)
        for row, name in enumerate(rows):
            yield name.rjust(margin) + "".join(labels.get((row, column), "").rjust(field) for column in shown)
        if shown.stop < len(columns):
            yield ""


def _columns_with_room(margin: int, field: int) -> int:
    """How many fields find room beside the margin, a power of two."""
    return 1 << ((MOST_WIDTH - margin) // field).bit_length() - 1


def _label(layout: ElementLayout, element: Element) -> str:
    name = layout.component_name(element.first)
    if name and layout.naming == "vector":
        name = f".{name}"
    return f"{element.first.lane}{name}"


def _range(start: int, count: int) -> str:
    return str(start) if count == 1 else f"{start}-{start + count - 1}"
