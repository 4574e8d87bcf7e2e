"""Where a thread's components lie in the matrix."""

from __future__ import annotations

from coopmat.spirv.analysis.types import MatrixType
from coopmat.targets.cuda.matrix.fragments import fragment_of
from coopmat.targets.llvm.arithmetic.integers import add, divide, remainder, resized
from coopmat.targets.llvm.emitter import Emitter
from coopmat.targets.llvm.threads.spread import Position
from coopmat.targets.llvm.threads.threads import ThreadLanes
from coopmat.targets.llvm.values import Number


def lane_of(emitter: Emitter, kind: MatrixType, llvm: str) -> Number:
    """A thread's number among those that share a matrix."""
    if not kind.is_of_work_group:
        return emitter.lane_number(llvm)
    lanes = emitter.execution
    assert isinstance(lanes, ThreadLanes)
    return resized(emitter, lanes.position(), llvm, signed=False)


def positions(emitter: Emitter, kind: MatrixType, llvm: str) -> list[Position]:
    """The position of each component, as integers of a type."""
    spread, lane = fragment_of(kind).spread, lane_of(emitter, kind, llvm)
    if spread.is_regular:
        return spread.positions(emitter, lane)
    return [dealt_position(emitter, kind, add(emitter, lane, emitter.constant(llvm, number * spread.lanes)))
            for number in range(spread.components)]


def dealt_position(emitter: Emitter, kind: MatrixType, number: Number) -> Position:
    """The position of an element that is dealt out, by its number."""
    columns = emitter.constant(number.type, kind.columns)
    return divide(False)(emitter, number, columns), remainder(False)(emitter, number, columns)


def is_element(emitter: Emitter, kind: MatrixType, position: Position) -> Number:
    """Whether a position is one of the matrix's."""
    parts = [emitter.apply("icmp ult {t} {0}, {1}", "i1", one, emitter.constant(one.type, limit))
             for one, limit in zip(position, (kind.rows, kind.columns), strict=True)]
    return emitter.apply("and {t} {0}, {1}", "i1", *parts)


def nearest_element(emitter: Emitter, kind: MatrixType, position: Position) -> Position:
    """A position, or one of the matrix's instead of padding's."""
    row, column = (emitter.intrinsic("umin", one.type, one, emitter.constant(one.type, size - 1))
                   for one, size in zip(position, (kind.rows, kind.columns), strict=True))
    return row, column
