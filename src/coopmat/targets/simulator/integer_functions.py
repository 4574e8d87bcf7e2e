"""SPV_INTEL_shader_integer_functions2: integer functions as instructions. All but two are functions of OpenCL.std."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from coopmat.spirv.grammar import Op
from coopmat.targets.simulator.arithmetic import elementwise
from coopmat.targets.simulator.compiler import Handler
from coopmat.targets.simulator.opencl_integer import FUNCTIONS
from coopmat.targets.simulator.values import Array

_NAMES = {
    Op.UCountLeadingZerosINTEL: "clz", Op.UCountTrailingZerosINTEL: "ctz",
    Op.AbsISubINTEL: "s_abs_diff", Op.AbsUSubINTEL: "u_abs_diff",
    Op.IAddSatINTEL: "s_add_sat", Op.UAddSatINTEL: "u_add_sat",
    Op.ISubSatINTEL: "s_sub_sat", Op.USubSatINTEL: "u_sub_sat",
    Op.IAverageINTEL: "s_hadd", Op.UAverageINTEL: "u_hadd",
    Op.IAverageRoundedINTEL: "s_rhadd", Op.UAverageRoundedINTEL: "u_rhadd",
}


def _by_low_half(half: type[np.integer]) -> Callable[[Array, Array], Array]:
    """The product of 32-bit integers, of the second one only its low 16 bits."""
    return lambda a, b: a * b.astype(half).astype(a.dtype)


OPERATIONS: dict[int, Handler] = {
    **{op: elementwise(FUNCTIONS[name]) for op, name in _NAMES.items()},
    Op.IMul32x16INTEL: elementwise(_by_low_half(np.int16)),
    Op.UMul32x16INTEL: elementwise(_by_low_half(np.uint16)),
}
