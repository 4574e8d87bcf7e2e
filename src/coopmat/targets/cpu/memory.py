"""Variables, loads, stores, access chains, copies.

A variable of a function whose address goes nowhere lives in stack slots, one for each of its numbers or one array of
them; LLVM makes registers of the slots. Others lie in memory, each work-item's behind that of the one before it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from coopmat.diagnostics import Error, ValidationError
from coopmat.spirv.grammar import MemoryAccess, MemorySemantics, Op, StorageClass
from coopmat.spirv.instruction import Instruction
from coopmat.spirv.types import (
    ArrayType,
    BoolType,
    MatrixType,
    StructType,
    Type,
    VectorType,
    contains_matrix,
    round_up,
)
from coopmat.targets.cpu.access import load_number, load_value, offset_pointer, store_number, store_value
from coopmat.targets.cpu.emitter import CHAINS, Emitter, Handler
from coopmat.targets.cpu.integers import resized
from coopmat.targets.cpu.values import (
    UNIFORM,
    VARYING,
    Leaf,
    LeafType,
    Matrix,
    Number,
    Value,
    bits_of,
    leaf_count,
    leaves_of,
    llvm_type,
    part_of,
)

LIFETIMES = frozenset({Op.LifetimeStart, Op.LifetimeStop})
MEMORIES = {StorageClass.Workgroup: MemorySemantics.WorkgroupMemory,
            StorageClass.CrossWorkgroup: MemorySemantics.CrossWorkgroupMemory}
MOST_MEMORY = 1 << 24  # bytes that the variables of one sub-group may take


@dataclass(frozen=True)
class Place:
    """A part of a variable in slots.

    key: the variable's. whole: its type. kind: the part's type. first: the number of the part's first leaf, to which
    run-time indices are added: ids, each with the leaves that it counts. component: of a matrix, the id of a
    component's number. is_array: the leaves lie in one array, as an index chooses among them.
    """

    key: object
    whole: Type
    kind: Type
    first: int = 0
    indices: tuple[tuple[int, int], ...] = ()
    component: int | None = None
    is_array: bool = False


# --------------------------------------------------------------------------------------
# Which variables live in slots
# --------------------------------------------------------------------------------------


class Users:
    """What uses the pointers of a kernel, and so which variables need no address."""

    def __init__(self, emitter: Emitter) -> None:
        self.emitter = emitter
        self.users: dict[int, list[Instruction]] = {}
        for block in emitter.flat.blocks:
            for row in block.instructions:
                for used in set(row.ids()):
                    self.users.setdefault(used, []).append(row)

    def fits_slots(self, variable: int, kind: Type) -> bool:
        """Whether a variable of type ``kind`` needs no address. One whose members differ has none for a run-time index;
        with matrices in it, though, it cannot lie in memory either."""
        return self.stays(variable, kind) and (is_homogeneous(kind) or contains_matrix(kind)
                                               or not self.is_array(variable, kind))

    def stays(self, pointer: int, kind: Type) -> bool:
        """Whether every use of a pointer to ``kind`` is one that slots can serve."""
        return all(self._is_served(row, pointer, kind) for row in self.users.get(pointer, ()))

    def is_array(self, pointer: int, kind: Type) -> bool:
        """Whether a run-time index chooses among the leaves."""
        for row in self.users.get(pointer, ()):
            if row.opcode in CHAINS:
                constants = [self.emitter.constant_of(word) for word in row.words[CHAINS[Op(row.opcode)]:]]
                target: Type | None = kind
                for index in constants:
                    if index is None and not isinstance(target, MatrixType):
                        return True
                    target = None if target is None else _member(target, index or 0)
                assert row.result_id is not None
                if target is not None and self.is_array(row.result_id, target):
                    return True
        return False

    def is_written(self, pointer: int) -> bool:
        """Whether something is stored through a pointer or one derived from it."""
        return any((row.opcode in (Op.Store, Op.CopyMemory) and row.words[0] == pointer)
                   or (row.opcode in CHAINS and self.is_written(row.result_id or 0))
                   for row in self.users.get(pointer, ()))

    def _is_served(self, row: Instruction, pointer: int, kind: Type) -> bool:
        words = row.words
        if row.opcode == Op.Load or row.opcode in LIFETIMES or row.opcode == Op.CopyMemory:
            return True
        if row.opcode == Op.Store:
            return words[1] != pointer
        if row.opcode == Op.Bitcast:
            return all(user.opcode in LIFETIMES for user in self.users.get(row.result_id or 0, ()))
        if row.opcode in CHAINS and words[0] == pointer and pointer not in words[1:]:
            target = self._target(row, kind)
            return target is not None and self.stays(row.result_id or 0, target)
        return False

    def _target(self, row: Instruction, kind: Type) -> Type | None:
        first = CHAINS[Op(row.opcode)]
        if first == 2 and self.emitter.constant_of(row.words[1]) != 0:
            return None
        target: Type | None = kind
        for word in row.words[first:]:
            index = self.emitter.constant_of(word)
            if target is None or (index is None and not contains_matrix(target) and not is_homogeneous(target)):
                return None
            target = _member(target, index or 0)
        return target


def is_homogeneous(kind: Type) -> bool:
    """Whether all leaves of a type are alike."""
    if isinstance(kind, ArrayType):
        return is_homogeneous(kind.element)
    if isinstance(kind, StructType):
        return len({_leaf(member) for member in kind.members}) == 1 and all(map(is_homogeneous, kind.members))
    return True


def _leaf(kind: Type) -> Type | None:
    while isinstance(kind, ArrayType | VectorType):
        kind = kind.element if isinstance(kind, ArrayType) else kind.component
    return kind if not isinstance(kind, StructType) else _leaf(kind.members[0]) if kind.members else None


def _member(kind: Type, index: int) -> Type | None:
    if isinstance(kind, StructType):
        return kind.members[index] if 0 <= index < len(kind.members) else None
    if isinstance(kind, ArrayType):
        return kind.element
    if isinstance(kind, VectorType | MatrixType):
        return kind.scalar
    return None


# --------------------------------------------------------------------------------------
# Variables
# --------------------------------------------------------------------------------------


def users_of(emitter: Emitter) -> Users:
    """The uses of the kernel's pointers, found once."""
    found = emitter.flat.__dict__.get("users")
    if found is None:
        found = emitter.flat.__dict__["users"] = Users(emitter)
    found.emitter = emitter
    return found


