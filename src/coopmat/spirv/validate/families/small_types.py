"""Rules for 8-bit and 16-bit numbers of shaders that may only store them (SPV_KHR_16bit_storage, SPV_KHR_8bit_storage).

A shader without the capability Int8, Int16 or Float16 still has the types, in the storage classes that other
capabilities name, and can load, store and convert them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from coopmat.spirv.grammar import Capability, Decoration, Op, StorageClass
from coopmat.spirv.validate.families.declarations import parts
from coopmat.spirv.validate.rules import Findings, rule
from coopmat.spirv.validate.sections import CONSTANTS
from coopmat.spirv.validate.types import NO_ENCODING, Booleans
from coopmat.spirv.validate.view import Group, ModuleView

SECTION = "SPV_KHR_16bit_storage, SPV_KHR_8bit_storage"

_C, _S = Capability, StorageClass
_WHOLE = {(Op.TypeInt, 8): _C.Int8, (Op.TypeInt, 16): _C.Int16, (Op.TypeFloat, 16): _C.Float16}
_STORED: dict[int, dict[int, tuple[Capability, ...]]] = {
    8: {**dict.fromkeys((_S.StorageBuffer, _S.PhysicalStorageBuffer),
                        (_C.StorageBuffer8BitAccess, _C.UniformAndStorageBuffer8BitAccess)),
        _S.Uniform: (_C.UniformAndStorageBuffer8BitAccess,),
        _S.PushConstant: (_C.StoragePushConstant8,),
        _S.Workgroup: (_C.WorkgroupMemoryExplicitLayout8BitAccessKHR,)},
    16: {**dict.fromkeys((_S.StorageBuffer, _S.PhysicalStorageBuffer),
                         (_C.StorageBuffer16BitAccess, _C.UniformAndStorageBuffer16BitAccess)),
         _S.Uniform: (_C.UniformAndStorageBuffer16BitAccess,),
         _S.PushConstant: (_C.StoragePushConstant16,),
         **dict.fromkeys((_S.Input, _S.Output), (_C.StorageInputOutput16,)),
         _S.Workgroup: (_C.WorkgroupMemoryExplicitLayout16BitAccessKHR,)},
}
"""Width → storage class → the capabilities of which one allows numbers of this width there."""
_BLOCKS = {8: _C.StorageBuffer8BitAccess, 16: _C.StorageBuffer16BitAccess}
"""What is enough in Uniform storage for structures with the decoration BufferBlock."""
_USES = (Op.Name, Op.Decorate, Op.DecorateId, Op.DecorateString, Op.GroupDecorate, Op.CopyObject, Op.Store, Op.FConvert,
         Op.UConvert, Op.SConvert)


class _Limited(NamedTuple):
    """For each type, whether it has parts of 8 and of 16 bits that the module may only store."""

    of_8: Booleans
    of_16: Booleans


def _limited(view: ModuleView) -> _Limited:
    table = view.type_table
    found = _Limited(*(np.zeros(len(table.rows), bool) for _ in range(2)))
    if not view.has(Capability.Shader):
        return found
    for place, (row, item) in enumerate(zip(table.rows, table.instructions, strict=True)):
        whole = _WHOLE.get((row.kind, row.width)) if row.encoding == NO_ENCODING else None  # type: ignore[arg-type]
        if whole is not None and not view.has(whole):
            (found.of_8 if row.width == 8 else found.of_16)[place] = True
        elif item is not None:
            for mask in found:
                mask[place] = any(mask[table.position.get(word, 0)] for word in parts(item))
    return found


@rule("small-type-variable", "A shader without 8-bit or 16-bit arithmetic has numbers of this width only in the "
      "storage classes that its capabilities name.", SECTION, Op.Variable)
def small_type_variable(group: Group) -> Findings:
    view = group.view
    for width, limited in zip((8, 16), view.derived(_limited), strict=True):
        holds = limited[group.result.element.places]
        if not holds.any():
            continue
        for storage in np.unique(group.word(0)[holds]).tolist():
            chosen = holds & (group.word(0) == storage)
            allowing = _STORED[width].get(storage)
            if allowing is None:
                yield chosen, f"a variable with {width}-bit numbers cannot be in this storage class without " \
                              f"arithmetic of this width: {{type}}"
            elif not view.has(*allowing) and not (storage == _S.Uniform and view.has(_BLOCKS[width])
                                                  and _are_blocks(group, chosen)):
                yield chosen, f"a variable with {width}-bit numbers in this storage class needs the capability " \
                              f"{allowing[0].spelling}: {{type}}"


def _are_blocks(group: Group, chosen: Booleans) -> bool:
    """Whether what these variables hold are structures with the decoration BufferBlock, or arrays of them."""
    held = group.result.element
    places = np.where(held.is_kind(Op.TypeArray, Op.TypeRuntimeArray), held.element.places, held.places)[chosen]
    blocks = group.view.annotations.targets(Decoration.BufferBlock)
    return all(group.view.type_table.rows[place].identifier in blocks for place in places.tolist())


@rule("small-type-use", "A shader without 8-bit or 16-bit arithmetic moves and converts numbers of this width only.",
      SECTION)
def small_type_use(view: ModuleView) -> Findings:
    limited = view.derived(_limited)
    either = limited.of_8 | limited.of_16
    if not either.any():
        return
    at, _, ids, _ = view.uses
    small = either[view.value_types(ids).places] & ~np.isin(view.opcode[at], _USES)
    small &= ~view.broken[at]
    yield np.unique(at[small]), "{op} works on 8-bit or 16-bit numbers, which this shader may only load, store and " \
                                "convert: Int8, Int16 or Float16 allows more"
    made = either[view.types(np.minimum(view.type_id, len(view.defined_by) - 1)).places] & ~view.broken
    made &= np.isin(view.opcode, [*CONSTANTS, Op.Undef])
    yield np.flatnonzero(made), "{op} makes 8-bit or 16-bit numbers, which needs the capability Int8, Int16 or Float16"
