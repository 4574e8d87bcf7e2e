"""OpSubgroupMatrixMultiplyAccumulateINTEL: which combination of the extension an instruction is."""

from __future__ import annotations

from coopmat.devices.subgroup_layout import SubGroupMatrixRow
from coopmat.spirv.analysis.device_support import not_supported
from coopmat.spirv.analysis.matrix_uses import required_matrix_uses
from coopmat.spirv.analysis.sub_group_uses import SubGroupMultiply, multiply_of
from coopmat.spirv.module.instruction import Instruction
from coopmat.targets.llvm.emitter import Emitter


def _row_of(emitter: Emitter, use: SubGroupMultiply, name: str) -> SubGroupMatrixRow:
    """The combination of the extension that an instruction is. KernelNotSupported if it is none."""
    row = use.row_for(emitter.sub_group_size)
    if row is None:
        sizes = " or ".join(map(str, use.sub_group_sizes))
        problem = "is no combination of SPV_INTEL_subgroup_matrix_multiply_accumulate"
        if sizes:
            problem = (f"needs sub-groups of {sizes} work-items, but this kernel has sub-groups of "
                       f"{emitter.sub_group_size}: require the size with intel_reqd_sub_group_size")
        where = required_matrix_uses(emitter.module).sub_group_operations.get(use)
        raise not_supported(emitter.module, where, f"{name} with {use} {problem}")
    return row


def known_multiply(emitter: Emitter, instruction: Instruction) -> tuple[SubGroupMatrixRow, int]:
    """The combination of an instruction, and its M."""
    words = (*map(emitter.flat.original, instruction.words[:4]), *instruction.words[4:])
    use = multiply_of(emitter.module, emitter.types, Instruction(
        instruction.opcode, instruction.type_id, instruction.result_id, words, instruction.offset))
    return _row_of(emitter, use, instruction.name), use.m
