"""What instructions compute of constants, bit for bit: integers by :mod:`coopmat.spirv.edit.specialization`, floating
point by numpy in the type itself, rounding to nearest after each operation.

A value is a tuple of the bits of its components; a scalar has one. Nothing is known where the result is a NaN, whose
bits differ between machines, or is not defined.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from coopmat.formats import round_to
from coopmat.spirv.analysis.types import BoolType, FloatType, IntType, Type
from coopmat.spirv.edit.specialization import INTEGER_OPERATIONS
from coopmat.spirv.grammar import Op

Bits = tuple[int, ...]
Array = npt.NDArray[Any]
_FORMATS = {FloatType(16): "fp16", FloatType(16, 0): "bf16", FloatType(32): "fp32", FloatType(64): "fp64"}

_ARITHMETIC: dict[int, Callable[..., Any]] = {
    Op.FAdd: np.add, Op.FSub: np.subtract, Op.FMul: np.multiply, Op.FDiv: np.divide, Op.FNegate: np.negative,
    Op.FRem: np.fmod,
}
_UNORDERED = {
    Op.FUnordEqual: np.equal, Op.FUnordNotEqual: np.not_equal, Op.FUnordLessThan: np.less,
    Op.FUnordGreaterThan: np.greater, Op.FUnordLessThanEqual: np.less_equal,
    Op.FUnordGreaterThanEqual: np.greater_equal,
}
_ORDERED = {
    Op.FOrdEqual: np.equal, Op.FOrdNotEqual: np.not_equal, Op.FOrdLessThan: np.less, Op.FOrdGreaterThan: np.greater,
    Op.FOrdLessThanEqual: np.less_equal, Op.FOrdGreaterThanEqual: np.greater_equal,
}
_TESTS: dict[int, Callable[[Array], Any]] = {
    Op.IsNan: np.isnan, Op.IsInf: np.isinf, Op.IsFinite: np.isfinite, Op.SignBitSet: np.signbit,
}
_TO_FLOAT = {Op.ConvertSToF: True, Op.ConvertUToF: False}
_TO_INTEGER = {Op.ConvertFToS: True, Op.ConvertFToU: False}

COMPUTED = frozenset({*INTEGER_OPERATIONS, *_ARITHMETIC, *_UNORDERED, *_ORDERED, *_TESTS, *_TO_FLOAT, *_TO_INTEGER,
                      Op.FConvert})
"""The instructions whose results of constants are known here."""


def width_of(kind: Type) -> int:
    """The bits of a number's type."""
    if isinstance(kind, BoolType):
        return 1
    assert isinstance(kind, IntType | FloatType)
    return kind.width


def evaluate(op: int, result: Type, kinds: list[Type], operands: list[int]) -> int | None:
    """The bits of one component of a result; None if nobody can tell. ``kinds`` are the types of the operands'
    components."""
    if op in INTEGER_OPERATIONS:
        if not all(isinstance(kind, IntType | BoolType) for kind in kinds) and op != Op.Select:
            return None
        value = INTEGER_OPERATIONS[op](width_of(kinds[0]), *operands)
        return None if value is None else int(value) & (1 << width_of(result)) - 1
    with np.errstate(all="ignore"):
        return _of_floats(op, result, kinds, operands)


def _of_floats(op: int, result: Type, kinds: list[Type], operands: list[int]) -> int | None:
    if op in _TO_FLOAT:
        return _encoded(result, np.array([_integer(operands[0], width_of(kinds[0]), _TO_FLOAT[Op(op)])]))
    numbers = [_number(kind, bits) for kind, bits in zip(kinds, operands, strict=True)]
    if op in _ARITHMETIC:
        return _bits(result, _ARITHMETIC[op](*numbers))
    if op in _TESTS:
        return int(_TESTS[op](numbers[0])[0])
    if op == Op.FConvert:
        return _encoded(result, numbers[0])
    if op in _TO_INTEGER:
        return _truncated(result, float(numbers[0][0]), _TO_INTEGER[Op(op)])
    unordered = any(bool(np.isnan(number)[0]) for number in numbers)
    if op in _ORDERED:
        return int(not unordered and bool(_ORDERED[Op(op)](*numbers)[0]))
    return int(unordered or bool(_UNORDERED[Op(op)](*numbers)[0]))


def _integer(bits: int, width: int, signed: bool) -> np.int64 | np.uint64:
    if signed:
        return np.int64(bits - (1 << width) if bits >> width - 1 else bits)
    return np.uint64(bits)


def _number(kind: Type, bits: int) -> Array:
    return np.array([bits], f"u{kind.dtype.itemsize}").view(kind.dtype)


def _encoded(kind: Type, value: Array) -> int | None:
    """A number rounded to a float type."""
    assert isinstance(kind, FloatType)
    return _bits(kind, round_to(value, _FORMATS[kind]))


def _bits(kind: Type, value: Array) -> int | None:
    if np.isnan(value)[0]:
        return None
    return int(value.astype(kind.dtype).view(f"u{kind.dtype.itemsize}")[0])


def _truncated(kind: Type, value: float, signed: bool) -> int | None:
    """A number toward zero, where the integer type has it."""
    if not np.isfinite(value):
        return None
    number, width = int(value), width_of(kind)
    least = -(1 << width - 1) if signed else 0
    return number & (1 << width) - 1 if least <= number < least + (1 << width) else None
