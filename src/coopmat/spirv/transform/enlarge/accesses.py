"""Where the matrices of a kernel lie in memory: in lines a stride apart, from some line and some place along it."""

from __future__ import annotations

from dataclasses import dataclass

from coopmat.spirv.analysis.polynomials import Polynomial
from coopmat.spirv.grammar import CooperativeMatrixLayout as Layout
from coopmat.spirv.grammar import MemoryAccess, Op
from coopmat.spirv.module.instruction import Instruction
from coopmat.spirv.transform.enlarge.indices import Indices

LOADS = (Op.CooperativeMatrixLoadKHR, Op.CooperativeMatrixLoadCheckedINTEL)
STORES = (Op.CooperativeMatrixStoreKHR, Op.CooperativeMatrixStoreCheckedINTEL)
CHECKED = (Op.CooperativeMatrixLoadCheckedINTEL, Op.CooperativeMatrixStoreCheckedINTEL)


class NotRegular(Exception):
    """Why nothing is known of where a matrix lies."""


@dataclass(frozen=True)
class Access:
    """A load or store. matrix: its id. base: the pointer to element (0, 0); layout, stride: their ids. line, along: the
    matrix's first element, in lines and elements of them. by_rows: whether lines are rows. sizes: the ids of height and
    width (lines, and elements of one) that it is checked against, if it is."""

    row: Instruction
    matrix: int
    base: int
    layout: int
    stride: int
    line: Polynomial
    along: Polynomial
    by_rows: bool
    sizes: tuple[int, int] | None = None

    @property
    def is_load(self) -> bool:
        """Whether it reads."""
        return self.row.opcode in LOADS

    def start(self, dimension: int) -> Polynomial:
        """The first row (0) or column (1)."""
        return self.line if self.by_rows == (dimension == 0) else self.along


def access_of(indices: Indices, row: Instruction) -> Access:
    """The access that an instruction is. NotRegular if its place is not known."""
    editor = indices.editor
    is_checked = row.opcode in CHECKED
    pointer, *words = row.words
    window = [words.pop(0) for _ in range(2)] if is_checked else []
    matrix = row.result_id or 0 if row.opcode in LOADS else words.pop(0)
    layout, *rest = words
    sizes = (rest.pop(0), rest.pop(0)) if is_checked else None
    order = editor.integer(layout)
    if order not in (Layout.RowMajorKHR, Layout.ColumnMajorKHR) or not rest:
        raise NotRegular("a matrix is neither row-major nor column-major, with a stride")
    if rest[1:] and rest[1] & MemoryAccess.Volatile:
        raise NotRegular("a matrix is volatile")
    if window:
        line, along = map(indices.of, window)
        return Access(row, matrix, pointer, layout, rest[0], line, along, order == Layout.RowMajorKHR, sizes)
    element = editor.definition(editor.type_of(pointer).words[1])
    if element is not editor.component(editor.type_of(matrix)):
        raise NotRegular("a pointer to a matrix is none to its elements")
    base, offset = indices.pointer(pointer)
    stride = indices.of(rest[0])
    line, along = offset.divided(stride) if stride.known not in (0, 1) else (Polynomial(), offset)
    return Access(row, matrix, base, layout, rest[0], line, along, order == Layout.RowMajorKHR)
