"""``D = A*B + C`` in vectors: a row of C at a time, to which an element of A times a row of B is added.

Floating-point products are added in ascending k with fused multiply-adds (where the processor has none, they are
rounded first), in float (fp64: in double), and rounded to D's type at the end. Integers are exact, modulo the width of
D or saturated.
"""

from __future__ import annotations

from coopmat.formats import Format, format_of
from coopmat.spirv.matrix_uses import FLOAT_FORMATS
from coopmat.spirv.types import IntType, MatrixType, Type
from coopmat.targets.cpu.conversions import narrowed, saturated
from coopmat.targets.cpu.floats import from_bf16
from coopmat.targets.cpu.integers import resized
from coopmat.targets.cpu.matrix.body import Body, Features, Made, plain_type
from coopmat.targets.cpu.matrix.operations import element_type
from coopmat.targets.cpu.matrix.vnni import can_multiply, multiply_rows
from coopmat.targets.cpu.number_writer import NumberWriter
from coopmat.targets.cpu.values import Number

MOST_UNROLLED = 2048  # multiply-adds of registers that stand in the code one after the other
FUSED = frozenset({"fma", "avx512f"})  # features with fused multiply-adds
FLOAT_TYPES: dict[str, Type] = {name: kind for kind, name in FLOAT_FORMATS.items()}
INSTRUCTIONS = {"i64": 4, "i128": 64}  # for a product, about, where it takes more than one


def multiply(body: Body) -> Made:
    """The multiply-accumulate of an operation."""
    a, b, c = body.operation.operands
    d = body.operation.result
    assert d is not None
    formats, is_saturating = body.operation.detail
    assert isinstance(formats, tuple)
    described = [format_of(name) for name in formats]
    parameters = [plain_type(kind) for kind in (a, b, c)]
    if not is_saturating and can_multiply(body.features, (a, b, c), described):
        rows = multiply_rows(body, (a, b, c), described)
        return parameters, plain_type(d), body.gathered(rows, d)
    columns = NumberWriter(body.writer, b.columns)
    work = _work_type(described, bool(is_saturating))
    sums = [to_work(columns, Number(element_type(c), lanes=row), described[2], work)
            for row in body.rows("%2", c)]
    factors = [to_work(columns, Number(element_type(b), lanes=row), described[1], work)
               for row in body.rows("%1", b)]
    if _length(body, a, b, work) <= MOST_UNROLLED:
        _unrolled(body, a, described[0], work, columns, factors, sums)
    else:
        sums = _looped(body, a, described[0], work, columns, factors, sums)
    rows = [columns.lanes(_from_work(columns, one, described[3], d, bool(is_saturating))) for one in sums]
    return parameters, plain_type(d), body.gathered(rows, d)


def _length(body: Body, a: MatrixType, b: MatrixType, work: str) -> int:
    """How long the code of all products is, in multiply-adds of registers."""
    registers = -(-b.columns * _bytes(work) // register_bytes(body.features))
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


def _unrolled(body: Body, a: MatrixType, fmt: Format, work: str, columns: NumberWriter, factors: list[Number],
              sums: list[Number]) -> None:
    """Every product in the code, in the order of k for all rows, so that many sums are formed side by side."""
    along, writer = NumberWriter(body.writer, a.columns), body.writer
    elements = [to_work(along, Number(element_type(a), lanes=row), fmt, work).lanes for row in body.rows("%0", a)]
    memory = body.spilled(elements, along.vector(work))
    line = 1 << (a.columns * _bytes(work) - 1).bit_length()
    for k, factor in enumerate(factors):
        for m in range(a.rows):
            address = writer.let(f"getelementptr i8, ptr {memory}, i64 {m * line + k * _bytes(work)}")
            one = writer.let(f"load {work}, ptr {address}")
            sums[m] = _add_product(body, columns, sums[m], Number(work, lanes=columns.splat(work, one)), factor)


def _looped(body: Body, a: MatrixType, fmt: Format, work: str, columns: NumberWriter, factors: list[Number],
            sums: list[Number]) -> list[Number]:
    """Loops over the rows of A and over k, with everything in memory."""
    writer, along = body.writer, NumberWriter(body.writer, a.columns)
    vector = columns.vector(work)
    a_slot = writer.slot(f"[{a.rows} x {along.vector(work)}]", align=64)
    b_slot = writer.slot(f"[{len(factors)} x {vector}]", align=64)
    c_slot = writer.slot(f"[{len(sums)} x {vector}]", align=64)
    line = 1 << (a.columns * _bytes(work) - 1).bit_length()
    for number, row in enumerate(body.rows("%0", a)):
        found = to_work(along, Number(element_type(a), lanes=row), fmt, work)
        address = writer.let(f"getelementptr i8, ptr {a_slot}, i64 {number * line}")
        writer.do(f"store {along.vector(work)} {found.lanes}, ptr {address}, align 4")
    for slot, numbers in ((b_slot, factors), (c_slot, sums)):
        for number, one in enumerate(numbers):
            writer.do(f"store {vector} {columns.lanes(one)}, ptr {body.address(slot, vector, number)}")

    def row_of_c(m: str, carried: list[str]) -> list[str]:
        c_at = body.address(c_slot, vector, m)
        first = writer.let(f"load {vector}, ptr {c_at}")
        offset = writer.let(f"mul i64 {m}, {line}")
        a_row = writer.let(f"getelementptr i8, ptr {a_slot}, i64 {offset}")

        def step(k: str, total: list[str]) -> list[str]:
            element = writer.let(f"load {work}, ptr {body.address(a_row, work, k)}, align 4")
            factor = writer.let(f"load {vector}, ptr {body.address(b_slot, vector, k)}")
            added = _add_product(body, columns, Number(work, lanes=total[0]),
                                 Number(work, lanes=columns.splat(work, element)), Number(work, lanes=factor))
            return [added.lanes]

        total, = writer.repeat(a.columns, [(vector, first)], step)
        writer.do(f"store {vector} {total}, ptr {c_at}")
        return carried

    writer.repeat(a.rows, [], row_of_c)
    return [Number(work, lanes=writer.let(f"load {vector}, ptr {body.address(c_slot, vector, number)}"))
            for number in range(len(sums))]


def _bytes(work: str) -> int:
    return {"float": 4, "double": 8}.get(work) or int(work[1:]) // 8
