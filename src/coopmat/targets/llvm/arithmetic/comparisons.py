"""Comparisons and tests of numbers."""

from __future__ import annotations

from coopmat.targets.llvm.arithmetic.floats import bits, infinity
from coopmat.targets.llvm.arithmetic.integers import Function
from coopmat.targets.llvm.numbers import NumberWriter
from coopmat.targets.llvm.values import Number, float_bits

SMALLEST_NORMAL = {"half": 0x0400, "float": 0x00800000, "double": 0x0010000000000000}


def compare(predicate: str) -> Function:
    """``icmp`` or ``fcmp`` with a predicate, such as ``icmp eq``."""
    return lambda emitter, a, b: emitter.apply(predicate + " {t} {0}, {1}", "i1", a, b)


def is_infinite(emitter: NumberWriter, number: Number) -> Number:
    return compare("fcmp oeq")(emitter, magnitude(emitter, number), Number(number.type, infinity(number.type)))


def magnitude(emitter: NumberWriter, number: Number) -> Number:
    """|a|."""
    return emitter.intrinsic("fabs", number.type, number)


def is_finite(emitter: NumberWriter, number: Number) -> Number:
    """Neither infinite nor NaN."""
    return compare("fcmp one")(emitter, magnitude(emitter, number), Number(number.type, infinity(number.type)))


def is_normal(emitter: NumberWriter, number: Number) -> Number:
    smallest = Number(number.type, float_bits(number.type, SMALLEST_NORMAL[number.type]))
    return emitter.apply("and {t} {0}, {1}", "i1", is_finite(emitter, number),
                         compare("fcmp oge")(emitter, magnitude(emitter, number), smallest))


def sign_bit(emitter: NumberWriter, number: Number) -> Number:
    whole = bits(emitter, number)
    return compare("icmp slt")(emitter, whole, emitter.constant(whole.type, 0))
