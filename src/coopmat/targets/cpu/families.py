"""Every instruction that the CPU has, by its opcode: those of all machines, and Intel's that need a whole vector,
and functions of elements."""

from __future__ import annotations

from coopmat.targets.cpu import block_2d, sub_group_matrix
from coopmat.targets.cpu.matrix import functions
from coopmat.targets.llvm import families
from coopmat.targets.llvm.emitter import Handler

HANDLERS: dict[int, Handler] = {
    **families.HANDLERS,
    **block_2d.OPERATIONS,
    **sub_group_matrix.OPERATIONS,
    **functions.OPERATIONS,
}
