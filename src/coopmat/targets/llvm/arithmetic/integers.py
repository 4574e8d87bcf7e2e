"""Integer and bit arithmetic on numbers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from coopmat.diagnostics import ValidationError
from coopmat.spirv.analysis.types import FloatType
from coopmat.targets.llvm.arithmetic.nearly import all_of, in_block
from coopmat.targets.llvm.numbers import NumberWriter
from coopmat.targets.llvm.values import Near, Number, Value, bits_of, literal

Function = Callable[..., Number]  # (emitter, numbers...) → number


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


def add(emitter: NumberWriter, a: Number, b: Number) -> Number:
    """a + b."""
    return _linear(emitter, "add", a, b, a.stride + b.stride)


def subtract(emitter: NumberWriter, a: Number, b: Number) -> Number:
    """a - b."""
    return _linear(emitter, "sub", a, b, a.stride - b.stride)


def multiply(emitter: NumberWriter, a: Number, b: Number) -> Number:
    """a * b."""
    for one, other in ((a, b), (b, a)):
        if one.is_linear and one.stride and other.is_single and _is_literal(other.base):
            return _linear(emitter, "mul", a, b, one.stride * int(other.base))
    found = _vary(emitter, "mul", a, b)
    for first, second in ((a.nearly, b.nearly), (b.nearly, a.nearly)):
        if found.lanes and first and second and not second.stride and (not first.stride or _is_literal(second.base)):
            stride = first.stride * int(second.base) if first.stride else 0
            return _with_near(emitter, found, "mul", first, second, stride)
    return found


def shift_left(emitter: NumberWriter, base: Number, shift: Number) -> Number:
    """The base shifted by an amount modulo its width."""
    amount = shift_amount(emitter, base, shift)
    if base.is_linear and base.stride and amount.is_single and _is_literal(amount.base):
        return _linear(emitter, "shl", base, amount, base.stride << int(amount.base))
    found = _vary(emitter, "shl", base, amount)
    if base.near and amount.is_single and (not base.near.stride or _is_literal(amount.base)):
        stride = base.near.stride << int(amount.base) if base.near.stride else 0
        return _with_near(emitter, found, "shl", base.near, Near(amount.base, 0, low=bits_of(amount.type)), stride)
    return found


def _is_literal(text: str) -> bool:
    return text.lstrip("-").isdigit()


def _linear(emitter: NumberWriter, operation: str, a: Number, b: Number, stride: int) -> Number:
    if not (a.is_linear and b.is_linear):
        found, one, other = _vary(emitter, operation, a, b), a.nearly, b.nearly
        if one is None or other is None:
            return found
        sign = 1 if operation == "add" else -1
        return _with_near(emitter, found, operation, one, other, one.stride + sign * other.stride)
    base = emitter.writer.let(f"{operation} {a.type} {a.base}, {b.base}")
    return Number(a.type, base, int(literal(a.type, stride)) if a.type != "i1" else stride)


def _with_near(emitter: NumberWriter, number: Number, operation: str, a: Near, b: Near, stride: int) -> Number:
    """A number that varies, with what the same operation makes of what is mostly known of its operands."""
    base = emitter.writer.let(f"{operation} {number.type} {a.base}, {b.base}")
    condition = all_of(emitter.writer, a.condition, b.condition)
    return replace(number, near=Near(base, int(literal(number.type, stride)), condition, min(a.low, b.low)))


def _vary(emitter: NumberWriter, operation: str, a: Number, b: Number) -> Number:
    return emitter.apply(operation + " {t} {0}, {1}", a.type, a, b)


def shift_amount(emitter: NumberWriter, base: Number, shift: Number) -> Number:
    """A shift as the base's type, modulo its width."""
    width = bits_of(base.type)
    if shift.is_single and _is_literal(shift.base):
        return emitter.constant(base.type, int(shift.base) % width)
    same = resized(emitter, shift, base.type, signed=False)
    return emitter.apply("and {t} {0}, {1}", base.type, same, emitter.constant(base.type, width - 1))


def shift_right(operation: str) -> Function:
    """``lshr`` or ``ashr``."""

    def function(emitter: NumberWriter, base: Number, shift: Number) -> Number:
        amount = shift_amount(emitter, base, shift)
        found = _vary(emitter, operation, base, amount)
        if base.is_single or not (amount.is_single and _is_literal(amount.base)):
            return found
        return in_block(emitter, found, operation, base, amount, 1 << int(amount.base))

    return function


