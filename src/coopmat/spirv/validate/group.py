"""All instructions of one operation, their operands as columns."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from coopmat.spirv.grammar import Op
from coopmat.spirv.validate.sections import CONSTANTS
from coopmat.spirv.validate.types import Booleans, Integers, Types

if TYPE_CHECKING:
    from coopmat.spirv.validate.view import ModuleView

_CONSTANT_OPCODES = np.array(sorted(CONSTANTS))


class Group:
    """Instructions of one operation: of one opcode, those that an OpSpecConstantOp carries out included.

    Arrays have one entry per instruction; operand words count from 0.
    """

    def __init__(self, view: ModuleView, opcode: Op, indices: Integers) -> None:
        self.view = view
        self.opcode = opcode
        self.indices = indices
        self.size = view.size[indices]
        self.first = view.start[indices]
        self._smallest = int(self.size.min(initial=0))
        self._largest = int(self.size.max(initial=0))
        self._words: dict[int, Integers] = {}
        self._values: dict[int, Types] = {}
        self._result: Types | None = None

    def __len__(self) -> int:
        return len(self.indices)

    @property
    def result(self) -> Types:
        """The result types."""
        if self._result is None:
            self._result = self.view.types(self.view.type_id[self.indices])
        return self._result

    @property
    def none(self) -> Booleans:
        """False for every instruction."""
        return np.zeros(len(self), bool)

    @property
    def all(self) -> Booleans:
        """True for every instruction."""
        return np.ones(len(self), bool)

    def has(self, place: int) -> Booleans:
        """Whether there is an operand word at this place."""
        return self.size > place

    def word(self, place: int) -> Integers:
        """The operand words at this place; 0 where there is none."""
        found = self._words.get(place)
        if found is None:
            if place < self._smallest:
                found = self.view.words[self.first + place]
            elif place >= self._largest:
                found = np.zeros(len(self), np.int64)
            else:
                at = self.first + np.minimum(place, np.maximum(self.size - 1, 0))
                found = np.where(self.size > place, self.view.words[np.minimum(at, len(self.view.words) - 1)], 0)
            self._words[place] = found
        return found

    def value(self, place: int) -> Types:
        """The types of the values at this place."""
        found = self._values.get(place)
        if found is None:
            found = self._values[place] = self.view.value_types(self.word(place))
        return found

    def type(self, place: int) -> Types:
        """The types named at this place."""
        return self.view.types(self.word(place))

    def definition(self, place: int) -> Integers:
        """The opcodes of the instructions that define the ids at this place; -1 where none does."""
        return self.view.definition_opcode(self.word(place))

    def constant(self, place: int) -> Integers:
        """The integer constants at this place; -1 where it is no such constant."""
        return self.view.constants(self.word(place))

    def is_constant(self, place: int) -> Booleans:
        """Whether the ids at this place are results of constant instructions, specialised or not."""
        return np.isin(self.definition(place), _CONSTANT_OPCODES)

    def take(self, chosen: Booleans) -> Group:
        """Some of the instructions."""
        return Group(self.view, self.opcode, self.indices[chosen])

    def spread(self, chosen: Booleans, values: Booleans) -> Booleans:
        """What is true for some of the chosen instructions, as an array for all."""
        found = np.zeros(len(self), bool)
        found[chosen] = values
        return found

    def by_type(self, types: Types, chosen: Booleans) -> Iterator[tuple[Booleans, str]]:
        """The chosen instructions by one of these types each, and that type as a message says it."""
        for place in np.unique(types.places[chosen]).tolist():
            yield chosen & (types.places == place), f"{{declared{types.table.identifier[place]}}}"

    def only(self, offset: int) -> Booleans:
        """True for one instruction of the group."""
        return np.arange(len(self)) == offset

    def places(self, first: int = 0, step: int = 1) -> range:
        """The places from ``first`` on that at least one instruction has."""
        return range(first, self._largest, step)

    def each(self) -> Iterator[tuple[int, int, int]]:
        """Offset within the group, index in the module and result id of the instructions one by one."""
        return zip(range(len(self)), self.indices.tolist(), self.view.result_id[self.indices].tolist(), strict=True)
