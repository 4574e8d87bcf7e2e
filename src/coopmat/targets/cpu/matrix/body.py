"""A matrix as an array of its rows, each a vector, and the body of a function that stands for an operation on matrices.

What is not moved row by row goes through a buffer in memory, element by element along the rows.
"""

from __future__ import annotations

from collections.abc import Callable

from coopmat.spirv.types import MatrixType
from coopmat.targets.cpu.matrix.operations import Operation, element_type
from coopmat.targets.cpu.writer import Writer

Features = frozenset[str]
Made = tuple[list[str], str, str]  # types of the parameters, type of the result, its operand


def plain_type(kind: MatrixType) -> str:
    """LLVM's type of a matrix: an array of rows."""
    return f"[{kind.rows} x {row_type(kind)}]"


def row_type(kind: MatrixType) -> str:
    """LLVM's type of a row."""
    return f"<{kind.columns} x {element_type(kind)}>"


class Body:
    """The body of a function that stands for an operation; its parameters are ``%0``, ``%1``, …"""

    def __init__(self, operation: Operation, features: Features) -> None:
        self.operation = operation
        self.features = features
        self.writer = Writer()

    def rows(self, parameter: str, kind: MatrixType) -> list[str]:
        """The rows of a matrix."""
        return [self.writer.let(f"extractvalue {plain_type(kind)} {parameter}, {row}") for row in range(kind.rows)]

    def gathered(self, rows: list[str], kind: MatrixType) -> str:
        """The matrix with these rows."""
        whole, result = plain_type(kind), "poison"
        for number, row in enumerate(rows):
            result = self.writer.let(f"insertvalue {whole} {result}, {row_type(kind)} {row}, {number}")
        return result

    # --- buffers ----------------------------------------------------------------------

    def buffer(self, kind: MatrixType, elements: int = 0) -> str:
        """Memory for the elements of a matrix along its rows; ``elements``: for more than it has, zeros behind them."""
        count = max(elements, kind.rows * kind.columns)
        element = element_type(kind)
        slot = self.writer.slot(f"[{count} x {element}]", align=64)
        if elements > kind.rows * kind.columns:
            tail = elements - kind.rows * kind.columns
            address = self.address(slot, element, kind.rows * kind.columns)
            self.writer.do(f"store [{tail} x {element}] zeroinitializer, ptr {address}, align 1")
        return slot

    def address(self, base: str, element: str, index: int | str) -> str:
        """The address of an element."""
        return self.writer.let(f"getelementptr {element}, ptr {base}, i64 {index}")

    def to_buffer(self, matrix: str, kind: MatrixType, elements: int = 0) -> str:
        """A buffer with a matrix's elements."""
        slot = self.buffer(kind, elements)
        size = kind.component.size
        for number, row in enumerate(self.rows(matrix, kind)):
            address = self.address(slot, element_type(kind), number * kind.columns)
            alignment = _alignment(64, number * kind.columns * size)
            self.writer.do(f"store {row_type(kind)} {row}, ptr {address}, align {alignment}")
        return slot

    def spilled(self, rows: list[str], vector: str) -> str:
        """Memory with some vectors of one type; LLVM does not look into it. A scalar in memory meets a whole vector in
        one instruction, a scalar in a register does not."""
        slot = self.writer.slot(f"[{len(rows)} x {vector}]", align=64)
        for number, row in enumerate(rows):
            address = self.writer.let(f"getelementptr {vector}, ptr {slot}, i64 {number}")
            self.writer.do(f"store {vector} {row}, ptr {address}")
        return self.writer.let(f'call ptr asm sideeffect "", "=r,0,~{{memory}}"(ptr {slot})')

    def from_buffer(self, slot: str, kind: MatrixType) -> str:
        """The matrix whose elements are in a buffer."""
        rows = []
        for number in range(kind.rows):
            address = self.address(slot, element_type(kind), number * kind.columns)
            alignment = _alignment(64, number * kind.columns * kind.component.size)
            rows.append(self.writer.let(f"load {row_type(kind)}, ptr {address}, align {alignment}"))
        return self.gathered(rows, kind)

    def each_element(self, kind: MatrixType, body: Callable[[str, str, str], None]) -> None:
        """A loop over the elements: ``body`` gets row, column and number, 64-bit integers."""
        def turn(number: str, carried: list[str]) -> list[str]:
            row = self.writer.let(f"udiv i64 {number}, {kind.columns}")
            column = self.writer.let(f"urem i64 {number}, {kind.columns}")
            body(row, column, number)
            return carried

        self.writer.repeat(kind.rows * kind.columns, [], turn)


def _alignment(most: int, offset: int) -> int:
    return min(most, offset & -offset) if offset else most
