"""The operations of reductions and scans over the work-items of a group.

A work-item that takes no part stands in with a neutral number, which leaves every other one as it is.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from dataclasses import dataclass

from coopmat.diagnostics import ValidationError
from coopmat.spirv.analysis.types import BoolType, FloatType, IntType, Type
from coopmat.targets.llvm.arithmetic.floats import through_float
from coopmat.targets.llvm.arithmetic.integers import Function, is_bf16, plain
from coopmat.targets.llvm.numbers import NumberWriter
from coopmat.targets.llvm.values import Number, literal, llvm_type

Limit = Callable[[int], "float | bool"]  # by the width of the integer


@dataclass(frozen=True)
class Reduction:
    """An operation on two numbers, repeated.

    kind: of the numbers. neutral: what stands in for a work-item that takes no part. identity: the first number of an
    exclusive scan. whole: LLVM's name of the reduction, if there is one. is_ordered: the order makes a difference.
    """

    kind: type[Type]
    function: Function
    neutral: Limit
    identity: Limit
    whole: str = ""
    is_ordered: bool = False

    def of(self, numbers: NumberWriter, kind: Type, name: str) -> Folding:
        """The reduction for a type of numbers. ValidationError if it is none for them."""
        if not isinstance(kind.scalar, self.kind):
            raise ValidationError("operand-type", f"{name} has no operands of type {kind}")
        return Folding(numbers, self, kind.scalar)


class Folding:
    """A reduction of numbers of one type; of bf16 numbers, which are held as their bits, there is none of LLVM's."""

    def __init__(self, numbers: NumberWriter, reduction: Reduction, kind: Type) -> None:
        self.is_ordered = reduction.is_ordered
        self.llvm = llvm_type(kind)
        self._is_narrow = is_bf16(kind)
        self.whole = "" if self._is_narrow else reduction.whole
        self._numbers = numbers
        self._function = through_float(reduction.function, self._is_narrow)
        self.neutral, self.identity = (self._constant(limit(8 * kind.size)) for limit in (
            reduction.neutral, reduction.identity))

    def _constant(self, value: float | bool) -> Number:
        if not self._is_narrow:
            return Number(self.llvm, literal(self.llvm, value))
        return self._numbers.constant("i16", struct.unpack("<I", struct.pack("<f", value))[0] >> 16)

    def both(self, a: Number, b: Number) -> Number:
        """The operation on two numbers."""
        return self._function(self._numbers, a, b)


# --------------------------------------------------------------------------------------
# The table
# --------------------------------------------------------------------------------------


def _smaller(predicate: str) -> Function:
    """The one for which the comparison with the other holds; a number, if the other is NaN."""

    def function(numbers: NumberWriter, a: Number, b: Number) -> Number:
        beats = numbers.apply(f"fcmp {predicate} {{t}} {{0}}, {{1}}", "i1", b, a)
        is_nan = numbers.apply("fcmp uno {t} {0}, {0}", "i1", a)
        return numbers.select(numbers.apply("or {t} {0}, {1}", "i1", beats, is_nan), b, a)

    return function


def _integers(operation: str, limit: Limit, intrinsic: bool = False) -> Reduction:
    function = plain(operation + " {t} {0}, {1}")
    if intrinsic:
        function = lambda numbers, a, b: numbers.intrinsic(operation, a.type, a, b)  # noqa: E731
    return Reduction(IntType, function, limit, limit, operation)


def _always(number: float | bool) -> Limit:
    return lambda width: number


ZERO, ONE, MINUS_ONE = map(_always, (0, 1, -1))

REDUCTIONS: dict[str, Reduction] = {
    "IAdd": _integers("add", ZERO),
    "IMul": _integers("mul", ONE),
    "SMin": _integers("smin", lambda width: (1 << width - 1) - 1, True),
    "SMax": _integers("smax", lambda width: -(1 << width - 1), True),
    "UMin": _integers("umin", MINUS_ONE, True),
    "UMax": _integers("umax", ZERO, True),
    "BitwiseAnd": _integers("and", MINUS_ONE),
    "BitwiseOr": _integers("or", ZERO),
    "BitwiseXor": _integers("xor", ZERO),
    "LogicalAnd": Reduction(BoolType, plain("and {t} {0}, {1}"), ONE, ONE, "and"),
    "LogicalOr": Reduction(BoolType, plain("or {t} {0}, {1}"), ZERO, ZERO, "or"),
    "LogicalXor": Reduction(BoolType, plain("xor {t} {0}, {1}"), ZERO, ZERO, "xor"),
    "FAdd": Reduction(FloatType, plain("fadd {t} {0}, {1}"), _always(-0.0), ZERO, "fadd", is_ordered=True),
    "FMul": Reduction(FloatType, plain("fmul {t} {0}, {1}"), ONE, ONE, "fmul", is_ordered=True),
    "FMin": Reduction(FloatType, _smaller("olt"), _always(math.nan), _always(math.inf)),
    "FMax": Reduction(FloatType, _smaller("ogt"), _always(math.nan), _always(-math.inf)),
}
"""The operations of the group instructions, by the end of the instruction's name."""
