"""Elements of matrices as numbers to compute with, and back: integers of 32 or 64 bits, floats of 32 or 64."""

from __future__ import annotations

from dataclasses import dataclass

from coopmat.formats import Format, format_of
from coopmat.spirv.analysis.types import IntType
from coopmat.spirv.grammar import Op
from coopmat.spirv.transform.matrices.lowering import Lowering

WORD = 32
HALF_WORD = 16
TF32_BITS = 0xFFFFE000
"""What the operands of a multiplication of tf32 keep of a float of 32 bits."""
NIBBLE_MASK = 15


@dataclass(frozen=True)
class Numbers:
    """The type in which sums of a multiply-accumulate are made: ``type_id``, of so many ``bits``."""

    type_id: int
    bits: int
    is_float: bool

    @property
    def add(self) -> Op:
        """The instruction that adds."""
        return Op.FAdd if self.is_float else Op.IAdd

    @property
    def multiply(self) -> Op:
        """The instruction that multiplies."""
        return Op.FMul if self.is_float else Op.IMul


def numbers_for(to: Lowering, formats: tuple[str, ...], bits: int = 0) -> Numbers:
    """How ``D = A*B + C`` of these formats is computed: floats in 32 bits, or in 64 where one has 64; integers in so
    many bits as the result, at least 32 (or ``bits``)."""
    kinds = [format_of(name) for name in formats]
    if kinds[0].is_float:
        width = 64 if any(kind.bits == 64 for kind in kinds) else WORD
        return Numbers(to.float(width), width, True)
    width = bits or max(WORD, kinds[3].bits)
    return Numbers(to.integer(width), width, False)


# --- to numbers ----------------------------------------------------------------------------


def widened(to: Lowering, value: int, fmt: str, numbers: Numbers) -> int:
    """An element of a format as a number."""
    kind = format_of(fmt)
    if not kind.is_float:
        return _whole(to, value, kind, numbers)
    stored = to.kind(to.type_id(value))
    if fmt == "bf16" and isinstance(stored, IntType):
        value = from_bf16(to, value)
    elif fmt == "tf32":
        value = truncated_to_tf32(to, value)
    return value if to.type_id(value) == numbers.type_id else to.let(Op.FConvert, numbers.type_id, value)


def _whole(to: Lowering, value: int, kind: Format, numbers: Numbers) -> int:
    type_id = to.type_id(value)
    bits = to.editor.definition(type_id).words[0]
    if kind.bits < bits and not kind.is_signed:  # 4 bits in 8
        value = to.let(Op.BitwiseAnd, type_id, value, to.number(NIBBLE_MASK, type_id))
    if bits == numbers.bits:
        return value
    return to.let(Op.SConvert if kind.is_signed and bits < numbers.bits else Op.UConvert, numbers.type_id, value)


def from_bf16(to: Lowering, value: int) -> int:
    """The float of 32 bits with the upper bits of a 16-bit integer."""
    word = to.let(Op.UConvert, to.uint, value)
    return to.let(Op.Bitcast, to.float(WORD), to.let(Op.ShiftLeftLogical, to.uint, word, to.constant(HALF_WORD)))


def truncated_to_tf32(to: Lowering, value: int) -> int:
    """A float of 32 bits without the bits that tf32 does not have."""
    word = to.let(Op.BitwiseAnd, to.uint, to.let(Op.Bitcast, to.uint, value), to.constant(TF32_BITS))
    return to.let(Op.Bitcast, to.float(WORD), word)


# --- from numbers ----------------------------------------------------------------------------


def narrowed(to: Lowering, value: int, fmt: str, numbers: Numbers, type_id: int, result: int | None = None) -> int:
    """A number as an element of a format, of the type that holds it; integers modulo their width."""
    kind = format_of(fmt)
    if not kind.is_float:
        bits = to.editor.definition(type_id).words[0]
        if kind.bits < bits:
            return low_nibble(to, to.let(Op.UConvert, type_id, value), result)
        op = Op.CopyObject if bits == numbers.bits else Op.UConvert
        return to.let(op, type_id, value, result=result)
    if fmt == "bf16" and isinstance(to.kind(type_id), IntType):
        if numbers.bits != WORD:
            value = to.let(Op.FConvert, to.float(WORD), value)
        return to_bf16(to, value, result, type_id)
    op = Op.CopyObject if type_id == numbers.type_id else Op.FConvert
    return to.let(op, type_id, value, result=result)


def low_nibble(to: Lowering, value: int, result: int | None = None) -> int:
    """The low 4 bits of a byte, with their sign."""
    type_id = to.type_id(value)
    moved = to.let(Op.ShiftLeftLogical, type_id, value, to.number(4, type_id))
    return to.let(Op.ShiftRightArithmetic, type_id, moved, to.number(4, type_id), result=result)


def _rounded(to: Lowering, value: int, lost: int) -> int:
    """The bits of a float of 32 bits, rounded to the nearest that has 0 in so many low ones, ties to even, before those
    are cut off."""
    word = to.let(Op.Bitcast, to.uint, value)
    last = to.let(Op.BitwiseAnd, to.uint, to.let(Op.ShiftRightLogical, to.uint, word, to.constant(lost)),
                  to.constant(1))
    half = to.let(Op.IAdd, to.uint, last, to.constant((1 << lost - 1) - 1))
    magnitude = to.let(Op.BitwiseAnd, to.uint, word, to.constant(0x7FFFFFFF))
    is_nan = to.let(Op.UGreaterThan, to.bool, magnitude, to.constant(0x7F800000))
    quiet = to.let(Op.BitwiseOr, to.uint, word, to.constant(0x00400000))
    rounded = to.let(Op.IAdd, to.uint, word, half)
    return to.let(Op.Select, to.uint, is_nan, quiet, rounded)


def to_bf16(to: Lowering, value: int, result: int | None = None, type_id: int = 0) -> int:
    """A float of 32 bits rounded to the upper bits of one, as a 16-bit integer."""
    word = _rounded(to, value, HALF_WORD)
    upper = to.let(Op.ShiftRightLogical, to.uint, word, to.constant(HALF_WORD))
    return to.let(Op.UConvert, type_id or to.integer(HALF_WORD), upper, result=result)


def to_tf32(to: Lowering, value: int, result: int | None = None) -> int:
    """A float of 32 bits rounded to the nearest that tf32 has, ties to even."""
    word = _rounded(to, value, 13)
    kept = to.let(Op.BitwiseAnd, to.uint, word, to.constant(TF32_BITS))
    return to.let(Op.Bitcast, to.float(WORD), kept, result=result)