def places_of(emitter: Emitter) -> dict[int, Place]:
    """The places that pointers are known to point to."""
    found: dict[int, Place] = emitter.extra.setdefault("places", {})
    return found


def variable(emitter: Emitter, row: Instruction) -> Value | None:
    """OpVariable: slots, or memory."""
    storage = row.words[0]
    if storage == StorageClass.Function:
        return _function_variable(emitter, row)
    return emitter.extra["module variable"](emitter, row)


def _function_variable(emitter: Emitter, row: Instruction) -> Value | None:
    assert row.result_id is not None
    kind, users = emitter.pointee(row.result_id), users_of(emitter)
    if users.fits_slots(row.result_id, kind):
        place = place_for(emitter, row.result_id, kind)
        initial = emitter.value(row.words[1]) if len(row.words) > 1 else None
        if initial is None and place.is_array and not contains_matrix(kind):
            _clear(emitter, place)
        elif initial is not None or not contains_matrix(kind):
            write_place(emitter, place, initial if initial is not None else zero_value(emitter, kind))
        return None
    if contains_matrix(kind):
        raise Error("a cooperative matrix has no address: the pointer to a variable that holds one may only be used by "
                    "loads, stores and access chains")
    pointer = private_memory(emitter, kind)
    initial = emitter.value(row.words[1]) if len(row.words) > 1 else zero_value(emitter, kind)
    store_value(emitter, pointer, initial, kind, kind.alignment)
    return (pointer,)


