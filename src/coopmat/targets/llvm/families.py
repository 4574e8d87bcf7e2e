"""Every instruction that all machines have, by its opcode."""

from __future__ import annotations

from coopmat.targets.llvm.emitter import Handler
from coopmat.targets.llvm.instructions import (
    assertions,
    async_copies,
    atomics,
    barriers,
    branches,
    comparisons,
    composites,
    conversions,
    dot_products,
    floats,
    group_operations,
    integer_functions,
    integers,
    intel_subgroups,
    matrices,
    memory,
    non_uniform,
    quads,
)
from coopmat.targets.llvm.instructions.opencl import std

HANDLERS: dict[int, Handler] = {
    **assertions.OPERATIONS,
    **async_copies.OPERATIONS,
    **atomics.OPERATIONS,
    **barriers.OPERATIONS,
    **branches.OPERATIONS,
    **comparisons.OPERATIONS,
    **composites.OPERATIONS,
    **conversions.OPERATIONS,
    **dot_products.OPERATIONS,
    **floats.OPERATIONS,
    **group_operations.OPERATIONS,
    **integer_functions.OPERATIONS,
    **integers.OPERATIONS,
    **intel_subgroups.OPERATIONS,
    **matrices.OPERATIONS,
    **memory.OPERATIONS,
    **non_uniform.OPERATIONS,
    **quads.OPERATIONS,
    **std.OPERATIONS,
}
