"""Where the operands of a product lie: in lines of memory, as the kernel has them there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from coopmat.devices.lane_layout import rows_per_word
from coopmat.formats import Format
from coopmat.spirv.analysis.types import MatrixType
from coopmat.spirv.grammar import CooperativeMatrixLayout as Layout
from coopmat.spirv.grammar import CooperativeMatrixUse as Use
from coopmat.targets.cpu.matrix.body import Body
from coopmat.targets.cpu.matrix.copies import Range, inside
from coopmat.targets.cpu.matrix.elements import function_of
from coopmat.targets.cpu.matrix.memory import together_in_memory
from coopmat.targets.cpu.matrix.operation import Convert, Source
from coopmat.targets.cpu.matrix.types import element_type
from coopmat.targets.llvm.numbers import NumberWriter
from coopmat.targets.llvm.values import Number

Order = Literal["along", "across", "packed"]


@dataclass(frozen=True)
class Lines:
    """An operand in memory. fmt: of the elements that are multiplied; conversions: what makes them of those in memory.
    order: lines run along K, or across it, or each has words along K of all columns (the packed layout of B). base: the
    address of its first element; stride: bytes from line to line, an i64. lines, elements: of those of the matrix, the
    ones that are there; the others are zeros."""

    kind: MatrixType
    fmt: Format
    order: Order
    base: str
    stride: str
    lines: Range
    elements: Range
    conversions: tuple[Convert, ...] = ()

    @property
    def element(self) -> str:
        """LLVM's type of an element."""
        return element_type(self.kind)

    def converted(self, numbers: NumberWriter, line: str) -> Number:
        """Elements of a line, as they are multiplied."""
        found = Number(self.element, lanes=line)
        for one in self.conversions:
            found = Number(element_type(one.result), lanes=function_of(one, ())(numbers, found))
        return found

    @property
    def size(self) -> int:
        """The bytes of an element."""
        return self.kind.component.size

    @property
    def together(self) -> int:
        """How many rows a line has, element by element."""
        return rows_per_word(8 * self.size) if self.order == "packed" else 1

    @property
    def extents(self) -> tuple[int, int]:
        """How many lines the matrix has, and elements of each."""
        lines, elements = self.kind.rows, self.kind.columns
        if (self.kind.use == Use.MatrixAKHR) != (self.order == "along"):
            lines, elements = elements, lines
        return lines // self.together, elements * self.together


def in_matrix(body: Body, kind: MatrixType, fmt: Format, parameter: str) -> Lines:
    """An operand that is a matrix of the kernel."""
    order: Order = "along" if kind.use == Use.MatrixAKHR else "across"
    stride = kind.columns * kind.component.size
    return Lines(kind, fmt, order, body.to_buffer(parameter, kind), str(stride), ("0", str(kind.rows)),
                 ("0", str(kind.columns)))


def in_memory(body: Body, kind: MatrixType, fmt: Format, source: Source, parameters: Sequence[str]) -> Lines:
    """An operand that the kernel would have loaded: of its parameters the first are address and stride, and then comes
    the window."""
    base, stride, *window = parameters
    conversions = source.conversions
    kind = conversions[0].operands[0] if conversions else kind
    lines, elements = kind.rows, kind.columns
    order: Order = "along" if kind.use == Use.MatrixAKHR else "across"
    if source.layout == Layout.ColumnMajorKHR:
        lines, elements = elements, lines
        order = "across" if order == "along" else "along"
    together = together_in_memory(kind, source.layout)
    if together > 1:
        lines, elements, order = lines // together, elements * together, "packed"
    whole = ("0", str(lines)), ("0", str(elements))
    if not source.is_window:
        return Lines(kind, fmt, order, base, stride, *whole, conversions)
    writer = body.writer
    x, y, height, width = window[:4]
    first = writer.let(f"getelementptr i8, ptr {writer.line(base, x, stride)}, i64 "
                       f"{writer.let(f'mul i64 {y}, {kind.component.size}')}")
    return Lines(kind, fmt, order, first, stride, inside(writer, x, height, lines),
                 inside(writer, y, width, elements), conversions)
