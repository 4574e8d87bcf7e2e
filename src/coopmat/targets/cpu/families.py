"""Every instruction that the CPU target has, by its opcode."""

from __future__ import annotations

from coopmat.targets.cpu import block_2d, sub_group_matrix
from coopmat.targets.cpu.matrix import operations as matrix
from coopmat.targets.llvm.emitter import Handler
from coopmat.targets.llvm.instructions import (
    assertions,
    async_copies,
    atomics,
    branches,
    comparisons,
    composites,
    conversions,
    floats,
    group_operations,
    integer_functions,
    integers,
    intel_subgroups,
    memory,
    non_uniform,
    quads,
)
from coopmat.targets.llvm.instructions import barriers as groups
from coopmat.targets.llvm.instructions import dot_products as dot_product
from coopmat.targets.llvm.instructions.opencl import std as opencl_std

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
