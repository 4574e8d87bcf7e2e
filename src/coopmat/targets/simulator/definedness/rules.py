"""What instructions make of marks: a rule gets the values and the marks of all operands, and gives the result's mark.

What is in no table makes an element of its result undefined if an element that it depends on is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from coopmat.spirv.analysis.types import MatrixType, Type
from coopmat.spirv.grammar import Op
from coopmat.targets.simulator.definedness.marks import all_ones, bits_of, elements, fitted, from_elements
from coopmat.targets.simulator.values import Array, Value


class Operand(NamedTuple):
    """An operand: its type, its value, and its mark (zeros where it is defined)."""

    kind: Type
    value: Value
    mark: Value
    is_marked: bool


Rule = Callable[[Type, Sequence[Operand]], Value]


def spread(result: Type, operands: Sequence[Operand]) -> Value:
    """An element is undefined if one that it depends on is."""
    found: Array | None = None
    for operand in operands:
        if operand.is_marked:
            one = fitted(elements(operand.mark, operand.kind), operand.kind, result)
            found = one if found is None else found | one
    assert found is not None
    return from_elements(found, result)


def _bits(function: Callable[..., Array]) -> Rule:
    """A rule for integers of one type, on their bits: of marks and values by turns."""

    def rule(result: Type, operands: Sequence[Operand]) -> Value:
        parts = [bits_of(part) for operand in operands for part in (operand.mark, operand.value)]
        return function(*parts).view(operands[0].value.dtype)

    return rule


def _shift(function: Callable[[Array, Array], Array], *, fills: bool = False) -> Rule:
    """A shift by a defined amount moves the mark; by an undefined one nothing is defined."""

    def rule(result: Type, operands: Sequence[Operand]) -> Value:
        base, amount = operands
        if amount.is_marked:
            return spread(result, operands)
        width = 8 * base.value.dtype.itemsize
        by = (amount.value & (width - 1)).astype(bits_of(base.value).dtype)
        mark = base.mark if fills else bits_of(base.mark)
        return function(mark, by.view(mark.dtype)).view(base.value.dtype)

    return rule


def _carried(result: Type, operands: Sequence[Operand]) -> Value:
    """Sums and products: an undefined bit makes those above it undefined."""
    found: Array = np.bitwise_or(*(bits_of(operand.mark) for operand in operands))
    return (found | (~found + found.dtype.type(1))).view(operands[0].value.dtype)


def _multiplied(result: Type, operands: Sequence[Operand]) -> Value:
    """As :func:`_carried`, but that a product with a defined zero is zero."""
    carried, found = bits_of(_carried(result, operands)), operands[0].value.dtype
    for operand in operands:
        carried = np.where((bits_of(operand.mark) == 0) & (operand.value == 0), carried.dtype.type(0), carried)
    return carried.view(found)


def _chosen(result: Type, operands: Sequence[Operand]) -> Value:
    """``select`` of OpenCL: a defined condition chooses one operand's mark."""
    other, chosen, condition = operands
    if condition.is_marked:
        return spread(result, operands)
    holds = condition.value < 0 if condition.value.ndim == 3 else condition.value != 0
    return np.where(holds, chosen.mark, other.mark)


def _resized(result: Type, operands: Sequence[Operand]) -> Value:
    """Conversions of integers that keep low bits: the sign, or its mark, fills."""
    return operands[0].mark.astype(result.dtype)


def _resized_unsigned(result: Type, operands: Sequence[Operand]) -> Value:
    mark = bits_of(operands[0].mark)
    return mark.astype(f"u{result.dtype.itemsize}").view(result.dtype)


def _multiply_accumulate(result: Type, operands: Sequence[Operand]) -> Value:
    """An undefined element of A makes a row of the result undefined, one of B a column."""
    if isinstance(result, MatrixType) and result.is_of_work_group:
        return spread(result, operands) if not operands[0].is_marked and not operands[1].is_marked else all_ones(result)
    a, b, c = (elements(operand.mark, operand.kind) for operand in operands[:3])
    rows, columns = np.any(a, axis=2, keepdims=True), np.any(b, axis=1, keepdims=True)
    return from_elements(rows | columns | c, result)


def _intel_multiply_accumulate(result: Type, operands: Sequence[Operand]) -> Value:
    """Vectors of a sub-group: component i of A is row i, the work-item of B and C a column. Words: K, A, B, C."""
    a, b, c = operands[1:4]
    rows = elements(a.mark, a.kind)
    rows = rows[..., None] if rows.ndim == 2 else rows
    found = rows.any(axis=1, keepdims=True) | fitted(elements(b.mark, b.kind), None, result)
    found = found if found.ndim == elements(c.mark, c.kind).ndim else found[..., 0]
    return from_elements(found | elements(c.mark, c.kind), result)


def _frozen(result: Type, operands: Sequence[Operand]) -> Value:
    return from_elements(np.zeros((1, 1), np.bool_), result)


RULES: dict[int, Rule] = {
    **dict.fromkeys((Op.BitwiseAnd, Op.LogicalAnd), _bits(lambda m, a, n, b: (m & n) | (m & b) | (a & n))),
    **dict.fromkeys((Op.BitwiseOr, Op.LogicalOr), _bits(lambda m, a, n, b: (m & n) | (m & ~b) | (~a & n))),
    **dict.fromkeys((Op.BitwiseXor, Op.LogicalNotEqual), _bits(lambda m, a, n, b: m | n)),
    **dict.fromkeys((Op.Not, Op.LogicalNot), _bits(lambda m, a: m)),
    Op.ShiftLeftLogical: _shift(np.left_shift),
    Op.ShiftRightLogical: _shift(np.right_shift),
    Op.ShiftRightArithmetic: _shift(np.right_shift, fills=True),
    **dict.fromkeys((Op.IAdd, Op.ISub), _carried),
    Op.IMul: _multiplied,
    Op.SConvert: _resized,
    Op.UConvert: _resized_unsigned,
    Op.FreezeKHR: _frozen,
    Op.CooperativeMatrixMulAddKHR: _multiply_accumulate,
    Op.SubgroupMatrixMultiplyAccumulateINTEL: _intel_multiply_accumulate,
}

FUNCTION_RULES: dict[str, Rule] = {"select": _chosen}
"""The same of OpenCL's functions, by their names."""
