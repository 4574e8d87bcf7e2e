"""A module as arrays: one entry per instruction, one per id, one per use of an id.

Python looks at every instruction once, to fill the arrays; rules then work on whole arrays.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain
from operator import attrgetter
from typing import Any, NamedTuple, TypeVar

import numpy as np

from coopmat.devices import DeviceDescription
from coopmat.diagnostics import ValidationError
from coopmat.spirv.grammar import Capability, ExecutionModel, Op, instruction, requirements
from coopmat.spirv.module import Module
from coopmat.spirv.module.instruction import Instruction
from coopmat.spirv.text.disassembler import Writer
from coopmat.spirv.text.names import FriendlyNames
from coopmat.spirv.validate.annotations import Annotations
from coopmat.spirv.validate.declared import Declared
from coopmat.spirv.validate.entry_points import EntryPoint, entry_points
from coopmat.spirv.validate.flow import Flow
from coopmat.spirv.validate.forms import Form, forms
from coopmat.spirv.validate.group import Group
from coopmat.spirv.validate.roles import role
from coopmat.spirv.validate.types import TYPES, Integers, TypeColumns, Types, TypeTable
from coopmat.support.cached import cached_property

_T = TypeVar("_T")

MAX_ID = 0x3FFFFF
"""The largest id that the specification's universal limits ask for (2.17)."""

_NOTHING = Instruction(Op.Nop, None, None, (0,) * 8)
"""What stands for the definition of an unknown id; its words are ids that are unknown, too."""

_INTEGER_CONSTANTS = (Op.Constant, Op.ConstantNull)
_UNCHECKED_TYPES = (Op.TypeVectorIdEXT, Op.TypeCooperativeMatrixNV, Op.TypeBufferEXT, Op.TypeBufferSurfaceINTEL,
                    Op.TypeTensorARM, Op.TypeNodePayloadArrayAMDX)
"""Types whose values no rule knows."""
_FOREIGN = frozenset(op for op in Op if Capability.GraphARM in requirements(op).capabilities)
"""Instructions of graphs, which stand beside functions."""
_NEVER_LEFT_OUT = (Op.EntryPoint, Op.ExecutionMode, Op.ExecutionModeId, Op.Decorate, Op.MemberDecorate)
"""Instructions about which enough is known, whatever the types of what they name."""
_TYPE_OPCODES = np.array(sorted(TYPES))


class Uses(NamedTuple):
    """Uses of ids: the instruction, the place among its operand words, the id, and the role that it must have."""

    at: Integers
    place: Integers
    ids: Integers
    role: Integers


