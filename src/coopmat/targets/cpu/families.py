"""Every instruction that the CPU target has, by its opcode."""

from __future__ import annotations

from coopmat.targets.cpu import (
    atomics,
    comparisons,
    composites,
    conversions,
    dot_product,
    floats,
    integer_functions,
    integers,
    memory,
    opencl_std,
    sub_group_matrix,
)
from coopmat.targets.cpu.emitter import Handler
from coopmat.targets.cpu.matrix import operations as matrix

HANDLERS: dict[int, Handler] = {
    **atomics.OPERATIONS,
    **comparisons.OPERATIONS,
    **composites.OPERATIONS,
    **conversions.OPERATIONS,
    **dot_product.OPERATIONS,
    **floats.OPERATIONS,
    **integer_functions.OPERATIONS,
    **integers.OPERATIONS,
    **memory.OPERATIONS,
    **opencl_std.OPERATIONS,
    **sub_group_matrix.OPERATIONS,
    **matrix.OPERATIONS,
}
