"""Integer and bit arithmetic."""

from __future__ import annotations

from collections.abc import Callable

from coopmat.diagnostics import ValidationError
from coopmat.spirv.analysis.types import FloatType, MatrixType
from coopmat.spirv.grammar import Op
from coopmat.spirv.module.instruction import Instruction
from coopmat.targets.llvm.emitter import Emitter, Handler
from coopmat.targets.llvm.numbers import NumberWriter
from coopmat.targets.llvm.values import Number, Value, bits_of, literal

Function = Callable[..., Number]  # (emitter, numbers...) → number


def elementwise(function: Function, *, count: int | None = None) -> Handler:
    """A handler that applies a function to the components of its operands; scalars go with every component.

    ``count``: so many of the words are operands.
    """

    def handle(emitter: Emitter, row: Instruction) -> Value:
        return each(emitter, function, [emitter.numbers(word) for word in row.words[:count]])

    return handle


def each(emitter: NumberWriter, function: Function, operands: list[tuple[Number, ...]]) -> Value:
    """The function on the components of vectors of one length; scalars go with every component."""
    length = max((len(operand) for operand in operands), default=1)
    if any(len(operand) not in (1, length) for operand in operands):
        raise ValidationError("operand-type", "the vectors of an instruction differ in length")
    return tuple(function(emitter, *(operand[place if len(operand) > 1 else 0] for operand in operands))
                 for place in range(length))


def plain(template: str) -> Function:
    """An instruction of LLVM on operands of the result's type."""
    return lambda emitter, *numbers: emitter.apply(template, numbers[0].type, *numbers)


MATRIX_FUNCTIONS: dict[str, Function] = {}
"""What instructions on matrices do with each element, by name."""


def on_matrices(numbers: Function, name: str) -> Handler:
    """The same instruction for numbers and, element by element, for matrices."""
    MATRIX_FUNCTIONS[name] = numbers

    def handle(emitter: Emitter, row: Instruction) -> Value:
        if isinstance(emitter.result_type(row), MatrixType):
            from coopmat.targets.cpu.matrix.operations import elementwise_matrix

            return elementwise_matrix(emitter, row, name)
        return each(emitter, numbers, [emitter.numbers(word) for word in row.words])

    return handle


# --------------------------------------------------------------------------------------
# Sums and products, which keep what is known of their operands
# --------------------------------------------------------------------------------------


def add(emitter: NumberWriter, a: Number, b: Number) -> Number:
    """a + b."""
    return _linear(emitter, "add", a, b, a.stride + b.stride)


def subtract(emitter: NumberWriter, a: Number, b: Number) -> Number:
    """a - b."""
    return _linear(emitter, "sub", a, b, a.stride - b.stride)


def multiply(emitter: NumberWriter, a: Number, b: Number) -> Number:
    """a * b."""
    for one, other in ((a, b), (b, a)):
        if one.is_linear and one.stride and other.is_uniform and _is_literal(other.base):
            return _linear(emitter, "mul", a, b, one.stride * int(other.base))
    return _vary(emitter, "mul", a, b)


def shift_left(emitter: NumberWriter, base: Number, shift: Number) -> Number:
    """The base shifted by an amount modulo its width."""
    amount = shift_amount(emitter, base, shift)
    if base.is_linear and base.stride and amount.is_uniform and _is_literal(amount.base):
        return _linear(emitter, "shl", base, amount, base.stride << int(amount.base))
    return _vary(emitter, "shl", base, amount)


def _is_literal(text: str) -> bool:
    return text.lstrip("-").isdigit()


def _linear(emitter: NumberWriter, operation: str, a: Number, b: Number, stride: int) -> Number:
    if not (a.is_linear and b.is_linear):
        return _vary(emitter, operation, a, b)
    base = emitter.writer.let(f"{operation} {a.type} {a.base}, {b.base}")
    return Number(a.type, base, int(literal(a.type, stride)) if a.type != "i1" else stride)


def _vary(emitter: NumberWriter, operation: str, a: Number, b: Number) -> Number:
    return emitter.apply(operation + " {t} {0}, {1}", a.type, a, b)


