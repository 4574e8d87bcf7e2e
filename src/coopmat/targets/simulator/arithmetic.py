"""Integer, floating-point and bit arithmetic on scalars, vectors and matrices."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from coopmat.diagnostics import ValidationError
from coopmat.spirv.analysis.types import MatrixType, Type, VectorType
from coopmat.spirv.grammar import Op
from coopmat.spirv.module import Instruction
from coopmat.targets.simulator.compiler import FunctionCompiler, Handler
from coopmat.targets.simulator.matrix_groups import agreed_value
from coopmat.targets.simulator.state import Frame, Site, Step
from coopmat.targets.simulator.undefined import known, limits, may_be_moved, refuse
from coopmat.targets.simulator.values import Array, Value, signed, unsigned

Function = Callable[..., Value]


def of_unsigned(function: Function) -> Function:
    """The function on the operands read as unsigned; the result in the simulator's signed form."""
    return lambda *values: signed(function(*map(unsigned, values)))


def elementwise(function: Function) -> Handler:
    """A handler that applies ``function`` to the values of all operands."""
    return lambda compiler, row: compiler.compute(row, function, *row.words)


def arithmetic(function: Function) -> Handler:
    """The same for instructions whose operands all have the type of the result."""
    return lambda compiler, row: compute_alike(compiler, row, function)


def compute_alike(compiler: FunctionCompiler, row: Instruction, function: Function) -> Step:
    """A closure that applies ``function`` to operands of the result's type; ValidationError if one has another."""
    step, result = compiler.compute(row, function, *row.words), compiler.result_type(row)
    for found in map(compiler.type_of, row.words):
        if found != result:
            raise ValidationError("operand-type", f"{row.name} of type {result} has an operand of type {found}",
                                  row.offset)
    return step


# --------------------------------------------------------------------------------------
# Division
# --------------------------------------------------------------------------------------


def divide_signed(a: Array, b: Array) -> Array:
    """a / b, truncated; the smallest integer divided by -1 wraps."""
    quotient = np.floor_divide(a, b)
    inexact = (quotient * b != a) & ((a < 0) != (b < 0))
    return quotient + inexact.astype(a.dtype)


def remainder_signed(a: Array, b: Array) -> Array:
    """The remainder with the sign of ``a``."""
    return a - divide_signed(a, b) * b


def modulo_signed(a: Array, b: Array) -> Array:
    """The remainder with the sign of ``b``."""
    return a - np.floor_divide(a, b) * b


def _division(function: Function, symbol: str, is_signed: bool) -> Handler:
    """An integer division: undefined by zero in an active lane, and where a signed quotient overflows."""

    def handle(compiler: FunctionCompiler, row: Instruction) -> Step:
        site, kind, divisor = compiler.site(row), compiler.result_type(row), compiler.slot(row.words[1])
        result, dividend = compiler.result(row), compiler.slot(row.words[0])
        divide = compute_alike(compiler, row, function)
        constant = known(compiler, row.words[1])
        if constant is not None and not _is_doubtful(constant, is_signed):
            return divide

        def execute(frame: Frame) -> None:
            slots = frame.slots
            values = slots[divisor]
            if not _is_doubtful(values, is_signed):
                divide(frame)
                return
            if frame.batch.options.undefined:
                _refuse_division(frame, site, kind, symbol, is_signed, slots[dividend], values)
            if values.all():
                divide(frame)
            else:
                slots[result] = function(slots[dividend], np.where(values == 0, values.dtype.type(1), values))

        return execute

    return handle


def _is_doubtful(divisor: Array, is_signed: bool) -> bool:
    """Whether a divisor may be one that is undefined: 0, or -1 of a signed division."""
    if not is_signed:
        return not divisor.all()
    return bool((unsigned(divisor + divisor.dtype.type(1)) < 2).any())


