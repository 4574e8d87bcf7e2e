"""Conversions that shaders do not have: with saturation, with other roundings, of bf16 and tf32."""

from __future__ import annotations

from collections.abc import Sequence

from coopmat.spirv.analysis.types import BoolType, FloatType, MatrixType, Type
from coopmat.spirv.grammar import Decoration, FPRoundingMode, Op
from coopmat.spirv.module.instruction import Instruction
from coopmat.spirv.transform.to_vulkan.instructions import matrices
from coopmat.spirv.transform.to_vulkan.instructions.arithmetic import bits_of, by_parts, is_nan, like
from coopmat.spirv.transform.to_vulkan.instructions.composites import copied
from coopmat.spirv.transform.to_vulkan.instructions.narrowing import is_by_integers, narrowed
from coopmat.spirv.transform.to_vulkan.translation import Handler, Translation
from coopmat.spirv.transform.to_vulkan.types import U32, UNSIGNED

_F32 = FloatType(32)
_ROUNDING = {FPRoundingMode.RTE: "RoundEven", FPRoundingMode.RTZ: "Trunc", FPRoundingMode.RTP: "Ceil",
             FPRoundingMode.RTN: "Floor"}
_BF16_SHIFT = 16
_INFINITY = 0x7F800000
_TF32_SHIFT = 13
_QUIET = 0x40
_HALF_SIGN, _HALF_INF, _HALF_SHIFT, _HALF_SCALE = 0x8000, 0x7C00, 13, 2.0**112


def _mode(t: Translation, row: Instruction) -> FPRoundingMode | None:
    words = t.is_decorated(row.result_id or 0, Decoration.FPRoundingMode)
    return FPRoundingMode(words[0]) if words else None


def _float_to_integer(t: Translation, row: Instruction) -> None:
    """Rounded as asked for, and saturated where that is asked for."""
    mode = _mode(t, row)
    saturates = t.is_decorated(row.result_id or 0, Decoration.SaturatedConversion) is not None

    def convert(t: Translation, kind: Type, values: Sequence[int], kinds: Sequence[Type]) -> int:
        value, before = values[0], kinds[0]
        if mode is not None and mode != FPRoundingMode.RTZ:
            value = t.writer.glsl(_ROUNDING[mode], before, value)
        if saturates:
            return _saturated(t, Op(row.opcode), kind, value, before)
        return t.writer.op(Op(row.opcode), kind, value)

    by_parts(convert)(t, row)


def _saturated(t: Translation, op: Op, kind: Type, value: int, before: Type) -> int:
    if before.scalar.size < _F32.size:  # whose bounds a half does not reach
        wide = like(_F32, before)
        value, before = t.writer.op(Op.FConvert, wide, value), wide
    bits = kind.scalar.size * 8
    signed = op == Op.ConvertFToS
    lowest, end = (-(1 << bits - 1), 1 << bits - 1) if signed else (0, 1 << bits)
    boolean = like(BoolType(), kind)
    is_high = t.writer.op(Op.FOrdGreaterThanEqual, boolean, value, t.writer.number(float(end), before))
    is_low = t.writer.op(Op.FOrdLessThan, boolean, value, t.writer.number(float(lowest), before))
    none = t.writer.op(Op.LogicalOr, boolean, t.writer.op(Op.LogicalOr, boolean, is_high, is_low),
                       is_nan(t, value, before))
    inside = t.writer.op(Op.Select, before, none, t.writer.number(0.0, before), value)
    found = t.writer.op(op, kind, inside)
    found = t.writer.op(Op.Select, kind, is_high, t.writer.integer(end - 1, kind), found)
    return t.writer.op(Op.Select, kind, is_low, t.writer.integer(lowest, kind), found)