class ModuleView:
    """A module as arrays.

    Per instruction, in order: ``opcode``, ``type_id`` and ``result_id`` (0: none), ``word_start`` and
    ``word_count`` of its operand words in ``words``, and ``broken``, set for those about which nothing more can be
    said.  An OpSpecConstantOp also counts as the instruction that it carries out: ``operation``, ``start`` and
    ``size`` are that one's opcode and operand words.  Per id: ``defined_by``, the index of the instruction whose
    result it is (-1: none).
    """

    def __init__(self, module: Module, device: DeviceDescription | None = None) -> None:
        items = module.instructions
        self.module = module
        self.device = device
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
        self._groups: dict[int, Group | None] = {}
        self._derived: dict[Callable[[ModuleView], Any], Any] = {}

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
    def names(self) -> FriendlyNames:
        """Names of the ids, for messages."""
        return FriendlyNames(self.module)

    @cached_property
    def writer(self) -> Writer:
        """Writes instructions with these names."""
        return Writer(self.names.name, self.names.types)

    # -- what is left out ------------------------------------------------------------

    def leave_out(self, indices: list[int]) -> None:
        """Say no more about these instructions."""
        self.broken[indices] = True
        self._groups.clear()

    def leave_out_unknown(self) -> None:
        """Say no more about what is made with types that are broken, or that no rule knows."""
        types = np.isin(self.opcode, _TYPE_OPCODES)
        unchecked = np.isin(self.opcode, _UNCHECKED_TYPES)
        bad = (self.broken & types) | unchecked
        if not bad.any() and not self.has_unknown:
            return
        unknown = np.zeros(len(self.defined_by), bool)
        at = self.uses.at
        ids = np.minimum(self.uses.ids, len(unknown) - 1)
        type_id = np.minimum(self.type_id, len(unknown) - 1)
        if self.has_unknown:  # what else defines these?
            unknown[ids[self.defined_by[ids] < 0]] = True
            unknown[type_id[self.defined_by[type_id] < 0]] = True
        self.broken |= unchecked
        checked = ~np.isin(self.opcode, _NEVER_LEFT_OUT)
        while True:
            unknown[self.result_id[bad]] = True
            unknown[0] = False
            typed = unknown[type_id]
            touched = typed.copy()
            touched[at[unknown[ids]]] = True
            self.broken |= touched & checked
            bad = (typed | (types & touched)) & ~unknown[self.result_id] & (self.result_id != 0)
            if not bad.any():
                break
        self._groups.clear()

    @cached_property
    def unknown_opcodes(self) -> list[int]:
        """The opcodes that the tables do not know, or that make parts of a module which the rules do not know."""
        return [opcode for opcode in self.by_opcode if instruction(opcode) is None or opcode in _FOREIGN]

    @property
    def has_unknown(self) -> bool:
        """Whether there are instructions that the tables do not know: these may define any id."""
        return bool(self.unknown_opcodes)

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

    # -- types and constants ---------------------------------------------------------

    @cached_property
    def type_table(self) -> TypeTable:
        """All types."""
        table = TypeTable()
        declarations = np.isin(self.opcode, _TYPE_OPCODES) & ~self.broken
        for index in np.flatnonzero(declarations).tolist():
            table.add(self.items[index], self.constant)
        return table

    @cached_property
    def _type_columns(self) -> TypeColumns:
        return self.type_table.columns()

    @cached_property
    def _type_places(self) -> Integers:
        """Id → position in the type table; 0 for what is no type."""
        places = np.zeros(len(self.defined_by), np.int64)
        for identifier, position in self.type_table.position.items():
            places[identifier] = position
        return places

    @cached_property
    def _value_places(self) -> Integers:
        """Id → position of the type of the value that it is; 0 for what is no value."""
        if not len(self):
            return self._type_places
        type_id = np.where(self.defined_by >= 0, self.type_id[self.defined_by], 0)
        return self._type_places[np.minimum(type_id, len(self.defined_by) - 1)]

    def types(self, ids: Integers) -> Types:
        """The types that these ids declare."""
        return Types(self._type_columns, self._type_places[np.minimum(ids, len(self.defined_by) - 1)])

    def value_types(self, ids: Integers) -> Types:
        """The types of the values that these ids are."""
        return Types(self._type_columns, self._value_places[np.minimum(ids, len(self.defined_by) - 1)])

    def constant(self, identifier: int) -> int | None:
        """The value of an integer constant, taken as unsigned; None for anything else, specialisation included."""
        at = int(self.defined_by[identifier]) if identifier < len(self.defined_by) else -1
        if at < 0 or self.opcode[at] not in _INTEGER_CONSTANTS:
            return None
        kind_at = int(self.defined_by[self.type_id[at]]) if self.type_id[at] < len(self.defined_by) else -1
        if kind_at < 0 or self.opcode[kind_at] != Op.TypeInt:
            return None
        return sum(word << 32 * i for i, word in enumerate(self.items[at].words))

    @cached_property
    def _constants(self) -> Integers:
        """Id → value of the integer constant of at most 32 bits that it is; -1 for everything else."""
        found = np.full(len(self.defined_by), -1)
        for index in self.indices(*_INTEGER_CONSTANTS):
            identifier = int(self.result_id[index])
            value = self.constant(identifier)
            if value is not None and not value >> 32:
                found[identifier] = value
        return found

    def constants(self, ids: Integers) -> Integers:
        """The values of integer constants of at most 32 bits, taken as unsigned; -1 for everything else."""
        return self._constants[np.minimum(ids, len(self.defined_by) - 1)]

    # -- groups and control flow -----------------------------------------------------

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

    def group(self, opcode: int) -> Group | None:
        """The instructions with this operation that are not broken; None if there are none."""
        if opcode not in self._groups:
            indices = self.by_opcode.get(opcode)
            if indices is not None:
                indices = indices[~self.broken[indices]]
            self._groups[opcode] = Group(self, Op(opcode), indices) if indices is not None and len(indices) else None
        return self._groups[opcode]

    @cached_property
    def flow(self) -> Flow:
        """Functions, blocks and dominators."""
        return Flow(self.items, self.opcode)

    def of_opcode(self, *opcodes: Op) -> Iterator[tuple[int, Instruction]]:
        """Index and instruction of those with one of these opcodes, in order, those that are not broken."""
        return ((i, self.items[i]) for i in self.indices(*opcodes) if self.opcode[i] == self.operation[i])

    def name_of(self, index: int) -> str:
        """The instruction's name."""
        row = instruction(int(self.opcode[index]))
        return row.name if row is not None else f"Op{self.opcode[index]}"

    def derived(self, make: Callable[[ModuleView], _T]) -> _T:
        """What a function makes of the module, made once."""
        if make not in self._derived:
            self._derived[make] = make(self)
        return self._derived[make]

    # -- what kind of module it is ---------------------------------------------------

    @property
    def declared(self) -> Declared:
        """Capabilities and extensions, declared and needed."""
        return self.derived(Declared)

    def has(self, *capabilities: Capability) -> bool:
        """Whether one of these capabilities is declared, or implied by one that is."""
        return not self.declared.all.isdisjoint(capabilities)

    @cached_property
    def is_kernel(self) -> bool:
        """Whether it is a kernel module: the capability Kernel without Shader."""
        return self.has(Capability.Kernel) and not self.has(Capability.Shader)

    @cached_property
    def is_shader(self) -> bool:
        """Whether it is a shader module: the capability Shader, or an unknown one, which may imply it."""
        return self.has(Capability.Shader) or (self.declared.unknown and not self.has(Capability.Kernel))

    @cached_property
    def runs_kernels(self) -> bool:
        """Whether OpenCL runs it: a kernel module with a kernel.  Then the rules of OpenCL's environment hold."""
        return self.is_kernel and any(entry.model == ExecutionModel.Kernel for entry in self.entry_points)

    @cached_property
    def memory_model(self) -> tuple[int, int]:
        """Addressing and memory model; -1 where the module has none."""
        models = [item.words[:2] for _, item in self.of_opcode(Op.MemoryModel)]
        return (models[0][0], models[0][1]) if models else (-1, -1)

    @property
    def entry_points(self) -> list[EntryPoint]:
        """The entry points."""
        return self.derived(entry_points)

    @property
    def annotations(self) -> Annotations:
        """Decorations and linkage."""
        return self.derived(Annotations)
