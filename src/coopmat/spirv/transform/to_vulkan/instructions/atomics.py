"""Atomic instructions: on integers as they are, on floats by what the driver has or by compare-and-exchange."""

from __future__ import annotations

from collections.abc import Callable

from coopmat.spirv.analysis.types import BoolType, IntType, Type
from coopmat.spirv.grammar import MemorySemantics, Op, StorageClass
from coopmat.spirv.module.instruction import Instruction
from coopmat.spirv.transform.to_vulkan.instructions.barriers import scope, semantics
from coopmat.spirv.transform.to_vulkan.memory import Place
from coopmat.spirv.transform.to_vulkan.translation import Handler, Translation
from coopmat.spirv.transform.to_vulkan.types import U64, UNSIGNED, as_number

_INTEGERS = (Op.AtomicIIncrement, Op.AtomicIDecrement, Op.AtomicIAdd, Op.AtomicISub, Op.AtomicSMin, Op.AtomicUMin,
             Op.AtomicSMax, Op.AtomicUMax, Op.AtomicAnd, Op.AtomicOr, Op.AtomicXor)
_SIZES = (4, 8)
_FLOATS: dict[int, str] = {Op.AtomicFAddEXT: "", Op.AtomicFMinEXT: "NMin", Op.AtomicFMaxEXT: "NMax"}
"""Instruction → what of GLSL.std.450 it does; nothing: a sum."""
_NATIVE = {(Op.AtomicFAddEXT, 4): "shaderBufferFloat32AtomicAdd", (Op.AtomicFAddEXT, 8): "shaderBufferFloat64AtomicAdd"}
"""Instruction and bytes → the feature that global memory has it."""


def pointer_of(t: Translation, pointer: int, row: Instruction) -> tuple[int, IntType, Place]:
    """A pointer to unsigned integers as wide as what is there, that type, and the place."""
    kind = as_number(t.pointee(pointer))
    if kind.count != 1 or kind.size not in _SIZES:
        raise t.refuse(f"{row.name} on {kind}; atomics of shaders work on integers and floats of 32 and 64 bits", row)
    place = t.place(pointer, kind.size)
    if place.array and place.unit != kind.size:
        raise t.refuse(f"{row.name} in memory that is also accessed in units of {place.unit} bytes", row)
    number = UNSIGNED[kind.size]
    if kind.size == U64.size:
        t.need("shaderSharedInt64Atomics" if place.array else "shaderBufferInt64Atomics")
    return t.memory.pointer(number, place), number, place


def _own(place: Place) -> int:
    """The storage class that an atomic orders by itself."""
    if place.storage == StorageClass.Workgroup:
        return MemorySemantics.WorkgroupMemory
    return MemorySemantics.CrossWorkgroupMemory


def _simple(t: Translation, row: Instruction) -> None:
    pointer, number, place = _target(t, row)
    order = semantics(t, row.words[2], own=_own(place))
    rest = [t.value(word) for word in row.words[3:]]
    t.writer.op(Op(row.opcode), number, pointer, scope(t, row.words[1]), order, *rest, result=t.result(row))


def _target(t: Translation, row: Instruction) -> tuple[int, IntType, Place]:
    found = pointer_of(t, row.words[0], row)
    if found[2].storage in (StorageClass.Function, StorageClass.Private):
        raise t.refuse(f"{row.name} in private memory", row)
    return found


def _load(t: Translation, row: Instruction) -> None:
    pointer, number, place = _target(t, row)
    order = semantics(t, row.words[2], writes=False, own=_own(place))
    found = t.writer.op(Op.AtomicLoad, number, pointer, scope(t, row.words[1]), order)
    t.define(row, t.writer.of_unsigned(found, as_number(t.result_type(row))))


def _store(t: Translation, row: Instruction) -> None:
    pointer, _, place = _target(t, row)
    order = semantics(t, row.words[2], reads=False, own=_own(place))
    bits = t.writer.as_unsigned(t.value(row.words[3]), as_number(t.type_of(row.words[3])))
    t.writer.out.emit(Op.AtomicStore, pointer, scope(t, row.words[1]), order, bits)


