"""Matrices in memory and in variables, cut: loads, stores, access chains, components."""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd

from coopmat.devices.lane_layout import WORD_BITS, rows_per_word
from coopmat.spirv.analysis.types import IntType
from coopmat.spirv.grammar import CHAINS, AddressingModel, MemoryAccess, Op, StorageClass
from coopmat.spirv.grammar import CooperativeMatrixLayout as Layout
from coopmat.spirv.grammar import CooperativeMatrixUse as Use
from coopmat.spirv.module.instruction import Instruction
from coopmat.spirv.transform.cut.grids import Grid
from coopmat.spirv.transform.cut.rewriting import Rewriting

_STEPPING = frozenset({Op.TypeArray, Op.TypeRuntimeArray, Op.TypeVector, Op.TypeCooperativeMatrixKHR})

# --- strided rectangles ------------------------------------------------------------------


def load(to: Rewriting, row: Instruction) -> bool:
    """OpCooperativeMatrixLoadKHR: one for each tile."""
    grid = to.cut.grid(row.type_id)
    if grid is None:
        return False
    pointer, layout, *rest = row.words
    places = _Places(to, grid, pointer, layout, rest[:1])
    for place, result in zip(grid.places(), to.results(row), strict=True):
        to.let(Op.CooperativeMatrixLoadKHR, grid.tile_id, places.pointer(*place), layout, *rest[:1],
               *places.access(rest[1:], *place), result=result)
    return True


def store(to: Rewriting, row: Instruction) -> bool:
    """OpCooperativeMatrixStoreKHR: one for each tile."""
    pointer, value, layout, *rest = row.words
    grid = to.cut.grid(to.type_id(value))
    if grid is None:
        return False
    places = _Places(to, grid, pointer, layout, rest[:1])
    for place, tile in zip(grid.places(), to.tiles_of(value), strict=True):
        to.do(Op.CooperativeMatrixStoreKHR, places.pointer(*place), tile, layout, *rest[:1],
              *places.access(rest[1:], *place))
    return True


class _Places:
    """Where the tiles of a matrix in memory begin: so many strides and so many elements behind its own beginning."""

    def __init__(self, to: Rewriting, grid: Grid, pointer: int, layout: int, stride: list[int]) -> None:
        self.to = to
        self.base = pointer
        module = to.editor.module
        model = next(iter(module.of_opcode(Op.MemoryModel))).words[0]
        self.index = to.editor.unique(Op.TypeInt, 64 if model == AddressingModel.Physical64 else 32, 0)
        component = grid.kind.component
        bits = component.width if isinstance(component, IntType) else 8 * component.size
        self.unit = to.cut.table.pointee(to.cut.table[to.type_id(pointer)]).size
        order = module.constant_value(layout)
        is_packed = order == Layout.PackedINTEL and grid.kind.use == Use.MatrixBKHR
        along = WORD_BITS if is_packed else bits
        if order == Layout.ColumnMajorKHR:
            self.steps = (lambda row, column: column * grid.columns, lambda row, column: row * grid.rows * bits)
        else:
            self.steps = (lambda row, column: row * grid.rows // (rows_per_word(bits) if is_packed else 1),
                          lambda row, column: column * grid.columns * along)
        self.stride = to.resized(stride[0], self.index) if stride else to.number(0, self.index)
        self.known = module.constant_value(stride[0]) if stride and module.defines(stride[0]) else None
        self.strides: dict[int, int] = {}

    def _elements(self, row: int, column: int) -> tuple[int, int]:
        """How many strides, and how many of what the pointer points to besides."""
        return self.steps[0](row, column), self.steps[1](row, column) // (8 * self.unit)

    def pointer(self, row: int, column: int) -> int:
        """The pointer to a tile."""
        count, further = self._elements(row, column)
        to = self.to
        offset = to.number(further, self.index)
        if count:
            if count not in self.strides:
                self.strides[count] = to.let(Op.IMul, self.index, self.stride, to.number(count, self.index))
            offset = to.let(Op.IAdd, self.index, self.strides[count], offset) if further else self.strides[count]
        elif not further:
            return self.base
        return to.let(Op.PtrAccessChain, to.type_id(self.base), self.base, offset)

    def access(self, words: list[int], row: int, column: int) -> list[int]:
        """The memory operands of a tile: it is aligned only as far as that is known."""
        if not words or not words[0] & MemoryAccess.Aligned:
            return words
        count, further = self._elements(row, column)
        stride = self.known if isinstance(self.known, int) else 1
        return [words[0], gcd(words[1], count * stride * self.unit, further * self.unit), *words[2:]]


# --- windows (SPV_INTEL_joint_matrix) ------------------------------------------------------


def load_checked(to: Rewriting, row: Instruction) -> bool:
    """The same window, at another place for each tile."""
    return _checked(to, row, None, 1, 3)


def store_checked(to: Rewriting, row: Instruction) -> bool:
    """The same of a store."""
    return _checked(to, row, 3, 1, 4)


def construct_checked(to: Rewriting, row: Instruction) -> bool:
    """The same of a matrix that is filled inside of a window."""
    return _checked(to, row, None, 0, None)


