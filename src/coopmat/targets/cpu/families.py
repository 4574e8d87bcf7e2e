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
    memory,
)
from coopmat.targets.cpu.emitter import Handler

HANDLERS: dict[int, Handler] = {
    **integers.OPERATIONS, **floats.OPERATIONS, **comparisons.OPERATIONS, **conversions.OPERATIONS,
    **composites.OPERATIONS, **memory.OPERATIONS, **groups.OPERATIONS, **group_operations.OPERATIONS,
}
