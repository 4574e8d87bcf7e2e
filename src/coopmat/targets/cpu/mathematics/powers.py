"""pow and its relatives, roots and hypot."""

from __future__ import annotations

import math

from coopmat.targets.cpu.mathematics.circular import in_library
from coopmat.targets.cpu.mathematics.coefficients import OF
from coopmat.targets.cpu.mathematics.exponentials import power_of_sum
from coopmat.targets.cpu.mathematics.logarithms import (
    LOGARITHMS,
    exponent_and_fraction,
    is_usual,
    table_index,
)
from coopmat.targets.cpu.mathematics.parts import Kind, fused, guarded, kind_of, polynomial
from coopmat.targets.cpu.mathematics.vectors import exponent_and_significand, looked_up
from coopmat.targets.llvm.instructions.opencl.real import library
from coopmat.targets.llvm.terms import Formula, Term, choose

LARGE_POWER = 1e30  # beyond it the product with a logarithm may overflow


def _sum(a: Term, b: Term) -> tuple[Term, Term]:
    """The sum, and what it loses; a is the larger one, or 0."""
    total = a + b
    return total, b - (total - a)


def _times(a: tuple[Term, Term], b: tuple[Term, Term]) -> tuple[Term, Term]:
    """The product of two sums of two numbers."""
    high = a[0] * b[0]
    return high, fused(a[0], b[0], -high) + fused(a[0], b[1], a[1] * b[0])


def _quotient(f: Term) -> tuple[Term, Term]:
    """f / (2 + f) as the sum of two numbers."""
    below, lost = _sum(f.constant(2.0), f)
    inverse = 1.0 / below
    high = f * inverse
    return high, (fused(-high, below, f) - high * lost) * inverse


THIRDS = (0.66666666666666662966, 3.7007434154171886e-17)
"""2/3 as the sum of two doubles."""


def _wide_log2(x: Term) -> tuple[Term, Term]:
    """Of a double: x is 2**k (1 + f), and log(1 + f) the series of 2 artanh(s) with s = f / (2 + f)."""
    table = OF[x.type]
    k, f, _ = exponent_and_fraction(x)
    s = _quotient(f)
    z = _times(s, s)
    first, lost = _sum(f.constant(THIRDS[0]), z[0] * polynomial(z[0], table["ARTANH"]))
    more, rest = _times(z, (first, lost + THIRDS[1]))
    two, lost = _sum(f.constant(2.0), more)
    high, low = table["LOG2_E"]
    log, rest = _times(_times(s, (two, lost + rest)), (f.constant(high), f.constant(low)))
    total, lost = _sum(k, log)
    return _sum(total, lost + rest)


def binary_logarithm(x: Term) -> tuple[Term, Term]:
    """That of a positive normal number as the sum of two. Of a float to 2**-31 of it or so: x is 2**k (1 + f) / c
    with c of so few bits that f is exact, and the logarithm of c begins with a number that k is added to exactly."""
    table = OF[x.type]
    if x.type == "double":
        return _wide_log2(x)
    k, m = exponent_and_significand(x)
    index = table_index(m)
    f = fused(m, looked_up(index, table["SHORT_INVERSE"]), -1.0)
    high, low = table["LOG2_E"]
    whole = k + looked_up(index, table["SHORT_LOG2_HIGH"])
    total = fused(f, high, whole)
    lost = fused(f, high, whole - total)  # exact: the first sum is 0 or larger than the product
    rest = fused(f, fused(f, polynomial(f, table["LOG2_TAIL"]), low), lost)
    return _sum(total, rest + looked_up(index, table["SHORT_LOG2_LOW"]))


def _power_of(x: Term, y: Term, beside: Term | None = None) -> Term:
    """x to the power of y, and what is beside it; x is a positive normal number, y finite and not huge."""
    high, low = binary_logarithm(x)
    product = y * high
    rest = fused(y, low, fused(y, high, -product))
    rest = rest if beside is None else fused(beside, high, rest)
    return power_of_sum(product, rest)


def _is_usual(x: Term, y: Term) -> Term:
    return is_usual(x) & (y.magnitude < LARGE_POWER)


def _pow(x: Term, y: Term) -> Term:
    return guarded(_is_usual(x, y), _power_of(x, y), "pow", in_library("pow"), x, y)


def _pown(x: Term, n: Term) -> Term:
    def rare(x: Term, n: Term) -> Term:
        power = n.of_integer("double")
        return in_library("pow")(x, power)

    exact = n.of_integer(x.type)
    small = (n + (1 << 24)).compare("ult", 1 << 25)
    return guarded(_is_usual(x, exact) & small, _power_of(x, exact), "pown", rare, x, n)


def _powr(x: Term, y: Term) -> Term:
    """Defined as exp(y log(x)), so with fewer special values than ``pow``."""

    def rare(x: Term, y: Term) -> Term:
        undefined = (x < 0.0) | ((x.equals(0.0) | x.is_infinite) & y.equals(0.0))
        undefined = undefined | (x.equals(1.0) & y.is_infinite) | x.is_nan | y.is_nan
        return choose(undefined, math.nan, in_library("pow")(x.magnitude, y))

    return guarded(_is_usual(x, y), _power_of(x, y), "powr", rare, x, y)


def _reciprocal(n: Term) -> tuple[Term, Term]:
    """1 / n as the sum of two numbers."""
    found = 1.0 / n
    return found, fused(-found, n, 1.0) * found


def _root(x: Term, n: Term) -> Term:
    """``rootn``."""

    def rare(x: Term, n: Term) -> Term:
        return _rare_root(x.to_float("double"), n).to_float(x.type)

    degree = n.of_integer(x.type)
    small = (n - 1).compare("ult", 1 << 24)
    return guarded(_is_usual(x, degree) & small, _power_of(x, *_reciprocal(degree)), "rootn", rare, x, n)


