"""Asynchronous copies: done at once, by all work-items of the group, which wait for each other where it is waited."""

from __future__ import annotations

from coopmat.spirv.analysis.types import Type, VectorType
from coopmat.spirv.grammar import BuiltIn, MemorySemantics, Op, Scope, StorageClass
from coopmat.spirv.module.instruction import Instruction
from coopmat.spirv.transform.to_vulkan.instructions import built_ins
from coopmat.spirv.transform.to_vulkan.memory import Place
from coopmat.spirv.transform.to_vulkan.translation import Handler, Translation
from coopmat.spirv.transform.to_vulkan.types import U32, U64

_ALL = (MemorySemantics.AcquireRelease | MemorySemantics.WorkgroupMemory | MemorySemantics.UniformMemory
        | MemorySemantics.MakeAvailable | MemorySemantics.MakeVisible)


_ODD = 3


def _copy(t: Translation, row: Instruction) -> None:
    """Each work-item copies some of the elements; the stride is that of the global side."""
    scope, target, source, count, stride, _ = row.words
    kind = t.pointee(target)
    if isinstance(kind, VectorType) and kind.length == _ODD:  # which takes as much memory as one of 4
        kind = VectorType(kind.component, _ODD + 1)
    first, step = _share(t, scope)
    end = t.writer.converted(t.value(count), t.type_of(count), U32)
    distance = t.writer.converted(t.value(stride), t.type_of(stride), U64)
    places = [_base(t, pointer, kind) for pointer in (target, source)]

    def element(index: int) -> None:
        there, here = (_moved(t, place, index, distance, kind) for place in places)
        t.memory.store(kind, t.memory.load(kind, here), there)

    t.writer.count(first, end, step, element)
    t.define(row, t.writer.integer(1, U64))


def _share(t: Translation, scope: int) -> tuple[int, int]:
    """The first element of a work-item, and how far apart its elements are."""
    if t.integer_of(scope) == Scope.Subgroup:
        return (built_ins.number(t, BuiltIn.SubgroupLocalInvocationId), built_ins.number(t, BuiltIn.SubgroupSize))
    total = t.writer.multiply(U32, t.writer.multiply(U32, t.local_size[0], t.local_size[1]), t.local_size[2])
    return built_ins.number(t, BuiltIn.LocalInvocationIndex), total


def _base(t: Translation, pointer: int, kind: Type) -> Place:
    return t.place(pointer, kind.scalar.size)


def _moved(t: Translation, place: Place, index: int, distance: int, kind: Type) -> Place:
    writer = t.writer
    size = writer.integer(kind.size // (place.unit or 1), place.type)
    number = writer.converted(index, U32, place.type)
    if place.storage == StorageClass.PhysicalStorageBuffer:
        number = writer.multiply(U64, number, distance)
    position = writer.add(place.type, place.position, writer.multiply(place.type, number, size))
    return Place(position, place.alignment, 0, place.array, place.unit, place.storage)


def _wait(t: Translation, row: Instruction) -> None:
    scope = t.writer.integer(t.integer_of(row.words[0]) or 0)
    t.writer.out.emit(Op.ControlBarrier, scope, scope, t.writer.integer(_ALL))


HANDLERS: dict[int, Handler] = {Op.GroupAsyncCopy: _copy, Op.GroupWaitEvents: _wait}
WITH_BLOCKS = frozenset({Op.GroupAsyncCopy})
