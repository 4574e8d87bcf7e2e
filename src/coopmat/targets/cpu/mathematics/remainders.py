"""fmod of doubles, which all remainders are made of."""

from __future__ import annotations

import math

from coopmat.targets.cpu.mathematics.circular import in_library
from coopmat.targets.cpu.mathematics.parts import fused, guarded, kind_of
from coopmat.targets.llvm.terms import Term, choose


def fmod(x: Term, y: Term) -> Term:
    """By one division, unless the quotient has more digits than a number: where it is rounded up to a whole number,
    what is left is less than zero, and a divisor is added. All but the quotient is exact."""
    a, b = x.magnitude, y.magnitude
    quotient = a / b
    rest = fused(-quotient.intrinsic("trunc"), b, a)
    rest = choose(rest < 0.0, rest + b, rest).with_sign(x)
    usual = (quotient < 2.0 ** kind_of(x).fraction) & (b < math.inf)
    return guarded(usual, rest, "fmod", in_library("fmod"), x, y)
