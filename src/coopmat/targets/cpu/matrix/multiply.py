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
from coopmat.targets.cpu.matrix.body import Body, Made, plain_type, row_type
from coopmat.targets.cpu.matrix.operation import Multiply
from coopmat.targets.cpu.matrix.rows import pitch_of
from coopmat.targets.cpu.matrix.sums import (
    MOST_UNROLLED,
    add_product,
    from_work,
    register_bytes,
    sum_registers,
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
    makes = _unrolled if body.calls * _length(body, a, b, products.work) <= MOST_UNROLLED else _looped
    return parameters, plain_type(d), makes(body, products)


@dataclass(frozen=True)
class _Products:
    """How products are added up: the types of A, B and C, and of D, their formats, the type of sums, whether they
    saturate."""

    operands: tuple[MatrixType, MatrixType, MatrixType]
    d: MatrixType
    formats: list[Format]
    work: str
    is_saturating: bool

    def result(self, rows: NumberWriter, total: Number) -> str:
        """A row of D."""
        return rows.lanes(from_work(rows, total, self.formats[3], self.d, self.is_saturating))


def _length(body: Body, a: MatrixType, b: MatrixType, work: str) -> int:
    """How long the code of all products is, in multiply-adds of registers."""
    return a.rows * a.columns * _registers(body, b.columns, work) * INSTRUCTIONS.get(work, 1)


def _registers(body: Body, columns: int, work: str) -> int:
    """How many registers a row of sums takes."""
    return -(-columns * (bits_of(work) // 8) // register_bytes(body.features))


def _unrolled(body: Body, products: _Products) -> str:
    """D, with every product in the code, in the order of k for all rows, so that many sums are formed side by side."""
    a, b, _ = products.operands
    writer, work, columns = body.writer, products.work, NumberWriter(body.writer, b.columns)
    along = NumberWriter(writer, a.columns)
    elements, factors, sums = (
        [to_work(numbers, Number(element_type(kind), lanes=row), fmt, work) for row in body.rows(parameter, kind)]
        for numbers, parameter, kind, fmt in zip((along, columns, columns), ("%0", "%1", "%2"), products.operands,
                                                 products.formats, strict=False))
    memory = body.spilled([row.lanes for row in elements], along.vector(work))
    pitch = pitch_of(a.columns, work)
    for k, factor in enumerate(factors):
        for m in range(a.rows):
            address = writer.let(f"getelementptr i8, ptr {memory}, i64 {m * pitch + k * (bits_of(work) // 8)}")
            one = writer.let(f"load {work}, ptr {address}")
            sums[m] = add_product(body.features, columns, sums[m], Number(work, lanes=columns.splat(work, one)), factor)
    return body.gathered([products.result(columns, one) for one in sums], products.d)


def _looped(body: Body, products: _Products) -> str:
    """D, as many rows at once as there are registers for sums, in loops over k, with A and B in memory."""
    a, b, c = products.operands
    writer, work, columns = body.writer, products.work, NumberWriter(body.writer, b.columns)
    vector, pitch = columns.vector(work), pitch_of(a.columns, work)
    a_slot, b_slot = (_in_memory(body, parameter, kind, fmt, work) for parameter, kind, fmt in
                      zip(("%0", "%1"), (a, b), products.formats, strict=False))
    sums = [to_work(columns, Number(element_type(c), lanes=row), products.formats[2], work)
            for row in body.rows("%2", c)]
    at_once = max(1, sum_registers(body.features) // _registers(body, b.columns, work))
    found: list[str] = []
    for first in range(0, a.rows, at_once):
        def step(k: str, totals: list[str], first: int = first) -> list[str]:
            factor = Number(work, lanes=writer.let(f"load {vector}, ptr {body.address(b_slot, vector, k)}"))
            column, following = body.address(a_slot, work, k), []
            for m, total in enumerate(totals, first):
                address = writer.let(f"getelementptr i8, ptr {column}, i64 {m * pitch}")
                one = columns.splat(work, writer.let(f"load {work}, ptr {address}"))
                following.append(add_product(body.features, columns, Number(work, lanes=total),
                                             Number(work, lanes=one), factor).lanes)
            return following

        some = sums[first:first + at_once]
        totals = writer.repeat(a.columns, [(vector, one.lanes) for one in some], step, unrolls=False)
        found += [products.result(columns, Number(work, lanes=total)) for total in totals]
    return body.gathered(found, products.d)


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