def shift_amount(emitter: NumberWriter, base: Number, shift: Number) -> Number:
    """A shift as the base's type, modulo its width."""
    width = bits_of(base.type)
    if shift.is_uniform and _is_literal(shift.base):
        return emitter.constant(base.type, int(shift.base) % width)
    same = resized(emitter, shift, base.type, signed=False)
    return emitter.apply("and {t} {0}, {1}", base.type, same, emitter.constant(base.type, width - 1))


def shift_right(operation: str) -> Function:
    """``lshr`` or ``ashr``."""
    return lambda emitter, base, shift: _vary(emitter, operation, base, shift_amount(emitter, base, shift))


def resized(emitter: NumberWriter, number: Number, llvm: str, *, signed: bool) -> Number:
    """An integer in another width."""
    old, new = bits_of(number.type), bits_of(llvm)
    if old == new:
        return number
    if number.is_uniform and _is_literal(number.base):
        value = int(number.base)
        return emitter.constant(llvm, value if signed or value >= 0 else value + (1 << old))
    if new < old:
        if number.is_linear:
            base = emitter.writer.let(f"trunc {number.type} {number.base} to {llvm}")
            return Number(llvm, base, int(literal(llvm, number.stride)), is_id=number.is_id and new >= 32)
        return emitter.apply("trunc {t} {0} to {r}", llvm, number)
    operation = "sext" if signed else "zext"
    if number.is_uniform or (number.is_linear and number.is_id):
        base = emitter.writer.let(f"{operation} {number.type} {number.base} to {llvm}")
        return Number(llvm, base, number.stride, is_id=number.is_id)
    wide = emitter.apply(operation + " {t} {0} to {r}", llvm, number)
    if number.is_linear and signed and old == 32:
        near = emitter.writer.let(f"sext i32 {number.base} to {llvm}")
        return Number(llvm, lanes=wide.lanes, near=(near, number.stride))
    return wide


# --------------------------------------------------------------------------------------
# Division: no divisor may trap
# --------------------------------------------------------------------------------------


def divide(signed: bool) -> Function:
    """The truncated quotient; that by 0 is arbitrary."""
    return lambda emitter, a, b: _quotient(emitter, a, _safe_divisor(emitter, a, b, signed), signed)


def remainder(signed: bool) -> Function:
    """The remainder with the sign of the dividend."""

    def function(emitter: NumberWriter, a: Number, b: Number) -> Number:
        divisor = _safe_divisor(emitter, a, b, signed)
        quotient = _quotient(emitter, a, divisor, signed)
        return subtract(emitter, a, _vary(emitter, "mul", quotient, divisor))

    return function


def modulo(emitter: NumberWriter, a: Number, b: Number) -> Number:
    """The remainder with the sign of the divisor."""
    rest = remainder(True)(emitter, a, b)
    zero = emitter.constant(a.type, 0)
    differs = emitter.apply("icmp slt {t} {0}, {1}", "i1", emitter.apply("xor {t} {0}, {1}", a.type, rest, b), zero)
    is_rest = emitter.apply("icmp ne {t} {0}, {1}", "i1", rest, zero)
    both = emitter.apply("and {t} {0}, {1}", "i1", differs, is_rest)
    return emitter.select(both, add(emitter, rest, b), rest)


def _safe_divisor(emitter: NumberWriter, a: Number, b: Number, signed: bool) -> Number:
    """The divisor, or 1 where it would trap: the smallest integer divided by -1 is itself."""
    one = emitter.constant(b.type, 1)
    if b.is_uniform and _is_literal(b.base):
        return b if int(b.base) not in (0, -1) else _safe_literal(emitter, a, b, one)
    traps = emitter.apply("icmp eq {t} {0}, {1}", "i1", b, emitter.constant(b.type, 0))
    if signed:
        overflows = _overflows(emitter, a, b)
        traps = emitter.apply("or {t} {0}, {1}", "i1", traps, overflows)
    return emitter.select(traps, one, b)


def _safe_literal(emitter: NumberWriter, a: Number, b: Number, one: Number) -> Number:
    return one if int(b.base) == 0 else emitter.select(_overflows(emitter, a, b), one, b)


def _overflows(emitter: NumberWriter, a: Number, b: Number) -> Number:
    width = bits_of(a.type)
    lowest = emitter.apply("icmp eq {t} {0}, {1}", "i1", a, emitter.constant(a.type, -(1 << width - 1)))
    minus = emitter.apply("icmp eq {t} {0}, {1}", "i1", b, emitter.constant(b.type, -1))
    return emitter.apply("and {t} {0}, {1}", "i1", lowest, minus)