def _exchange(t: Translation, row: Instruction) -> None:
    pointer, number, place = _target(t, row)
    order = semantics(t, row.words[2], own=_own(place))
    kind = as_number(t.result_type(row))
    bits = t.writer.as_unsigned(t.value(row.words[3]), kind)
    found = t.writer.op(Op.AtomicExchange, number, pointer, scope(t, row.words[1]), order, bits)
    t.define(row, t.writer.of_unsigned(found, kind))


def _compare_exchange(t: Translation, row: Instruction) -> None:
    _, where, equal, unequal, value, comparator = row.words
    pointer, number, place = _target(t, row)
    orders = semantics(t, equal, own=_own(place)), semantics(t, unequal, writes=False, own=_own(place))
    t.writer.op(Op.AtomicCompareExchange, number, pointer, scope(t, where), *orders, t.value(value),
                t.value(comparator), result=t.result(row))


def _float(t: Translation, row: Instruction) -> None:
    pointer, number, place = _target(t, row)
    kind = t.result_type(row)
    value, where = t.value(row.words[3]), scope(t, row.words[1])
    order = semantics(t, row.words[2], own=_own(place))
    native = _NATIVE.get((Op(row.opcode), kind.size))
    if native in t.target.features and not place.array:
        t.writer.op(Op(row.opcode), kind, t.memory.pointer(kind, place), where, order, value, result=t.result(row))
        return
    t.define(row, changed(t, (pointer, number), where, order, kind, lambda old: _sum(t, row, kind, old, value)))


def _sum(t: Translation, row: Instruction, kind: Type, a: int, b: int) -> int:
    name = _FLOATS[row.opcode]
    return t.writer.glsl(name, kind, a, b) if name else t.writer.op(Op.FAdd, kind, a, b)


def changed(t: Translation, target: tuple[int, IntType], where: int, order: int, kind: Type,
            change: Callable[[int], int]) -> int:
    """Change what is in memory by compare-and-exchange; what was there before."""
    pointer, number = target
    relaxed = t.writer.integer(0)
    first = t.writer.op(Op.AtomicLoad, number, pointer, where, relaxed)

    def attempt(old: int) -> tuple[int, int]:
        new = t.writer.as_unsigned(change(t.writer.of_unsigned(old, kind)), kind)
        found = t.writer.op(Op.AtomicCompareExchange, number, pointer, where, order, relaxed, new, old)
        return t.writer.op(Op.IEqual, BoolType(), found, old), found

    return t.writer.of_unsigned(t.writer.repeat(number, first, attempt), kind)


def _flag_set(t: Translation, row: Instruction) -> None:
    pointer, number, place = _target(t, row)
    order = semantics(t, row.words[2], own=_own(place))
    found = t.writer.op(Op.AtomicExchange, number, pointer, scope(t, row.words[1]), order, t.writer.integer(1, number))
    t.writer.op(Op.INotEqual, BoolType(), found, t.writer.integer(0, number), result=t.result(row))


def _flag_clear(t: Translation, row: Instruction) -> None:
    pointer, number, place = _target(t, row)
    order = semantics(t, row.words[2], reads=False, own=_own(place))
    t.writer.out.emit(Op.AtomicStore, pointer, scope(t, row.words[1]), order, t.writer.integer(0, number))


HANDLERS: dict[int, Handler] = {
    **dict.fromkeys(_INTEGERS, _simple), **dict.fromkeys(_FLOATS, _float), Op.AtomicLoad: _load,
    Op.AtomicStore: _store, Op.AtomicExchange: _exchange, Op.AtomicCompareExchange: _compare_exchange,
    Op.AtomicCompareExchangeWeak: _compare_exchange, Op.AtomicFlagTestAndSet: _flag_set,
    Op.AtomicFlagClear: _flag_clear,
}
WITH_BLOCKS = frozenset(_FLOATS)
"""Instructions that become several blocks."""
