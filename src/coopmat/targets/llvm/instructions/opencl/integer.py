"""The integer functions of OpenCL.std."""

from __future__ import annotations

from collections.abc import Callable

from coopmat.targets.llvm.arithmetic.integers import multiply_high, shift_amount
from coopmat.targets.llvm.terms import Formula, Term, choose
from coopmat.targets.llvm.writer import Operand

MUL24_BITS = 24
DEFINED: tuple[Operand, ...] = (("i1", "false"),)  # for LLVM: 0, and the smallest integer, have a result, too

BySign = Callable[[bool], Formula]


def _intrinsic(name: str) -> BySign:
    """An intrinsic whose name begins with ``s`` or ``u``."""
    return lambda signed: lambda a, b: a.intrinsic(("s" if signed else "u") + name, b)


def _greater(a: Term, b: Term, signed: bool) -> Term:
    return a.compare("sgt" if signed else "ugt", b)


def _absolute(signed: bool) -> Formula:
    return (lambda a: a.intrinsic("abs", immediate=DEFINED)) if signed else (lambda a: a)


def _difference(signed: bool) -> Formula:
    return lambda a, b: choose(_greater(a, b, signed), a - b, b - a)


def _multiply_add_saturating(signed: bool) -> Formula:
    """In twice the width, which holds the product plus any number."""

    def formula(a: Term, b: Term, c: Term) -> Term:
        double = f"i{2 * a.width}"
        x, y, z = (term.resized(double, signed=signed) for term in (a, b, c))
        total = x * y + z
        if signed:
            total = total.intrinsic("smax", -(1 << a.width - 1)).intrinsic("smin", (1 << a.width - 1) - 1)
        else:
            total = total.intrinsic("umin", (1 << a.width) - 1)
        return total.resized(a.type, signed=signed)

    return formula


def _half_add(signed: bool) -> Formula:
    """(a + b) >> 1 without overflow."""
    return lambda a, b: a.right(1, signed=signed) + b.right(1, signed=signed) + (a & b & 1)


def _half_add_rounded(signed: bool) -> Formula:
    """(a + b + 1) >> 1 without overflow."""
    return lambda a, b: a.right(1, signed=signed) + b.right(1, signed=signed) + ((a | b) & 1)


def _clamp(signed: bool) -> Formula:
    larger, smaller = _intrinsic("max")(signed), _intrinsic("min")(signed)
    return lambda value, low, high: smaller(larger(value, low), high)


def _high(signed: bool) -> Formula:
    function = multiply_high(signed)
    return lambda a, b: Term(a.emitter, function(a.emitter, a.number, b.number))


def _high_add(signed: bool) -> Formula:
    high = _high(signed)
    return lambda a, b, c: high(a, b) + c


def _low24(value: Term, signed: bool) -> Term:
    unused = value.width - MUL24_BITS
    return (value << unused).right(unused, signed=signed)


def _multiply24(signed: bool) -> Formula:
    return lambda a, b: _low24(a, signed) * _low24(b, signed)


def _multiply24_add(signed: bool) -> Formula:
    product = _multiply24(signed)
    return lambda a, b, c: product(a, b) + c


def _upsample(signed: bool) -> Formula:
    """The bits of the first operand above those of the second one, in an integer of twice the width."""

    def formula(high: Term, low: Term) -> Term:
        double = f"i{2 * high.width}"
        return (high.resized(double, signed=signed) << high.width) | low.resized(double, signed=False)

    return formula


def _rotate(value: Term, count: Term) -> Term:
    """The bits rotated to the left."""
    amount = Term(value.emitter, shift_amount(value.emitter, value.number, count.number))
    return value.intrinsic("fshl", value, amount)


_BY_SIGN: dict[str, BySign] = {
    "abs": _absolute, "abs_diff": _difference, "add_sat": _intrinsic("add.sat"), "sub_sat": _intrinsic("sub.sat"),
    "mad_sat": _multiply_add_saturating, "hadd": _half_add, "rhadd": _half_add_rounded, "clamp": _clamp,
    "max": _intrinsic("max"), "min": _intrinsic("min"), "mul_hi": _high, "mad_hi": _high_add,
    "mul24": _multiply24, "mad24": _multiply24_add, "upsample": _upsample,
}

FORMULAS: dict[str, Formula] = {
    **{f"{letter}_{name}": by_sign(signed) for name, by_sign in _BY_SIGN.items()
       for letter, signed in (("s", True), ("u", False))},
    "clz": lambda value: value.intrinsic("ctlz", immediate=DEFINED),
    "ctz": lambda value: value.intrinsic("cttz", immediate=DEFINED),
    "popcount": lambda value: value.intrinsic("ctpop"),
    "rotate": _rotate,
}
"""Formulas of integers, by name."""
