"""Variables, pointers, loads, stores and copies."""

from __future__ import annotations

from coopmat.spirv.analysis.offsets import ELEMENT_FIRST, Step, granularity, steps
from coopmat.spirv.analysis.types import IntType, MatrixType, PointerType, Type, VectorType
from coopmat.spirv.grammar import Op, StorageClass
from coopmat.spirv.module.instruction import Instruction
from coopmat.spirv.transform.to_vulkan.instructions import built_ins, composites
from coopmat.spirv.transform.to_vulkan.memory import MOST_PARTS, Place, flags_of
from coopmat.spirv.transform.to_vulkan.regions import Region, access_alignment
from coopmat.spirv.transform.to_vulkan.translation import NULL_POSITION, Handler, Translation
from coopmat.spirv.transform.to_vulkan.types import U8, U32, U64, UNSIGNED


def _variable(t: Translation, row: Instruction) -> None:
    """Its array has been made; what it holds at first is stored."""
    if len(row.words) > 1:
        _write(t, row.result_id or 0, row.words[1], ())


def _load(t: Translation, row: Instruction) -> None:
    pointer = row.words[0]
    if pointer in t.typed:
        t.writer.op(Op.Load, t.result_type(row), t.typed[pointer], result=t.result(row))
    elif built_ins.is_built_in(t, pointer) and pointer not in t.built_in_parts and built_ins.is_taken_apart(t, row):
        t.built_in_parts[row.result_id or 0] = (pointer, 0)
    elif built_ins.is_built_in(t, pointer):
        t.define(row, built_ins.load(t, pointer, t.result_type(row)))
    else:
        kind = t.result_type(row)
        t.define(row, t.memory.load(kind, _place(t, pointer, kind, row.words[1:])))


def _size_of(t: Translation, row: Instruction) -> None:
    """The bytes of what a pointer points to."""
    t.define(row, t.writer.number(t.table.pointee(t.type_of(row.words[0])).size, t.result_type(row)))


def _extract(t: Translation, row: Instruction) -> None:
    source = row.words[0]
    if source in t.built_in_parts:
        pointer, _ = t.built_in_parts[source]
        t.define(row, built_ins.component(t, pointer, row.words[1], t.result_type(row)))
    else:
        composites.extract(t, row)


def _store(t: Translation, row: Instruction) -> None:
    _write(t, row.words[0], row.words[1], row.words[2:])


def _write(t: Translation, pointer: int, value: int, access: tuple[int, ...]) -> None:
    if pointer in t.typed:
        t.writer.out.emit(Op.Store, t.typed[pointer], t.value(value))
        return
    kind = t.type_of(value)
    t.memory.store(kind, t.value(value), _place(t, pointer, kind, access))


def _place(t: Translation, pointer: int, kind: Type, access: tuple[int, ...]) -> Place:
    alignment = access_alignment(access, t.alignments.get(pointer, kind.alignment))
    return t.place(pointer, alignment, flags_of(access))


def _copy_memory(t: Translation, row: Instruction) -> None:
    target, source, *access = row.words
    kind = t.pointee(target)
    if target in t.typed or source in t.typed:
        value = t.writer.op(Op.Load, kind, t.typed[source])
        t.writer.out.emit(Op.Store, t.typed[target], value)
        return
    value = t.memory.load(kind, _place(t, source, kind, tuple(access)))
    t.memory.store(kind, value, _place(t, target, kind, tuple(access)))


def _copy_sized(t: Translation, row: Instruction) -> None:
    """Bytes, as many at once as the alignment allows."""
    target, source, size, *access = row.words
    count = t.integer_of(size)
    width = min(access_alignment(access, 1), 8)
    places = [_place(t, pointer, U8, tuple(access)) for pointer in (source, target)]
    for one in places:
        width = min(width, one.unit or width)
    if count is None or count > width * MOST_PARTS:
        _copy_by_loop(t, places, size, 1 if count is None else min(width, count & -count))
        return
    done = 0
    while done < count:
        while width > count - done:
            width //= 2
        kind = UNSIGNED[width]
        t.memory.store(kind, t.memory.load(kind, t.memory.moved(places[0], done)), t.memory.moved(places[1], done))
        done += width


