"""Of which type a function of elements is, where a loop has components of matrices of several types.

On a device on which matrices of one shape have the same element as component i, whatever their types, ``h[i] =
(half)(c[i] * f)`` is a function of floats and a conversion of the matrix: what is read of matrices of another type must
be converted at once, and what is written to them just before. Otherwise the function is of floats that hold all numbers
of the other types exactly, and makes of them what they were: in ``b[i] = (half)((w[i] - 8) * f)`` integers of 8 bits.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import ml_dtypes
import numpy as np

from coopmat.devices import DeviceDescription
from coopmat.spirv.analysis.types import FLOAT_DTYPES, MatrixType, TypeTable
from coopmat.spirv.edit.functions import FunctionEditor
from coopmat.spirv.grammar import CONVERSIONS, Op
from coopmat.spirv.module.instruction import Instruction
from coopmat.spirv.transform.facts import Facts

DOUBLE_BITS = 64
Place = tuple[int, ...]
"""Where a matrix is: a pointer, and indices of arrays from there."""


@dataclass(frozen=True)
class Conversion:
    """How elements of a matrix become those that a function is of, or the other way round: by an opcode, with
    decorations. back: the opposite, if the function's type only holds them: it has to convert them itself, too."""

    opcode: int
    decorations: tuple[tuple[int, ...], ...] = ()
    back: int = 0


