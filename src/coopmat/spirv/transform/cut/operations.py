"""Operations on matrices that are cut: products, functions on elements, reductions, coordinates."""

from __future__ import annotations

from functools import reduce
from itertools import product

from coopmat.spirv.analysis.matrix_uses import format_name
from coopmat.spirv.edit.functions import Body
from coopmat.spirv.grammar import CooperativeMatrixReduce as Reduce
from coopmat.spirv.grammar import FunctionControl, Op
from coopmat.spirv.module.content import Block
from coopmat.spirv.module.instruction import Instruction, make
from coopmat.spirv.transform.cut.choice import wider
from coopmat.spirv.transform.cut.grids import Grid
from coopmat.spirv.transform.cut.rewriting import Rewriting


def multiply_accumulate(to: Rewriting, row: Instruction) -> bool:
    """Each tile of the result is a chain of products along K, in ascending order: C, the first k, the next …"""
    a, b, c = row.words[:3]
    grids = [to.cut.as_grid(to.type_id(value)) for value in (a, b, c)]
    result = to.cut.as_grid(row.type_id or 0)
    tiles = [to.tiles_of(value) for value in (a, b, c)]
    steps = grids[0].across
    between = result if wider(*(format_name(grid.kind, False) for grid in (grids[2], result))) == format_name(
        result.kind, False) else grids[2]
    for (down, across), found in zip(result.places(), to.results(row), strict=True):
        total = tiles[2][result.at(down, across)]
        for k in range(steps):
            is_last = k == steps - 1
            total = to.let(Op.CooperativeMatrixMulAddKHR, (result if is_last else between).tile_id,
                           tiles[0][grids[0].at(down, k)], tiles[1][grids[1].at(k, across)], total, *row.words[3:],
                           result=found if is_last else None)
    return True


def length(to: Rewriting, row: Instruction) -> bool:
    """The lengths of all tiles."""
    grid = to.cut.grid(row.words[0])
    if grid is None:
        return False
    one = to.let(Op.CooperativeMatrixLengthKHR, row.type_id or 0, grid.tile_id)
    to.let(Op.IMul, row.type_id or 0, one, to.number(grid.count, row.type_id or 0), result=row.result_id)
    return True


def coordinates(to: Rewriting, row: Instruction) -> bool:
    """Where a component stands in its tile, and where that one stands; what is no element of its tile is none of the
    matrix."""
    value, index = row.words
    grid = to.cut.grid(to.type_id(value))
    if grid is None:
        return False
    pair = row.type_id or 0
    integer = to.editor.definition(pair).words[0]
    tile, component = to.split_index(index, grid)
    inside = to.let(Op(row.opcode), pair, to.tiles_of(value)[0], component)
    number = to.resized(tile, integer)
    across = to.number(grid.across, integer)
    starts = [to.let(Op.IMul, integer, to.let(op, integer, number, across), to.number(size, integer))
              for op, size in ((Op.UDiv, grid.rows), (Op.UMod, grid.columns))]
    place = to.let(Op.IAdd, pair, inside, to.let(Op.CompositeConstruct, pair, *starts))
    if to.cut.is_padded(grid):
        outside = [to.number(size, integer) for size in (grid.kind.rows, grid.kind.columns)]
        held = to.let(Op.ULessThan, to.editor.unique(Op.TypeVector, to.bool, 2), inside, to.let(
            Op.CompositeConstruct, pair, to.number(grid.rows, integer), to.number(grid.columns, integer)))
        both = to.let(Op.All, to.bool, held)
        place = to.let(Op.Select, pair, to.let(Op.CompositeConstruct, to.editor.unique(Op.TypeVector, to.bool, 2), both,
                                               both), place, to.let(Op.CompositeConstruct, pair, *outside))
    to.let(Op.CopyObject, pair, place, result=row.result_id)
    return True


# --- functions on elements -------------------------------------------------------------------


