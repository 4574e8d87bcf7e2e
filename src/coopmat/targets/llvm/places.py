"""Variables in slots: which these are, and how their parts are read and written.

A variable of a function whose address goes nowhere lives in stack slots, one for each of its numbers or one array of
them; LLVM makes registers of the slots.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from coopmat.diagnostics import Error
from coopmat.spirv.analysis.types import ArrayType, BoolType, MatrixType, StructType, Type, VectorType
from coopmat.spirv.module.instruction import Instruction
from coopmat.targets.analysis.pointer_uses import is_homogeneous, users_of
from coopmat.targets.cpu.loops import for_each_value
from coopmat.targets.llvm.access import load_number, offset_pointer, store_number
from coopmat.targets.llvm.emitter import Emitter
from coopmat.targets.llvm.instructions.integers import resized
from coopmat.targets.llvm.values import (
    UNIFORM,
    VARYING,
    Leaf,
    LeafType,
    Matrix,
    Number,
    Value,
    bits_of,
    first_leaf,
    leaf_count,
    leaves_of,
    llvm_type,
    part_of,
    zero_of,
)

MOST_MEMORY = 1 << 22  # bytes that the variables of one sub-group may take: a thread's stack has twice that


@dataclass(frozen=True)
class Place:
    """A part of a variable in slots.

    key: the variable's. whole: its type. kind: the part's type. first: the number of the part's first leaf, to which
    run-time indices are added: ids, each with the leaves that it counts and the number of elements that there are (0:
    those of the whole variable). component: of a matrix, the id of a component's number. is_array: the leaves lie in an
    array, as an index chooses among them. Where they are of several types, each part of one type has an array of its
    own, for all elements of an array of structures: there are so many ``copies`` of the part, and until it is known
    which part, copies are counted instead of leaves.
    """

    key: object
    whole: Type
    kind: Type
    first: int = 0
    indices: tuple[tuple[int, int, int], ...] = ()
    component: int | None = None
    is_array: bool = False
    copies: int = 1

    @property
    def is_mixed(self) -> bool:
        """Whether leaves of several types lie in several arrays."""
        return self.is_array and not is_homogeneous(self.whole)

    @property
    def count(self) -> int:
        """The leaves, or copies, of the whole."""
        return self.copies if self.is_mixed else self.copies * leaf_count(self.whole)

    @property
    def step(self) -> int:
        """The leaves, or copies, from one such part to the next."""
        return 1 if self.is_mixed else leaf_count(self.kind)


def places_of(emitter: Emitter) -> dict[int, Place]:
    """The places that pointers are known to point to."""
    found: dict[int, Place] = emitter.extra.setdefault("places", {})
    return found


def place_for(emitter: Emitter, identifier: int, kind: Type) -> Place:
    """The place of a variable in slots."""
    is_array = users_of(emitter).is_array(identifier, kind)
    place = places_of(emitter)[identifier] = Place(("variable", identifier), kind, kind, is_array=is_array)
    return place


def part_at(place: Place, index: int) -> Place:
    """A part of a place by a constant index."""
    part, leaves = part_of(place.kind, index)
    return _part_of_copies(place, part, index) if place.is_mixed else replace(
        place, kind=part, first=place.first + leaves)


def _part_of_copies(place: Place, part: Type, index: int) -> Place:
    """An element of an array of structures, which all its members' arrays have; or one of these arrays."""
    is_array = isinstance(place.kind, ArrayType)
    count = length_of(place.kind) if is_array else 1
    leaves = leaf_count(part) if is_homogeneous(part) else 1
    indices = tuple((word, step * count * leaves, length) for word, step, length in place.indices)
    return Place(place.key if is_array else (place.key, index), part, part,
                 (place.first * count + index * is_array) * leaves, indices, is_array=True, copies=place.copies * count)


def part_at_run_time(place: Place, word: int) -> Place:
    """A part of a place by an index that is not known before the kernel runs."""
    return moved_place(part_at(place, 0), word, length_of(place.kind))


def length_of(kind: Type) -> int:
    """The elements that a run-time index chooses among."""
    if isinstance(kind, MatrixType):
        return kind.slice_length
    assert isinstance(kind, ArrayType | VectorType)
    return kind.length


def moved_place(place: Place, word: int, length: int = 0) -> Place:
    """The place so many elements further in an array, one of ``length`` elements if the first is the array's."""
    return replace(place, indices=(*place.indices, (word, place.step, length)))


def place_of_cast(emitter: Emitter, row: Instruction, place: Place) -> None:
    """Note the place of a pointer that was cast: the first member of that type; only lifetime markers use others."""
    wanted = emitter.pointee(row.result_id or 0)
    while place.kind != wanted:
        if not isinstance(place.kind, ArrayType | StructType):
            return
        place = part_at(place, 0)
    places_of(emitter)[row.result_id or 0] = place


def _parts(place: Place) -> list[Place] | None:
    """The parts of a place that have arrays of their own; None if it lies in one array, or in none."""
    if not place.is_mixed:
        return None
    kind = place.kind
    assert isinstance(kind, ArrayType | StructType)
    count = len(kind.members) if isinstance(kind, StructType) else kind.length
    return [part_at(place, index) for index in range(count)]


