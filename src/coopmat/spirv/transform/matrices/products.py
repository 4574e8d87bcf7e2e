"""Multiply-accumulate as sub-group code.

Each work-item computes its own components of the result: for each k it takes the elements of A and of B from the
work-items that hold them and adds their product. Integers are computed modulo the width of the result, so they are
exact; with saturation, too, unless A*B by itself is more than the result can hold, where SPIR-V leaves the result
undefined. Floats begin with C and add the products of ascending k, in 32 bits (in 64 where an element has 64), and are
rounded to the result's format once, at the end: the error is at most (K + 1) * 2**-24 * (sum of |a*b| and |c|) before
that (2**-53 of 64 bits). Products of fp16, bf16 and tf32 are exact in 32 bits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from coopmat.devices.lane_layout import Indices
from coopmat.diagnostics import KernelNotSupported
from coopmat.formats import format_of
from coopmat.spirv.analysis.matrix_uses import MultiplyAccumulate, multiply_accumulate_of
from coopmat.spirv.analysis.places import place_of
from coopmat.spirv.grammar import CooperativeMatrixOperands as Flags
from coopmat.spirv.grammar import Op, StorageClass
from coopmat.spirv.module.instruction import Instruction
from coopmat.spirv.transform.matrices.layout import Held
from coopmat.spirv.transform.matrices.lowering import Components, Lowering
from coopmat.spirv.transform.matrices.numbers import Numbers, narrowed, numbers_for, widened

MOST_WRITTEN_OUT = 2048
"""Products and moves of one multiply-accumulate that are written out; of more there is a loop over k."""
_SMALL_BITS, _SMALL_K = 8, 1 << 14  # sums of so many products of so many bits fit into 32 with their sign
_NARROW_BITS = 16  # those of so many bits fit into 64


@dataclass(frozen=True)
class Operand:
    """A or B: values of each work-item, and which element is where."""

    values: Sequence[int]
    held: Held


@dataclass(frozen=True)
class Wanted:
    """The elements of the result that a work-item computes: of each component its row and its column in each work-item
    (of padding any that there is)."""

    rows: Sequence[Indices]
    columns: Sequence[Indices]


def multiply_accumulate(to: Lowering, row: Instruction) -> bool:
    """OpCooperativeMatrixMulAddKHR."""
    result = to.cut.components(row.type_id)
    if result is None:
        return False
    a, b, c = (to.matrix(word) for word in row.words[:3])
    assert a is not None
    assert b is not None
    assert c is not None
    flags = Flags(row.words[3] if len(row.words) > 3 else 0)
    use = multiply_accumulate_of(a.kind, b.kind, c.kind, result.kind, flags, row)
    numbers = numbers_for(to, use.formats)
    product_bits = _product_bits(to, use, row) if use.saturating else 0
    inner = numbers_for(to, use.formats, product_bits) if use.saturating else numbers
    spread = result.spread
    operands = [Operand([widened(to, value, fmt, inner) for value in to.tiles_of(word)], one.spread.held)
                for word, one, fmt in zip(row.words, (a, b), use.formats, strict=False)]
    wanted = Wanted([np.minimum(spread.rows_of(one), spread.rows - 1) for one in range(spread.length)],
                    [np.minimum(spread.columns_of(one), spread.columns - 1) for one in range(spread.length)])
    addends = to.tiles_of(row.words[2])
    if use.saturating:
        zero = to.editor.unique(Op.ConstantNull, type_id=inner.type_id)
        first: Sequence[int] = [zero] * spread.length
    else:
        first = [widened(to, value, use.formats[2], numbers) for value in addends]
    turns = use.k * (spread.below + spread.beside + spread.length)
    if turns <= MOST_WRITTEN_OUT:
        totals = summed(to, operands[0], operands[1], first, wanted, use.k, inner)
    else:
        totals = _summed_by_loop(to, operands, (a, b), first, wanted, use.k, inner)
    for total, addend, found in zip(totals, addends, to.results(row), strict=True):
        if use.saturating:
            _added_saturating(to, total, addend, use, inner, result.tile_id, found)
        else:
            narrowed(to, total, use.formats[3], numbers, result.tile_id, found)
    return True


def summed(to: Lowering, a: Operand, b: Operand, first: Sequence[int], wanted: Wanted, depth: int, numbers: Numbers
           ) -> list[int]:
    """The components of A*B added to ``first``, written out."""
    totals = list(first)
    for k in range(depth):
        taken: dict[tuple[int, bytes], int] = {}

        def take(axis: int, places: Indices, k: int = k, taken: dict[tuple[int, bytes], int] = taken) -> int:
            key = axis, places.tobytes()
            if key not in taken:
                operand, at = (a, (places, k)) if axis == 0 else (b, (k, places))
                taken[key] = to.taken(operand.values, operand.held.lane[at], operand.held.value[at], numbers.type_id)
            return taken[key]

        for number, (row, column) in enumerate(zip(wanted.rows, wanted.columns, strict=True)):
            product = to.let(numbers.multiply, numbers.type_id, take(0, row), take(1, column))
            totals[number] = to.let(numbers.add, numbers.type_id, totals[number], product)
    return totals


# --- a loop over k ---------------------------------------------------------------------------


@dataclass(frozen=True)
class _Stored:
    """A or B in an array of each work-item. Element k of a row of A, or of a column of B, is held ``lane_step`` *
    (k % period) work-items and ``value_step`` * (k // period) values behind the first one; ``period`` is a power of
    two."""

    array: int
    held: Held
    period: int
    lane_step: int
    value_step: int


def _summed_by_loop(to: Lowering, operands: Sequence[Operand], kinds: Sequence[Components], first: Sequence[int],
                    wanted: Wanted, depth: int, numbers: Numbers) -> list[int]:
    a, b = (one.spread for one in kinds)
    arrays = [_stored(to, one.values, numbers) for one in operands]
    stored = (_Stored(arrays[0], operands[0].held, a.across, 1, 1),
              _Stored(arrays[1], operands[1].held, b.down, b.across, b.beside))

    def turn(k: int, totals: Sequence[int]) -> list[int]:
        taken: dict[tuple[int, bytes], int] = {}
        found = []
        for total, *places in zip(totals, wanted.rows, wanted.columns, strict=True):
            for axis, one in enumerate(places):
                if (axis, one.tobytes()) not in taken:
                    at = (one, 0) if axis == 0 else (0, one)
                    taken[axis, one.tobytes()] = _taken_at(to, stored[axis], at, k, numbers)
            factors = [taken[axis, one.tobytes()] for axis, one in enumerate(places)]
            product = to.let(numbers.multiply, numbers.type_id, *factors)
            found.append(to.let(numbers.add, numbers.type_id, total, product))
        return found

    return to.loop(depth, [(numbers.type_id, one) for one in first], turn)


def _stored(to: Lowering, values: Sequence[int], numbers: Numbers) -> int:
    """A variable with an array of values."""
    array = to.variable(to.editor.unique(Op.TypeArray, numbers.type_id, to.editor.constant(len(values))))
    for place, value in enumerate(values):
        to.do(Op.Store, _element(to, array, to.constant(place), numbers), value)
    return array


def _element(to: Lowering, array: int, place: int, numbers: Numbers) -> int:
    return to.let(Op.AccessChain, to.editor.type_pointer(StorageClass.Function, numbers.type_id), array, place)


def _taken_at(to: Lowering, one: _Stored, at: tuple[Indices | int, Indices | int], k: int, numbers: Numbers) -> int:
    """Element k of a row or column whose first element is at a place."""
    bits = one.period.bit_length() - 1
    rest = to.let(Op.BitwiseAnd, to.uint, k, to.constant(one.period - 1))
    whole = to.let(Op.ShiftRightLogical, to.uint, k, to.constant(bits))
    further = to.let(Op.IMul, to.uint, whole, to.constant(one.value_step))
    lane, value = one.held.lane[at], one.held.value[at]
    found = 0
    for number in dict.fromkeys(value.tolist()):
        chosen = value == number
        place = to.let(Op.IAdd, to.uint, further, to.constant(number))
        held = to.let(Op.Load, numbers.type_id, _element(to, one.array, place, numbers))
        if one.period > 1 or (lane[chosen] != np.arange(len(lane))[chosen]).any():
            source = to.let(Op.IAdd, to.uint, to.lanes.index(np.where(chosen, lane, lane[chosen][0])),
                            to.let(Op.IMul, to.uint, rest, to.constant(one.lane_step)))
            held = to.shuffled(held, source, numbers.type_id)
        found = held if not found else to.let(Op.Select, numbers.type_id, to.lanes.flag(chosen), held, found)
    return found


# --- saturation --------------------------------------------------------------------------------


def _product_bits(to: Lowering, use: MultiplyAccumulate, row: Instruction) -> int:
    """The bits in which A*B is exact, with a sign, where C is added with saturation."""
    a, b, c, d = map(format_of, use.formats)
    widest = max(a.bits, b.bits)
    if d.bits == 64 and widest > _NARROW_BITS and not (c.is_signed == d.is_signed == (a.is_signed or b.is_signed)):
        raise KernelNotSupported(f"{row.name} adds {use.formats[2]} to products of {use.formats[0]} with saturation to "
                                 f"{use.formats[3]}: sub-group code takes numbers of so many bits of one sign only",
                                 None, place_of(to.editor.module, row))
    is_small = widest <= _SMALL_BITS and use.k <= _SMALL_K
    return 32 if is_small and d.bits == c.bits == 32 and c.is_signed and d.is_signed else 64


def _added_saturating(to: Lowering, product: int, addend: int, use: MultiplyAccumulate, numbers: Numbers,
                      type_id: int, result: int) -> None:
    """The exact sum of a product and C, clamped to what the result can hold."""
    c, d = (format_of(name) for name in use.formats[2:])
    other = widened(to, addend, use.formats[2], numbers)
    total = to.let(Op.IAdd, numbers.type_id, product, other)
    is_narrow = max(format_of(name).bits for name in use.formats[:2]) <= _NARROW_BITS
    if numbers.bits == d.bits and not is_narrow:
        clamped = _without_overflow(to, product, other, total, d.is_signed, numbers)
    elif numbers.bits in (c.bits, d.bits):
        clamped = _clamped(to, (product, other, total), c.is_signed, d.is_signed or d.bits < numbers.bits, numbers)
    else:
        clamped = total
    for op, limit in ((Op.SGreaterThan, int(d.max_value)), (Op.SLessThan, int(d.min_value))):
        if d.bits < numbers.bits:
            bound = to.constant(limit, numbers.bits)
            clamped = to.let(Op.Select, numbers.type_id, to.let(op, to.bool, clamped, bound), bound, clamped)
    narrowed(to, clamped, use.formats[3], numbers, type_id, result)


def _without_overflow(to: Lowering, one: int, other: int, total: int, is_signed: bool, numbers: Numbers) -> int:
    """The sum of two numbers of the width of the result, which are both signed or both not."""
    type_id, bits = numbers.type_id, numbers.bits
    if not is_signed:
        wrapped = to.let(Op.ULessThan, to.bool, total, one)
        return to.let(Op.Select, type_id, wrapped, to.constant(-1, bits), total)
    changes = [to.let(Op.BitwiseXor, type_id, each, total) for each in (one, other)]
    zero = to.constant(0, bits)
    wrapped = to.let(Op.SLessThan, to.bool, to.let(Op.BitwiseAnd, type_id, *changes), zero)
    negative = to.let(Op.SLessThan, to.bool, one, zero)
    least, most = to.constant(1 << bits - 1, bits), to.constant((1 << bits - 1) - 1, bits)
    limit = to.let(Op.Select, type_id, negative, least, most)
    return to.let(Op.Select, type_id, wrapped, limit, total)


def _clamped(to: Lowering, parts: tuple[int, int, int], c_signed: bool, d_signed: bool, numbers: Numbers) -> int:
    """The sum of a product that has a sign, and of C, clamped to a result of the same width; the sum is given, too."""
    product, addend, total = parts
    type_id, bits = numbers.type_id, numbers.bits
    if c_signed and d_signed:
        return _without_overflow(to, product, addend, total, True, numbers)
    zero, most = to.constant(0, bits), to.constant((1 << bits - 1) - 1 if d_signed else -1, bits)

    def choose(condition: int, one: int, other: int) -> int:
        return to.let(Op.Select, type_id, condition, one, other)

    def is_negative(value: int) -> int:
        return to.let(Op.SLessThan, to.bool, value, zero)

    less = is_negative(product)
    if c_signed:  # to a result without: less than 0 is 0, and half of the sums that do not fit a sign fit
        both = to.let(Op.LogicalAnd, to.bool, less, is_negative(addend))
        either = to.let(Op.LogicalAnd, to.bool, to.let(Op.LogicalOr, to.bool, less, is_negative(addend)),
                        is_negative(total))
        return choose(to.let(Op.LogicalOr, to.bool, both, either), zero, total)
    borrows = to.let(Op.ULessThan, to.bool, addend, to.let(Op.SNegate, type_id, product))
    if not d_signed:
        return choose(less, choose(borrows, zero, total),
                      choose(to.let(Op.ULessThan, to.bool, total, addend), most, total))
    is_large = is_negative(total)
    above = to.let(Op.LogicalOr, to.bool, is_negative(addend), is_large)
    return choose(less, choose(borrows, total, choose(is_large, most, total)), choose(above, most, total))
