"""Matrices in AMX's tiles: LLVM's type ``x86_amx``, whose values it keeps in the eight tile registers.

A tile of A or C holds a row of the matrix in each of its rows; a tile of B holds rows that belong together interleaved,
as the packed layout does (Intel's manual: VNNI format). Operations that the tile unit does not have go through memory,
in the form of :mod:`.plain`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from coopmat.devices.lane_layout import rows_per_word
from coopmat.spirv.analysis.types import IntType, MatrixType
from coopmat.spirv.grammar import CooperativeMatrixLayout as Layout
from coopmat.spirv.grammar import CooperativeMatrixUse as Use
from coopmat.targets.cpu.matrix.body import Body, Features, plain_type, row_type
from coopmat.targets.cpu.matrix.operation import Multiply, Operation
from coopmat.targets.cpu.matrix.packing import interleaved, separated

MOST_ROWS, MOST_BYTES = 16, 64  # of a tile
PITCH = 64  # bytes from row to row where a tile goes through memory
TILE = "x86_amx"

INSTRUCTIONS: dict[tuple[str, str, str, str], tuple[str, str]] = {
    **{(f"{a}int8", f"{b}int8", c, d): (f"tdpb{a}{b}d", "amx-int8")
       for a in "su" for b in "su" for c in ("sint32", "uint32") for d in ("sint32", "uint32")},
    ("bf16", "bf16", "fp32", "fp32"): ("tdpbf16ps", "amx-bf16"),
    ("fp16", "fp16", "fp32", "fp32"): ("tdpfp16ps", "amx-fp16"),
}
"""Formats of A, B, C and D → the instruction, and the feature that it needs."""


@dataclass(frozen=True)
class Shape:
    """Rows of a tile, bytes of each."""

    rows: int
    row_bytes: int

    @property
    def text(self) -> str:
        """As operands of intrinsics."""
        return f"i16 {self.rows}, i16 {self.row_bytes}"


def tile_shape(kind: MatrixType) -> Shape | None:
    """The tile that holds a matrix; None if none does."""
    if kind.component == IntType(4):
        return None
    together = _together(kind)
    if kind.rows % together:
        return None
    shape = Shape(kind.rows // together, kind.columns * together * kind.component.size)
    fits = shape.rows <= MOST_ROWS and shape.row_bytes <= MOST_BYTES and shape.row_bytes % 4 == 0
    return shape if fits else None


def instruction_of(operation: Operation, features: Features) -> str | None:
    """The instruction that does a multiply-accumulate; None if it takes other code."""
    if not isinstance(operation, Multiply):
        return None
    name, feature = INSTRUCTIONS.get(operation.formats, ("", ""))
    if not name or operation.saturates or feature not in features or "amx-tile" not in features:
        return None
    return name if all(tile_shape(kind) is not None for kind in operation.kinds) else None


def tile_kinds(operations: Iterable[Operation], features: Features) -> dict[MatrixType, Shape]:
    """The matrix types that live in tiles: those of multiply-accumulates that AMX does."""
    found: dict[MatrixType, Shape] = {}
    for operation in operations:
        if instruction_of(operation, features):
            shapes = {kind: tile_shape(kind) for kind in operation.kinds}
            found |= {kind: shape for kind, shape in shapes.items() if shape is not None}
    return found


def is_direct(kind: MatrixType, layout: Layout) -> bool:
    """Whether a tile load or store moves a matrix with this layout as it is."""
    if kind.use == Use.MatrixBKHR and rows_per_word(8 * kind.component.size) > 1:
        return layout == Layout.PackedINTEL
    return layout == Layout.RowMajorKHR or (layout == Layout.PackedINTEL and kind.use == Use.MatrixAKHR)


# --------------------------------------------------------------------------------------
# Tiles in memory
# --------------------------------------------------------------------------------------


def conversions(name: str, kind: MatrixType, features: Features) -> str:
    """Two functions: ``NAME.take``, from a tile in memory to a plain matrix, and ``NAME.put``, the other way."""
    return "\n".join([_take(name, kind, Body(features)), _put(name, kind, Body(features))])


def _together(kind: MatrixType) -> int:
    return rows_per_word(8 * kind.component.size) if kind.use == Use.MatrixBKHR else 1


def _row_address(body: Body, row: int) -> str:
    return body.writer.let(f"getelementptr i8, ptr %0, i64 {row * PITCH}")


def _take(name: str, kind: MatrixType, body: Body) -> str:
    together = _together(kind)
    llvm = row_type(kind) if together == 1 else f"<{kind.columns} x i32>"
    rows = [body.writer.let(f"load {llvm}, ptr {_row_address(body, number)}, align 64")
            for number in range(kind.rows // together)]
    result = body.gathered(rows if together == 1 else separated(body, rows, kind, together), kind)
    return "\n".join([f"define internal {plain_type(kind)} @{name}.take(ptr %0) alwaysinline nounwind {{",
                      *body.writer.lines, f"  ret {plain_type(kind)} {result}", "}"])


def _put(name: str, kind: MatrixType, body: Body) -> str:
    rows, llvm, together = body.rows("%1", kind), row_type(kind), _together(kind)
    if together > 1:
        rows, llvm = interleaved(body, rows, kind, together), f"<{kind.columns} x i32>"
    for number, row in enumerate(rows):
        body.writer.do(f"store {llvm} {row}, ptr {_row_address(body, number)}, align 64")
    return "\n".join([f"define internal void @{name}.put(ptr %0, {plain_type(kind)} %1) alwaysinline nounwind {{",
                      *body.writer.lines, "  ret void", "}"])
