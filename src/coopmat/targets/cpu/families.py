"""Every instruction that the CPU target has, by its opcode."""

from __future__ import annotations

from coopmat.targets.cpu import (
    comparisons,
    composites,
    conversions,
    floats,
    group_operations,
    groups,
    integers,
    intel_subgroups,
    memory,
    non_uniform,
    quads,
)
from coopmat.targets.cpu.emitter import Handler

HANDLERS: dict[int, Handler] = {
    **integers.OPERATIONS, **floats.OPERATIONS, **comparisons.OPERATIONS, **conversions.OPERATIONS,
    **composites.OPERATIONS, **memory.OPERATIONS, **groups.OPERATIONS, **group_operations.OPERATIONS,
    **non_uniform.OPERATIONS, **quads.OPERATIONS, **intel_subgroups.OPERATIONS,
}