def bit_and(emitter: NumberWriter, a: Number, b: Number) -> Number:
    """a & b; of a mask that takes the last bits, or all others, it is known where these stay in a block."""
    found = _vary(emitter, "and", a, b)
    for one, other in ((a, b), (b, a)):
        if found.lanes and other.is_single and _is_literal(other.base):
            mask = int(other.base)
            size = mask + 1 if mask > 0 else -mask
            if size > 1 and not size & size - 1:
                return in_block(emitter, found, "and", one, other, size, rises=mask > 0)
    return found


def resized(emitter: NumberWriter, number: Number, llvm: str, *, signed: bool) -> Number:
    """An integer in another width."""
    old, new = bits_of(number.type), bits_of(llvm)
    if old == new:
        return number
    if number.is_single and _is_literal(number.base):
        value = {"true": -1, "false": 0}[number.base] if old == 1 else int(number.base)
        return emitter.constant(llvm, value if signed or value >= 0 else value + (1 << old))
    if new < old:
        if number.is_linear:
            base = emitter.writer.let(f"trunc {number.type} {number.base} to {llvm}")
            stride = int(literal(llvm, number.stride)) if number.stride else 0
            return Number(llvm, base, stride, is_id=number.is_id and new >= 32)
        return _resized_near(emitter, emitter.apply("trunc {t} {0} to {r}", llvm, number), "trunc", number)
    operation = "sext" if signed else "zext"
    if number.is_single or (number.is_linear and number.is_id):
        base = emitter.writer.let(f"{operation} {number.type} {number.base} to {llvm}")
        return Number(llvm, base, number.stride, is_id=number.is_id)
    wide = emitter.apply(operation + " {t} {0} to {r}", llvm, number)
    return _resized_near(emitter, wide, operation, number) if old >= 32 else wide


def _resized_near(emitter: NumberWriter, found: Number, operation: str, number: Number) -> Number:
    """A number in another width, with what is mostly known of it. Signed numbers are taken not to wrap, as indices;
    unsigned ones may, where work-items that are not here have less than zero."""
    near = number.nearly
    if near is None:
        return found
    condition, stride, low = near.condition, near.stride, near.low
    if operation == "zext" and stride:
        if stride < 0:
            return found
        highest = emitter.constant(number.type, (1 << bits_of(number.type)) - 1 - stride * (emitter.size - 1))
        fits = emitter.writer.let(f"icmp ule {number.type} {near.base}, {highest.base}")
        condition = all_of(emitter.writer, condition, fits)
    base = emitter.writer.let(f"{operation} {number.type} {near.base} to {found.type}")
    if operation == "trunc":
        stride = int(literal(found.type, stride))
        if low >= bits_of(found.type):
            return Number(found.type, base, stride)
    return replace(found, near=Near(base, stride, condition, low))


FAR = 1 << 20  # stands for every number of a work-item that is further away


def bounded(emitter: NumberWriter, number: Number) -> Number:
    """An unsigned integer as an i32; large ones become :data:`FAR`."""
    if bits_of(number.type) >= 32:
        number = emitter.intrinsic("umin", number.type, number, emitter.constant(number.type, FAR))
    return resized(emitter, number, "i32", signed=False)


def divide(signed: bool) -> Function:
    """The truncated quotient; that by 0 is arbitrary."""
    return lambda emitter, a, b: _quotient(emitter, a, b, _safe_divisor(emitter, a, b, signed), signed)


def remainder(signed: bool) -> Function:
    """The remainder with the sign of the dividend."""

    def function(emitter: NumberWriter, a: Number, b: Number) -> Number:
        divisor = _safe_divisor(emitter, a, b, signed)
        quotient = _quotient(emitter, a, b, divisor, signed)
        product = multiply(emitter, quotient, divisor)
        if quotient.near and product.near is None:  # then the divisor is safe
            product = _with_near(emitter, product, "mul", quotient.near, Near(b.base, 0), 0)
        return subtract(emitter, a, product)

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
    if b.is_single and _is_literal(b.base):
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


