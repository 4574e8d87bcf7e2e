"""Parts of variables in slots: what a place is, and how indices lead from one to another."""

from __future__ import annotations

from dataclasses import dataclass, replace

from coopmat.spirv.analysis.types import ArrayType, MatrixType, StructType, Type, VectorType
from coopmat.targets.analysis.leaves import leaf_count, part_of
from coopmat.targets.analysis.pointer_uses import is_homogeneous


@dataclass(frozen=True)
class SlotPlace:
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


def part_at(place: SlotPlace, index: int) -> SlotPlace:
    """A part of a place by a constant index."""
    part, leaves = part_of(place.kind, index)
    return _part_of_copies(place, part, index) if place.is_mixed else replace(
        place, kind=part, first=place.first + leaves)


def _part_of_copies(place: SlotPlace, part: Type, index: int) -> SlotPlace:
    """An element of an array of structures, which all its members' arrays have; or one of these arrays."""
    is_array = isinstance(place.kind, ArrayType)
    count = length_of(place.kind) if is_array else 1
    leaves = leaf_count(part) if is_homogeneous(part) else 1
    indices = tuple((word, step * count * leaves, length) for word, step, length in place.indices)
    return SlotPlace(place.key if is_array else (place.key, index), part, part,
                 (place.first * count + index * is_array) * leaves, indices, is_array=True, copies=place.copies * count)


def part_at_run_time(place: SlotPlace, word: int) -> SlotPlace:
    """A part of a place by an index that is not known before the kernel runs."""
    return moved_place(part_at(place, 0), word, length_of(place.kind))


def length_of(kind: Type) -> int:
    """The elements that a run-time index chooses among."""
    if isinstance(kind, MatrixType):
        return kind.slice_length
    assert isinstance(kind, ArrayType | VectorType)
    return kind.length


def moved_place(place: SlotPlace, word: int, length: int = 0) -> SlotPlace:
    """The place so many elements further in an array, one of ``length`` elements if the first is the array's."""
    return replace(place, indices=(*place.indices, (word, place.step, length)))


def separate_parts(place: SlotPlace) -> list[SlotPlace] | None:
    """The parts of a place that have arrays of their own; None if it lies in one array, or in none."""
    if not place.is_mixed:
        return None
    kind = place.kind
    assert isinstance(kind, ArrayType | StructType)
    count = len(kind.members) if isinstance(kind, StructType) else kind.length
    return [part_at(place, index) for index in range(count)]


def variable_of(key: object) -> int:
    """The id of the variable that a place is a part of."""
    while isinstance(key, tuple) and isinstance(key[0], tuple):
        key = key[0]
    assert isinstance(key, tuple)
    identifier: int = key[1]
    return identifier
