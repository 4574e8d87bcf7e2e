"""Arithmetic that shaders do not have: of kernels only, or of integers that are not 32 bits wide."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from coopmat.spirv.analysis.types import BoolType, FloatType, Type, VectorType
from coopmat.spirv.grammar import Op
from coopmat.spirv.module.instruction import Instruction
from coopmat.spirv.transform.to_vulkan.instructions.composites import copied, operand_types
from coopmat.spirv.transform.to_vulkan.translation import Handler, Translation
from coopmat.spirv.transform.to_vulkan.types import LONGEST, U32, U64, UNSIGNED, is_long

Composed = Callable[[Translation, Type, Sequence[int], Sequence[Type]], int]
_FRACTIONS = {16: 10, 32: 23, 64: 52}
BFLOAT16_FRACTION = 7


def by_parts(compose: Composed) -> Handler:
    """A handler that composes the result from the operands' values and types; of long vectors part by part."""
    def handle(t: Translation, row: Instruction) -> None:
        kind = t.result_type(row)
        values = [t.value(word) for word in row.words]
        kinds = [t.type_of(word) for word in row.words]
        if not is_long(kind):
            t.define(row, compose(t, kind, values, kinds))
            return
        part = VectorType(kind.scalar, LONGEST)
        found = []
        for index in range(kind.count // LONGEST):
            parts = [t.writer.extract(VectorType(one.scalar, LONGEST), value, index) if is_long(one) else value
                     for value, one in zip(values, kinds, strict=True)]
            shorter = [VectorType(one.scalar, LONGEST) if is_long(one) else one for one in kinds]
            found.append(compose(t, part, parts, shorter))
        t.define(row, t.writer.construct(kind, found))
    return handle


def like(scalar: Type, kind: Type) -> Type:
    """A scalar type, with as many components as another type has."""
    return VectorType(scalar, kind.count) if isinstance(kind, VectorType) else scalar


def bits_of(t: Translation, value: int, kind: Type) -> tuple[int, Type]:
    """The bits of floats, and their type."""
    number = like(UNSIGNED[kind.scalar.size], kind)
    return t.writer.op(Op.Bitcast, number, value), number


def _exponent_mask(kind: Type) -> tuple[int, int]:
    """The bits of the exponent, and those of the sign."""
    scalar = kind.scalar
    assert isinstance(scalar, FloatType)
    fraction = _FRACTIONS[scalar.width] if scalar.encoding is None else BFLOAT16_FRACTION
    return (1 << scalar.width - 1) - (1 << fraction), 1 << scalar.width - 1


def is_finite(t: Translation, kind: Type, values: Sequence[int], kinds: Sequence[Type]) -> int:
    """Whether the exponent is not all ones."""
    bits, number = bits_of(t, values[0], kinds[0])
    mask = t.writer.integer(_exponent_mask(kinds[0])[0], number)
    return t.writer.op(Op.INotEqual, kind, t.writer.op(Op.BitwiseAnd, number, bits, mask), mask)


def _is_normal(t: Translation, kind: Type, values: Sequence[int], kinds: Sequence[Type]) -> int:
    bits, number = bits_of(t, values[0], kinds[0])
    mask = t.writer.integer(_exponent_mask(kinds[0])[0], number)
    exponent = t.writer.op(Op.BitwiseAnd, number, bits, mask)
    finite = t.writer.op(Op.INotEqual, kind, exponent, mask)
    return t.writer.op(Op.LogicalAnd, kind, finite,
                       t.writer.op(Op.INotEqual, kind, exponent, t.writer.integer(0, number)))


def _sign_bit(t: Translation, kind: Type, values: Sequence[int], kinds: Sequence[Type]) -> int:
    bits, number = bits_of(t, values[0], kinds[0])
    sign = t.writer.op(Op.BitwiseAnd, number, bits, t.writer.integer(_exponent_mask(kinds[0])[1], number))
    return t.writer.op(Op.INotEqual, kind, sign, t.writer.integer(0, number))


def _comparing(op: Op) -> Composed:
    def compare(t: Translation, kind: Type, values: Sequence[int], kinds: Sequence[Type]) -> int:
        return t.writer.op(op, kind, *values)
    return compare


def is_nan(t: Translation, value: int, kind: Type) -> int:
    """Whether a value is a NaN, by its bits: drivers may take NaNs for granted not to be there."""
    exponent, sign = _exponent_mask(kind)
    bits, number = bits_of(t, value, kind)
    size = t.writer.op(Op.BitwiseAnd, number, bits, t.writer.integer(sign - 1, number))
    return t.writer.op(Op.UGreaterThan, like(BoolType(), kind), size, t.writer.integer(exponent, number))


def _unordered(t: Translation, kind: Type, values: Sequence[int], kinds: Sequence[Type]) -> int:
    return t.writer.op(Op.LogicalOr, kind, is_nan(t, values[0], kinds[0]), is_nan(t, values[1], kinds[1]))


def _ordered(t: Translation, kind: Type, values: Sequence[int], kinds: Sequence[Type]) -> int:
    return t.writer.op(Op.LogicalNot, kind, _unordered(t, kind, values, kinds))


def _is_nan(t: Translation, kind: Type, values: Sequence[int], kinds: Sequence[Type]) -> int:
    return is_nan(t, values[0], kinds[0])


def _dot(t: Translation, row: Instruction) -> None:
    """Of long vectors: the parts' products, added."""
    kind = t.type_of(row.words[0])
    if not is_long(kind):
        copied(t, row)
        return
    part = VectorType(kind.scalar, LONGEST)
    total = 0
    for index in range(kind.count // LONGEST):
        a, b = (t.writer.extract(part, t.value(word), index) for word in row.words)
        one = t.writer.op(Op.Dot, kind.scalar, a, b)
        total = t.writer.op(Op.FAdd, kind.scalar, total, one) if total else one
    t.define(row, total)


# -- remainders: Vulkan leaves those of negative numbers undefined --------------------------


def _remainder(t: Translation, kind: Type, values: Sequence[int], kinds: Sequence[Type]) -> int:
    """What a quotient that is rounded towards zero leaves."""
    product = t.writer.op(Op.IMul, kind, t.writer.op(Op.SDiv, kind, *values), values[1])
    return t.writer.op(Op.ISub, kind, values[0], product)


def _modulo(t: Translation, kind: Type, values: Sequence[int], kinds: Sequence[Type]) -> int:
    """The remainder with the divisor's sign."""
    truth, zero = like(BoolType(), kind), t.writer.integer(0, kind)
    found = _remainder(t, kind, values, kinds)
    signs = t.writer.op(Op.BitwiseXor, kind, found, values[1])
    differ = t.writer.op(Op.LogicalAnd, truth, t.writer.op(Op.INotEqual, truth, found, zero),
                         t.writer.op(Op.SLessThan, truth, signs, zero))
    return t.writer.op(Op.Select, kind, differ, t.writer.op(Op.IAdd, kind, found, values[1]), found)


# -- bits: 32 of them in a shader ---------------------------------------------------------


def bit_count(t: Translation, kind: Type, values: Sequence[int], kinds: Sequence[Type]) -> int:
    """How many bits are one."""
    before = kinds[0]
    total = 0
    for half in _halves(t, values[0], before):
        one = t.writer.op(Op.BitCount, like(U32, before), half)
        total = t.writer.op(Op.IAdd, like(U32, before), total, one) if total else one
    return t.writer.converted(total, like(U32, before), kind)


def _halves(t: Translation, value: int, kind: Type) -> list[int]:
    """An integer as unsigned ones of 32 bits, the lowest first."""
    word = like(U32, kind)
    if kind.scalar.size <= U32.size:
        return [t.writer.converted(value, kind, word)]
    high = t.writer.op(Op.ShiftRightLogical, kind, value, t.writer.integer(32, kind))
    return [t.writer.converted(value, kind, word), t.writer.converted(high, kind, word)]


def _bit_reverse(t: Translation, kind: Type, values: Sequence[int], kinds: Sequence[Type]) -> int:
    word, bits = like(U32, kind), kind.scalar.size * 8
    halves = [t.writer.op(Op.BitReverse, word, half) for half in _halves(t, values[0], kind)]
    if bits <= 32:
        shifted = t.writer.op(Op.ShiftRightLogical, word, halves[0], t.writer.integer(32 - bits, word)) \
            if bits < 32 else halves[0]
        return t.writer.converted(shifted, word, kind)
    low, high = (t.writer.converted(half, word, kind) for half in reversed(halves))
    high = t.writer.op(Op.ShiftLeftLogical, kind, high, t.writer.integer(32, kind))
    return t.writer.op(Op.BitwiseOr, kind, low, high)


def _spread(t: Translation, value: int, kind: Type) -> int:
    return t.writer.construct(kind, [value] * kind.count) if isinstance(kind, VectorType) else value


def _wide(kind: Type) -> Type:
    return like(U64 if kind.scalar.size == U64.size else U32, kind)


def _shifts(t: Translation, kind: Type, offset: tuple[int, Type], count: tuple[int, Type]) -> tuple[int, int, int]:
    """Of a bit field in numbers of 32 or 64 bits: its offset, the bits above it, and all bits but its own."""
    wide = _wide(kind)
    scalar = wide.scalar
    first, amount = (t.writer.converted(value, before, scalar) for value, before in (offset, count))
    bits = t.writer.integer(scalar.size * 8, scalar)
    rest = t.writer.op(Op.ISub, scalar, bits, amount)
    above = t.writer.op(Op.ISub, scalar, rest, first)
    return _spread(t, first, wide), _spread(t, above, wide), _spread(t, rest, wide)


def _shifted(t: Translation, op: Op, kind: Type, value: int, amount: int) -> int:
    """A shift; by the width or more, nothing is left."""
    limit = t.writer.integer(kind.scalar.size * 8, kind)
    fits = t.writer.op(Op.ULessThan, like(BoolType(), kind), amount, limit)
    safe = t.writer.op(Op.Select, kind, fits, amount, t.writer.integer(0, kind))
    return t.writer.op(Op.Select, kind, fits, t.writer.op(op, kind, value, safe), t.writer.integer(0, kind))


def _field_extract(shift: Op) -> Composed:
    def extract(t: Translation, kind: Type, values: Sequence[int], kinds: Sequence[Type]) -> int:
        wide = _wide(kind)
        _, above, rest = _shifts(t, kind, (values[1], kinds[1]), (values[2], kinds[2]))
        value = t.writer.converted(values[0], kind, wide)
        moved = _shifted(t, Op.ShiftLeftLogical, wide, value, above)
        return t.writer.converted(_shifted(t, shift, wide, moved, rest), wide, kind)
    return extract


def _field_insert(t: Translation, kind: Type, values: Sequence[int], kinds: Sequence[Type]) -> int:
    wide = _wide(kind)
    first, _, rest = _shifts(t, kind, (values[2], kinds[2]), (values[3], kinds[3]))
    ones = _shifted(t, Op.ShiftRightLogical, wide, t.writer.integer(-1, wide), rest)
    mask = _shifted(t, Op.ShiftLeftLogical, wide, ones, first)
    base, inserted = (t.writer.converted(value, kind, wide) for value in values[:2])
    moved = t.writer.op(Op.BitwiseAnd, wide, _shifted(t, Op.ShiftLeftLogical, wide, inserted, first), mask)
    kept = t.writer.op(Op.BitwiseAnd, wide, base, t.writer.op(Op.Not, wide, mask))
    return t.writer.converted(t.writer.op(Op.BitwiseOr, wide, kept, moved), wide, kind)


def _pointer_or_number(t: Translation, row: Instruction) -> None:
    """A hint, which a shader does not need: the value itself."""
    t.define(row, t.value(row.words[0]))


def _and(t: Translation, row: Instruction) -> None:
    """LLVM's back end truncates with it: it leaves operands wider than the result."""
    size = t.result_type(row).scalar.size
    if all(one.scalar.size == size for one in operand_types(t, row).values()):
        copied(t, row)
        return
    by_parts(lambda t, kind, values, kinds: t.writer.op(Op.BitwiseAnd, kind, *(
        value if before.scalar.size == size else t.writer.converted(value, before, kind)
        for value, before in zip(values, kinds, strict=True))))(t, row)


HANDLERS: dict[int, Handler] = {
    Op.BitwiseAnd: _and,
    Op.IsFinite: by_parts(is_finite), Op.IsNormal: by_parts(_is_normal), Op.SignBitSet: by_parts(_sign_bit),
    Op.IsNan: by_parts(_is_nan), Op.LessOrGreater: by_parts(_comparing(Op.FOrdNotEqual)),
    Op.Ordered: by_parts(_ordered), Op.Unordered: by_parts(_unordered), Op.Dot: _dot,
    Op.SRem: by_parts(_remainder), Op.SMod: by_parts(_modulo),
    Op.BitCount: by_parts(bit_count), Op.BitReverse: by_parts(_bit_reverse),
    Op.BitFieldInsert: by_parts(_field_insert),
    Op.BitFieldSExtract: by_parts(_field_extract(Op.ShiftRightArithmetic)),
    Op.BitFieldUExtract: by_parts(_field_extract(Op.ShiftRightLogical)),
    Op.ExpectKHR: _pointer_or_number, Op.FreezeKHR: _pointer_or_number,
}
