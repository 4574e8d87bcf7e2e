"""``D = A*B + C`` of plain matrices in vectors: a row of C at a time, to which an element of A times a row of B is
added.

Floating-point products are added in ascending k with fused multiply-adds (where the processor has none, they are
rounded first), in float (fp64: in double), and rounded to D's type at the end. Integers are exact, modulo the width of
D or saturated.
"""

from __future__ import annotations

from dataclasses import dataclass

from coopmat.formats import Format, format_of
from coopmat.spirv.analysis.types import MatrixType
from coopmat.spirv.grammar import CooperativeMatrixLayout as Layout
from coopmat.targets.cpu.matrix.along_k import Add, Elements, Pieces, in_code, in_loops
from coopmat.targets.cpu.matrix.body import Body, Features, Made, plain_type, row_type
from coopmat.targets.cpu.matrix.operation import Multiply, MultiplyInMemory
from coopmat.targets.cpu.matrix.rows import pitch_of
from coopmat.targets.cpu.matrix.sums import (
    MOST_UNROLLED,
    add_product,
    from_work,
    register_bytes,
    to_work,
    work_type,
)
from coopmat.targets.cpu.matrix.types import element_type
from coopmat.targets.cpu.matrix.vnni import can_multiply, multiply_rows
from coopmat.targets.llvm.numbers import NumberWriter
from coopmat.targets.llvm.values import Number, bits_of

INSTRUCTIONS = {"i64": 4, "i128": 64}  # for a product, about, where it takes more than one


def multiply(body: Body, operation: Multiply) -> Made:
    (a, b, c), d = operation.operands, operation.result
    described = [format_of(name) for name in operation.formats]
    parameters = [plain_type(kind) for kind in (a, b, c)]
    if not operation.saturates and can_multiply(body.features, (a, b, c), described):
        rows = multiply_rows(body, (a, b, c), described)
        return parameters, plain_type(d), body.gathered(rows, d)
    work = work_type(described, operation.saturates)
    products = _Products(operation.operands, d, described, work, operation.saturates)
    elements = a.rows * a.columns
    makes = _unrolled if is_unrolled(body.features, elements, b.columns, products.work, body.calls) else _looped
    return parameters, plain_type(d), makes(body, products)


def multiply_in_memory(body: Body, operation: MultiplyInMemory) -> Made:
    a, (b, c), d = operation.a, operation.operands, operation.result
    described = [format_of(name) for name in operation.formats]
    columns = NumberWriter(body.writer, b.columns)
    products = _Products((a, b, c), d, described, work_type(described, False), False, first=2)
    memory, size = body.hidden("%0"), a.component.size
    pitches = ("%1", str(size)) if operation.layout == Layout.RowMajorKHR else (str(size), "%1")

    def element(row: int, k: int | str) -> str:
        offsets = [body.writer.let(f"mul i64 {pitch}, {place}") for pitch, place in zip(pitches, (row, k), strict=True)]
        line = body.writer.let(f"getelementptr i8, ptr {memory}, i64 {offsets[0]}")
        place = body.writer.let(f"getelementptr i8, ptr {line}, i64 {offsets[1]}")
        return body.writer.let(f"load {products.work}, ptr {place}, align {size}")

    factors = [columns.lanes(to_work(columns, Number(element_type(b), lanes=row), described[1], products.work))
               for row in body.rows("%2", b)]
    sums = in_code(products.begun(body), [[row] for row in factors], element, products.adding(body))
    return ["ptr", "i64", plain_type(b), plain_type(c)], plain_type(d), products.results(body, sums)


