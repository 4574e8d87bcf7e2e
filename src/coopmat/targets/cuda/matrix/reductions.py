"""Reductions of matrices: rows and columns folded by halves (:mod:`coopmat.numerics.folding`), in registers and by
shuffles where sizes are powers of two, else in local memory."""

from __future__ import annotations

from collections.abc import Callable

from coopmat.numerics.folding import halves
from coopmat.spirv.analysis.types import FloatType, MatrixType
from coopmat.spirv.grammar import CooperativeMatrixReduce as Axes
from coopmat.targets.cuda.mathematics import SINGLE
from coopmat.targets.cuda.matrix.fragments import fragment_of
from coopmat.targets.cuda.matrix.multiply import Multiply
from coopmat.targets.cuda.matrix.positions import lane_of
from coopmat.targets.llvm import terms
from coopmat.targets.llvm.arithmetic.combinations import COMBINATIONS
from coopmat.targets.llvm.arithmetic.floats import through_float
from coopmat.targets.llvm.arithmetic.integers import add, divide, is_bf16, multiply, remainder
from coopmat.targets.llvm.values import Matrix, Number, size_of

Combine = Callable[[Number, Number], Number]
Parts = dict[tuple[int, int], Number]  # a thread's numbers, by their offsets


class Reductions(Multiply):
    """Reduces matrices."""

    def reduce(self, kind: MatrixType, matrix: Matrix, axes: int, name: str) -> Matrix:
        """The reduction of rows, columns or squares by one of the usual operations."""
        component = matrix.kind.component
        is_own = component == FloatType(32) and name in SINGLE
        function = terms.function(SINGLE[name]) if is_own else through_float(COMBINATIONS[name], is_bf16(component))
        combine: Combine = lambda one, other: function(self.emitter, one, other)  # noqa: E731
        given = matrix.kind
        if axes == Axes._2x2:
            return self._squares(kind, matrix, combine)
        folded = [axis for axis, flag in ((0, Axes.Column), (1, Axes.Row)) if axes & flag]
        is_simple = self._is_full(given) and self._has_places(kind, given, folded) and all(
            self._is_within(given, axis) for axis in folded)
        return (self._in_registers if is_simple else self._in_memory)(kind, matrix, folded, combine)

    def _is_full(self, kind: MatrixType) -> bool:
        fragment = fragment_of(kind)
        return fragment.spread.is_regular and all(fragment.spread.everywhere) and (
            fragment.components * fragment.spread.lanes == kind.rows * kind.columns)

    def _has_places(self, kind: MatrixType, given: MatrixType, folded: list[int]) -> bool:
        """Whether threads hold the results that they need: those of other columns than they were given, if rows are
        folded, and so on."""
        own, other = fragment_of(kind), fragment_of(given)
        return own.lies_like(other) and {_kept(offset, folded) for offset in own.spread.offsets} <= {
            _kept(offset, folded) for offset in other.spread.offsets}

    def _is_within(self, kind: MatrixType, axis: int) -> bool:
        """Whether what is folded along an axis are the numbers of threads of one sub-group, a power of two of them."""
        count = (kind.rows, kind.columns)[axis]
        distances = [1 << bit for bit in range(count.bit_length() - 1)]
        return count & count - 1 == 0 and all(
            self._lane_distance(kind, axis, distance) < self.lanes.size for distance in distances)

    # --- in registers -----------------------------------------------------------------

    def _in_registers(self, kind: MatrixType, matrix: Matrix, axes: list[int], combine: Combine) -> Matrix:
        given = matrix.kind
        parts: Parts = dict(zip(fragment_of(given).spread.offsets, self.components(matrix), strict=True))
        for axis in axes:
            distance = (given.rows, given.columns)[axis] // 2
            while distance:
                parts = self._halved(given, parts, axis, distance, combine)
                distance //= 2
        return self.of_components(kind, [parts[_kept(offset, axes)] for offset in fragment_of(kind).spread.offsets])

    def _halved(self, kind: MatrixType, parts: Parts, axis: int, distance: int, combine: Combine) -> Parts:
        """Every number combined with the one so far away, in another register or another thread."""
        lane = self._lane_distance(kind, axis, distance)
        if lane:
            emitter = self.emitter
            other = emitter.apply("xor {t} {0}, {1}", "i32", emitter.lane_number("i32"), emitter.constant("i32", lane))
            return {offset: combine(number, self.lanes.taken(number, other)) for offset, number in parts.items()}
        found: Parts = {}
        for offset, number in parts.items():
            if offset[axis] & distance:
                continue
            far = (offset[0] + distance, offset[1]) if axis == 0 else (offset[0], offset[1] + distance)
            found[offset] = combine(number, parts[far])
        return found

    def _lane_distance(self, kind: MatrixType, axis: int, distance: int) -> int:
        """How far the thread is that holds what lies so far away; 0 if the thread holds it itself."""
        for part in fragment_of(kind).spread.lane_bits:
            for bit in range(part.count):
                step = (part.rows << bit, part.columns << bit)
                if step[axis] == distance and not step[1 - axis]:
                    return 1 << part.first + bit
        return 0

    # --- in local memory --------------------------------------------------------------

    def _in_memory(self, kind: MatrixType, matrix: Matrix, axes: list[int], combine: Combine) -> Matrix:
        given = matrix.kind
        address, rows, columns = self.left(matrix), given.rows, given.columns
        if 0 in axes:
            while rows > 1:
                pairs, rows = halves(rows)
                self._fold(address, given, (pairs, columns), rows * given.columns, combine)
        if 1 in axes:
            while columns > 1:
                pairs, columns = halves(columns)
                self._fold(address, given, (rows, pairs), columns, combine)
        return self._spread(kind, address, given, axes)

    def _fold(self, address: str, kind: MatrixType, shape: tuple[int, int], distance: int, combine: Combine) -> None:
        """Combine the numbers of a block with those so far behind them."""
        writer, element = self.writer, fragment_of(kind).element
        total = shape[0] * shape[1]

        def turn(number: str) -> None:
            own = self._own_turn(kind, number)

            def both() -> None:
                row, column = self._split(own, shape[1])
                place = self._place(address, kind, (row, column), element)
                other = writer.let(f"getelementptr i8, ptr {place}, i64 {distance * size_of(element)}")
                one, two = (Number(element, writer.let(f"load {element}, ptr {at}")) for at in (place, other))
                writer.do(f"store {element} {combine(one, two).base}, ptr {place}")

            writer.when(writer.let(f"icmp ult i64 {own.base}, {total}"), both)

        writer.count(-(-total // kind.work_items), turn)
        self.lanes.barrier(kind.scope)

    def _own_turn(self, kind: MatrixType, number: str) -> Number:
        emitter = self.emitter
        start = multiply(emitter, Number("i64", number), emitter.constant("i64", kind.work_items))
        return add(emitter, start, lane_of(emitter, kind, "i64"))

    def _split(self, number: Number, width: int) -> tuple[Number, Number]:
        columns = self.emitter.constant("i64", width)
        return divide(False)(self.emitter, number, columns), remainder(False)(self.emitter, number, columns)

    def _spread(self, kind: MatrixType, address: str, given: MatrixType, axes: list[int]) -> Matrix:
        """Each element is that of its row or column."""
        numbers = [self.zero(kind)] * fragment_of(kind).components
        zero = self.emitter.constant("i64", 0)
        for number, position in self._present(kind):
            row, column = (zero if axis in axes else place for axis, place in enumerate(position))
            numbers[number] = self.element(address, given, (row, column))
        self.done(kind)
        return self.of_components(kind, numbers)

    def _squares(self, kind: MatrixType, matrix: Matrix, combine: Combine) -> Matrix:
        """Each two rows and each two neighbours in them."""
        given, emitter = matrix.kind, self.emitter
        address = self.left(matrix)
        numbers = [self.zero(kind)] * fragment_of(kind).components
        one = emitter.constant("i64", 1)
        for number, (row, column) in self._present(kind):
            up, left = (emitter.apply("shl {t} {0}, {1}", "i64", place, one) for place in (row, column))
            pairs = [combine(*(self.element(address, given, (line, place))
                               for line in (up, add(emitter, up, one)))) for place in (left, add(emitter, left, one))]
            numbers[number] = combine(*pairs)
        self.done(kind)
        return self.of_components(kind, numbers)


def _kept(offset: tuple[int, int], axes: list[int]) -> tuple[int, int]:
    """Where the result for an element is, once some axes are folded."""
    row, column = offset
    return 0 if 0 in axes else row, 0 if 1 in axes else column
