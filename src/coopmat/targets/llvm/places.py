"""Variables in slots: how their parts are read and written.

A variable of a function whose address goes nowhere lives in stack slots, one for each of its numbers or one array of
them; LLVM makes registers of the slots.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from coopmat.spirv.analysis.types import ArrayType, BoolType, MatrixType, StructType, Type, VectorType
from coopmat.spirv.module.instruction import Instruction
from coopmat.targets.analysis.leaves import LeafType, first_leaf, leaf_count, leaves_of
from coopmat.targets.llvm.access import in_memory
from coopmat.targets.llvm.arithmetic.integers import resized
from coopmat.targets.llvm.emitter import Emitter
from coopmat.targets.llvm.place import SlotPlace, length_of, part_at, separate_parts, variable_of
from coopmat.targets.llvm.values import Leaf, Matrix, Number, Value, llvm_type


def place_for(emitter: Emitter, identifier: int, kind: Type) -> SlotPlace:
    """The place of a variable in slots."""
    is_array = emitter.uses.is_array(identifier, kind)
    place = emitter.places[identifier] = SlotPlace(("variable", identifier), kind, kind, is_array=is_array)
    return place


def place_of_cast(emitter: Emitter, row: Instruction, place: SlotPlace) -> None:
    """Note the place of a pointer that was cast: the first member of that type; only lifetime markers use others."""
    wanted = emitter.pointee(row.result_id or 0)
    while place.kind != wanted:
        if not isinstance(place.kind, ArrayType | StructType | VectorType):
            return
        place = part_at(place, 0)
    emitter.places[row.result_id or 0] = place


def clear_array(emitter: Emitter, place: SlotPlace) -> None:
    """Set an array of numbers to zero."""
    emitter.execution.clear_elements(place.key, place.count, in_memory(first_leaf(place.whole)))


# --------------------------------------------------------------------------------------
# Reading and writing
# --------------------------------------------------------------------------------------


def read_place(emitter: Emitter, place: SlotPlace) -> Value:
    """The value at a place."""
    if place.component is not None:
        return (_read_component(emitter, place, _component(emitter, place.component)),)
    parts = separate_parts(place)
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
    if index.is_single and index.base.isdigit():
        return numbers[min(int(index.base), len(numbers) - 1)]
    result = numbers[0]
    for place, one in enumerate(numbers[1:], 1):
        here = emitter.apply("icmp eq {t} {0}, {1}", "i1", index, emitter.constant(index.type, place))
        result = emitter.select(here, one, result)
    return result


def write_place(emitter: Emitter, place: SlotPlace, value: Value) -> None:
    """Replace the value at a place, for the work-items that are here."""
    if place.component is not None:
        assert isinstance(value[0], Number)
        _write_component(emitter, place, _component(emitter, place.component), value[0])
        return
    for part in separate_parts(place) or ():
        write_place(emitter, part, value[:leaf_count(part.kind)])
        value = value[leaf_count(part.kind):]
    for number, leaf in enumerate(value):
        if not place.is_array:
            emitter.store_slot((place.key, place.first + number), leaf)
        else:
            _write_element(emitter, place, number, leaf, leaves_of(place.kind)[number])


def _read_element(emitter: Emitter, place: SlotPlace, number: int, leaf: LeafType) -> Leaf:
    index = _element(emitter, place, number)
    if isinstance(leaf.kind, MatrixType):
        return _matrix_at(emitter, place, leaf.kind, index)
    found = emitter.execution.load_element(place.key, place.count, in_memory(leaf.kind), index)
    return emitter.apply("trunc {t} {0} to {r}", "i1", found) if isinstance(leaf.kind, BoolType) else found


def _write_element(emitter: Emitter, place: SlotPlace, number: int, value: Leaf, leaf: LeafType) -> None:
    index = _element(emitter, place, number)
    if isinstance(value, Matrix):
        _replace_matrix(emitter, place, index, value)
        return
    if isinstance(leaf.kind, BoolType):
        value = emitter.apply("zext {t} {0} to {r}", "i8", value)
    emitter.execution.store_element(place.key, place.count, index, value)


# --------------------------------------------------------------------------------------
# Matrices
# --------------------------------------------------------------------------------------


def _read_component(emitter: Emitter, place: SlotPlace, component: Number) -> Number:
    """A component of each work-item, of the matrix under the work-item's own indices."""
    kind = place.kind
    assert isinstance(kind, MatrixType)
    index, matrices = _element(emitter, place, 0), emitter.matrices
    if _is_joint(emitter, place, index):
        return matrices.extract(_matrix_at(emitter, place, kind, index), component)
    return emitter.execution.by_value(index, llvm_type(kind.component), lambda one: matrices.extract(
        _matrix_at(emitter, place, kind, one), component))


def _write_component(emitter: Emitter, place: SlotPlace, component: Number, value: Number) -> None:
    """Replace a component of each work-item, of the matrix under the work-item's own indices."""
    kind = place.kind
    assert isinstance(kind, MatrixType)
    index = _element(emitter, place, 0)

    def change(one: Number) -> None:
        matrix = emitter.matrices.insert(_matrix_at(emitter, place, kind, one), component, value)
        _replace_matrix(emitter, place, one, matrix)

    if _is_joint(emitter, place, index):
        change(index)
    else:
        emitter.execution.each_value(index, change)


def _is_joint(emitter: Emitter, place: SlotPlace, index: Number) -> bool:
    """Whether all work-items mean the same matrix of a variable; outside of arrays the index is a literal."""
    return not place.is_array or emitter.execution.is_joint(index)


def _matrix_at(emitter: Emitter, place: SlotPlace, kind: MatrixType, index: Number) -> Matrix:
    """A matrix of a variable, the one of this number among its leaves."""
    if place.is_array:
        return emitter.matrices.load_element(place.key, place.count, kind, index)
    return emitter.matrices.load_slot((place.key, int(index.base)), kind)


def _replace_matrix(emitter: Emitter, place: SlotPlace, index: Number, matrix: Matrix) -> None:
    """Store a matrix of a variable, the one of this number among its leaves."""
    if place.is_array:
        emitter.matrices.store_element(place.key, place.count, matrix, index)
    else:
        emitter.matrices.store_slot((place.key, int(index.base)), matrix)


# --------------------------------------------------------------------------------------
# Indices
# --------------------------------------------------------------------------------------


def _component(emitter: Emitter, word: int) -> Number:
    return resized(emitter, emitter.number(word), "i32", signed=False)


def check_indices(emitter: Emitter, place: SlotPlace) -> None:
    """Where accesses are checked, have the run-time indices into a variable in slots checked."""
    checks = emitter.checks
    if checks is None:
        return
    variable = variable_of(place.key)
    components = () if place.component is None else ((place.component, 1, length_of(place.kind)),)
    for word, _, length in (*place.indices, *components):
        if length:
            checks.index(resized(emitter, emitter.number(word), "i64", signed=True), length, variable)
    if not all(length for _, _, length in place.indices):
        checks.index(_leaf_number(emitter, place, 0), place.count - place.step + 1, variable, place.step)


def _element(emitter: Emitter, place: SlotPlace, number: int) -> Number:
    """The number of a leaf among those of the variable, brought into range."""
    index = _leaf_number(emitter, place, number)
    if not place.indices:
        return index
    return emitter.intrinsic("umin", "i64", index, emitter.constant("i64", place.count - 1))


def _leaf_number(emitter: Emitter, place: SlotPlace, number: int) -> Number:
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
