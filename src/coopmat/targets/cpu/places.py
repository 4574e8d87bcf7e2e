"""Variables in slots: which these are, and how their parts are read and written.

A variable of a function whose address goes nowhere lives in stack slots, one for each of its numbers or one array of
them; LLVM makes registers of the slots.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from coopmat.diagnostics import Error
from coopmat.spirv.grammar import Op
from coopmat.spirv.instruction import Instruction
from coopmat.spirv.types import ArrayType, BoolType, MatrixType, StructType, Type, VectorType, contains_matrix
from coopmat.targets.cpu.access import load_number, offset_pointer, store_number
from coopmat.targets.cpu.emitter import CHAINS, Emitter
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
    zero_of,
)

MOST_MEMORY = 1 << 22  # bytes that the variables of one sub-group may take: a thread's stack has twice that
LIFETIMES = frozenset({Op.LifetimeStart, Op.LifetimeStop})


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
                    target = None if target is None else member_type(target, index or 0)
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
            target = member_type(target, index or 0)
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


def member_type(kind: Type, index: int) -> Type | None:
    """The type of a member; None where there is none."""
    if isinstance(kind, StructType):
        return kind.members[index] if 0 <= index < len(kind.members) else None
    if isinstance(kind, ArrayType):
        return kind.element
    if isinstance(kind, VectorType | MatrixType):
        return kind.scalar
    return None


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


def place_for(emitter: Emitter, identifier: int, kind: Type) -> Place:
    """The place of a variable in slots."""
    is_array = users_of(emitter).is_array(identifier, kind)
    if is_array and not is_homogeneous(kind):
        raise Error("a run-time index into a structure of several types with cooperative matrices is not possible; "
                    "give the matrices an array of their own")
    place = places_of(emitter)[identifier] = Place(("variable", identifier), kind, kind, is_array=is_array)
    return place


def clear_array(emitter: Emitter, place: Place) -> None:
    """Set an array to zero; a work-item that is not here has no use for it yet."""
    slot, llvm, varies = _array_slot(emitter, place)
    scalar = llvm.removesuffix(">").split(" x ")[-1]
    nbytes = leaf_count(place.whole) * (bits_of(scalar) // 8) * (emitter.size if varies else 1)
    emitter.writer.call("void", "llvm.memset.p0.i64", [("ptr", slot), ("i8", "0"), ("i64", str(nbytes)),
                                                       ("i1", "false")])


def zero_value(emitter: Emitter, kind: Type) -> Value:
    """The value of a type whose bits are all zero."""
    from coopmat.targets.cpu.matrix.operations import zero_matrix

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


def reserve_stack(emitter: Emitter, nbytes: int) -> None:
    """Note that so many bytes more are needed on a sub-group's stack. Error if that is too much."""
    used = emitter.extra["memory"] = emitter.extra.get("memory", 0) + nbytes
    if used > MOST_MEMORY:
        raise Error(f"the variables of a sub-group of {emitter.size} work-items take {used} bytes, more than "
                    f"{MOST_MEMORY >> 20} MiB; keep them in global or local memory, or require smaller sub-groups")


def _array_slot(emitter: Emitter, place: Place) -> tuple[str, str, bool]:
    """The slot of a variable whose leaves an index chooses among, the type of a leaf there, and whether it varies."""
    leaf = leaves_of(place.whole)[0].kind
    count = leaf_count(place.whole)
    if isinstance(leaf, MatrixType):
        from coopmat.targets.cpu.matrix.operations import slot_type

        llvm, varies, size = slot_type(leaf), False, leaf.rows * leaf.columns * leaf.component.size
    else:
        shape = emitter.known.shapes.get(place.key, UNIFORM)
        varies = shape != UNIFORM
        scalar = "i8" if isinstance(leaf, BoolType) else llvm_type(leaf)
        llvm = emitter.vector(scalar) if varies else scalar
        size = bits_of(scalar) // 8 * (emitter.size if varies else 1)
    if place.key not in emitter.slots:
        reserve_stack(emitter, count * size)
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