def _quotient(emitter: NumberWriter, a: Number, b: Number, divisor: Number, signed: bool) -> Number:
    """The quotient by a safe divisor instead of ``b``; where the work-items' numbers stay in a block of its size, it is
    the same for all."""
    found = _truncated_quotient(emitter, a, divisor, signed)
    if a.is_single or not b.is_single:
        return found
    operation = "sdiv" if signed else "udiv"
    if not _is_literal(b.base):
        safe = emitter.intrinsic("smax" if signed else "umax", b.type, b, emitter.constant(b.type, 1))
        return in_block(emitter, found, operation, a, safe, b)
    size = int(b.base) if signed else int(b.base) % (1 << bits_of(b.type))
    return in_block(emitter, found, operation, a, b, size) if size > 1 else found


def _truncated_quotient(emitter: NumberWriter, a: Number, b: Number, signed: bool) -> Number:
    """Vectors of at most 32 bits are divided as doubles, which hold them and their truncated quotients exactly."""
    letter = "s" if signed else "u"
    if (a.is_single and b.is_single) or bits_of(a.type) > 32:
        return _vary(emitter, f"{letter}div", a, b)
    if b.is_single and _is_literal(b.base):
        return _vary(emitter, f"{letter}div", a, b)  # a product, as LLVM has it
    wide = [emitter.apply(f"{letter}itofp {{t}} {{0}} to {{r}}", "double", one) for one in (a, b)]
    return emitter.apply(f"fpto{letter}i {{t}} {{0}} to {{r}}", a.type,
                         emitter.apply("fdiv {t} {0}, {1}", "double", *wide))


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


def insert_field(emitter: NumberWriter, base: Number, insert: Number, offset: Number, count: Number) -> Number:
    offset, count = (resized(emitter, one, base.type, signed=False) for one in (offset, count))
    mask = shift_left(emitter, _ones(emitter, count), offset)
    kept = emitter.apply("xor {t} {0}, {1}", base.type, mask, emitter.constant(base.type, -1))
    old = emitter.apply("and {t} {0}, {1}", base.type, base, kept)
    new = emitter.apply("and {t} {0}, {1}", base.type, shift_left(emitter, insert, offset), mask)
    return emitter.apply("or {t} {0}, {1}", base.type, old, new)


def extract_unsigned_field(emitter: NumberWriter, base: Number, offset: Number, count: Number) -> Number:
    offset, count = (resized(emitter, one, base.type, signed=False) for one in (offset, count))
    moved = shift_right("lshr")(emitter, base, offset)
    return emitter.apply("and {t} {0}, {1}", base.type, moved, _ones(emitter, count))


def extract_signed_field(emitter: NumberWriter, base: Number, offset: Number, count: Number) -> Number:
    llvm = base.type
    offset, count = (resized(emitter, one, llvm, signed=False) for one in (offset, count))
    width = emitter.constant(llvm, bits_of(llvm))
    empty = subtract(emitter, width, count)
    left = shift_left(emitter, base, subtract(emitter, empty, offset))
    moved = shift_right("ashr")(emitter, left, empty)
    is_none = emitter.apply("icmp eq {t} {0}, {1}", "i1", count, emitter.constant(llvm, 0))
    return emitter.select(is_none, emitter.constant(llvm, 0), moved)


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


def carry(emitter: NumberWriter, a: Number, b: Number) -> tuple[Number, Number]:
    total = add(emitter, a, b)
    carried = emitter.apply("icmp ult {t} {0}, {1}", "i1", total, a)
    return total, emitter.apply("zext {t} {0} to {r}", a.type, carried)


def borrow(emitter: NumberWriter, a: Number, b: Number) -> tuple[Number, Number]:
    borrowed = emitter.apply("icmp ult {t} {0}, {1}", "i1", a, b)
    return subtract(emitter, a, b), emitter.apply("zext {t} {0} to {r}", a.type, borrowed)


def extended_product(signed: bool) -> Callable[[NumberWriter, Number, Number], tuple[Number, Number]]:
    high = multiply_high(signed)
    return lambda emitter, a, b: (multiply(emitter, a, b), high(emitter, a, b))


def negate(emitter: NumberWriter, number: Number) -> Number:
    """-a."""
    return subtract(emitter, emitter.constant(number.type, 0), number)


def invert(emitter: NumberWriter, number: Number) -> Number:
    return emitter.apply("xor {t} {0}, {1}", number.type, number, emitter.constant(number.type, -1))


def is_bf16(kind: object) -> bool:
    """Whether a type is bf16, which is held as its bits."""
    return isinstance(kind, FloatType) and kind.encoding is not None
