"""The packed layout of B: rows whose elements share a 32-bit word, interleaved."""

from __future__ import annotations

from coopmat.spirv.analysis.types import MatrixType
from coopmat.targets.cpu.matrix.body import Body
from coopmat.targets.cpu.matrix.types import element_type


def interleaved(body: Body, rows: list[str], kind: MatrixType, together: int) -> list[str]:
    """Lines of the packed layout: rows that belong together, element by element, as vectors of 32-bit integers."""
    element, columns, result = element_type(kind), kind.columns, []
    for first in range(0, kind.rows, together):
        vectors, length = rows[first:first + together], columns
        while len(vectors) > 1:  # concatenate, two at a time
            order = ", ".join(f"i32 {place}" for place in range(2 * length))
            vectors = [body.writer.let(f"shufflevector <{length} x {element}> {x}, <{length} x {element}> {y}, "
                                       f"<{2 * length} x i32> <{order}>")
                       for x, y in zip(vectors[::2], vectors[1::2], strict=True)]
            length *= 2
        order = ", ".join(f"i32 {row * columns + column}" for column in range(columns) for row in range(together))
        mixed = body.writer.let(f"shufflevector <{length} x {element}> {vectors[0]}, <{length} x {element}> poison, "
                                f"<{length} x i32> <{order}>")
        result.append(body.writer.let(f"bitcast <{length} x {element}> {mixed} to <{columns} x i32>"))
    return result


def separated(body: Body, lines: list[str], kind: MatrixType, together: int) -> list[str]:
    """The rows of a matrix whose packed lines are given."""
    element, wide, rows = element_type(kind), kind.columns * together, []
    for line in lines:
        mixed = body.writer.let(f"bitcast <{kind.columns} x i32> {line} to <{wide} x {element}>")
        for part in range(together):
            order = ", ".join(f"i32 {column * together + part}" for column in range(kind.columns))
            rows.append(body.writer.let(f"shufflevector <{wide} x {element}> {mixed}, <{wide} x {element}> poison, "
                                        f"<{kind.columns} x i32> <{order}>"))
    return rows
