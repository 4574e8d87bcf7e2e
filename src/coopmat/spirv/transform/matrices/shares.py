"""Matrices of work-groups become matrices of sub-groups, for drivers that have only these.

The sub-groups of a work-group stand in a grid. Each has some rows of an A, some columns of a B, and of an accumulator
the elements in these rows and columns, so that it computes its share of a product alone. What is loaded is its share,
too. Barriers stand around stores: the others may load what is stored, or may have loaded what was there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import gcd

from coopmat.diagnostics import KernelNotSupported
from coopmat.spirv.analysis.matrix_uses import transposes
from coopmat.spirv.analysis.types import MatrixType, PointerType, TypeTable
from coopmat.spirv.edit.functions import Body, FunctionEditor, first_place, with_words
from coopmat.spirv.edit.ordering import ordered
from coopmat.spirv.grammar import (
    BuiltIn,
    CooperativeMatrixLayout,
    CooperativeMatrixReduce,
    MemoryAccess,
    MemorySemantics,
    Op,
    Scope,
    StorageClass,
)
from coopmat.spirv.grammar import CooperativeMatrixUse as Use
from coopmat.spirv.module import Module
from coopmat.spirv.module.instruction import Instruction
from coopmat.spirv.transform.cut.choice import CHECKED, LOADS, STORED, Matrices
from coopmat.spirv.transform.goal import Goal, MatrixSupport
from coopmat.spirv.transform.matrices.lanes import input_variable
from coopmat.spirv.transform.matrices.work_groups import check_work_groups, is_of_work_groups, uses_of

_TILE = 16
"""Of which rows and columns of a share are multiples, if possible: tiles of most drivers."""
_ANYWHERE = frozenset({Op.CooperativeMatrixTransposeNV, Op.CooperativeMatrixConstructCheckedINTEL})
"""Instructions of which nothing is left in its row or column, or that say where they are without being asked."""
_COORDINATES = frozenset({Op.CooperativeMatrixGetElementCoordINTEL, Op.CooperativeMatrixGetCoordinateEXT})
_MEMORY = {StorageClass.CrossWorkgroup: MemorySemantics.CrossWorkgroupMemory,
           StorageClass.Workgroup: MemorySemantics.WorkgroupMemory}
_ANY_MEMORY = MemorySemantics.CrossWorkgroupMemory | MemorySemantics.WorkgroupMemory


def shared_out(module: Module, support: MatrixSupport, work_items: int, sub_group_size: int) -> Module:
    """The module with matrices of sub-groups, if the driver does not have its matrices of work-groups.

    Raises KernelNotSupported, with both reasons, for what becomes neither.
    """
    known = Matrices(module, Goal(driver=support))
    sets = [one for one in known.sets() if is_of_work_groups(known, one)]
    try:
        for one in sets:
            check_work_groups(known, support, one)
    except KernelNotSupported as reason:
        types = {type_id: known.types[type_id] for one in sets for type_id in one.types}
        count, rest = divmod(work_items, sub_group_size)
        grid = None if rest else _grid(list(types.values()), count, _undivided(known, set(types)))
        if grid is None:
            why = (f"work-groups of {work_items} work-items are not made of sub-groups of {sub_group_size}" if rest
                   else f"{count} sub-groups cannot share its rows and columns")
            raise KernelNotSupported(f"{reason.message}; and {why}", reason.kernel, reason.location) from None
        return _Sharing(module, types, *grid).done()
    return module


def _undivided(known: Matrices, types: set[int]) -> tuple[bool, bool]:
    """Whether all sub-groups must have all rows, and all columns, of an accumulator: instructions that combine elements
    of a column, or of a row, or make a B or an A of it."""
    all_rows = all_columns = False
    for row in uses_of(known, types):
        keeps_rows, keeps_columns = _kept(known, row)
        all_rows, all_columns = all_rows or not keeps_rows, all_columns or not keeps_columns
    return all_rows, all_columns


def _kept(known: Matrices, row: Instruction) -> tuple[bool, bool]:
    """Whether an instruction leaves elements in their rows and in their columns, so that these may be others'."""
    if row.opcode == Op.CooperativeMatrixReduceEXT:
        return row.words[1] == CooperativeMatrixReduce.Row, row.words[1] == CooperativeMatrixReduce.Column
    if row.opcode == Op.CooperativeMatrixConvertUseEXT:
        given, made = (known.types[type_id or 0].use for type_id in (
            known.module.definition(row.words[0]).type_id, row.type_id))
        is_of_accumulator = given == Use.MatrixAccumulatorKHR and not transposes(known.module, row)
        return is_of_accumulator and made == Use.MatrixAKHR, is_of_accumulator and made == Use.MatrixBKHR
    return row.opcode not in _ANYWHERE, row.opcode not in _ANYWHERE


