"""Every instruction that the CPU target has, by its opcode."""

from __future__ import annotations

from coopmat.targets.cpu import (
    assertions,
    async_copies,
    atomics,
    block_2d,
    branches,
    comparisons,
    composites,
    conversions,
    dot_product,
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
    sub_group_matrix,
)
from coopmat.targets.cpu.emitter import Handler
from coopmat.targets.cpu.matrix import operations as matrix

HANDLERS: dict[int, Handler] = {
    **assertions.OPERATIONS,
    **async_copies.OPERATIONS,
    **atomics.OPERATIONS,
    **block_2d.OPERATIONS,
    **branches.OPERATIONS,
    **comparisons.OPERATIONS,
    **composites.OPERATIONS,
    **conversions.OPERATIONS,
    **dot_product.OPERATIONS,
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
    **sub_group_matrix.OPERATIONS,
    **matrix.OPERATIONS,
}
