"""How many work-items a sub-group has where the kernel leaves it open."""

from __future__ import annotations

from collections.abc import Sequence

from coopmat.spirv.analysis.places import reachable_instructions
from coopmat.spirv.analysis.sub_group_kernels import uses_sub_groups
from coopmat.spirv.grammar import OPENCL_STD, Op
from coopmat.spirv.module import Module
from coopmat.targets.cpu.features import CpuFeatures
from coopmat.targets.cpu.mathematics.functions import SINGLE

IN_TWO_REGISTERS = 32
"""Work-items whose floats two registers of AVX-512 hold: while one waits for a result, the other one is computed."""
_FUNCTIONS = frozenset(OPENCL_STD[name] for name in SINGLE)
_WITHOUT = frozenset({Op.Branch, Op.BranchConditional, Op.Switch, Op.ControlBarrier})


def gains_by_two_registers(module: Module, kernel: str, features: CpuFeatures) -> bool:
    """Whether a kernel that does not notice sub-groups computes mathematical functions, one after the other: each is a
    chain of instructions that wait for each other."""
    if "avx512f" not in features or uses_sub_groups(module, kernel):
        return False
    rows = list(reachable_instructions(module, kernel))
    computes = any(row.opcode == Op.ExtInst and row.words[1] in _FUNCTIONS for row in rows)
    return computes and not any(row.opcode in _WITHOUT for row in rows)


def fits_two_registers(local_size: Sequence[int]) -> bool:
    """Whether sub-groups of two registers are whole, and their work-items follow each other."""
    return len(local_size) > 0 and local_size[0] % IN_TWO_REGISTERS == 0