def _to_float(t: Translation, row: Instruction) -> None:
    """Nearest even is what shaders do; another rounding of integers looks at what became of the number."""
    mode = _mode(t, row)
    before, after = t.type_of(row.words[0]).scalar, t.result_type(row).scalar
    if row.opcode == Op.FConvert and isinstance(before, FloatType) and isinstance(after, FloatType) \
            and is_by_integers(before, after, mode or FPRoundingMode.RTE):
        by_parts(lambda t, kind, values, kinds: narrowed(
            t, values[0], kinds[0], kind, mode or FPRoundingMode.RTE))(t, row)
        return
    if mode is None or mode == FPRoundingMode.RTE or row.opcode == Op.FConvert:
        copied(t, row)
        return

    def convert(t: Translation, kind: Type, values: Sequence[int], kinds: Sequence[Type]) -> int:
        nearest = t.writer.op(Op(row.opcode), kind, values[0])
        above, below = _compared(t, Op(row.opcode), nearest, kind, values[0], kinds[0])
        return _corrected(t, mode, nearest, kind, above, below)

    by_parts(convert)(t, row)


def _compared(t: Translation, op: Op, nearest: int, kind: Type, value: int, before: Type) -> tuple[int, int]:
    """Whether a rounded number is greater than what it was made of, and whether it is less."""
    boolean = like(BoolType(), kind)
    signed = op == Op.ConvertSToF
    bits = before.scalar.size * 8 - signed
    wide, wider = (nearest, kind) if kind.scalar.size > 2 else _widened(t, nearest, kind)
    limit = t.writer.op(Op.FOrdGreaterThanEqual, boolean, wide, t.writer.number(float(1 << bits), wider))
    back = _saturated(t, Op.ConvertFToS if signed else Op.ConvertFToU, before, wide, wider)
    greater, less = (Op.SGreaterThan, Op.SLessThan) if signed else (Op.UGreaterThan, Op.ULessThan)
    is_less = t.writer.op(less, boolean, back, value)
    if signed:  # an infinity is less than the least integer, too
        least = t.writer.number(-float(1 << bits), wider)
        is_less = t.writer.op(Op.LogicalOr, boolean, t.writer.op(Op.FOrdLessThan, boolean, wide, least), is_less)
    return t.writer.op(Op.LogicalOr, boolean, limit, t.writer.op(greater, boolean, back, value)), is_less


def _widened(t: Translation, value: int, kind: Type) -> tuple[int, Type]:
    """A half that is a whole number as a float, by its bits: drivers take a number that became a half and then a float
    for one that became a float. An infinity is a number beyond all integers."""
    number, single = like(U32, kind), like(_F32, kind)
    bits, before = bits_of(t, value, kind)
    bits = t.writer.converted(bits, before, number)
    size = t.writer.op(Op.BitwiseAnd, number, bits, t.writer.integer(_HALF_SIGN - 1, number))
    moved = t.writer.op(Op.ShiftLeftLogical, number, size, t.writer.integer(_HALF_SHIFT, number))
    scaled = t.writer.op(Op.FMul, single, t.writer.op(Op.Bitcast, single, moved), t.writer.number(_HALF_SCALE, single))
    is_infinite = t.writer.op(Op.UGreaterThanEqual, like(BoolType(), kind), size, t.writer.integer(_HALF_INF, number))
    scaled = t.writer.op(Op.Select, single, is_infinite, t.writer.number(_HALF_SCALE, single), scaled)
    is_negative = t.writer.op(Op.UGreaterThanEqual, like(BoolType(), kind), bits, t.writer.integer(_HALF_SIGN, number))
    return t.writer.op(Op.Select, single, is_negative, t.writer.op(Op.FNegate, single, scaled), scaled), single


