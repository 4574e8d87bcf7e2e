"""Integer dot products: as they are where the driver has them, else, and of long vectors, component by component."""

from __future__ import annotations

from coopmat.spirv.analysis.types import BoolType, IntType, Type, VectorType
from coopmat.spirv.grammar import Op
from coopmat.spirv.module.instruction import Instruction
from coopmat.spirv.transform.to_vulkan.instructions.composites import copied, scalars_of
from coopmat.spirv.transform.to_vulkan.translation import Handler, Translation
from coopmat.spirv.transform.to_vulkan.types import U8, U64, is_long

FEATURE = "shaderIntegerDotProduct"
_SIGNS: dict[int, tuple[bool, bool]] = {
    Op.SDot: (True, True), Op.UDot: (False, False), Op.SUDot: (True, False), Op.SDotAccSat: (True, True),
    Op.UDotAccSat: (False, False), Op.SUDotAccSat: (True, False),
}
"""Instruction → whether the first and the second vector have a sign."""
_SATURATING = frozenset({Op.SDotAccSat, Op.UDotAccSat, Op.SUDotAccSat})
_PACKED = VectorType(U8, 4)


def _dot(t: Translation, row: Instruction) -> None:
    kind = t.type_of(row.words[0])
    if FEATURE in t.target.features and not is_long(kind):
        copied(t, row)
        return
    result = t.result_type(row)
    assert isinstance(result, IntType)
    saturates = row.opcode in _SATURATING
    wide = U64 if saturates else result
    total = 0
    vectors = [_components(t, row.words[place], signed, wide) for place, signed in enumerate(_SIGNS[row.opcode])]
    for a, b in zip(*vectors, strict=True):
        product = t.writer.op(Op.IMul, wide, a, b)
        total = t.writer.op(Op.IAdd, wide, total, product) if total else product
    if saturates:
        total = _accumulated(t, row, total, result)
    t.define(row, total)


def _components(t: Translation, word: int, signed: bool, wide: Type) -> list[int]:
    """The components of a vector, or of one that is packed into a scalar, as wider integers."""
    kind, value = t.type_of(word), t.value(word)
    if isinstance(kind, IntType):
        kind, value = _PACKED, t.writer.op(Op.Bitcast, _PACKED, value)
    return [t.writer.converted(scalar, kind.scalar, wide, signed=signed) for scalar in scalars_of(t, value, kind)]


def _accumulated(t: Translation, row: Instruction, total: int, result: IntType) -> int:
    """The sum with what is added to, between the bounds of the result."""
    writer = t.writer
    signed = any(_SIGNS[row.opcode])
    before = t.value(row.words[2])
    if result == U64:
        return _added(t, before, total, signed)
    wide = writer.op(Op.IAdd, U64, total, writer.converted(before, result, U64, signed=signed))
    bits = result.width
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
    wide = writer.glsl("SMin", U64, wide, writer.integer(high, U64))
    wide = writer.glsl("SMax", U64, wide, writer.integer(low, U64)) if signed else wide
    return writer.converted(wide, U64, result)


def _added(t: Translation, a: int, b: int, signed: bool) -> int:
    """A sum of 64-bit integers that saturates."""
    writer = t.writer

    def op(name: Op, *words: int) -> int:
        return writer.op(name, U64, *words)

    total = op(Op.IAdd, a, b)
    if not signed:
        wraps = writer.op(Op.ULessThan, BoolType(), total, a)
        return op(Op.Select, wraps, writer.integer(-1, U64), total)
    overflow = op(Op.BitwiseAnd, op(Op.BitwiseXor, a, total), op(Op.BitwiseXor, b, total))
    wraps = writer.op(Op.SLessThan, BoolType(), overflow, writer.integer(0, U64))
    sign = op(Op.ShiftRightArithmetic, a, writer.integer(63, U64))
    bound = op(Op.BitwiseXor, sign, writer.integer((1 << 63) - 1, U64))
    return op(Op.Select, wraps, bound, total)


HANDLERS: dict[int, Handler] = dict.fromkeys(_SIGNS, _dot)
