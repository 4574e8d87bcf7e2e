"""Where the matrices of a kernel lie in memory: in lines a stride apart, from some line and some place along it."""

from __future__ import annotations

from dataclasses import dataclass

from coopmat.spirv.analysis.polynomials import Polynomial
from coopmat.spirv.grammar import CooperativeMatrixLayout as Layout
from coopmat.spirv.grammar import MemoryAccess, Op
from coopmat.spirv.module.instruction import Instruction
from coopmat.spirv.transform.enlarge.indices import Indices


class NotRegular(Exception):
    """Why nothing is known of where a matrix lies."""


@dataclass(frozen=True)
class Access:
    """A load or store. matrix: its id. base: the pointer to element (0, 0); layout, stride: their ids. line, along: the
    matrix's first element, in lines and elements of them. by_rows: whether lines are rows."""

    row: Instruction
    matrix: int
    base: int
    layout: int
    stride: int
    line: Polynomial
    along: Polynomial
    by_rows: bool

    def start(self, dimension: int) -> Polynomial:
        """The first row (0) or column (1)."""
        return self.line if self.by_rows == (dimension == 0) else self.along


def access_of(indices: Indices, row: Instruction) -> Access:
    """The access that an instruction is. NotRegular if its place is not known."""
    editor = indices.editor
    is_load = row.opcode == Op.CooperativeMatrixLoadKHR
    pointer, *words = row.words
    matrix = row.result_id or 0 if is_load else words.pop(0)
    layout, *rest = words
    order = editor.integer(layout)
    if order not in (Layout.RowMajorKHR, Layout.ColumnMajorKHR) or not rest:
        raise NotRegular("a matrix is neither row-major nor column-major, with a stride")
    if rest[1:] and rest[1] & MemoryAccess.Volatile:
        raise NotRegular("a matrix is volatile")
    element = editor.definition(editor.type_of(pointer).words[1])
    if element is not editor.component(editor.type_of(matrix)):
        raise NotRegular("a pointer to a matrix is none to its elements")
    base, offset = indices.pointer(pointer)
    stride = indices.of(rest[0])
    line, along = offset.divided(stride) if stride.known not in (0, 1) else (Polynomial(), offset)
    return Access(row, matrix, base, layout, rest[0], line, along, order == Layout.RowMajorKHR)