def _rare_root(x: Term, n: Term) -> Term:
    """Of any doubles: what the reciprocal loses becomes a factor."""
    odd, a = (n & 1).differs(0), x.magnitude
    power, beside = _reciprocal(n.of_integer("double"))
    root = in_library("pow")(a, power)
    ordinary = is_usual(a) & n.differs(0)
    root = choose(ordinary, fused(root * beside, LOGARITHMS["log"](choose(ordinary, a, 1.0)), root), root)
    root = choose(x.has_sign & odd, -root, root)
    return choose(n.equals(0) | ((x < 0.0) & ~odd), math.nan, root)


def ldexp(x: Term, n: Term) -> Term:
    """Of doubles: n is added to the exponent where the number and the result are normal ones."""
    kind = kind_of(x)
    above = n.intrinsic("smax", -RANGE).intrinsic("smin", RANGE).resized(kind.integer, signed=True)
    exponent = (x.bits & kind_mask(x)).right(kind.fraction, signed=False)
    usual = is_normal(exponent, kind) & is_normal(exponent + above, kind)
    return guarded(usual, (x.bits + (above << kind.fraction)).cast(x.type), "ldexp", library("ldexp"), x, n)


RANGE = 1 << 12
"""No power of two leads from a double that far away to another one."""


def is_normal(exponent: Term, kind: Kind) -> Term:
    """Whether these are the exponent's bits of a normal number."""
    return (exponent - 1).compare("ult", 2 * kind.bias)


# --------------------------------------------------------------------------------------
# Roots
# --------------------------------------------------------------------------------------

_THIRD = {"float": 0x54A21D2A, "double": 0x553EF0FF289DD796}
"""Less a third of a number's bits, those of an approximation of the reciprocal of its cube root."""
_STEPS = {"float": 1, "double": 3}


def cube_root_reciprocal(a: Term, steps: int) -> Term:
    """That of a positive normal number, by so many steps of third order: the first one leaves 2**-14."""
    third = a.bits.of_integer(a.type) * (1 / 3)
    root = (third.constant(float(_THIRD[a.type])) - third).apply(
        "fptosi {t} {0} to {r}", kind_of(a).integer).cast(a.type)
    for _ in range(steps):
        left = fused(a * root * root, -root, 1.0)
        root = fused(root * left, fused(left, 2 / 9, 1 / 3), root)
    return root


def _cbrt(x: Term) -> Term:
    """By Newton's steps towards the reciprocal of the cube root, and one to the cube root, without a division."""
    kind = kind_of(x)

    def usual(x: Term) -> Term:
        a = x.magnitude
        root = cube_root_reciprocal(a, _STEPS[x.type])
        found = a * (root * root)
        left = fused(-found, root, 1.0)  # where the root is 1 - left / 3, its square becomes the 1 + 2/3 left ... of it
        return fused(found * left, fused(left, 5 / 9, 2 / 3), found).with_sign(x)

    def rare(x: Term) -> Term:
        small = x.magnitude < 2.0 ** (1 - kind.bias)
        found = usual(choose(small, x * 2.0**54, x))
        found = choose(small, found * 2.0**-18, found)
        return choose(x.equals(0.0) | ~x.is_finite, x, found)

    ordinary = ((x.bits & kind_mask(x)) - (1 << kind.fraction)).compare("ult", (2 * kind.bias) << kind.fraction)
    return guarded(ordinary, usual(x), "cbrt", rare, x)


def kind_mask(x: Term) -> int:
    """The bits without the sign."""
    return (1 << x.width - 1) - 1


SQUARED = (2.0**-450, 2.0**500)
"""Between which doubles may be squared."""


def _hypot(x: Term, y: Term) -> Term:
    """Squares are computed in double, and those of doubles where they are ordinary numbers."""
    a, b = x.to_float("double"), y.to_float("double")
    found = fused(a, a, b * b).intrinsic("sqrt").to_float(x.type)
    if x.type == "double":
        low, high = SQUARED
        most = choose(a.magnitude > b.magnitude, a, b).magnitude
        found = guarded((most > low) & (most < high), found, "hypot", in_library("hypot"), x, y)
    return choose(x.is_infinite | y.is_infinite, math.inf, found)


_HALF = 0x5F1FFFF9
"""Less half of a float's bits, those of an approximation of the reciprocal of its square root."""
_FIRST = (0.703952253, 2.38924456)
"""Of a step from there that leaves 2**-10 of the number."""


def _rsqrt(x: Term) -> Term:
    """Of floats by two steps, the second one of third order, without a root and a division."""
    if x.type != "float":
        return 1.0 / x.intrinsic("sqrt")

    def usual(x: Term) -> Term:
        half = x.bits.right(1, signed=False)
        root = (half.constant(_HALF) - half).cast(x.type)
        factor, limit = _FIRST
        root = root * fused(-(x * factor * root), root, factor * limit)
        left = fused(-(x * root), root, 1.0)
        return fused(root * left, fused(left, 3 / 8, 1 / 2), root)

    return guarded(is_usual(x), usual(x), "rsqrt", lambda x: 1.0 / x.intrinsic("sqrt"), x)


ROOTS: dict[str, Formula] = {
    "cbrt": _cbrt, "hypot": _hypot, "rsqrt": _rsqrt, "sqrt": lambda x: x.intrinsic("sqrt"),
}
POWERS: dict[str, Formula] = {"pow": _pow, "pown": _pown, "powr": _powr, "rootn": _root}
"""By name, of floats and of doubles."""
