"""Floating-point arithmetic. bf16 numbers, held as their bits, are computed with as float and rounded."""

from __future__ import annotations

from collections.abc import Callable

from coopmat.spirv.analysis.types import MatrixType
from coopmat.spirv.grammar import Op
from coopmat.spirv.module.instruction import Instruction
from coopmat.targets.llvm.emitter import Emitter, Handler
from coopmat.targets.llvm.instructions.integers import MATRIX_FUNCTIONS, Function, each, is_bf16, plain
from coopmat.targets.llvm.numbers import NumberWriter
from coopmat.targets.llvm.values import Number, Value, float_bits

SIGN = {"half": 0x8000, "float": 0x80000000, "double": 1 << 63}


def bits(emitter: NumberWriter, number: Number) -> Number:
    """A floating-point number's bits as an integer."""
    integer = {"half": "i16", "float": "i32", "double": "i64"}[number.type]
    return emitter.apply("bitcast {t} {0} to {r}", integer, number)


def of_bits(emitter: NumberWriter, number: Number, llvm: str) -> Number:
    """The floating-point number with these bits."""
    return emitter.apply("bitcast {t} {0} to {r}", llvm, number)


def from_bf16(emitter: NumberWriter, number: Number) -> Number:
    """The float of the same value."""
    wide = emitter.apply("zext {t} {0} to {r}", "i32", number)
    high = emitter.apply("shl {t} {0}, {1}", "i32", wide, emitter.constant("i32", 16))
    return of_bits(emitter, high, "float")


def to_bf16(emitter: NumberWriter, number: Number) -> Number:
    """A float rounded to bf16, to nearest with ties to even; a NaN becomes the quiet one of its sign."""
    i32 = lambda value: emitter.constant("i32", value)  # noqa: E731
    whole = bits(emitter, number)
    odd = emitter.apply("and {t} {0}, {1}", "i32", emitter.apply("lshr {t} {0}, {1}", "i32", whole, i32(16)), i32(1))
    raised = emitter.apply("add {t} {0}, {1}", "i32", emitter.apply("add {t} {0}, {1}", "i32", whole, i32(0x7FFF)), odd)
    sign = emitter.apply("and {t} {0}, {1}", "i32", whole, i32(0x80000000))
    quiet = emitter.apply("or {t} {0}, {1}", "i32", sign, i32(0x7FC00000))
    chosen = emitter.select(is_nan(emitter, number), quiet, raised)
    return emitter.apply("trunc {t} {0} to {r}", "i16", emitter.apply("lshr {t} {0}, {1}", "i32", chosen, i32(16)))


def is_nan(emitter: NumberWriter, number: Number) -> Number:
    """Whether it is a NaN."""
    return emitter.apply("fcmp uno {t} {0}, {0}", "i1", number)


def on_floats(function: Function, name: str = "") -> Handler:
    """A handler for operands and a result of one floating-point type; ``name``: of matrices, too."""
    if name:
        MATRIX_FUNCTIONS[name] = function

    def handle(emitter: Emitter, row: Instruction) -> Value:
        kind = emitter.result_type(row)
        if isinstance(kind, MatrixType) and name:
            from coopmat.targets.cpu.matrix.operations import elementwise_matrix

            return elementwise_matrix(emitter, row, name)
        return each(emitter, through_float(function, is_bf16(kind.scalar)),
                    [emitter.numbers(word) for word in row.words])

    return handle


def through_float(function: Function, narrow: bool) -> Function:
    """The function; on bf16 numbers if ``narrow``."""
    if not narrow:
        return function
    return lambda emitter, *numbers: to_bf16(emitter, function(emitter, *(from_bf16(emitter, one) for one in numbers)))


def negate(emitter: NumberWriter, number: Number) -> Number:
    """-a."""
    return emitter.apply("fneg {t} {0}", number.type, number)


def _negate(emitter: Emitter, row: Instruction) -> Value:
    kind = emitter.result_type(row)
    if is_bf16(kind.scalar) and not isinstance(kind, MatrixType):
        return tuple(emitter.apply("xor {t} {0}, {1}", "i16", one, emitter.constant("i16", 0x8000))
                     for one in emitter.numbers(row.words[0]))
    return on_floats(negate, "FNegate")(emitter, row) or ()


def remainder(emitter: NumberWriter, a: Number, b: Number) -> Number:
    """The remainder with the sign of the dividend, exact."""
    return emitter.apply("frem {t} {0}, {1}", a.type, a, b)


def modulo(emitter: NumberWriter, a: Number, b: Number) -> Number:
    """The remainder with the sign of the divisor; a zero has it, too."""
    rest = remainder(emitter, a, b)
    zero = Number(a.type, "0.0")
    is_rest = emitter.apply("fcmp une {t} {0}, {1}", "i1", rest, zero)
    signs = emitter.apply("xor {t} {0}, {1}", "i1", emitter.apply("fcmp olt {t} {0}, {1}", "i1", rest, zero),
                          emitter.apply("fcmp olt {t} {0}, {1}", "i1", b, zero))
    both = emitter.apply("and {t} {0}, {1}", "i1", is_rest, signs)
    moved = emitter.select(both, emitter.apply("fadd {t} {0}, {1}", a.type, rest, b), rest)
    return emitter.select(is_rest, moved, emitter.intrinsic("copysign", a.type, zero, b))


def _vector_times_scalar(emitter: Emitter, row: Instruction) -> Value:
    return on_floats(plain("fmul {t} {0}, {1}"))(emitter, row) or ()


def _dot(emitter: Emitter, row: Instruction) -> Value:
    """OpDot: rounded after each operation."""
    a, b = (emitter.numbers(word) for word in row.words)
    narrow = is_bf16(emitter.result_type(row).scalar)
    product = through_float(plain("fmul {t} {0}, {1}"), narrow)
    total = through_float(plain("fadd {t} {0}, {1}"), narrow)
    found = [product(emitter, x, y) for x, y in zip(a, b, strict=True)]
    result = found[0]
    for one in found[1:]:
        result = total(emitter, result, one)
    return (result,)


def _matrix_times_scalar(emitter: Emitter, row: Instruction) -> Value:
    from coopmat.targets.cpu.matrix.operations import scaled_matrix

    return scaled_matrix(emitter, row)


def infinity(llvm: str) -> str:
    """Infinity as an operand."""
    return float_bits(llvm, {"half": 0x7C00, "float": 0x7F800000, "double": 0x7FF << 52}[llvm])


Binary = Callable[[Emitter, Number, Number], Number]

OPERATIONS: dict[int, Handler] = {
    Op.FNegate: _negate,
    Op.FAdd: on_floats(plain("fadd {t} {0}, {1}"), "FAdd"),
    Op.FSub: on_floats(plain("fsub {t} {0}, {1}"), "FSub"),
    Op.FMul: on_floats(plain("fmul {t} {0}, {1}"), "FMul"),
    Op.FDiv: on_floats(plain("fdiv {t} {0}, {1}"), "FDiv"),
    Op.FRem: on_floats(remainder),
    Op.FMod: on_floats(modulo),
    Op.VectorTimesScalar: _vector_times_scalar,
    Op.MatrixTimesScalar: _matrix_times_scalar,
    Op.Dot: _dot,
}
