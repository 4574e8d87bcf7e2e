"""Operations on matrices as sub-group code: components, conversions, functions on elements, reductions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from coopmat.devices.lane_layout import Indices
from coopmat.diagnostics import KernelNotSupported
from coopmat.numerics.folding import halves
from coopmat.spirv.analysis.places import place_of
from coopmat.spirv.analysis.types import FloatType
from coopmat.spirv.grammar import CooperativeMatrixReduce as Reduce
from coopmat.spirv.grammar import Decoration, Op
from coopmat.spirv.module.instruction import Instruction
from coopmat.spirv.transform.matrices.lowering import INT4, Components, Lowering
from coopmat.spirv.transform.matrices.numbers import NIBBLE_MASK, low_nibble

BF16 = FloatType(16, 0)
FLOAT_ARITHMETIC = frozenset({Op.FAdd, Op.FSub, Op.FMul, Op.FDiv, Op.FNegate})
_UNSIGNED = frozenset({Op.UConvert, Op.UDiv, Op.ConvertUToF})
_SAME = frozenset({Op.CooperativeMatrixTransposeNV, Op.CooperativeMatrixConvertUseEXT, Op.CopyObject, Op.CopyLogical})
_FILLING = frozenset({Op.CompositeConstruct, Op.CompositeConstructReplicateEXT})
_STRUCTURAL = frozenset({Op.Select, Op.FreezeKHR, Op.Undef})

# --- what a work-item may ask ------------------------------------------------------------------


def length(to: Lowering, row: Instruction) -> bool:
    """OpCooperativeMatrixLengthKHR: a constant."""
    matrix = to.cut.components(row.words[0])
    if matrix is None:
        return False
    to.let(Op.CopyObject, row.type_id or 0, to.number(matrix.count, row.type_id or 0), result=row.result_id)
    return True


def coordinates(to: Lowering, row: Instruction) -> bool:
    """Row and column of a component; those of padding are behind the end."""
    value, index = row.words
    matrix = to.matrix(value)
    if matrix is None:
        return False
    pair = row.type_id or 0
    integer = to.editor.definition(pair).words[0]
    place = [_resized(to, one, integer) for one in _place(to, matrix, to.resized(index, to.uint))]
    to.let(Op.CompositeConstruct, pair, *place, result=row.result_id)
    return True


def _place(to: Lowering, matrix: Components, index: int) -> list[int]:
    """Row and column of a component whose number is known only when it runs, both of 32 bits."""
    spread, beside = matrix.spread, to.constant(matrix.spread.beside)
    found = []
    for op, step, places in ((Op.UDiv, spread.down, spread.rows_of(0)), (Op.UMod, spread.across, spread.columns_of(0))):
        part = to.let(Op.IMul, to.uint, to.let(op, to.uint, index, beside), to.constant(step))
        found.append(to.let(Op.IAdd, to.uint, part, to.lanes.index(places)))
    return found


def _resized(to: Lowering, value: int, type_id: int) -> int:
    bits = to.editor.definition(type_id).words[0]
    return value if bits == 32 and type_id == to.uint else to.let(
        Op.Bitcast if bits == 32 else Op.UConvert, type_id, value)


def extract(to: Lowering, row: Instruction) -> bool:
    """OpCompositeExtract of a component."""
    value, *path = row.words
    matrix = to.matrix(value)
    if matrix is None:
        return False
    _refuse_nibbles(to, matrix, row)
    values = to.tiles_of(value)
    found = values[path[0]] if path[0] < len(values) else to.editor.undefined(matrix.tile_id)
    to.let(Op.CopyObject, row.type_id or 0, found, result=row.result_id)
    return True


def insert(to: Lowering, row: Instruction) -> bool:
    """OpCompositeInsert of a component."""
    part, value, *path = row.words
    matrix = to.matrix(value)
    if matrix is None:
        return False
    _refuse_nibbles(to, matrix, row)
    for number, (old, result) in enumerate(zip(to.tiles_of(value), to.results(row), strict=True)):
        to.let(Op.CopyObject, matrix.tile_id, part if number == path[0] else old, result=result)
    return True


def _refuse_nibbles(to: Lowering, matrix: Components, row: Instruction) -> None:
    if matrix.kind.component == INT4:
        raise KernelNotSupported(f"{row.name} of a component of 4 bits, where matrices become sub-group code", None,
                                 place_of(to.editor.module, row))


# --- each component by itself --------------------------------------------------------------------


def elementwise(to: Lowering, row: Instruction, matrix: Components) -> None:
    """The same instruction for each component; a conversion may transpose as well."""
    given = [to.matrix(word) if place in row.id_places() else None for place, word in enumerate(row.words)]
    values = [[word] * matrix.count if one is None else to.tiles_of(word)
              for word, one in zip(row.words, given, strict=True)]
    if given and given[0] is not None and is_transposing(to, row):
        values[0] = transposed(to, values[0], given[0], matrix)
    narrow = INT4 in [one.kind.component for one in (*given, matrix) if one is not None]
    for result, *words in zip(to.results(row), *values, strict=True) if values else (
            (result,) for result in to.results(row)):
        if row.opcode in _SAME or (row.opcode in _FILLING and not narrow):
            to.let(Op.CopyObject, matrix.tile_id, words[0], result=result)
        elif narrow and row.opcode not in _STRUCTURAL:
            _narrow(to, row, matrix, given, words, result)
        elif row.opcode in FLOAT_ARITHMETIC | {Op.MatrixTimesScalar} and matrix.kind.component == BF16:
            _by_float(to, row, matrix, words, result)
        elif row.opcode == Op.MatrixTimesScalar:
            op = Op.FMul if isinstance(matrix.kind.component, FloatType) else Op.IMul
            to.let(op, matrix.tile_id, *words, result=result)
        elif row.opcode == Op.Bitcast and to.type_id(words[0]) == matrix.tile_id:
            to.let(Op.CopyObject, matrix.tile_id, words[0], result=result)
        else:
            to.again(row, words, matrix.tile_id, result)


def phi(to: Lowering, row: Instruction, matrix: Components) -> None:
    """A phi for each component."""
    for number, result in enumerate(to.results(row)):
        words = [to.tiles_of(word)[number] if place % 2 == 0 else word for place, word in enumerate(row.words)]
        to.again(row, words, matrix.tile_id, result)


def _by_float(to: Lowering, row: Instruction, matrix: Components, words: Sequence[int], result: int) -> None:
    """Arithmetic on bf16, which has none: in 32 bits, rounded once."""
    wide = to.float(32)
    op = Op.FMul if row.opcode == Op.MatrixTimesScalar else Op(row.opcode)
    found = to.let(op, wide, *(to.let(Op.FConvert, wide, word) for word in words))
    to.let(Op.FConvert, matrix.tile_id, found, result=result)


def _narrow(to: Lowering, row: Instruction, matrix: Components, given: Sequence[Components | None],
            words: Sequence[int], result: int) -> None:
    """An instruction on components of 4 bits, in bytes with their sign."""
    byte, is_narrow = to.integer(8), matrix.kind.component == INT4
    operands = []
    for word, one in zip(words, given, strict=True):
        kind = to.kind(to.type_id(word))
        if one is not None and one.kind.component == INT4 and row.opcode in _UNSIGNED:
            word = to.let(Op.BitwiseAnd, byte, word, to.number(NIBBLE_MASK, byte))
        elif kind == INT4:
            word = to.let(Op.SConvert, byte, word)
        operands.append(word)
    op = Op(row.opcode)
    if op == Op.MatrixTimesScalar:
        op = Op.IMul
    target = matrix.tile_id
    source = to.kind(to.type_id(operands[0]))
    is_conversion = op in (Op.UConvert, Op.SConvert)
    if op in _FILLING or (
            is_conversion and source == to.kind(target)):
        op = Op.CopyObject
    found = to.let(op, target, *operands, result=None if is_narrow else result)
    if is_narrow:
        low_nibble(to, found, result)


def is_transposing(to: Lowering, row: Instruction) -> bool:
    """Whether a conversion gives the transposed matrix."""
    return row.opcode == Op.CooperativeMatrixTransposeNV or any(
        one.opcode == Op.Decorate and one.words[1] == Decoration.CooperativeMatrixTransposeEXT
        for one in to.cut.annotations.get(row.result_id or 0, ()))


def transposed(to: Lowering, values: Sequence[int], given: Components, matrix: Components) -> list[int]:
    """The components of a transposed matrix, which is spread as another one is."""
    held, found = given.spread.held, []
    for component in range(matrix.count):
        rows, columns = _clamped(matrix, component)
        found.append(to.taken(values, held.lane[columns, rows], held.value[columns, rows], given.tile_id))
    return found


def _clamped(matrix: Components, component: int) -> tuple[Indices, Indices]:
    spread = matrix.spread
    return (np.minimum(spread.rows_of(component), spread.rows - 1),
            np.minimum(spread.columns_of(component), spread.columns - 1))


# --- functions on elements -------------------------------------------------------------------


def each_element(to: Lowering, row: Instruction) -> bool:
    """OpCooperativeMatrixPerElementOpEXT: a call for each component; one of padding has the place of an element."""
    matrix = to.cut.components(row.type_id)
    if matrix is None:
        return False
    value, function, *others = row.words
    parameters = to.editor.definition(to.editor.definition(function).words[1]).words[1:]
    for component, result in enumerate(to.results(row)):
        places = [_resized(to, to.lanes.index(one), kind)
                  for one, kind in zip(_clamped(matrix, component), parameters, strict=False)]
        elements = [to.tiles_of(one)[component] if to.matrix(one) is not None else one for one in (value, *others)]
        to.let(Op.FunctionCall, matrix.tile_id, function, *places, *elements, result=result)
    return True


# --- reductions --------------------------------------------------------------------------------


def reduction(to: Lowering, row: Instruction) -> bool:
    """OpCooperativeMatrixReduceEXT: columns and rows are folded by halves (numerics.folding); all take the totals."""
    matrix = to.cut.components(row.type_id)
    if matrix is None:
        return False
    value, axes, function = row.words
    given = to.matrix(value)
    assert given is not None
    fold = _Folding(to, given, function)
    if axes == Reduce._2x2:
        fold.quads(value, matrix, to.results(row))
        return True
    totals, held = fold.lines(to.tiles_of(value), axes), given.spread.held
    for component, result in enumerate(to.results(row)):
        rows, columns = _clamped(matrix, component)
        at = (rows * 0 if axes & Reduce.Column else rows, columns * 0 if axes & Reduce.Row else columns)
        found = to.taken(totals, held.lane[at], held.value[at], matrix.tile_id)
        to.let(Op.CopyObject, matrix.tile_id, found, result=result)
    return True


class _Folding:
    """Combines elements by a function of two."""

    def __init__(self, to: Lowering, given: Components, function: int) -> None:
        self.to = to
        self.given = given
        self.spread = given.spread
        self.function = function

    def _call(self, one: int, other: int) -> int:
        return self.to.let(Op.FunctionCall, self.given.tile_id, self.function, one, other)

    def lines(self, values: Sequence[int], axes: int) -> list[int]:
        """The totals of columns, of rows, or of both, at the first element of each."""
        found = list(values)
        if axes & Reduce.Column:
            found = self._line(found, 0, self.spread.rows, range(self.spread.length))
        if axes & Reduce.Row:
            rest = range(self.spread.beside) if axes & Reduce.Column else range(self.spread.length)
            found = self._line(found, 1, self.spread.columns, rest)
        return found

    def _line(self, values: Sequence[int], axis: int, count: int, components: Sequence[int]) -> list[int]:
        """Of some components those that lie in one line along an axis are combined."""
        to, held, found = self.to, self.spread.held, list(values)
        while count > 1:
            pairs, distance = halves(count)
            before = list(found)
            for component in components:
                place = list(_clamped(self.given, component))
                chosen = (self.spread.columns_of(component) if axis else self.spread.rows_of(component)) < pairs
                if not chosen.any():
                    continue
                place[axis] = np.where(chosen, place[axis] + distance, place[axis])
                at = (place[0], place[1])
                other = to.taken(before, held.lane[at], held.value[at], self.given.tile_id)
                both = self._call(before[component], other)
                found[component] = both if chosen.all() else to.let(
                    Op.Select, self.given.tile_id, to.lanes.flag(chosen), both, before[component])
            count = distance
        return found

    def quads(self, value: int, matrix: Components, results: Sequence[int]) -> None:
        """Each element of the result combines two rows of two columns."""
        to, held, values = self.to, self.spread.held, self.to.tiles_of(value)
        for component, result in enumerate(results):
            rows, columns = _clamped(matrix, component)
            parts = [to.taken(values, held.lane[at], held.value[at], self.given.tile_id) for at in (
                (2 * rows, 2 * columns), (2 * rows + 1, 2 * columns), (2 * rows, 2 * columns + 1),
                (2 * rows + 1, 2 * columns + 1))]
            total = self._call(self._call(parts[0], parts[1]), self._call(parts[2], parts[3]))
            to.let(Op.CopyObject, matrix.tile_id, total, result=result)