def _clear(emitter: Emitter, place: Place) -> None:
    """Set an array to zero; a work-item that is not here has no use for it yet."""
    slot, llvm, varies = _array_slot(emitter, place)
    scalar = llvm.removesuffix(">").split(" x ")[-1]
    nbytes = leaf_count(place.whole) * (bits_of(scalar) // 8) * (emitter.size if varies else 1)
    emitter.writer.call("void", "llvm.memset.p0.i64", [("ptr", slot), ("i8", "0"), ("i64", str(nbytes)),
                                                       ("i1", "false")])


def place_for(emitter: Emitter, identifier: int, kind: Type) -> Place:
    """The place of a variable in slots."""
    is_array = users_of(emitter).is_array(identifier, kind)
    if is_array and not is_homogeneous(kind):
        raise Error("a run-time index into a structure of several types with cooperative matrices is not possible; "
                    "give the matrices an array of their own")
    place = places_of(emitter)[identifier] = Place(("variable", identifier), kind, kind, is_array=is_array)
    return place


def private_memory(emitter: Emitter, kind: Type) -> Number:
    """Memory of each work-item, zero at the start; the pointer to it."""
    stride = round_up(max(kind.size, 1), kind.alignment)
    total = stride * emitter.size
    used = emitter.extra["memory"] = emitter.extra.get("memory", 0) + total
    if used > MOST_MEMORY:
        raise Error(f"the variables of a sub-group take more than {MOST_MEMORY >> 20} MiB")
    slot = emitter.writer.slot(f"[{total} x i8]", align=64)
    return Number("ptr", slot, stride)


def zero_value(emitter: Emitter, kind: Type) -> Value:
    """The value of a type whose bits are all zero."""
    from coopmat.targets.cpu.matrix.operations import zero_matrix
    from coopmat.targets.cpu.values import zero_of

    return tuple(Matrix(leaf.kind, zero_matrix(emitter, leaf.kind)) if isinstance(leaf.kind, MatrixType)
                 else Number(llvm_type(leaf.kind), zero_of(llvm_type(leaf.kind))) for leaf in leaves_of(kind))


# --------------------------------------------------------------------------------------
# Places
# --------------------------------------------------------------------------------------


def read_place(emitter: Emitter, place: Place) -> Value:
    """The value at a place."""
    if place.component is not None:
        from coopmat.targets.cpu.matrix.operations import extract_component

        return (extract_component(emitter, _matrix_at(emitter, place), _component(emitter, place.component)),)
    kinds = leaves_of(place.kind)
    if place.indices and not place.is_array:  # a built-in input
        whole = [leaf for leaf in read_place(emitter, replace(place, kind=place.whole, first=0, indices=()))
                 if isinstance(leaf, Number)]
        return tuple(choose(emitter, whole, _element(emitter, place, number)) for number in range(len(kinds)))
    if not place.is_array:
        return tuple(emitter._load_slot((place.key, place.first + number), one.kind)
                     for number, one in enumerate(kinds))
    return tuple(_read_element(emitter, place, number, one) for number, one in enumerate(kinds))


def choose(emitter: Emitter, numbers: Sequence[Number], index: Number) -> Number:
    """The number of a run-time index; of one out of range, any."""
    if index.is_uniform and index.base.isdigit():
        return numbers[min(int(index.base), len(numbers) - 1)]
    result = numbers[0]
    for place, one in enumerate(numbers[1:], 1):
        here = emitter.apply("icmp eq {t} {0}, {1}", "i1", index, emitter.constant(index.type, place))
        result = emitter.select(here, one, result)
    return result


def write_place(emitter: Emitter, place: Place, value: Value) -> None:
    """Replace the value at a place, for the work-items that are here."""
    mask = emitter.mask
    if place.component is not None:
        from coopmat.targets.cpu.matrix.operations import insert_component

        matrix = _matrix_at(emitter, place)
        assert isinstance(value[0], Number)
        changed = insert_component(emitter, matrix, _component(emitter, place.component), value[0])
        write_place(emitter, replace(place, component=None), (changed,))
        return
    for number, leaf in enumerate(value):
        if not place.is_array:
            emitter._store_slot((place.key, place.first + number), leaf, mask)
        else:
            _write_element(emitter, place, number, leaf, leaves_of(place.kind)[number])


def _matrix_at(emitter: Emitter, place: Place) -> Matrix:
    found = read_place(emitter, replace(place, component=None))[0]
    assert isinstance(found, Matrix)
    return found


def _component(emitter: Emitter, word: int) -> Number:
    return resized(emitter, emitter.number(word), "i32", signed=False)


def _array_slot(emitter: Emitter, place: Place) -> tuple[str, str, bool]:
    """The slot of a variable whose leaves an index chooses among, the type of a leaf there, and whether it varies."""
    leaf = leaves_of(place.whole)[0].kind
    count = leaf_count(place.whole)
    if isinstance(leaf, MatrixType):
        from coopmat.targets.cpu.matrix.operations import slot_type

        llvm, varies = slot_type(leaf), False
    else:
        shape = emitter.known.shapes.get(place.key, UNIFORM)
        varies = shape != UNIFORM
        scalar = "i8" if isinstance(leaf, BoolType) else llvm_type(leaf)
        llvm = emitter.vector(scalar) if varies else scalar
    if place.key not in emitter.slots:
        emitter.slots[place.key] = emitter.writer.slot(f"[{count} x {llvm}]", align=64)
    return emitter.slots[place.key], llvm, varies


def _element(emitter: Emitter, place: Place, number: int) -> Number:
    """The number of a leaf among those of the variable, brought into range."""
    first = emitter.constant("i64", place.first + number)
    if not place.indices:
        return first
    index = first
    for word, leaves in place.indices:
        own = resized(emitter, emitter.number(word), "i64", signed=True)
        scaled = emitter.apply("mul {t} {0}, {1}", "i64", own, emitter.constant("i64", leaves))
        index = emitter.apply("add {t} {0}, {1}", "i64", index, scaled)
    return emitter.intrinsic("umin", "i64", index, emitter.constant("i64", leaf_count(place.whole) - 1))


def _read_element(emitter: Emitter, place: Place, number: int, leaf: LeafType) -> Leaf:
    slot, llvm, varies = _array_slot(emitter, place)
    index = _element(emitter, place, number)
    writer = emitter.writer
    if isinstance(leaf.kind, MatrixType):
        address = writer.let(f"getelementptr {llvm}, ptr {slot}, i64 {_one_index(emitter, index)}")
        return Matrix(leaf.kind, writer.let(f"load {emitter.matrix_type(leaf.kind)}, ptr {address}"))
    scalar = "i8" if isinstance(leaf.kind, BoolType) else llvm_type(leaf.kind)
    if index.is_uniform:
        address = writer.let(f"getelementptr {llvm}, ptr {slot}, i64 {index.base}")
        text = writer.let(f"load {llvm}, ptr {address}")
        found = emitter.varying(scalar, text) if varies else Number(scalar, text)
    else:
        found = load_number(emitter, _lane_address(emitter, slot, scalar, index, varies), scalar, 1)
    return emitter.apply("trunc {t} {0} to {r}", "i1", found) if isinstance(leaf.kind, BoolType) else found


def _write_element(emitter: Emitter, place: Place, number: int, value: Leaf, leaf: LeafType) -> None:
    writer = emitter.writer
    index = _element(emitter, place, number)
    if isinstance(value, Matrix):
        slot, llvm, _ = _array_slot(emitter, place)
        address = writer.let(f"getelementptr {llvm}, ptr {slot}, i64 {_one_index(emitter, index)}")
        writer.do(f"store {emitter.matrix_type(value.kind)} {value.text}, ptr {address}")
        return
    is_split = emitter.mask is not None and emitter.mask != emitter.whole_mask
    emitter.known.join(place.key, UNIFORM if value.is_uniform and index.is_uniform and not is_split else VARYING)
    slot, llvm, varies = _array_slot(emitter, place)
    if isinstance(leaf.kind, BoolType):
        value = emitter.apply("zext {t} {0} to {r}", "i8", value)
    if not varies:
        address = writer.let(f"getelementptr {llvm}, ptr {slot}, i64 {index.base}")
        writer.do(f"store {llvm} {value.base}, ptr {address}")
    elif index.is_uniform:
        address = writer.let(f"getelementptr {llvm}, ptr {slot}, i64 {index.base}")
        emitter.store_masked(value, address, emitter.mask)
    else:
        store_number(emitter, _lane_address(emitter, slot, value.type, index, varies), value, 1)


def _one_index(emitter: Emitter, index: Number) -> str:
    """The index of a matrix: all work-items have the same."""
    return index.base if index.is_uniform else emitter.lane_of(index, emitter.first_lane())


def _lane_address(emitter: Emitter, slot: str, scalar: str, index: Number, varies: bool) -> Number:
    """The address of each work-item's own number under its own index."""
    size = bits_of(scalar) // 8
    if varies:
        index = emitter.apply("mul {t} {0}, {1}", "i64", index, emitter.constant("i64", emitter.size))
        index = emitter.apply("add {t} {0}, {1}", "i64", index, emitter.lane_number("i64"))
    return offset_pointer(emitter, Number("ptr", slot), index, size)


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
        return read_place(emitter, place)
    kind = emitter.pointee(pointer)
    return load_value(emitter, emitter.number(pointer), kind, alignment_of(operands, kind),
                      volatile=_is_volatile(operands))


def write(emitter: Emitter, pointer: int, value: Value, operands: Sequence[int] = ()) -> None:
    """Store a value where a pointer points."""
    place = find_place(emitter, pointer)
    if place is not None:
        if _is_input(place):
            name = emitter.module.names.get(pointer) or f"%{pointer}"
            raise ValidationError("store-input", f"'{name}' is a built-in input, which cannot be written")
        write_place(emitter, place, value)
        return
    kind = emitter.pointee(pointer)
    store_value(emitter, emitter.number(pointer), value, kind, alignment_of(operands, kind),
                volatile=_is_volatile(operands))


def _is_input(place: Place) -> bool:
    return isinstance(place.key, tuple) and place.key[0] == "input"


def find_place(emitter: Emitter, pointer: int) -> Place | None:
    """The place that a pointer is known to point to; built-in inputs are places, too."""
    found = places_of(emitter).get(pointer)
    if found is None:
        row = emitter.flat.definition(pointer)
        if row.opcode == Op.Variable and row.words[0] == StorageClass.Input:
            found = places_of(emitter)[pointer] = emitter.extra["input"](emitter, row)
    return found


def _load(emitter: Emitter, row: Instruction) -> Value:
    return read(emitter, row.words[0], row.words[1:])


def _store(emitter: Emitter, row: Instruction) -> None:
    write(emitter, row.words[0], emitter.value(row.words[1]), row.words[2:])


def _copy_memory(emitter: Emitter, row: Instruction) -> None:
    target, source, *operands = row.words
    write(emitter, target, read(emitter, source, operands), operands)


def _copy_memory_sized(emitter: Emitter, row: Instruction) -> None:
    """Byte by byte for each work-item, or at once if all copy the same."""
    target, source, size = (emitter.number(word) for word in row.words[:3])
    count = resized(emitter, size, "i64", signed=False)
    writer = emitter.writer
    if target.is_uniform and source.is_uniform and count.is_uniform:
        writer.call("void", "llvm.memmove.p0.p0.i64", [("ptr", target.base), ("ptr", source.base),
                                                       ("i64", count.base), ("i1", "false")])
        return
    for lane in range(emitter.size):
        skip, copy = writer.fresh("skip")[1:], writer.fresh("copy")[1:]
        here = writer.let(f"extractelement {emitter.mask_type} {emitter.mask_text}, i32 {lane}")
        writer.do(f"br i1 {here}, label %{copy}, label %{skip}")
        writer.label(copy)
        writer.call("void", "llvm.memmove.p0.p0.i64", [
            *(("ptr", emitter.lane_of(one, str(lane))) for one in (target, source)),
            ("i64", emitter.lane_of(count, str(lane))), ("i1", "false")])
        writer.do(f"br label %{skip}")
        writer.label(skip)


def _size_of(emitter: Emitter, row: Instruction) -> Value:
    """OpSizeOf: the bytes of what a pointer points to."""
    return (emitter.constant(llvm_type(emitter.result_type(row)), emitter.pointee(row.words[0]).size),)


def _memory_semantics(emitter: Emitter, row: Instruction) -> Value:
    """OpGenericPtrMemSemantics: which memory a generic pointer points to; none for private memory and null."""
    pointer, llvm = emitter.number(row.words[0]), llvm_type(emitter.result_type(row))
    found = emitter.constant(llvm, 0)
    for storage, semantics in MEMORIES.items():
        is_there = emitter.extra["is in storage"](emitter, pointer, storage)
        found = emitter.select(is_there, emitter.constant(llvm, int(semantics)), found)
    is_null = emitter.apply("icmp eq {t} {0}, {1}", "i1", pointer, emitter.constant("ptr", 0))
    return (emitter.select(is_null, emitter.constant(llvm, 0), found),)


def _chain(emitter: Emitter, row: Instruction) -> Value | None:
    place = find_place(emitter, row.words[0])
    first = CHAINS[Op(row.opcode)]
    if place is not None:
        assert row.result_id is not None
        for word in row.words[first:]:
            place = _step(emitter, place, word)
        places_of(emitter)[row.result_id] = place
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
    member = _member(kind, 0)
    if member is None:
        raise ValidationError("access-chain-index", f"there is nothing to index in a value of type {kind}", row.offset)
    stride = kind.stride if isinstance(kind, ArrayType) else kind.scalar.size
    return _moved_by(emitter, pointer, word, stride), member


def _step(emitter: Emitter, place: Place, word: int) -> Place:
    """The part of a place that an index leads to."""
    index = emitter.constant_of(word)
    kind = place.kind
    if isinstance(kind, MatrixType):
        return replace(place, component=word)
    if isinstance(kind, StructType) and (index is None or not 0 <= index < len(kind.members)):
        raise ValidationError("access-chain-index", f"the index into a {kind} must be a constant below "
                              f"{len(kind.members)}")
    if index is None:
        part, _ = part_of(kind, 0)
        return replace(place, kind=part, indices=(*place.indices, (word, leaf_count(part))))
    part, leaves = part_of(kind, index)
    return replace(place, kind=part, first=place.first + leaves)


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