@dataclass(frozen=True)
class _Products:
    """How products are added up: the types of A, B and C, and of D, their formats, the type of sums, whether they
    saturate; the number of B's parameter."""

    operands: tuple[MatrixType, MatrixType, MatrixType]
    d: MatrixType
    formats: list[Format]
    work: str
    is_saturating: bool
    first: int = 1

    def adding(self, body: Body) -> Add:
        """What adds a number of A times a row of B to a row of sums."""
        columns, work = NumberWriter(body.writer, self.d.columns), self.work

        def add(total: str, one: str, row: str) -> str:
            return add_product(body.features, columns, Number(work, lanes=total),
                               Number(work, lanes=columns.splat(work, one)), Number(work, lanes=row)).lanes

        return add

    def begun(self, body: Body) -> Pieces:
        """The rows of C as sums."""
        columns, c = NumberWriter(body.writer, self.d.columns), self.operands[2]
        return [[columns.lanes(to_work(columns, Number(element_type(c), lanes=row), self.formats[2], self.work))]
                for row in body.rows(f"%{self.first + 1}", c)]

    def results(self, body: Body, sums: Pieces) -> str:
        """D."""
        columns = NumberWriter(body.writer, self.d.columns)
        return body.gathered([columns.lanes(from_work(columns, Number(self.work, lanes=total), self.formats[3], self.d,
                                                      self.is_saturating)) for total, in sums], self.d)


def is_unrolled(features: Features, words: int, columns: int, work: str, calls: int) -> bool:
    """Whether all products stand in a kernel's code, where so many multiply-accumulates of this kind are. words: of A;
    columns: of B."""
    length = words * _registers(features, columns, work) * INSTRUCTIONS.get(work, 1)
    return calls * length <= MOST_UNROLLED  # multiply-adds of registers


def _registers(features: Features, columns: int, work: str) -> int:
    """How many registers a row of sums takes."""
    return -(-columns * (bits_of(work) // 8) // register_bytes(features))


def _unrolled(body: Body, products: _Products) -> str:
    """D, with every product in the code."""
    a, b, _ = products.operands
    writer, work = body.writer, products.work
    elements, factors = (
        [numbers.lanes(to_work(numbers, Number(element_type(kind), lanes=row), fmt, work))
         for row in body.rows(parameter, kind)]
        for numbers, parameter, kind, fmt in zip(
            (NumberWriter(writer, a.columns), NumberWriter(writer, b.columns)), ("%0", "%1"), (a, b), products.formats,
            strict=False))
    sums = products.begun(body)
    memory = body.spilled(elements, NumberWriter(writer, a.columns).vector(work))
    element = _elements(body, memory, pitch_of(a.columns, work), work)
    return products.results(body, in_code(sums, [[row] for row in factors], element, products.adding(body)))


def _looped(body: Body, products: _Products) -> str:
    """D, in loops over k, with A and B in memory."""
    a, b, _ = products.operands
    work, vector = products.work, NumberWriter(body.writer, b.columns).vector(products.work)
    a_slot, b_slot = (_in_memory(body, parameter, kind, fmt, work) for parameter, kind, fmt in
                      zip(("%0", "%1"), (a, b), products.formats, strict=False))
    sums = in_loops(body, products.begun(body), vector, _registers(body.features, b.columns, work), a.columns,
                    lambda k: [body.writer.let(f"load {vector}, ptr {body.address(b_slot, vector, k)}")],
                    _elements(body, a_slot, pitch_of(a.columns, work), work), products.adding(body))
    return products.results(body, sums)


def _elements(body: Body, memory: str, pitch: int, work: str) -> Elements:
    """The numbers of A, in rows that are so many bytes apart."""
    def element(row: int, k: int | str) -> str:
        line = body.writer.let(f"getelementptr i8, ptr {memory}, i64 {row * pitch}")
        return body.writer.let(f"load {work}, ptr {body.address(line, work, k)}")

    return element


def _in_memory(body: Body, parameter: str, kind: MatrixType, fmt: Format, work: str) -> str:
    """Memory with a matrix's rows as numbers of another type, :func:`pitch_of` bytes apart."""
    columns, writer = NumberWriter(body.writer, kind.columns), body.writer
    given, vector, size = row_type(kind), columns.vector(work), kind.component.size
    source, slot = body.to_buffer(parameter, kind), writer.slot(f"[{kind.rows} x {vector}]", align=64)

    def row(number: str) -> None:
        found = writer.let(f"load {given}, ptr {writer.line(source, number, kind.columns * size)}, align {size}")
        wide = to_work(columns, Number(element_type(kind), lanes=found), fmt, work)
        writer.do(f"store {vector} {columns.lanes(wide)}, ptr {body.address(slot, vector, number)}")

    writer.count(kind.rows, row, unrolls=False)
    return slot
