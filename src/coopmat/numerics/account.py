"""How an arithmetic model adds, in words and in steps: what explains why two of them differ."""

from __future__ import annotations

from dataclasses import dataclass

from coopmat.numerics.aligned_sum import AlignedSum
from coopmat.numerics.float32_steps import Float64Chain, PairwiseTree, TwoChains
from coopmat.numerics.hardware import Arithmetic, row_of, rows_of
from coopmat.numerics.xmx import STAGES, Chain, XmxArithmetic


@dataclass(frozen=True, slots=True)
class Account:
    """How the elements of ``A*B + C`` are computed.

    products: that one step adds to the sum so far; after so many, the model has a partial sum, which is what D would be
    if K ended there. is_kept: whether it goes on from just that number, not from one with more bits.
    """

    products: int
    words: str
    is_kept: bool = True


ONCE = Account(1, "the exact sum of all products and C, rounded once, to nearest, ties to even", is_kept=False)
"""The account of exact arithmetic: whatever k ends at, the sum is rounded there, and nowhere else."""


def account_of(architecture: str, formats: tuple[str, str, str, str], xmx: XmxArithmetic | None = None) -> Account:
    """The account of an architecture's arithmetic for the formats of A, B, C and D, which are floating-point ones.

    Error if it has no arithmetic for them.
    """
    row = row_of(architecture, rows_of(architecture, xmx), formats)
    return _account(row.arithmetic, formats[3])


def _account(arithmetic: Arithmetic, d_format: str) -> Account:
    match arithmetic:
        case AlignedSum():
            return Account(arithmetic.products, _aligned_sum(arithmetic, d_format),
                           is_kept=arithmetic.truncates == (d_format == "fp32"))
        case TwoChains(products):
            return Account(products, f"for each {products} products two chains of fused multiply-adds in float32 from "
                           "+0, one over the even k and one over the odd; their sum is added to the sum so far; every "
                           "step rounds to nearest even, subnormal results are zero")
        case PairwiseTree(group):
            return Account(group, f"{group} products are added pair by pair, and their sum to the sum so far; every "
                           "product and every addition rounds to float32, to nearest even, subnormal results are zero")
        case Float64Chain():
            return Account(1, "a chain of fused multiply-adds in float64 from C, k ascending; every step rounds to "
                              "nearest even")
        case Chain():
            return _chain(arithmetic, d_format)
    raise AssertionError(arithmetic)


def _aligned_sum(model: AlignedSum, d_format: str) -> str:
    conversion = "to fp32 by truncation" if model.truncates else f"to {d_format}, to nearest even"
    then = ", and to fp16 to nearest even at the end" if model.truncates and d_format != "fp32" else ""
    return (f"{model.products} products and the sum so far are aligned at the largest exponent of them, cut off "
            f"towards zero after {model.fraction_bits} fraction bits, added exactly, and converted once, {conversion}"
            f"{then}")


def _chain(model: Chain, d_format: str) -> Account:
    choices = model.choices
    rounding = {"nearest_even": "to nearest even", "toward_zero": "towards zero"}[choices.rounding]
    products = model.stage_products
    conversion = "" if d_format == "fp32" else f"; converted to {d_format} after " + (
        "every stage" if choices.conversion == "each_stage" else f"{STAGES} stages of {products} products")
    words = {"fused": "a chain of fused multiply-adds in float32 from C, k ascending; every step rounds ",
             "exact": f"{products} products and the sum so far are added exactly and rounded to float32 ",
             "pairwise": f"{products} products are rounded to float32 and added, and their sum is added to the sum so "
                         "far; every step rounds "}[choices.stage_sum]
    return Account(1 if choices.stage_sum == "fused" else products, f"{words}{rounding}{conversion}",
                   is_kept=d_format == "fp32")
