"""SPV_INTEL_shader_integer_functions2: functions of OpenCL.std, and two that multiply."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from coopmat.spirv.analysis.integer_functions import OPENCL_NAMES
from coopmat.spirv.grammar import Op
from coopmat.targets.simulator.arithmetic import elementwise
from coopmat.targets.simulator.compiler import Handler
from coopmat.targets.simulator.opencl_integer import FUNCTIONS
from coopmat.targets.simulator.values import Array


def _by_low_half(half: type[np.integer]) -> Callable[[Array, Array], Array]:
    """The product of 32-bit integers, of the second one only its low 16 bits."""
    return lambda a, b: a * b.astype(half).astype(a.dtype)


OPERATIONS: dict[int, Handler] = {
    **{op: elementwise(FUNCTIONS[name]) for op, name in OPENCL_NAMES.items()},
    Op.IMul32x16INTEL: elementwise(_by_low_half(np.int16)),
    Op.UMul32x16INTEL: elementwise(_by_low_half(np.uint16)),
}
