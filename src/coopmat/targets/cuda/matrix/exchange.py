"""Elements that change threads: through local memory, where the group that shares a matrix leaves it row by row."""

from __future__ import annotations

from collections.abc import Sequence

from coopmat.spirv.analysis.types import MatrixType
from coopmat.spirv.grammar import Scope
from coopmat.targets.cuda.lanes import CudaLanes
from coopmat.targets.cuda.matrix.fragments import fragment_of
from coopmat.targets.cuda.matrix.memory import MatrixMemory
from coopmat.targets.cuda.matrix.positions import is_element, nearest_element, positions
from coopmat.targets.llvm.arithmetic.integers import add, multiply
from coopmat.targets.llvm.emitter import Emitter
from coopmat.targets.llvm.threads.spread import Position
from coopmat.targets.llvm.values import Matrix, Number, size_of, zero_of

SMALLEST_REGION = 128  # bytes


class Exchange(MatrixMemory):
    """Matrices in local memory for a moment; 4-bit components have bytes of their own there."""

    def __init__(self, emitter: Emitter, lanes: CudaLanes) -> None:
        super().__init__(emitter, lanes.variant.chip)
        self.lanes = lanes
        self._regions: dict[tuple[int, str, Scope], str] = {}

    def in_other_layout(self, kind: MatrixType, matrix: Matrix, *, transposed: bool = False) -> Matrix:
        """The elements of a matrix, in the layout of another type with components of the same width."""
        return self.moved(kind, matrix.kind, self.components(matrix), transposed=transposed)

    def moved(self, kind: MatrixType, given: MatrixType, numbers: Sequence[Number], *,
              transposed: bool = False) -> Matrix:
        """The matrix of numbers that lie as the components of another type, ``given``, do; they have the width of the
        new one's components."""
        return self.of_components(kind, self.taken_as(kind, given, numbers, transposed=transposed))

    def taken_as(self, kind: MatrixType, given: MatrixType, numbers: Sequence[Number], *,
                 transposed: bool = False) -> list[Number]:
        """Numbers that lie as the components of a type do, as those of another one lie."""
        address = self._left(given, numbers, "")
        found = [Number(numbers[0].type, zero_of(numbers[0].type))] * fragment_of(kind).components
        for number, position in self._present(kind):
            row, column = reversed(position) if transposed else position
            place = self._place(address, given, (row, column), numbers[0].type)
            found[number] = Number(numbers[0].type, self.writer.let(f"load {numbers[0].type}, ptr {place}"))
        self.done(kind)
        return found

    def left(self, matrix: Matrix, name: str = "") -> str:
        """Leave a matrix in local memory, for all of the sub-group; its address there. What has another name does not
        disturb it."""
        return self._left(matrix.kind, self.components(matrix), name)

    def _left(self, kind: MatrixType, components: Sequence[Number], name: str) -> str:
        address = self.region(kind, kind.rows * kind.columns * size_of(components[0].type), name)
        for number, position in self.possible(kind):
            place = self._place(address, kind, position, components[number].type)
            text = f"store {components[number].type} {components[number].base}, ptr {place}"
            if fragment_of(kind).spread.everywhere[number]:
                self.writer.do(text)
            else:
                self.writer.when(is_element(self.emitter, kind, position).base,
                                 lambda text=text: self.writer.do(text))  # type: ignore[misc]
        self.lanes.barrier(kind.scope)
        return address

    def done(self, kind: MatrixType) -> None:
        """The group that shares a matrix needs what it left no more."""
        self.lanes.barrier(kind.scope)

    def element(self, address: str, kind: MatrixType, position: Position) -> Number:
        """An element of a matrix that was left."""
        element = fragment_of(kind).element
        return Number(element, self.writer.let(
            f"load {element}, ptr {self._place(address, kind, position, element)}"))

    def _present(self, kind: MatrixType) -> list[tuple[int, Position]]:
        """The components that may hold elements, and their positions; where one holds none, any of the matrix's."""
        return [(number, position if fragment_of(kind).spread.everywhere[number] else
                 nearest_element(self.emitter, kind, position)) for number, position in self.possible(kind)]

    def possible(self, kind: MatrixType) -> list[tuple[int, Position]]:
        """The components that may hold elements, and their positions."""
        fragment = fragment_of(kind)
        return [(number, position) for number, position in enumerate(positions(self.emitter, kind, "i64"))
                if not fragment.spread.nowhere[number]]

    def _place(self, address: str, kind: MatrixType, position: Position, element: str) -> str:
        """The address of an element of a matrix that lies row by row."""
        row, column = position
        emitter = self.emitter
        number = add(emitter, multiply(emitter, row, emitter.constant("i64", kind.columns)), column)
        return self.writer.line(address, number.base, size_of(element))

    def region(self, kind: MatrixType, nbytes: int, name: str) -> str:
        """Local memory of at least a size, of the group that shares a matrix."""
        size = max(SMALLEST_REGION, 1 << (nbytes - 1).bit_length())
        key = (size, name, kind.scope)
        if key not in self._regions:
            groups = 1 if kind.is_of_work_group else -(-self.lanes.total // self.lanes.size)
            address = self.lanes.local(groups * size)
            if not kind.is_of_work_group:
                with self.writer.in_entry():
                    address = self.writer.line(address, self.lanes.sub_group().base, size)
            self._regions[key] = address
        return self._regions[key]
