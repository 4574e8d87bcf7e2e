"""The tables of all functions, by their names in OpenCL.std, in single and in double precision."""

from __future__ import annotations

from coopmat.targets.cpu.mathematics.circular import CIRCULAR
from coopmat.targets.cpu.mathematics.exponentials import EXPONENTIALS
from coopmat.targets.cpu.mathematics.logarithms import LOGARITHMS
from coopmat.targets.cpu.mathematics.native import NATIVE
from coopmat.targets.cpu.mathematics.parts import apart
from coopmat.targets.cpu.mathematics.powers import POWERS, ROOTS, ldexp
from coopmat.targets.cpu.mathematics.relaxed import FASTER, HALF
from coopmat.targets.cpu.mathematics.remainders import fmod
from coopmat.targets.cpu.mathematics.special import SPECIAL
from coopmat.targets.llvm.instructions.opencl.real import FAST
from coopmat.targets.llvm.terms import Formula, function

_BOTH = EXPONENTIALS | LOGARITHMS | CIRCULAR | ROOTS | POWERS | SPECIAL


def _apart(formulas: dict[str, Formula]) -> dict[str, Formula]:
    return {name: apart(name, formula) for name, formula in formulas.items()}


SINGLE: dict[str, Formula] = _apart(_BOTH)
SINGLE |= {f"half_{name}": SINGLE[name] for name in FAST if name not in HALF}
SINGLE |= _apart({f"half_{name}": formula for name, formula in HALF.items()})
SINGLE |= _apart({f"native_{name}": formula for name, formula in NATIVE.items()})
"""Of floats, and of narrower types, by way of floats."""
RELAXED: dict[str, Formula] = {name: apart(f"relaxed_{name}", formula) for name, formula in FASTER.items()}
"""Of floats, with -cl-unsafe-math-optimizations, where they have other forms then."""
DOUBLE: dict[str, Formula] = _apart(_BOTH)
DOUBLE |= {f"{prefix}_{name}": DOUBLE[name] for prefix in ("half", "native") for name in FAST if name in DOUBLE}
DOUBLE |= _apart({"ldexp": ldexp})
"""Of doubles; ``ldexp`` of floats is exact in double."""
REMAINDER = function(apart("fmod", fmod))
"""C's fmod of doubles."""
