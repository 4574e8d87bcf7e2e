"""``D = A*B + C``, exact and rounded once.

Products of numbers of at most 24 bits are exact in double. They are added up together with the rounding errors of these
additions (Knuth's TwoSum), a row of D at a time; where both ends of the interval in which the exact sum must then lie
round to the same number, that number is the result (Ziv's test). What this leaves open, and every sum of fp64's
products, is added up in an integer with a bit for every place that the sum can have.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from coopmat.spirv.analysis.types import Type
from coopmat.targets.cpu.matrix.fixed_point import OF_DOUBLES, OF_FLOATS, quiet_nan, sum_function
from coopmat.targets.cpu.matrix.rows import DOUBLE, Factors, Forms, Pair
from coopmat.targets.llvm.arithmetic.conversions import narrowed
from coopmat.targets.llvm.terms import Term, choose
from coopmat.targets.llvm.values import Number


def two_sum(a: Term, b: Term) -> tuple[Term, Term]:
    """The rounded sum, and its error; a + b is their sum exactly."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


# --------------------------------------------------------------------------------------
# A row of D
# --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Sums:
    """Sums of products, one for each column: what double holds of them, the sum of its errors, and of their magnitudes.
    """

    high: Term
    low: Term
    size: Term

    @classmethod
    def of(cls, factors: Factors) -> Sums:
        """C and all products; these must be exact in double."""
        start = factors.start
        zero = start.constant(0.0)
        return cls(*factors.steps("0", factors.count, [start, zero, zero], _with_product))


def _with_product(pairs: Sequence[Pair], sums: Sequence[Term]) -> Sequence[Term]:
    ((a,), (b,)), = pairs
    high, low, size = sums
    high, error = two_sum(high, a * b)
    return high, low + error, size + error.magnitude


@dataclass(frozen=True)
class Exact:
    """The rule of exact sums, rounded once. component: of D. is_wide: there are numbers of fp64."""

    component: Type
    is_wide: bool
    multiple = 1

    def forms(self, elements: Term) -> Forms:
        """The numbers as they are."""
        return (elements,)

    def accumulator(self, c: Term) -> Term:
        """The numbers as they are."""
        return c

    def row(self, factors: Factors) -> Number:
        """A row of D."""
        return _Row(factors, self.component, self.is_wide).rounded()


@dataclass(frozen=True)
class _Row:
    """How a row of D is rounded."""

    factors: Factors
    component: Type
    is_wide: bool

    def rounded(self) -> Number:
        """The row."""
        columns = self.factors.columns
        if self.is_wide:
            return self._narrowed(Term(columns, self._exactly("splat (i1 true)")))
        first, second = (Term(columns, self._narrowed(end)) for end in self._ends(Sums.of(self.factors)))
        is_open = first.bits.differs(second.bits)
        exact = self._narrowed(Term(columns, self._exactly(columns.lanes(is_open.number))))
        return choose(is_open, Term(columns, exact), first).number

    def _narrowed(self, sums: Term) -> Number:
        return narrowed(self.factors.columns, sums.number, self.component, "rte")

    def _ends(self, sums: Sums) -> tuple[Term, Term]:
        """The ends of the interval, in double and rounded to odd, so that they may be rounded once more."""
        high, low = two_sum(sums.high, sums.low)
        error = sums.size * ((self.factors.count + 1) * 2.0 ** -52)  # twice what the errors' own sum may be wrong by
        is_settled = sums.size.equals(0.0) | ~sums.high.is_finite
        settled = choose(sums.high.is_nan, quiet_nan(self.factors.columns), sums.high)
        below, above = (choose(is_settled, settled, _odd(*two_sum(high, low + side))) for side in (-error, error))
        return below, above

    def _exactly(self, mask: str) -> Number:
        """The sums of the columns of a mask as doubles: rounded, or rounded to odd where they become narrower."""
        factors, columns, writer = self.factors, self.factors.columns, self.factors.columns.writer
        (a,), name = factors.a, sum_function(writer, OF_DOUBLES if self.is_wide else OF_FLOATS)
        slot = writer.slot(columns.vector(DOUBLE), align=64, initial="zeroinitializer")

        def column(number: str) -> None:
            def add_up() -> None:
                b, c, found = (writer.let(f"getelementptr double, ptr {base}, i64 {number}")
                               for base in (*factors.b, factors.c, slot))
                start = writer.let(f"load double, ptr {c}")
                total = writer.call(DOUBLE, name, [
                    ("ptr", a), ("ptr", b), ("i64", str(factors.pitch)), ("i64", str(factors.count)),
                    (DOUBLE, start)])
                writer.do(f"store double {total}, ptr {found}")

            place = writer.let(f"trunc i64 {number} to i32")
            writer.when(writer.let(f"extractelement {columns.vector('i1')} {mask}, i32 {place}"), add_up)

        bits = writer.let(f"bitcast {columns.vector('i1')} {mask} to i{columns.size}")
        writer.when(writer.let(f"icmp ne i{columns.size} {bits}, 0"), lambda: writer.count(columns.size, column))
        return Number(DOUBLE, lanes=writer.let(f"load {columns.vector(DOUBLE)}, ptr {slot}"))


def _odd(total: Term, error: Term) -> Term:
    """``total + error``, where inexact the one of the two neighbours whose last bit is 1."""
    bits = total.bits
    is_moved = (bits & 1).equals(0) & error.differs(0.0)
    outwards = (error.bits ^ bits) < 0
    moved = choose(outwards, bits - 1, bits + 1)
    return choose(is_moved, moved, bits).cast(DOUBLE)
