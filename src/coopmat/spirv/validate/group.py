"""All instructions of one opcode, their operands as columns."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from coopmat.spirv.validate.types import Booleans, Integers, Types

if TYPE_CHECKING:
    from coopmat.spirv.validate.view import ModuleView


class Group:
    """Instructions of one opcode.  Arrays have one entry per instruction; operand words count from 0."""

    def __init__(self, view: ModuleView, indices: Integers) -> None:
        self.view = view
        self.indices = indices

    def __len__(self) -> int:
        return len(self.indices)

    @property
    def size(self) -> Integers:
        """The number of operand words."""
        return self.view.size[self.indices]

    @property
    def result(self) -> Types:
        """The result types."""
        return self.view.types(self.view.type_id[self.indices])

    def has(self, place: int) -> Booleans:
        """Whether there is an operand word at this place."""
        return self.size > place

    def word(self, place: int, default: int = 0) -> Integers:
        """The operand words at this place."""
        size = self.size
        at = self.view.start[self.indices] + np.minimum(place, np.maximum(size - 1, 0))
        at = np.minimum(at, max(len(self.view.words) - 1, 0))
        return np.where(size > place, self.view.words[at], default) if len(self.view.words) else \
            np.full(len(self), default)

    def value(self, place: int) -> Types:
        """The types of the values at this place."""
        return self.view.value_types(self.word(place))

    def type(self, place: int) -> Types:
        """The types named at this place."""
        return self.view.types(self.word(place))

    def definition(self, place: int) -> Integers:
        """The opcodes of the instructions that define the ids at this place; -1 where none does."""
        return self.view.definition_opcode(self.word(place))

    def constant(self, place: int) -> Integers:
        """The integer constants at this place; -1 where it is no such constant."""
        return self.view.constants(self.word(place))

    def take(self, chosen: Booleans) -> Group:
        """Some of the instructions."""
        return Group(self.view, self.indices[chosen])

    def spread(self, chosen: Booleans, values: Booleans) -> Booleans:
        """What is true for some of the chosen instructions, as an array for all."""
        found = np.zeros(len(self), bool)
        found[chosen] = values
        return found

    def places(self, first: int = 0, step: int = 1) -> Iterator[int]:
        """The places from ``first`` on that at least one instruction has."""
        return iter(range(first, int(self.size.max(initial=0)), step))
