"""Integer dot products: SPV_KHR_integer_dot_product, core in SPIR-V 1.6."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from coopmat.diagnostics import UndefinedBehavior
from coopmat.spirv.module import Instruction
from coopmat.targets.analysis.dot_products import DOT_PRODUCTS, DotProduct, DotShape, dot_shape
from coopmat.targets.simulator.compiler import FunctionCompiler, Handler
from coopmat.targets.simulator.convergence import first_active
from coopmat.targets.simulator.state import Frame, Site, Step
from coopmat.targets.simulator.values import Array, unsigned

INT64_PRODUCTS = 16  # widest components whose products and sums an int64 holds in any case


def _components(shape: DotShape, value: Array, is_signed: bool) -> Array:
    """The components ``[S, L, n]`` of an operand, in numpy's type of their width and sign."""
    if shape.is_packed:
        value = np.ascontiguousarray(value.astype("<i4"))[..., None].view(np.int8)
    return value if is_signed else unsigned(value)


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
        kinds = [compiler.type_of(word) for word in row.words[:dot.operands]]
        shape = dot_shape(row, compiler.result_type(row), kinds)
        slots = [compiler.slot(word) for word in row.words[:dot.operands]]
        result, site = compiler.result(row), compiler.site(row)

        def execute(frame: Frame) -> None:
            values = frame.slots
            a, b = (_components(shape, values[slot], sign) for slot, sign in zip(slots[:2], dot.signs, strict=True))
            if not dot.accumulates:
                values[result] = wrapped_sum(a, b, shape.width)
                return
            accumulator = values[slots[2]]
            values[result], overflows = saturated_sum(
                a, b, accumulator if dot.signs[0] else unsigned(accumulator), shape.width)
            if frame.batch.options.undefined:
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


OPERATIONS: dict[int, Handler] = {op: _dot(dot) for op, dot in DOT_PRODUCTS.items()}
