"""Floats into smaller ones, by integers: drivers convert twice where they should once (fp64 to fp16), and take a number
that was converted and converted back for the number itself, so that no comparison tells how it was rounded."""

from __future__ import annotations

from coopmat.spirv.analysis.types import BoolType, FloatType, Type
from coopmat.spirv.grammar import FPRoundingMode, Op
from coopmat.spirv.transform.to_vulkan.instructions.arithmetic import bits_of, like
from coopmat.spirv.transform.to_vulkan.translation import Translation
from coopmat.spirv.transform.to_vulkan.types import UNSIGNED

_MANTISSA = {2: 10, 4: 23, 8: 52}
"""Bytes of a format → the bits of its mantissa that are written down."""


def is_by_integers(before: FloatType, after: FloatType, mode: FPRoundingMode) -> bool:
    """Whether a conversion is one that drivers cannot do."""
    return before.size > after.size and (mode != FPRoundingMode.RTE or before.size > 2 * after.size)


def narrowed(t: Translation, value: int, before: Type, after: Type, mode: FPRoundingMode) -> int:
    """A float, or vector of floats, of a smaller format."""
    return _Narrowing(t, before, after).of(value, mode)


class _Narrowing:
    """Instructions on the numbers that floats of one format are, towards another."""

    def __init__(self, t: Translation, before: Type, after: Type) -> None:
        self.writer, self._before, self._after = t.writer, before, after
        self.kind = like(UNSIGNED[before.scalar.size], before)
        self.boolean = like(BoolType(), before)
        self._bits_of = lambda value: bits_of(t, value, before)[0]

    def of(self, value: int, mode: FPRoundingMode) -> int:
        """The float of the smaller format."""
        wide, narrow = (one.scalar.size * 8 for one in (self._before, self._after))
        mantissa, kept = _MANTISSA[wide // 8], _MANTISSA[narrow // 8]
        infinite = (1 << wide - 1) - (1 << mantissa)
        largest = (1 << narrow - 1) - (1 << kept)  # of the smaller format: its infinity
        bits = self._bits_of(value)
        sign = self.op(Op.ShiftRightLogical, bits, self.number(wide - 1))
        size = self.op(Op.BitwiseAnd, bits, self.number((1 << wide - 1) - 1))
        grows = None if mode in (FPRoundingMode.RTE, FPRoundingMode.RTZ) else \
            self.test(Op.IEqual, sign, self.number(mode == FPRoundingMode.RTN))
        rounded = self._rounded(*self._significand(size, mantissa, kept), mode, grows)
        end = self.number(largest - (mode == FPRoundingMode.RTZ))
        if grows is not None:
            end = self.choose(grows, end, self.number(largest - 1))
        rounded = self.choose(self.test(Op.UGreaterThan, rounded, end), end, rounded)
        special = self.op(Op.BitwiseOr, self.number(largest), self.op(
            Op.ShiftRightLogical, self.op(Op.BitwiseAnd, size, self.number((1 << mantissa) - 1)),
            self.number(mantissa - kept)))
        quiet = self.op(Op.BitwiseOr, special, self.number(1 << kept - 1))
        special = self.choose(self.test(Op.UGreaterThan, size, self.number(infinite)), quiet, special)
        found = self.choose(self.test(Op.UGreaterThanEqual, size, self.number(infinite)), special, rounded)
        found = self.op(Op.BitwiseOr, found, self.op(Op.ShiftLeftLogical, sign, self.number(narrow - 1)))
        small = like(UNSIGNED[narrow // 8], self._after)
        return self.writer.op(Op.Bitcast, self._after, self.writer.converted(found, self.kind, small))

    def _significand(self, size: int, mantissa: int, kept: int) -> tuple[int, int]:
        """What is to be shifted to the right, and by how much: of numbers that are normal in the smaller format
        exponent and mantissa, of others the mantissa alone."""
        bias = _bias(self._before) - _bias(self._after)
        exponent = self.op(Op.ShiftRightLogical, size, self.number(mantissa))
        is_small = self.test(Op.ULessThanEqual, exponent, self.number(bias))
        moved = self.op(Op.ISub, size, self.number(bias << mantissa))
        alone = self.op(Op.BitwiseAnd, size, self.number((1 << mantissa) - 1))
        is_zero = self.test(Op.IEqual, exponent, self.number(0))
        alone = self.choose(is_zero, alone, self.op(Op.BitwiseOr, alone, self.number(1 << mantissa)))
        # Beyond mantissa + 2 bits nothing is left, whatever is added.
        far = self.op(Op.ISub, self.number(mantissa - kept + bias + 1), exponent)
        most = self.number(mantissa + 2)
        far = self.choose(self.test(Op.UGreaterThan, far, most), most, far)
        return self.choose(is_small, alone, moved), self.choose(is_small, far, self.number(mantissa - kept))

    def _rounded(self, number: int, places: int, mode: FPRoundingMode, grows: int | None) -> int:
        """A number without its lowest places. ``grows``: whether it becomes larger if they are not zeros."""
        one, zero = self.number(1), self.number(0)
        if mode == FPRoundingMode.RTE:
            odd = self.op(Op.BitwiseAnd, self.op(Op.ShiftRightLogical, number, places), one)
            half = self.op(Op.ShiftLeftLogical, one, self.op(Op.ISub, places, one))
            number = self.op(Op.IAdd, number, self.op(Op.IAdd, self.op(Op.ISub, half, one), odd))
        elif grows is not None:
            rest = self.op(Op.ISub, self.op(Op.ShiftLeftLogical, one, places), one)
            number = self.op(Op.IAdd, number, self.choose(grows, rest, zero))
        return self.op(Op.ShiftRightLogical, number, places)

    def number(self, value: int) -> int:
        return self.writer.integer(value, self.kind)

    def op(self, op: Op, *words: int) -> int:
        return self.writer.op(op, self.kind, *words)

    def test(self, op: Op, a: int, b: int) -> int:
        return self.writer.op(op, self.boolean, a, b)

    def choose(self, condition: int, a: int, b: int) -> int:
        return self.op(Op.Select, condition, a, b)


def _bias(kind: Type) -> int:
    return (1 << kind.scalar.size * 8 - _MANTISSA[kind.scalar.size] - 2) - 1
