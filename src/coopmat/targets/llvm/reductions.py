"""Reductions and scans over the work-items of a group: in their order where the order makes a difference.

A work-item that takes no part stands in with a neutral number, which leaves every other one as it is.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from coopmat.diagnostics import ValidationError
from coopmat.spirv.analysis.types import BoolType, FloatType, IntType, Type
from coopmat.spirv.grammar import GroupOperation
from coopmat.targets.cpu.shuffles import present, rearranged
from coopmat.targets.llvm.emitter import Emitter
from coopmat.targets.llvm.instructions.floats import through_float
from coopmat.targets.llvm.instructions.integers import Function, is_bf16, plain
from coopmat.targets.llvm.values import Number, literal, llvm_type, suffix

Limit = Callable[[int], "float | bool"]  # by the width of the integer


def _smaller(predicate: str) -> Function:
    """The one for which the comparison with the other holds; a number, if the other is NaN."""

    def function(emitter: Emitter, a: Number, b: Number) -> Number:
        beats = emitter.apply(f"fcmp {predicate} {{t}} {{0}}, {{1}}", "i1", b, a)
        is_nan = emitter.apply("fcmp uno {t} {0}, {0}", "i1", a)
        return emitter.select(emitter.apply("or {t} {0}, {1}", "i1", beats, is_nan), b, a)

    return function


def _integers(operation: str, limit: Limit, intrinsic: bool = False) -> Reduction:
    function = plain(operation + " {t} {0}, {1}")
    if intrinsic:
        function = lambda emitter, a, b: emitter.intrinsic(operation, a.type, a, b)  # noqa: E731
    return Reduction(IntType, function, limit, limit, operation)


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

    def of(self, emitter: Emitter, kind: Type, name: str) -> Folding:
        """The reduction for a type of numbers. ValidationError if it is none for them."""
        if not isinstance(kind.scalar, self.kind):
            raise ValidationError("operand-type", f"{name} has no operands of type {kind}")
        return Folding(emitter, self, kind.scalar)


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


class Folding:
    """A reduction of numbers of one type."""

    def __init__(self, emitter: Emitter, reduction: Reduction, kind: Type) -> None:
        self.emitter = emitter
        self.is_ordered = reduction.is_ordered
        self.llvm = llvm_type(kind)
        self.is_narrow = is_bf16(kind)
        self.whole = "" if self.is_narrow else reduction.whole
        self._function = through_float(reduction.function, self.is_narrow)
        self.neutral, self.identity = (self._constant(limit(8 * kind.size)) for limit in (
            reduction.neutral, reduction.identity))

    def _constant(self, value: float | bool) -> Number:
        if not self.is_narrow:
            return Number(self.llvm, literal(self.llvm, value))
        import struct

        return self.emitter.constant("i16", struct.unpack("<I", struct.pack("<f", value))[0] >> 16)

    def both(self, a: Number, b: Number) -> Number:
        """The operation on two numbers."""
        return self._function(self.emitter, a, b)

    # --- of a sub-group -----------------------------------------------------------------

    def total(self, number: Number, start: Number | None = None) -> Number:
        """The reduction of a sub-group, after ``start``."""
        emitter = self.emitter
        here = present(emitter, number, self.neutral)
        if not self.whole:
            return Number(self.llvm, emitter.lane_of(self.prefixes(number, start), str(emitter.size - 1)))
        vector = emitter.vector(self.llvm)
        first = start if start is not None else self.neutral
        operands = [(vector, emitter.lanes(here))]
        if self.is_ordered:
            operands.insert(0, (self.llvm, first.base))
        found = Number(self.llvm, emitter.writer.call(
            self.llvm, f"llvm.vector.reduce.{self.whole}.{suffix(vector)}", operands))
        return found if self.is_ordered or start is None else self.both(start, found)

    def prefixes(self, number: Number, start: Number | None = None) -> Number:
        """The reduction of the work-items up to and including each, after ``start``."""
        here = present(self.emitter, number, self.neutral)
        if self.is_ordered:
            return self._one_by_one(here, start)
        distance = 1
        while distance < self.emitter.size:
            shifted = rearranged(self.emitter, here, self._behind(distance), self.neutral)
            here = self.both(shifted, here)
            distance *= 2
        return here if start is None else self.both(start, here)

    def _behind(self, distance: int) -> list[int | None]:
        return [lane - distance if lane >= distance else None for lane in range(self.emitter.size)]

    def _one_by_one(self, number: Number, start: Number | None) -> Number:
        emitter, vector = self.emitter, self.emitter.vector(self.llvm)
        found, result = start, "poison"
        for lane in range(emitter.size):
            own = Number(self.llvm, emitter.lane_of(number, str(lane)))
            found = own if found is None else self.both(found, own)
            result = emitter.writer.let(f"insertelement {vector} {result}, {self.llvm} {found.base}, i32 {lane}")
        return emitter.varying(self.llvm, result)

    def before(self, prefixes: Number, first: Number) -> Number:
        """Of an inclusive scan the exclusive one; ``first`` is for the first work-item."""
        emitter = self.emitter
        shifted = rearranged(emitter, prefixes, self._behind(1), first)
        if emitter.mask in (None, emitter.whole_mask):
            return shifted
        is_first = emitter.apply("icmp ule {t} {0}, {1}", "i1", emitter.lane_number(),
                                 Number("i32", emitter.first_lane()))
        return emitter.select(is_first, first, shifted)

    def scan(self, operation: int, number: Number) -> Number:
        """A reduction or a scan of a sub-group."""
        if operation == GroupOperation.Reduce:
            return self.total(number)
        prefixes = self.prefixes(number)
        return prefixes if operation == GroupOperation.InclusiveScan else self.before(prefixes, self.identity)

    def clustered(self, number: Number, size: int) -> Number:
        """The reduction of every ``size`` neighbouring work-items, for each of them."""
        emitter = self.emitter
        if size >= emitter.size:
            return self.total(number)
        here = present(emitter, number, self.neutral)
        starts = [lane // size * size for lane in range(emitter.size)]
        if self.is_ordered:
            members = [rearranged(emitter, here, [start + place for start in starts], here) for place in range(size)]
            found = members[0]
            for member in members[1:]:
                found = self.both(found, member)
            return found
        distance = 1
        while distance < size:
            other = rearranged(emitter, here, [lane ^ distance for lane in range(emitter.size)], here)
            here = self.both(here, other)
            distance *= 2
        return here