def _copy_by_loop(t: Translation, places: list[Place], size: int, width: int) -> None:
    """Integers of ``width`` bytes, one after the other."""
    writer = t.writer
    if any(one.unit > width for one in places):  # where the size is not known, single bytes are
        raise t.refuse("OpCopyMemorySized of single bytes of memory that is not accessed in bytes")
    total = writer.converted(t.value(size), t.type_of(size), U32)
    kind = UNSIGNED[width]

    def moved(place: Place, offset: int) -> Place:
        shift = (place.unit or 1).bit_length() - 1
        steps = writer.op(Op.ShiftRightLogical, U32, offset, writer.integer(shift)) if shift else offset
        position = writer.add(place.type, place.position, writer.converted(steps, U32, place.type))
        return Place(position, width, place.flags, place.array, place.unit, place.storage)

    def element(offset: int) -> None:
        t.memory.store(kind, t.memory.load(kind, moved(places[0], offset)), moved(places[1], offset))

    writer.count(writer.integer(0), total, writer.integer(width), element)


def _chain(t: Translation, row: Instruction) -> None:
    base = row.words[0]
    if base in t.typed:
        _typed_chain(t, row)
        return
    if built_ins.is_built_in(t, base):
        t.built_in_parts[row.result_id or 0] = (base, row.words[1])
        return
    region = t.regions.of(base)
    kind, unit = (U64, 1) if region is None else (U32, region.unit)
    position = t.value(base)
    alignment = t.alignments.get(base)
    for step in steps(t.module, t.table, t.module.definition(base).type_id or 0, row):
        if step.is_packed or alignment is not None:
            alignment = min(alignment or 8, granularity(t.module, step)) if not step.is_packed else 1
        if step.index is None:
            moved = t.writer.integer(step.size // unit, kind)
        else:
            moved = _units(t, step, kind, unit)
        position = t.writer.add(kind, position, moved)
    if alignment is not None:
        t.alignments[row.result_id or 0] = alignment
    t.define(row, position)


def _units(t: Translation, step: Step, kind: IntType, unit: int) -> int:
    """How many units an index moves a position: where it counts parts of a unit, it is a multiple of one."""
    assert step.index is not None
    index = _index(t, step.index, kind)
    if step.size % unit:
        power = step.size & -step.size
        parts = t.writer.multiply(kind, index, t.writer.integer(step.size // power, kind))
        shift = t.writer.integer((unit // power).bit_length() - 1, kind)
        return t.writer.arithmetic(Op.ShiftRightArithmetic, kind, parts, shift)
    return t.writer.multiply(kind, index, t.writer.integer(step.size // unit, kind))


def _index(t: Translation, index: int, kind: IntType) -> int:
    """An index as a number of a position's type; indices are signed."""
    before = t.type_of(index)
    return t.writer.converted(t.value(index), before, kind, signed=True)


def _typed_chain(t: Translation, row: Instruction) -> None:
    indices = list(row.words[1:])
    if row.opcode in ELEMENT_FIRST and t.integer_of(indices.pop(0)) != 0:
        raise t.refuse("a pointer to a variable that holds cooperative matrices is computed with")
    kind = t.pointee(row.result_id or 0)
    pointer = t.writer.out.type_pointer(StorageClass(t.type_of(row.words[0]).storage), t.writer.types(kind))  # type: ignore[attr-defined]
    base = t.typed[row.words[0]]
    t.typed[row.result_id or 0] = base if not indices else t.writer.op(
        Op.AccessChain, pointer, base, *(t.value(index) for index in indices))


def _bitcast(t: Translation, row: Instruction) -> None:
    """Between pointers nothing changes; between a pointer and an integer, a position becomes bytes."""
    source = row.words[0]
    before, after = t.type_of(source), t.result_type(row)
    if source in t.typed:
        t.typed[row.result_id or 0] = t.typed[source]
    elif isinstance(before, PointerType) and isinstance(after, PointerType):
        if source in t.alignments:
            t.alignments[row.result_id or 0] = t.alignments[source]
        t.define(row, t.value(source))
    elif isinstance(before, PointerType):
        number = to_bytes(t, source)
        t.define(row, number if after == U64 else _of_bits(t, number, U64, after))
    elif isinstance(after, PointerType):
        t.define(row, of_bytes(t, row, _of_bits(t, t.value(source), before, U64)))
    else:
        t.define(row, _of_bits(t, t.value(source), before, after))


def _of_bits(t: Translation, value: int, before: Type, after: Type) -> int:
    """Other scalars with the same bits."""
    writer = t.writer
    if before == after:
        return value
    if not _is_long(before) and not _is_long(after):
        return writer.op(Op.Bitcast, after, value)
    unit = min(before.scalar.size, after.scalar.size)
    units = [low for part, kind in _short_parts(t, value, before) for low in writer.units(part, kind, unit)]
    if not _is_long(after):
        return writer.of_units(units, after, unit)
    step = 4 * after.scalar.size // unit
    part = VectorType(after.scalar, 4)
    return writer.construct(after, [writer.of_units(units[i:i + step], part, unit)
                                    for i in range(0, len(units), step)])


def _is_long(kind: Type) -> bool:
    return kind.count > 4


def _short_parts(t: Translation, value: int, kind: Type) -> list[tuple[int, Type]]:
    if not _is_long(kind):
        return [(value, kind)]
    part = VectorType(kind.scalar, 4)
    return [(t.writer.extract(part, value, index), part) for index in range(kind.count // 4)]


def to_bytes(t: Translation, pointer: int) -> int:
    """A pointer as a 64-bit number of bytes."""
    region, value = t.regions.of(pointer), t.value(pointer)
    if region is None:
        return value
    wide = t.writer.converted(value, U32, U64)
    return t.writer.multiply(U64, wide, t.writer.integer(region.unit, U64))


def of_bytes(t: Translation, row: Instruction, number: int) -> int:
    """The pointer that an instruction makes of a 64-bit number of bytes."""
    region = t.regions.of(row.result_id or 0)
    if region is None:
        return number
    shift = region.unit.bit_length() - 1
    if shift:
        number = t.writer.op(Op.ShiftRightLogical, U64, number, t.writer.integer(shift, U64))
    return t.writer.converted(number, U64, U32)


def _to_integer(t: Translation, row: Instruction) -> None:
    t.define(row, t.writer.converted(to_bytes(t, row.words[0]), U64, t.result_type(row)))


def _of_integer(t: Translation, row: Instruction) -> None:
    t.define(row, of_bytes(t, row, t.writer.converted(t.value(row.words[0]), t.type_of(row.words[0]), U64)))


def _copy_object(t: Translation, row: Instruction) -> None:
    if row.words[0] in t.typed:
        t.typed[row.result_id or 0] = t.typed[row.words[0]]
    else:
        t.define(row, t.value(row.words[0]))


def _compare(op: Op) -> Handler:
    def compare(t: Translation, row: Instruction) -> None:
        t.writer.op(op, t.result_type(row), *(t.value(word) for word in row.words), result=t.result(row))
    return compare


def _difference(t: Translation, row: Instruction) -> None:
    """In elements; signed."""
    kind = t.pointee(row.words[0])
    stride = -(-kind.size // kind.alignment) * kind.alignment
    region = t.regions.of(row.words[0])
    number: IntType = U64 if region is None else U32
    bytes_ = t.writer.op(Op.ISub, number, *(t.value(word) for word in row.words))
    bytes_ = t.writer.converted(bytes_, number, U64, signed=True)
    elements = stride // (1 if region is None else region.unit)
    found = bytes_ if elements == 1 else t.writer.op(Op.SDiv, U64, bytes_, t.writer.integer(elements, U64))
    t.define(row, t.writer.converted(found, U64, t.result_type(row)))


def _select_matrix(t: Translation, row: Instruction) -> None:
    """There is no OpSelect of matrices: one of them is stored, and, where the condition holds, the other."""
    condition, yes, no = (t.value(word) for word in row.words)
    kind, out = t.result_type(row), t.writer.out
    chosen = out.local_variable(t.writer.types(kind))
    out.emit(Op.Store, chosen, no)
    with t.writer.if_then(condition):
        out.emit(Op.Store, chosen, yes)
    t.writer.op(Op.Load, kind, chosen, result=t.result(row))


def _select(t: Translation, row: Instruction) -> None:
    if any(word in t.typed for word in row.words[1:]):
        raise t.refuse("one pointer to several variables that hold cooperative matrices")
    if isinstance(t.result_type(row), MatrixType):
        _select_matrix(t, row)
        return
    composites.copied(t, row)


def _nothing(t: Translation, row: Instruction) -> None:
    """What has no meaning in a shader."""


HANDLERS: dict[int, Handler] = {
    Op.Variable: _variable, Op.Load: _load, Op.Store: _store, Op.CopyMemory: _copy_memory,
    Op.CopyMemorySized: _copy_sized, Op.AccessChain: _chain, Op.InBoundsAccessChain: _chain,
    Op.PtrAccessChain: _chain, Op.InBoundsPtrAccessChain: _chain, Op.Bitcast: _bitcast,
    Op.ConvertPtrToU: _to_integer, Op.ConvertUToPtr: _of_integer, Op.CopyObject: _copy_object,
    Op.PtrEqual: _compare(Op.IEqual), Op.PtrNotEqual: _compare(Op.INotEqual), Op.PtrDiff: _difference,
    Op.Select: _select, Op.CompositeExtract: _extract, Op.LifetimeStart: _nothing, Op.LifetimeStop: _nothing,
    Op.Nop: _nothing, Op.AssumeTrueKHR: _nothing, Op.SizeOf: _size_of,
}

__all__ = ["HANDLERS", "NULL_POSITION", "Region", "of_bytes", "to_bytes"]
