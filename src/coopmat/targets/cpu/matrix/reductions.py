"""Reductions of matrices: rows and columns folded by halves (:mod:`coopmat.numerics.folding`), a vector at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from coopmat.numerics.folding import halves
from coopmat.spirv.analysis.types import MatrixType
from coopmat.spirv.grammar import CooperativeMatrixReduce as Axes
from coopmat.targets.cpu.matrix.body import CHUNK, Body, Made, is_large, plain_type, row_type
from coopmat.targets.cpu.matrix.operation import Reduce
from coopmat.targets.cpu.matrix.types import element_type
from coopmat.targets.llvm.arithmetic.combinations import COMBINATIONS
from coopmat.targets.llvm.arithmetic.floats import through_float
from coopmat.targets.llvm.arithmetic.integers import Function, is_bf16
from coopmat.targets.llvm.numbers import NumberWriter
from coopmat.targets.llvm.values import Number


def reduce(body: Body, operation: Reduce) -> Made:
    kind, given = operation.result, operation.operands[0]
    combine = through_float(COMBINATIONS[operation.combination], is_bf16(given.component))
    make = _of_large if is_large(given) or is_large(kind) else _of_plain
    return [plain_type(given)], plain_type(kind), make(body, kind, given, operation.axes, combine)


# --------------------------------------------------------------------------------------
# Rows in registers
# --------------------------------------------------------------------------------------


def _of_plain(body: Body, kind: MatrixType, given: MatrixType, axes: int, combine: Function) -> str:
    element = element_type(given)
    rows = [Number(element, lanes=row) for row in body.rows("%0", given)]
    numbers = NumberWriter(body.writer, given.columns)
    if axes == Axes._2x2:
        rows = [combine(numbers, *pair) for pair in zip(rows[::2], rows[1::2], strict=True)]
        return body.gathered([_neighbours(numbers, row, combine) for row in rows], kind)
    if axes & Axes.Column:
        rows = [_folded(rows, lambda low, high: combine(numbers, low, high))]
    if axes & Axes.Row:
        wide = NumberWriter(body.writer, kind.columns)
        made = [wide.splat(element, _total(numbers, row, combine)) for row in rows]
    else:
        made = [row.lanes for row in rows]
    return body.gathered(made * (kind.rows // len(made)), kind)


def _folded(values: Sequence[Number], combine: Callable[[Number, Number], Number]) -> Number:
    """Several numbers, combined to one."""
    found = list(values)
    while len(found) > 1:
        pairs, distance = halves(len(found))
        found[:pairs] = map(combine, found[:pairs], found[distance:])
        del found[distance:]
    return found[0]


def _total(numbers: NumberWriter, row: Number, combine: Function) -> str:
    """The lanes of a number, combined to one; its operand."""
    writer, count = numbers.writer, numbers.size
    while count > 1:
        pairs, distance = halves(count)
        half = NumberWriter(writer, pairs)
        sides = [_part(numbers, row, range(first, first + pairs)) for first in (0, distance)]
        found = combine(half, *sides)
        if pairs < distance:
            middle = _part(numbers, row, [pairs] * pairs)
            text = writer.let(f"shufflevector {half.vector(row.type)} {found.lanes}, {half.vector(row.type)} "
                              f"{middle.lanes}, {_indices(range(distance))}")
            found = Number(row.type, lanes=text)
        numbers, row, count = NumberWriter(writer, distance), found, distance
    return writer.let(f"extractelement {numbers.vector(row.type)} {row.lanes}, i32 0")


def _neighbours(numbers: NumberWriter, row: Number, combine: Function) -> str:
    """Each two neighbouring lanes, combined."""
    half = NumberWriter(numbers.writer, numbers.size // 2)
    return half.lanes(combine(half, *(_part(numbers, row, range(first, numbers.size, 2)) for first in (0, 1))))


def _part(numbers: NumberWriter, row: Number, lanes: Sequence[int]) -> Number:
    """Some lanes of a number."""
    vector = numbers.vector(row.type)
    return Number(row.type, lanes=numbers.writer.let(
        f"shufflevector {vector} {row.lanes}, {vector} poison, {_indices(lanes)}"))


def _indices(lanes: Sequence[int]) -> str:
    return f"<{len(lanes)} x i32> <{', '.join(f'i32 {lane}' for lane in lanes)}>"


# --------------------------------------------------------------------------------------
# Rows in memory
# --------------------------------------------------------------------------------------


def _of_large(body: Body, kind: MatrixType, given: MatrixType, axes: int, combine: Function) -> str:
    writer, element = body.writer, element_type(given)
    source, target = body.to_buffer("%0", given, is_own=True), body.result(kind)

    def fold(base: str, count: int, step: int) -> None:
        """Combine ``count`` groups of ``step`` neighbouring elements to one, at ``base``."""
        while count > 1:
            pairs, distance = halves(count)
            _in_chunks(body, element, pairs * step, (base, body.address(base, element, distance * step)), base, combine)
            count = distance

    if axes == Axes._2x2:
        _fold_squares(body, kind, given, source, target, combine)
        return body.from_buffer(target, kind)
    rows = given.rows
    if axes & Axes.Column:
        fold(source, rows, given.columns)
        rows = 1
    if axes & Axes.Row:
        writer.count(rows, lambda row: fold(body.address(source, element, _product(body, row, given.columns)),
                                            given.columns, 1))

    def fill(row: str) -> None:
        first = _product(body, row, given.columns) if rows > 1 else "0"
        base = body.address(source, element, first)
        place = body.address(target, element, _product(body, row, kind.columns))
        if axes & Axes.Row:
            wide = NumberWriter(writer, kind.columns)
            found = wide.splat(element, writer.let(f"load {element}, ptr {base}"))
            writer.do(f"store {row_type(kind)} {found}, ptr {place}, align {kind.component.size}")
        else:
            body.copy(place, base, kind.columns * kind.component.size, kind.component.size)

    writer.count(kind.rows, fill)
    return body.from_buffer(target, kind)


def _product(body: Body, number: str, factor: int) -> str:
    return body.writer.let(f"mul i64 {number}, {factor}")


def _in_chunks(body: Body, element: str, count: int, sources: Sequence[str], target: str, combine: Function) -> None:
    """Combine neighbouring elements in memory, of two places, a vector at a time."""
    whole, rest = divmod(count, CHUNK)

    def chunk(first: str, size: int) -> None:
        numbers = NumberWriter(body.writer, size)
        vector = numbers.vector(element)
        found = [Number(element, lanes=body.writer.let(
            f"load {vector}, ptr {body.address(source, element, first)}, align 1")) for source in sources]
        made = numbers.lanes(combine(numbers, *found))
        body.writer.do(f"store {vector} {made}, ptr {body.address(target, element, first)}, align 1")

    body.writer.count(whole, lambda number: chunk(_product(body, number, CHUNK), CHUNK))
    if rest:
        chunk(str(whole * CHUNK), rest)


def _fold_squares(body: Body, kind: MatrixType, given: MatrixType, source: str, target: str,
                  combine: Function) -> None:
    """Each two rows, combined in the first of them, and there each two neighbours."""
    writer, element = body.writer, element_type(given)
    numbers = NumberWriter(writer, given.columns)

    def both(row: str) -> None:
        first = body.address(source, element, _product(body, row, 2 * given.columns))
        second = body.address(first, element, given.columns)
        rows = [Number(element, lanes=writer.let(f"load {row_type(given)}, ptr {place}, align {given.component.size}"))
                for place in (first, second)]
        found = _neighbours(numbers, combine(numbers, *rows), combine)
        place = body.address(target, element, _product(body, row, kind.columns))
        writer.do(f"store {row_type(kind)} {found}, ptr {place}, align {kind.component.size}")

    writer.count(kind.rows, both)
