"""The two forms of a matrix without a tile, and the body of a function that stands for an operation on matrices.

A plain matrix is an array of its rows, each a vector. What is not moved row by row goes through a buffer in memory,
element by element along the rows. A large matrix always lies in such a buffer, of which each value has its own: LLVM
takes too long for arrays of many vectors (:mod:`.large`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from coopmat.spirv.analysis.types import IntType, MatrixType
from coopmat.targets.cpu.matrix.types import element_type
from coopmat.targets.llvm.numbers import NumberWriter
from coopmat.targets.llvm.values import Number
from coopmat.targets.llvm.writer import Writer

Features = frozenset[str]
Made = tuple[list[str], str, str]  # types of the parameters, type of the result, its operand

MOST_BYTES = {"integers": 8192, "floats": 2048, "odd rows": 1024}  # of a plain matrix; odd: no power of two long
MOST_ROWS, MOST_ROW_BYTES = 128, 1024
RESULT = "%result"  # the parameter with the address of a large result
CHUNK = 64  # elements of large matrices that are computed together


def is_large(kind: MatrixType) -> bool:
    """Whether a matrix lies in memory."""
    row_bytes = kind.columns * kind.component.size
    is_odd, is_integer = kind.columns & (kind.columns - 1), isinstance(kind.component, IntType)
    most = MOST_BYTES["odd rows" if is_odd else "integers" if is_integer else "floats"]
    return kind.rows > MOST_ROWS or row_bytes > MOST_ROW_BYTES or kind.rows * row_bytes > most


def plain_type(kind: MatrixType) -> str:
    """LLVM's type of a matrix: an array of rows, or the address of a large one."""
    return "ptr" if is_large(kind) else f"[{kind.rows} x {row_type(kind)}]"


def row_type(kind: MatrixType) -> str:
    """LLVM's type of a row."""
    return f"<{kind.columns} x {element_type(kind)}>"


