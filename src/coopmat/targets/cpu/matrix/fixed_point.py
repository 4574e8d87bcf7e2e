"""Exact sums of products, in integers with a bit for every place that such a sum can have."""

from __future__ import annotations

from dataclasses import dataclass

from coopmat.targets.cpu.matrix.rows import BYTES, DOUBLE
from coopmat.targets.llvm.numbers import NumberWriter
from coopmat.targets.llvm.terms import Term, choose
from coopmat.targets.llvm.values import Number, float_bits
from coopmat.targets.llvm.writer import Writer

FRACTION, BIAS, SPECIAL = 52, 1075, 0x7FF  # a double is its fraction with the hidden bit, times 2 ** (field - BIAS)
QUIET_NAN_BITS, INFINITY_BITS = 0x7FF8 << 48, 0x7FF0 << 48


@dataclass(frozen=True)
class Fixed:
    """A fixed-point format with sign: the exponent of its lowest bit, its width, and whether a sum is rounded to odd
    when it becomes a double, because it will be rounded once more."""

    lowest: int
    width: int
    to_odd: bool

    @property
    def type(self) -> str:
        """LLVM's type."""
        return f"i{self.width}"


# Products have a hundred and six bits behind those of the smallest factors; sums have some before those of the largest.
OF_FLOATS = Fixed(lowest=2 * (-149 - FRACTION), width=704, to_odd=True)
OF_DOUBLES = Fixed(lowest=2 * (-1022 - FRACTION), width=4224, to_odd=False)
EXTRA = 2  # bits behind those of a double that tell how it is rounded


def quiet_nan(numbers: NumberWriter) -> Term:
    """The NaN without sign and payload."""
    return Term(numbers, Number(DOUBLE, float_bits(DOUBLE, QUIET_NAN_BITS)))


def sum_function(writer: Writer, fixed: Fixed) -> str:
    """The function that adds up, of a row of A, a column of B, the bytes from one element of B to the next, K and C."""
    name = f"exact.sum.{fixed.type}"
    if name not in writer.helpers:
        body = Writer()
        result = _sum_of_products(body, fixed)
        writer.helper(name, "\n".join([
            f"define internal double @{name}(ptr %a, ptr %b, i64 %pitch, i64 %k, double %c) noinline nounwind {{",
            "entry:", *body.entry, *body.lines, f"  ret double {result}", "}"]))
        writer.declarations |= body.declarations
    return name


def _sum_of_products(writer: Writer, fixed: Fixed) -> str:
    scalar = NumberWriter(writer, 1)

    def loaded(base: str, offset: str) -> Term:
        address = writer.let(f"getelementptr i8, ptr {base}, i64 {offset}")
        return Term(scalar, Number(DOUBLE, writer.let(f"load double, ptr {address}")))

    def turn(k: str, carried: list[str]) -> list[str]:
        total, signs, special = (Term(scalar, Number(llvm, text)) for llvm, text in zip(types, carried, strict=True))
        a = loaded("%a", writer.let(f"mul i64 {k}, {BYTES}"))
        b = loaded("%b", writer.let(f"mul i64 {k}, %pitch"))
        after = (total + _product(a, b, fixed), signs & _differ_in_sign(a, b), special + _if_special(a, b))
        return [one.number.base for one in after]

    c = Term(scalar, Number(DOUBLE, "%c"))
    one = c.constant(1.0)
    start = (_product(c, one, fixed), c.has_sign, _if_special(c, one))
    types = [term.type for term in start]
    last = writer.repeat("%k", [(term.type, term.number.base) for term in start], turn)
    total, signs, special = (Term(scalar, Number(llvm, text)) for llvm, text in zip(types, last, strict=True))
    return _as_double(total, signs, special, fixed).number.base


def _differ_in_sign(a: Term, b: Term) -> Term:
    return (a.bits ^ b.bits) < 0


def _if_special(a: Term, b: Term) -> Term:
    """The product if a factor is infinite or not a number, else zero."""
    return choose(a.is_finite & b.is_finite, 0.0, a * b)


def _product(a: Term, b: Term, fixed: Fixed) -> Term:
    """A product in fixed point; of finite factors."""
    (x, x_field), (y, y_field) = _parts(a), _parts(b)
    product = x.resized("i128", signed=False) * y.resized("i128", signed=False)
    place = (x_field + y_field - (2 * BIAS + fixed.lowest)).intrinsic("smax", 0)  # of a zero it may be negative
    value = product.resized(fixed.type, signed=False) << place.resized(fixed.type, signed=False)
    return choose(_differ_in_sign(a, b), 0 - value, value)


def _parts(number: Term) -> tuple[Term, Term]:
    """A double's fraction with the hidden bit, and the exponent's field that says what this is multiplied by."""
    bits = number.bits
    field = bits.right(FRACTION, signed=False) & SPECIAL
    fraction = bits & (1 << FRACTION) - 1
    return choose(field.equals(0), fraction, fraction | 1 << FRACTION), field.intrinsic("umax", 1)


def _as_double(total: Term, signs: Term, special: Term, fixed: Fixed) -> Term:
    """A sum as a double. ``signs``: all terms had a sign; ``special``: the sum of those that are not finite."""
    sign = total < 0
    magnitude = choose(sign, 0 - total, total)
    leading = magnitude.intrinsic("ctlz", immediate=[("i1", "false")]).resized("i64", signed=False)
    least = max(0, -BIAS + 1 - EXTRA - fixed.lowest)  # where the last bit of subnormal numbers lies
    dropped = (fixed.width - 1 - FRACTION - EXTRA - leading).intrinsic("smax", least)
    place = dropped.resized(fixed.type, signed=False)
    kept = magnitude.right(place, signed=False)
    is_cut = (kept << place).differs(magnitude)
    kept = kept.resized("i64", signed=False) | is_cut.resized("i64", signed=False)
    rest = kept.right(EXTRA, signed=False)
    fraction = (rest | (kept & 3).differs(0).resized("i64", signed=False) if fixed.to_odd
                else (kept + 1 + (rest & 1)).right(EXTRA, signed=False))
    field = dropped + (fixed.lowest + EXTRA + BIAS - 1)  # the hidden bit adds one
    bits = ((field << FRACTION) + fraction).intrinsic("umin", INFINITY_BITS)
    bits = choose(total.equals(0), bits.constant(0), bits)
    minus = choose(total.equals(0), signs, sign).resized("i64", signed=False) << 63
    found = choose(special.differs(0.0), special, (bits | minus).cast(DOUBLE))
    return choose(special.is_nan, quiet_nan(special.emitter), found)
