"""Every instruction that the CPU target has, by its opcode."""

from __future__ import annotations

from coopmat.targets.cpu import (
    atomics,
    comparisons,
    composites,
    conversions,
    floats,
    group_operations,
    groups,
    integer_functions,
    integers,
    intel_subgroups,
    memory,
    non_uniform,
    opencl_std,
    quads,
)
from coopmat.targets.cpu.emitter import Handler
from coopmat.targets.cpu.matrix import operations as matrix

HANDLERS: dict[int, Handler] = {
    **atomics.OPERATIONS,
    **comparisons.OPERATIONS,
    **composites.OPERATIONS,
    **conversions.OPERATIONS,
    **floats.OPERATIONS,
    **group_operations.OPERATIONS,
    **groups.OPERATIONS,
    **integer_functions.OPERATIONS,
    **integers.OPERATIONS,
    **intel_subgroups.OPERATIONS,
    **memory.OPERATIONS,
    **non_uniform.OPERATIONS,
    **opencl_std.OPERATIONS,
    **quads.OPERATIONS,
    **matrix.OPERATIONS,
}
