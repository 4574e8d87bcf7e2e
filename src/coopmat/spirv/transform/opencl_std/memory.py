"""What accesses memory, and what moves components: vload, vstore, their half forms, shuffle."""

from __future__ import annotations

from collections.abc import Callable

from coopmat.spirv.grammar import Decoration, MemoryAccess, Op
from coopmat.spirv.module.instruction import Instruction
from coopmat.spirv.transform.opencl_std.code import Code

Handler = Callable[[Code, tuple[int, ...]], list[Instruction]]
"""Takes the operands; gives the instructions that take the place of one."""

_HALF = 16


def _places(code: Code, offset: int, pointer: int, count: int, *, aligned: bool) -> list[int]:
    """Pointers to a vector's components; in the aligned forms 3 take the room of 4."""
    index, kind = code.type_of(offset), code.type_of(pointer)
    unit = 4 if aligned and count == 3 else count
    first = offset if unit == 1 else code.value(Op.IMul, index, offset, code.constant(unit, index))
    found = []
    for place in range(count):
        at = first if place == 0 else code.value(Op.IAdd, index, first, code.constant(place, index))
        found.append(code.value(Op.PtrAccessChain, kind, pointer, at))
    return found


def _alignment(code: Code, pointer: int) -> tuple[int, int]:
    """The memory operands of one component."""
    pointee = code.editor.definition(code.type_of(pointer)).words[1]
    return MemoryAccess.Aligned, code.width(pointee) // 8


def _load(*, half: bool = False, aligned: bool = False) -> Handler:
    def handle(code: Code, operands: tuple[int, ...]) -> list[Instruction]:
        offset, pointer = operands[:2]
        kind = code.row.type_id or 0
        scalar = code.scalar(kind)
        stored = code.float(_HALF) if half else scalar
        values = [code.value(Op.Load, stored, place, *_alignment(code, pointer))
                  for place in _places(code, offset, pointer, code.count(kind), aligned=aligned)]
        found = code.together(values)
        if stored != scalar:
            found = code.value(Op.FConvert, kind, found)
        return code.named(found)

    return handle


def _store(*, half: bool = False, aligned: bool = False) -> Handler:
    def handle(code: Code, operands: tuple[int, ...]) -> list[Instruction]:
        data, offset, pointer, *mode = operands
        kind = code.type_of(data)
        if half and code.width(kind) != _HALF:
            data = code.value(Op.FConvert, code.like(code.float(_HALF), code.count(kind)), data)
            if mode:
                code.editor.decorate(data, Decoration.FPRoundingMode, mode[0])
        for place, pointed in enumerate(_places(code, offset, pointer, code.count(kind), aligned=aligned)):
            code.do(Op.Store, pointed, code.component(data, place), *_alignment(code, pointer))
        return code.rows

    return handle


def _prefetch(code: Code, operands: tuple[int, ...]) -> list[Instruction]:
    return []


def _shuffle(code: Code, operands: tuple[int, ...]) -> list[Instruction]:
    """shuffle and shuffle2: each component by the low bits of the mask's."""
    *vectors, mask = operands
    kind, index = code.type_of(vectors[0]), code.scalar(code.type_of(mask))
    size, scalar, boolean = code.count(kind), code.scalar(kind), code.boolean(1)
    found = []
    for place in range(code.count(code.type_of(mask))):
        wanted = code.component(mask, place)
        within = code.value(Op.BitwiseAnd, index, wanted, code.constant(size - 1, index))
        parts = [code.value(Op.VectorExtractDynamic, scalar, vector, within) for vector in vectors]
        if len(parts) > 1:
            second = code.value(Op.BitwiseAnd, index, wanted, code.constant(size, index))
            is_first = code.value(Op.IEqual, boolean, second, code.constant(0, index))
            parts = [code.value(Op.Select, scalar, is_first, *parts)]
        found += parts
    return code.named(code.together(found))


HANDLERS: dict[str, Handler] = {
    "vloadn": _load(), "vload_half": _load(half=True), "vload_halfn": _load(half=True),
    "vloada_halfn": _load(half=True, aligned=True),
    "vstoren": _store(), "vstore_half": _store(half=True), "vstore_half_r": _store(half=True),
    "vstore_halfn": _store(half=True), "vstore_halfn_r": _store(half=True),
    "vstorea_halfn": _store(half=True, aligned=True), "vstorea_halfn_r": _store(half=True, aligned=True),
    "prefetch": _prefetch, "shuffle": _shuffle, "shuffle2": _shuffle,
}