def _corrected(t: Translation, mode: FPRoundingMode, nearest: int, kind: Type, above: int, below: int) -> int:
    """The neighbour of a number in the direction of the rounding, where it lies on the wrong side."""
    boolean = like(BoolType(), kind)
    number = like(UNSIGNED[kind.scalar.size], kind)
    bits = t.writer.op(Op.Bitcast, number, nearest)
    sign = t.writer.integer(1 << kind.scalar.size * 8 - 1, number)
    negative = t.writer.op(Op.UGreaterThanEqual, boolean, bits, sign)
    positive = t.writer.op(Op.LogicalNot, boolean, negative)
    one = t.writer.integer(1, number)
    smaller = t.writer.op(Op.Bitcast, kind, t.writer.op(Op.ISub, number, bits, one))
    larger = t.writer.op(Op.Bitcast, kind, t.writer.op(Op.IAdd, number, bits, one))

    def both(a: int, b: int) -> int:
        return t.writer.op(Op.LogicalAnd, boolean, a, b)

    if mode == FPRoundingMode.RTZ:
        shrinks, grows = t.writer.op(Op.LogicalOr, boolean, both(above, positive), both(below, negative)), 0
    elif mode == FPRoundingMode.RTN:
        shrinks, grows = both(above, positive), both(above, negative)
    else:
        shrinks, grows = both(below, negative), both(below, positive)
    found = t.writer.op(Op.Select, kind, shrinks, smaller, nearest)
    return t.writer.op(Op.Select, kind, grows, larger, found) if grows else found


def _integer_to_integer(t: Translation, row: Instruction) -> None:
    """UConvert and SConvert; with saturation if it is decorated so."""
    if t.is_decorated(row.result_id or 0, Decoration.SaturatedConversion) is None:
        copied(t, row)
        return
    by_parts(lambda t, kind, values, kinds: _clamped(
        t, kind, values[0], kinds[0], signed=(row.opcode == Op.SConvert,) * 2))(t, row)


def _saturating(t: Translation, row: Instruction) -> None:
    """SatConvertSToU and SatConvertUToS."""
    from_signed = row.opcode == Op.SatConvertSToU
    by_parts(lambda t, kind, values, kinds: _clamped(
        t, kind, values[0], kinds[0], signed=(from_signed, not from_signed)))(t, row)


def _clamped(t: Translation, kind: Type, value: int, before: Type, signed: tuple[bool, bool]) -> int:
    """An integer between the bounds of another type; ``signed``: before and after."""
    was, becomes = signed
    bits, width = kind.scalar.size * 8, before.scalar.size * 8
    low = max(-(1 << bits - 1) if becomes else 0, -(1 << width - 1) if was else 0)
    high = min((1 << bits - becomes) - 1, (1 << width - was) - 1)
    names = ("SMax", "SMin") if was else ("UMax", "UMin")
    if low > (-(1 << width - 1) if was else 0):
        value = t.writer.glsl(names[0], before, value, t.writer.integer(low, before))
    if high < (1 << width - was) - 1:
        value = t.writer.glsl(names[1], before, value, t.writer.integer(high, before))
    return t.writer.converted(value, before, kind, signed=was)


def _bf16(t: Translation, row: Instruction) -> None:
    mode = _mode(t, row) or FPRoundingMode.RTE
    by_parts(lambda t, kind, values, kinds: _to_bf16(t, kind, values, kinds, mode))(t, row)


def _to_bf16(t: Translation, kind: Type, values: Sequence[int], kinds: Sequence[Type], mode: FPRoundingMode) -> int:
    """The upper half of a float's bits, rounded; a NaN stays one."""
    number = like(U32, kind)
    bits = t.writer.op(Op.Bitcast, number, values[0])
    rounded = _rounded(t, bits, number, _BF16_SHIFT) if mode == FPRoundingMode.RTE else \
        _directed(t, bits, number, mode)
    quiet = t.writer.op(Op.BitwiseOr, number, bits, t.writer.integer(_QUIET << _BF16_SHIFT, number))
    chosen = t.writer.op(Op.Select, number, is_nan(t, values[0], kinds[0]), quiet, rounded)
    high = t.writer.op(Op.ShiftRightLogical, number, chosen, t.writer.integer(_BF16_SHIFT, number))
    return t.writer.converted(high, number, kind)


