"""The instructions of a module as arrays: one entry per instruction, one per id, one per use of an id.

Python looks at every instruction once, to fill the arrays; rules then work on whole arrays.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from operator import attrgetter
from typing import NamedTuple

import numpy as np

from coopmat.diagnostics import ValidationError
from coopmat.spirv.grammar import Capability, Op, instruction, requirements
from coopmat.spirv.module.content import Content
from coopmat.spirv.module.instruction import Instruction
from coopmat.spirv.validate.forms import Form, forms
from coopmat.spirv.validate.roles import role
from coopmat.spirv.validate.types import Integers
from coopmat.support.cached import cached_property

MAX_ID = 0x3FFFFF
"""The largest id that the specification's universal limits ask for (2.17)."""

_NOTHING = Instruction(Op.Nop, None, None, (0,) * 8)
"""What stands for the definition of an unknown id; its words are ids that are unknown, too."""

_FOREIGN = frozenset(op for op in Op if Capability.GraphARM in requirements(op).capabilities)
"""Instructions of graphs, which stand beside functions."""


class Uses(NamedTuple):
    """Uses of ids: the instruction, the place among its operand words, the id, and the role that it must have."""

    at: Integers
    place: Integers
    ids: Integers
    role: Integers


class ModuleArrays:
    """A module as arrays.

    Per instruction, in order: ``opcode``, ``type_id`` and ``result_id`` (0: none), ``word_start`` and
    ``word_count`` of its operand words in ``words``, and ``broken``, set for those about which nothing more can be
    said.  An OpSpecConstantOp also counts as the instruction that it carries out: ``operation``, ``start`` and
    ``size`` are that one's opcode and operand words.  Per id: ``defined_by``, the index of the instruction whose
    result it is (-1: none).
    """

    def __init__(self, module: Content) -> None:
        items = module.instructions
        self.module = module
        self.items: list[Instruction] = items
        n = len(items)
        self.opcode = np.fromiter(map(attrgetter("opcode"), items), np.int64, n)
        self.type_id = np.array([item.type_id or 0 for item in items], np.int64)
        self.result_id = np.array([item.result_id or 0 for item in items], np.int64)
        words = [item.words for item in items]
        self.word_count = np.fromiter(map(len, words), np.int64, n)
        self.word_start = np.cumsum(self.word_count) - self.word_count
        self.words = np.array(list(chain.from_iterable(words)), np.int64)
        self.operation, self.start, self.size = self._operations()
        self.broken = np.zeros(n, bool)
        self.defined_by = self._definitions()

    def __len__(self) -> int:
        return len(self.items)

    def _operations(self) -> tuple[Integers, Integers, Integers]:
        """Opcode, start and number of operand words, those within OpSpecConstantOp put in its place."""
        inside = np.flatnonzero((self.opcode == Op.SpecConstantOp) & (self.word_count > 0))
        if not len(inside):
            return self.opcode, self.word_start, self.word_count
        operation, start, size = self.opcode.copy(), self.word_start.copy(), self.word_count.copy()
        operation[inside] = self.words[start[inside]]
        start[inside] += 1
        size[inside] -= 1
        return operation, start, size

    def _definitions(self) -> Integers:
        largest = int(self.result_id.max(initial=0))
        if largest > MAX_ID:
            at = int(self.result_id.argmax())
            raise ValidationError("id-bound", f"{self.items[at].name} has result id {largest}; ids above {MAX_ID} "
                                  "are beyond the universal limits", self.items[at].offset)
        found = np.full(largest + 2, -1)
        defining = np.flatnonzero(self.result_id)
        found[self.result_id[defining[::-1]]] = defining[::-1]
        return found

    @cached_property
    def by_opcode(self) -> dict[int, Integers]:
        """Operation → the indices of the instructions."""
        order = np.argsort(self.operation, kind="stable")
        parts = np.split(order, np.flatnonzero(np.diff(self.operation[order])) + 1)
        return {int(self.operation[part[0]]): part for part in parts if len(part)}

    def indices(self, *opcodes: Op) -> list[int]:
        """The indices of the instructions with one of these opcodes, in order, those that are not broken."""
        parts = [self.by_opcode[op] for op in opcodes if op in self.by_opcode]
        if not parts:
            return []
        found = np.sort(np.concatenate(parts)) if len(parts) > 1 else parts[0]
        return found[~self.broken[found]].tolist()

    def of_opcode(self, *opcodes: Op) -> Iterator[tuple[int, Instruction]]:
        """Index and instruction of those with one of these opcodes, in order, those that are not broken."""
        return ((i, self.items[i]) for i in self.indices(*opcodes) if self.opcode[i] == self.operation[i])

    def name_of(self, index: int) -> str:
        """The instruction's name."""
        row = instruction(int(self.opcode[index]))
        return row.name if row is not None else f"Op{self.opcode[index]}"

    # -- ids -------------------------------------------------------------------------

    def definition_of(self, ids: Integers) -> Integers:
        """The indices of the instructions that define these ids; -1 where none does."""
        return self.defined_by[np.minimum(ids, len(self.defined_by) - 1)]

    @cached_property
    def _opcode_of_id(self) -> Integers:
        return np.where(self.defined_by >= 0, self.opcode[self.defined_by], -1) if len(self) else self.defined_by

    def definition_opcode(self, ids: Integers) -> Integers:
        """The opcodes of the instructions that define these ids; -1 where none does."""
        return self._opcode_of_id[np.minimum(ids, len(self.defined_by) - 1)]

    def is_defined(self, identifier: int) -> bool:
        """Whether an instruction that the tables know defines an id."""
        return identifier < len(self.defined_by) and bool(self.defined_by[identifier] >= 0)

    def definition(self, identifier: int) -> Instruction:
        """The instruction that defines an id; an OpNop where none does that the tables know."""
        return self.items[int(self.defined_by[identifier])] if self.is_defined(identifier) else _NOTHING

    @cached_property
    def forms(self) -> list[Form]:
        """All instructions by form; ValidationError if one is malformed."""
        return list(forms(self.items, self.opcode, self.word_count, self.words, self.word_start))

    @cached_property
    def uses(self) -> Uses:
        """Every use of an id as an operand (result types are apart)."""
        at: list[Integers] = []
        place: list[Integers] = []
        wanted: list[Integers] = []
        for indices, columns in self.forms:
            if columns:
                first = indices[0]
                operation, shift = int(self.operation[first]), int(self.start[first] - self.word_start[first])
                at.append(np.repeat(indices, len(columns)))
                place.append(np.tile(columns, len(indices)))
                wanted.append(np.tile([role(operation, column - shift) for column in columns], len(indices)))
        if not at:
            return Uses(*[np.zeros(0, np.int64)] * 4)
        where, places = np.concatenate(at), np.concatenate(place)
        return Uses(where, places, self.words[self.word_start[where] + places], np.concatenate(wanted))

    # -- what the tables do not know -------------------------------------------------

    @cached_property
    def unknown_opcodes(self) -> list[int]:
        """The opcodes that the tables do not know, or that make parts of a module which the rules do not know."""
        return [opcode for opcode in self.by_opcode if instruction(opcode) is None or opcode in _FOREIGN]

    @property
    def has_unknown(self) -> bool:
        """Whether there are instructions that the tables do not know: these may define any id."""
        return bool(self.unknown_opcodes)
