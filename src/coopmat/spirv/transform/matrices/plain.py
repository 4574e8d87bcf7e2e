"""A module whose matrices become sub-group code: types, constants, functions."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from coopmat.spirv.analysis.types import MatrixType, TypeTable
from coopmat.spirv.edit.functions import (
    Body,
    FunctionEditor,
    first_place,
    keep_header,
    remove_unreachable,
    rename_parent,
)
from coopmat.spirv.grammar import BuiltIn, Op
from coopmat.spirv.grammar import ExecutionMode as Mode
from coopmat.spirv.module import Module
from coopmat.spirv.module.instruction import Instruction, make
from coopmat.spirv.transform.cut import memory as variables
from coopmat.spirv.transform.cut.cutting import REPLICATED, Splitting
from coopmat.spirv.transform.cut.grids import Grid
from coopmat.spirv.transform.cut.rewriting import Rewriting
from coopmat.spirv.transform.goal import MatrixSupport
from coopmat.spirv.transform.matrices import memory, operations, products
from coopmat.spirv.transform.matrices.intel import ALONE
from coopmat.spirv.transform.matrices.lanes import input_variable
from coopmat.spirv.transform.matrices.lowering import INT4, Components, Handler, Lowering, Plain, new_components

HANDLERS: Mapping[int, Handler] = {
    Op.CooperativeMatrixLoadKHR: memory.load,
    Op.CooperativeMatrixStoreKHR: memory.store,
    Op.CooperativeMatrixLoadCheckedINTEL: memory.load_checked,
    Op.CooperativeMatrixStoreCheckedINTEL: memory.store_checked,
    Op.CooperativeMatrixConstructCheckedINTEL: memory.construct_checked,
    Op.Load: variables.load_variable,
    Op.Store: variables.store_variable,
    Op.CompositeExtract: operations.extract,
    Op.CompositeInsert: operations.insert,
    Op.CooperativeMatrixMulAddKHR: products.multiply_accumulate,
    Op.CooperativeMatrixLengthKHR: operations.length,
    Op.CooperativeMatrixGetElementCoordINTEL: operations.coordinates,
    Op.CooperativeMatrixGetCoordinateEXT: operations.coordinates,
    Op.CooperativeMatrixPerElementOpEXT: operations.each_element,
    Op.CooperativeMatrixReduceEXT: operations.reduction,
}
_BRANCHING = frozenset({Op.CooperativeMatrixStoreKHR, Op.CooperativeMatrixLoadCheckedINTEL,
                        Op.CooperativeMatrixStoreCheckedINTEL, Op.CooperativeMatrixMulAddKHR})
"""What may need blocks of its own."""


def plain(module: Module, types: Collection[int], support: MatrixSupport, lanes: int,
          others: Mapping[int, Handler] | None = None) -> Module:
    """The module without some matrix types, and without the instructions of ``others``; every kernel requires
    ``lanes`` work-items in a sub-group."""
    editor, table = FunctionEditor(module), TypeTable(module, 1)
    grids = {}
    for type_id in types:
        kind = table[type_id]
        assert isinstance(kind, MatrixType)
        grids[type_id] = new_components(editor, type_id, kind, lanes)
    return _Lowered(editor, grids, support, lanes, others or {}).done()


class _Lowered(Splitting):
    """Rewrites a module."""

    def __init__(self, editor: FunctionEditor, grids: Mapping[int, Components], support: MatrixSupport, lanes: int,
                 others: Mapping[int, Handler]) -> None:
        self.handlers = {**HANDLERS, **others}  # type: ignore[dict-item]
        self.branching = _BRANCHING | set(others)
        is_for_lanes = bool(grids) or not ALONE.issuperset(others)
        lane = input_variable(editor, BuiltIn.SubgroupLocalInvocationId) if is_for_lanes else 0
        by_memory = is_for_lanes and support.moves == "local"
        sub_group = input_variable(editor, BuiltIn.SubgroupId) if by_memory else 0
        super().__init__(editor, grids)
        self.cut = Plain(editor, self.cut.table, self.cut.grids, self.cut.constants, self.cut.annotations,
                         support=support, lanes=lanes, lane=lane, sub_group=sub_group)
        if is_for_lanes:
            _require_size(editor, lanes)

    def _constant(self, row: Instruction, grid: Grid) -> tuple[Instruction, ...]:
        """A constant matrix: an array of its one component."""
        part = row.words[0]
        made: list[Instruction] = []
        if grid.kind.component == INT4:
            value = self.editor.integer(part) or 0
            part = self.editor.constant((value & 7) - (value & 8) & 0xFF, 8)
        self.cut.constants[row.result_id or 0] = [part] * grid.count
        count = 1 if row.opcode in REPLICATED else grid.count
        return (*made, self.editor.add(Instruction(row.opcode, row.type_id, row.result_id, (part,) * count)))

    def _change(self, body: Body) -> None:
        remove_unreachable(body)
        for block in list(body.blocks):
            if any(row.opcode in self.branching for row in block.instructions):
                keep_header(self.editor, body, block)
        for block in body.blocks:
            self.editor.add(make(Op.Label, result_id=block.label))
        assert isinstance(self.cut, Plain)
        to = Lowering(self.cut, body)
        for block in body.blocks:
            to.enter(block)
            for row in block.instructions:
                self._rewrite(to, row)
            to.leave()
        body.blocks = to.blocks
        for first, last in to.split.items():
            rename_parent(body, body.block(last), first)
        start = body.blocks[0]
        place = first_place(start)
        taken = [row for parameter in body.parameters if (grid := self.cut.grid(parameter.type_id)) is not None
                 for row in to.apart(parameter.result_id or 0, grid)]
        start.instructions[place:place] = [*to.variables, *to.lanes.start, *taken]

    def _each(self, to: Rewriting, row: Instruction, grid: Grid) -> None:
        assert isinstance(to, Lowering)
        assert isinstance(grid, Components)
        (operations.phi if row.opcode == Op.Phi else operations.elementwise)(to, row, grid)


def _require_size(editor: FunctionEditor, lanes: int) -> None:
    """Every kernel requires the size of sub-groups that the code is for."""
    module = editor.module
    added = [make(Op.ExecutionMode, entry.function_id, Mode.SubgroupSize, lanes) for entry in module.entry_points
             if all(mode != Mode.SubgroupSize for mode, _ in module.execution_modes(entry.function_id))]
    place = 1 + max(i for i, row in enumerate(editor.head)
                    if row.opcode in (Op.EntryPoint, Op.ExecutionMode, Op.ExecutionModeId))
    editor.head[place:place] = added

