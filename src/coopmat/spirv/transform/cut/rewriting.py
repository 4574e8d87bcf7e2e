"""What rewrites a function whose matrices are cut: the tiles of each value, and new instructions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from coopmat.spirv.analysis.types import MatrixType, TypeTable
from coopmat.spirv.edit.functions import Body, FunctionEditor, with_words
from coopmat.spirv.grammar import Op, StorageClass
from coopmat.spirv.module.instruction import Instruction, make
from coopmat.spirv.transform.cut.grids import Grid

_LENGTH_BITS = 32  # of what OpCooperativeMatrixLengthKHR gives


@dataclass
class Cut:
    """A module being cut: ``grids`` by the types that are, ``constants`` the tiles of constant matrices, ``added`` the
    functions that are new, by what they are for; ``sub_group_sizes`` those of the device, if it is known."""

    editor: FunctionEditor
    table: TypeTable
    grids: Mapping[int, Grid]
    constants: dict[int, list[int]]
    annotations: Mapping[int, Sequence[Instruction]]
    sub_group_sizes: tuple[int, ...] = ()
    added: dict[tuple[int, ...], Body] = field(default_factory=dict)

    def grid(self, type_id: int | None) -> Grid | None:
        """The grid of a type that is cut."""
        return self.grids.get(type_id or 0)

    def is_cut(self, identifier: int) -> bool:
        """Whether an id is a type that is cut, or a value of one."""
        return identifier in self.grids or self.editor.definition(identifier).type_id in self.grids

    def is_padded(self, grid: Grid) -> bool:
        """Whether some components of a tile may be none of its elements."""
        return not self.sub_group_sizes or any(grid.rows * grid.columns % size for size in self.sub_group_sizes)

    def as_grid(self, type_id: int) -> Grid:
        """The grid of any matrix type: of one that is not cut it has one tile."""
        found = self.grids.get(type_id)
        if found is not None:
            return found
        kind = self.table[type_id]
        assert isinstance(kind, MatrixType)
        return Grid(type_id, type_id, kind, kind.rows, kind.columns)


class Rewriting:
    """One function: ``tiles`` are the values of each matrix; ``rows`` takes new instructions."""

    def __init__(self, cut: Cut, body: Body) -> None:
        self.cut = cut
        self.editor = cut.editor
        self.uint = cut.editor.unique(Op.TypeInt, _LENGTH_BITS, 0)
        self.bool = cut.editor.unique(Op.TypeBool)
        self.tiles: dict[int, list[int]] = {}
        self.rows: list[Instruction] = []
        self.variables: list[Instruction] = []
        for row in (*body.parameters, *body.rows()):
            grid = cut.grid(row.type_id)
            if grid is not None and row.result_id is not None:
                self.tiles[row.result_id] = self._named(row.result_id, grid)

    def _named(self, value: int, grid: Grid) -> list[int]:
        """Ids for the tiles of a value, with its name and decorations."""
        found = [self.editor.new_id() for _ in range(grid.count)]
        for row in self.cut.annotations.get(value, ()):
            if row.opcode == Op.Name:
                name = self.editor.module.names[value]
                self.editor.annotate(make(Op.Name, one, f"{name}_{place}") for place, one in enumerate(found))
            else:
                self.editor.annotate(with_words(row, (one, *row.words[1:])) for one in found)
        return found

    # --- values --------------------------------------------------------------------------

    def type_id(self, value: int) -> int:
        """The type of a value."""
        return self.editor.definition(value).type_id or 0

    def tiles_of(self, value: int) -> list[int]:
        """The tiles of a matrix; of one that is not cut, itself."""
        grid = self.cut.grid(self.type_id(value))
        if grid is None:
            return [value]
        found = self.tiles.get(value) or self.cut.constants.get(value)
        if found is None:  # undefined, or null
            op = Op(self.editor.definition(value).opcode)
            found = self.cut.constants[value] = [self.editor.unique(op, type_id=grid.tile_id)] * grid.count
        return found

    def results(self, row: Instruction) -> list[int]:
        """The ids of the tiles of an instruction's result."""
        result = row.result_id or 0
        return self.tiles.get(result, [result])

    def whole(self, value: int) -> int:
        """The array of a matrix's tiles; any other value is itself."""
        if value not in self.tiles:
            return value
        return self.let(Op.CompositeConstruct, self.type_id(value), *self.tiles[value])

    def apart(self, value: int, grid: Grid) -> list[Instruction]:
        """What takes the tiles out of an array."""
        return [self.editor.row(Op.CompositeExtract, grid.tile_id, value, place, result=one)
                for place, one in enumerate(self.tiles[value])]

    # --- instructions ----------------------------------------------------------------------

    def let(self, op: Op, type_id: int, *words: int, result: int | None = None) -> int:
        """An instruction with a result, and its id."""
        row = self.editor.row(op, type_id, *words, result=result)
        self.rows.append(row)
        return row.result_id or 0

    def do(self, op: Op, *words: int) -> None:
        """An instruction without a result."""
        self.rows.append(make(op, *words))

    def again(self, row: Instruction, words: Iterable[int], type_id: int | None, result: int | None) -> None:
        """An instruction with other operands and another result."""
        self.rows.append(self.editor.add(Instruction(row.opcode, type_id, result, tuple(words), row.offset,
                                                     row.context)))

    def variable(self, type_id: int) -> int:
        """A new variable of the function."""
        pointer = self.editor.type_pointer(StorageClass.Function, type_id)
        row = self.editor.row(Op.Variable, pointer, StorageClass.Function)
        self.variables.append(row)
        return row.result_id or 0

    # --- integers --------------------------------------------------------------------------

    def number(self, value: int, type_id: int) -> int:
        """A constant of an integer type."""
        bits = self.editor.definition(type_id).words[0]
        words = [value >> 32 * place & 0xFFFFFFFF for place in range(max(1, bits // 32))]
        return self.editor.unique(Op.Constant, *words, type_id=type_id)

    def plus(self, value: int, number: int) -> int:
        """An integer and a constant."""
        type_id = self.type_id(value)
        return self.let(Op.IAdd, type_id, value, self.number(number, type_id)) if number else value

    def resized(self, value: int, type_id: int) -> int:
        """An integer as one of another type, with its sign."""
        kind = self.type_id(value)
        if kind == type_id:
            return value
        bits, wanted = (self.editor.definition(one).words[0] for one in (kind, type_id))
        return self.let(Op.Bitcast if bits == wanted else Op.SConvert, type_id, value)

    def split_index(self, index: int, grid: Grid) -> tuple[int, int]:
        """The tile that a component lies in, and the component's number there."""
        type_id = self.type_id(index)
        length = self.resized(self.let(Op.CooperativeMatrixLengthKHR, self.uint, grid.tile_id), type_id)
        return self.let(Op.UDiv, type_id, index, length), self.let(Op.UMod, type_id, index, length)
