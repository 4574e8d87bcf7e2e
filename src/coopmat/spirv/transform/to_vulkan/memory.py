"""Reads and writes of memory: of global memory at addresses, of other memory in arrays of units."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from coopmat.diagnostics import Error
from coopmat.spirv.analysis.types import ArrayType, IntType, MatrixType, PointerType, Type, VectorType
from coopmat.spirv.grammar import MemoryAccess, MemorySemantics, Op, StorageClass
from coopmat.spirv.module import Module
from coopmat.spirv.module.instruction import Instruction
from coopmat.spirv.transform.to_vulkan.regions import Region
from coopmat.spirv.transform.to_vulkan.types import (
    LONGEST,
    PRIVATE,
    U32,
    U64,
    UNITS,
    as_number,
    is_leaf,
    members,
)
from coopmat.spirv.transform.to_vulkan.writer import Writer

MOST_PARTS = 1 << 12
"""Of a value that is loaded or stored member by member."""
KEPT = MemoryAccess.Volatile | MemoryAccess.Nontemporal
"""Bits of memory operands that a shader has, too."""


_ORDERS = (MemorySemantics.Acquire | MemorySemantics.Release | MemorySemantics.AcquireRelease
           | MemorySemantics.SequentiallyConsistent)
_CLASSES = MemorySemantics.WorkgroupMemory | MemorySemantics.CrossWorkgroupMemory | MemorySemantics.UniformMemory


@dataclass(frozen=True)
class Place:
    """Where something is in memory. ``position``: an address, or, with ``array``, the variable's id, the position of an
    element of ``unit`` bytes."""

    position: int
    alignment: int
    flags: int = 0
    array: int = 0
    unit: int = 0
    storage: int = StorageClass.PhysicalStorageBuffer

    @property
    def type(self) -> IntType:
        """The type of the position."""
        return U32 if self.array else U64


class Memory:
    """Writes accesses to memory. ``hands_over``: whether work-items may read in global memory what others of the same
    launch have written; where they do not, drivers may move and keep what is read."""

    def __init__(self, writer: Writer, *, hands_over: bool = True) -> None:
        self.writer = writer
        self.hands_over = hands_over

    def moved(self, place: Place, offset: int) -> Place:
        """The place so many bytes further on."""
        if not offset:
            return place
        step = offset // place.unit if place.array else offset
        position = self.writer.add(place.type, place.position, self.writer.integer(step, place.type))
        return Place(position, min(place.alignment, offset & -offset), place.flags, place.array, place.unit,
                     place.storage)

    def load(self, kind: Type, place: Place) -> int:
        """The value at a place."""
        self._check(kind)
        if is_leaf(kind):
            return self._load_leaf(as_number(kind), kind, place)
        parts = [self.load(member, self.moved(place, offset)) for offset, member in members(kind)]
        return self.writer.construct(kind, parts)

    def store(self, kind: Type, value: int, place: Place) -> None:
        """Write a value to a place."""
        self._check(kind)
        if is_leaf(kind):
            self._store_leaf(as_number(kind), self._number(value, kind), place)
            return
        for index, (offset, member) in enumerate(members(kind)):
            self.store(member, self.writer.extract(member, value, index), self.moved(place, offset))

    def pointer(self, kind: Type, place: Place) -> int:
        """A pointer to a scalar or vector, for instructions that need one."""
        writer = self.writer
        if not place.array:
            pointer = writer.out.type_pointer(StorageClass.PhysicalStorageBuffer, writer.types(kind))
            return writer.op(Op.ConvertUToPtr, pointer, place.position)
        pointer = writer.out.type_pointer(StorageClass(place.storage), writer.types(UNITS[place.unit]))
        return writer.op(Op.AccessChain, pointer, place.array, place.position)

    def operands(self, place: Place, alignment: int) -> tuple[int, ...]:
        """The memory operands of an access."""
        if place.storage in PRIVATE or place.storage == StorageClass.PushConstant:
            flags = place.flags & MemoryAccess.Volatile
            return (flags,) if flags else ()
        if place.array:
            return (place.flags | MemoryAccess.NonPrivatePointer,)
        is_shared = self.hands_over or place.flags & MemoryAccess.Volatile
        shared = MemoryAccess.NonPrivatePointer if is_shared else MemoryAccess.None_
        return (place.flags | shared | MemoryAccess.Aligned, alignment)

    # -- leaves ------------------------------------------------------------------------

    def _number(self, value: int, kind: Type) -> int:
        """A pointer to other than global memory is wider in memory than as a value."""
        if isinstance(kind, PointerType) and self.writer.types(kind) == self.writer.types(U32):
            return self.writer.converted(value, U32, U64)
        return value

    def _load_leaf(self, number: Type, kind: Type, place: Place) -> int:
        unit = self._unit(number, place)
        if unit is None:
            pointer = self.pointer(number, place)
            found = self.writer.op(Op.Load, number, pointer, *self.operands(place, place.alignment))
        else:
            count = number.scalar.size * number.count // unit
            found = self.writer.of_units([self._load_unit(self.moved(place, unit * index), unit)
                                          for index in range(count)], number, unit)
        if kind is not number and self.writer.types(kind) == self.writer.types(U32):
            return self.writer.converted(found, U64, U32)
        return found

    def _store_leaf(self, number: Type, value: int, place: Place) -> None:
        unit = self._unit(number, place)
        if unit is None:
            pointer = self.pointer(number, place)
            self.writer.out.emit(Op.Store, pointer, value, *self.operands(place, place.alignment))
            return
        for index, part in enumerate(self.writer.units(value, number, unit)):
            there = self.moved(place, unit * index)
            pointer = self.pointer(UNITS[unit], there)
            self.writer.out.emit(Op.Store, pointer, part, *self.operands(there, unit))

    def _unit(self, kind: Type, place: Place) -> int | None:
        """The bytes of the integers that a value is composed of; None where it is accessed as it is."""
        if place.array:
            return place.unit
        if place.alignment < kind.scalar.size:
            return place.alignment
        is_bool = not isinstance(kind.scalar, IntType) and kind.scalar.size == 1
        return 1 if is_bool else None

    def _load_unit(self, place: Place, unit: int) -> int:
        kind = UNITS[unit]
        return self.writer.op(Op.Load, kind, self.pointer(kind, place), *self.operands(place, unit))

    def _check(self, kind: Type) -> None:
        if isinstance(kind, MatrixType):
            raise Error("a cooperative matrix in memory that is not one variable's cannot be translated to a shader")
        if parts_in(kind) > MOST_PARTS:
            raise Error(f"a value of type {kind} is loaded or stored as a whole; to translate that to a shader, it "
                        f"must have at most {MOST_PARTS} parts")


def parts_in(kind: Type) -> int:
    """How many scalars and short vectors a value consists of."""
    if isinstance(kind, ArrayType):
        return kind.length * parts_in(kind.element)
    if isinstance(kind, VectorType) and kind.length > LONGEST:
        return kind.length // LONGEST
    return 1 if is_leaf(kind) else sum(parts_in(member) for _, member in members(kind))


def orders_global_memory(module: Module, row: Instruction) -> bool:
    """Whether an instruction may let work-items see what others have written to global memory."""
    if row.opcode == Op.GroupWaitEvents:
        return True
    if not row.name.startswith(("OpControlBarrier", "OpMemoryBarrier", "OpAtomic")):
        return False
    found = [module.constant_value(int(one.value)) for one in row.operands if one.kind == "IdMemorySemantics"]
    return any(not isinstance(one, int) or (one & _ORDERS and one & _CLASSES != MemorySemantics.WorkgroupMemory)
               for one in found)


def place_in(region: Region, array: int, position: int, flags: int) -> Place:
    """A place in a region's array."""
    return Place(position, region.unit, flags, array, region.unit, region.storage)


def flags_of(words: Sequence[int]) -> int:
    """What a shader keeps of an instruction's memory operands."""
    return words[0] & KEPT if words else 0
