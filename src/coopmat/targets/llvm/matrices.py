"""The form of matrices on a machine: what the compiler asks of it.

The CPU writes calls of functions that stand for operations, and lowers them when LLVM has optimised the kernel; a GPU
writes what each work-item does with its share.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from coopmat.formats import Rounding
from coopmat.spirv.analysis.types import MatrixType
from coopmat.spirv.grammar import CooperativeMatrixLayout as Layout
from coopmat.targets.llvm.values import Matrix, Number


@dataclass(frozen=True)
class MatrixAccess:
    """Where a matrix lies in memory.

    pointer: the id of the pointer that the kernel has. address: its operand. stride: the bytes from one row (of column
    major, one column) to the next, an i64. layout: known. alignment: of the address. window: first row, first column,
    height and width of the part of memory that is there, each an i64; empty: all is.
    """

    pointer: int
    address: str
    stride: str
    layout: Layout
    alignment: int
    window: tuple[str, ...] = ()


class MatrixForm(Protocol):
    """How matrices stand in a kernel's IR, and how operations on them are written."""

    def type(self, kind: MatrixType) -> str:
        """LLVM's type of a matrix."""

    # --- places -------------------------------------------------------------------------------------------------------

    def load_slot(self, key: Any, kind: MatrixType) -> Matrix:
        """What a slot holds; zeros before anything is stored."""

    def store_slot(self, key: Any, matrix: Matrix) -> None:
        """Keep a matrix."""

    def load_element(self, key: Any, count: int, kind: MatrixType, index: Number) -> Matrix:
        """A matrix of an array in slots, of ``count`` matrices; the index, an i64 in range, is one that all
        have alike."""

    def store_element(self, key: Any, count: int, matrix: Matrix, index: Number) -> None:
        """Replace a matrix of an array in slots."""

    def load_private(self, pointer: Number, kind: MatrixType, alignment: int) -> Matrix:
        """The matrix whose components the work-items have in private memory, each its own, in order."""

    def store_private(self, pointer: Number, matrix: Matrix, alignment: int) -> None:
        """Have every work-item that is here keep its components in private memory."""

    # --- memory -------------------------------------------------------------------------------------------------------

    def load(self, kind: MatrixType, access: MatrixAccess) -> Matrix:
        """A matrix in memory; of a window, zeros where it does not reach."""

    def store(self, matrix: Matrix, access: MatrixAccess) -> None:
        """Write a matrix, or what of it lies in a window."""

    def prefetch(self, address: str, rows: int, row_bytes: int, stride: str) -> None:
        """Ask for some rows of memory, so many bytes (an i64) apart; never a fault."""

    # --- values -------------------------------------------------------------------------------------------------------

    def fill(self, kind: MatrixType, text: str) -> Matrix:
        """A matrix of equal elements."""

    def fill_window(self, kind: MatrixType, text: str, window: Sequence[str]) -> Matrix:
        """A matrix of equal elements where they lie in a window, first row, first column, height and width, zeros
        elsewhere."""

    def elementwise(self, kind: MatrixType, name: str, operands: Sequence[Matrix]) -> Matrix:
        """An arithmetic instruction, by its name, on each element."""

    def scale(self, matrix: Matrix, factor: str) -> Matrix:
        """Each element times a number."""

    def convert(self, kind: MatrixType, matrix: Matrix, opcode: int, rounding: Rounding, saturates: bool) -> Matrix:
        """A conversion instruction on each element; the shape stays."""

    def change_use(self, kind: MatrixType, matrix: Matrix, *, transposed: bool) -> Matrix:
        """The same elements for another use, or their bits with another sign; transposed or not."""

    def reduce(self, kind: MatrixType, matrix: Matrix, axes: int, name: str) -> Matrix:
        """The reduction of rows, columns or squares (SPIR-V's CooperativeMatrixReduce) by one of the usual operations
        (spirv.analysis.combinations)."""

    def multiply(self, kind: MatrixType, operands: Sequence[Matrix], formats: tuple[str, str, str, str], *,
                 saturates: bool) -> Matrix:
        """``A*B + C`` of numbers of these formats."""

    # --- components of the work-items ---------------------------------------------------------------------------------

    def extract(self, matrix: Matrix, index: Number) -> Number:
        """A component of every work-item; the index is an i32."""

    def insert(self, matrix: Matrix, index: Number, number: Number) -> Matrix:
        """The matrix with a component of every work-item that is here replaced."""

    def coordinates(self, kind: MatrixType, index: Number) -> tuple[Number, Number]:
        """Row and column of a component of every work-item, each an i32."""
