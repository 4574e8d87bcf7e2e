"""``D = A*B + C`` in vectors: a row of C at a time, to which an element of A times a row of B is added.

Floating-point products are added in ascending k with fused multiply-adds (where the processor has none, they are
rounded first), in float (fp64: in double), and rounded to D's type at the end. Integers are exact, modulo the width of
D or saturated.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from coopmat.formats import Format, format_of
from coopmat.spirv.analysis.matrix_uses import FLOAT_FORMATS
from coopmat.spirv.analysis.types import IntType, MatrixType, Type
from coopmat.targets.cpu.matrix.body import Body, Features, Made, is_large, plain_type, row_type
from coopmat.targets.cpu.matrix.operation import Multiply
from coopmat.targets.cpu.matrix.rows import pitch_of
from coopmat.targets.cpu.matrix.types import element_type
from coopmat.targets.cpu.matrix.vnni import can_multiply, multiply_rows
from coopmat.targets.llvm.arithmetic.conversions import narrowed, saturated
from coopmat.targets.llvm.arithmetic.floats import from_bf16
from coopmat.targets.llvm.arithmetic.integers import resized
from coopmat.targets.llvm.numbers import NumberWriter
from coopmat.targets.llvm.values import Number, bits_of
from coopmat.targets.llvm.writer import Writer

BLOCK_ROWS, BLOCK_REGISTERS = 4, 2  # of large products: their sums stay in registers over k
MOST_UNROLLED = 2048  # multiply-adds of registers that stand in the code one after the other
FUSED = frozenset({"fma", "avx512f"})  # features with fused multiply-adds
FLOAT_TYPES: dict[str, Type] = {name: kind for kind, name in FLOAT_FORMATS.items()}
INSTRUCTIONS = {"i64": 4, "i128": 64}  # for a product, about, where it takes more than one


def multiply(body: Body, operation: Multiply) -> Made:
    (a, b, c), d = operation.operands, operation.result
    described = [format_of(name) for name in operation.formats]
    parameters = [plain_type(kind) for kind in (a, b, c)]
    is_plain = not any(map(is_large, (a, b, c, d)))
    if is_plain and not operation.saturates and can_multiply(body.features, (a, b, c), described):
        rows = multiply_rows(body, (a, b, c), described)
        return parameters, plain_type(d), body.gathered(rows, d)
    work = _work_type(described, operation.saturates)
    products = _Products(operation.operands, d, described, work, operation.saturates)
    if not is_plain:
        return parameters, plain_type(d), _in_blocks(body, products)
    makes = _unrolled if _length(body, a, b, products.work) <= MOST_UNROLLED else _looped
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
        return rows.lanes(_from_work(rows, total, self.formats[3], self.d, self.is_saturating))


def _length(body: Body, a: MatrixType, b: MatrixType, work: str) -> int:
    """How long the code of all products is, in multiply-adds of registers."""
    registers = -(-b.columns * (bits_of(work) // 8) // register_bytes(body.features))
    return a.rows * a.columns * registers * INSTRUCTIONS.get(work, 1)


def register_bytes(features: Features) -> int:
    """The size of a vector register."""
    return next((nbytes for name, nbytes in (("avx512f", 64), ("avx", 32)) if name in features), 16)


def _work_type(formats: list[Format], saturating: bool) -> str:
    """The type that sums are formed in."""
    if formats[0].is_float:
        return "double" if any(one.bits == 64 for one in formats) else "float"
    widest = max(one.bits for one in formats)
    if saturating:
        return "i64" if widest <= 32 else "i128"
    return "i64" if widest == 64 else "i32"


def to_work(rows: NumberWriter, number: Number, fmt: Format, work: str) -> Number:
    """Elements of a format as the type that sums are formed in."""
    if fmt.is_float:
        if fmt.name == "bf16":
            number = from_bf16(rows, number)
        elif fmt.name == "tf32":
            bits = rows.apply("bitcast {t} {0} to {r}", "i32", number)
            kept = rows.apply("and {t} {0}, {1}", "i32", bits, rows.constant("i32", ~0x1FFF))
            number = rows.apply("bitcast {t} {0} to {r}", "float", kept)
        return number if number.type == work else rows.apply("fpext {t} {0} to {r}", work, number)
    if fmt.name == "uint4":
        number = rows.apply("and {t} {0}, {1}", "i8", number, rows.constant("i8", 15))
    if number.type == work:
        return number
    return rows.apply(("sext" if fmt.is_signed else "zext") + " {t} {0} to {r}", work, number)


def _from_work(rows: NumberWriter, number: Number, fmt: Format, kind: MatrixType, saturating: bool) -> Number:
    """Sums as elements of D."""
    if fmt.is_float:
        return narrowed(rows, number, FLOAT_TYPES[fmt.name], "rte")
    llvm = element_type(kind)
    if saturating:
        return saturated(rows, number, llvm, from_signed=True, to_signed=fmt.is_signed)
    result = resized(rows, number, llvm, signed=True)
    if kind.component == IntType(4):
        four = rows.constant("i8", 4)
        result = rows.apply("ashr {t} {0}, {1}", "i8", rows.apply("shl {t} {0}, {1}", "i8", result, four), four)
    return result


def _add_product(body: Body, rows: NumberWriter, total: Number, a: Number, b: Number) -> Number:
    if total.type in ("float", "double"):
        if body.features & FUSED:
            return rows.intrinsic("fma", total.type, a, b, total)
        return rows.apply("fadd {t} {0}, {1}", total.type, total, rows.apply("fmul {t} {0}, {1}", total.type, a, b))
    return rows.apply("add {t} {0}, {1}", total.type, total, rows.apply("mul {t} {0}, {1}", total.type, a, b))


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
            sums[m] = _add_product(body, columns, sums[m], Number(work, lanes=columns.splat(work, one)), factor)
    return body.gathered([products.result(columns, one) for one in sums], products.d)


def _looped(body: Body, products: _Products) -> str:
    """D, in loops over its rows and over k, with everything in memory."""
    a, b, c = products.operands
    writer, work, columns = body.writer, products.work, NumberWriter(body.writer, b.columns)
    vector, row_of_d = columns.vector(work), row_type(products.d)
    a_slot, b_slot, c_slot = (_in_memory(body, parameter, kind, fmt, work) for parameter, kind, fmt in
                              zip(("%0", "%1", "%2"), (a, b, c), products.formats, strict=False))
    d_slot = body.buffer(products.d)

    def row(m: str) -> None:
        a_row = writer.line(a_slot, m, pitch_of(a.columns, work))

        def step(k: str, total: list[str]) -> list[str]:
            element = writer.let(f"load {work}, ptr {body.address(a_row, work, k)}")
            factor = writer.let(f"load {vector}, ptr {body.address(b_slot, vector, k)}")
            return [_add_product(body, columns, Number(work, lanes=total[0]), Number(
                work, lanes=columns.splat(work, element)), Number(work, lanes=factor)).lanes]

        start = writer.let(f"load {vector}, ptr {body.address(c_slot, vector, m)}")
        total, = writer.repeat(a.columns, [(vector, start)], step, unrolls=work not in INSTRUCTIONS)
        target = writer.line(d_slot, m, products.d.columns * products.d.component.size)
        found = products.result(columns, Number(work, lanes=total))
        writer.do(f"store {row_of_d} {found}, ptr {target}, align {products.d.component.size}")

    writer.count(a.rows, row, unrolls=False)
    return body.from_buffer(d_slot, products.d)


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


# --------------------------------------------------------------------------------------
# Large matrices
# --------------------------------------------------------------------------------------


def _in_blocks(body: Body, products: _Products) -> str:
    """D, in loops over blocks of it and over k, from memory to memory."""
    a, b, c = products.operands
    writer, d = body.writer, products.d
    sources = [body.to_buffer(f"%{place}", kind) for place, kind in enumerate((a, b, c))]
    target = body.result(d)
    width = max(1, BLOCK_REGISTERS * register_bytes(body.features) * 8 // bits_of(products.work))

    def block(m: str, height: int, n: str, columns: int) -> None:
        _Block(body, products, NumberWriter(writer, columns), sources, height).write(target, m, n)

    def blocks_of_rows(n: str, columns: int) -> None:
        _in_parts(writer, d.rows, BLOCK_ROWS, lambda m, height: block(m, height, n, columns))

    _in_parts(writer, d.columns, width, blocks_of_rows)
    return body.from_buffer(target, d)


def _in_parts(writer: Writer, count: int, size: int, part: Callable[[str, int], None], start: int = 0) -> None:
    """Loops over parts of ``size``, a power of two, and of half of it where less remains: ``part`` gets where a part
    begins, and its size."""
    def turn(number: str) -> None:
        offset = writer.let(f"mul i64 {number}, {size}")
        part(writer.let(f"add i64 {offset}, {start}"), size)

    whole, rest = divmod(count, size)
    writer.count(whole, turn, unrolls=False)
    if rest:
        _in_parts(writer, rest, size // 2, part, start + whole * size)


@dataclass(frozen=True)
class _Block:
    """Some rows and columns of D. numbers: writes numbers of these columns; sources: the addresses of A, B and C."""

    body: Body
    products: _Products
    numbers: NumberWriter
    sources: list[str]
    height: int

    def write(self, target: str, m: str, n: str) -> None:
        """Compute the block from row ``m`` and column ``n`` on, and store it."""
        a, *_ = self.products.operands
        writer, work, d = self.body.writer, self.products.work, self.products.d
        rows = [writer.let(f"add i64 {m}, {row}") for row in range(self.height)]
        vector = self.numbers.vector(work)
        start = [(vector, self._row(2, row, n).lanes) for row in rows]

        def step(k: str, sums: list[str]) -> list[str]:
            factor = self._row(1, k, n)
            return [_add_product(self.body, self.numbers, Number(work, lanes=total), self._element(row, k),
                                 factor).lanes for row, total in zip(rows, sums, strict=True)]

        sums = writer.repeat(a.columns, start, step, unrolls=False)
        for row, total in zip(rows, sums, strict=True):
            found = self.products.result(self.numbers, Number(work, lanes=total))
            writer.do(f"store {self.numbers.vector(element_type(d))} {found}, ptr {self._address(target, d, row, n)}, "
                      f"align {d.component.size}")

    def _address(self, base: str, kind: MatrixType, row: str, column: str) -> str:
        line = self.body.writer.line(base, row, kind.columns * kind.component.size)
        return self.body.address(line, element_type(kind), column)

    def _row(self, place: int, row: str, n: str) -> Number:
        """The columns' elements of a row of B or C, in the type of sums."""
        kind = self.products.operands[place]
        text = self.body.writer.let(f"load {self.numbers.vector(element_type(kind))}, ptr "
                                    f"{self._address(self.sources[place], kind, row, n)}, align {kind.component.size}")
        number = to_work(self.numbers, Number(element_type(kind), lanes=text), self.products.formats[place],
                         self.products.work)
        return Number(self.products.work, lanes=self.numbers.lanes(number))

    def _element(self, row: str, k: str) -> Number:
        """An element of A, the same for all columns."""
        kind = self.products.operands[0]
        text = self.body.writer.let(f"load {element_type(kind)}, ptr {self._address(self.sources[0], kind, row, k)}")
        return to_work(self.numbers, Number(element_type(kind), text), self.products.formats[0], self.products.work)
