"""Instructions that only move data: executed again with marks for the data, they move the marks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from coopmat.spirv.analysis.types import Type
from coopmat.spirv.grammar import Op
from coopmat.spirv.module import Instruction
from coopmat.targets.simulator.definedness.marks import Mark
from coopmat.targets.simulator.state import Frame
from coopmat.targets.simulator.values import Value, zero

if TYPE_CHECKING:
    from coopmat.targets.simulator.address_space import AddressSpace

ALL = -1
SHUFFLES: dict[int, tuple[int, ...]] = {
    **dict.fromkeys((Op.GroupNonUniformShuffle, Op.GroupNonUniformShuffleXor, Op.GroupNonUniformShuffleUp,
                     Op.GroupNonUniformShuffleDown, Op.GroupNonUniformRotateKHR, Op.GroupNonUniformQuadBroadcast,
                     Op.GroupNonUniformQuadSwap), (1,)),
    **dict.fromkeys((Op.SubgroupShuffleINTEL, Op.SubgroupShuffleXorINTEL, Op.SubgroupReadInvocationKHR), (0,)),
    **dict.fromkeys((Op.SubgroupShuffleDownINTEL, Op.SubgroupShuffleUpINTEL), (0, 1)),
}
"""Of these each lane reads from another one, which may take no part."""
MOVES: dict[int, tuple[int, ...]] = {
    Op.Load: (), Op.Store: (1,), Op.CopyMemory: (), Op.CopyMemorySized: (),
    Op.CompositeConstruct: (ALL,), Op.CompositeConstructReplicateEXT: (ALL,), Op.CompositeExtract: (0,),
    Op.CompositeInsert: (0, 1), Op.VectorShuffle: (0, 1), Op.VectorExtractDynamic: (0,),
    Op.VectorInsertDynamic: (0, 1), Op.CopyObject: (0,), Op.CopyLogical: (0,), Op.Bitcast: (0,),
    Op.ArithmeticFenceEXT: (0,), Op.ExpectKHR: (0,), Op.Select: (1, 2),
    Op.CooperativeMatrixLoadKHR: (), Op.CooperativeMatrixStoreKHR: (1,), Op.CooperativeMatrixLoadCheckedINTEL: (),
    Op.CooperativeMatrixStoreCheckedINTEL: (3,), Op.CooperativeMatrixTransposeNV: (0,),
    Op.CooperativeMatrixConvertUseEXT: (0,),
    **SHUFFLES,
    **dict.fromkeys((Op.GroupNonUniformBroadcast, Op.GroupNonUniformBroadcastFirst, Op.GroupBroadcast), (1,)),
    Op.SubgroupBlockReadINTEL: (), Op.SubgroupBlockWriteINTEL: (1,),
    **dict.fromkeys((Op.Subgroup2DBlockLoadINTEL, Op.Subgroup2DBlockLoadTransformINTEL,
                     Op.Subgroup2DBlockLoadTransposeINTEL, Op.Subgroup2DBlockStoreINTEL), ()),
}
"""The operands that are moved, by their positions among an instruction's words; what is in memory is moved as well."""


def moved_operands(row: Instruction, name: str | None) -> list[int] | None:
    """The ids of the operands that an instruction moves, None if it does more than move; ``name`` is that of an
    extended instruction."""
    if name is not None:
        return [] if name.startswith("vload") else [row.words[2]] if name.startswith("vstore") else None
    positions = MOVES.get(row.opcode)
    if positions is None:
        return None
    return list(row.words) if positions == (ALL,) else [row.words[position] for position in positions]


class Marked(list[Value]):
    """The slots of a frame as an instruction sees them that moves marks: marks of what is moved, values of the rest."""

    def __init__(self, slots: list[Value], marks: Mapping[int, Mark], moved: Mapping[int, Type]) -> None:
        self._slots, self._marks, self._moved = slots, marks, moved
        self.written: dict[int, Value] = {}

    def __getitem__(self, slot: int) -> Value:  # type: ignore[override]
        if slot in self.written:
            return self.written[slot]
        if slot not in self._moved:
            return self._slots[slot]
        mark = self._marks.get(slot)
        return zero(self._moved[slot]) if mark is None else mark.value

    def __setitem__(self, slot: int, value: Value) -> None:  # type: ignore[override]
        self.written[slot] = value


def marked_frame(frame: Frame, memory: AddressSpace, moved: Mapping[int, Type]) -> tuple[Frame, Marked]:
    """A frame in which an instruction moves marks."""
    slots = Marked(frame.slots, frame.undefined, moved)
    found = Frame(frame.batch, slots, frame.mask)
    found.memory = memory
    found.merge = frame.merge
    return found, slots
