"""SPV_INTEL_shader_integer_functions2: functions of OpenCL.std, and two that multiply."""

from __future__ import annotations

from coopmat.spirv.analysis.integer_functions import OPENCL_NAMES
from coopmat.spirv.grammar import Op
from coopmat.targets.llvm.emitter import Handler
from coopmat.targets.llvm.instructions.elementwise import on_numbers
from coopmat.targets.llvm.instructions.opencl.integer import FORMULAS
from coopmat.targets.llvm.terms import Formula, function


def _by_low_half(signed: bool) -> Formula:
    """The product of 32-bit integers, of the second one only its low 16 bits."""
    return lambda a, b: a * b.resized("i16", signed=signed).resized(a.type, signed=signed)


OPERATIONS: dict[int, Handler] = {
    **{op: on_numbers(function(FORMULAS[name])) for op, name in OPENCL_NAMES.items()},
    Op.IMul32x16INTEL: on_numbers(function(_by_low_half(True))),
    Op.UMul32x16INTEL: on_numbers(function(_by_low_half(False))),
}