def clear_array(emitter: Emitter, place: Place) -> None:
    """Set an array to zero; a work-item that is not here has no use for it yet."""
    slot, llvm, varies = _array_slot(emitter, place)
    scalar = llvm.removesuffix(">").split(" x ")[-1]
    clear(emitter, slot, place.count * (bits_of(scalar) // 8) * (emitter.size if varies else 1))


def clear(emitter: Emitter, address: str, nbytes: int) -> None:
    """Set bytes to zero."""
    emitter.writer.call("void", "llvm.memset.p0.i64", [("ptr", address), ("i8", "0"), ("i64", str(nbytes)),
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
        return (_read_component(emitter, place, _component(emitter, place.component)),)
    parts = _parts(place)
    if parts is not None:
        return tuple(leaf for part in parts for leaf in read_place(emitter, part))
    kinds = leaves_of(place.kind)
    if place.indices and not place.is_array:  # a built-in input
        whole = [leaf for leaf in read_place(emitter, replace(place, kind=place.whole, first=0, indices=()))
                 if isinstance(leaf, Number)]
        return tuple(choose(emitter, whole, _element(emitter, place, number)) for number in range(len(kinds)))
    if not place.is_array:
        return tuple(emitter.load_slot((place.key, place.first + number), one.kind)
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
        assert isinstance(value[0], Number)
        _write_component(emitter, place, _component(emitter, place.component), value[0])
        return
    for part in _parts(place) or ():
        write_place(emitter, part, value[:leaf_count(part.kind)])
        value = value[leaf_count(part.kind):]
    for number, leaf in enumerate(value):
        if not place.is_array:
            emitter.store_slot((place.key, place.first + number), leaf, mask)
        else:
            _write_element(emitter, place, number, leaf, leaves_of(place.kind)[number])


def _read_component(emitter: Emitter, place: Place, component: Number) -> Number:
    """A component of each work-item, of the matrix under the work-item's own indices."""
    from coopmat.targets.cpu.matrix.operations import element_type, extract_component

    assert isinstance(place.kind, MatrixType)
    index, kind = _element(emitter, place, 0), place.kind
    if index.is_uniform:
        return extract_component(emitter, _matrix_at(emitter, place, kind, index), component)
    vector = emitter.vector(element_type(kind))
    found = emitter.writer.slot(vector, initial="zeroinitializer")
    for_each_value(emitter, index, lambda one: emitter.store_masked(
        extract_component(emitter, _matrix_at(emitter, place, kind, one), component), found, emitter.mask))
    return emitter.varying(element_type(kind), emitter.writer.let(f"load {vector}, ptr {found}"))


def _write_component(emitter: Emitter, place: Place, component: Number, value: Number) -> None:
    """Replace a component of each work-item, of the matrix under the work-item's own indices."""
    from coopmat.targets.cpu.matrix.operations import insert_component

    assert isinstance(place.kind, MatrixType)
    index, kind = _element(emitter, place, 0), place.kind

    def change(one: Number) -> None:
        matrix = insert_component(emitter, _matrix_at(emitter, place, kind, one), component, value)
        _replace_matrix(emitter, place, one, matrix)

    if index.is_uniform:
        change(index)
    else:
        for_each_value(emitter, index, change)


def _matrix_at(emitter: Emitter, place: Place, kind: MatrixType, index: Number) -> Matrix:
    """A matrix of a variable, the one of this number among its leaves."""
    if place.is_array:
        address = _matrix_address(emitter, place, index)
        return Matrix(kind, emitter.writer.let(f"load {emitter.matrix_type(kind)}, ptr {address}"))
    found = emitter.load_slot((place.key, int(index.base)), kind)
    assert isinstance(found, Matrix)
    return found


def _replace_matrix(emitter: Emitter, place: Place, index: Number, matrix: Matrix) -> None:
    """Store a matrix of a variable, the one of this number among its leaves."""
    if not place.is_array:
        emitter.store_slot((place.key, int(index.base)), matrix, emitter.mask)
        return
    address = _matrix_address(emitter, place, index)
    emitter.writer.do(f"store {emitter.matrix_type(matrix.kind)} {matrix.text}, ptr {address}")


def _matrix_address(emitter: Emitter, place: Place, index: Number) -> str:
    """The address of a matrix in an array: all work-items need the same."""
    slot, llvm, _ = _array_slot(emitter, place)
    text = index.base if index.is_uniform else emitter.lane_of(index, emitter.first_lane())
    return emitter.writer.let(f"getelementptr {llvm}, ptr {slot}, i64 {text}")


def _component(emitter: Emitter, word: int) -> Number:
    return resized(emitter, emitter.number(word), "i32", signed=False)


def reserve_stack(emitter: Emitter, nbytes: int) -> None:
    """Note that so many bytes more are needed on a sub-group's stack. Error if that is too much."""
    used = emitter.extra["memory"] = emitter.extra.get("memory", 0) + nbytes
    if used > MOST_MEMORY:
        raise Error(f"the variables of a sub-group of {emitter.size} work-items take {used} bytes, more than "
                    f"{MOST_MEMORY >> 20} MiB; keep them in global or local memory, use fewer or smaller ones, or "
                    "require smaller sub-groups")


def _array_slot(emitter: Emitter, place: Place) -> tuple[str, str, bool]:
    """The slot of a variable whose leaves an index chooses among, the type of a leaf there, and whether it varies."""
    leaf, count = first_leaf(place.whole), place.count
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


def check_indices(emitter: Emitter, place: Place) -> None:
    """Where accesses are checked, have the run-time indices into a variable in slots checked."""
    bounds = emitter.extra.get("bounds")
    if bounds is None:
        return
    variable = _variable_of(place.key)
    components = () if place.component is None else ((place.component, 1, length_of(place.kind)),)
    for word, _, length in (*place.indices, *components):
        if length:
            bounds.index(resized(emitter, emitter.number(word), "i64", signed=True), length, variable)
    if not all(length for _, _, length in place.indices):
        bounds.index(_leaf_number(emitter, place, 0), place.count - place.step + 1, variable, place.step)


def _variable_of(key: object) -> int:
    """The id of the variable that a place is a part of."""
    while isinstance(key, tuple) and isinstance(key[0], tuple):
        key = key[0]
    assert isinstance(key, tuple)
    identifier: int = key[1]
    return identifier


def _element(emitter: Emitter, place: Place, number: int) -> Number:
    """The number of a leaf among those of the variable, brought into range."""
    index = _leaf_number(emitter, place, number)
    if not place.indices:
        return index
    return emitter.intrinsic("umin", "i64", index, emitter.constant("i64", place.count - 1))


def _leaf_number(emitter: Emitter, place: Place, number: int) -> Number:
    """The number of a leaf among those of the variable, wherever the indices lead."""
    first = emitter.constant("i64", place.first + number)
    if not place.indices:
        return first
    index = first
    for word, leaves, _ in place.indices:
        own = resized(emitter, emitter.number(word), "i64", signed=True)
        scaled = emitter.apply("mul {t} {0}, {1}", "i64", own, emitter.constant("i64", leaves))
        index = emitter.apply("add {t} {0}, {1}", "i64", index, scaled)
    return index


def _read_element(emitter: Emitter, place: Place, number: int, leaf: LeafType) -> Leaf:
    index = _element(emitter, place, number)
    if isinstance(leaf.kind, MatrixType):
        return _matrix_at(emitter, place, leaf.kind, index)
    slot, llvm, varies = _array_slot(emitter, place)
    writer = emitter.writer
    scalar = "i8" if isinstance(leaf.kind, BoolType) else llvm_type(leaf.kind)
    if index.is_uniform:
        address = writer.let(f"getelementptr {llvm}, ptr {slot}, i64 {index.base}")
        text = writer.let(f"load {llvm}, ptr {address}")
        found = emitter.varying(scalar, text) if varies else Number(scalar, text)
    else:
        lane_address = _lane_address(emitter, slot, scalar, index, varies)
        found = load_number(emitter, lane_address, scalar, 1, is_checked=True)
    return emitter.apply("trunc {t} {0} to {r}", "i1", found) if isinstance(leaf.kind, BoolType) else found


def _write_element(emitter: Emitter, place: Place, number: int, value: Leaf, leaf: LeafType) -> None:
    index = _element(emitter, place, number)
    if isinstance(value, Matrix):
        _replace_matrix(emitter, place, index, value)
        return
    is_split = emitter.mask is not None and emitter.mask != emitter.whole_mask
    emitter.known.join(place.key, UNIFORM if value.is_uniform and index.is_uniform and not is_split else VARYING)
    slot, llvm, varies = _array_slot(emitter, place)
    if isinstance(leaf.kind, BoolType):
        value = emitter.apply("zext {t} {0} to {r}", "i8", value)
    writer = emitter.writer
    if not varies:
        address = writer.let(f"getelementptr {llvm}, ptr {slot}, i64 {index.base}")
        writer.do(f"store {llvm} {value.base}, ptr {address}")
    elif index.is_uniform:
        address = writer.let(f"getelementptr {llvm}, ptr {slot}, i64 {index.base}")
        emitter.store_masked(value, address, emitter.mask)
    else:
        store_number(emitter, _lane_address(emitter, slot, value.type, index, varies), value, 1, is_checked=True)


def _lane_address(emitter: Emitter, slot: str, scalar: str, index: Number, varies: bool) -> Number:
    """The address of each work-item's own number under its own index."""
    size = bits_of(scalar) // 8
    if varies:
        index = emitter.apply("mul {t} {0}, {1}", "i64", index, emitter.constant("i64", emitter.size))
        index = emitter.apply("add {t} {0}, {1}", "i64", index, emitter.lane_number("i64"))
    return offset_pointer(emitter, Number("ptr", slot), index, size)
