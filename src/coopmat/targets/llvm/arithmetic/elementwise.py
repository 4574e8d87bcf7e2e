"""What instructions on matrices do with each element, by the instructions' names."""

from __future__ import annotations

from coopmat.targets.llvm.arithmetic import floats, integers
from coopmat.targets.llvm.arithmetic.integers import Function, plain

ELEMENTWISE: dict[str, Function] = {
    "SNegate": integers.negate,
    "IAdd": integers.add,
    "ISub": integers.subtract,
    "IMul": integers.multiply,
    "UDiv": integers.divide(False),
    "SDiv": integers.divide(True),
    "FNegate": floats.negate,
    "FAdd": plain("fadd {t} {0}, {1}"),
    "FSub": plain("fsub {t} {0}, {1}"),
    "FMul": plain("fmul {t} {0}, {1}"),
    "FDiv": plain("fdiv {t} {0}, {1}"),
}
