"""Every instruction that the CPU target has, by its opcode."""

from __future__ import annotations

from coopmat.targets.cpu import (
    async_copies,
    atomics,
    comparisons,
    composites,
    conversions,
    floats,
    integer_functions,
    integers,
    memory,
    opencl_std,
)
from coopmat.targets.cpu.emitter import Handler
from coopmat.targets.cpu.matrix import operations as matrix

HANDLERS: dict[int, Handler] = {
    **async_copies.OPERATIONS,
    **atomics.OPERATIONS,
    **comparisons.OPERATIONS,
    **composites.OPERATIONS,
    **conversions.OPERATIONS,
    **floats.OPERATIONS,
    **integer_functions.OPERATIONS,
    **integers.OPERATIONS,
    **memory.OPERATIONS,
    **opencl_std.OPERATIONS,
    **matrix.OPERATIONS,
}
