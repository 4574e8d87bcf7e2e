"""Integer, floating-point and bit arithmetic on scalars, vectors and matrices."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from coopmat.diagnostics import UndefinedBehavior, ValidationError
from coopmat.spirv.analysis.types import MatrixType, Type, VectorType
from coopmat.spirv.grammar import Op
from coopmat.spirv.module import Instruction
from coopmat.targets.simulator.compiler import FunctionCompiler, Handler
from coopmat.targets.simulator.convergence import first_active
from coopmat.targets.simulator.matrix_groups import agreed_value, held
from coopmat.targets.simulator.state import Frame, Site, Step
from coopmat.targets.simulator.values import Array, Value, signed, slices_of, unsigned

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


def _division(function: Function) -> Handler:
    """An integer division: a zero divisor in an active lane is undefined behaviour."""

    def handle(compiler: FunctionCompiler, row: Instruction) -> Step:
        site, kind, divisor = compiler.site(row), compiler.result_type(row), compiler.slot(row.words[1])
        result, dividend = compiler.result(row), compiler.slot(row.words[0])
        divide = compute_alike(compiler, row, function)

        def execute(frame: Frame) -> None:
            slots = frame.slots
            values = slots[divisor]
            if values.all():
                divide(frame)
                return
            _refuse_zero(frame, site, kind, values)
            slots[result] = function(slots[dividend], np.where(values == 0, values.dtype.type(1), values))

        return execute

    return handle


def _refuse_zero(frame: Frame, site: Site, kind: Type, divisor: Array) -> None:
    zero = divisor == 0
    if isinstance(kind, MatrixType):
        zero = slices_of(kind, zero) & held(frame, kind).valid
    lanes = zero.any(axis=-1) if isinstance(kind, MatrixType | VectorType) else zero
    place = first_active(frame, lanes)
    if place is not None:
        raise UndefinedBehavior("an integer is divided by zero", site.where(frame, *place))


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
    return np.left_shift(base, shift_amount(shift, base))


def shift_right_arithmetic(base: Array, shift: Array) -> Array:
    return np.right_shift(base, shift_amount(shift, base))


def shift_right_logical(base: Array, shift: Array) -> Array:
    return signed(np.right_shift(unsigned(base), unsigned(shift_amount(shift, base))))


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
    """A bit-field instruction: offset and count are scalars of any integer type."""

    def handle(compiler: FunctionCompiler, row: Instruction) -> Step:
        is_vector = isinstance(compiler.result_type(row), VectorType)

        def apply(*values: Array) -> Array:
            *bases, offset, count = values
            if is_vector:
                offset, count = offset[..., None], count[..., None]
            return function(*bases, offset.astype(bases[0].dtype), count.astype(bases[0].dtype))

        return compiler.compute(row, apply, *row.words)

    return handle


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
    Op.UDiv: _division(of_unsigned(np.floor_divide)),
    Op.SDiv: _division(divide_signed),
    Op.FDiv: arithmetic(np.divide),
    Op.UMod: _division(of_unsigned(np.remainder)),
    Op.SRem: _division(remainder_signed),
    Op.SMod: _division(modulo_signed),
    Op.FRem: arithmetic(np.fmod),
    Op.FMod: arithmetic(np.remainder),
    Op.VectorTimesScalar: elementwise(_vector_times_scalar),
    Op.MatrixTimesScalar: _matrix_times_scalar,
    Op.Dot: elementwise(dot),
    Op.IAddCarry: elementwise(_add_carry),
    Op.ISubBorrow: elementwise(_subtract_borrow),
    Op.UMulExtended: elementwise(lambda a, b: (a * b, of_unsigned(multiply_high_unsigned)(a, b))),
    Op.SMulExtended: elementwise(lambda a, b: (a * b, multiply_high_signed(a, b))),
    Op.ShiftLeftLogical: elementwise(shift_left),
    Op.ShiftRightLogical: elementwise(shift_right_logical),
    Op.ShiftRightArithmetic: elementwise(shift_right_arithmetic),
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
