"""Comparisons, logic and selection."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from coopmat.spirv.analysis.types import Type
from coopmat.spirv.grammar import Op
from coopmat.spirv.module import Instruction
from coopmat.targets.simulator.arithmetic import elementwise
from coopmat.targets.simulator.compiler import FunctionCompiler, Handler
from coopmat.targets.simulator.state import Frame, Step
from coopmat.targets.simulator.values import Array, Value, blend, unsigned


def _unordered(a: Array, b: Array) -> Array:
    return np.isnan(a) | np.isnan(b)


def _or_unordered(compare: Callable[[Array, Array], Array]) -> Handler:
    return elementwise(lambda a, b: compare(a, b) | _unordered(a, b))


def _unsigned(compare: Callable[[Array, Array], Array]) -> Handler:
    return elementwise(lambda a, b: compare(unsigned(a), unsigned(b)))


def is_normal(value: Array) -> Array:
    """Finite, and not below the smallest normal number."""
    smallest = 2.0 ** (-14 if value.dtype == np.float16 else -1022 if value.dtype == np.float64 else -126)
    return np.isfinite(value) & (np.abs(value) >= smallest)


def select(kind: Type, condition: Array, chosen: Value, other: Value) -> Value:
    """``chosen`` where the condition holds; per component if the condition is a vector."""
    if condition.ndim == 3:
        return np.where(condition, chosen, other)
    if condition.size == 1:
        return chosen if condition.item() else other
    return blend(kind, condition, chosen, other)


def _select(compiler: FunctionCompiler, row: Instruction) -> Step:
    kind = compiler.result_type(row)
    result = compiler.result(row)
    condition, chosen, other = map(compiler.slot, row.words[:3])

    def execute(frame: Frame) -> None:
        slots = frame.slots
        slots[result] = select(kind, slots[condition], slots[chosen], slots[other])

    return execute


def _pointer_difference(compiler: FunctionCompiler, row: Instruction) -> Step:
    """OpPtrDiff: in elements of the pointee."""
    size = compiler.types.pointee(compiler.type_of(row.words[0])).size
    dtype = compiler.result_type(row).dtype
    return compiler.compute(row, lambda a, b: np.floor_divide(a - b, size).astype(dtype), *row.words)


def _holds(value: Array) -> Array:
    """Which components hold. LLVM's back end makes OpAny and OpAll of OpenCL C's functions, whose operands are
    integers: there the highest bit decides."""
    return value if value.dtype == np.bool_ else value < 0


OPERATIONS: dict[int, Handler] = {
    Op.Any: elementwise(lambda value: _holds(value).any(axis=-1)),
    Op.All: elementwise(lambda value: _holds(value).all(axis=-1)),
    Op.IsNan: elementwise(np.isnan),
    Op.IsInf: elementwise(np.isinf),
    Op.IsFinite: elementwise(np.isfinite),
    Op.IsNormal: elementwise(is_normal),
    Op.SignBitSet: elementwise(np.signbit),
    Op.LessOrGreater: elementwise(lambda a, b: (a < b) | (a > b)),
    Op.Ordered: elementwise(lambda a, b: ~_unordered(a, b)),
    Op.Unordered: elementwise(_unordered),
    Op.LogicalEqual: elementwise(np.equal),
    Op.LogicalNotEqual: elementwise(np.not_equal),
    Op.LogicalOr: elementwise(np.logical_or),
    Op.LogicalAnd: elementwise(np.logical_and),
    Op.LogicalNot: elementwise(np.logical_not),
    Op.Select: _select,
    Op.IEqual: elementwise(np.equal),
    Op.INotEqual: elementwise(np.not_equal),
    Op.UGreaterThan: _unsigned(np.greater),
    Op.SGreaterThan: elementwise(np.greater),
    Op.UGreaterThanEqual: _unsigned(np.greater_equal),
    Op.SGreaterThanEqual: elementwise(np.greater_equal),
    Op.ULessThan: _unsigned(np.less),
    Op.SLessThan: elementwise(np.less),
    Op.ULessThanEqual: _unsigned(np.less_equal),
    Op.SLessThanEqual: elementwise(np.less_equal),
    Op.FOrdEqual: elementwise(np.equal),
    Op.FUnordEqual: _or_unordered(np.equal),
    Op.FOrdNotEqual: elementwise(lambda a, b: (a != b) & ~_unordered(a, b)),
    Op.FUnordNotEqual: elementwise(np.not_equal),
    Op.FOrdLessThan: elementwise(np.less),
    Op.FUnordLessThan: _or_unordered(np.less),
    Op.FOrdGreaterThan: elementwise(np.greater),
    Op.FUnordGreaterThan: _or_unordered(np.greater),
    Op.FOrdLessThanEqual: elementwise(np.less_equal),
    Op.FUnordLessThanEqual: _or_unordered(np.less_equal),
    Op.FOrdGreaterThanEqual: elementwise(np.greater_equal),
    Op.FUnordGreaterThanEqual: _or_unordered(np.greater_equal),
    Op.PtrEqual: elementwise(np.equal),
    Op.PtrNotEqual: elementwise(np.not_equal),
    Op.PtrDiff: _pointer_difference,
}
