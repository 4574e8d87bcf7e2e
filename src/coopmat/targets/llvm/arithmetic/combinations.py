"""The operations of reductions of matrices."""

from __future__ import annotations

from coopmat.targets.llvm.arithmetic.elementwise import ELEMENTWISE
from coopmat.targets.llvm.arithmetic.integers import Function, plain
from coopmat.targets.llvm.instructions.opencl.math import larger, smaller
from coopmat.targets.llvm.terms import function


def _intrinsic(name: str) -> Function:
    return lambda numbers, a, b: numbers.intrinsic(name, a.type, a, b)


COMBINATIONS: dict[str, Function] = {
    **{name: ELEMENTWISE[name] for name in ("FAdd", "FMul", "IAdd", "IMul")},
    **{f"Bitwise{name.capitalize()}": plain(name + " {t} {0}, {1}") for name in ("and", "or", "xor")},
    **dict.fromkeys(("fmax", "fmax_common"), function(larger)),
    **dict.fromkeys(("fmin", "fmin_common"), function(smaller)),
    **{f"{sign}_{name}": _intrinsic(f"{sign}{name}") for sign in "su" for name in ("max", "min")},
}
"""The operations that reductions know, by the names of :mod:`coopmat.spirv.analysis.combinations`."""