def _quotient(emitter: NumberWriter, a: Number, b: Number, signed: bool) -> Number:
    """Vectors of at most 32 bits are divided as doubles, which hold them and their truncated quotients exactly."""
    letter = "s" if signed else "u"
    if (a.is_uniform and b.is_uniform) or bits_of(a.type) > 32:
        return _vary(emitter, f"{letter}div", a, b)
    if b.is_uniform and _is_literal(b.base):
        return _vary(emitter, f"{letter}div", a, b)  # a product, as LLVM has it
    wide = [emitter.apply(f"{letter}itofp {{t}} {{0}} to {{r}}", "double", one) for one in (a, b)]
    return emitter.apply(f"fpto{letter}i {{t}} {{0}} to {{r}}", a.type,
                         emitter.apply("fdiv {t} {0}, {1}", "double", *wide))


# --------------------------------------------------------------------------------------
# Bits
# --------------------------------------------------------------------------------------


def _and(emitter: Emitter, row: Instruction) -> Value:
    """OpBitwiseAnd. LLVM's back end truncates with it: it leaves operands wider than the result."""
    from coopmat.targets.llvm.values import llvm_type

    llvm = llvm_type(emitter.result_type(row).scalar)
    operands = [tuple(resized(emitter, one, llvm, signed=False) for one in emitter.numbers(word)) for word in row.words]
    return each(emitter, plain("and {t} {0}, {1}"), operands)


def count_bits(emitter: Emitter, row: Instruction) -> Value:
    """Number of one bits, in the result's type."""
    from coopmat.targets.llvm.values import llvm_type

    llvm = llvm_type(emitter.result_type(row).scalar)
    return tuple(resized(emitter, emitter.intrinsic("ctpop", one.type, one), llvm, signed=False)
                 for one in emitter.numbers(row.words[0]))


def reverse_bits(emitter: NumberWriter, number: Number) -> Number:
    """The bits in the opposite order."""
    return emitter.intrinsic("bitreverse", number.type, number)


def _ones(emitter: NumberWriter, count: Number) -> Number:
    """So many one bits at the low end."""
    llvm, width = count.type, bits_of(count.type)
    is_all = emitter.apply("icmp uge {t} {0}, {1}", "i1", count, emitter.constant(llvm, width))
    shift = emitter.select(is_all, emitter.constant(llvm, 0), count)
    ones = emitter.apply("shl {t} {0}, {1}", llvm, emitter.constant(llvm, 1), shift)
    return emitter.select(is_all, emitter.constant(llvm, -1),
                          emitter.apply("sub {t} {0}, {1}", llvm, ones, emitter.constant(llvm, 1)))


def _insert_field(emitter: NumberWriter, base: Number, insert: Number, offset: Number, count: Number) -> Number:
    offset, count = (resized(emitter, one, base.type, signed=False) for one in (offset, count))
    mask = shift_left(emitter, _ones(emitter, count), offset)
    kept = emitter.apply("xor {t} {0}, {1}", base.type, mask, emitter.constant(base.type, -1))
    old = emitter.apply("and {t} {0}, {1}", base.type, base, kept)
    new = emitter.apply("and {t} {0}, {1}", base.type, shift_left(emitter, insert, offset), mask)
    return emitter.apply("or {t} {0}, {1}", base.type, old, new)


def _extract_unsigned(emitter: NumberWriter, base: Number, offset: Number, count: Number) -> Number:
    offset, count = (resized(emitter, one, base.type, signed=False) for one in (offset, count))
    moved = shift_right("lshr")(emitter, base, offset)
    return emitter.apply("and {t} {0}, {1}", base.type, moved, _ones(emitter, count))


def _extract_signed(emitter: NumberWriter, base: Number, offset: Number, count: Number) -> Number:
    llvm = base.type
    offset, count = (resized(emitter, one, llvm, signed=False) for one in (offset, count))
    width = emitter.constant(llvm, bits_of(llvm))
    empty = subtract(emitter, width, count)
    left = shift_left(emitter, base, subtract(emitter, empty, offset))
    moved = shift_right("ashr")(emitter, left, empty)
    is_none = emitter.apply("icmp eq {t} {0}, {1}", "i1", count, emitter.constant(llvm, 0))
    return emitter.select(is_none, emitter.constant(llvm, 0), moved)


