"""The types of a module as arrays, so that a rule compares the types of thousands of instructions at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coopmat.spirv.grammar import Op
from coopmat.spirv.module.instruction import Instruction

Integers = NDArray[np.int64]
Booleans = NDArray[np.bool_]

NO_ENCODING = -1
"""Encoding of a float type in an IEEE 754 format."""

TYPES = frozenset(op for op in Op if op.spelling.startswith("Type")
                  and op not in (Op.TypeForwardPointer, Op.TypeStructContinuedINTEL))
"""The instructions that declare a type."""

NUMBERS = (Op.TypeInt, Op.TypeFloat)
SCALARS = (Op.TypeInt, Op.TypeFloat, Op.TypeBool)
POINTERS = (Op.TypePointer, Op.TypeUntypedPointerKHR)
AGGREGATES = (Op.TypeArray, Op.TypeRuntimeArray, Op.TypeStruct)
_WITH_COMPONENTS = (Op.TypeVector, Op.TypeCooperativeMatrixKHR)


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


class TypeRows:
    """All types of a module; position 0 stands for "no type"."""

    def __init__(self) -> None:
        self.rows: list[TypeRow] = [TypeRow()]
        self.instructions: list[Instruction | None] = [None]
        self.position: dict[int, int] = {}
        self._unresolved: list[tuple[int, int]] = []

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
                return row._replace(element=place(words[0], 0), length=min(constant(words[1]) or 0, 1 << 62))
            case Op.TypeRuntimeArray | Op.TypeCooperativeMatrixKHR | Op.TypeSampledImage:
                return row._replace(element=place(words[0], 0))
            case Op.TypeStruct:
                return row._replace(length=len(words), element=place(words[0], 0) if words else 0)
            case Op.TypePointer:
                if words[1] not in self.position:
                    self._unresolved.append((len(self.rows), words[1]))
                return row._replace(storage=words[0], element=place(words[1], 0))
            case Op.TypeUntypedPointerKHR:
                return row._replace(storage=words[0])
            case Op.TypeFunction:
                return row._replace(length=len(words) - 1, element=place(words[0], 0))
        return row

    def columns(self) -> TypeColumns:
        """The table as columns."""
        for place, pointee in self._unresolved:  # a pointer may be declared before what it points to
            self.rows[place] = self.rows[place]._replace(element=self.position.get(pointee, 0))
        return TypeColumns(np.array(self.rows, np.int64).reshape(len(self.rows), len(TypeRow._fields)).T)


class TypeColumns:
    """The columns of a :class:`TypeRows`, and what follows from them for each type."""

    def __init__(self, columns: Integers) -> None:
        self.kind, self.width, self.signed, self.encoding, self.length, self.element, self.storage, self.identifier \
            = columns
        self._masks: dict[tuple[int, ...], Booleans] = {}
        vectors = self.mask((Op.TypeVector,))
        self.scalar = np.where(self.mask(_WITH_COMPONENTS), self.element, np.arange(len(self.kind)))
        self.components = np.where(vectors, self.length, 1)
        self._scalar_masks: dict[tuple[int, ...], Booleans] = {}

    def mask(self, kinds: tuple[int, ...]) -> Booleans:
        """For each type, whether it is one of these."""
        found = self._masks.get(kinds)
        if found is None:
            found = self._masks[kinds] = np.isin(self.kind, [int(kind) for kind in kinds])
        return found

    def scalar_mask(self, kinds: tuple[int, ...]) -> Booleans:
        """For each type, whether it is one of these scalars or a vector of them."""
        found = self._scalar_masks.get(kinds)
        if found is None:
            found = self.mask(kinds)[self.scalar] & ~self.mask((Op.TypeCooperativeMatrixKHR,))
            self._scalar_masks[kinds] = found
        return found


class Types:
    """The types of several things, one position of the type table each; ``==`` compares them one by one."""

    __slots__ = ("places", "table")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, table: TypeColumns, places: Integers) -> None:
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
        return Types(self.table, self.table.scalar[self.places])

    @property
    def components(self) -> Integers:
        """1 for what is no vector, else its number of components."""
        return self.table.components[self.places]

    @property
    def bits(self) -> Integers:
        """All bits of a number or a vector of numbers, else 0."""
        return self.components * self.scalar.width

    def is_kind(self, *kinds: Op) -> Booleans:
        """Whether the declaration is one of these."""
        return self.table.mask(kinds)[self.places]

    def is_vector(self, *kinds: Op) -> Booleans:
        """Whether this is a vector of one of these scalars."""
        return self.is_kind(Op.TypeVector) & self.table.mask(kinds)[self.table.scalar[self.places]]

    def scalars_of(self, *kinds: Op) -> Booleans:
        """A scalar or vector whose component is one of these (cooperative matrices excluded)."""
        return self.table.scalar_mask(kinds)[self.places]

    def is_int(self, *widths: int) -> Booleans:
        """An integer, of one of these widths if some are given."""
        found = self.is_kind(Op.TypeInt)
        return found & np.isin(self.width, widths) if widths else found

    @property
    def is_scalar(self) -> Booleans:
        """A boolean, integer or float."""
        return self.is_kind(*SCALARS)

    @property
    def is_pointer(self) -> Booleans:
        """A pointer, typed or not."""
        return self.is_kind(*POINTERS)

    @property
    def is_matrix(self) -> Booleans:
        """A cooperative matrix."""
        return self.is_kind(Op.TypeCooperativeMatrixKHR)

    def in_storage(self, *classes: int) -> Booleans:
        """A pointer to one of these storage classes."""
        return np.isin(self.table.storage, classes)[self.places]
