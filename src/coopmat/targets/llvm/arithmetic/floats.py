"""Floating-point arithmetic on numbers; those of bf16 are held as their bits, computed with as float and rounded."""

from __future__ import annotations

from coopmat.targets.llvm.arithmetic.integers import Function
from coopmat.targets.llvm.numbers import NumberWriter
from coopmat.targets.llvm.values import Number, float_bits

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
    """A float rounded to bf16, to nearest with ties to even; a NaN becomes the quiet one of its sign, or the machine's
    own."""
    if emitter.has_bf16:
        return emitter.apply("bitcast {t} {0} to {r}", "i16", emitter.apply("fptrunc {t} {0} to {r}", "bfloat", number))
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


def through_float(function: Function, narrow: bool) -> Function:
    """The function; on bf16 numbers if ``narrow``."""
    if not narrow:
        return function
    return lambda emitter, *numbers: to_bf16(emitter, function(emitter, *(from_bf16(emitter, one) for one in numbers)))


def negate(emitter: NumberWriter, number: Number) -> Number:
    """-a."""
    return emitter.apply("fneg {t} {0}", number.type, number)


def remainder(emitter: NumberWriter, a: Number, b: Number) -> Number:
    """The remainder with the sign of the dividend, exact."""
    if emitter.remainder is None:
        return emitter.apply("frem {t} {0}, {1}", a.type, a, b)
    wide = [one if one.type == "double" else emitter.apply("fpext {t} {0} to {r}", "double", one) for one in (a, b)]
    found = emitter.remainder(emitter, *wide)
    return found if a.type == "double" else emitter.apply("fptrunc {t} {0} to {r}", a.type, found)


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


def infinity(llvm: str) -> str:
    """Infinity as an operand."""
    return float_bits(llvm, {"half": 0x7C00, "float": 0x7F800000, "double": 0x7FF << 52}[llvm])
