"""LLVM's types of matrices in a kernel's IR, before they get the hardware's form; and what they take in memory."""

from __future__ import annotations

from coopmat.spirv.analysis.types import IntType, MatrixType, round_up
from coopmat.targets.llvm.values import llvm_type

TILE_BYTES = 1024  # of AMX
MATRIX_BYTES = 8  # what LLVM takes a matrix to have in memory


def matrix_type(kind: MatrixType) -> str:
    """LLVM's type of a matrix in the kernel's IR; it names element, scope, rows, columns and use."""
    component = "i4" if kind.component == IntType(4) else llvm_type(kind.component)
    if kind.component.dtype.name == "bfloat16":
        component = "bfloat"
    numbers = ", ".join(map(str, (int(kind.scope), kind.rows, kind.columns, kind.use)))
    return f'target("spirv.CooperativeMatrixKHR", {component}, {numbers})'


def element_type(kind: MatrixType) -> str:
    """LLVM's type of an element: bf16 as its bits, 4-bit integers in a byte, sign-extended."""
    return llvm_type(kind.component)


def slot_type(kind: MatrixType) -> str:
    """The type of a place in memory that holds a matrix: as many bytes as any form of it needs."""
    return f"{{ {matrix_type(kind)}, [{slot_bytes(kind) - MATRIX_BYTES} x i8] }}"


def slot_bytes(kind: MatrixType) -> int:
    """The bytes of such a place: of rows whose lengths are powers of two, or of a tile."""
    row = 1 << (kind.columns * kind.component.size - 1).bit_length()
    return round_up(max(kind.rows * row, TILE_BYTES), 64)


def component_bytes(kind: MatrixType) -> int:
    """The bytes of the components of all work-items; those behind the last element count, too."""
    return round_up(kind.slice_length * kind.work_items * kind.component.size, 64)
