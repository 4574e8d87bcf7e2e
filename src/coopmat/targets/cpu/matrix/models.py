"""``D = A*B + C`` bit for bit as devices compute it: the models of :mod:`coopmat.numerics` as code.

Each class of models has a family here, which writes what the class does in numpy, with the model's own parameters. All
numbers are doubles, in which products are exact; a sum of a product and a float, or of two floats, may be rounded to
double and then to float (coopmat/numerics/float32_steps.py says why).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from coopmat.diagnostics import Error
from coopmat.formats import FORMATS, Format
from coopmat.numerics.aligned_sum import AlignedSum
from coopmat.numerics.float32_steps import Float64Chain, PairwiseTree, TwoChains
from coopmat.numerics.hardware import Row
from coopmat.numerics.xmx import STAGES, Chain, XmxArithmetic
from coopmat.spirv.analysis.types import Type
from coopmat.targets.cpu.matrix.fixed_point import FRACTION, INFINITY_BITS, quiet_nan
from coopmat.targets.cpu.matrix.rows import DOUBLE, Factors, Forms, Pair
from coopmat.targets.cpu.matrix.sums import FLOAT_TYPES, to_work
from coopmat.targets.llvm.arithmetic.conversions import narrowed
from coopmat.targets.llvm.terms import Term, choose
from coopmat.targets.llvm.values import Number

LEAST_NORMAL = 2.0**-126  # of float
QUIET = 1 << FRACTION - 1  # the bit of a double's NaN
DEFAULT_NAN = 0xFFF8 << 48  # x86's, in double


@dataclass(frozen=True)
class AsDevice:
    """The rule of a row of a device's table, for numbers of its formats. component: of D."""

    described: Row
    c_format: Format
    component: Type

    @property
    def multiple(self) -> int:
        """What the sums of products are made of."""
        return self._family.multiple(self.described.arithmetic)

    @property
    def _family(self) -> Family:
        return FAMILIES[type(self.described.arithmetic)]

    def forms(self, elements: Term) -> Forms:
        """What the family needs of each element."""
        return self._family.forms(self.described, elements)

    def accumulator(self, c: Term) -> Term:
        """C in the format that the device adds it in."""
        wanted = FORMATS[self.described.c_format]
        return c if wanted in (self.c_format, FORMATS["fp64"]) else _rounded(c, wanted)

    def row(self, factors: Factors) -> Number:
        """A row of D."""
        total = self._family.row(self.described, factors)
        found = Term(total.emitter, narrowed(factors.columns, total.number, self.component, "rte"))
        if self.described.nan is None:
            return found.number
        return choose(total.is_nan, self.described.nan, found.bits).cast(found.type).number


class Family(NamedTuple):
    """How a class of models is written.

    forms: what is kept of elements of A and B. row: the sums of a row of D, as doubles. multiple: of what K must be a
    multiple, with zeros added.
    """

    forms: Callable[[Row, Term], Forms]
    row: Callable[[Row, Factors], Term]
    multiple: Callable[[Any], int] = lambda model: 1


# --------------------------------------------------------------------------------------
# Rounding
# --------------------------------------------------------------------------------------


def _rounded(number: Term, fmt: Format) -> Term:
    """Doubles rounded to a format, to nearest with ties to even."""
    numbers = number.emitter
    return Term(numbers, to_work(numbers, narrowed(numbers, number.number, FLOAT_TYPES[fmt.name], "rte"), fmt, DOUBLE))


def _to_float(number: Term) -> Term:
    """Doubles rounded to float."""
    return _rounded(number, FORMATS["fp32"])


def _flushed(number: Term, limit: float = LEAST_NORMAL) -> Term:
    """Zeros, with their signs, for numbers below a limit."""
    return choose(number.magnitude < limit, number.constant(0.0).with_sign(number), number)