def _grid(types: Sequence[MatrixType], count: int, undivided: tuple[bool, bool]) -> tuple[int, int] | None:
    """So many sub-groups, down and across; None if no grid divides all matrices, or does not leave undivided what must
    be so."""
    def cost(grid: tuple[int, int]) -> tuple[int, int]:
        sizes = [size for kind in types for size in _share(kind, *grid)]
        return sum(size % _TILE != 0 for size in sizes), sum(sizes)

    all_rows, all_columns = undivided
    grids = [(down, count // down) for down in range(1, count + 1) if count % down == 0
             and not (all_rows and down > 1) and not (all_columns and down < count)]
    possible = [(down, across) for down, across in grids if not any(
        (_has_rows(kind) and kind.rows % down) or (_has_columns(kind) and kind.columns % across) for kind in types)]
    return min(possible, key=cost, default=None)


def _has_rows(kind: MatrixType) -> bool:
    return kind.use != Use.MatrixBKHR


def _has_columns(kind: MatrixType) -> bool:
    return kind.use != Use.MatrixAKHR


def _share(kind: MatrixType, down: int, across: int) -> tuple[int, int]:
    """Rows and columns of a sub-group's share."""
    return kind.rows // (down if _has_rows(kind) else 1), kind.columns // (across if _has_columns(kind) else 1)


@dataclass
class _Place:
    """Where a sub-group stands in the grid: ids of numbers of 64 bits."""

    row: int
    column: int


class _Sharing:
    """Rewrites a module. types: those of work-groups. down, across: the grid."""

    def __init__(self, module: Module, types: dict[int, MatrixType], down: int, across: int) -> None:
        self.editor = FunctionEditor(module)
        self.table = TypeTable(module, 1)
        self.types, self.down, self.across = types, down, across
        self.long = self.editor.unique(Op.TypeInt, 64, 0)
        self.rows: list[Instruction] = []

    def done(self) -> Module:
        sub_group = input_variable(self.editor, BuiltIn.SubgroupId)
        for body in self.editor.bodies:
            if any(self._matrix(row) is not None for row in body.rows()):
                self._change(body, sub_group)
        self._change_types()
        return self.editor.done()

    def _change_types(self) -> None:
        editor, scope = self.editor, self.editor.constant(Scope.Subgroup)
        sizes = {type_id: [editor.constant(size) for size in _share(kind, self.down, self.across)]
                 for type_id, kind in self.types.items()}
        head = [with_words(row, (row.words[0], scope, *sizes[row.result_id or 0], row.words[4]))
                if row.result_id in sizes else row for row in editor.head]
        start = next(i for i, row in enumerate(head) if row.type_id is not None or row.name.startswith("OpType"))
        editor.head = [*head[:start], *ordered(head[start:])]

    # --- instructions ----------------------------------------------------------------------

    def _let(self, op: Op, *words: int, type_id: int = 0) -> int:
        row = self.editor.row(op, type_id or self.long, *words)
        self.rows.append(row)
        return row.result_id or 0

    def _number(self, value: int) -> int:
        return self.editor.constant(value, 64)

    def _change(self, body: Body, sub_group: int) -> None:
        self.rows = []
        number = self._let(Op.UConvert, self._let(Op.Load, sub_group, type_id=self.editor.unique(Op.TypeInt, 32, 0)))
        place = _Place(self._let(Op.UDiv, number, self._number(self.across)),
                       self._let(Op.UMod, number, self._number(self.across)))
        start, first = body.blocks[0], self.rows
        for block in body.blocks:
            self.rows = []
            for row in block.instructions:
                kind = self._matrix(row)
                if kind is not None:
                    self._access(row, kind, place)
                elif row.opcode in _COORDINATES:
                    self._coordinates(row, place)
                else:
                    self.rows.append(row)
            block.instructions = self.rows
        at = first_place(start)
        start.instructions[at:at] = first

    def _matrix(self, row: Instruction) -> MatrixType | None:
        """The matrix of a work-group that an instruction loads or stores."""
        if row.opcode not in LOADS:
            return None
        stored = STORED.get(Op(row.opcode))
        type_id = row.type_id if stored is None else self.editor.definition(row.words[stored]).type_id
        return self.types.get(type_id or 0)

    def _access(self, row: Instruction, kind: MatrixType, place: _Place) -> None:
        own = self._start(kind, place)
        pointer, layout = (row.words[at] for at in LOADS[Op(row.opcode)])
        order = self.editor.integer(layout)
        if order not in (CooperativeMatrixLayout.RowMajorKHR, CooperativeMatrixLayout.ColumnMajorKHR):
            raise KernelNotSupported(f"{row.name} of a matrix of a work-group by neither rows nor columns")
        if order == CooperativeMatrixLayout.ColumnMajorKHR:
            own.reverse()
        words = list(row.words)
        if row.opcode in CHECKED:
            for at, more in zip((1, 2), own, strict=True):
                words[at] = self._plus(words[at], more)
        else:
            self._move(row, words, kind, own)
        if row.opcode not in STORED:
            self.rows.append(with_words(row, words))
            return
        self._synchronize(pointer)
        self.rows.append(with_words(row, words))
        self._synchronize(pointer)

    def _start(self, kind: MatrixType, place: _Place) -> list[int]:
        """The row and the column at which a share begins."""
        rows, columns = _share(kind, self.down, self.across)
        return [self._let(Op.IMul, place.row, self._number(rows)) if _has_rows(kind) else self._number(0),
                self._let(Op.IMul, place.column, self._number(columns)) if _has_columns(kind) else self._number(0)]

    def _coordinates(self, row: Instruction, place: _Place) -> None:
        """Row and column in the matrix of the work-group."""
        kind = self.types.get(self.editor.definition(row.words[0]).type_id or 0)
        if kind is None:
            self.rows.append(row)
            return
        vector = row.type_id or 0
        number = self.editor.definition(vector).words[0]
        bits = self.editor.definition(number).words[0]
        own = [one if bits == 64 else self._let(Op.UConvert, one, type_id=number) for one in self._start(kind, place)]
        inside = self._let(Op(row.opcode), *row.words, type_id=vector)
        start = self._let(Op.CompositeConstruct, *own, type_id=vector)
        self.rows.append(self.editor.row(Op.IAdd, vector, inside, start, result=row.result_id))

    def _plus(self, value: int, more: int) -> int:
        """The sum, in the type of the first one."""
        type_id = self.editor.definition(value).type_id or 0
        if self.editor.definition(type_id).words[0] != 64:
            more = self._let(Op.UConvert, more, type_id=type_id)
        return self._let(Op.IAdd, value, more, type_id=type_id)

    def _move(self, row: Instruction, words: list[int], kind: MatrixType, own: Sequence[int]) -> None:
        """Let a plain access begin at the share: so many lines, and so many elements in them, further."""
        at, layout = LOADS[Op(row.opcode)]
        pointer = words[at]
        type_id = self.editor.definition(pointer).type_id or 0
        size, element = self.table.pointee(self.table[type_id]).size, kind.component.size
        line, column = own
        offset = self._number(0)
        if layout + 1 < len(words):
            stride, bits = words[layout + 1], self.editor.type_of(words[layout + 1]).words[0]
            wide = stride if bits == 64 else self._let(Op.SConvert, stride)
            offset = self._let(Op.IMul, line, wide)
        column = self._let(Op.IMul, column, self._number(element)) if element != 1 else column
        column = self._let(Op.UDiv, column, self._number(size)) if size != 1 else column
        words[at] = self._let(Op.PtrAccessChain, pointer, self._let(Op.IAdd, offset, column), type_id=type_id)
        access = layout + 2
        if access < len(words) and words[access] & MemoryAccess.Aligned:
            words[access + 1] = gcd(words[access + 1], element)

    def _synchronize(self, pointer: int) -> None:
        kind = self.table[self.editor.definition(pointer).type_id or 0]
        assert isinstance(kind, PointerType)
        memory = _MEMORY.get(StorageClass(kind.storage), _ANY_MEMORY)
        scope = self.editor.constant(Scope.Workgroup)
        order = self.editor.constant(int(MemorySemantics.AcquireRelease | memory))
        self.rows.append(Instruction(Op.ControlBarrier, None, None, (scope, scope, order)))
