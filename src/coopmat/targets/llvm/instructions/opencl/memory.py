"""The functions of OpenCL.std that access memory: vload, vstore, their half forms, prefetch."""

from __future__ import annotations

from coopmat.spirv.analysis.types import FloatType, Type
from coopmat.spirv.module.instruction import Instruction
from coopmat.targets.analysis.conversions import rounding_named
from coopmat.targets.llvm.access import check, moved, offset_pointer
from coopmat.targets.llvm.arithmetic.conversions import to_float
from coopmat.targets.llvm.arithmetic.integers import resized
from coopmat.targets.llvm.emitter import Emitter, Handler
from coopmat.targets.llvm.values import Number, Value, llvm_type

HALF = FloatType(16)


def _vector(emitter: Emitter, offset: int, pointer: int, kind: Type, count: int, *,
            aligned: bool, writing: bool) -> tuple[list[Number], int]:
    """The addresses of a vector's components, and their alignment: 3 take the room of 4 in the aligned forms."""
    unit = (4 if aligned and count == 3 else count) * kind.size
    index = resized(emitter, emitter.number(offset), "i64", signed=True)
    first = offset_pointer(emitter, emitter.number(pointer), index, unit)
    check(emitter, first, count * kind.size, writing=writing)
    return [moved(emitter, first, place * kind.size) for place in range(count)], kind.size


def _loading(*, half: bool = False, aligned: bool = False) -> Handler:
    """vloadn and vload_half forms: (offset, pointer[, n])."""

    def handle(emitter: Emitter, row: Instruction) -> Value:
        kind = emitter.result_type(row)
        stored = HALF if half else kind.scalar
        addresses, alignment = _vector(emitter, row.words[2], row.words[3], stored, kind.count, aligned=aligned,
                                       writing=False)
        found = (emitter.execution.load(address, llvm_type(stored), alignment) for address in addresses)
        return tuple(to_float(emitter, one, HALF, kind.scalar, "rte") if half else one for one in found)

    return handle


def _storing(*, half: bool = False, aligned: bool = False, with_rounding: bool = False) -> Handler:
    """vstoren and vstore_half forms: (data, offset, pointer[, rounding mode])."""

    def handle(emitter: Emitter, row: Instruction) -> None:
        data, offset, pointer, *rest = row.words[2:]
        kind = emitter.type_of(data)
        stored = HALF if half else kind.scalar
        rounding = rounding_named(rest[0]) if with_rounding else "rte"
        addresses, alignment = _vector(emitter, offset, pointer, stored, kind.count, aligned=aligned, writing=True)
        for address, one in zip(addresses, emitter.numbers(data), strict=True):
            value = to_float(emitter, one, kind.scalar, HALF, rounding) if half else one
            emitter.execution.store(address, value, alignment)

    return handle


def _prefetch(emitter: Emitter, row: Instruction) -> None:
    """prefetch: (pointer, number of elements)."""
    pointer, count = row.words[2:4]
    emitter.execution.prefetch(emitter.number(pointer), resized(emitter, emitter.number(count), "i64", signed=False),
                               emitter.pointee(pointer).size)


FUNCTIONS: dict[str, Handler] = {
    "vloadn": _loading(),
    "vload_half": _loading(half=True),
    "vload_halfn": _loading(half=True),
    "vloada_halfn": _loading(half=True, aligned=True),
    "vstoren": _storing(),
    "vstore_half": _storing(half=True),
    "vstore_half_r": _storing(half=True, with_rounding=True),
    "vstore_halfn": _storing(half=True),
    "vstore_halfn_r": _storing(half=True, with_rounding=True),
    "vstorea_halfn": _storing(half=True, aligned=True),
    "vstorea_halfn_r": _storing(half=True, aligned=True, with_rounding=True),
    "prefetch": _prefetch,
}