def _truncated(number: Term, fmt: Format) -> Term:
    """Cut off below the precision of a format, and below its least subnormal number; too large a number is infinity.
    What becomes zero is +0."""
    least = 2.0 ** (fmt.min_exponent - fmt.fraction_bits)
    normal = (number.bits & -(1 << FRACTION - fmt.fraction_bits)).cast(DOUBLE)
    subnormal = (number * (1 / least)).intrinsic("trunc") * least + 0.0
    kept = choose(number.magnitude < 2.0**fmt.min_exponent, subnormal, normal)
    infinity = number.constant(float("inf")).with_sign(number)
    return choose(number.magnitude >= 2.0 ** (fmt.max_exponent + 1), infinity, kept)


def _with_nan(number: Term, candidates: Sequence[Term], default: int) -> Term:
    """Which NaN stands where a number is one: the first candidate that is one, made quiet; else the default."""
    nan = number.bits.constant(default)
    for candidate in reversed(candidates):
        nan = choose(candidate.is_nan, candidate.bits | QUIET, nan)
    return choose(number.is_nan, nan, number.bits).cast(DOUBLE)


# --------------------------------------------------------------------------------------
# NVIDIA's tensor cores
# --------------------------------------------------------------------------------------

LEAST_EXPONENT, MOST_EXPONENT = -600, 300  # that terms are aligned at, were there no floor and no infinities


def _powers(row: Row, elements: Term) -> Forms:
    """Elements, and the powers of two that they are aligned by."""
    return elements, _power(elements, FORMATS[row.inputs])


def _power(number: Term, fmt: Format) -> Term:
    """Two to the exponent of a number, of subnormal ones to the least one; zero for zeros, infinity for what is not
    finite."""
    power = _larger((number.bits & INFINITY_BITS).cast(DOUBLE), number.constant(2.0**fmt.min_exponent))
    return choose(number.equals(0.0), 0.0, power)


def _larger(new: Term, old: Term) -> Term:
    """The larger one; a NaN does not count if it is new. One instruction on x86."""
    return choose(new > old, new, old)


def _aligned_sum(row: Row, factors: Factors) -> Term:
    model = row.arithmetic
    assert isinstance(model, AlignedSum)
    fmt = FORMATS["fp32" if model.truncates else row.d_format]

    def block(first: str, count: int, c: Term) -> Term:
        quantum = _largest_power(model, fmt, factors, first, count, c) * 2.0**-model.fraction_bits
        scale = (quantum.bits.constant(2 * 1023 << FRACTION) - quantum.bits).cast(DOUBLE)  # its inverse
        total = _sum_of_integers(factors, first, count, c, scale) * quantum
        return _truncated(total, fmt) if model.truncates else _rounded(total, fmt) + 0.0

    return factors.in_blocks(model.products, block, factors.start)


def _largest_power(model: AlignedSum, fmt: Format, factors: Factors, first: str, count: int, c: Term) -> Term:
    """Two to the exponent that the terms of a block are aligned at; of terms that are not finite a number that leaves
    all others finite."""
    def step(pairs: Sequence[Pair], largest: Sequence[Term]) -> Sequence[Term]:
        ((_, a_power), (_, b_power)), = pairs
        return [_larger(a_power * b_power, largest[0])]

    floor = c.constant(2.0 ** (LEAST_EXPONENT if model.floor is None else model.floor))
    largest, = factors.steps(first, count, [_larger(_power(c, fmt), floor)], step)
    most = largest.constant(2.0**MOST_EXPONENT)
    return choose(largest < most, largest, most)


def _sum_of_integers(factors: Factors, first: str, count: int, c: Term, scale: Term) -> Term:
    """The sum of a block's terms, each a multiple of what is kept of it: exact. Where terms are not finite, it is
    infinity or NaN, as the sum of these alone. A zero is +0."""
    def step(pairs: Sequence[Pair], total: Sequence[Term]) -> Sequence[Term]:
        ((a, _), (b, _)), = pairs
        return [total[0] + (a * b * scale).intrinsic("trunc")]

    total, = factors.steps(first, count, [(c * scale).intrinsic("trunc")], step)
    return total + 0.0


# --------------------------------------------------------------------------------------
# Intel
# --------------------------------------------------------------------------------------


def _as_they_are(row: Row, elements: Term) -> Forms:
    return (elements,)