def each_element(to: Rewriting, row: Instruction) -> bool:
    """OpCooperativeMatrixPerElementOpEXT: the function of a tile adds the tile's place to row and column."""
    grid = to.cut.grid(row.type_id)
    if grid is None:
        return False
    value, function, *others = row.words
    tiles = [to.tiles_of(one) if to.cut.is_cut(one) else [one] * grid.count for one in (value, *others)]
    for number, ((down, across), found) in enumerate(zip(grid.places(), to.results(row), strict=True)):
        moved = _moved(to, function, down * grid.rows, across * grid.columns)
        first, *further = (one[number] for one in tiles)
        to.let(Op.CooperativeMatrixPerElementOpEXT, grid.tile_id, first, moved, *further, result=found)
    return True


def _moved(to: Rewriting, function: int, row: int, column: int) -> int:
    """A function that calls another one with row and column moved on."""
    if row == column == 0:
        return function
    type_id = to.editor.definition(function).words[1]
    key = (function, row, column)
    if key not in to.cut.added:
        body, parameters = _function(to, type_id)
        rows = body.blocks[0].instructions
        for place, number in enumerate((row, column)):
            integer = to.type_id(parameters[place])
            if number:
                rows.append(to.editor.row(Op.IAdd, integer, parameters[place], to.number(number, integer)))
                parameters[place] = rows[-1].result_id or 0
        _end_with_call(to, body, function, parameters)
        to.cut.added[key] = body
    return to.cut.added[key].id


def _pairwise(to: Rewriting, function: int) -> int:
    """A function on each element of a matrix and of another one, from one on two elements."""
    key = (function,)
    if key not in to.cut.added:
        element = to.editor.definition(function).type_id or 0
        type_id = to.editor.unique(Op.TypeFunction, element, to.uint, to.uint, element, element)
        body, parameters = _function(to, type_id)
        _end_with_call(to, body, function, parameters[2:])
        to.cut.added[key] = body
    return to.cut.added[key].id


def _function(to: Rewriting, type_id: int) -> tuple[Body, list[int]]:
    """A new function of a type, and its parameters."""
    editor = to.editor
    result, *types = editor.definition(type_id).words
    head = [editor.row(Op.Function, result, FunctionControl(0), type_id)]
    head += [editor.row(Op.FunctionParameter, one) for one in types]
    return Body(head, [Block(editor.new_id())]), [row.result_id or 0 for row in head[1:]]


def _end_with_call(to: Rewriting, body: Body, function: int, arguments: list[int]) -> None:
    call = to.editor.row(Op.FunctionCall, body.instruction.type_id or 0, function, *arguments)
    body.blocks[0].instructions += [call, make(Op.ReturnValue, call.result_id or 0)]


# --- reductions --------------------------------------------------------------------------------


def reduction(to: Rewriting, row: Instruction) -> bool:
    """Each tile is reduced by itself; then those of a row or column of tiles are combined, in ascending order."""
    value, axes, function = row.words
    given, kind = to.cut.as_grid(to.type_id(value)), to.cut.as_grid(row.type_id or 0)
    tiles = to.tiles_of(value)
    reduced = [to.let(Op.CooperativeMatrixReduceEXT, kind.tile_id, one, axes, function,
                      result=found if axes == Reduce._2x2 else None)
               for one, found in zip(tiles, to.results(row) if axes == Reduce._2x2 else tiles, strict=True)]
    if axes == Reduce._2x2:
        return True
    totals: dict[tuple[int, int], int] = {}
    for (down, across), found in zip(kind.places(), to.results(row), strict=True):
        place = (0 if axes & Reduce.Column else down, 0 if axes & Reduce.Row else across)
        if place not in totals:
            totals[place] = _combined(to, kind, function, [reduced[number] for number in _line(given, axes, *place)])
        to.let(Op.CopyObject, kind.tile_id, totals[place], result=found)
    return True


def _line(grid: Grid, axes: int, row: int, column: int) -> list[int]:
    """The tiles that are combined."""
    rows = range(grid.down) if axes & Reduce.Column else [row]
    columns = range(grid.across) if axes & Reduce.Row else [column]
    return [grid.at(*place) for place in product(rows, columns)]


def _combined(to: Rewriting, kind: Grid, function: int, tiles: list[int]) -> int:
    if len(tiles) == 1:
        return tiles[0]
    pairwise = _pairwise(to, function)
    return reduce(lambda one, other: to.let(Op.CooperativeMatrixPerElementOpEXT, kind.tile_id, one, pairwise, other),
                  tiles)