def _refuse_division(frame: Frame, site: Site, kind: Type, symbol: str, is_signed: bool, a: Array, b: Array) -> None:
    lowest, highest = limits(8 * a.dtype.itemsize, is_signed)
    wide, divisor = (a, b) if is_signed else (unsigned(a), unsigned(b))

    def words(x: int, y: int) -> str:
        if y == 0:
            return (f"an integer is divided by zero: {x} {symbol} 0; test the divisor before, or let work-items "
                    "that have none skip the division")
        return (f"{x} {symbol} -1 overflows: the quotient {-x} is not from {lowest} to {highest}; test for -1 before, "
                "or divide in a wider type")

    wrong = divisor == 0
    if is_signed:
        wrong = wrong | ((divisor == -1) & (wide == lowest))
    refuse(frame, site, kind, wrong, words, wide, divisor)


# --------------------------------------------------------------------------------------
# Bits
# --------------------------------------------------------------------------------------


def _and(compiler: FunctionCompiler, row: Instruction) -> Step:
    """OpBitwiseAnd. LLVM's back end truncates with it: it leaves operands wider than the result."""
    dtype = compiler.result_type(row).dtype
    if all(compiler.type_of(word).dtype.itemsize <= dtype.itemsize for word in row.words):
        return compute_alike(compiler, row, np.bitwise_and)
    return compiler.compute(row, lambda a, b: np.bitwise_and(a.astype(dtype), b.astype(dtype)), *row.words)


def shift_amount(shift: Array, base: Array) -> Array:
    """A shift as ``base``'s type, modulo its width."""
    return (shift & shift.dtype.type(8 * base.dtype.itemsize - 1)).astype(base.dtype)


def shift_left(base: Array, shift: Array) -> Array:
    """The base shifted by amounts modulo its width."""
    return np.left_shift(base, shift_amount(shift, base))


def shift_right_arithmetic(base: Array, shift: Array) -> Array:
    """The same to the right, filled with the sign."""
    return np.right_shift(base, shift_amount(shift, base))


def shift_right_logical(base: Array, shift: Array) -> Array:
    """The same to the right, filled with zeros."""
    return _right_logical(base, shift_amount(shift, base))


def _right_logical(base: Array, shift: Array) -> Array:
    return signed(np.right_shift(unsigned(base), unsigned(shift)))


def _shift(function: Function, in_range: Function) -> Handler:
    """A shift: an amount that is negative, or not below the width, is undefined. ``in_range`` is the function for
    amounts in range, of the base's type; it spares the modulo, which pays for the test."""

    def handle(compiler: FunctionCompiler, row: Instruction) -> Step:
        step, kind, site = compiler.compute(row, function, *row.words), compiler.result_type(row), compiler.site(row)
        base, shift = map(compiler.slot, row.words)
        width, dtype = 8 * kind.dtype.itemsize, compiler.type_of(row.words[1]).dtype
        high = dtype.type(-width)
        constant = known(compiler, row.words[1])
        if may_be_moved(compiler, row) or (constant is not None and not (constant & high).any()):
            return step
        plain = compiler.compute(row, lambda a, b: in_range(a, b.astype(a.dtype, copy=False)), *row.words)

        def execute(frame: Frame) -> None:
            amount = frame.slots[shift]
            if not np.count_nonzero(np.bitwise_and(amount, high)):
                plain(frame)
                return
            if frame.batch.options.undefined:
                refuse(frame, site, kind, (amount & high) != 0, partial(_wrong_shift, width), frame.slots[base], amount)
            step(frame)

        return execute

    return handle


def _wrong_shift(width: int, base: int, amount: int) -> str:
    return (f"the {width}-bit integer {base} is shifted by {amount}, which is not from 0 to {width - 1}: limit the "
            f"amount, or write 'amount & {width - 1}' if it is meant modulo {width}")


def count_bits(value: Array) -> Array:
    """Number of one bits, in the value's own type."""
    return np.bitwise_count(unsigned(value)).astype(value.dtype)


