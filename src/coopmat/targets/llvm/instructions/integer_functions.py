"""SPV_INTEL_shader_integer_functions2: integer functions as instructions. All but two are functions of OpenCL.std."""

from __future__ import annotations

from coopmat.spirv.grammar import Op
from coopmat.targets.llvm.emitter import Handler
from coopmat.targets.llvm.instructions.elementwise import on_numbers
from coopmat.targets.llvm.instructions.opencl.integer import FORMULAS
from coopmat.targets.llvm.terms import Formula, function

_NAMES = {
    Op.UCountLeadingZerosINTEL: "clz", Op.UCountTrailingZerosINTEL: "ctz",
    Op.AbsISubINTEL: "s_abs_diff", Op.AbsUSubINTEL: "u_abs_diff",
    Op.IAddSatINTEL: "s_add_sat", Op.UAddSatINTEL: "u_add_sat",
    Op.ISubSatINTEL: "s_sub_sat", Op.USubSatINTEL: "u_sub_sat",
    Op.IAverageINTEL: "s_hadd", Op.UAverageINTEL: "u_hadd",
    Op.IAverageRoundedINTEL: "s_rhadd", Op.UAverageRoundedINTEL: "u_rhadd",
}


def _by_low_half(signed: bool) -> Formula:
    """The product of 32-bit integers, of the second one only its low 16 bits."""
    return lambda a, b: a * b.resized("i16", signed=signed).resized(a.type, signed=signed)


OPERATIONS: dict[int, Handler] = {
    **{op: on_numbers(function(FORMULAS[name])) for op, name in _NAMES.items()},
    Op.IMul32x16INTEL: on_numbers(function(_by_low_half(True))),
    Op.UMul32x16INTEL: on_numbers(function(_by_low_half(False))),
}
