"""Intel XMX: the sum that DPAS accumulates stage by stage, and the choices that its documents leave open.

Documented are the eight stages of one instruction, in ascending k, and how many products each adds. The rest are the
fields of :class:`XmxArithmetic`; each says what is documented and what its values mean, for docs/numerics.md too.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from coopmat.diagnostics import Error, value_text
from coopmat.formats import Format, Rounding, round_pair, round_to
from coopmat.numerics.float32_steps import flushed, to_float32
from coopmat.numerics.summation import two_sum
from coopmat.numerics.terms import Array, Terms

STAGES = 8  # of one instruction
_ROUNDING: dict[str, Rounding] = {"nearest_even": "rte", "toward_zero": "rtz"}
_ROUNDING_MEANINGS = {
    "nearest_even": "to nearest, ties to even; overflow gives infinity",
    "toward_zero": "towards zero; overflow gives the largest finite number"}


def _choice(default: str, about: str, documented: str, meanings: dict[str, str]) -> Any:
    return field(default=default, metadata={"about": about, "documented": documented, "meanings": meanings})


@dataclass(frozen=True, kw_only=True, slots=True)
class XmxArithmetic:
    """How Intel's XMX computes what its documents leave open: see docs/numerics.md for every choice.

    The defaults are those of Intel's own emulations: a chain of fused multiply-adds in float32, converted to a
    narrower accumulator's format after each instruction. Raises :class:`coopmat.Error` for an unknown value.
    """

    stage_sum: Literal["fused", "exact", "pairwise"] = _choice(
        "fused", "how the products of a stage are added to the accumulator",
        "a stage adds 2 products of bf16 or fp16, 1 of tf32; order and rounding within it are not", {
            "fused": "by fused multiply-adds, one product after the other, in ascending k",
            "exact": "products and accumulator are added exactly and rounded once",
            "pairwise": "each product is rounded, then their sum, then its sum with the accumulator"})
    rounding: Literal["nearest_even", "toward_zero"] = _choice(
        "nearest_even", "how every step rounds to float32", "between stages the accumulator is a 32-bit float",
        _ROUNDING_MEANINGS)
    subnormal_operands: Literal["kept", "flushed"] = _choice(
        "kept", "subnormal elements of A and B (in their format) and of C (in float32)", "nothing", {
            "kept": "count at full value", "flushed": "are zeros with their sign"})
    subnormal_results: Literal["kept", "flushed"] = _choice(
        "kept", "subnormal float32 results of a step", "nothing", {
            "kept": "stay", "flushed": "become zeros with their sign"})
    tf32_operands: Literal["truncated", "nearest_even"] = _choice(
        "truncated", "what a product sees of a tf32 operand's 13 low bits",
        "only 10 bits of the fraction are used (cl_intel_subgroup_matrix_multiply_accumulate_tf32)", {
            "truncated": "nothing: they are cut off", "nearest_even": "operands are rounded to nearest, ties to even"})
    conversion: Literal["each_instruction", "each_stage"] = _choice(
        "each_instruction", "when a bf16 or fp16 accumulator is converted to its format", "the formats", {
            "each_instruction": "after the eighth stage (k of 16)", "each_stage": "after every stage"})
    conversion_rounding: Literal["nearest_even", "toward_zero"] = _choice(
        "nearest_even", "how that conversion rounds", "nothing", _ROUNDING_MEANINGS)
    nan: Literal["canonical", "payload"] = _choice(
        "canonical", "which NaN comes out", "nothing", {
            "canonical": "the positive quiet one without payload",
            "payload": "the first operand that is one, in the order C, A and B by k, made quiet; of an invalid "
                       "operation, the canonical one"})

    def __post_init__(self) -> None:
        for row in fields(self):
            value, known = getattr(self, row.name), row.metadata["meanings"]
            if not isinstance(value, str) or value not in known:
                raise Error(f"XmxArithmetic: {row.name} must be {' or '.join(map(repr, known))}; "
                            f"found {value_text(value)}")


@dataclass(frozen=True, slots=True)
class Chain:
    """XMX: a chain of steps in float32 from C, k ascending; ``stage_products`` are added in one stage, eight stages
    make an instruction. ``least_input`` is the least normal number of the format of A and B."""

    stage_products: int
    least_input: float
    choices: XmxArithmetic = XmxArithmetic()

    def accumulate(self, terms: Terms, d_format: Format) -> NDArray[np.generic]:
        """The elements of ``A*B + C`` in storage of D's format."""
        choices = self.choices
        a, b, total = terms.a, terms.b, terms.c
        if choices.subnormal_operands == "flushed":
            a, b = (flushed(x.copy(), self.least_input) for x in (a, b))
        is_narrow = d_format.name != "fp32"
        with np.errstate(all="ignore"):
            for number, stage in enumerate(self._stages(len(a))):
                if is_narrow and number and (choices.conversion == "each_stage" or number % STAGES == 0):
                    total = self._converted(total, d_format).astype(np.float64)
                if number % STAGES == 0 and choices.subnormal_operands == "flushed":
                    total = flushed(total.copy())  # C of an instruction
                total = self._add_stage(a[stage] * b[stage], total)
        result = self._converted(total, d_format)
        is_nan = np.isnan(total)
        if is_nan.any():
            result[is_nan] = round_to(self._nan(terms.where(is_nan)), d_format)
        return result

    def _stages(self, k: int) -> Iterator[slice]:
        return (slice(start, start + self.stage_products) for start in range(0, k, self.stage_products))

    def _add_stage(self, products: Array, total: Array) -> Array:
        """The accumulator after a stage; its ``products`` [P, ...] are exact."""
        if self.choices.stage_sum == "exact":
            return self._rounded(*products, total)
        if self.choices.stage_sum == "pairwise":
            rounded = [self._rounded(product) for product in products]
            products = np.stack(rounded if len(rounded) == 1 else [self._rounded(*rounded)])
        for product in products:
            total = self._rounded(product, total)
        return total

    def _rounded(self, *terms: Array) -> Array:
        """The exact sum of one to three numbers, rounded once to float32.

        To nearest, the sum of two may round to float64 first (float32_steps); otherwise it rounds to odd.
        """
        to_nearest = self.choices.rounding == "nearest_even"
        total = terms[0]
        if len(terms) > 1:
            total = terms[0] + terms[1] if len(terms) == 2 and to_nearest else _sum_to_odd(*terms)
        total = to_float32(total) if to_nearest else round_to(total, "fp32", rounding="rtz").astype(np.float64)
        return flushed(total) if self.choices.subnormal_results == "flushed" else total

    def _converted(self, values: Array, fmt: Format) -> NDArray[np.generic]:
        """float32 numbers in another accumulator's format."""
        return round_to(values, fmt, rounding=_ROUNDING[self.choices.conversion_rounding])

    def _nan(self, terms: Terms) -> Array:
        """The NaN of each element."""
        result = np.full(len(terms.c), np.nan)
        if self.choices.nan == "payload":
            for operand in (*(x[k] for k in reversed(range(len(terms.a))) for x in (terms.b, terms.a)), terms.c):
                result = np.where(np.isnan(operand), operand, result)
        return result


def _sum_to_odd(first: Array, second: Array, third: Array | None = None) -> Array:
    """The exact sum of two or three numbers of few bits, rounded to odd in float64: a further rounding to float32 is
    then right in any direction."""
    if third is None:
        plain, total = first + second, round_pair(first, second, "odd")
    else:
        high, low = two_sum(first, second)
        high, middle = two_sum(high, third)
        rest = round_pair(middle, low, "odd")
        plain, total = high, np.where(rest == 0, high, round_pair(high, rest, "odd"))
    return np.where(np.isfinite(plain), total, plain)
