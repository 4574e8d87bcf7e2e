"""Every instruction that the CPU target has, by its opcode."""

from __future__ import annotations

from coopmat.targets.cpu import atomics, comparisons, composites, conversions, floats, integers, memory
from coopmat.targets.cpu.emitter import Handler

HANDLERS: dict[int, Handler] = {
    **integers.OPERATIONS, **floats.OPERATIONS, **comparisons.OPERATIONS, **conversions.OPERATIONS,
    **composites.OPERATIONS, **memory.OPERATIONS, **atomics.OPERATIONS,
}
