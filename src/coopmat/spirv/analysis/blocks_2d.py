"""The constants of SPV_INTEL_2d_block_io's instructions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from coopmat.diagnostics import ValidationError
from coopmat.spirv.grammar import Op
from coopmat.spirv.module.instruction import Instruction

ELEMENT_SIZES = (1, 2, 4, 8)
UNITS = {1: 4, 2: 2, 4: 1, 8: 1}  # by element size: what block width and x coordinate are multiples of
PRIVATE_OF_BLOCK: dict[int, int] = {
    Op.Subgroup2DBlockLoadINTEL: 9, Op.Subgroup2DBlockLoadTransformINTEL: 9, Op.Subgroup2DBlockLoadTransposeINTEL: 9,
    Op.Subgroup2DBlockStoreINTEL: 4}
"""Which word of an instruction is the pointer to the work-items' own elements."""
MOST_ELEMENTS = 1 << 16  # of all blocks of one instruction


@dataclass(frozen=True)
class Block:
    """The constants of an instruction: element size in bytes, and the shape and number of the blocks."""

    element_size: int
    width: int
    height: int
    count: int


def block_of(row: Instruction, numbers: Sequence[int | None], *, transform: bool = False) -> Block:
    """The block of an instruction, whose first four operands ``numbers`` are. ValidationError if they break the
    extension's rules."""
    known = [number for number in numbers if number is not None and number > 0]
    if len(known) < 4:
        raise ValidationError("2D-1", f"element size, block width, block height and block count of {row.name} must be "
                              "positive integer constants", row.offset)
    block = Block(*known)
    if block.element_size not in ELEMENT_SIZES:
        raise ValidationError("2D-2", f"the element size of {row.name} must be 1, 2, 4 or 8 bytes, not "
                              f"{block.element_size}", row.offset)
    unit = UNITS[block.element_size]
    if block.width % unit:
        raise ValidationError("2D-3", f"the block width of {row.name} must be a multiple of {unit} for elements of "
                              f"{block.element_size} bytes; it is {block.width}", row.offset)
    if block.width * block.height * block.count > MOST_ELEMENTS:
        raise ValidationError("2D-4", f"the blocks of {row.name} are too large: {block.count} of "
                              f"{block.width}x{block.height} elements", row.offset)
    if transform and block.element_size not in (1, 2):
        raise ValidationError("2D-5", f"{row.name} is possible for elements of 1 and 2 bytes, not of "
                              f"{block.element_size}", row.offset)
    return block
