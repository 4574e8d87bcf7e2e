"""Every instruction that the CPU target has, by its opcode."""

from __future__ import annotations

from coopmat.targets.cpu import (
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

HANDLERS: dict[int, Handler] = {
    **integers.OPERATIONS, **floats.OPERATIONS, **comparisons.OPERATIONS, **conversions.OPERATIONS,
    **composites.OPERATIONS, **memory.OPERATIONS, **opencl_std.OPERATIONS, **integer_functions.OPERATIONS,
}
