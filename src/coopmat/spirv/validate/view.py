"""A module as rules look at it: its instructions by operation, types, constants, control flow, declarations."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import numpy as np

from coopmat.devices import DeviceDescription
from coopmat.spirv.grammar import Capability, ExecutionModel, Op
from coopmat.spirv.module.content import Content
from coopmat.spirv.text.lines import LineWriter
from coopmat.spirv.text.names import FriendlyNames
from coopmat.spirv.validate.annotations import Annotations
from coopmat.spirv.validate.arrays import ModuleArrays
from coopmat.spirv.validate.declared import Declared
from coopmat.spirv.validate.entry_points import EntryPoint, entry_points
from coopmat.spirv.validate.flow import Flow
from coopmat.spirv.validate.sections import CONSTANTS
from coopmat.spirv.validate.types import TYPES, Booleans, Integers, TypeColumns, TypeRows, Types
from coopmat.support.cached import cached_property

_T = TypeVar("_T")

_INTEGER_CONSTANTS = (Op.Constant, Op.ConstantNull)
_UNCHECKED_TYPES = (Op.TypeVectorIdEXT, Op.TypeCooperativeMatrixNV, Op.TypeBufferEXT, Op.TypeBufferSurfaceINTEL,
                    Op.TypeTensorARM, Op.TypeNodePayloadArrayAMDX)
"""Types whose values no rule knows."""
_NEVER_LEFT_OUT = (Op.EntryPoint, Op.ExecutionMode, Op.ExecutionModeId, Op.Decorate, Op.MemberDecorate)
"""Instructions about which enough is known, whatever the types of what they name."""
_TYPE_OPCODES = np.array(sorted(TYPES))
_CONSTANT_OPCODES = np.array(sorted(CONSTANTS))


class ModuleView(ModuleArrays):
    """A module as arrays, with what rules ask of it, each made on demand."""

    def __init__(self, module: Content, device: DeviceDescription | None = None) -> None:
        super().__init__(module)
        self.device = device
        self._groups: dict[int, Group | None] = {}
        self._derived: dict[Callable[[ModuleView], Any], Any] = {}

    @cached_property
    def names(self) -> FriendlyNames:
        """Names of the ids, for messages."""
        return FriendlyNames(self.module)

    @cached_property
    def writer(self) -> LineWriter:
        """Writes instructions with these names."""
        return LineWriter(self.names.name, self.names.types)

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

    # -- types and constants ---------------------------------------------------------

    @cached_property
    def type_table(self) -> TypeRows:
        """All types."""
        table = TypeRows()
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
