"""Large matrices become grids of tiles.

The type of a matrix becomes an array of tiles, so that all that is made of it (pointers, arrays, structures, functions)
stays as it is. A value of the type becomes a value for each tile; where a whole one is needed (members, arguments,
results) it is an array. Component i of a matrix is component i % L of tile i / L, L being the length of a tile.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from coopmat.spirv.analysis.types import MatrixType, TypeTable
from coopmat.spirv.edit.functions import Body, FunctionEditor, first_place, remove_unreachable, with_words
from coopmat.spirv.edit.ordering import LINES, ordered
from coopmat.spirv.grammar import CHAINS, CONVERSIONS, Decoration, Op
from coopmat.spirv.module import Module
from coopmat.spirv.module.content import Block
from coopmat.spirv.module.instruction import Instruction, make
from coopmat.spirv.transform.cut import memory, operations
from coopmat.spirv.transform.cut.choice import Tile, chosen_tiles
from coopmat.spirv.transform.cut.grids import Grid
from coopmat.spirv.transform.cut.rewriting import Cut, Rewriting
from coopmat.spirv.transform.goal import Goal, Say

REPLICATED = frozenset({Op.ConstantCompositeReplicateEXT, Op.SpecConstantCompositeReplicateEXT})
_COMPOSED = REPLICATED | {Op.ConstantComposite, Op.SpecConstantComposite}
ELEMENTWISE = CONVERSIONS | {
    Op.FNegate, Op.SNegate, Op.FAdd, Op.IAdd, Op.FSub, Op.ISub, Op.FMul, Op.IMul, Op.FDiv, Op.SDiv, Op.UDiv,
    Op.MatrixTimesScalar, Op.Bitcast, Op.CopyObject, Op.CopyLogical, Op.Select, Op.CooperativeMatrixConvertUseEXT,
    Op.CooperativeMatrixTransposeNV, Op.ConvertFToBF16INTEL, Op.ConvertBF16ToFINTEL, Op.RoundFToTF32INTEL,
    Op.CompositeConstruct, Op.CompositeConstructReplicateEXT, Op.FreezeKHR, Op.Undef, Op.Phi}
"""Instructions that do with each tile what they do with the matrix; one that transposes turns the grid, too."""

Handler = Callable[[Rewriting, Instruction], bool]
"""Rewrites an instruction; False where it has nothing to do with a matrix that is cut."""
HANDLERS: Mapping[int, Handler] = {
    Op.CooperativeMatrixLoadKHR: memory.load,
    Op.CooperativeMatrixStoreKHR: memory.store,
    Op.CooperativeMatrixLoadCheckedINTEL: memory.load_checked,
    Op.CooperativeMatrixStoreCheckedINTEL: memory.store_checked,
    Op.CooperativeMatrixConstructCheckedINTEL: memory.construct_checked,
    Op.Load: memory.load_variable,
    Op.Store: memory.store_variable,
    **dict.fromkeys(map(int, CHAINS), memory.chain),
    Op.CompositeExtract: memory.extract,
    Op.CompositeInsert: memory.insert,
    Op.CooperativeMatrixMulAddKHR: operations.multiply_accumulate,
    Op.CooperativeMatrixLengthKHR: operations.length,
    Op.CooperativeMatrixGetElementCoordINTEL: operations.coordinates,
    Op.CooperativeMatrixGetCoordinateEXT: operations.coordinates,
    Op.CooperativeMatrixPerElementOpEXT: operations.each_element,
    Op.CooperativeMatrixReduceEXT: operations.reduction,
}
_ONLY_WHERE_CUT = frozenset({Op.CooperativeMatrixMulAddKHR, Op.CooperativeMatrixReduceEXT})


def cut(module: Module, goal: Goal, say: Say) -> Module:
    """The module with large matrices cut into those that the goal's device has."""
    if goal.matrices is None and goal.tile is None:
        say("nothing is cut without a device or a tile")
        return module
    if goal.tile is None and goal.matrices is not None and goal.matrices.any_combination:
        name = goal.matrices.name if goal.device is None else goal.device.device_name
        say(f"nothing is cut: {name} has every shape")
        return module
    tiles = chosen_tiles(module, goal, say)
    sizes = goal.device.sub_group_sizes if goal.device is not None and goal.tile is None else ()
    if not tiles:
        return module
    editor, table = FunctionEditor(module), TypeTable(module, 1)
    grids = {type_id: _grid(editor, type_id, table[type_id], tile) for type_id, tile in tiles.items()}
    return Splitting(editor, grids, sizes).done()


def _grid(editor: FunctionEditor, type_id: int, kind: object, tile: Tile) -> Grid:
    assert isinstance(kind, MatrixType)
    component, scope, _, _, use = editor.definition(type_id).words
    return Grid(type_id, _matrix_type(editor, component, scope, tile, use), kind, *tile)


