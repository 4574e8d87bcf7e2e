"""Where a thread's components lie in the matrix."""

from __future__ import annotations

from coopmat.spirv.analysis.types import MatrixType
from coopmat.targets.cuda.matrix.fragments import fragment_of
from coopmat.targets.llvm.arithmetic.integers import add, divide, multiply, remainder
from coopmat.targets.llvm.emitter import Emitter
from coopmat.targets.llvm.values import Number

Position = tuple[Number, Number]  # row and column


def lane_position(emitter: Emitter, kind: MatrixType, llvm: str) -> Position:
    """The position of a thread's first element, where a layout is regular."""
    lane, row, column = emitter.lane_number(llvm), emitter.constant(llvm, 0), emitter.constant(llvm, 0)
    parts = fragment_of(kind).lane_bits
    for part in parts:
        step = lane
        if part.first:
            step = emitter.apply("lshr {t} {0}, {1}", llvm, step, emitter.constant(llvm, part.first))
        if part is not parts[-1]:
            step = emitter.apply("and {t} {0}, {1}", llvm, step, emitter.constant(llvm, (1 << part.count) - 1))
        row = _further(emitter, row, step, part.rows)
        column = _further(emitter, column, step, part.columns)
    return row, column


def _further(emitter: Emitter, number: Number, step: Number, distance: int) -> Number:
    if not distance:
        return number
    way = multiply(emitter, step, emitter.constant(step.type, distance))
    return way if number.base == "0" else add(emitter, number, way)


def positions(emitter: Emitter, kind: MatrixType, llvm: str) -> list[Position]:
    """The position of each component, as integers of a type."""
    fragment = fragment_of(kind)
    if fragment.is_regular:
        row, column = lane_position(emitter, kind, llvm)
        return [(add(emitter, row, emitter.constant(llvm, down)), add(emitter, column, emitter.constant(llvm, beside)))
                for down, beside in fragment.offsets]
    lane = emitter.lane_number(llvm)
    return [dealt_position(emitter, kind, add(emitter, lane, emitter.constant(llvm, number * fragment.lanes)))
            for number in range(fragment.components)]


def dealt_position(emitter: Emitter, kind: MatrixType, number: Number) -> Position:
    """The position of an element that is dealt out, by its number."""
    columns = emitter.constant(number.type, kind.columns)
    return divide(False)(emitter, number, columns), remainder(False)(emitter, number, columns)


def is_element(emitter: Emitter, kind: MatrixType, position: Position) -> Number:
    """Whether a position is one of the matrix's."""
    parts = [emitter.apply("icmp ult {t} {0}, {1}", "i1", one, emitter.constant(one.type, limit))
             for one, limit in zip(position, (kind.rows, kind.columns), strict=True)]
    return emitter.apply("and {t} {0}, {1}", "i1", *parts)
