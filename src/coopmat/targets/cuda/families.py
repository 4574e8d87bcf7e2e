"""Every instruction that NVIDIA's GPUs have, by its opcode: those of all machines, Intel's as threads do them, and
functions of elements."""

from __future__ import annotations

from coopmat.targets.cuda.matrix import functions
from coopmat.targets.llvm import families
from coopmat.targets.llvm.emitter import Handler
from coopmat.targets.llvm.threads import blocks_2d, intel_matrices

HANDLERS: dict[int, Handler] = {
    **families.HANDLERS,
    **blocks_2d.OPERATIONS,
    **intel_matrices.OPERATIONS,
    **functions.OPERATIONS,
}