# --------------------------------------------------------------------------------------
# Wide results
# --------------------------------------------------------------------------------------


def multiply_high(signed: bool) -> Function:
    """The upper half of the product."""

    def function(emitter: NumberWriter, a: Number, b: Number) -> Number:
        width, extend = bits_of(a.type), "sext" if signed else "zext"
        double = f"i{2 * width}"
        wide = [emitter.apply(extend + " {t} {0} to {r}", double, one) for one in (a, b)]
        product = emitter.apply("mul {t} {0}, {1}", double, *wide)
        high = emitter.apply("lshr {t} {0}, {1}", double, product, emitter.constant(double, width))
        return emitter.apply("trunc {t} {0} to {r}", a.type, high)

    return function


def _carry(emitter: NumberWriter, a: Number, b: Number) -> tuple[Number, Number]:
    total = add(emitter, a, b)
    carried = emitter.apply("icmp ult {t} {0}, {1}", "i1", total, a)
    return total, emitter.apply("zext {t} {0} to {r}", a.type, carried)


def _borrow(emitter: NumberWriter, a: Number, b: Number) -> tuple[Number, Number]:
    borrowed = emitter.apply("icmp ult {t} {0}, {1}", "i1", a, b)
    return subtract(emitter, a, b), emitter.apply("zext {t} {0} to {r}", a.type, borrowed)


def pairs(function: Callable[[Emitter, Number, Number], tuple[Number, Number]]) -> Handler:
    """A handler for two results in a structure: those of all components, the first ones before the second ones."""

    def handle(emitter: Emitter, row: Instruction) -> Value:
        a, b = (emitter.numbers(word) for word in row.words)
        found = [function(emitter, x, y) for x, y in zip(a, b, strict=True)]
        return (*(first for first, _ in found), *(second for _, second in found))

    return handle


def _extended(signed: bool) -> Callable[[Emitter, Number, Number], tuple[Number, Number]]:
    high = multiply_high(signed)
    return lambda emitter, a, b: (multiply(emitter, a, b), high(emitter, a, b))


def negate(emitter: NumberWriter, number: Number) -> Number:
    """-a."""
    return subtract(emitter, emitter.constant(number.type, 0), number)


def _not(emitter: NumberWriter, number: Number) -> Number:
    return emitter.apply("xor {t} {0}, {1}", number.type, number, emitter.constant(number.type, -1))


def is_bf16(kind: object) -> bool:
    """Whether a type is bf16, which is held as its bits."""
    return isinstance(kind, FloatType) and kind.encoding is not None


OPERATIONS: dict[int, Handler] = {
    Op.SNegate: on_matrices(negate, "SNegate"),
    Op.IAdd: on_matrices(add, "IAdd"),
    Op.ISub: on_matrices(subtract, "ISub"),
    Op.IMul: on_matrices(multiply, "IMul"),
    Op.UDiv: on_matrices(divide(False), "UDiv"),
    Op.SDiv: on_matrices(divide(True), "SDiv"),
    Op.UMod: elementwise(remainder(False)),
    Op.SRem: elementwise(remainder(True)),
    Op.SMod: elementwise(modulo),
    Op.IAddCarry: pairs(_carry),
    Op.ISubBorrow: pairs(_borrow),
    Op.UMulExtended: pairs(_extended(False)),
    Op.SMulExtended: pairs(_extended(True)),
    Op.ShiftLeftLogical: elementwise(shift_left),
    Op.ShiftRightLogical: elementwise(shift_right("lshr")),
    Op.ShiftRightArithmetic: elementwise(shift_right("ashr")),
    Op.BitwiseOr: elementwise(plain("or {t} {0}, {1}")),
    Op.BitwiseXor: elementwise(plain("xor {t} {0}, {1}")),
    Op.BitwiseAnd: _and,
    Op.Not: elementwise(_not),
    Op.BitFieldInsert: elementwise(_insert_field),
    Op.BitFieldSExtract: elementwise(_extract_signed),
    Op.BitFieldUExtract: elementwise(_extract_unsigned),
    Op.BitReverse: elementwise(reverse_bits),
    Op.BitCount: count_bits,
}