def _chain(row: Row, factors: Factors) -> Term:
    """XMX: float after each product, D's format after each instruction."""
    model = row.arithmetic
    assert isinstance(model, Chain)
    if model.choices != XmxArithmetic():
        raise Error(f"the CPU computes as Intel's XMX with {XmxArithmetic()} only; found {model.choices}")

    def step(pairs: Sequence[Pair], total: Sequence[Term]) -> Sequence[Term]:
        ((a,), (b,)), = pairs
        return [_to_float(a * b + total[0])]

    def instruction(first: str, count: int, total: Term) -> Term:
        return _rounded(factors.steps(first, count, [total], step)[0], FORMATS[row.d_format])

    total = factors.in_blocks(STAGES * model.stage_products, instruction, factors.start)
    return choose(total.is_nan, quiet_nan(total.emitter), total)


def _flushed_form(row: Row, elements: Term) -> Forms:
    return (_flushed(elements),)


def _two_chains(row: Row, factors: Factors) -> Term:
    """AMX: tile after tile."""
    model = row.arithmetic
    assert isinstance(model, TwoChains)

    def step(pairs: Sequence[Pair], chains: Sequence[Term]) -> Sequence[Term]:
        return [_fused(a, b, chain) for ((a,), (b,)), chain in zip(pairs, chains, strict=True)]

    def tile(first: str, count: int, total: Term) -> Term:
        zero = total.constant(0.0)
        both = _flushed_sum(*factors.steps(first, count, [zero, zero], step, together=2))
        return _flushed_sum(total, both)

    return factors.in_blocks(model.products, tile, _flushed(factors.start))


def _fused(a: Term, b: Term, c: Term) -> Term:
    """A fused multiply-add; what x86 flushes is below the least normal number after rounding to 24 bits."""
    total = a * b + c
    return _with_nan(_to_float(_flushed(total, LEAST_NORMAL - 2.0**-151)), (a, b, c), DEFAULT_NAN)


def _flushed_sum(a: Term, b: Term) -> Term:
    return _with_nan(_flushed(_to_float(a + b)), (a, b), DEFAULT_NAN)


# --------------------------------------------------------------------------------------
# AMD's matrix cores, and float64
# --------------------------------------------------------------------------------------


def _normal_form(row: Row, elements: Term) -> Forms:
    """Subnormal elements as +0."""
    assert isinstance(row.arithmetic, PairwiseTree)
    return (_zero_below(elements, row.arithmetic.least_input),)


def _zero_below(number: Term, limit: float) -> Term:
    is_small = (number.magnitude < limit) & number.differs(0.0)
    return choose(is_small, 0.0, number)


def _pairwise_tree(row: Row, factors: Factors) -> Term:
    model = row.arithmetic
    assert isinstance(model, PairwiseTree)

    def group(pairs: Sequence[Pair], total: Sequence[Term]) -> Sequence[Term]:
        sums = [_flushed(_to_float(a * b)) for (a,), (b,) in pairs]
        while len(sums) > 1:
            sums = [_flushed(_to_float(a + b)) for a, b in zip(sums[0::2], sums[1::2], strict=True)]
        return [_flushed(_to_float(total[0] + sums[0]))]

    start = _zero_below(factors.start, LEAST_NORMAL)
    return factors.steps("0", factors.count, [start], group, together=model.group)[0]


def _float64_chain(row: Row, factors: Factors) -> Term:
    model = row.arithmetic
    assert isinstance(model, Float64Chain)

    def step(pairs: Sequence[Pair], total: Sequence[Term]) -> Sequence[Term]:
        ((a,), (b,)), = pairs
        named = {"a": a, "b": b, "c": total[0]}
        fused = a.intrinsic("fma", b, total[0])
        return [_with_nan(fused, [named[name] for name in model.nan_order], model.default_nan)]

    return factors.steps("0", factors.count, [factors.start], step)[0]


FAMILIES: dict[type, Family] = {
    AlignedSum: Family(_powers, _aligned_sum),
    Chain: Family(_as_they_are, _chain),
    TwoChains: Family(_flushed_form, _two_chains, lambda model: 2),
    PairwiseTree: Family(_normal_form, _pairwise_tree, lambda model: int(model.group)),
    Float64Chain: Family(_as_they_are, _float64_chain),
}
"""The family of each class of models."""
