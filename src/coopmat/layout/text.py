"""A layout as text: for each component the lane that holds it, over columns and beside rows."""

from __future__ import annotations

from collections.abc import Iterator

from coopmat.layout.elements import Element, ElementLayout

MOST_WIDTH = 120


def as_text(layout: ElementLayout) -> str:
    """The matrix as a table of components, such as ``3.s1`` for lane 3, component ``s1``."""
    return "\n".join([layout.title, _explanation(layout), "", *_tables(layout)]) + "\n"


def _explanation(layout: ElementLayout) -> str:
    rows, columns = layout.packing
    explanation = "each field: the lane and its component"
    if rows * columns > 1:
        held = [element for element in layout.elements if element.row < rows and element.column < columns]
        neighbours = f"{rows} rows" if rows > 1 else f"{columns} columns"
        bits = ", ".join(layout.bits_name(element) for element in held)
        explanation += f"; {neighbours} share a component, in bits {bits}"
    return explanation


def _tables(layout: ElementLayout) -> Iterator[str]:
    """The lines of all tables: columns that find no room continue in a further one."""
    high, wide = layout.packing
    labels = {(element.row // high, element.column // wide): _label(layout, element)
              for element in reversed(layout.elements)}
    columns = [_range(start, wide) for start in range(0, layout.columns, wide)]
    rows = [_range(start, high) for start in range(0, layout.rows, high)]
    field = 2 + max(map(len, [*labels.values(), *columns]))
    margin = max(map(len, rows))
    room = max(1, (MOST_WIDTH - margin) // field)
    per_table = 1 << (room.bit_length() - 1)
    for start in range(0, len(columns), per_table):
        shown = range(start, min(start + per_table, len(columns)))
        yield " " * margin + "".join(columns[column].rjust(field) for column in shown)
        for row, name in enumerate(rows):
            yield name.rjust(margin) + "".join(labels.get((row, column), "").rjust(field) for column in shown)
        if shown.stop < len(columns):
            yield ""


def _label(layout: ElementLayout, element: Element) -> str:
    name = layout.component_name(element.component)
    if name and layout.naming == "vector":
        name = f".{name}"
    return f"{element.lane}{name}"


def _range(start: int, count: int) -> str:
    return str(start) if count == 1 else f"{start}-{start + count - 1}"
