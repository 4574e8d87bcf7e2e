"""How LLVM lays out what holds cooperative matrices, of which each takes eight bytes, and what lies where."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from coopmat.spirv.analysis.types import round_up
from coopmat.spirv.edit.editor import Editor
from coopmat.spirv.grammar import Decoration, Op
from coopmat.support.cached import cached_property

MATRIX_BYTES = 8
_OPAQUE = (Op.TypeCooperativeMatrixKHR, Op.TypePointer, Op.TypeEvent)  # as large as a pointer


@dataclass(frozen=True)
class Sum:
    """A number, and ids of integers with what each is multiplied by."""

    number: int = 0
    terms: tuple[tuple[int, int], ...] = ()

    def __add__(self, other: Sum) -> Sum:
        """Terms stay apart, as one may choose an element of an array, and another one, with the same index, in it."""
        return Sum(self.number + other.number, (*self.terms, *other.terms))

    def times(self, factor: int) -> Sum:
        """The sum, multiplied."""
        return Sum(self.number * factor, tuple((identifier, old * factor) for identifier, old in self.terms))

    def divided(self, size: int) -> tuple[Sum, Sum]:
        """The whole multiples of ``size`` in the sum, and what is left of it."""
        whole, rest = divmod(self.number, size)
        return (Sum(whole, tuple((i, factor // size) for i, factor in self.terms if not factor % size)),
                Sum(rest, tuple((i, factor) for i, factor in self.terms if factor % size)))


NOTHING = Sum()


@dataclass(frozen=True)
class Move:
    """One part of a way through memory: an index into what is there, or, if ``is_step``, so many elements on."""

    count: Sum
    is_step: bool = False


Way = tuple[Move, ...]
Accepts = Callable[[int], bool]
"""Whether a type is the one that is looked for."""


class Layout:
    """Where the parts of a module's types lie, in bytes."""

    def __init__(self, editor: Editor) -> None:
        self._editor = editor
        self._known: dict[int, tuple[int, int]] = {}

    def size(self, type_id: int) -> int:
        """The bytes from one value of a type to the next in an array."""
        return self._size_and_alignment(type_id)[0]

    def offsets(self, type_id: int) -> list[int]:
        """The offsets of a structure's members."""
        end, found = 0, []
        for member in self._editor.definition(type_id).words:
            size, alignment = self._size_and_alignment(member)
            found.append(end if type_id in self._packed else round_up(end, alignment))
            end = found[-1] + size
        return found

    def holds_matrix(self, type_id: int) -> bool:
        """Whether a type is a cooperative matrix, or has one in it."""
        type_ = self._editor.definition(type_id)
        match type_.opcode:
            case Op.TypeArray:
                return self.holds_matrix(type_.words[0])
            case Op.TypeStruct:
                return any(map(self.holds_matrix, type_.words))
        return type_.opcode == Op.TypeCooperativeMatrixKHR

    def way(self, type_id: int, distance: Sum, accepts: Accepts) -> tuple[Way, int] | None:
        """The way to the part that lies so many bytes behind the start of a value of a type, and that part's type,
        which is the first that is looked for; None if there is none."""
        if distance == NOTHING and accepts(type_id):
            return (), type_id
        match self._editor.definition(type_id).opcode:
            case Op.TypeArray | Op.TypeVector:
                return self._way_to_element(type_id, distance, accepts)
            case Op.TypeStruct:
                return self._way_to_member(type_id, distance, accepts)
        return None

    def _way_to_element(self, type_id: int, distance: Sum, accepts: Accepts) -> tuple[Way, int] | None:
        """A distance in arrays of arrays that is computed counts from the first element of all: the indices that it
        was made of are not known."""
        element, depth = self._editor.definition(type_id).words[0], 1
        while distance.terms and self._editor.definition(element).opcode == Op.TypeArray:
            element, depth = self._editor.definition(element).words[0], depth + 1
        index, rest = distance.divided(max(self.size(element), 1))
        if not index.terms and depth == 1 and not 0 <= index.number < self._length(type_id):
            return None
        found = self.way(element, rest, accepts)
        if found is None:
            return None
        first = (Move(index),) if depth == 1 else (*[Move(NOTHING)] * depth, Move(index, is_step=True))
        return (*first, *found[0]), found[1]

    def _way_to_member(self, type_id: int, distance: Sum, accepts: Accepts) -> tuple[Way, int] | None:
        """The member to which the constant part of the distance leads; where that does not fit, the only one that
        does, as what is to be added may be negative. What is added must not be more than there is of the member."""
        words = self._editor.definition(type_id).words
        members = [one for one in enumerate(zip(words, self.offsets(type_id), strict=True))
                   if all(abs(factor) < self.size(one[1][0]) for _, factor in distance.terms)]
        there = [one for one in members if 0 <= distance.number - one[1][1] < self.size(one[1][0])]
        for candidates in (there, members if distance.terms else []):
            found = [((Move(Sum(index)), *inner[0]), inner[1]) for index, (member, offset) in candidates
                     if (inner := self.way(member, distance + Sum(-offset), accepts)) is not None]
            if len(found) == 1:
                return found[0]
        return None

    def part(self, type_id: int, move: Move) -> int:
        """The type of what a move of a way leads to."""
        type_ = self._editor.definition(type_id)
        if move.is_step:
            return type_id
        return type_.words[move.count.number if type_.opcode == Op.TypeStruct else 0]

    def _length(self, type_id: int) -> int:
        type_ = self._editor.definition(type_id)
        return type_.words[1] if type_.opcode == Op.TypeVector else self._editor.integer(type_.words[1]) or 0

    @cached_property
    def _packed(self) -> set[int]:
        return {item.words[0] for item in self._editor.head
                if item.opcode == Op.Decorate and item.words[1] == Decoration.CPacked}

    def _size_and_alignment(self, type_id: int) -> tuple[int, int]:
        if type_id not in self._known:
            self._known[type_id] = self._measured(type_id)
        return self._known[type_id]

    def _measured(self, type_id: int) -> tuple[int, int]:
        type_ = self._editor.definition(type_id)
        match type_.opcode:
            case Op.TypeInt | Op.TypeFloat:
                size = max(type_.words[0] // 8, 1)
                return size, size
            case Op.TypeVector:
                size = self.size(type_.words[0]) * (4 if type_.words[1] == 3 else type_.words[1])
                return size, size
            case Op.TypeArray:
                size, alignment = self._size_and_alignment(type_.words[0])
                return size * self._length(type_id), alignment
            case Op.TypeStruct:
                alignments = [self._size_and_alignment(member)[1] for member in type_.words]
                alignment = 1 if type_id in self._packed else max(alignments, default=1)
                end = self.offsets(type_id)[-1] + self.size(type_.words[-1]) if type_.words else 0
                return round_up(end, alignment), alignment
        return (MATRIX_BYTES, MATRIX_BYTES) if type_.opcode in _OPAQUE else (1, 1)
