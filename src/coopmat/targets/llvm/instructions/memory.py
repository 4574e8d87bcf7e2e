"""Variables, loads, stores, access chains, copies.

A variable of a function lives in slots (places.py) if it can. Others lie in memory, each work-item's behind that of the
one before it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from coopmat.diagnostics import ValidationError
from coopmat.spirv.analysis.types import (
    ArrayType,
    MatrixType,
    StructType,
    Type,
    contains_matrix,
    round_up,
)
from coopmat.spirv.grammar import CHAINS, MemoryAccess, MemorySemantics, Op, StorageClass
from coopmat.spirv.module.instruction import Instruction
from coopmat.targets.analysis.leaves import is_large
from coopmat.targets.analysis.pointer_uses import member_type
from coopmat.targets.llvm.access import load_value, offset_pointer, store_value
from coopmat.targets.llvm.arithmetic.integers import resized
from coopmat.targets.llvm.emitter import Emitter, Handler
from coopmat.targets.llvm.inputs import find_place, is_input
from coopmat.targets.llvm.place import SlotPlace, moved_place, part_at, part_at_run_time
from coopmat.targets.llvm.places import check_indices, clear_array, place_for, read_place, write_place
from coopmat.targets.llvm.values import Number, Value, llvm_type
from coopmat.targets.llvm.variables import clear, module_variable, private_memory

MEMORIES = {StorageClass.Workgroup: MemorySemantics.WorkgroupMemory,
            StorageClass.CrossWorkgroup: MemorySemantics.CrossWorkgroupMemory}


# --------------------------------------------------------------------------------------
# Variables
# --------------------------------------------------------------------------------------


def variable(emitter: Emitter, row: Instruction) -> Value | None:
    """OpVariable: slots, or memory."""
    storage = row.words[0]
    if storage == StorageClass.Function:
        return _function_variable(emitter, row)
    return module_variable(emitter, row)


def _function_variable(emitter: Emitter, row: Instruction) -> Value | None:
    assert row.result_id is not None
    kind = emitter.pointee(row.result_id)
    if emitter.uses.stays(row.result_id, kind):
        place = place_for(emitter, row.result_id, kind)
        initial = emitter.value(row.words[1]) if len(row.words) > 1 else None
        if initial is None and place.is_array and not contains_matrix(kind):
            clear_array(emitter, place)
        elif initial is not None:
            write_place(emitter, place, initial)
        return None
    pointer, nbytes = private_memory(emitter, kind)
    if len(row.words) > 1:
        store_value(emitter, pointer, emitter.value(row.words[1]), kind, kind.alignment)
    else:
        clear(emitter, pointer.base, nbytes)
    return (pointer,)


# --------------------------------------------------------------------------------------
# Instructions
# --------------------------------------------------------------------------------------


def alignment_of(operands: Sequence[int], kind: Type) -> int:
    """The alignment that memory operands name, else that of the type."""
    if operands and operands[0] & MemoryAccess.Aligned:
        alignment = operands[1] if len(operands) > 1 else 0
        if alignment < 1 or alignment & alignment - 1:
            raise ValidationError("memory-alignment", f"an alignment of {alignment} is not a power of two")
        return alignment
    return max(kind.alignment, 1)


def _is_volatile(operands: Sequence[int]) -> bool:
    return bool(operands and operands[0] & MemoryAccess.Volatile)


def read(emitter: Emitter, pointer: int, operands: Sequence[int] = ()) -> Value:
    """What a pointer points to."""
    place = find_place(emitter, pointer)
    if place is not None:
        check_indices(emitter, place)
        return read_place(emitter, place)
    kind = emitter.pointee(pointer)
    return load_value(emitter, emitter.number(pointer), kind, alignment_of(operands, kind),
                      volatile=_is_volatile(operands))


def write(emitter: Emitter, pointer: int, value: Value, operands: Sequence[int] = ()) -> None:
    """Store a value where a pointer points."""
    place = find_place(emitter, pointer)
    if place is not None:
        if is_input(place):
            name = emitter.module.names.get(pointer) or f"%{pointer}"
            raise ValidationError("store-input", f"'{name}' is a built-in input, which cannot be written")
        check_indices(emitter, place)
        write_place(emitter, place, value)
        return
    kind = emitter.pointee(pointer)
    store_value(emitter, emitter.number(pointer), value, kind, alignment_of(operands, kind),
                volatile=_is_volatile(operands))


def _load(emitter: Emitter, row: Instruction) -> Value:
    return read(emitter, row.words[0], row.words[1:])


def _store(emitter: Emitter, row: Instruction) -> None:
    write(emitter, row.words[0], emitter.value(row.words[1]), row.words[2:])


def _copy_memory(emitter: Emitter, row: Instruction) -> None:
    target, source, *operands = row.words
    kind = emitter.pointee(target)
    if is_large(kind):
        _copy_bytes(emitter, emitter.number(target), emitter.number(source), emitter.constant("i64", kind.size))
        return
    write(emitter, target, read(emitter, source, operands), operands)


def _copy_memory_sized(emitter: Emitter, row: Instruction) -> None:
    target, source, size = (emitter.number(word) for word in row.words[:3])
    _copy_bytes(emitter, target, source, resized(emitter, size, "i64", signed=False))


def _copy_bytes(emitter: Emitter, target: Number, source: Number, count: Number) -> None:
    """Byte by byte for each work-item, or at once if all copy the same."""
    if emitter.checks is not None:
        emitter.checks.bytes(source, count, writing=False)
        emitter.checks.bytes(target, count, writing=True)
    if target.is_single and source.is_single and count.is_single:
        emitter.writer.call("void", "llvm.memmove.p0.p0.i64", [("ptr", target.base), ("ptr", source.base),
                                                       ("i64", count.base), ("i1", "false")])
    else:
        emitter.execution.copy_bytes(target, source, count)


def _size_of(emitter: Emitter, row: Instruction) -> Value:
    """OpSizeOf: the bytes of what a pointer points to."""
    return (emitter.constant(llvm_type(emitter.result_type(row)), emitter.pointee(row.words[0]).size),)


def _memory_semantics(emitter: Emitter, row: Instruction) -> Value:
    """OpGenericPtrMemSemantics: which memory a generic pointer points to; none for private memory and null."""
    pointer, llvm = emitter.number(row.words[0]), llvm_type(emitter.result_type(row))
    found = emitter.constant(llvm, 0)
    for storage, semantics in MEMORIES.items():
        is_there = emitter.execution.is_in_storage(pointer, storage)
        found = emitter.select(is_there, emitter.constant(llvm, int(semantics)), found)
    is_null = emitter.apply("icmp eq {t} {0}, {1}", "i1", pointer, emitter.constant("ptr", 0))
    return (emitter.select(is_null, emitter.constant(llvm, 0), found),)


def _chain(emitter: Emitter, row: Instruction) -> Value | None:
    place = find_place(emitter, row.words[0])
    first = CHAINS[Op(row.opcode)]
    if place is not None:
        assert row.result_id is not None
        if first == 2 and emitter.constant_of(row.words[1]) != 0:
            place = moved_place(place, row.words[1])
        for word in row.words[first:]:
            place = _step(emitter, place, word)
        emitter.places[row.result_id] = place
        return None
    kind = emitter.pointee(row.words[0])
    pointer = emitter.number(row.words[0])
    if first == 2:
        pointer = _moved_by(emitter, pointer, row.words[1], round_up(kind.size, kind.alignment))
    for word in row.words[first:]:
        pointer, kind = _into(emitter, pointer, kind, word, row)
    return (pointer,)


def _moved_by(emitter: Emitter, pointer: Number, word: int, stride: int) -> Number:
    index = resized(emitter, emitter.number(word), "i64", signed=True)
    return offset_pointer(emitter, pointer, index, stride)


def _into(emitter: Emitter, pointer: Number, kind: Type, word: int, row: Instruction) -> tuple[Number, Type]:
    """The address of a part, and its type."""
    if isinstance(kind, StructType):
        index = emitter.constant_of(word)
        if index is None or not 0 <= index < len(kind.members):
            raise ValidationError("access-chain-index", f"the index into a {kind} must be a constant below "
                                  f"{len(kind.members)}", row.offset)
        return offset_pointer(emitter, pointer, Number("i64", "0"), 1, kind.offsets[index]), kind.members[index]
    member = member_type(kind, 0)
    if member is None:
        raise ValidationError("access-chain-index", f"there is nothing to index in a value of type {kind}", row.offset)
    stride = kind.stride if isinstance(kind, ArrayType) else kind.scalar.size
    return _moved_by(emitter, pointer, word, stride), member


def _step(emitter: Emitter, place: SlotPlace, word: int) -> SlotPlace:
    """The part of a place that an index leads to."""
    index = emitter.constant_of(word)
    kind = place.kind
    if isinstance(kind, MatrixType):
        return replace(place, component=word)
    if isinstance(kind, StructType) and (index is None or not 0 <= index < len(kind.members)):
        raise ValidationError("access-chain-index", f"the index into a {kind} must be a constant below "
                              f"{len(kind.members)}")
    return part_at_run_time(place, word) if index is None else part_at(place, index)


def nothing(emitter: Emitter, row: Instruction) -> None:
    """A handler for instructions without an effect here."""


def _assume(emitter: Emitter, row: Instruction) -> None:
    """OpAssumeTrueKHR: nothing is made of it."""


OPERATIONS: dict[int, Handler] = {
    Op.Variable: variable,
    Op.Load: _load,
    Op.Store: _store,
    Op.CopyMemory: _copy_memory,
    Op.CopyMemorySized: _copy_memory_sized,
    Op.SizeOf: _size_of,
    Op.GenericPtrMemSemantics: _memory_semantics,
    Op.AccessChain: _chain,
    Op.InBoundsAccessChain: _chain,
    Op.PtrAccessChain: _chain,
    Op.InBoundsPtrAccessChain: _chain,
    Op.LifetimeStart: nothing,
    Op.LifetimeStop: nothing,
    Op.AssumeTrueKHR: _assume,
}
