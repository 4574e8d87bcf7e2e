"""Every instruction that NVIDIA's GPUs have, by its opcode."""

from __future__ import annotations

from coopmat.targets.llvm import families
from coopmat.targets.llvm.emitter import Handler

HANDLERS: dict[int, Handler] = {**families.HANDLERS}
