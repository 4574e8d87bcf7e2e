"""Integer dot products: SPV_KHR_integer_dot_product, core in SPIR-V 1.6."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from coopmat.diagnostics import Error, UndefinedBehavior, ValidationError
from coopmat.spirv.grammar import Op, PackedVectorFormat
from coopmat.spirv.module import Instruction
from coopmat.spirv.types import IntType, Type, VectorType
from coopmat.targets.simulator.compile import FunctionCompiler, Handler
from coopmat.targets.simulator.convergence import first_active
from coopmat.targets.simulator.state import Frame, Site, Step
from coopmat.targets.simulator.values import Array, unsigned

INT64_PRODUCTS = 16  # widest components whose products and sums an int64 holds in any case


@dataclass(frozen=True)
class DotProduct:
    """One of the instructions: how the vectors are extended, and whether an accumulator is added.

    The result of the accumulating forms has the sign of the first vector.
    """

    signs: tuple[bool, bool]
    accumulates: bool = False


@dataclass(frozen=True)
class Shape:
    """The types of an instruction: the result's width, and how to get the components of an operand."""

    width: int
    component_width: int
    is_packed: bool

    def components(self, value: Array, is_signed: bool) -> Array:
        """The components ``[S, L, n]`` of an operand, in numpy's type of their width and sign."""
        if self.is_packed:
            value = np.ascontiguousarray(value.astype("<i4"))[..., None].view(np.int8)
        return value if is_signed else unsigned(value)


def _shape_of(compiler: FunctionCompiler, row: Instruction, accumulates: bool) -> Shape:
    """Check the types, as the validator does."""
    result = compiler.result_type(row)
    kinds = [compiler.type_of(word) for word in row.words[:3 if accumulates else 2]]
    first, second = kinds[:2]
    formats = row.words[len(kinds):]
    if not isinstance(result, IntType):
        raise ValidationError("dot-result", f"the result of {row.name} must be an integer, not {result}", row.offset)
    if first != second:
        raise ValidationError("dot-vectors", f"the vectors of {row.name} must have the same type, not {first} "
                              f"and {second}", row.offset)
    if accumulates and kinds[2] != result:
        raise ValidationError("dot-accumulator", f"the accumulator of {row.name} must have the type of the result, "
                              f"{result}, not {kinds[2]}", row.offset)
    width = _component_width(first, formats, row)
    if result.width < width:
        raise ValidationError("dot-result", f"the result of {row.name}, {result}, is narrower than the components of "
                              f"{width} bits", row.offset)
    return Shape(result.width, width, not isinstance(first, VectorType))


def _component_width(kind: Type, formats: tuple[int, ...], row: Instruction) -> int:
    if isinstance(kind, VectorType) and isinstance(kind.component, IntType):
        return kind.component.width
    if kind != IntType(32) or not formats:
        raise ValidationError("dot-vectors", f"{row.name} needs vectors of integers, or 32-bit integers with a packed "
                              f"vector format; the operands are {kind}", row.offset)
    if formats[0] != PackedVectorFormat.PackedVectorFormat4x8Bit:
        raise Error(f"the packed vector format {formats[0]} of {row.name} is not known")
    return 8


class Limits(NamedTuple):
    """The smallest and the largest value of an integer type."""

    low: int
    high: int

    @classmethod
    def of(cls, width: int, is_signed: bool) -> Limits:
        """Those of a width."""
        return cls(-(1 << width - 1), (1 << width - 1) - 1) if is_signed else cls(0, (1 << width) - 1)

    def __str__(self) -> str:
        return f"{self.low} to {self.high}"


def wrapped_sum(a: Array, b: Array, width: int) -> Array:
    """The low ``width`` bits of the sum of the products along the last axis, as signed integers."""
    total = (_modulo_2_64(a) * _modulo_2_64(b)).sum(axis=-1, dtype=np.int64)
    return total.astype(f"i{width // 8}")


def _modulo_2_64(value: Array) -> Array:
    return value.view(np.int64) if value.dtype == np.uint64 else value.astype(np.int64)


def saturated_sum(a: Array, b: Array, accumulator: Array, width: int) -> tuple[Array, Array]:
    """The saturating sum of accumulator and dot product, and where a step before it overflows.

    The steps are the products and the partial sums in the order of the components, at the result's
    width. The result has the sign of ``accumulator``'s type. Exact for all widths.
    """
    low, high = Limits.of(width, accumulator.dtype.kind == "i")
    small = 8 * a.dtype.itemsize <= INT64_PRODUCTS and width < 64
    exact = np.dtype(np.int64) if small else np.dtype(object)
    products = a.astype(exact) * b.astype(exact)
    sums = np.add.accumulate(products, axis=-1, dtype=exact)
    steps = np.stack([products, sums], axis=-1)
    outside = ((steps < low) | (steps > high)).astype(np.bool_).any(axis=(-2, -1))
    total = np.minimum(np.maximum(sums[..., -1] + accumulator.astype(exact), low), high)
    return total.astype(accumulator.dtype).view(f"i{width // 8}"), np.asarray(outside)


def _dot(dot: DotProduct) -> Handler:
    def handle(compiler: FunctionCompiler, row: Instruction) -> Step:
        shape = _shape_of(compiler, row, dot.accumulates)
        slots = [compiler.slot(word) for word in row.words[:3 if dot.accumulates else 2]]
        result, site = compiler.result(row), compiler.site(row)

        def execute(frame: Frame) -> None:
            values = frame.slots
            a, b = (shape.components(values[slot], sign) for slot, sign in zip(slots[:2], dot.signs, strict=True))
            if not dot.accumulates:
                values[result] = wrapped_sum(a, b, shape.width)
                return
            accumulator = values[slots[2]]
            values[result], overflows = saturated_sum(
                a, b, accumulator if dot.signs[0] else unsigned(accumulator), shape.width)
            _refuse_overflow(frame, site, overflows, (a, b), Limits.of(shape.width, dot.signs[0]))

        return execute

    return handle


def _refuse_overflow(frame: Frame, site: Site, overflows: Array, factors: tuple[Array, Array], limits: Limits) -> None:
    place = first_active(frame, overflows)
    if place is None:
        return
    a, b = (np.broadcast_to(factor, (*frame.mask.expanded.shape, factor.shape[-1]))[place].tolist()
            for factor in factors)
    raise UndefinedBehavior(f"{_first_overflow(a, b, limits)}: {site.instruction} is undefined where a product or a "
                            "sum overflows the type of the result before the accumulator is added",
                            site.where(frame, *place))


def _first_overflow(a: list[int], b: list[int], limits: Limits) -> str:
    """The first product or sum, in the order of the components, that is out of range; in words."""
    total = 0
    for component, (x, y) in enumerate(zip(a, b, strict=True)):
        if not limits.low <= x * y <= limits.high:
            return f"the product of the components {component}, {x} * {y} = {x * y}, is not from {limits}"
        total += x * y
        if not limits.low <= total <= limits.high:
            break
    return f"the sum of the products of the components 0 to {component}, {total}, is not from {limits}"


OPERATIONS: dict[int, Handler] = {
    Op.SDot: _dot(DotProduct((True, True))),
    Op.UDot: _dot(DotProduct((False, False))),
    Op.SUDot: _dot(DotProduct((True, False))),
    Op.SDotAccSat: _dot(DotProduct((True, True), accumulates=True)),
    Op.UDotAccSat: _dot(DotProduct((False, False), accumulates=True)),
    Op.SUDotAccSat: _dot(DotProduct((True, False), accumulates=True)),
}
