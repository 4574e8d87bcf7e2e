"""Rules for clocks (SPV_KHR_shader_clock)."""

from __future__ import annotations

import numpy as np

from coopmat.spirv.grammar import Capability, Op, Scope
from coopmat.spirv.validate.rules import Findings, rule
from coopmat.spirv.validate.view import Group


@rule("clock-types", "A clock gives 64 bits, as one integer or two; kernels read that of a sub-group, work-group or "
      "device.", "SPV_KHR_shader_clock", Op.ReadClockKHR)
def clock_types(group: Group) -> Findings:
    result = group.result
    pair = result.is_vector(Op.TypeInt) & (result.components == 2) & (result.scalar.width == 32)
    yield ~((result.is_int(64) | pair) & (result.scalar.signed == 0)), \
        "{op} gives an integer of 64 bits or two of 32 bits, not {type}"
    if group.view.has(Capability.Kernel):
        scope = group.constant(0)
        yield (scope >= 0) & ~np.isin(scope, (Scope.Device, Scope.Workgroup, Scope.Subgroup)), \
            "the scope of {op} is Device (1), Workgroup (2) or Subgroup (3), not {def0}"
