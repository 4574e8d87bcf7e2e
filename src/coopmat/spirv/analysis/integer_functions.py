"""SPV_INTEL_shader_integer_functions2: integer functions as instructions. All but two are functions of OpenCL.std."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from coopmat.spirv.grammar import Op

OPENCL_NAMES: Mapping[Op, str] = MappingProxyType({
    Op.UCountLeadingZerosINTEL: "clz", Op.UCountTrailingZerosINTEL: "ctz",
    Op.AbsISubINTEL: "s_abs_diff", Op.AbsUSubINTEL: "u_abs_diff",
    Op.IAddSatINTEL: "s_add_sat", Op.UAddSatINTEL: "u_add_sat",
    Op.ISubSatINTEL: "s_sub_sat", Op.USubSatINTEL: "u_sub_sat",
    Op.IAverageINTEL: "s_hadd", Op.UAverageINTEL: "u_hadd",
    Op.IAverageRoundedINTEL: "s_rhadd", Op.UAverageRoundedINTEL: "u_rhadd",
})
"""The instruction → the function's name in OpenCL.std. The other two multiply by the low half of a 32-bit integer."""
