"""What a kernel does with pointers to its variables, and so which variables need no address."""

from __future__ import annotations

from collections.abc import Callable

from coopmat.spirv.analysis.blocks_2d import PRIVATE_OF_BLOCK
from coopmat.spirv.analysis.types import (
    ArrayType,
    FloatType,
    IntType,
    MatrixType,
    StructType,
    Type,
    VectorType,
    contains_matrix,
)
from coopmat.spirv.grammar import CHAINS, LIFETIMES, POINTER_CASTS, Op
from coopmat.spirv.module.instruction import Instruction
from coopmat.targets.analysis.blocks_2d import block_held
from coopmat.targets.analysis.flatten import Flat
from coopmat.targets.analysis.leaves import is_large, part_of


class PointerUses:
    """What uses the values of a kernel, and so which of its variables need no address.

    in_memory: whether matrices of a type must lie in memory where components of them are accessed one by one.
    most_of_block: how many elements of a 2D block a work-item may have in slots.
    """

    def __init__(self, flat: Flat, in_memory: Callable[[MatrixType], bool] = lambda kind: False,
                 most_of_block: int = 0) -> None:
        self.flat = flat
        self.in_memory = in_memory
        self.most_of_block = most_of_block
        self.users: dict[int, list[Instruction]] = {}
        for block in flat.blocks:
            for row in block.instructions:
                for used in set(row.ids()):
                    self.users.setdefault(used, []).append(row)

    def stays(self, pointer: int, kind: Type, *, in_array: bool = False, room: int = 0) -> bool:
        """Whether every use of a pointer to ``kind``, which may be an array's element, is one that slots can serve.
        ``room``: so many numbers there are in an array or a vector from here on, if that is known."""
        return all(self._is_served(row, pointer, kind, in_array) or self._takes_block(row, pointer, kind, room)
                   for row in self.users.get(pointer, ()))

    def is_array(self, pointer: int, kind: Type) -> bool:
        """Whether a run-time index chooses among the leaves."""
        for row in self.users.get(pointer, ()):
            if row.opcode in POINTER_CASTS:
                target = self._cast(row, kind)
                if target is not None and self.is_array(row.result_id or 0, target):
                    return True
            if row.opcode in CHAINS:
                if CHAINS[Op(row.opcode)] == 2 and self.flat.constant_of(row.words[1]) != 0:
                    return True
                constants = [self.flat.constant_of(word) for word in row.words[CHAINS[Op(row.opcode)]:]]
                target = kind
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

    def _is_served(self, row: Instruction, pointer: int, kind: Type, in_array: bool) -> bool:
        words = row.words
        if row.opcode == Op.CopyMemory:
            return not is_large(kind)
        if row.opcode == Op.Load or row.opcode in LIFETIMES:
            return True
        if row.opcode == Op.Store:
            return words[1] != pointer
        if row.opcode in POINTER_CASTS:
            if all(user.opcode in LIFETIMES for user in self.users.get(row.result_id or 0, ())):
                return True
            if isinstance(kind, VectorType) and self.flat.pointee(row.result_id or 0) == kind.scalar:
                return all(user.opcode in LIFETIMES or self._takes_block(
                    user, row.result_id or 0, kind.scalar, kind.length) for user in self.users[row.result_id or 0])
            if not contains_matrix(kind):
                return False
            cast = self._cast(row, kind)
            return cast is not None and self.stays(row.result_id or 0, cast, in_array=in_array or cast != kind)
        if row.opcode in CHAINS and words[0] == pointer and pointer not in words[1:]:
            target = self._target(row, kind, in_array)
            return target is not None and self.stays(
                row.result_id or 0, target, in_array=in_array or len(words) > CHAINS[Op(row.opcode)],
                room=0 if in_array else self._room(row, kind))
        return False

    def _room(self, row: Instruction, kind: Type) -> int:
        """How many numbers a chain into an array, or a vector, leaves from its element on; 0: that is not known."""
        if row.opcode not in (Op.AccessChain, Op.InBoundsAccessChain) or not isinstance(kind, ArrayType | VectorType):
            return 0
        for _ in row.words[1:-1]:
            inner = member_type(kind, 0)
            if not isinstance(inner, ArrayType | VectorType):
                return 0
            kind = inner
        index = self.flat.constant_of(row.words[-1])
        return 0 if index is None else max(0, kind.length - index)

    def _takes_block(self, row: Instruction, pointer: int, kind: Type, room: int) -> bool:
        """Whether an instruction moves a 2D block from or to the numbers that begin at a pointer."""
        place = PRIVATE_OF_BLOCK.get(row.opcode)
        if isinstance(kind, ArrayType | VectorType):
            room = kind.length
            kind = member_type(kind, 0) or kind
        if place is None or not isinstance(kind, IntType | FloatType) or list(row.words).count(pointer) != 1:
            return False
        held = block_held(self.flat, row)
        if row.words[place] != pointer or held is None or held.elements.row.shape[1] > self.most_of_block:
            return False
        return 0 < held.numbers(kind.size) <= room

    def _cast(self, row: Instruction, kind: Type) -> Type | None:
        """What a copy of a pointer to ``kind``, or a cast one, points to: the same, or the first of its members."""
        wanted, found = self.flat.pointee(row.result_id or 0), (kind, 0)
        while found[0] != wanted:
            if not isinstance(found[0], ArrayType | StructType):
                return None
            found = part_of(found[0], 0)
        return wanted

    def _target(self, row: Instruction, kind: Type, in_array: bool) -> Type | None:
        first = CHAINS[Op(row.opcode)]
        if first == 2 and self.flat.constant_of(row.words[1]) != 0 and not (in_array and contains_matrix(kind)):
            return None
        target: Type | None = kind
        for word in row.words[first:]:
            index = self.flat.constant_of(word)
            if target is None or (index is None and not contains_matrix(target) and not is_homogeneous(target)):
                return None
            if isinstance(target, MatrixType) and self.in_memory(target):
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
