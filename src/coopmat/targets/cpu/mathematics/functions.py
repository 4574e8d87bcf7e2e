"""The tables of all functions, by their names in OpenCL.std, in single and in double precision."""

from __future__ import annotations

from coopmat.targets.cpu.mathematics.circular import CIRCULAR
from coopmat.targets.cpu.mathematics.exponentials import EXPONENTIALS
from coopmat.targets.cpu.mathematics.logarithms import LOGARITHMS
from coopmat.targets.cpu.mathematics.parts import apart
from coopmat.targets.cpu.mathematics.powers import POWERS, ROOTS
from coopmat.targets.cpu.mathematics.special import SPECIAL
from coopmat.targets.llvm.instructions.opencl.real import FAST
from coopmat.targets.llvm.terms import Formula

_BOTH = EXPONENTIALS | LOGARITHMS | CIRCULAR | ROOTS


def _apart(formulas: dict[str, Formula]) -> dict[str, Formula]:
    return {name: apart(name, formula) for name, formula in formulas.items()}


DOUBLE: dict[str, Formula] = _apart(_BOTH)
SINGLE: dict[str, Formula] = _apart(_BOTH | POWERS | SPECIAL)
SINGLE |= {f"half_{name}": SINGLE[name] for name in FAST}
SINGLE |= {f"native_{name}": SINGLE[name] for name in FAST}
DOUBLE |= {f"{prefix}_{name}": DOUBLE[name] for prefix in ("half", "native") for name in FAST if name in DOUBLE}
