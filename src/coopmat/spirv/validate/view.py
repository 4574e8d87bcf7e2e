"""A module as arrays: one entry per instruction, one per id, one per use of an id.

Python looks at every instruction once, to fill the arrays; rules then work on whole arrays.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from coopmat.devices import DeviceDescription
from coopmat.diagnostics import ValidationError
from coopmat.spirv.grammar import Op, instruction
from coopmat.spirv.instruction import Instruction
from coopmat.spirv.module import Module
from coopmat.spirv.validate.flow import Flow
from coopmat.spirv.validate.forms import Form, forms
from coopmat.spirv.validate.group import Group
from coopmat.spirv.validate.types import TYPES, Booleans, Integers, TypeArrays, Types, TypeTable

if TYPE_CHECKING:
    from coopmat.spirv.validate.capabilities import Declared

MAX_ID = 0x3FFFFF
"""The largest id that the specification's universal limits ask for (2.17)."""

_INTEGER_CONSTANTS = (Op.Constant, Op.ConstantNull)


class ModuleView:
    """A module as arrays.

    Per instruction, in order: ``opcode``, ``type_id`` and ``result_id`` (0: none), ``start`` and ``size`` of
    its operand words in ``words``, and ``broken``, set for those about which nothing more can be said.  Per id:
    ``defined_by``, the index of the instruction whose result it is (-1: none).
    """

    def __init__(self, module: Module, device: DeviceDescription | None = None) -> None:
        items = module.instructions
        self.module = module
        self.device = device
        self.items: list[Instruction] = items
        n = len(items)
        self.opcode = np.fromiter((item.opcode for item in items), np.int64, n)
        self.type_id = np.fromiter((item.type_id or 0 for item in items), np.int64, n)
        self.result_id = np.fromiter((item.result_id or 0 for item in items), np.int64, n)
        self.size = np.fromiter((len(item.words) for item in items), np.int64, n)
        self.start = np.cumsum(self.size) - self.size
        total = int(self.size.sum())
        self.words = np.fromiter(chain.from_iterable(item.words for item in items), np.int64, total)
        self.broken = np.zeros(n, bool)
        self.defined_by = self._definitions()

    def __len__(self) -> int:
        return len(self.items)

    def _definitions(self) -> Integers:
        largest = int(self.result_id.max(initial=0))
        if largest > MAX_ID:
            at = int(self.result_id.argmax())
            raise ValidationError("id-limit", f"{self.items[at].name} has result id {largest}; ids above {MAX_ID} "
                                  "are beyond the universal limits", self.items[at].offset)
        found = np.full(largest + 2, -1)
        defining = np.flatnonzero(self.result_id)
        found[self.result_id[defining[::-1]]] = defining[::-1]
        return found

    # -- ids -------------------------------------------------------------------------

    def definition_of(self, ids: Integers) -> Integers:
        """The indices of the instructions that define these ids; -1 where none does."""
        return self.defined_by[np.minimum(ids, len(self.defined_by) - 1)]

    def definition_opcode(self, ids: Integers) -> Integers:
        """The opcodes of the instructions that define these ids; -1 where none does."""
        at = self.definition_of(ids)
        return np.where(at >= 0, self.opcode[at], -1)

    @cached_property
    def forms(self) -> list[Form]:
        """All instructions by form; ValidationError if one is malformed."""
        return list(forms(self.items, self.opcode, self.size, self.words, self.start))

    @cached_property
    def uses(self) -> tuple[Integers, Integers, Integers]:
        """Every use of an id as an operand (result types are apart): instruction, place of the word, id."""
        at: list[Integers] = []
        place: list[Integers] = []
        ids: list[Integers] = []
        for indices, columns in self.forms:
            for column in columns:
                at.append(indices)
                place.append(np.full(len(indices), column))
                ids.append(self.words[self.start[indices] + column])
        if not at:
            empty = np.zeros(0, np.int64)
            return empty, empty, empty
        return np.concatenate(at), np.concatenate(place), np.concatenate(ids)

    # -- types and constants ---------------------------------------------------------

    @cached_property
    def type_table(self) -> TypeTable:
        """All types."""
        table = TypeTable()
        declarations = np.isin(self.opcode, [int(op) for op in TYPES]) & ~self.broken
        for index in np.flatnonzero(declarations).tolist():
            table.add(self.items[index], self.constant)
        return table

    @cached_property
    def type_arrays(self) -> TypeArrays:
        """The columns of the type table."""
        return self.type_table.arrays()

    @cached_property
    def _type_places(self) -> Integers:
        """Id → position in the type table; 0 for what is no type."""
        places = np.zeros(len(self.defined_by), np.int64)
        for identifier, position in self.type_table.position.items():
            places[identifier] = position
        return places

    def types(self, ids: Integers) -> Types:
        """The types that these ids declare."""
        return Types(self.type_arrays, self._type_places[np.minimum(ids, len(self.defined_by) - 1)])

    def value_types(self, ids: Integers) -> Types:
        """The types of the values that these ids are."""
        at = self.definition_of(ids)
        return self.types(np.where(at >= 0, self.type_id[at], 0))

    def constant(self, identifier: int) -> int | None:
        """The value of an integer constant, taken as unsigned; None for anything else, specialisation included."""
        at = int(self.defined_by[identifier]) if identifier < len(self.defined_by) else -1
        if at < 0 or self.opcode[at] not in _INTEGER_CONSTANTS:
            return None
        kind_at = int(self.defined_by[self.type_id[at]]) if self.type_id[at] < len(self.defined_by) else -1
        if kind_at < 0 or self.opcode[kind_at] != Op.TypeInt:
            return None
        return sum(word << 32 * i for i, word in enumerate(self.items[at].words))

    def constants(self, ids: Integers) -> Integers:
        """The values of integer constants of at most 32 bits, taken as unsigned; -1 for everything else."""
        distinct, inverse = np.unique(ids, return_inverse=True)
        values = [self.constant(int(i)) for i in distinct.tolist()]
        known = np.array([-1 if value is None or value >> 32 else value for value in values], np.int64)
        return known[inverse] if len(ids) else np.zeros(0, np.int64)

    # -- groups and control flow -----------------------------------------------------

    @cached_property
    def _by_opcode(self) -> dict[int, Integers]:
        order = np.argsort(self.opcode, kind="stable")
        parts = np.split(order, np.flatnonzero(np.diff(self.opcode[order])) + 1)
        return {int(self.opcode[part[0]]): part for part in parts if len(part)}

    def indices(self, *opcodes: Op) -> list[int]:
        """The indices of the instructions with one of these opcodes, in order, those that are not broken."""
        parts = [self._by_opcode[op] for op in opcodes if op in self._by_opcode]
        found = np.sort(np.concatenate(parts)) if parts else np.zeros(0, np.int64)
        return found[~self.broken[found]].tolist()

    def group(self, opcode: int) -> Group | None:
        """The instructions with this opcode that are not broken; None if there are none."""
        indices = self._by_opcode.get(opcode)
        if indices is None:
            return None
        indices = indices[~self.broken[indices]]
        return Group(self, indices) if len(indices) else None

    @cached_property
    def flow(self) -> Flow:
        """Functions, blocks and dominators."""
        return Flow(self.items, self.opcode)

    @cached_property
    def declared(self) -> Declared:
        """Capabilities and extensions, declared and needed."""
        from coopmat.spirv.validate.capabilities import Declared

        return Declared(self)

    def of_opcode(self, *opcodes: Op) -> Iterator[tuple[int, Instruction]]:
        """Index and instruction of those with one of these opcodes, in order, those that are not broken."""
        return ((i, self.items[i]) for i in self.indices(*opcodes))

    def name_of(self, index: int) -> str:
        """The instruction's name."""
        row = instruction(int(self.opcode[index]))
        return row.name if row is not None else f"Op{self.opcode[index]}"


def mask_of(view: ModuleView, indices: Integers) -> Booleans:
    """True for these instructions."""
    found = np.zeros(len(view), bool)
    found[indices] = True
    return found