def _checked(to: Rewriting, row: Instruction, value: int | None, first: int, layout: int | None) -> bool:
    """``value``: the place of the matrix among the words, ``first`` that of the window's row, which is one of memory:
    of a column-major matrix its column; ``layout`` that of the layout, if the matrix lies in memory."""
    grid = to.cut.grid(row.type_id if value is None else to.type_id(row.words[value]))
    if grid is None:
        return False
    tiles = to.results(row) if value is None else to.tiles_of(row.words[value])
    order = Layout.RowMajorKHR if layout is None else to.editor.module.constant_value(row.words[layout])
    for (down, across), tile in zip(grid.places(), tiles, strict=True):
        words = list(row.words)
        place = [down * grid.rows, across * grid.columns]
        if order == Layout.ColumnMajorKHR:
            place.reverse()
        elif order == Layout.PackedINTEL and grid.kind.use == Use.MatrixBKHR:
            together = rows_per_word(8 * grid.kind.component.size)
            place = [place[0] // together, place[1] * together]
        words[first] = to.plus(words[first], place[0])
        words[first + 1] = to.plus(words[first + 1], place[1])
        if value is not None:
            words[value] = tile
        to.again(row, words, *((None, None) if value is not None else (grid.tile_id, tile)))
    return True


# --- variables -----------------------------------------------------------------------------


def load_variable(to: Rewriting, row: Instruction) -> bool:
    """OpLoad of a matrix."""
    grid = to.cut.grid(row.type_id)
    if grid is None:
        return False
    access = _access(row.words[1:], grid)
    for place, result in enumerate(to.results(row)):
        to.let(Op.Load, grid.tile_id, _tile_pointer(to, row.words[0], grid, place), *access, result=result)
    return True


def store_variable(to: Rewriting, row: Instruction) -> bool:
    """OpStore of a matrix."""
    grid = to.cut.grid(to.type_id(row.words[1]))
    if grid is None:
        return False
    access = _access(row.words[2:], grid)
    for place, tile in enumerate(to.tiles_of(row.words[1])):
        to.do(Op.Store, _tile_pointer(to, row.words[0], grid, place), tile, *access)
    return True


def _access(words: Sequence[int], grid: Grid) -> list[int]:
    """The memory operands of a tile in a variable: it is aligned as its components are."""
    if not words or not words[0] & MemoryAccess.Aligned:
        return list(words)
    return [words[0], gcd(words[1], grid.kind.component.size), *words[2:]]


def _tile_pointer(to: Rewriting, pointer: int, grid: Grid, place: int) -> int:
    storage = to.editor.definition(to.type_id(pointer)).words[0]
    return to.let(Op.AccessChain, to.editor.type_pointer(storage, grid.tile_id), pointer, to.number(place, to.uint))


def chain(to: Rewriting, row: Instruction) -> bool:
    """An access chain to a component of a matrix goes to that of a tile."""
    first = CHAINS[Op(row.opcode)]
    type_id = to.editor.definition(to.type_id(row.words[0])).words[1]
    words = list(row.words[:first])
    found = False
    for index in row.words[first:]:
        grid = to.cut.grid(type_id)
        words += [index] if grid is None else to.split_index(index, grid)
        found = found or grid is not None
        type_id = _member(to, type_id, to.editor.integer(index) or 0)
    if found:
        to.again(row, words, row.type_id, row.result_id)
    return found


def _member(to: Rewriting, type_id: int, index: int) -> int:
    """The type of a member or component."""
    grid = to.cut.grid(type_id)
    kind = to.editor.definition(type_id if grid is None else grid.tile_id)
    return kind.words[0] if kind.opcode in _STEPPING else kind.words[index]


# --- components of values --------------------------------------------------------------------


def extract(to: Rewriting, row: Instruction) -> bool:
    """OpCompositeExtract of a matrix's component: by way of a variable, as its tile is not known before it runs."""
    value, *path = row.words
    end = _end_in_matrix(to, to.type_id(value), path)
    if end is None:
        return False
    grid, held = _held(to, value, path[:end])
    to.let(Op.Load, row.type_id or 0, _component(to, held, grid, path[end]), result=row.result_id)
    return True


def insert(to: Rewriting, row: Instruction) -> bool:
    """OpCompositeInsert of a component."""
    part, value, *path = row.words
    end = _end_in_matrix(to, to.type_id(value), path)
    if end is None:
        return False
    grid, held = _held(to, value, path[:end])
    to.do(Op.Store, _component(to, held, grid, path[end]), part)
    if end:
        changed = to.let(Op.Load, grid.type_id, held)
        to.let(Op.CompositeInsert, row.type_id or 0, changed, value, *path[:end], result=row.result_id)
        return True
    for place, result in enumerate(to.results(row)):
        to.let(Op.Load, grid.tile_id, _tile_pointer(to, held, grid, place), result=result)
    return True


def _end_in_matrix(to: Rewriting, type_id: int, path: list[int]) -> int | None:
    """Behind how many indices a path is at a matrix that is cut, and goes on."""
    for place, index in enumerate(path):
        if to.cut.grid(type_id) is not None:
            return place
        type_id = _member(to, type_id, index)
    return None


def _held(to: Rewriting, value: int, path: list[int]) -> tuple[Grid, int]:
    """A variable that holds the matrix to which a path leads."""
    type_id = to.type_id(value)
    for index in path:
        type_id = _member(to, type_id, index)
    grid = to.cut.as_grid(type_id)
    held = to.variable(type_id)
    if path:
        to.do(Op.Store, held, to.let(Op.CompositeExtract, type_id, value, *path))
    else:
        for place, tile in enumerate(to.tiles_of(value)):
            to.do(Op.Store, _tile_pointer(to, held, grid, place), tile)
    return grid, held


def _component(to: Rewriting, held: int, grid: Grid, index: int) -> int:
    component = to.editor.definition(grid.tile_id).words[0]
    return to.let(Op.AccessChain, to.editor.type_pointer(StorageClass.Function, component), held,
                  *to.split_index(to.number(index, to.uint), grid))
