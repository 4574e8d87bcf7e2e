"""Where the matrices of a kernel lie in memory: in lines a stride apart, from some line and some place along it."""

from __future__ import annotations

from dataclasses import dataclass

from coopmat.devices.lane_layout import can_be_packed, rows_per_word
from coopmat.spirv.analysis.polynomials import Polynomial
from coopmat.spirv.edit.functions import FunctionEditor
from coopmat.spirv.grammar import CooperativeMatrixLayout as Layout
from coopmat.spirv.grammar import CooperativeMatrixUse as Use
from coopmat.spirv.grammar import MemoryAccess, Op
from coopmat.spirv.module.instruction import Instruction
from coopmat.spirv.transform.enlarge.indices import Indices

LOADS = (Op.CooperativeMatrixLoadKHR, Op.CooperativeMatrixLoadCheckedINTEL)
STORES = (Op.CooperativeMatrixStoreKHR, Op.CooperativeMatrixStoreCheckedINTEL)
BYTE = 8
CHECKED = (Op.CooperativeMatrixLoadCheckedINTEL, Op.CooperativeMatrixStoreCheckedINTEL)


class NotRegular(Exception):
    """Why nothing is known of where a matrix lies."""


@dataclass(frozen=True)
class Access:
    """A load or store. matrix: its id. base: the pointer to element (0, 0); layout, stride: their ids. line, along: the
    matrix's first element, in lines and elements of them. by_rows: whether lines are rows; together: how many rows a
    line has, element by element (of the packed layout of B). sizes: the ids of height and width (lines, and elements of
    one) that it is checked against, if it is."""

    row: Instruction
    matrix: int
    base: int
    layout: int
    stride: int
    line: Polynomial
    along: Polynomial
    by_rows: bool
    sizes: tuple[int, int] | None = None
    together: int = 1

    @property
    def is_load(self) -> bool:
        """Whether it reads."""
        return self.row.opcode in LOADS

    def start(self, dimension: int) -> Polynomial:
        """The first row (0) or column (1)."""
        if self.by_rows != (dimension == 0):
            return self.along.divided(Polynomial.constant(self.together))[0]
        return self.line.scaled(self.together)

    def in_memory(self, extent: int, dimension: int) -> int:
        """So many rows (0) or columns (1) as lines, or as elements of them."""
        return extent // self.together if dimension == 0 else extent * self.together


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
    together = _together(editor.type_of(matrix), editor, order)
    if together == 0 or not rest:
        raise NotRegular("a matrix is neither row-major, column-major nor packed, with a stride")
    by_rows = order != Layout.ColumnMajorKHR
    if rest[1:] and rest[1] & MemoryAccess.Volatile:
        raise NotRegular("a matrix is volatile")
    if window:
        line, along = map(indices.of, window)
        return _whole(Access(row, matrix, pointer, layout, rest[0], line, along, by_rows, sizes, together))
    element = editor.definition(editor.type_of(pointer).words[1])
    if element is not editor.component(editor.type_of(matrix)):
        raise NotRegular("a pointer to a matrix is none to its elements")
    base, offset = indices.pointer(pointer)
    stride = indices.of(rest[0])
    line, along = parted(offset, stride) if stride.known not in (0, 1) else (Polynomial(), offset)
    return _whole(Access(row, matrix, base, layout, rest[0], line, along, by_rows, together=together))


def parted(offset: Polynomial, stride: Polynomial) -> tuple[Polynomial, Polynomial]:
    """The line of an element, and its place along it. What is so much before a line's end lies in the line: of
    ``columns - 4`` the line is not 1, and the place not -4."""
    line, along = offset.divided(stride)
    whole = dict(line.terms).get((), 0)
    if whole > 0 and any(factor < 0 for _, factor in along.terms):
        line, along = line - Polynomial.constant(1), along + stride
    return line, along


def _whole(access: Access) -> Access:
    """An access that begins with a column. NotRegular for one that begins between the rows that a line has."""
    if access.together > 1 and access.along.divided(Polynomial.constant(access.together))[1].terms:
        raise NotRegular("a packed matrix does not begin with a whole word")
    return access


def _together(kind: Instruction, editor: FunctionEditor, order: int | None) -> int:
    """How many rows a line of a matrix has with a layout; 0 for layouts that are not known here."""
    component, _, rows, _, use = kind.words
    if order in (Layout.RowMajorKHR, Layout.ColumnMajorKHR):
        return 1
    if order != Layout.PackedINTEL:
        return 0
    if editor.integer(use) == Use.MatrixAKHR:
        return 1
    bits = editor.definition(component).words[0]
    extent = editor.integer(rows)
    is_packed = editor.integer(use) == Use.MatrixBKHR and extent is not None and can_be_packed(extent, bits)
    return rows_per_word(bits) if is_packed and bits >= BYTE else 0