def _directed(t: Translation, bits: int, number: Type, mode: FPRoundingMode) -> int:
    """The same for a rounding that depends on the sign; where nothing is added, bits are cut off towards zero."""
    if mode == FPRoundingMode.RTZ:
        return bits
    sign = t.writer.op(Op.ShiftRightLogical, number, bits, t.writer.integer(31, number))
    grows = t.writer.op(Op.IEqual, like(BoolType(), number), sign, t.writer.integer(mode == FPRoundingMode.RTN, number))
    low = t.writer.integer((1 << _BF16_SHIFT) - 1, number)
    infinite = t.writer.op(Op.IEqual, like(BoolType(), number), t.writer.op(
        Op.BitwiseAnd, number, bits, t.writer.integer(_INFINITY, number)), t.writer.integer(_INFINITY, number))
    more = t.writer.op(Op.IAdd, number, bits, low)
    moved = t.writer.op(Op.Select, number, grows, more, bits)
    return t.writer.op(Op.Select, number, infinite, bits, moved)


def _rounded(t: Translation, bits: int, number: Type, shift: int) -> int:
    """Bits of a float to which so much has been added that the lowest ones may be cut off."""
    odd = t.writer.op(Op.BitwiseAnd, number, t.writer.op(Op.ShiftRightLogical, number, bits, t.writer.integer(
        shift, number)), t.writer.integer(1, number))
    more = t.writer.op(Op.IAdd, number, odd, t.writer.integer((1 << shift - 1) - 1, number))
    return t.writer.op(Op.IAdd, number, bits, more)


def _of_bf16(t: Translation, kind: Type, values: Sequence[int], kinds: Sequence[Type]) -> int:
    number = like(U32, kind)
    bits = t.writer.converted(values[0], kinds[0], number)
    return t.writer.op(Op.Bitcast, kind, t.writer.op(Op.ShiftLeftLogical, number, bits, t.writer.integer(
        _BF16_SHIFT, number)))


def _to_tf32(t: Translation, kind: Type, values: Sequence[int], kinds: Sequence[Type]) -> int:
    """A float without the bits that tf32 does not have, rounded to nearest even; NaN and infinity stay."""
    number = like(U32, kind)
    bits = t.writer.op(Op.Bitcast, number, values[0])
    kept = t.writer.integer(-1 << _TF32_SHIFT & 0xFFFFFFFF, number)
    rounded = t.writer.op(Op.BitwiseAnd, number, _rounded(t, bits, number, _TF32_SHIFT), kept)
    chosen = t.writer.op(Op.Select, number, is_nan(t, values[0], kind), bits, rounded)
    return t.writer.op(Op.Bitcast, kind, chosen)


def _also_of_matrices(handler: Handler) -> Handler:
    def convert(t: Translation, row: Instruction) -> None:
        if isinstance(t.result_type(row), MatrixType):
            matrices.converted(t, row)
        else:
            handler(t, row)
    return convert


_OF_MATRICES: dict[int, Handler] = {
    Op.ConvertFToU: _float_to_integer, Op.ConvertFToS: _float_to_integer, Op.ConvertSToF: _to_float,
    Op.ConvertUToF: _to_float, Op.FConvert: _to_float, Op.UConvert: _integer_to_integer,
    Op.SConvert: _integer_to_integer,
}
HANDLERS: dict[int, Handler] = {
    **{op: _also_of_matrices(handler) for op, handler in _OF_MATRICES.items()},
    Op.SatConvertSToU: _saturating, Op.SatConvertUToS: _saturating,
    Op.ConvertFToBF16INTEL: _bf16, Op.ConvertBF16ToFINTEL: by_parts(_of_bf16),
    Op.RoundFToTF32INTEL: by_parts(_to_tf32),
}