def _matrix_type(editor: FunctionEditor, component: int, scope: int, tile: Tile, use: int) -> int:
    """The one matrix type of a shape: the module may have it already, with other constants of the same value."""
    wanted = [editor.integer(scope), *tile, editor.integer(use)]
    for row in editor.head:
        if row.opcode == Op.TypeCooperativeMatrixKHR and row.words[0] == component and [
                editor.integer(word) for word in row.words[1:]] == wanted:
            return row.result_id or 0
    made = make(Op.TypeCooperativeMatrixKHR, component, scope, *map(editor.constant, tile), use,
                result_id=editor.new_id())
    editor.head.append(editor.add(made))
    return made.result_id or 0


class Splitting:
    """Rewrites a module whose matrices become arrays of parts: ``grids`` says of which, by type."""

    handlers: Mapping[int, Handler] = HANDLERS
    elementwise: frozenset[Op] = ELEMENTWISE

    def __init__(self, editor: FunctionEditor, grids: Mapping[int, Grid], sub_group_sizes: tuple[int, ...] = ()
                 ) -> None:
        self.editor = editor
        table = TypeTable(editor.module, 1)
        self.cut = Cut(editor, table, grids, {}, editor.annotations(), sub_group_sizes)
        self._change_head()

    def done(self) -> Module:
        for body in self.editor.bodies:
            if body.blocks:
                self._change(body)
        self.editor.bodies += self.cut.added.values()
        return self.editor.done()

    # --- types and constants -------------------------------------------------------------

    def _change_head(self) -> None:
        """The types become arrays, and so do constants of them."""
        editor = self.editor
        counts = {type_id: editor.constant(grid.count) for type_id, grid in self.cut.grids.items()}
        head: list[Instruction] = []
        for row in editor.head:
            own, grid = self.cut.grid(row.result_id), self.cut.grid(row.type_id)
            if own is not None:
                head.append(editor.add(make(Op.TypeArray, own.tile_id, counts[own.type_id], result_id=own.type_id)))
            elif grid is not None and row.opcode in _COMPOSED:
                head += self._constant(row, grid)
            elif row.opcode != Op.Name or row.words[0] not in self.cut.grids:
                head.append(row)
        start = next(i for i, row in enumerate(head) if row.type_id is not None or row.name.startswith("OpType"))
        editor.head = [*head[:start], *ordered(head[start:])]

    def _constant(self, row: Instruction, grid: Grid) -> tuple[Instruction, ...]:
        """A constant matrix: that of a tile, and an array of it."""
        tile = Instruction(row.opcode, grid.tile_id, self.editor.new_id(), row.words)
        count = 1 if row.opcode in REPLICATED else grid.count
        whole = Instruction(row.opcode, row.type_id, row.result_id, (tile.result_id or 0,) * count)
        self.cut.constants[row.result_id or 0] = [tile.result_id or 0] * grid.count
        return self.editor.add(tile), self.editor.add(whole)

    # --- functions -------------------------------------------------------------------------

    def _change(self, body: Body) -> None:
        remove_unreachable(body)
        to = Rewriting(self.cut, body)
        blocks = []
        for block in body.blocks:
            to.rows = []
            for row in block.instructions:
                self._rewrite(to, row)
            blocks.append(Block(block.label, to.rows))
        body.blocks = blocks
        taken = [row for parameter in body.parameters if (grid := self.cut.grid(parameter.type_id)) is not None
                 for row in to.apart(parameter.result_id or 0, grid)]
        place = first_place(blocks[0])
        blocks[0].instructions[place:place] = [*to.variables, *taken]

    def _rewrite(self, to: Rewriting, row: Instruction) -> None:
        if row.opcode in LINES:
            to.rows.append(row)
            return
        grid = self.cut.grid(row.type_id)
        places = row.id_places()
        is_touched = grid is not None or any(self.cut.is_cut(row.words[place]) for place in places)
        handler = self.handlers.get(row.opcode)
        if handler is not None and (is_touched or row.opcode not in _ONLY_WHERE_CUT) and handler(to, row):
            return
        if not is_touched:
            to.rows.append(row)
        elif grid is not None and row.opcode in self.elementwise:
            self._each(to, row, grid)
        else:
            self._as_arrays(to, row, grid)

    def _as_arrays(self, to: Rewriting, row: Instruction, grid: Grid | None) -> None:
        """What needs whole matrices gets arrays."""
        words = list(row.words)
        for place in row.id_places():
            words[place] = to.whole(words[place])
        to.rows.append(with_words(row, words))
        if grid is not None:
            to.rows += to.apart(row.result_id or 0, grid)

    def _each(self, to: Rewriting, row: Instruction, grid: Grid) -> None:
        """The same instruction for each tile."""
        turned = row.opcode == Op.CooperativeMatrixTransposeNV or any(
            one.opcode == Op.Decorate and one.words[1] == Decoration.CooperativeMatrixTransposeEXT
            for one in self.cut.annotations.get(row.result_id or 0, ()))
        places = row.id_places()
        for number, ((down, across), result) in enumerate(zip(grid.places(), to.results(row), strict=True)):
            words = list(row.words)
            for place in places:
                given = self.cut.grid(to.editor.definition(words[place]).type_id)
                if given is not None:
                    words[place] = to.tiles_of(words[place])[given.at(across, down) if turned else number]
            to.again(row, words, grid.tile_id, result)
