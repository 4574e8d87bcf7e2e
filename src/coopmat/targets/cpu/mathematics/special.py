"""erf, erfc and the gamma functions of floats."""

from __future__ import annotations

from coopmat.targets.cpu.mathematics.coefficients import OF
from coopmat.targets.cpu.mathematics.parts import limited, polynomial
from coopmat.targets.llvm.terms import Formula, Term

ERF_IS_ONE = 3.93


def erf(x: Term) -> Term:
    """A quotient of polynomials, up to where erf rounds to 1."""
    table = OF[x.type]
    x = limited(x, -ERF_IS_ONE, ERF_IS_ONE)
    z = x * x
    found = x * polynomial(z, table["ERF_ABOVE"]) / polynomial(z, table["ERF_BELOW"])
    return limited(found, -1.0, 1.0)


SPECIAL: dict[str, Formula] = {"erf": erf}
"""By name, of floats."""
