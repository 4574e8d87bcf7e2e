"""What the arithmetic models claim of each property: from the parameters in ``coopmat.numerics.hardware``, without
running them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from coopmat.formats import FORMATS, Format
from coopmat.numerics import EXACT
from coopmat.numerics.aligned_sum import AlignedSum
from coopmat.numerics.float32_steps import Float64Chain, PairwiseTree, TwoChains
from coopmat.numerics.hardware import ROWS, Row, rows_of
from coopmat.numerics.xmx import STAGES, Chain, XmxArithmetic
from coopmat.probing import alignment, integers, names, nonfinite, quantum, ranges, rounding
from coopmat.probing.directions import EVEN, ZERO
from coopmat.probing.order import at_once
from coopmat.probing.setup import Setup
from coopmat.probing.trees import Tree, chain, node, text

_ALL = frozenset(names.SUBNORMAL)


@dataclass(frozen=True, slots=True)
class Nans:
    """Which NaN comes out: of an invalid operation, of a NaN operand, of two; and for tf32 of one whose payload lies in
    the unused bits."""

    invalid: str
    operand: str
    both: tuple[str, str, str]  # of A and B, of A and C, of p0 and p2
    unused: str = "infinity"

    @classmethod
    def always(cls, bits: str, unused: str = "infinity") -> Nans:
        """One and the same NaN."""
        return cls(bits, bits, (bits, bits, bits), unused)


@dataclass(frozen=True, slots=True)
class Traits:
    """What a model's parameters say, in the words of the properties.

    partial: the format of partial sums.
    accumulator: the format that C is converted to before the sum.
    result: the direction of the last rounding; between: that of partial sums.
    saturates: whether partial sums, and results, beyond the range become the largest finite number.
    flushed: the keys of ``names.SUBNORMAL`` that are taken for zero.
    zeros: of a sum of negative zeros, and of a negative sum that rounds to zero.
    rounds_products: whether a product is rounded before it is added.
    converts_between: whether partial sums are converted to D's format on the way: their overflow is not foreseen here.
    tf32: the direction in which operands of tf32 lose the bits that are not used.
    aligned: further claims, of nodes with several terms.
    """

    tree: Tree
    partial: Format
    accumulator: Format
    nans: Nans
    result: str = EVEN
    between: str = EVEN
    saturates: tuple[bool, bool] = (False, False)
    flushed: frozenset[str] = frozenset()
    zeros: tuple[str, str] = ("-0", "-0")
    rounds_products: bool = False
    converts_between: bool = False
    tf32: str = ZERO
    aligned: Mapping[str, str] = field(default_factory=dict)


def claims(architecture: str, setup: Setup, *, saturating: bool = False,
           xmx: XmxArithmetic | None = None) -> dict[str, str] | None:
    """The model's claim of each property, None if there is no model of these types.

    architecture: its name, ``generic`` for exact arithmetic. saturating: whether an integer instruction clamps. xmx:
    the arithmetic of Intel's XMX where it is not the default.
    """
    if not setup.is_float:
        return _of_integers(setup, saturating)
    if architecture == EXACT:
        return _texts(setup, _exact(setup))
    rows = rows_of(architecture, xmx) if architecture in ROWS else ()
    row = next((row for row in rows if row.fits(setup.types)), None)
    if row is None:
        return None
    return _texts(setup, _TRAITS[type(row.arithmetic)](row.arithmetic, row, setup))


def _of_integers(setup: Setup, saturating: bool) -> dict[str, str]:
    beyond = integers.CLAMPS if saturating else integers.WRAPS
    signs = {names.SIGN[key]: "signed" if fmt.is_signed else "unsigned"
             for key, fmt in (("A", setup.a), ("B", setup.b))}
    return {names.ALIKE: "yes", **signs, names.EXACT: integers.EXACT, names.ABOVE: beyond, names.BELOW: beyond}


# --------------------------------------------------------------------------------------
# Models
# --------------------------------------------------------------------------------------


def _exact(setup: Setup) -> Traits:
    nan = nonfinite.nan_text(setup.d, nonfinite.quiet(setup.d, 0))
    aligned = {names.KEPT: alignment.all_kept(setup),
               names.QUANTUM: quantum.quantum_text(setup, quantum.bottom(setup, EVEN), EVEN)}
    return Traits(node(*range(setup.k + 1)), setup.d, setup.c, Nans.always(nan, nan), aligned=aligned)


def _aligned_sum(model: AlignedSum, row: Row, setup: Setup) -> Traits:
    between, partial = (ZERO, FORMATS["fp32"]) if model.truncates else (EVEN, setup.d)
    is_converted = partial != setup.d
    result = EVEN if is_converted else between
    blocks = [range(setup.k)[start:start + model.products] for start in range(0, setup.k, model.products)]
    floor = quantum.least(setup) - 1 if model.floor is None else max(model.floor, quantum.least(setup) - 1)
    aligned = {names.KEPT: alignment.kept_text(setup, model.fraction_bits), names.CUT: ZERO,
               names.ALIGNED_AT: alignment.OF_FACTORS,
               names.QUANTUM: quantum.quantum_text(setup, floor - model.fraction_bits, result)}
    return Traits(chain(setup.k, *blocks), partial, FORMATS[row.c_format], _nans_of(row, setup), result, between,
                  zeros=("+0", "-0" if is_converted else "+0"), aligned=aligned)


def _two_chains(model: TwoChains, row: Row, setup: Setup) -> Traits:
    tree: Tree = setup.k
    for start in range(0, setup.k, model.products):
        tile = range(setup.k)[start:start + model.products]
        halves = [chain(half[0], *([leaf] for leaf in half[1:])) for half in (tile[::2], tile[1::2]) if half]
        tree = node(tree, node(*halves) if len(halves) == 2 else halves[0])
    fp32 = FORMATS["fp32"]
    flushed = _ALL if setup.a.min_exponent == fp32.min_exponent else _ALL - {"A", "B"}
    nans = Nans("NaN FFC00000", nonfinite.OPERAND, ("that of A", "that of C", "that of p2"))
    underflow = "-0" if setup.k % 2 == 0 else "+0"  # an odd number of products is made even by a zero
    return Traits(tree, fp32, FORMATS[row.c_format], nans, flushed=flushed, zeros=("+0", underflow),
                  rounds_products=True)  # the first of each chain is: it is added to zero


def _pairwise_tree(model: PairwiseTree, row: Row, setup: Setup) -> Traits:
    groups = []
    for start in range(0, setup.k, model.group):
        level: list[Tree] = list(range(setup.k)[start:start + model.group])
        while len(level) > 1:
            level = [node(*level[index:index + 2]) if index + 1 < len(level) else level[index]
                     for index in range(0, len(level), 2)]
        groups.append(level)
    return Traits(chain(setup.k, *groups), FORMATS["fp32"], FORMATS[row.c_format], _nans_of(row, setup), flushed=_ALL,
                  zeros=("+0", "+0") if setup.k % model.group else ("-0", "-0"), rounds_products=True)


def _chain(model: Chain, row: Row, setup: Setup) -> Traits:
    choices, fp32, is_narrow = model.choices, FORMATS["fp32"], setup.d.name != "fp32"
    step, conversion = (_DIRECTIONS[name] for name in (choices.rounding, choices.conversion_rounding))
    stages = [range(setup.k)[start:start + model.stage_products] for start in range(0, setup.k, model.stage_products)]
    converts_between = is_narrow and choices.stage_sum != "fused" and (
        choices.conversion == "each_stage" or len(stages) > STAGES)
    saturates = step == ZERO
    canonical = nonfinite.nan_text(setup.d, nonfinite.quiet(setup.d, 0))
    nans = {"canonical": Nans.always(canonical),
            "payload": Nans(canonical, nonfinite.OPERAND, ("that of A", "that of C", "that of p0"))}[choices.nan]
    return Traits(
        chain(setup.k, *_STAGE_SUMS[choices.stage_sum](stages)), setup.d if converts_between else fp32,
        FORMATS[row.c_format], nans if choices.tf32_operands == "truncated" else replace(nans, unused=canonical),
        result=conversion if is_narrow else step, between=conversion if converts_between else step,
        saturates=(saturates, (conversion == ZERO and (saturates or setup.d.max_exponent < fp32.max_exponent))
                   if is_narrow else saturates),
        flushed=_flushed_by(model, setup), rounds_products=choices.stage_sum == "pairwise",
        converts_between=is_narrow and (choices.conversion == "each_stage" or len(stages) > STAGES),
        tf32=_DIRECTIONS[choices.tf32_operands], aligned={names.KEPT: alignment.all_kept(setup)})


_DIRECTIONS = {"nearest_even": EVEN, "toward_zero": ZERO, "truncated": ZERO}
_STAGE_SUMS: dict[str, Callable[[list[range]], list[list[Tree]]]] = {
    "fused": lambda stages: [[product] for stage in stages for product in stage],
    "exact": lambda stages: [list(stage) for stage in stages],
    "pairwise": lambda stages: [[node(*stage)] if len(stage) > 1 else [*stage] for stage in stages],
}


def _flushed_by(model: Chain, setup: Setup) -> frozenset[str]:
    """What XMX takes for zero: operands in their own format, C and results in float32's."""
    choices, least = model.choices, FORMATS["fp32"].min_exponent
    operands, results = choices.subnormal_operands == "flushed", choices.subnormal_results == "flushed"
    has_range = setup.d.min_exponent == least
    is_chained = setup.k > STAGES * model.stage_products  # what one instruction gives is C of the next
    alone = setup.least_product > setup.c.min_exponent  # subnormal C are results, too
    return frozenset(name for name, is_flushed in {
        "A": operands, "B": operands, "D": (results or (operands and is_chained)) and has_range,
        "C": setup.c.min_exponent == least and (operands or (results and alone)),
        "products": results and has_range and choices.stage_sum == "pairwise"}.items() if is_flushed)


