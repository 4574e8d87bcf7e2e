"""What work-items have of the blocks of SPV_INTEL_2d_block_io's instructions."""

from __future__ import annotations

from dataclasses import dataclass

from coopmat.devices.lane_layout import Held
from coopmat.devices.subgroup_layout import block_elements
from coopmat.diagnostics import ValidationError
from coopmat.spirv.analysis.blocks_2d import Block, block_of
from coopmat.spirv.grammar import Op
from coopmat.spirv.module.instruction import Instruction
from coopmat.targets.analysis.flatten import Flat


@dataclass(frozen=True)
class BlockHeld:
    """What the work-items have of a block: where its elements are."""

    block: Block
    elements: Held

    def numbers(self, nbytes: int) -> int:
        """How many numbers of so many bytes a work-item's elements make; 0 if they make no whole ones."""
        total = self.elements.row.shape[1] * self.block.element_size
        return 0 if nbytes % self.block.element_size or total % nbytes else total // nbytes


def block_held(flat: Flat, row: Instruction) -> BlockHeld | None:
    """What the work-items of a kernel have of an instruction's block; None if that breaks a rule."""
    transform = row.opcode == Op.Subgroup2DBlockLoadTransformINTEL
    try:
        block = block_of(row, [flat.constant_of(word) for word in row.words[:4]], transform=transform)
    except ValidationError:
        return None
    elements = block_elements(block.width, block.height, block.count, flat.types.sub_group_size,
                              transpose=row.opcode == Op.Subgroup2DBlockLoadTransposeINTEL,
                              rows_per_word=4 // block.element_size if transform else 1)
    return BlockHeld(block, elements)