class Body:
    """The body of a function that stands for an operation; its parameters are ``%0``, ``%1``, … calls: how often the
    kernel calls it, and so has its code if that is inlined."""

    def __init__(self, features: Features, calls: int = 1) -> None:
        self.features = features
        self.calls = calls
        self.writer = Writer()

    # --- plain matrices ---------------------------------------------------------------

    def rows(self, parameter: str, kind: MatrixType) -> list[str]:
        """The rows of a plain matrix."""
        return [self.writer.let(f"extractvalue {plain_type(kind)} {parameter}, {row}") for row in range(kind.rows)]

    def gathered(self, rows: list[str], kind: MatrixType) -> str:
        """The plain matrix with these rows."""
        whole, result = plain_type(kind), "poison"
        for number, row in enumerate(rows):
            result = self.writer.let(f"insertvalue {whole} {result}, {row_type(kind)} {row}, {number}")
        return result

    def each(self, function: Callable[..., str], result: MatrixType,
             operands: Sequence[tuple[str, MatrixType]] = ()) -> str:
        """The matrix that ``function`` gives: of a writer of numbers and of as many elements of each operand, which has
        the result's shape, it makes the operand of those of the result."""
        kinds = [kind for _, kind in operands]
        if not any(map(is_large, (result, *kinds))):
            numbers = NumberWriter(self.writer, result.columns)
            rows = [[Number(element_type(kind), lanes=row) for row in self.rows(parameter, kind)]
                    for parameter, kind in operands]
            return self.gathered([function(numbers, *(one[row] for one in rows)) for row in range(result.rows)], result)
        sources = [self.to_buffer(parameter, kind) for parameter, kind in operands]
        target, (whole, rest) = self.result(result), divmod(result.rows * result.columns, CHUNK)

        def chunk(first: str, count: int) -> None:
            numbers = NumberWriter(self.writer, count)
            found = []
            for source, kind in zip(sources, kinds, strict=True):
                element = element_type(kind)
                found.append(Number(element, lanes=self.writer.let(
                    f"load {numbers.vector(element)}, ptr {self.address(source, element, first)}, align "
                    f"{kind.component.size}")))
            made, element = function(numbers, *found), element_type(result)
            self.writer.do(f"store {numbers.vector(element)} {made}, ptr {self.address(target, element, first)}, align "
                           f"{result.component.size}")

        self.writer.count(whole, lambda number: chunk(self.writer.let(f"mul i64 {number}, {CHUNK}"), CHUNK))
        if rest:
            chunk(str(whole * CHUNK), rest)
        return self.from_buffer(target, result)

    # --- buffers ----------------------------------------------------------------------

    def buffer(self, kind: MatrixType, elements: int = 0) -> str:
        """Memory for the elements of a matrix along its rows; ``elements``: for more than it has."""
        return self.writer.slot(f"[{max(elements, kind.rows * kind.columns)} x {element_type(kind)}]", align=64)

    def address(self, base: str, element: str, index: int | str) -> str:
        """The address of an element."""
        return self.writer.let(f"getelementptr {element}, ptr {base}, i64 {index}")

    def result(self, kind: MatrixType) -> str:
        """A buffer for the elements of the result: see :meth:`from_buffer`."""
        return RESULT if is_large(kind) else self.buffer(kind)

    def copy(self, target: str, source: str, nbytes: int, alignment: int) -> None:
        """Copy bytes between places of one alignment."""
        self.writer.call("void", "llvm.memcpy.p0.p0.i64", [
            ("ptr", f"align {alignment} {target}"), ("ptr", f"align {alignment} {source}"), ("i64", str(nbytes)),
            ("i1", "false")])

    def clear(self, target: str, nbytes: int) -> None:
        """Fill memory with zeros."""
        self.writer.call("void", "llvm.memset.p0.i64", [("ptr", target), ("i8", "0"), ("i64", str(nbytes)),
                                                         ("i1", "false")])

    def to_buffer(self, matrix: str, kind: MatrixType, elements: int = 0, *, is_own: bool = False) -> str:
        """A buffer with a matrix's elements; ``is_own``: that nothing else refers to."""
        if is_large(kind) and not is_own and elements <= kind.rows * kind.columns:
            return matrix
        slot = self.buffer(kind, elements)
        self.fill_buffer(slot, matrix, kind, elements)
        return slot

    def fill_buffer(self, slot: str, matrix: str, kind: MatrixType, elements: int = 0) -> None:
        """Put a matrix's elements into a buffer; ``elements``: of more than it has, the others are zeros."""
        count, element = kind.rows * kind.columns, element_type(kind)
        if elements > count:
            address = self.address(slot, element, count)
            self.writer.do(f"store [{elements - count} x {element}] zeroinitializer, ptr {address}, align 1")
        if is_large(kind):
            self.copy(slot, matrix, count * kind.component.size, 64)
            return
        for number, row in enumerate(self.rows(matrix, kind)):
            address = self.address(slot, element, number * kind.columns)
            alignment = _alignment(64, number * kind.columns * kind.component.size)
            self.writer.do(f"store {row_type(kind)} {row}, ptr {address}, align {alignment}")

    def spilled(self, rows: list[str], vector: str) -> str:
        """Memory with some vectors of one type; LLVM does not look into it. A scalar in memory meets a whole vector in
        one instruction, a scalar in a register does not."""
        slot = self.writer.slot(f"[{len(rows)} x {vector}]", align=64)
        for number, row in enumerate(rows):
            address = self.writer.let(f"getelementptr {vector}, ptr {slot}, i64 {number}")
            self.writer.do(f"store {vector} {row}, ptr {address}")
        return self.hidden(slot)

    def hidden(self, address: str) -> str:
        """An address of which LLVM does not know where it leads, nor that another place in the code has the same."""
        return self.writer.let(f'call ptr asm sideeffect "", "=r,0,~{{memory}}"(ptr {address})')

    def from_buffer(self, slot: str, kind: MatrixType) -> str:
        """The matrix whose elements are in a buffer."""
        if is_large(kind):
            if slot != RESULT:
                self.copy(RESULT, slot, kind.rows * kind.columns * kind.component.size, 64)
            return RESULT
        rows = []
        for number in range(kind.rows):
            address = self.address(slot, element_type(kind), number * kind.columns)
            alignment = _alignment(64, number * kind.columns * kind.component.size)
            rows.append(self.writer.let(f"load {row_type(kind)}, ptr {address}, align {alignment}"))
        return self.gathered(rows, kind)

    def each_element(self, kind: MatrixType, body: Callable[[str, str, str], None]) -> None:
        """A loop over the elements: ``body`` gets row, column and number, 64-bit integers."""
        def turn(number: str) -> None:
            row = self.writer.let(f"udiv i64 {number}, {kind.columns}")
            column = self.writer.let(f"urem i64 {number}, {kind.columns}")
            body(row, column, number)

        self.writer.count(kind.rows * kind.columns, turn)


def _alignment(most: int, offset: int) -> int:
    return min(most, offset & -offset) if offset else most