def reverse_bits(value: Array) -> Array:
    """The bits of each integer in the opposite order."""
    data = np.ascontiguousarray(value.astype(value.dtype.newbyteorder(">")))[..., None]
    bits = np.unpackbits(data.view(np.uint8), axis=-1)
    return np.packbits(bits[..., ::-1], axis=-1).view(value.dtype.newbyteorder(">"))[..., 0].astype(value.dtype)


def _field_mask(base: Array, count: Array) -> Array:
    """``count`` one bits at the low end."""
    width = 8 * base.dtype.itemsize
    wide = np.where(count >= width, 0, count).astype(base.dtype)
    ones = np.left_shift(np.ones_like(base), wide) - base.dtype.type(1)
    return np.where(count >= width, base.dtype.type(-1), ones)


def insert_field(base: Array, insert: Array, offset: Array, count: Array) -> Array:
    """OpBitFieldInsert."""
    mask = shift_left(_field_mask(base, count), offset)
    return (base & ~mask) | (shift_left(insert, offset) & mask)


def extract_field_unsigned(base: Array, offset: Array, count: Array) -> Array:
    """OpBitFieldUExtract."""
    return shift_right_logical(base, offset) & _field_mask(base, count)


def extract_field_signed(base: Array, offset: Array, count: Array) -> Array:
    """OpBitFieldSExtract."""
    width = 8 * base.dtype.itemsize
    left = shift_left(base, (width - offset - count) & (width - 1))
    moved = shift_right_arithmetic(left, (width - count) & (width - 1))
    return np.where(count == 0, base.dtype.type(0), moved)


def _field(function: Function) -> Handler:
    """A bit-field instruction: offset and count are scalars of any integer type. A field that does not lie in the
    integer is undefined."""

    def handle(compiler: FunctionCompiler, row: Instruction) -> Step:
        kind, site = compiler.result_type(row), compiler.site(row)
        is_vector, width = isinstance(kind, VectorType), 8 * kind.dtype.itemsize
        places = [compiler.slot(word) for word in row.words[-2:]]

        def apply(*values: Array) -> Array:
            *bases, offset, count = values
            if is_vector:
                offset, count = offset[..., None], count[..., None]
            return function(*bases, offset.astype(bases[0].dtype), count.astype(bases[0].dtype))

        step = compiler.compute(row, apply, *row.words)
        constants = [known(compiler, word) for word in row.words[-2:]]
        if all(constant is not None for constant in constants) and not _is_outside(width, *constants).any():
            return step

        def execute(frame: Frame) -> None:
            offset, count = (frame.slots[place] for place in places)
            if frame.batch.options.undefined and (wrong := _is_outside(width, offset, count)).any():
                refuse(frame, site, kind.scalar, wrong, partial(_wrong_field, width), offset, count)
            step(frame)

        return execute

    return handle


def _is_outside(width: int, offset: Array, count: Array) -> Array:
    """Where a field does not lie in an integer of ``width`` bits."""
    outside = [(value < 0) | (value > width) for value in (offset, count)]
    return outside[0] | outside[1] | (offset.astype(np.int64) + count.astype(np.int64) > width)


def _wrong_field(width: int, offset: int, count: int) -> str:
    return (f"a bit field of {count} bits from bit {offset} on does not lie in an integer of {width} bits: offset and "
            f"count must not be negative, and together at most {width}")


# --------------------------------------------------------------------------------------
# Wide results
# --------------------------------------------------------------------------------------


def multiply_high_unsigned(a: Array, b: Array) -> Array:
    """The upper half of the product of unsigned integers (given and returned as unsigned arrays)."""
    width = 8 * a.dtype.itemsize
    if width < 64:
        return ((a.astype(np.uint64) * b.astype(np.uint64)) >> np.uint64(width)).astype(a.dtype)
    half, low = np.uint64(32), np.uint64(0xFFFFFFFF)
    a_high, a_low, b_high, b_low = a >> half, a & low, b >> half, b & low
    middle = a_high * b_low + ((a_low * b_low) >> half)
    carried = a_low * b_high + (middle & low)
    return a_high * b_high + (middle >> half) + (carried >> half)


