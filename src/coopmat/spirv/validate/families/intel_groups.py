"""Rules of SPV_INTEL_subgroups and SPV_INTEL_2d_block_io."""

from __future__ import annotations

import numpy as np

from coopmat.spirv.analysis.matrix_uses import BLOCK_2D_INSTRUCTIONS
from coopmat.spirv.grammar import Op, StorageClass
from coopmat.spirv.validate.rules import Findings, rule
from coopmat.spirv.validate.view import Group

INTEL = "SPV_INTEL_subgroups"
BLOCKS_2D = "SPV_INTEL_2d_block_io"

_INT, _FLOAT = Op.TypeInt, Op.TypeFloat
_INTEL_SHUFFLES = {Op.SubgroupShuffleINTEL: 1, Op.SubgroupShuffleXorINTEL: 1, Op.SubgroupShuffleDownINTEL: 2,
                   Op.SubgroupShuffleUpINTEL: 2}


@rule("intel-shuffle", "A shuffle exchanges values of its result type, at 32-bit positions.", INTEL, *_INTEL_SHUFFLES)
def intel_shuffle(group: Group) -> Findings:
    position = _INTEL_SHUFFLES[group.opcode]
    yield ~group.result.scalars_of(_INT, _FLOAT), "{op} exchanges numbers or vectors of them, not {type}"
    for place in range(position):
        yield group.value(place) != group.result, f"{{op}} of {{type{place}}} cannot give {{type}}"
    kind = group.value(position)
    yield ~(kind.is_kind(_INT) & (kind.width == 32)), \
        f"the position for {{op}} is a 32-bit integer, not {{type{position}}}"


@rule("block-read-write", "A block is read or written through a pointer to its components.", INTEL,
      Op.SubgroupBlockReadINTEL, Op.SubgroupBlockWriteINTEL)
def block_read_write(group: Group) -> Findings:
    reads = group.opcode == Op.SubgroupBlockReadINTEL
    data, shown = (group.result, "{type}") if reads else (group.value(1), "{type1}")
    yield ~data.scalars_of(_INT, _FLOAT), f"{{op}} moves numbers or vectors of them, not {shown}"
    address = group.value(0)
    yield ~address.is_pointer, "{op} needs a pointer, not {type0}"
    yield address.is_kind(Op.TypePointer) & (address.element != data.scalar), \
        f"{{op}} of {shown} needs a pointer to its component type, not {{type0}}"


_SIZES = ("element size", "block width", "block height", "block count")
_ELEMENT_SIZES = (1, 2, 4, 8)


@rule("block-2d", "A 2D block instruction has constant sizes, a pointer to global memory, surface sizes, a pair of "
      "coordinates and a pointer to memory of the work-item.", BLOCKS_2D, *BLOCK_2D_INSTRUCTIONS)
def block_2d(group: Group) -> Findings:
    yield from _block_sizes(group)
    opcode = group.opcode
    stores, prefetches = opcode == Op.Subgroup2DBlockStoreINTEL, opcode == Op.Subgroup2DBlockPrefetchINTEL
    base = 5 if stores else 4
    yield ~group.value(base).in_storage(StorageClass.CrossWorkgroup), \
        f"the surface of {{op}} is a pointer to CrossWorkgroup memory, not {{type{base}}}"
    for place, what in enumerate(("width", "height", "pitch"), base + 1):
        yield ~group.value(place).is_int(), f"the surface {what} of {{op}} is an integer, not {{type{place}}}"
    coordinate = group.value(base + 4)
    yield ~(coordinate.is_vector(_INT) & (coordinate.components == 2)), \
        f"the coordinate of {{op}} is two integers, not {{type{base + 4}}}"
    if prefetches:
        return
    private = 4 if stores else 9
    block = group.value(private)
    yield ~block.in_storage(StorageClass.Function), \
        f"the block of {{op}} is a pointer to Function memory, not {{type{private}}}"
    if opcode == Op.Subgroup2DBlockLoadTransformINTEL:
        yield block.in_storage(StorageClass.Function) & block.is_kind(Op.TypePointer) & ~block.element.is_int(32), \
            f"the block of {{op}} is a pointer to 32-bit integers, not {{type{private}}}"


def _block_sizes(group: Group) -> Findings:
    """The constants that say how large an element and a block is."""
    for place, what in enumerate(_SIZES):
        yield ~(group.value(place).is_int(32) & group.is_constant(place)), \
            f"the {what} of {{op}} is a constant 32-bit integer, not {{def{place}}} of {{type{place}}}"
    element, width = group.constant(0), group.constant(1)
    yield (element >= 0) & ~np.isin(element, _ELEMENT_SIZES), \
        "the element size of {op} is 1, 2, 4 or 8 bytes, not {def0}"
    for size, multiple in ((1, 4), (2, 2)):
        yield (element == size) & (width >= 0) & (width % multiple != 0), \
            f"the block width of {{op}} is a multiple of {multiple} for elements of {size} bytes, not {{def1}}"