@dataclass
class ElementTypes:
    """The types of a loop. device: on which components are compared, in sub-groups of ``sizes``; None: only those of
    one type are alike. counted: of the matrix whose components are counted; type_id: of those that the function is of;
    kinds: of all matrices, by their places; conversions: of those of another type, how their elements are converted."""

    editor: FunctionEditor
    facts: Facts
    device: DeviceDescription | None
    sizes: Sequence[int] = ()
    counted: int = 0
    type_id: int = 0
    kinds: dict[Place, int] = field(default_factory=dict)
    conversions: dict[Place, Conversion] = field(default_factory=dict)

    @property
    def element(self) -> int:
        """The type of the function's elements."""
        return self._component(self.type_id)

    def _component(self, type_id: int) -> int:
        return self.editor.definition(type_id).words[0]

    def is_alike(self, type_id: int | None) -> bool:
        """Whether a type is that of the matrix whose components are counted, or one whose components are the same
        elements."""
        if type_id is None or type_id == self.counted:
            return type_id is not None
        if self.device is None or self.editor.definition(type_id).opcode != Op.TypeCooperativeMatrixKHR:
            return False
        return all(self._lie_alike(type_id, types) for types in self._tables())

    def has_components(self, count: int) -> bool:
        """Whether a work-item has so many components of the matrix whose components are counted."""
        found = [self._matrix(self.counted, types) for types in self._tables()]
        return bool(found) and all(one.layout.held.row.shape[1] == count for one in found)

    def _tables(self) -> Iterator[TypeTable]:
        """The types of the module in sub-groups of each size on the device."""
        if self.device is not None:
            for size in self.sizes:
                yield TypeTable(self.editor.module, size, self.device.name, work_group_items=size)

    def _matrix(self, type_id: int, types: TypeTable) -> MatrixType:
        kind = types[type_id]
        assert isinstance(kind, MatrixType)
        return kind

    def _lie_alike(self, type_id: int, types: TypeTable) -> bool:
        """Whether each component is the same element of a type as of the one that is counted."""
        known, other = self._matrix(self.counted, types), self._matrix(type_id, types)
        shapes = {(one.rows, one.columns, one.use, one.scope) for one in (known, other)}
        return len(shapes) == 1 and all(map(np.array_equal, known.layout.held, other.layout.held))

    def settle(self, rows: Sequence[Instruction], chains: Mapping[int, Place], read: Collection[Place]) -> bool:
        """Whether a round is a function of elements of one type, but for conversions of those of others; finds which.
        rows: its instructions; chains: pointers to components, and their matrices; read: those whose components count.
        """
        conversions = [row for row in rows if row.opcode in CONVERSIONS]
        accesses = {one: [row for row in rows if row.opcode in (Op.Load, Op.Store) and chains.get(row.words[0]) == one]
                    for one in self.kinds}
        for holds in (False, True):
            for element in dict.fromkeys(self._elements(conversions, holds=holds)):
                found = {one: self._conversion(rows, accesses[one], one in read, element)
                         or (self._held(one, element) if holds else None)
                         for one, kind in self.kinds.items() if self._component(kind) != element}
                if None not in found.values():
                    self.conversions = {one: way for one, way in found.items() if way is not None}
                    self.type_id = self._type_of(element)
                    return True
        return False

    def _elements(self, conversions: Sequence[Instruction], *, holds: bool) -> Iterator[int]:
        """The types that a function may be of, the better ones first; ``holds``: of those that only have to hold all
        elements, what is computed in before the last conversion."""
        own = [self._component(one) for one in self.kinds.values()]
        if holds:
            yield from (self.editor.definition(row.words[0]).type_id or 0 for row in reversed(conversions))
        yield from (*own, *(row.type_id or 0 for row in conversions))
        if holds and self.device is not None and self.device.any_combination and self.device.has_fp64 and all(
                self.editor.definition(one).words[0] < DOUBLE_BITS for one in own):
            yield self.editor.unique(Op.TypeFloat, DOUBLE_BITS)

    def _conversion(self, rows: Sequence[Instruction], accesses: Sequence[Instruction], is_read: bool, element: int
                    ) -> Conversion | None:
        """What converts all that is read of a matrix to a type, or from that all that is written; None if nothing does,
        or not all of it in the same way. accesses: its loads and stores."""
        loads = [row.result_id for row in accesses if row.opcode == Op.Load]
        if loads:
            found = [row for row in rows if any(word in loads for word in row.ids())]
            fits = len(loads) == len(accesses) and all(row.type_id == element for row in found)
        else:
            found = [self.editor.definition(row.words[1]) for row in accesses]
            fits = not is_read and all(self.editor.definition(row.words[0]).type_id == element for row in found
                                       if row.opcode in CONVERSIONS)
        ways = {Conversion(row.opcode, tuple(self.facts.decorated.get(row.result_id or 0, ()))) for row in found}
        is_one = len(ways) == 1 and found[0].opcode in CONVERSIONS
        return ways.pop() if fits and is_one else None

    def _held(self, place: Place, element: int) -> Conversion | None:
        """How a type of floats holds the elements of a matrix; None if it does not hold all of them."""
        own, other = (self.editor.definition(one) for one in (self._component(self.kinds[place]), element))
        if own.opcode == Op.TypeInt:
            is_exact = own.words[0] <= _precision(other)
            return Conversion(Op.ConvertUToF, back=Op.ConvertFToU) if is_exact else None
        is_exact = 0 < _precision(own) < _precision(other) and own.words[0] < other.words[0]
        return Conversion(Op.FConvert, back=Op.FConvert) if is_exact else None

    def _type_of(self, element: int) -> int:
        """The type of matrices like those of the loop, of elements of a type."""
        known = self.editor.definition(self.counted)
        if element == known.words[0]:
            return self.counted
        return self.editor.unique(Op.TypeCooperativeMatrixKHR, element, *known.words[1:])

    def converted(self, like: Instruction, place: Place, matrix: int, type_id: int) -> Instruction:
        """A matrix of a place as one of a type, by an instruction that stands where another one does: before the
        function, or behind it."""
        conversion = self.conversions[place]
        opcode = conversion.opcode if type_id == self.type_id else conversion.back or conversion.opcode
        made = self.editor.add(Instruction(opcode, type_id, self.editor.new_id(), (matrix,), like.offset,
                                           like.context))
        for words in conversion.decorations:
            self.editor.decorate(made.result_id or 0, *words)
        return made


def _precision(kind: Instruction) -> int:
    """The significant bits of a type of floats; 0 of all other types."""
    encoding = kind.words[1] if len(kind.words) > 1 else None
    dtype = FLOAT_DTYPES.get((kind.words[0], encoding)) if kind.opcode == Op.TypeFloat else None
    return 0 if dtype is None else ml_dtypes.finfo(dtype).nmant + 1