def multiply_high_signed(a: Array, b: Array) -> Array:
    """The upper half of the product of signed integers."""
    high = signed(multiply_high_unsigned(unsigned(a), unsigned(b)))
    return high - np.where(a < 0, b, b.dtype.type(0)) - np.where(b < 0, a, a.dtype.type(0))


def _add_carry(a: Array, b: Array) -> tuple[Array, Array]:
    total = a + b
    return total, (unsigned(total) < unsigned(a)).astype(a.dtype)


def _subtract_borrow(a: Array, b: Array) -> tuple[Array, Array]:
    return a - b, (unsigned(a) < unsigned(b)).astype(a.dtype)


def dot(a: Array, b: Array) -> Array:
    """The scalar product of floating-point vectors, rounded after each operation."""
    products = a * b
    total = products[..., 0]
    for component in range(1, products.shape[-1]):
        total = total + products[..., component]
    return total


def _vector_times_scalar(vector: Array, factor: Array) -> Array:
    return vector * factor[..., None]


def _matrix_times_scalar(compiler: FunctionCompiler, row: Instruction) -> Step:
    site, factor, kind = compiler.site(row), compiler.slot(row.words[1]), compiler.result_type(row)
    if not isinstance(kind, MatrixType):
        raise ValidationError("matrix-times-scalar", f"{row.name} needs a cooperative matrix, not a value of type "
                              f"{kind}", row.offset)
    multiply = compiler.compute(row, lambda matrix, scalar: matrix * scalar[:, :1, None], *row.words)

    def execute(frame: Frame) -> None:
        agreed_value(frame, kind, frame.slots[factor], site, "scalar")
        multiply(frame)

    return execute


OPERATIONS: dict[int, Handler] = {
    Op.SNegate: arithmetic(np.negative),
    Op.FNegate: arithmetic(np.negative),
    Op.IAdd: arithmetic(np.add),
    Op.FAdd: arithmetic(np.add),
    Op.ISub: arithmetic(np.subtract),
    Op.FSub: arithmetic(np.subtract),
    Op.IMul: arithmetic(np.multiply),
    Op.FMul: arithmetic(np.multiply),
    Op.UDiv: _division(of_unsigned(np.floor_divide), "/", is_signed=False),
    Op.SDiv: _division(divide_signed, "/", is_signed=True),
    Op.FDiv: arithmetic(np.divide),
    Op.UMod: _division(of_unsigned(np.remainder), "%", is_signed=False),
    Op.SRem: _division(remainder_signed, "%", is_signed=True),
    Op.SMod: _division(modulo_signed, "%", is_signed=True),
    Op.FRem: arithmetic(np.fmod),
    Op.FMod: arithmetic(np.remainder),
    Op.VectorTimesScalar: elementwise(_vector_times_scalar),
    Op.MatrixTimesScalar: _matrix_times_scalar,
    Op.Dot: elementwise(dot),
    Op.IAddCarry: elementwise(_add_carry),
    Op.ISubBorrow: elementwise(_subtract_borrow),
    Op.UMulExtended: elementwise(lambda a, b: (a * b, of_unsigned(multiply_high_unsigned)(a, b))),
    Op.SMulExtended: elementwise(lambda a, b: (a * b, multiply_high_signed(a, b))),
    Op.ShiftLeftLogical: _shift(shift_left, np.left_shift),
    Op.ShiftRightLogical: _shift(shift_right_logical, _right_logical),
    Op.ShiftRightArithmetic: _shift(shift_right_arithmetic, np.right_shift),
    Op.BitwiseOr: arithmetic(np.bitwise_or),
    Op.BitwiseXor: arithmetic(np.bitwise_xor),
    Op.BitwiseAnd: _and,
    Op.Not: arithmetic(np.invert),
    Op.BitFieldInsert: _field(insert_field),
    Op.BitFieldSExtract: _field(extract_field_signed),
    Op.BitFieldUExtract: _field(extract_field_unsigned),
    Op.BitReverse: elementwise(reverse_bits),
    Op.BitCount: elementwise(count_bits),
}
