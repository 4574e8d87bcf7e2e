"""Matrices in AMX's tiles: LLVM's type ``x86_amx``, whose values it keeps in the eight tile registers.

A tile of A or C holds a row of the matrix in each of its rows; a tile of B holds rows that belong together interleaved,
as the packed layout does (Intel's manual: VNNI format). Operations that the tile unit does not have go through memory,
in the form of :mod:`.plain`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from coopmat.devices.lane_layout import rows_per_word
from coopmat.spirv.analysis.types import IntType, MatrixType
from coopmat.spirv.grammar import CooperativeMatrixLayout as Layout
from coopmat.spirv.grammar import CooperativeMatrixUse as Use
from coopmat.targets.cpu.matrix.body import Body, Features, plain_type, row_type
from coopmat.targets.cpu.matrix.operations import Operation, matrix_type
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
    if operation.name != "multiply":
        return None
    formats, is_saturating = operation.detail
    assert isinstance(formats, tuple)
    name, feature = INSTRUCTIONS.get(formats, ("", ""))
    if not name or is_saturating or feature not in features or "amx-tile" not in features:
        return None
    kinds = (*operation.operands, operation.result)
    return name if all(kind is not None and tile_shape(kind) is not None for kind in kinds) else None


def tile_kinds(operations: Iterable[Operation], features: Features) -> dict[MatrixType, Shape]:
    """The matrix types that live in tiles: those of multiply-accumulates that AMX does."""
    found: dict[MatrixType, Shape] = {}
    for operation in operations:
        if instruction_of(operation, features):
            for kind in (*operation.operands, operation.result):
                shape = tile_shape(kind) if kind is not None else None
                if kind is not None and shape is not None:
                    found[kind] = shape
    return found


def is_direct(kind: MatrixType, layout: object) -> bool:
    """Whether a tile load or store moves a matrix with this layout as it is."""
    if kind.use == Use.MatrixBKHR and rows_per_word(8 * kind.component.size) > 1:
        return layout == Layout.PackedINTEL
    return layout == Layout.RowMajorKHR or (layout == Layout.PackedINTEL and kind.use == Use.MatrixAKHR)


# --------------------------------------------------------------------------------------
# Tiles in memory
# --------------------------------------------------------------------------------------


def conversions(name: str, kind: MatrixType, features: Features) -> str:
    """Two functions: ``NAME.take``, from a tile in memory to a plain matrix, and ``NAME.put``, the other way."""
    operation = Operation("convert", kind, (kind,))
    return "\n".join([_take(name, kind, Body(operation, features)), _put(name, kind, Body(operation, features))])


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


# --------------------------------------------------------------------------------------
# Calls
# --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Call:
    """A call of a function that stands for an operation: the name of its result, the function, and its operands as
    they stand in the text; those that are matrices as type and operand."""

    result: str | None
    function: str
    operands: tuple[str, ...]


class Tiles:
    """Rewrites a kernel's text so that some matrix types live in tiles, or, if they do not stay there (``stay``), are
    in tiles while they are multiplied."""

    def __init__(self, kinds: dict[MatrixType, Shape], names: dict[str, MatrixType], features: Features, *,
                 stay: bool = True) -> None:
        self.shapes = kinds
        self.kinds = kinds if stay else {}  # those that live in tiles
        self.types = names  # text of a type → the matrix type
        self.features = features
        self.declarations: set[str] = set()
        self.converters: dict[MatrixType, str] = {}
        self.keepers: dict[str, str] = {}  # function of a load → function that gives its tile's address (reuse.py)
        self.slots: list[str] = []  # lines for the entry of the function at hand
        self.passing: set[str] = set()  # matrices that need no tile, of the function at hand
        self.count = 0

    def fresh(self) -> str:
        """A name that nothing has."""
        self.count += 1
        return f"%tile.{self.count}"

    def intrinsic(self, signature: str) -> None:
        """Declare an intrinsic."""
        self.declarations.add(f"declare {signature}")

    def slot(self) -> str:
        """Memory for a tile, in the frame of the function at hand."""
        name = self.fresh()
        self.slots.append(f"  {name} = alloca [{MOST_ROWS * PITCH} x i8], align 64")
        return name

    def load(self, result: str, shape: Shape, address: str, stride: str) -> str:
        """A line that loads a tile; operands with their types."""
        self.intrinsic(f"{TILE} @llvm.x86.tileloadd64.internal(i16, i16, ptr, i64)")
        return f"  {result} = call {TILE} @llvm.x86.tileloadd64.internal({shape.text}, {address}, {stride})"

    def store(self, tile: str, shape: Shape, address: str, stride: str) -> str:
        """A line that stores a tile."""
        self.intrinsic(f"void @llvm.x86.tilestored64.internal(i16, i16, ptr, i64, {TILE})")
        return f"  call void @llvm.x86.tilestored64.internal({shape.text}, {address}, {stride}, {TILE} {tile})"

    def stored(self, text: str, shape: Shape, address: str, stride: str = f"i64 {PITCH}") -> list[str]:
        """The lines that store a tile, or what stands for one that is not defined: zeros."""
        if text.startswith("%"):
            return [self.store(text, shape, address, stride)]
        zero = self.fresh()
        return [self.zero(zero, shape), self.store(zero, shape, address, stride)]

    def zero(self, result: str, shape: Shape) -> str:
        """A line that makes a tile of zeros."""
        self.intrinsic(f"{TILE} @llvm.x86.tilezero.internal(i16, i16)")
        return f"  {result} = call {TILE} @llvm.x86.tilezero.internal({shape.text})"

    def is_zero(self, operation: Operation, operands: Sequence[str]) -> bool:
        """Whether a call gives a tile of zeros."""
        return (operation.name == "fill" and operation.result in self.kinds
                and operands[0].split()[-1] in ("0", "0.0", "0.000000e+00"))

    def operation(self, operation: Operation, call: Call) -> list[str]:
        """The lines for a call of which a matrix lives in a tile."""
        kind = operation.result
        if kind in self.kinds and kind is not None and call.result is not None:
            shape = self.kinds[kind]
            if self.is_zero(operation, call.operands):
                return [self.zero(call.result, shape)]
            if operation.name == "load" and operation.detail[2]:
                return self._kept(operation, call, kind)
            if operation.name == "load" and is_direct(kind, operation.detail[0]):
                return [self.load(call.result, shape, *call.operands)]
            name = instruction_of(operation, self.features)
            if name is not None:
                return self._multiply(operation, call, name)
        if operation.name == "store" and is_direct(operation.operands[0], operation.detail[0]):
            tile, address, stride = call.operands
            return self.stored(tile.split()[-1], self.kinds[operation.operands[0]], address, stride)
        return self._through_memory(operation, call)

    def _kept(self, operation: Operation, call: Call, kind: MatrixType) -> list[str]:
        """A tile that was converted before, or is converted now."""
        assert call.result is not None
        slot, address = self.slot(), self.fresh()
        name = self.keepers.setdefault(call.function, f"keep.{len(self.keepers)}")
        self.converter(kind)
        return [f"  {address} = call ptr @{name}(ptr {slot}, {', '.join(call.operands)})",
                self.load(call.result, self.kinds[kind], f"ptr {address}", f"i64 {PITCH}")]

    def _multiply(self, operation: Operation, call: Call, name: str) -> list[str]:
        before: list[str] = []
        tiles = []
        for operand, kind in zip(call.operands, operation.operands, strict=True):
            text = operand.split()[-1]
            if not text.startswith("%"):  # it is not defined
                text = self.fresh()
                before.append(self.zero(text, self.kinds[kind]))
            tiles.append(text)
        return [*before, self._product(call.result or "", operation, name, tiles)]

    def _product(self, result: str, operation: Operation, name: str, tiles: Sequence[str]) -> str:
        """A line that multiplies the tiles of A and B, and adds that of C."""
        a_tile, c_tile = (self.shapes[operation.operands[place]] for place in (0, 2))
        sizes = f"i16 {a_tile.rows}, i16 {c_tile.row_bytes}, i16 {a_tile.row_bytes}"
        self.intrinsic(f"{TILE} @llvm.x86.{name}.internal(i16, i16, i16, {TILE}, {TILE}, {TILE})")
        a, b, c = (f"{TILE} {tile}" for tile in tiles)
        return f"  {result} = call {TILE} @llvm.x86.{name}.internal({sizes}, {c}, {a}, {b})"

    def multiply_in_tiles(self, operation: Operation, call: Call) -> list[str] | None:
        """The lines for a multiply-accumulate of plain matrices, which are put into tiles for it; None if AMX has no
        such one."""
        name = instruction_of(operation, self.features)
        if name is None or operation.result is None:
            return None
        lines, tiles = [], []
        for operand, kind in zip(call.operands, operation.operands, strict=True):
            slot, tile = self.slot(), self.fresh()
            lines += [f"  call void @{self.converter(kind)}.put(ptr {slot}, {operand})",
                      self.load(tile, self.shapes[kind], f"ptr {slot}", f"i64 {PITCH}")]
            tiles.append(tile)
        slot, tile = self.slot(), self.fresh()
        return [*lines, self._product(tile, operation, name, tiles),
                self.store(tile, self.shapes[operation.result], f"ptr {slot}", f"i64 {PITCH}"),
                f"  {call.result} = call {plain_type(operation.result)} @{self.converter(operation.result)}.take("
                f"ptr {slot})"]

    def _through_memory(self, operation: Operation, call: Call) -> list[str]:
        """The plain operation, on operands that are taken out of their tiles."""
        lines: list[str] = []
        operands: list[str] = []
        for operand in call.operands:
            kind = next((kind for name, kind in self.types.items() if operand.startswith(name)), None)
            if kind in self.kinds and kind is not None:
                taken, more = self._taken(operand, kind)
                lines += more
                operands.append(f"{plain_type(kind)} {taken}")
            else:
                operands.append(operand)
        result = operation.result
        text = ", ".join(operands)
        if result is None:
            returned = operation.vector if operation.name == "extract" else "void"
            start = f"  {call.result} = " if call.result else "  "
            return [*lines, f"{start}call {returned} @{call.function}({text})"]
        if result not in self.kinds:
            return [*lines, f"  {call.result} = call {matrix_type(result)} @{call.function}({text})"]
        plain, slot = self.fresh(), self.slot()
        assert call.result is not None
        return [*lines, f"  {plain} = call {plain_type(result)} @{call.function}({text})",
                f"  call void @{self.converter(result)}.put(ptr {slot}, {plain_type(result)} {plain})",
                self.load(call.result, self.kinds[result], f"ptr {slot}", f"i64 {PITCH}")]

    def _taken(self, operand: str, kind: MatrixType) -> tuple[str, list[str]]:
        """A tile as a plain matrix."""
        text = operand.split()[-1]
        if not text.startswith("%"):
            return "zeroinitializer", []
        slot, plain = self.slot(), self.fresh()
        return plain, [self.store(text, self.kinds[kind], f"ptr {slot}", f"i64 {PITCH}"),
                       f"  {plain} = call {plain_type(kind)} @{self.converter(kind)}.take(ptr {slot})"]

    def converter(self, kind: MatrixType) -> str:
        """The name of the functions that move a matrix type between tiles in memory and plain matrices."""
        return self.converters.setdefault(kind, f"tile.{len(self.converters)}")
