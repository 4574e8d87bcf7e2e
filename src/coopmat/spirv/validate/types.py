"""The types of a module as arrays, so that a rule compares the types of thousands of instructions at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coopmat.spirv.grammar import Op
from coopmat.spirv.instruction import Instruction

Integers = NDArray[np.int64]
Booleans = NDArray[np.bool_]

NO_ENCODING = -1
"""Encoding of a float type in an IEEE 754 format."""

TYPES = frozenset(op for op in Op if op.spelling.startswith("Type") and op != Op.TypeForwardPointer)
"""The instructions that declare a type."""

_SCALARS = (Op.TypeInt, Op.TypeFloat, Op.TypeBool)
_POINTERS = (Op.TypePointer, Op.TypeUntypedPointerKHR)


class TypeRow(NamedTuple):
    """One type.  ``element`` is the position of the component, element, pointee, member-0 or result type.

    ``length`` is the number of components, elements (0: not known) or members; of a cooperative matrix's
    operands, scope, rows, columns and use, the ids stand in the instruction.
    """

    kind: int = 0
    width: int = 0
    signed: int = 0
    encoding: int = NO_ENCODING
    length: int = 0
    element: int = 0
    storage: int = -1
    identifier: int = 0


class TypeTable:
    """All types of a module; position 0 stands for "no type"."""

    def __init__(self) -> None:
        self.rows: list[TypeRow] = [TypeRow()]
        self.instructions: list[Instruction | None] = [None]
        self.position: dict[int, int] = {}

    def add(self, item: Instruction, constant: Callable[[int], int | None]) -> None:
        """Take in the declaration of a type; ``constant`` gives the value of an integer constant's id."""
        assert item.result_id is not None
        self.position[item.result_id] = len(self.rows)
        self.rows.append(self._row(item, constant))
        self.instructions.append(item)

    def _row(self, item: Instruction, constant: Callable[[int], int | None]) -> TypeRow:
        words, place = item.words, self.position.get
        assert item.result_id is not None
        row = TypeRow(kind=item.opcode, identifier=item.result_id)
        match item.opcode:
            case Op.TypeInt:
                return row._replace(width=words[0], signed=words[1])
            case Op.TypeFloat:
                return row._replace(width=words[0], encoding=words[1] if len(words) > 1 else NO_ENCODING)
            case Op.TypeVector | Op.TypeMatrix:
                return row._replace(element=place(words[0], 0), length=words[1])
            case Op.TypeArray:
                return row._replace(element=place(words[0], 0), length=constant(words[1]) or 0)
            case Op.TypeRuntimeArray | Op.TypeCooperativeMatrixKHR:
                return row._replace(element=place(words[0], 0))
            case Op.TypeStruct:
                return row._replace(length=len(words), element=place(words[0], 0) if words else 0)
            case Op.TypePointer:
                return row._replace(storage=words[0], element=place(words[1], 0))
            case Op.TypeUntypedPointerKHR:
                return row._replace(storage=words[0])
            case Op.TypeFunction:
                return row._replace(length=len(words) - 1, element=place(words[0], 0))
        return row

    def arrays(self) -> TypeArrays:
        """The table's columns."""
        columns = np.array(self.rows, np.int64).reshape(len(self.rows), len(TypeRow._fields)).T
        return TypeArrays(*columns)


class TypeArrays(NamedTuple):
    """The columns of a :class:`TypeTable`."""

    kind: Integers
    width: Integers
    signed: Integers
    encoding: Integers
    length: Integers
    element: Integers
    storage: Integers
    identifier: Integers


class Types:
    """The types of several things, one position of the type table each; ``==`` compares them one by one."""

    __slots__ = ("places", "table")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, table: TypeArrays, places: Integers) -> None:
        self.table = table
        self.places = places

    def __eq__(self, other: object) -> Booleans:  # type: ignore[override]
        assert isinstance(other, Types)
        return self.places == other.places

    def __ne__(self, other: object) -> Booleans:  # type: ignore[override]
        assert isinstance(other, Types)
        return self.places != other.places

    @property
    def known(self) -> Booleans:
        """Whether there is a type."""
        return self.places != 0

    @property
    def kind(self) -> Integers:
        """The opcode of the declaration; 0 for no type."""
        return self.table.kind[self.places]

    @property
    def width(self) -> Integers:
        """Bits of an integer or float type, else 0."""
        return self.table.width[self.places]

    @property
    def signed(self) -> Integers:
        """Signedness of an integer type, else 0."""
        return self.table.signed[self.places]

    @property
    def encoding(self) -> Integers:
        """FP encoding of a float type, or NO_ENCODING."""
        return self.table.encoding[self.places]

    @property
    def storage(self) -> Integers:
        """Storage class of a pointer type, else -1."""
        return self.table.storage[self.places]

    @property
    def length(self) -> Integers:
        """Components of a vector, columns of a matrix, elements of an array (0: unknown), members of a structure."""
        return self.table.length[self.places]

    @property
    def element(self) -> Types:
        """Component, element, pointee or result type."""
        return Types(self.table, self.table.element[self.places])

    @property
    def scalar(self) -> Types:
        """The type itself, or the component type of a vector or cooperative matrix."""
        inner = self.is_kind(Op.TypeVector, Op.TypeCooperativeMatrixKHR)
        return Types(self.table, np.where(inner, self.table.element[self.places], self.places))

    @property
    def components(self) -> Integers:
        """1 for what is no vector, else its number of components."""
        return np.where(self.is_kind(Op.TypeVector), self.length, 1)

    def is_kind(self, *kinds: Op) -> Booleans:
        """Whether the declaration is one of these."""
        kind = self.kind
        found = kind == int(kinds[0])
        for other in kinds[1:]:
            found |= kind == int(other)
        return found

    @property
    def is_scalar(self) -> Booleans:
        """A boolean, integer or float."""
        return self.is_kind(*_SCALARS)

    @property
    def is_pointer(self) -> Booleans:
        """A pointer, typed or not."""
        return self.is_kind(*_POINTERS)

    @property
    def is_matrix(self) -> Booleans:
        """A cooperative matrix."""
        return self.is_kind(Op.TypeCooperativeMatrixKHR)

    def scalars_of(self, *kinds: Op) -> Booleans:
        """A scalar or vector whose component is one of these (cooperative matrices excluded)."""
        return self.scalar.is_kind(*kinds) & ~self.is_matrix