def _float64_chain(model: Float64Chain, row: Row, setup: Setup) -> Traits:
    a_or_b, a_or_c = (min(pair, key=model.nan_order.index) for pair in ("ab", "ac"))
    both = (f"that of {a_or_b.upper()}", f"that of {a_or_c.upper()}", "that of p2" if a_or_c == "a" else "that of p0")
    return Traits(_one_by_one(setup), FORMATS["fp64"], FORMATS[row.c_format],
                  Nans(nonfinite.nan_text(setup.d, model.default_nan), nonfinite.OPERAND, both))


_TRAITS: dict[type, Callable[[Any, Row, Setup], Traits]] = {
    AlignedSum: _aligned_sum, TwoChains: _two_chains, PairwiseTree: _pairwise_tree, Chain: _chain,
    Float64Chain: _float64_chain,
}


def _one_by_one(setup: Setup) -> Tree:
    return chain(setup.k, *([leaf] for leaf in range(setup.k)))


def _nans_of(row: Row, setup: Setup) -> Nans:
    return Nans.always(nonfinite.ANY_NAN if row.nan is None else nonfinite.nan_text(setup.d, row.nan))


# --------------------------------------------------------------------------------------
# Properties
# --------------------------------------------------------------------------------------


def _texts(setup: Setup, traits: Traits) -> dict[str, str]:
    """The claims in the words of the report. Those of properties that these types do not show do no harm."""
    when = rounding.BEFORE if traits.accumulator.fraction_bits < setup.c.fraction_bits else rounding.AFTER
    both = zip(names.WINS.values(), traits.nans.both, strict=True)
    return {
        names.ALIKE: "yes",
        names.ORDER: text(traits.tree, setup.k), names.AT_ONCE: str(at_once(traits.tree, setup.k)),
        names.PRODUCTS: rounding.EXACT,
        **traits.aligned,
        names.PARTIAL: alignment.partial_text(
            traits.partial.fraction_bits, traits.between),
        names.RESULT: traits.result,
        names.ACCUMULATOR: f"{when}, {EVEN if when == rounding.BEFORE else traits.result}",
        **dict.fromkeys(names.TF32.values(), traits.tf32), names.TF32_NAN: traits.nans.unused,
        **{name: ranges.FLUSHED if key in traits.flushed else ranges.KEPT for key, name in names.SUBNORMAL.items()},
        names.NEGATIVE_ZEROS: traits.zeros[0], names.DIFFERENCE: "+0", names.UNDERFLOW: traits.zeros[1],
        names.INFINITY: "infinity", names.OVERFLOW: ranges.LARGEST if traits.saturates[1] else "infinity",
        names.PRODUCT_OVERFLOW: _overflow(setup, traits, {0: 2.0, 1: -2.0}),
        names.PARTIAL_OVERFLOW: _overflow(setup, traits, {0: 1.0, 1: 1.0, 2: -1.0, 3: -1.0}),
        **dict.fromkeys((names.ZERO_TIMES_INFINITY, names.INFINITIES), traits.nans.invalid),
        **dict.fromkeys((*names.QUIET.values(), *names.SIGNALLING.values()), traits.nans.operand),
        **dict(both),
    }


def _overflow(setup: Setup, traits: Traits, terms: Mapping[int, float]) -> str:
    """What comes out of products, in units of D's largest power of two, whose sum is zero."""
    if traits.converts_between:
        return ""
    one = 2.0**-setup.d.max_exponent
    largest = traits.partial.max_value * one

    def rounded(value: float) -> float:
        return math.copysign(largest if traits.saturates[0] else math.inf, value) if abs(value) > largest else value

    def value(tree: Tree) -> float:
        if not isinstance(tree, int):
            return rounded(sum(map(value, tree.children)))
        return rounded(terms.get(tree, 0.0)) if traits.rounds_products else terms.get(tree, 0.0)

    return ranges.overflow_text(setup, value(traits.tree) / one)
